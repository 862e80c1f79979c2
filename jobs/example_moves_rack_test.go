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

// A job that wants a whole rack, in which a small task of somebody else's runs that nobody
// may stop: its queue is within its guarantee. The task moves to the other rack.
func ExamplePlanner_movesForRack() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	gpus := func(n int64) resources.Limit { return resources.Limit{Value: resources.Vector{n}, Defined: 1} }
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "hero", Guaranteed: gpus(16)}, {Name: "web", Guaranteed: gpus(8)},
	}})
	check(err)
	hero, _ := tree.Lookup("root.hero")
	web, _ := tree.Lookup("root.web")
	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i, rack := range []string{"rack-a", "rack-b", "rack-b"} {
		_, err := cluster.AddNode(&victims.Node{Name: fmt.Sprint("n", i+1), Domains: []string{rack}, Capacity: resources.Vector{8}})
		check(err)
	}
	_, err = cluster.AddTask(&victims.Task{Key: "front", Queue: web, NodeName: "n3", Size: resources.Vector{1}, Movable: true})
	check(err)

	p := jobs.Planner{Cluster: cluster, Options: victims.Options{Moves: victims.MovesEntitled}}
	job := victims.Ask{Key: "llm", Queue: hero, DomainDepth: 1, Members: []victims.Member{
		{Key: "llm-0", Size: resources.Vector{8}}, {Key: "llm-1", Size: resources.Vector{8}},
	}}
	var d victims.Decision
	check(p.Decide(&d, &job, now))
	fmt.Print(d)
	// Output:
	// job llm (root.hero, priority 0) runs in rack-b once these have moved: 2 members placed
	//   member llm-0 (gpu=8) on n2
	//   member llm-1 (gpu=8) on n3
	//   front moves from n3 to n1 (root.web, gpu=1)
	//   cost: no victims, 1 move
	//   no legal plan costs less up to the sum of ranks
}
