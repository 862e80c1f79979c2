// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"fmt"

	"github.com/go-preempt/preempt/resources"
)

// The destination may be an operand.
func ExampleAdd() {
	usage := resources.Vector{1000, 4}
	usage = resources.Add(usage, usage, resources.Vector{500, 0, 1})
	fmt.Println(usage)
	// Output:
	// [1500 4 1]
}

func ExampleSub() {
	free := resources.Sub(nil, resources.Vector{8000, 4}, resources.Vector{6000, 5})
	fmt.Println(free)
	// Output:
	// [2000 -1]
}

func ExampleMin() {
	fmt.Println(resources.Min(nil, resources.Vector{5, 1, -2}, resources.Vector{3, 4}))
	// Output:
	// [3 1 -2]
}

// With nothing to compare with, Max is the positive part.
func ExampleMax() {
	fmt.Println(resources.Max(nil, resources.Vector{5, 1}, resources.Vector{3, 4}))
	fmt.Println(resources.Max(nil, resources.Vector{5, -1}, nil))
	// Output:
	// [5 4]
	// [5 0]
}

func ExampleScale() {
	size := resources.Vector{500, 1 << 62}
	fmt.Println(resources.Scale(nil, size, 3)) // the second amount saturates
	// Output:
	// [1500 9223372036854775807]
}

func ExampleFits() {
	free := resources.Vector{2000, 4}
	fmt.Println(resources.Fits(resources.Vector{2000}, free))
	fmt.Println(resources.Fits(resources.Vector{2000, 4, 1}, free))
	// Output:
	// true
	// false
}

// Trailing zeros mean nothing.
func ExampleEqual() {
	fmt.Println(resources.Equal(resources.Vector{1, 0, 0}, resources.Vector{1}))
	// Output:
	// true
}

func ExampleIsZero() {
	fmt.Println(resources.IsZero(nil), resources.IsZero(resources.Vector{0, 1}))
	// Output:
	// true false
}

// An explicit zero asks for nothing.
func ExamplePositive() {
	ask := resources.Vector{500, 0, 1}
	for i := range resources.Positive(ask).All() {
		fmt.Println(i)
	}
	// Output:
	// 0
	// 2
}

func ExampleMask() {
	var m resources.Mask
	m |= 1<<5 | 1<<0 | 1<<2
	m &^= 1 << 5
	fmt.Println(m.Has(2), m.Has(5))
	for i := range m.All() {
		fmt.Println(i)
	}
	// Output:
	// true false
	// 0
	// 2
}

func ExampleDominantShare() {
	capacity := resources.Vector{64000, 256 << 30, 8}
	a := resources.DominantShare(resources.Vector{16000, 32 << 30}, capacity)
	b := resources.DominantShare(resources.Vector{1000, 0, 3}, capacity)
	fmt.Println(a, b, a.Compare(b))
	// Output:
	// 16000/64000 3/8 -1
}

// Neighbours that no float64 can tell apart.
func ExampleShare_Compare() {
	a := resources.Share{Amount: 1<<62 - 1, Of: 1 << 62}
	b := resources.Share{Amount: 1<<62 - 2, Of: 1<<62 - 1}
	fmt.Println(a.Compare(b), resources.Share{Amount: 1, Of: 2}.Compare(resources.Share{Amount: 2, Of: 4}))
	// Output:
	// 1 0
}

func ExampleLimit_Bound() {
	limit := resources.Limit{Value: resources.Vector{10, 99}, Defined: 1<<0 | 1<<2}
	for i := range 3 {
		fmt.Println(limit.Bound(i))
	}
	// Output:
	// 10 true
	// 0 false
	// 0 true
}

func ExampleLimit_Equal() {
	limit := resources.Limit{Value: resources.Vector{10, 99}, Defined: 0b01}
	fmt.Println(limit.Equal(resources.Limit{Value: resources.Vector{10}, Defined: 0b01}))
	fmt.Println(limit.Equal(resources.Limit{Value: resources.Vector{10}, Defined: 0b11}))
	// Output:
	// true
	// false
}

func ExampleAdmits() {
	limit := resources.Limit{Value: resources.Vector{10, 0}, Defined: 0b01} // the second type has no bound
	fmt.Println(resources.Admits(limit, resources.Vector{10, 1000}))
	fmt.Println(resources.Admits(limit, resources.Vector{11}))
	// Output:
	// true
	// false
}

// What a queue uses beyond its guarantee, and what it still has coming.
func ExampleOver() {
	guaranteed := resources.Limit{Value: resources.Vector{10, 10, 0}, Defined: 0b011}
	usage := resources.Vector{12, 7, 50}
	fmt.Println(resources.Over(nil, usage, guaranteed))
	fmt.Println(resources.Short(nil, guaranteed, usage))
	// Output:
	// [2 0 0]
	// [0 3 0]
}

// What an ask lacks on a node.
func ExampleShort() {
	ask := resources.Vector{500, 0, 1}
	needed := resources.Limit{Value: ask, Defined: resources.Positive(ask)}
	free := resources.Vector{2000, -7, 0}
	fmt.Println(resources.Short(nil, needed, free))
	// Output:
	// [0 0 1]
}

// After max was lowered to 50 and 100, usage is 30 over in the first type. The
// third type has no max.
func ExampleSubOnlyExisting() {
	max := resources.Limit{Value: resources.Vector{50, 100}, Defined: 0b011}
	left := resources.SubOnlyExisting(resources.Limit{}, max, resources.Vector{80, 70, 500})
	for i := range left.Defined.All() {
		fmt.Println(left.Bound(i))
	}
	// Output:
	// -30 true
	// 30 true
}

func ExampleAddOnlyExisting() {
	room := resources.Limit{Value: resources.Vector{5}, Defined: 0b01}
	room = resources.AddOnlyExisting(room, room, resources.Vector{3, 8})
	fmt.Println(room.Value, room.Defined)
	// Output:
	// [8 0] 1
}

// The smaller bound holds, and no bound is larger than any.
func ExampleTighten() {
	schema, _ := resources.NewSchema("cpu", "memory", "gpu")
	queue, _ := schema.ParseLimit("cpu=10 memory=8Gi")
	parent, _ := schema.ParseLimit("cpu=4 gpu=0")
	fmt.Println(schema.FormatLimit(resources.Tighten(resources.Limit{}, queue, parent)))
	// Output:
	// cpu=4 memory=8Gi gpu=0
}
