// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A job that needs all its four members goes as a whole or not at all. The first
// ask takes another task. The second finds nobody else.
func ExamplePlanner_minimum() {
	cluster := exampleCluster()
	batch, _ := cluster.Tree().Lookup("root.batch")
	check(cluster.RemoveTask("etl"))
	check(cluster.RemoveTask("train"))
	for i, node := range []string{"n1", "n1", "n2", "n2"} {
		addExample(cluster, &victims.Task{
			Key: fmt.Sprint("sim-", i), Job: "sim", NodeName: node, Queue: batch, Size: resources.Vector{1500},
		})
	}
	planner := victims.Planner{Cluster: cluster, Rules: victims.Rules{Minimum: func(job string) int {
		return map[string]int{"sim": 4}[job]
	}}}
	var d victims.Decision
	for _, key := range []string{"web-1", "web-2"} {
		ask := exampleAsk(cluster, key, 2000)
		check(planner.Decide(&d, &ask, exampleNow))
		fmt.Print(d.Describe(cluster))
		check(cluster.Apply(d.Plan.Change()))
	}
	// Output:
	// web-1 (root.shop, cpu=2) runs on n1 once these have stopped:
	//   index on n1 (root.batch, cpu=2, priority 0, rank -100) for room on the node
	//   cost: highest rank -100, highest priority 0, 1 victim, 8.3% of the cluster freed beyond need, 1h0m0s of work lost
	//   no legal plan costs less
	// web-2 (root.shop, cpu=2) runs on n2 once these have stopped:
	//   sim-0 on n1 (root.batch, cpu=1.5, priority 0, rank -100) with its job
	//   sim-1 on n1 (root.batch, cpu=1.5, priority 0, rank -100) with its job
	//   sim-2 on n2 (root.batch, cpu=1.5, priority 0, rank -100) for room on the node
	//   sim-3 on n2 (root.batch, cpu=1.5, priority 0, rank -100) for room on the node
	//   cost: highest rank -100, highest priority 0, 1 job stopped, 4 victims, ranks sum up to -400, 33.3% of the cluster freed beyond need, 4h0m0s of work lost
	//   no legal plan costs less
}

// A budget says how many tasks of a service may still be stopped. A soft one
// that is used up is overrun only if no plan does without, a hard one never.
func ExamplePlanner_budgets() {
	cluster := exampleCluster()
	batch, _ := cluster.Tree().Lookup("root.batch")
	check(cluster.SetBudget("search", victims.Budget{Left: 0}))
	check(cluster.RemoveTask("index"))
	addExample(cluster, &victims.Task{
		Key: "index", NodeName: "n1", Queue: batch, Size: resources.Vector{2000}, Budgets: []string{"search"},
	})
	planner := victims.Planner{Cluster: cluster}
	ask := exampleAsk(cluster, "web-1", 2000)
	var d victims.Decision
	decide := func() {
		check(planner.Decide(&d, &ask, exampleNow))
		fmt.Print(d.Describe(cluster))
	}
	decide() // train goes, although index is just as large as need be

	check(cluster.RemoveTask("etl"))
	ask.Size[0] = 6000 // all of n1
	decide()
	check(cluster.SetBudget("search", victims.Budget{Left: 0, Hard: true}))
	decide()
	// Output:
	// web-1 (root.shop, cpu=2) runs on n2 once these have stopped:
	//   train on n2 (root.batch, cpu=3, priority 0, rank -100) for room on the node
	//   cost: highest rank -100, highest priority 0, 1 victim, 8.3% of the cluster freed beyond need, 1h0m0s of work lost
	//   no legal plan costs less
	// web-1 (root.shop, cpu=6) runs on n1 once these have stopped:
	//   index on n1 (root.batch, cpu=2, priority 0, rank -100) for room on the node
	//   cost: 1 beyond soft budgets, highest rank -100, highest priority 0, 1 victim, 1h0m0s of work lost
	//   no legal plan costs less
	// web-1 (root.shop, cpu=6) is refused (no-victims): no legal set of victims makes room
	//   1 too high in effective priority (priority)
	//   1 in a budget with nothing left (budget)
	//   1 could be taken
	//   closest: n1, which would still lack cpu=2
}

// What a task would lose since its last checkpoint, and what it would cost to
// stop by the host's own account. Among tasks that are alike these decide.
func ExamplePlanner_ownCosts() {
	cluster := exampleCluster()
	batch, _ := cluster.Tree().Lookup("root.batch")
	check(cluster.RemoveTask("etl"))
	check(cluster.RemoveTask("index"))
	for _, key := range []string{"encode", "render"} {
		addExample(cluster, &victims.Task{Key: key, NodeName: "n1", Queue: batch, Size: resources.Vector{3000}})
	}
	planner := victims.Planner{Cluster: cluster}
	ask := exampleAsk(cluster, "web-1", 3000)
	var d victims.Decision
	decide := func() {
		check(planner.Decide(&d, &ask, exampleNow))
		fmt.Println(d.Plan.Victims[0].Key, "goes:", d.Plan.Cost.Work)
	}
	decide() // all are alike: the first node, the first key

	check(cluster.SetCheckpoint("train", exampleNow.Add(-time.Minute)))
	decide()

	check(cluster.SetCost("train", 20)) // it takes long to load its model
	check(cluster.SetCost("encode", 5))
	decide()
	// Output:
	// encode goes: 1h0m0s
	// train goes: 1m0s
	// render goes: 1h0m0s
}

// With the own leaf at met, less important work of the ask's own queue makes
// room, as users of Kubernetes or Kueue expect, and a guarantee that was met
// stays met. At any, a queue may give up what it has of its own.
func ExamplePlanner_ownLeaf() {
	cluster := exampleCluster()
	shop, _ := cluster.Tree().Lookup("root.shop")
	for _, key := range []string{"etl", "index", "train"} {
		check(cluster.RemoveTask(key))
	}
	for i, cpu := range []int64{6000, 3000} { // shop has what it is guaranteed, and more
		addExample(cluster, &victims.Task{
			Key: fmt.Sprint("report-", i), NodeName: fmt.Sprint("n", i+1), Queue: shop, Size: resources.Vector{cpu},
		})
	}
	planner := victims.Planner{Cluster: cluster}
	var d victims.Decision
	decide := func(option victims.OwnLeaf, cpu int64) {
		planner.OwnLeaf = option
		ask := exampleAsk(cluster, "web-1", cpu)
		check(planner.Decide(&d, &ask, exampleNow))
		fmt.Print(option, ": ", d.Describe(cluster))
	}
	decide(victims.OwnNever, 3000)
	decide(victims.OwnMet, 3000)
	decide(victims.OwnMet, 1000) // less than what goes: shop would end at 7
	decide(victims.OwnAny, 1000)
	// Output:
	// never: web-1 (root.shop, cpu=3) is refused (over-guarantee): root.shop uses all of its guaranteed cpu=8
	// met: web-1 (root.shop, cpu=3) runs on n2 once these have stopped:
	//   report-1 on n2 (root.shop, cpu=3, priority 0, rank -100) for room on the node
	//   cost: highest rank -100, highest priority 0, 1 victim, 1h0m0s of work lost
	//   no legal plan costs less
	// met: web-1 (root.shop, cpu=1) is refused (no-victims): no legal set of victims makes room
	//   of other queues it may take nothing (over-guarantee): root.shop uses all of its guaranteed cpu=8
	//   1 in the asking queue or beyond its fence (fence)
	//   2 needed for a guarantee (guarantee)
	//   closest: n1, which would still lack cpu=1
	// any: web-1 (root.shop, cpu=1) runs on n2 once these have stopped:
	//   report-1 on n2 (root.shop, cpu=3, priority 0, rank -100) for room on the node
	//   cost: highest rank -100, highest priority 0, 1 victim, 16.7% of the cluster freed beyond need, 1h0m0s of work lost
	//   no legal plan costs less
}

// Somebody who pays for lost work wants least of that first, and then few
// victims. What the levels do not name does not count: index would free less
// beyond need, but loses as much work as etl, which comes first by key.
func ExampleLevels() {
	levels := victims.Levels{victims.LevelWork, victims.LevelVictims}
	cluster := exampleCluster()
	planner := victims.Planner{Cluster: cluster, Levels: levels}
	ask := exampleAsk(cluster, "web-1", 2000)
	var d victims.Decision
	check(planner.Decide(&d, &ask, exampleNow))
	fmt.Print(d.Describe(cluster))

	planner.Levels = victims.Levels{victims.LevelWork, victims.LevelWork}
	fmt.Println(planner.Decide(&d, &ask, exampleNow))
	// Output:
	// web-1 (root.shop, cpu=2) runs on n1 once these have stopped:
	//   etl on n1 (root.batch, cpu=4, priority 0, rank -100) for room on the node
	//   cost: highest rank -100, highest priority 0, 1 victim, 16.7% of the cluster freed beyond need, 1h0m0s of work lost
	//   no legal plan costs less
	// victims: Levels[1]: work, as Levels[0]: duplicate key
}
