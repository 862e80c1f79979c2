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

// trainings fill a node of 8 GPUs each, and have run for so many hours.
var trainings = []struct {
	key   string
	hours time.Duration
}{{"bert", 10}, {"clip", 3}, {"gpt", 5}}

// Among tasks that are alike, the one goes that loses least work since its last checkpoint.
// What a stop costs by your own account counts before that.
func ExampleCluster_SetCheckpoint() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	eight, err := schema.ParseLimit("gpu=8")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "train"}, {Name: "serve", Guaranteed: eight},
	}})
	check(err)
	train, _ := tree.Lookup("root.train")
	serve, _ := tree.Lookup("root.serve")

	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, t := range trainings {
		node, err := cluster.AddNode(&victims.Node{Name: "of-" + t.key, Capacity: resources.Vector{8}})
		check(err)
		_, err = cluster.AddTask(&victims.Task{
			Key: t.key, Queue: train, Node: node, Size: resources.Vector{8}, Scheduled: now.Add(-t.hours * time.Hour),
		})
		check(err)
	}

	planner := jobs.Planner{Cluster: cluster}
	ask := victims.Ask{Key: "chat", Queue: serve, Size: resources.Vector{8}}
	var d victims.Decision
	decide := func() {
		check(planner.Decide(&d, &ask, now))
		fmt.Println(d.Plan.Victims[0].Key, "stops and loses", d.Plan.Cost.LostTime)
	}
	decide()

	check(cluster.SetCheckpoint("bert", now.Add(-time.Minute)))
	decide()

	check(cluster.SetCost("bert", 20)) // it takes long to load its data
	check(cluster.SetCost("clip", 5))
	decide()
	// Output:
	// clip stops and loses 3h0m0s
	// bert stops and loses 1m0s
	// gpt stops and loses 5h0m0s
}
