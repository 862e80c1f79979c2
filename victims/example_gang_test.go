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

// minimum says how many members a job needs. A sweep runs on with one of its four.
var minimum = map[string]int{"llm": 2, "sweep": 1}

// gangs fill three nodes of 8 GPUs.
var gangs = []victims.Task{
	{Key: "llm-0", Job: "llm", NodeName: "n1", Size: resources.Vector{8}},
	{Key: "llm-1", Job: "llm", NodeName: "n2", Size: resources.Vector{8}},
	{Key: "sweep-0", Job: "sweep", NodeName: "n3", Size: resources.Vector{2}},
	{Key: "sweep-1", Job: "sweep", NodeName: "n3", Size: resources.Vector{2}},
	{Key: "sweep-2", Job: "sweep", NodeName: "n3", Size: resources.Vector{2}},
	{Key: "sweep-3", Job: "sweep", NodeName: "n3", Size: resources.Vector{2}},
}

// Members beyond the minimum of a gang go one by one. Below it the gang goes as a whole, on
// other nodes too.
func ExampleOptions_minimum() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	eight := resources.Limit{Value: resources.Vector{8}, Defined: 1}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "research", Guaranteed: eight},
	}})
	check(err)
	batch, _ := tree.Lookup("root.batch")
	research, _ := tree.Lookup("root.research")

	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, name := range []string{"n1", "n2", "n3"} {
		_, err := cluster.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{8}})
		check(err)
	}
	for job, members := range minimum {
		check(cluster.SetMinMembers(job, members))
	}
	for _, t := range gangs {
		t.Queue, t.Scheduled = batch, now.Add(-time.Hour)
		_, err := cluster.AddTask(&t)
		check(err)
	}

	planner := jobs.Planner{Cluster: cluster}
	var d victims.Decision
	for _, gpus := range []int64{6, 8} {
		ask := victims.Ask{Key: "eval", Queue: research, Size: resources.Vector{gpus}}
		check(planner.Decide(&d, &ask, now))
		fmt.Println(d.Summary())
		fmt.Println("jobs stopped:", d.Plan.Cost.Jobs)
	}
	// Output:
	// eval (root.research, gpu=6) runs on n3 once these have stopped: sweep-0, sweep-1, sweep-2
	// jobs stopped: 0
	// eval (root.research, gpu=8) runs on n1 once these have stopped: llm-0, llm-1
	// jobs stopped: 1
}
