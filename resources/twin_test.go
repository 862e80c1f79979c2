// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
)

// The properties of this file hold for every operand, however odd.
var twinProperties = []law.Law{
	{Name: "Verbs", Holds: verbsTwin},
	{Name: "Aliasing", Holds: aliasing},
	{Name: "Predicates", Holds: predicatesTwin},
	{Name: "Limits", Holds: limitsTwin},
	{Name: "Shares", Holds: sharesTwin},
}

func TestTwin(t *testing.T) { law.Check(t, twinProperties) }

func FuzzTwin(f *testing.F) { law.Fuzz(f, twinProperties) }

// verbsTwin holds every verb to its slow twin, with any destination.
func verbsTwin(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	dst := vector(anyAmount()).Draw(t, "dst")
	for _, v := range verbs {
		before := w.clone()
		d := slices.Clone(dst)
		got := v.fast(d, w)
		if !sameWorld(w, before) {
			t.Fatalf("%s changed its operands from %v to %v", v.name, before, w)
		}
		if want := v.long(w); len(got) != want {
			t.Fatalf("%s(%v) = %v, want length %d", v.name, w, got, want)
		}
		if 0 < len(got) && len(got) <= cap(d) && &got[0] != &d[:1][0] {
			t.Fatalf("%s did not use its destination", v.name)
		}
		for i := range len(got) + 3 {
			// Beyond its end a result is zero, and so must be the twin.
			var at int64
			if i < len(got) {
				at = got[i]
			}
			if want := slowClamp(v.slow(w, i)); at != want {
				t.Fatalf("%s(%v) = %d at %d, want %d", v.name, w, at, i, want)
			}
		}
	}
}

// aliasing gives every verb each operand as its destination, in place and cut
// to nothing.
func aliasing(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	for _, v := range verbs {
		want := v.fast(nil, w)
		for i := range w.vectors() {
			for _, cut := range []bool{false, true} {
				c := w.clone()
				dst := *c.vectors()[i]
				if cut {
					dst = dst[:0]
				}
				if got := v.fast(dst, c); !slices.Equal(got, want) {
					t.Fatalf("%s(%v) into operand %d = %v, want %v", v.name, w, i, got, want)
				}
			}
		}
	}
}

func predicatesTwin(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	fits, equal, zero, admits := true, true, true, true
	for i := range 70 {
		a, b := slowAt(w.x, i), slowAt(w.y, i)
		fits = fits && a.Cmp(b) <= 0
		equal = equal && a.Cmp(b) == 0
		zero = zero && a.Sign() == 0
		if bound, ok := slowBound(w.l, i); ok {
			admits = admits && a.Cmp(bound) <= 0
		}
		if got, want := Positive(w.x).Has(i), a.Sign() > 0 && i < MaxTypes; got != want {
			t.Fatalf("Positive(%v).Has(%d) = %t", w.x, i, got)
		}
	}
	check := func(name string, got, want bool) {
		if got != want {
			t.Fatalf("%s = %t, want %t: %v", name, got, want, w)
		}
	}
	check("Fits(x, y)", Fits(w.x, w.y), fits)
	check("Equal(x, y)", Equal(w.x, w.y), equal)
	check("IsZero(x)", IsZero(w.x), zero)
	check("Admits(l, x)", Admits(w.l, w.x), admits)
	check("Equal(x, x0)", Equal(w.x, append(slices.Clone(w.x), 0, 0)), true)
}

func limitsTwin(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	equal := true
	for i := -1; i < 70; i++ {
		var want int64
		var defined bool
		if i >= 0 {
			bound, ok := slowBound(w.l, i)
			want, defined = slowClamp(bound), ok
			other, also := slowBound(w.o, i)
			equal = equal && ok == also && bound.Cmp(other) == 0
		}
		if got, ok := w.l.Bound(i); ok != defined || ok && got != want {
			t.Fatalf("%v.Bound(%d) = %d, %t, want %d, %t", w.l, i, got, ok, want, defined)
		}
	}
	if got := w.l.Equal(w.o); got != equal {
		t.Fatalf("%v.Equal(%v) = %t", w.l, w.o, got)
	}
	dst := Limit{Defined: junk}
	defines := func(name string, got Limit, want Mask) {
		if got.Defined != want {
			t.Fatalf("%s defines %b, want %b", name, got.Defined, want)
		}
	}
	defines("SubOnlyExisting", SubOnlyExisting(dst, w.l, w.x), w.l.Defined)
	defines("AddOnlyExisting", AddOnlyExisting(dst, w.l, w.x), w.l.Defined)
	defines("Tighten", Tighten(dst, w.l, w.o), w.l.Defined|w.o.Defined)
}

func sharesTwin(t *rapid.T) {
	w := worlds(anyAmount()).Draw(t, "world")
	var want Share
	largest := slowShare(nil, nil, 0)
	for i := range w.x {
		if s := slowShare(w.x, w.y, i); s.Cmp(largest) > 0 {
			largest = s
			want = Share{slowAt(w.x, i).Int64(), max(slowAt(w.y, i).Int64(), 1)}
		}
	}
	if got := DominantShare(w.x, w.y); got != want {
		t.Fatalf("DominantShare(%v, %v) = %v, want %v", w.x, w.y, got, want)
	}

	s, o := Share{w.k, w.num}, Share{w.den, w.k}
	slow := slowShare(Vector{s.Amount}, Vector{s.Of}, 0).Cmp(slowShare(Vector{o.Amount}, Vector{o.Of}, 0))
	if got := s.Compare(o); got != slow {
		t.Fatalf("%#v.Compare(%#v) = %d, want %d", s, o, got, slow)
	}
	if got := o.Compare(s); got != -slow {
		t.Fatalf("%#v.Compare(%#v) = %d, want %d", o, s, got, -slow)
	}
}

func sameWorld(w, v world) bool {
	return slices.Equal(w.x, v.x) && slices.Equal(w.y, v.y) &&
		slices.Equal(w.l.Value, v.l.Value) && slices.Equal(w.o.Value, v.o.Value)
}
