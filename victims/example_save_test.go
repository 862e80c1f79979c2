// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// llm has two members of 4 GPUs each, which fill the node.
var llm = []victims.Task{
	{Key: "llm-0", Application: "llm", NodeName: "n1", Size: resources.Vector{4}},
	{Key: "llm-1", Application: "llm", NodeName: "n1", Size: resources.Vector{4}},
}

// A scheduler stops while a training task makes room for inference. After the
// restart the room is still promised, and nobody else is told to stop.
func ExampleCluster_Save() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	four, err := schema.ParseLimit("gpu=4")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "train"}, {Name: "serve", Guaranteed: four},
	}})
	check(err)
	train, _ := tree.Lookup("root.train")
	serve, _ := tree.Lookup("root.serve")

	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	_, err = cluster.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{8}})
	check(err)
	for _, t := range llm {
		t.Queue, t.Scheduled = train, now
		_, err := cluster.AddTask(&t)
		check(err)
	}
	planner := jobs.Planner{Cluster: cluster}
	ask := victims.Ask{Key: "chat", Queue: serve, Size: resources.Vector{4}}
	var d victims.Decision
	check(planner.Decide(&d, &ask, now))
	check(cluster.Apply(&d))

	var file bytes.Buffer
	check(cluster.Save(&file))
	// Here the scheduler stops, and starts again.
	again, err := victims.Load(&file)
	check(err)
	g, _ := again.Grant("chat")
	fmt.Println("chat waits for", g.Leaving, "since", g.Since.Format(time.TimeOnly))
	// Output:
	// chat waits for [llm-0] since 12:00:00
}
