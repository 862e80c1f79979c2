// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A scheduler stops while a training task makes room for inference. After the
// restart the room is still promised, and nobody else is told to stop.
func ExampleCluster_Save() {
	schema, err := resources.NewSchema("gpu")
	if err != nil {
		panic(err)
	}
	four, err := schema.Limit(map[string]string{"gpu": "4"})
	if err != nil {
		panic(err)
	}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "train"}, {Name: "serve", Guaranteed: four},
	}}, queue.Strict)
	if err != nil {
		panic(err)
	}
	c := victims.NewCluster(tree)
	train, _ := tree.Lookup("root.train")
	serve, _ := tree.Lookup("root.serve")
	if _, err := c.AddNode(&victims.Node{Name: "dgx-1", Capacity: resources.Vector{8}}); err != nil {
		panic(err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, key := range []string{"llm-0", "llm-1"} {
		task := victims.Task{Key: key, Application: "llm", Queue: train, NodeName: "dgx-1", Size: resources.Vector{4}, Scheduled: now}
		if _, err := c.AddTask(&task); err != nil {
			panic(err)
		}
	}
	planner := victims.Planner{Cluster: c}
	var d victims.Decision
	ask := victims.Ask{Key: "chat", Queue: serve, Size: resources.Vector{4}}
	if err := planner.Decide(&d, &ask, now); err != nil {
		panic(err)
	}
	if err := c.Apply(d.Plan.Change()); err != nil {
		panic(err)
	}

	var file bytes.Buffer
	if err := c.Save(&file); err != nil {
		panic(err)
	}
	// Here the scheduler stops, and starts again.
	again, err := victims.Load(&file)
	if err != nil {
		panic(err)
	}
	var w victims.Waiting
	if err := again.Waiting(&w, "chat"); err != nil {
		panic(err)
	}
	fmt.Println("chat waits for", w.Victims, "since", w.Since.Format(time.TimeOnly))
	// Output:
	// chat waits for [llm-0] since 12:00:00
}
