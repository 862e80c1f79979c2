// SPDX-License-Identifier: Apache-2.0

package cover_test

import (
	"fmt"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A container is what some scheduler has for a task.
type container struct {
	name     string
	gpus     int64
	priority int64
}

// stop states which containers of a node should stop so that so many GPUs are free: those with
// the lowest highest priority, then the fewest.
func stop(on []container, gpus int64) *cover.Problem {
	p := &cover.Problem{Need: resources.Vector{gpus}, Maxima: 1}
	for _, c := range on {
		p.Units = append(p.Units, cover.Unit{Key: c.name, Size: resources.Vector{c.gpus}, Cost: []int64{c.priority, 1}})
	}
	return p
}

// Which containers of another scheduler should stop, so that 4 GPUs are free? One of them would
// do, but has a high priority. Pairs would do, too: keys break the tie.
func ExampleSolver_Solve() {
	p := stop([]container{
		{"serve", 6, 100},
		{"sweep-1", 1, 5},
		{"sweep-2", 3, 5},
		{"sweep-3", 3, 5},
	}, 4)
	var s cover.Solver
	var least cover.Selection
	found := s.Solve(&least, p)
	for _, i := range least.Units {
		fmt.Println(p.Units[i].Key)
	}
	fmt.Println(found, "proven:", least.Proven, "cost:", least.Cost)
	// Output:
	// sweep-1
	// sweep-2
	// true proven: true cost: [5 2]
}

// On which node is it cheapest? The first one has a container of low priority that is too
// small, the second one needs two.
func ExampleSolver_Fit() {
	nodes := []cover.Problem{
		*stop([]container{{"serve", 8, 100}, {"notebook", 2, 1}}, 4),
		*stop([]container{{"sweep-1", 3, 5}, {"sweep-2", 3, 5}}, 4),
		*stop([]container{{"train", 4, 5}}, 4),
	}
	var s cover.Solver
	var least cover.Selection
	node, ok := s.Fit(&least, nodes)
	fmt.Println(node, ok, nodes[node].Units[least.Units[0]].Key, least.Cost)
	// Output:
	// 2 true train [5 1]
}

// Two of the three tasks make room, but their queue, which may lose 3, can lose one only.
func ExampleProblem() {
	queue := []int{0}
	p := cover.Problem{
		Need:   resources.Vector{4},
		Bounds: []resources.Limit{{Value: resources.Vector{3}, Defined: 1}},
		Units: []cover.Unit{
			{Key: "a", Size: resources.Vector{2}, Bounds: queue},
			{Key: "b", Size: resources.Vector{2}, Bounds: queue},
			{Key: "c", Size: resources.Vector{2}},
		},
	}
	var s cover.Solver
	var least cover.Selection
	s.Solve(&least, &p)
	for _, i := range least.Units {
		fmt.Println(p.Units[i].Key)
	}
	// Output:
	// a
	// c
}
