// SPDX-License-Identifier: Apache-2.0

package preempt_test

import (
	"fmt"
	"log"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An ask of a queue under its guarantee finds the node full, and a task of a
// queue without a guarantee has to go.
func Example() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

	schema, err := resources.NewSchema("cpu")
	check(err)
	eight, err := schema.Limit(map[string]string{"cpu": "8"})
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "prod", Guaranteed: eight},
	}}, queue.Strict)
	check(err)
	batch, _ := tree.Lookup("root.batch")
	prod, _ := tree.Lookup("root.prod")

	cluster := victims.NewCluster(tree)
	node, err := cluster.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{8000}})
	check(err)
	_, err = cluster.AddTask(&victims.Task{
		Key: "etl", Application: "etl", Queue: batch, Node: node, Size: resources.Vector{8000},
		Scheduled: now.Add(-time.Hour),
	})
	check(err)

	ask := victims.Ask{
		Key: "web", Application: "web", Queue: prod, Size: resources.Vector{4000},
		PendingSince: now.Add(-time.Minute),
	}
	planner := victims.Planner{Cluster: cluster}
	var d victims.Decision
	check(planner.Decide(&d, &ask, now))
	fmt.Print(d.Describe(cluster))

	// The plan is applied: etl is told to stop, and web holds its place.
	check(cluster.Apply(d.Plan.Change()))
	// Later etl has gone, and web starts.
	check(cluster.RemoveTask("etl"))
	check(cluster.Start("web", now))
	fmt.Print(cluster.Tree())

	// Output:
	// web (root.prod, cpu=4) runs on n1 once these have stopped:
	//   etl on n1 (root.batch, cpu=8, priority 0, rank 0) for room on the node
	//   cost: highest rank 0, highest priority 0, 1 victim, 50% of the cluster freed beyond need, 1h0m0s of work lost
	//   no legal plan costs less
	// root    used cpu=4
	//   batch used none
	//   prod  used cpu=4 guaranteed cpu=8
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
