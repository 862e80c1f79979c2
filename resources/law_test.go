// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
)

// The laws of the algebra. Those that hold short of saturation only draw tame
// amounts, the others any.
var laws = []law.Law{
	{Name: "OverLessShort", Holds: overLessShort},
	{Name: "AddThenSub", Holds: addThenSub},
	{Name: "AddThenSubOnlyExisting", Holds: addThenSubOnlyExisting},
	{Name: "FillUp", Holds: fillUp},
	{Name: "MinPlusMax", Holds: minPlusMax},
	{Name: "Commutativity", Holds: commutativity},
	{Name: "Antisymmetry", Holds: antisymmetry},
	{Name: "Monotonicity", Holds: monotonicity},
	{Name: "Order", Holds: order},
	{Name: "Bounds", Holds: bounds},
	{Name: "TightenAdmits", Holds: tightenAdmits},
	{Name: "ShareOrder", Holds: shareOrder},
}

func TestLaws(t *testing.T) { law.Check(t, laws) }

func FuzzLaws(f *testing.F) { law.Fuzz(f, laws) }

// same fails unless the vectors are equal.
func same(t *rapid.T, what string, got, want Vector) {
	t.Helper()
	if !Equal(got, want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// overLessShort: Over - Short is v - limit on the defined types, nothing on the
// others, and never are both positive (DESIGN.md, Arithmetic).
func overLessShort(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	over, short := Over(nil, w.x, w.l), Short(nil, w.l, w.x)
	diff := Sub(nil, w.x, w.l.Value)
	for i := range diff {
		if !w.l.Defined.Has(i) {
			diff[i] = 0
		}
	}
	same(t, "Over - Short", Sub(nil, over, short), diff)
	if both := Positive(over) & Positive(short); both != 0 {
		t.Fatalf("over and short in %b", both)
	}
	if !Fits(nil, over) || !Fits(nil, short) {
		t.Fatalf("negative: over %v, short %v", over, short)
	}
}

func addThenSub(t *rapid.T) {
	w := worlds(tameAmount()).Draw(t, "world")
	same(t, "x + y - y", Sub(nil, Add(nil, w.x, w.y), w.y), w.x)
	same(t, "x - y + y", Add(nil, Sub(nil, w.x, w.y), w.y), w.x)
}

func addThenSubOnlyExisting(t *rapid.T) {
	w := worlds(tameAmount()).Draw(t, "world")
	dst := Limit{}
	if got := SubOnlyExisting(dst, AddOnlyExisting(dst, w.l, w.x), w.x); !got.Equal(w.l) {
		t.Fatalf("l + x - x = %v, want %v", got, w.l)
	}
	if got := AddOnlyExisting(dst, SubOnlyExisting(dst, w.l, w.x), w.x); !got.Equal(w.l) {
		t.Fatalf("l - x + x = %v, want %v", got, w.l)
	}
}

// fillUp: with what it is short of, a vector reaches the limit and no more;
// without what it has over, it comes down to the limit.
func fillUp(t *rapid.T) {
	w := worlds(tameAmount()).Draw(t, "world")
	full := Add(nil, w.x, Short(nil, w.l, w.x))
	same(t, "still short", Short(nil, w.l, full), nil)
	same(t, "over as before", Over(nil, full, w.l), Over(nil, w.x, w.l))
	cut := Sub(nil, w.x, Over(nil, w.x, w.l))
	same(t, "still over", Over(nil, cut, w.l), nil)
	same(t, "short as before", Short(nil, w.l, cut), Short(nil, w.l, w.x))
}

func minPlusMax(t *rapid.T) {
	w := worlds(tameAmount()).Draw(t, "world")
	low, high := Min(nil, w.x, w.y), Max(nil, w.x, w.y)
	same(t, "Min + Max", Add(nil, low, high), Add(nil, w.x, w.y))
	if !Fits(low, w.x) || !Fits(low, w.y) || !Fits(w.x, high) || !Fits(w.y, high) {
		t.Fatalf("x = %v, y = %v, Min %v, Max %v", w.x, w.y, low, high)
	}
}

func commutativity(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	same(t, "Add", Add(nil, w.x, w.y), Add(nil, w.y, w.x))
	same(t, "Min", Min(nil, w.x, w.y), Min(nil, w.y, w.x))
	same(t, "Max", Max(nil, w.x, w.y), Max(nil, w.y, w.x))
	if a, b := Tighten(Limit{}, w.l, w.o), Tighten(Limit{}, w.o, w.l); !a.Equal(b) {
		t.Fatalf("Tighten: %v, the other way round %v", a, b)
	}
	if got := DominantShare(w.x, w.y).Compare(DominantShare(reversed(w.x, 70), reversed(w.y, 70))); got != 0 {
		t.Fatalf("DominantShare(%v, %v) depends on the order of types: %d", w.x, w.y, got)
	}
}

// reversed returns x as of n types, the last one first.
func reversed(x Vector, n int) Vector {
	y := make(Vector, n)
	for i, a := range x {
		y[n-1-i] = a
	}
	return y
}

// antisymmetry: the range is symmetric, so that a sign can always be taken out.
func antisymmetry(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	neg := func(x Vector) Vector { return Scale(nil, x, -1) }
	same(t, "-(-x)", neg(neg(w.x)), w.x)
	same(t, "y - x", Sub(nil, w.y, w.x), neg(Sub(nil, w.x, w.y)))
	same(t, "x - y", Sub(nil, w.x, w.y), Add(nil, w.x, neg(w.y)))
	same(t, "-x - y", Add(nil, neg(w.x), neg(w.y)), neg(Add(nil, w.x, w.y)))
	same(t, "Min(-x, -y)", Min(nil, neg(w.x), neg(w.y)), neg(Max(nil, w.x, w.y)))
}

// monotonicity: more in, not less out, saturated or not.
func monotonicity(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	// more is x plus something.
	more := Add(nil, w.x, Max(nil, w.y, nil))
	fits := func(what string, x, y Vector) {
		if !Fits(x, y) {
			t.Fatalf("%s: %v does not fit %v", what, x, y)
		}
	}
	fits("x", w.x, more)
	fits("x + y", Add(nil, w.x, w.y), Add(nil, more, w.y))
	fits("x - y", Sub(nil, w.x, w.y), Sub(nil, more, w.y))
	fits("y - x", Sub(nil, w.y, more), Sub(nil, w.y, w.x))
	fits("Over", Over(nil, w.x, w.l), Over(nil, more, w.l))
	fits("Short", Short(nil, w.l, more), Short(nil, w.l, w.x))
	k := max(w.k, 0)
	fits("Scale", Scale(nil, w.x, k), Scale(nil, more, k))
	if Admits(w.l, more) && !Admits(w.l, w.x) {
		t.Fatalf("%v admits %v and not %v", w.l, more, w.x)
	}
	if DominantShare(w.x, w.y).Compare(DominantShare(more, w.y)) > 0 {
		t.Fatalf("of %v, the dominant share of %v is larger than that of %v", w.y, w.x, more)
	}
}

// order: Fits is a partial order that Equal goes with.
func order(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	if !Fits(w.x, w.x) || !Equal(w.x, w.x) {
		t.Fatalf("%v is not itself", w.x)
	}
	if got, want := Fits(w.x, w.y) && Fits(w.y, w.x), Equal(w.x, w.y); got != want {
		t.Fatalf("%v and %v fit each other: %t, equal: %t", w.x, w.y, got, want)
	}
	if got, want := Fits(w.x, w.y), IsZero(Max(nil, Sub(nil, w.x, w.y), nil)); got != want {
		t.Fatalf("Fits(%v, %v) = %t, none over: %t", w.x, w.y, got, want)
	}
	if got, want := IsZero(w.x), Equal(w.x, nil); got != want {
		t.Fatalf("IsZero(%v) = %t", w.x, got)
	}
}

// bounds: the functions on limits say the same in different words.
func bounds(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	admits := Admits(w.l, w.x)
	if got := IsZero(Over(nil, w.x, w.l)); got != admits {
		t.Fatalf("Admits(%v, %v) = %t, nothing over: %t", w.l, w.x, admits, got)
	}
	left := SubOnlyExisting(Limit{}, w.l, w.x)
	if got := Fits(nil, left.Value); got != admits {
		t.Fatalf("Admits(%v, %v) = %t, left %v", w.l, w.x, admits, left)
	}
	// What SubOnlyExisting has below zero is Over, what it has above is Short.
	same(t, "Over", Scale(nil, Min(nil, left.Value, nil), -1), Over(nil, w.x, w.l))
	same(t, "Short", Max(nil, left.Value, nil), Short(nil, w.l, w.x))
	if !Admits(Limit{Value: w.y}, w.x) {
		t.Fatalf("a limit without bounds does not admit %v", w.x)
	}
}

// tightenAdmits: Tighten admits exactly what both limits admit.
func tightenAdmits(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	tight := Tighten(Limit{}, w.l, w.o)
	if got, want := Admits(tight, w.x), Admits(w.l, w.x) && Admits(w.o, w.x); got != want {
		t.Fatalf("Admits(%v, %v) = %t, want %t", tight, w.x, got, want)
	}
	if got := Tighten(Limit{}, w.l, Limit{}); !got.Equal(w.l) {
		t.Fatalf("Tighten(l, nothing) = %v, want %v", got, w.l)
	}
	if got := Tighten(Limit{}, w.l, tight); !got.Equal(tight) {
		t.Fatalf("Tighten twice = %v, want %v", got, tight)
	}
}

// shareOrder: shares are totally ordered, by value.
func shareOrder(t *rapid.T) {
	s := make([]Share, 3)
	for i := range s {
		s[i] = Share{anyAmount().Draw(t, "amount"), anyAmount().Draw(t, "of")}
	}
	a, b, c := s[0], s[1], s[2]
	if a.Compare(a) != 0 {
		t.Fatalf("%v differs from itself", a)
	}
	if a.Compare(b) != -b.Compare(a) {
		t.Fatalf("%v and %v: %d and %d", a, b, a.Compare(b), b.Compare(a))
	}
	if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
		t.Fatalf("%v <= %v <= %v, but not %v <= %v", a, b, c, a, c)
	}
	if (Share{}).Compare(a) > 0 {
		t.Fatalf("%v is below nothing", a)
	}
}
