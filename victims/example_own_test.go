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

// notebooks fill a node of 8 GPUs, with all that their queue is guaranteed.
var notebooks = []victims.Task{
	{Key: "notebook-0", NodeName: "n1", Size: resources.Vector{2}},
	{Key: "notebook-1", NodeName: "n1", Size: resources.Vector{6}},
}

// A queue at its guarantee takes nothing from others. With the own leaf at met, its less
// important tasks make room, as users of Kubernetes expect, and the guarantee stays met. At
// any, the queue may end below it.
func ExampleOptions_ownLeaf() {
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
		{Name: "research", Guaranteed: eight},
	}})
	check(err)
	research, _ := tree.Lookup("root.research")

	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	_, err = cluster.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{8}})
	check(err)
	for _, t := range notebooks {
		t.Queue, t.Scheduled = research, now.Add(-time.Hour)
		_, err := cluster.AddTask(&t)
		check(err)
	}

	planner := jobs.Planner{Cluster: cluster}
	var d victims.Decision
	decide := func(own queue.WithinQueue, gpus int64) {
		planner.WithinQueue = own
		ask := victims.Ask{Key: "train", Queue: research, Size: resources.Vector{gpus}, Priority: 10}
		check(planner.Decide(&d, &ask, now))
		fmt.Print(own, ": ", d.Summary(), "\n")
	}
	decide(queue.Never, 6)
	decide(queue.Met, 6)
	decide(queue.Met, 4) // less than what would go: research would end at 6
	// Output:
	// never: train (root.research, gpu=6) is refused (over-guarantee): root.research has its guaranteed gpu=8 already
	// met: train (root.research, gpu=6) runs on n1 once these have stopped: notebook-1
	// met: train (root.research, gpu=4) is refused (no-victims): no legal set of victims makes room
}

// A tenant is guaranteed 8 GPUs, and its leaves nothing. So they do not preempt each other:
// what one takes from another leaves the tenant as it was. With the own branch, less
// important tasks of the tenant make room, in whatever leaf they are.
func ExampleOptions_ownBranch() {
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
		{Name: "research", Guaranteed: eight, Children: []queue.Config{{Name: "notebooks"}, {Name: "training"}}},
	}})
	check(err)
	leaf, _ := tree.Lookup("root.research.notebooks")
	training, _ := tree.Lookup("root.research.training")

	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	_, err = cluster.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{8}})
	check(err)
	for _, t := range notebooks {
		t.Queue, t.Scheduled = leaf, now.Add(-time.Hour)
		_, err := cluster.AddTask(&t)
		check(err)
	}
	planner := jobs.Planner{Cluster: cluster}
	var d victims.Decision
	for _, planner.WithinQueue = range []queue.WithinQueue{queue.Met, queue.Branch} {
		for _, priority := range []int32{0, 10} {
			ask := victims.Ask{Key: "train", Queue: training, Size: resources.Vector{6}, Priority: priority}
			check(planner.Decide(&d, &ask, now))
			fmt.Print(planner.WithinQueue, ", priority ", priority, ": ", d.Summary(), "\n")
		}
	}
	// Output:
	// met, priority 0: train (root.research.training, gpu=6) is refused (over-guarantee): root.research has its guaranteed gpu=8 already
	// met, priority 10: train (root.research.training, gpu=6) is refused (over-guarantee): root.research has its guaranteed gpu=8 already
	// branch, priority 0: train (root.research.training, gpu=6) is refused (no-victims): no legal set of victims makes room
	// branch, priority 10: train (root.research.training, gpu=6) runs on n1 once these have stopped: notebook-1
}
