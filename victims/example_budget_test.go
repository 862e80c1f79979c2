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

// replicas fill two nodes of 8 GPUs. Those of search share a budget.
var replicas = []victims.Task{
	{Key: "search-0", NodeName: "n1", Size: resources.Vector{4}, Budgets: []string{"search"}},
	{Key: "search-1", NodeName: "n1", Size: resources.Vector{4}, Budgets: []string{"search"}},
	{Key: "rank", NodeName: "n2", Size: resources.Vector{8}, Priority: 5},
}

// A budget says how many tasks of a service may still be stopped. A soft one is overrun
// if there is no other plan, a hard one never.
func ExampleOptions_budgets() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "serve"}, {Name: "train", Guaranteed: resources.Limit{Value: resources.Vector{8}, Defined: 1}},
	}})
	check(err)
	serve, _ := tree.Lookup("root.serve")
	train, _ := tree.Lookup("root.train")

	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, name := range []string{"n1", "n2"} {
		_, err := cluster.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{8}})
		check(err)
	}
	check(cluster.SetBudget("search", victims.Budget{Left: 1}))
	for _, t := range replicas {
		t.Queue, t.Scheduled = serve, now.Add(-time.Hour)
		_, err := cluster.AddTask(&t)
		check(err)
	}

	planner := jobs.Planner{Cluster: cluster}
	ask := victims.Ask{Key: "llm", Queue: train, Size: resources.Vector{8}, Priority: 10}
	var d victims.Decision
	decide := func() {
		check(planner.Decide(&d, &ask, now))
		fmt.Println(d.Summary())
	}
	decide() // rank has a higher priority, but two of search are too many

	check(cluster.UpdateNode(&victims.Node{Name: "n2", Capacity: resources.Vector{8}, Unschedulable: true}))
	decide()
	fmt.Println("overrun by", d.Plan.Cost.Overrun)

	check(cluster.SetBudget("search", victims.Budget{Left: 1, Hard: true}))
	decide()
	// Output:
	// llm (root.train, gpu=8) runs on n2 once these have stopped: rank
	// llm (root.train, gpu=8) runs on n1 once these have stopped: search-0, search-1
	// overrun by 1
	// llm (root.train, gpu=8) is refused (no-victims): no legal set of victims makes room
}
