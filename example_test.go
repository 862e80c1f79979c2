// SPDX-License-Identifier: Apache-2.0

package preempt_test

import (
	"fmt"
	"log"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A pod of a queue under its guarantee wants 8 GPUs, and both nodes are full. Of a queue
// without a guarantee the one task of 8 goes, rather than two of 4.
func Example() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

	schema, err := resources.NewSchema("gpu")
	check(err)
	eight, err := schema.ParseLimit("gpu=8")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "prod", Guaranteed: eight},
	}})
	check(err)
	batch, _ := tree.Lookup("root.batch")
	prod, _ := tree.Lookup("root.prod")

	cluster := victims.NewCluster(tree)
	for _, name := range []string{"n1", "n2"} {
		_, err := cluster.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{8}})
		check(err)
	}
	for _, t := range []victims.Task{
		{Key: "etl-0", NodeName: "n1", Size: resources.Vector{4}},
		{Key: "etl-1", NodeName: "n1", Size: resources.Vector{4}},
		{Key: "sim", NodeName: "n2", Size: resources.Vector{8}},
	} {
		t.Queue, t.Scheduled = batch, now.Add(-time.Hour)
		_, err := cluster.AddTask(&t)
		check(err)
	}

	ask := victims.Ask{
		Key: "chat", Queue: prod, Size: resources.Vector{8}, PendingSince: now.Add(-time.Minute),
	}
	planner := jobs.Planner{Cluster: cluster}
	var d victims.Decision
	check(planner.Decide(&d, &ask, now))
	fmt.Print(d)

	// The plan is applied: sim is told to stop, and chat holds its place.
	check(cluster.Apply(&d))
	// Later sim has gone, and chat starts.
	check(cluster.RemoveTask("sim"))
	check(cluster.Start("chat", now))
	fmt.Print(cluster.Tree())

	// Output:
	// chat (root.prod, gpu=8) runs on n2 once these have stopped:
	//   sim on n2 (root.batch, gpu=8, priority 0) for room on the node
	//   cost: 1 victim, 1h of work lost, 8 gpu-hours
	//   no legal plan costs less
	// root    used gpu=16
	//   batch used gpu=8
	//   prod  used gpu=8 guaranteed gpu=8
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
