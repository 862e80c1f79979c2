// First is the program that README.md begins with.
package main

import (
	"fmt"
	"log"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

func main() {
	// The cluster: one node of 8 cores, and two queues. Prod is guaranteed all
	// of it, batch nothing.
	schema := must(resources.NewSchema("cpu"))
	four := must(schema.Vector(map[string]string{"cpu": "4"}))
	eight := must(schema.Vector(map[string]string{"cpu": "8"}))
	tree := must(queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"},
		{Name: "prod", Guaranteed: must(schema.Limit(map[string]string{"cpu": "8"}))},
	}}, queue.Strict))
	batch, _ := tree.Lookup("root.batch")
	prod, _ := tree.Lookup("root.prod")
	cluster := victims.NewCluster(tree)
	node := must(cluster.AddNode(&victims.Node{Name: "n1", Capacity: eight}))

	// A task of batch fills the node, and has for an hour.
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	must(cluster.AddTask(&victims.Task{
		Key: "etl", Application: "etl", Queue: batch, Node: node, Size: eight, Scheduled: now.Add(-time.Hour),
	}))

	// An ask of prod has waited for a minute. Who should stop?
	ask := victims.Ask{
		Key: "web", Application: "web", Queue: prod, Size: four, PendingSince: now.Add(-time.Minute),
	}
	planner := victims.Planner{Cluster: cluster}
	var d victims.Decision
	if err := planner.Decide(&d, &ask, now); err != nil {
		log.Fatal(err)
	}
	fmt.Print(d.Describe(cluster)) // d.Plan.Victims has etl
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
