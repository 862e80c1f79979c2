// SPDX-License-Identifier: Apache-2.0

// First finds room for a gang: the program of README.md.
package main

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

func main() {
	// Two queues. Research is guaranteed 16 GPUs, batch none.
	schema := must(resources.NewSchema("gpu"))
	guaranteed, eight := must(schema.ParseLimit("gpu=16")), must(schema.Parse("gpu=8"))
	tree := must(queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "research", Guaranteed: guaranteed},
	}}))
	batch, _ := tree.Lookup("root.batch")
	research, _ := tree.Lookup("root.research")

	// Three nodes of 8 GPUs. A task of batch fills each.
	cluster, now := victims.NewCluster(tree), time.Now()
	for i := range 3 {
		node := must(cluster.AddNode(&victims.Node{Name: fmt.Sprint("n", i), Capacity: eight}))
		must(cluster.AddTask(&victims.Task{
			Key: fmt.Sprint("etl-", i), Queue: batch, Node: node, Size: eight,
			Scheduled: now.Add(time.Duration(i-3) * time.Hour),
		}))
	}

	// A gang of research needs 8 GPUs for each of its two members.
	job := victims.Ask{Key: "llm", Queue: research, Size: eight, Members: []victims.Member{{Key: "llm-0"}, {Key: "llm-1"}}}
	planner := jobs.Planner{Cluster: cluster}
	var d victims.Decision
	if err := planner.Decide(&d, &job, now); err != nil {
		panic(err)
	}
	fmt.Print(d)
	switch d.Outcome {
	case victims.Refused: // ask again when d.Refusal.Help says
	case victims.Fits, victims.Waits, victims.Preempts:
		must(0, cluster.Apply(&d)) // then stop d.Plan.Victims
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
