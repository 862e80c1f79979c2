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

// stubborn fill two nodes of 8 GPUs. Nobody can be stopped.
var stubborn = []victims.Task{
	{Key: "billing", NodeName: "n1", Size: resources.Vector{8}, Priority: 100},
	{Key: "search", NodeName: "n2", Size: resources.Vector{8}, Budgets: []string{"search"}},
}

// A refusal says why there is no plan, and what would help. Until something of that happens
// there is no need to decide again.
func ExampleHelp() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	eight := resources.Limit{Value: resources.Vector{8}, Defined: 1}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "serve"}, {Name: "train", Guaranteed: eight},
	}})
	check(err)
	serve, _ := tree.Lookup("root.serve")
	train, _ := tree.Lookup("root.train")

	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	check(cluster.SetBudget("search", victims.Budget{Left: 0, Hard: true}))
	for _, t := range stubborn {
		_, err := cluster.AddNode(&victims.Node{Name: t.NodeName, Capacity: resources.Vector{8}})
		check(err)
		t.Queue, t.Scheduled = serve, now.Add(-time.Hour)
		_, err = cluster.AddTask(&t)
		check(err)
	}

	planner := jobs.Planner{Cluster: cluster}
	ask := victims.Ask{Key: "llm", Queue: train, Size: resources.Vector{8}, Priority: 10}
	var d victims.Decision
	check(planner.Decide(&d, &ask, now))
	check(d.Count())
	fmt.Print(d)
	help := d.Refusal.Help
	fmt.Println(help)

	fmt.Println("if another budget has more left:", help.IfBudget("web"))
	check(cluster.SetBudget("search", victims.Budget{Left: 1, Hard: true}))
	if help.IfBudget("search") {
		check(planner.Decide(&d, &ask, now))
		fmt.Println(d.Summary())
	}
	// Output:
	// llm (root.train, gpu=8) is refused (no-victims): no legal set of victims makes room
	//   1 too high in effective priority (priority)
	//   1 in a budget with nothing left (budget)
	//   closest: n1, which would still lack gpu=8
	// what would help: room on any node, more left in the budget search, another guarantee or max, other policies of queues, another priority, application or gang of a task, other answers of Filter, Exempt and the like
	// if another budget has more left: false
	// llm (root.train, gpu=8) runs on n2 once these have stopped: search
}
