// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/go-preempt/preempt/resources"
)

// slowShares computes fair shares by names and paths, with fractions and one unit
// at a time, for reading and not for speed. The result is by path and type.
type slowShares struct {
	*twin
	demand   map[string]resources.Vector
	capacity resources.Limit
	known    map[claimed]*big.Rat // what was worked out before
}

// claimed names D ("want") or G ("guaranteed") of a queue in a type.
type claimed struct {
	what, path string
	i          int
}

// once works out a claim if it is not known.
func (w slowShares) once(what, path string, i int, work func(string, int) *big.Rat) *big.Rat {
	key := claimed{what, path, i}
	if w.known[key] == nil {
		w.known[key] = work(path, i)
	}
	return w.known[key]
}

func number(v int64) *big.Rat { return new(big.Rat).SetInt64(v) }

func least(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) < 0 {
		return x
	}
	return y
}

// want is D, and guaranteed is G.

func (w slowShares) want(path string, i int) *big.Rat { return w.once("want", path, i, w.workWant) }

func (w slowShares) guaranteed(path string, i int) *big.Rat {
	return w.once("guaranteed", path, i, w.workGuaranteed)
}

func (w slowShares) workWant(path string, i int) *big.Rat {
	sum := number(max(at(w.demand[path], i), 0))
	if !w.isLeaf(path) {
		sum = new(big.Rat)
		for _, c := range w.children(path) {
			sum.Add(sum, w.want(c, i))
		}
	}
	if m, ok := w.config[path].Max.Bound(i); ok {
		return least(sum, number(m))
	}
	return sum
}

func (w slowShares) workGuaranteed(path string, i int) *big.Rat {
	sum := new(big.Rat)
	for _, c := range w.children(path) {
		sum.Add(sum, w.guaranteed(c, i))
	}
	own, _ := w.config[path].Guaranteed.Bound(i)
	if g := number(own); sum.Cmp(g) < 0 {
		return g
	}
	return sum
}

func (w slowShares) base(path string, i int) *big.Rat {
	return least(w.want(path, i), w.guaranteed(path, i))
}

func (w slowShares) weight(path string) *big.Rat {
	n, err := strconv.ParseInt(w.config[path].Properties["fair.weight"], 10, 32)
	if err != nil || n < 1 {
		n = 1
	}
	return number(n)
}

// shares sets the share of a queue in type i, and deals it to those below.
func (w slowShares) shares(dst map[string]*big.Rat, path string, share *big.Rat, i int) {
	dst[path] = share
	children := w.children(path)
	for c, part := range w.deal(children, share, i) {
		w.shares(dst, children[c], part, i)
	}
}

// deal returns the parts of the children in whole units.
func (w slowShares) deal(children []string, share *big.Rat, i int) []*big.Rat {
	bases, wants := new(big.Rat), new(big.Rat)
	for _, c := range children {
		bases.Add(bases, w.base(c, i))
		wants.Add(wants, w.want(c, i))
	}
	var exact []*big.Rat
	for _, c := range children {
		part := w.want(c, i)
		switch {
		case wants.Cmp(share) <= 0:
		case bases.Cmp(share) <= 0:
			rest := new(big.Rat).Sub(share, bases)
			part = new(big.Rat).Add(w.base(c, i), w.filled(c, w.highest(children, rest, i), i))
		default:
			part = new(big.Rat).Mul(share, w.base(c, i))
			part.Quo(part, bases)
		}
		exact = append(exact, part)
	}
	return whole(exact)
}

// filled is min(weight * level, D - B).
func (w slowShares) filled(c string, level *big.Rat, i int) *big.Rat {
	room := new(big.Rat).Sub(w.want(c, i), w.base(c, i))
	return least(new(big.Rat).Mul(w.weight(c), level), room)
}

// highest returns the largest level at which what is filled sums to at most rest.
// Between two levels at which a child becomes full, the sum is a straight line.
func (w slowShares) highest(children []string, rest *big.Rat, i int) *big.Rat {
	sum := func(level *big.Rat) *big.Rat {
		total := new(big.Rat)
		for _, c := range children {
			total.Add(total, w.filled(c, level, i))
		}
		return total
	}
	level := new(big.Rat)
	for _, c := range children {
		full := new(big.Rat).Sub(w.want(c, i), w.base(c, i))
		full.Quo(full, w.weight(c))
		if full.Cmp(level) > 0 && sum(full).Cmp(rest) <= 0 {
			level = full
		}
	}
	slope := new(big.Rat).Sub(sum(new(big.Rat).Add(level, small(w, children, level, i))), sum(level))
	if slope.Sign() == 0 {
		return level
	}
	slope.Quo(slope, small(w, children, level, i))
	more := new(big.Rat).Sub(rest, sum(level))
	return new(big.Rat).Add(level, more.Quo(more, slope))
}

// small returns a step from level within which no child becomes full that is not.
func small(w slowShares, children []string, level *big.Rat, i int) *big.Rat {
	step := number(1)
	for _, c := range children {
		full := new(big.Rat).Sub(w.want(c, i), w.base(c, i))
		full.Quo(full, w.weight(c))
		if full.Cmp(level) > 0 {
			step = least(step, new(big.Rat).Sub(full, level))
		}
	}
	return step
}

// whole rounds fractions down, and then gives what is left of their sum to the
// largest remainder, one unit after another, among equals to the first.
func whole(exact []*big.Rat) (parts []*big.Rat) {
	left := new(big.Rat)
	var rest []*big.Rat
	for _, x := range exact {
		floor := new(big.Rat).SetInt(new(big.Int).Quo(x.Num(), x.Denom()))
		parts = append(parts, floor)
		rest = append(rest, new(big.Rat).Sub(x, floor))
		left.Add(left, rest[len(rest)-1])
	}
	for one := number(1); left.Sign() > 0; left.Sub(left, one) {
		largest := slices.MaxFunc(rest, (*big.Rat).Cmp) // the first of equals
		k := slices.Index(rest, largest)
		parts[k].Add(parts[k], one)
		rest[k] = number(-1)
	}
	return parts
}

// dealtTo returns, as a view, what q was dealt before leaves were cut to what they can
// use.
func (f *FairShares) dealtTo(q ID) resources.Limit {
	f.row(q)
	return resources.Limit{Value: f.tree.row(f.dealt, q), Defined: f.types}
}
