// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// What may go below each queue, when 2 gpus arrive in b? Of its surplus of 3 queue
// a may lose all, and b as much more than its 2 as arrives. Others are guaranteed
// nothing, and nothing bounds them.
func ExampleRooms() {
	schema, err := resources.NewSchema("gpu")
	check(err)
	gpus := func(n int64) resources.Limit { return resources.Limit{Value: resources.Vector{n}, Defined: 1} }
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Guaranteed: gpus(5)}, {Name: "b", Guaranteed: gpus(4)}, {Name: "c"},
	}}, queue.Strict)
	check(err)
	const a, b, c = 1, 2, 3
	check(tree.Add(a, resources.Vector{8}))
	check(tree.Add(b, resources.Vector{6}))
	check(tree.Add(c, resources.Vector{7}))

	var rooms victims.Rooms
	rooms.Reset(tree, b, resources.Vector{2})
	for leaf := range tree.Leaves(queue.Root) {
		fmt.Print(tree.Path(leaf))
		for _, row := range rooms.Chain(leaf) {
			fmt.Print(" ", schema.FormatLimit(rooms.Bounds[row].Room))
		}
		fmt.Println()
	}
	// Output:
	// root.a gpu=3
	// root.b gpu=4
	// root.c
}
