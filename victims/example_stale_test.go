// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Gangs that make no progress go first: they cost nothing of their own, and others do. Without
// the costs the new gang would go, which has less work to lose.
func ExampleTask_cost() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "research", Guaranteed: resources.Limit{Value: resources.Vector{8}, Defined: 1}},
	}})
	check(err)
	batch, _ := tree.Lookup("root.batch")
	research, _ := tree.Lookup("root.research")
	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	stale := map[string]bool{"old": true} // no step for an hour, says its metric
	for i, job := range []string{"new", "old"} {
		check(cluster.SetMinMembers(job, 2))
		_, err := cluster.AddNode(&victims.Node{Name: job, Capacity: resources.Vector{8}})
		check(err)
		for m := range 2 {
			t := victims.Task{
				Key: fmt.Sprint(job, "-", m), Job: job, NodeName: job, Queue: batch, Size: resources.Vector{4},
				Scheduled: now.Add(-time.Duration(1+9*i) * time.Hour), Cost: 1,
			}
			if stale[job] {
				t.Cost = 0
			}
			_, err := cluster.AddTask(&t)
			check(err)
		}
	}
	planner := jobs.Planner{Cluster: cluster}
	var d victims.Decision
	check(planner.Decide(&d, &victims.Ask{Key: "eval", Queue: research, Size: resources.Vector{8}}, now))
	fmt.Println(d.Summary())
	// Output:
	// eval (root.research, gpu=8) runs on old once these have stopped: old-0, old-1
}
