// SPDX-License-Identifier: Apache-2.0

package resources

import "testing"

var (
	sinkVector Vector
	sinkLimit  Limit
	sinkMask   Mask
	sinkShare  Share
	sinkInt    int64
	sinkBool   bool
)

// TestNoAllocs shows that nothing allocates once its destination is there,
// whatever the lengths of the operands.
func TestNoAllocs(t *testing.T) {
	var (
		x, y  = Vector{1, -2, 3, 4}, Vector{5, most}
		l, o  = Limit{Vector{2, 2}, 0b101}, Limit{Vector{1, 1, 1, 1}, 0b1111}
		dst   = make(Vector, 4)
		ldst  = Limit{Value: make(Vector, 4)}
		s     = mustSchema(t, "cpu", "memory", "gpu")
		parse = func(typeName, text string) {
			amount, err := ParseQuantity(typeName, text)
			if err != nil {
				panic(err)
			}
			sinkInt = amount
		}
	)
	test := func(name string, f func()) {
		t.Run(name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, f); n != 0 {
				t.Errorf("%v allocations, want 0", n)
			}
		})
	}
	test("Add", func() { sinkVector = Add(dst, x, y) })
	test("Add/in place", func() { sinkVector = Add(x, x, y) })
	test("Add/from nothing", func() { sinkVector = Add(dst[:0], y, x) })
	test("Sub", func() { sinkVector = Sub(dst, x, y) })
	test("Min", func() { sinkVector = Min(dst, x, y) })
	test("Max", func() { sinkVector = Max(dst, x, y) })
	test("Scale", func() { sinkVector = Scale(dst, x, 3) })
	test("Fits", func() { sinkBool = Fits(x, y) })
	test("Equal", func() { sinkBool = Equal(x, y) })
	test("IsZero", func() { sinkBool = IsZero(x) })
	test("Positive", func() { sinkMask = Positive(x) })
	test("DominantShare", func() { sinkShare = DominantShare(x, y) })
	test("Share.Compare", func() { sinkBool = Share{1, 2}.Compare(Share{2, 3}) < 0 })
	test("Over", func() { sinkVector = Over(dst, x, l) })
	test("Short", func() { sinkVector = Short(dst, l, x) })
	test("SubOnlyExisting", func() { sinkLimit = SubOnlyExisting(ldst, l, x) })
	test("AddOnlyExisting", func() { sinkLimit = AddOnlyExisting(ldst, l, x) })
	test("AddOnlyExisting/in place", func() { sinkLimit = AddOnlyExisting(o, o, x) })
	test("Tighten", func() { sinkLimit = Tighten(ldst, l, o) })
	test("Admits", func() { sinkBool = Admits(l, x) })
	test("Limit.Equal", func() { sinkBool = l.Equal(o) })
	test("Limit.Bound", func() { sinkInt, sinkBool = l.Bound(2) })
	test("Mask.All", func() {
		for i := range Mask(0b1010).All() {
			sinkInt += int64(i)
		}
	})
	test("Schema.Index", func() { _, sinkBool = s.Index("memory") })
	test("ParseQuantity/plain", func() { parse("gpu", "8") })
	test("ParseQuantity/suffix", func() { parse("cpu", "500m") })
	test("ParseQuantity/point", func() { parse("memory", "1.5Gi") })
	test("ParseQuantity/exponent", func() { parse("memory", "1e3") })
}
