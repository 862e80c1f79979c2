// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Loops that others have had in the field, with what a queue deserves as its
// guarantee. None of them has a storm here. docs/fair-shares.md tells of them.
func TestNoStorm_Field(t *testing.T) {
	two := func(g ...int) []Queue {
		all := []Queue{{}}
		for _, g := range g {
			all = append(all, Queue{Guaranteed: amounts(g)})
		}
		return all
	}
	tasks := func(leaf, n, size int) (all []Task) {
		for range n {
			all = append(all, Task{Leaf: leaf, Size: amounts(size)})
		}
		return all
	}
	for _, test := range []struct {
		name    string
		u       *Universe
		running []int // how it begins
		plans   int   // of the longest way to rest
	}{
		// The only task of the first queue is larger than what that deserves.
		{"Volcano 4947", &Universe{
			Queues: two(3, 5), Nodes: [][]int{{8}},
			Tasks: append(tasks(1, 1, 4), Task{Leaf: 2, Size: amounts(1)}, Task{Leaf: 2, Size: amounts(4)}),
		}, []int{0, 0, -1}, 0},
		// Tasks of 2 do not add up to what either deserves.
		{"Volcano 3729", &Universe{
			Queues: two(5, 5), Nodes: [][]int{{11}}, Tasks: append(tasks(1, 5, 2), tasks(2, 5, 2)...),
		}, []int{0, 0, 0, 0, 0, -1, -1, -1, -1, -1}, 2},
		// Who is beyond its quota takes from one that has none.
		{"Kueue 3779", &Universe{
			Queues: two(3, 3, -1), Nodes: [][]int{{6}},
			Tasks: append(tasks(1, 1, 5), Task{Leaf: 3, Size: amounts(1)}, Task{Leaf: 1, Size: amounts(1)}),
		}, []int{0, 0, -1}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, looked := test.u.Storm()
			require.Nil(t, c)
			require.Positive(t, looked)
			steps, ok := test.u.Rest(test.running)
			require.True(t, ok)
			plans := 0
			for _, s := range steps {
				if len(s.Victims) > 0 {
					plans++
				}
			}
			require.Equal(t, test.plans, plans, "%+v", steps)
		})
	}
}
