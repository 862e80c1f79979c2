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

// fullNodes has three nodes of 8 GPUs by the sizes of their tasks.
var fullNodes = [][]int64{{1, 1, 2, 2, 2}, {4, 4}, {8}}

// GPUs come in sizes 1, 2, 4 and 8. Three asks wait, for 1, 2 and 1 of them. Each by itself
// stops one small task, for that frees least beyond its need. Together they stop one task
// of 4.
func ExamplePlanner_DecideAll() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	guaranteed, err := schema.ParseLimit("gpu=8")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "research", Guaranteed: guaranteed},
	}})
	check(err)
	batch, _ := tree.Lookup("root.batch")
	research, _ := tree.Lookup("root.research")

	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i, sizes := range fullNodes {
		node, err := cluster.AddNode(&victims.Node{Name: fmt.Sprint("n", i), Capacity: resources.Vector{8}})
		check(err)
		for k, size := range sizes {
			_, err := cluster.AddTask(&victims.Task{
				Key: fmt.Sprintf("etl-%d-%d", i, k), Queue: batch, Node: node, Size: resources.Vector{size},
				Scheduled: now.Add(-time.Hour),
			})
			check(err)
		}
	}
	var asks []victims.Ask
	for i, size := range []int64{1, 2, 1} {
		asks = append(asks, victims.Ask{Key: fmt.Sprint("web-", i), Queue: research, Size: resources.Vector{size}})
	}

	planner := jobs.Planner{Cluster: cluster}
	var alone victims.Decision
	for i := range asks {
		check(planner.Decide(&alone, &victims.Ask{
			Key: "web", Queue: research, Members: []victims.Member{{Key: asks[i].Key, Size: asks[i].Size}},
		}, now))
		fmt.Println(asks[i].Key, "alone stops", alone.Plan.Victims[0].Key)
	}

	all, err := planner.DecideAll(nil, asks, now)
	check(err)
	for _, d := range all {
		if d.Outcome == victims.Refused {
			fmt.Println(d.Plan.Ask.Key, "is refused:", d.Refusal.Reason)
			continue
		}
		for _, at := range d.Plan.Places {
			fmt.Println(at.Key, "runs on", at.NodeName)
		}
		for _, v := range d.Plan.Victims {
			fmt.Println(v.Key, "stops")
		}
		fmt.Println("proven:", d.Plan.Proof == victims.ProofCost)
	}
	check(cluster.ApplyAll(all)) // or decide again after a change
	// Output:
	// web-0 alone stops etl-0-0
	// web-1 alone stops etl-0-2
	// web-2 alone stops etl-0-0
	// web-0 runs on n1
	// web-1 runs on n1
	// web-2 runs on n1
	// etl-1-0 stops
	// proven: true
}
