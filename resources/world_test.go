// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"pgregory.net/rapid"
)

// A world is a set of operands for every verb of the package.
type world struct {
	x, y        Vector
	l, o        Limit
	k, num, den int64
}

func (w world) String() string {
	return fmt.Sprintf("x=%v y=%v l=%v o=%v k=%d num=%d den=%d", w.x, w.y, w.l, w.o, w.k, w.num, w.den)
}

func (w world) clone() world {
	w.x, w.y = slices.Clone(w.x), slices.Clone(w.y)
	w.l.Value, w.o.Value = slices.Clone(w.l.Value), slices.Clone(w.o.Value)
	return w
}

// vectors returns the operands whose storage a destination may share.
func (w *world) vectors() []*Vector { return []*Vector{&w.x, &w.y, &w.l.Value, &w.o.Value} }

// anyAmount draws amounts of all magnitudes, the ends of the range often.
func anyAmount() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(-5, 5),
		rapid.SampledFrom([]int64{math.MinInt64, -math.MaxInt64, math.MaxInt64, math.MaxInt64 - 1}),
		rapid.Int64(),
	)
}

// tameAmount draws amounts of which a few add up without saturation.
func tameAmount() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64Range(-5, 5), rapid.Int64Range(-1<<60, 1<<60))
}

// vector draws vectors of few types or of about as many as a Mask has.
func vector(amount *rapid.Generator[int64]) *rapid.Generator[Vector] {
	return rapid.Custom(func(t *rapid.T) Vector {
		n := rapid.OneOf(rapid.IntRange(0, 5), rapid.IntRange(62, 67)).Draw(t, "len")
		if n > 5 {
			// The first types do not matter here.
			x := make(Vector, 61, n)
			return append(x, rapid.SliceOfN(amount, n-61, n-61).Draw(t, "amounts")...)
		}
		return rapid.SliceOfN(amount, n, n).Draw(t, "amounts")
	})
}

// limit draws limits with entries that are not defined and bounds without entry.
func limit(amount *rapid.Generator[int64]) *rapid.Generator[Limit] {
	return rapid.Custom(func(t *rapid.T) Limit {
		defined := rapid.OneOf(rapid.Uint64Range(0, 1<<6-1), rapid.Uint64()).Draw(t, "defined")
		return Limit{vector(amount).Draw(t, "value"), Mask(defined)}
	})
}

func worlds(amount *rapid.Generator[int64]) *rapid.Generator[world] {
	return rapid.Custom(func(t *rapid.T) world {
		return world{
			x: vector(amount).Draw(t, "x"), y: vector(amount).Draw(t, "y"),
			l: limit(amount).Draw(t, "l"), o: limit(amount).Draw(t, "o"),
			k: amount.Draw(t, "k"), num: amount.Draw(t, "num"), den: amount.Draw(t, "den"),
		}
	})
}

// A verb is a function of the package that has a destination, together with
// what it should yield at each position, before saturation.
type verb struct {
	name string
	fast func(dst Vector, w world) Vector
	slow func(w world, i int) *big.Int
	long func(w world) int // length of the result
}

// junk is what a destination that is a Limit says of its types: nothing that
// matters.
const junk = Mask(0xa5a5a5a5a5a5a5a5)

var verbs = []verb{
	{"Add", func(dst Vector, w world) Vector { return Add(dst, w.x, w.y) },
		func(w world, i int) *big.Int { return new(big.Int).Add(slowAt(w.x, i), slowAt(w.y, i)) }, longXY},
	{"Sub", func(dst Vector, w world) Vector { return Sub(dst, w.x, w.y) },
		func(w world, i int) *big.Int { return new(big.Int).Sub(slowAt(w.x, i), slowAt(w.y, i)) }, longXY},
	{"Min", func(dst Vector, w world) Vector { return Min(dst, w.x, w.y) },
		func(w world, i int) *big.Int { return slowMin(slowAt(w.x, i), slowAt(w.y, i)) }, longXY},
	{"Max", func(dst Vector, w world) Vector { return Max(dst, w.x, w.y) },
		func(w world, i int) *big.Int {
			a, b := slowAt(w.x, i), slowAt(w.y, i)
			if a.Cmp(b) < 0 {
				return b
			}
			return a
		}, longXY},
	{"Scale", func(dst Vector, w world) Vector { return Scale(dst, w.x, w.k) },
		func(w world, i int) *big.Int { return new(big.Int).Mul(slowAt(w.x, i), slowAt(Vector{w.k}, 0)) }, longX},
	{"Over", func(dst Vector, w world) Vector { return Over(dst, w.x, w.l) },
		func(w world, i int) *big.Int {
			bound, ok := slowBound(w.l, i)
			if !ok {
				return new(big.Int)
			}
			return slowPositive(new(big.Int).Sub(slowAt(w.x, i), bound))
		}, longXL},
	{"Short", func(dst Vector, w world) Vector { return Short(dst, w.l, w.x) },
		func(w world, i int) *big.Int {
			bound, ok := slowBound(w.l, i)
			if !ok {
				return new(big.Int)
			}
			return slowPositive(new(big.Int).Sub(bound, slowAt(w.x, i)))
		}, longXL},
	{"SubOnlyExisting", func(dst Vector, w world) Vector { return SubOnlyExisting(Limit{dst, junk}, w.l, w.x).Value },
		func(w world, i int) *big.Int {
			bound, ok := slowBound(w.l, i)
			if !ok {
				return new(big.Int)
			}
			return new(big.Int).Sub(bound, slowAt(w.x, i))
		}, longXL},
	{"AddOnlyExisting", func(dst Vector, w world) Vector { return AddOnlyExisting(Limit{dst, junk}, w.l, w.x).Value },
		func(w world, i int) *big.Int {
			bound, ok := slowBound(w.l, i)
			if !ok {
				return new(big.Int)
			}
			return new(big.Int).Add(bound, slowAt(w.x, i))
		}, longXL},
	{"Tighten", func(dst Vector, w world) Vector { return Tighten(Limit{dst, junk}, w.l, w.o).Value },
		func(w world, i int) *big.Int {
			a, aok := slowBound(w.l, i)
			b, bok := slowBound(w.o, i)
			switch {
			case aok && bok:
				return slowMin(a, b)
			case aok:
				return a
			}
			return b // zero if there is none
		}, longLO},
}

func longX(w world) int  { return len(w.x) }
func longXY(w world) int { return max(len(w.x), len(w.y)) }
func longXL(w world) int { return max(len(w.x), len(w.l.Value)) }
func longLO(w world) int { return max(len(w.l.Value), len(w.o.Value)) }

func slowMin(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}
