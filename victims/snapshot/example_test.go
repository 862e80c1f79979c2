// SPDX-License-Identifier: Apache-2.0

package snapshot_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// A user finds the answer to an ask surprising. The scheduler writes what its
// planner saw as one file, and whoever gets the file decides it again.
func Example_bugReport() {
	schema, _ := resources.NewSchema("gpu")
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "prod", Guaranteed: resources.Limit{Value: resources.Vector{2}, Defined: 1}},
		{Name: "dev", Properties: map[string]string{"preemption.policy": "disabled"}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	cluster := victims.NewCluster(tree)
	node, _ := cluster.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{2}})
	dev, _ := tree.Lookup("root.dev")
	prod, _ := tree.Lookup("root.prod")
	cluster.AddTask(&victims.Task{
		Key: "notebook", Application: "lab", Queue: dev, Node: node, Size: resources.Vector{2},
		Created: now.Add(-2 * time.Hour), Scheduled: now.Add(-time.Hour),
	})

	// In the scheduler:
	text, _, err := snapshot.Take(&snapshot.Scene{
		Name:    "why does serve wait?",
		Planner: &jobs.Planner{Cluster: cluster},
		Now:     now,
		Asks: []victims.Ask{{
			Key: "serve", Application: "api", Queue: prod, Size: resources.Vector{1}, PendingSince: now.Add(-time.Minute),
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	// Elsewhere, from the file:
	run, err := snapshot.Read("report.json", text)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(run.Steps[0].String())

	// Output:
	// serve (root.prod, gpu=1) is refused (nothing-in-reach): no queue that it could take from is in reach
}
