// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Two teams share two nodes of eight GPUs. A small task of b on each node keeps a from a whole
// one. Both teams are within what they are guaranteed, so nobody may be stopped. One moves.
func ExamplePlanner_moves() {
	schema, _ := resources.NewSchema("gpu")
	gpus := func(n int64) resources.Limit { return resources.Limit{Value: resources.Vector{n}, Defined: 1} }
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Guaranteed: gpus(8)},
		{Name: "b", Guaranteed: gpus(8)},
	}})
	if err != nil {
		panic(err)
	}
	c := victims.NewCluster(tree)
	a, _ := tree.Lookup("root.a")
	b, _ := tree.Lookup("root.b")
	for _, name := range []string{"n1", "n2"} {
		if _, err := c.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{8}}); err != nil {
			panic(err)
		}
	}
	for _, t := range []victims.Task{
		{Key: "b1", Queue: b, NodeName: "n1", Size: resources.Vector{2}, Movable: true},
		{Key: "b2", Queue: b, NodeName: "n2", Size: resources.Vector{4}, Movable: true},
	} {
		if _, err := c.AddTask(&t); err != nil {
			panic(err)
		}
	}

	p := jobs.Planner{Cluster: c, Options: victims.Options{Moves: victims.MovesEntitled}}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var d victims.Decision
	err = p.Decide(&d, &victims.Ask{Key: "a1", Queue: a, Size: resources.Vector{8}}, now)
	if err != nil {
		panic(err)
	}
	fmt.Print(d)

	// Stop b1, start it again on n2 as "b1+", and start a1 once b1 has gone.
	if err := c.Apply(&d); err != nil {
		panic(err)
	}
	fmt.Println(c.RemoveTask("b1"), c.Start("b1+", now), c.Start("a1", now))
	// Output:
	// a1 (root.a, gpu=8) runs on n1 once these have moved:
	//   b1 moves from n1 to n2 (root.b, gpu=2)
	//   cost: no victims, 1 move
	//   no legal plan costs less
	// <nil> <nil> <nil>
}
