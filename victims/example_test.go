// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// exampleCluster has a shop, which is guaranteed 8 cpu, and batch work that
// fills two nodes of 6 cpu.
func exampleCluster() *victims.Cluster {
	schema, err := resources.NewSchema("cpu")
	check(err)
	guaranteed, err := schema.ParseLimit("cpu=8")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "shop", Guaranteed: guaranteed},
	}})
	check(err)
	batch, _ := tree.Lookup("root.batch")

	c := victims.NewCluster(tree)
	for _, n := range []string{"n1", "n2"} {
		_, err := c.AddNode(&victims.Node{Name: n, Capacity: resources.Vector{6000}})
		check(err)
	}
	for _, t := range []struct {
		key, node string
		cpu       int64
		priority  int32
	}{
		{"etl", "n1", 4000, 0}, {"index", "n1", 2000, 0},
		{"train", "n2", 3000, 0}, {"billing", "n2", 3000, 1000},
	} {
		addExample(c, &victims.Task{
			Key: t.key, NodeName: t.node, Queue: batch, Size: resources.Vector{t.cpu}, Priority: t.priority,
		})
	}
	return c
}

// addExample adds a task that has run for an hour, of an application of its own.
func addExample(c *victims.Cluster, t *victims.Task) {
	t.Application, t.Scheduled = t.Key, exampleNow.Add(-time.Hour)
	_, err := c.AddTask(t)
	check(err)
}

// exampleAsk is an ask of the shop.
func exampleAsk(c *victims.Cluster, key string, cpu int64) victims.Ask {
	shop, _ := c.Tree().Lookup("root.shop")
	return victims.Ask{
		Key: key, Application: "web", Queue: shop, Size: resources.Vector{cpu}, Priority: 100,
		PendingSince: exampleNow.Add(-time.Minute),
	}
}

var exampleNow = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleDecision() {
	cluster := exampleCluster()
	planner := jobs.Planner{Cluster: cluster}
	var d victims.Decision
	for _, cpu := range []int64{3000, 7000} {
		ask := exampleAsk(cluster, "web-1", cpu)
		check(planner.Decide(&d, &ask, exampleNow))
		check(d.Count())
		fmt.Print(d)
	}
	// Output:
	// web-1 (root.shop, cpu=3) runs on n2 once these have stopped:
	//   train on n2 (root.batch, cpu=3, priority 0, rank -100) for room on the node
	//   cost: highest rank -100, 1 victim, 1h of work lost, 3 cpu-hours
	//   no legal plan costs less
	// web-1 (root.shop, cpu=7) is refused (no-victims): larger than any node that it may use: n1 has 6 cpu; no legal set of victims makes room
	//   1 too high in effective priority (priority)
	//   3 could be taken
	//   closest: n1, which would still lack cpu=1
}

// Why is there no plan, and what would have to give?
func ExampleExplanation() {
	cluster := exampleCluster()
	planner := jobs.Planner{Cluster: cluster}
	ask := exampleAsk(cluster, "web-1", 6000)
	check(cluster.UpdateNode(&victims.Node{Name: "n1", Capacity: resources.Vector{6000}, ReservedFor: "web-2"}))

	var e victims.Explanation
	check(planner.Explain(&e, &ask, exampleNow))
	fmt.Print(e.Decision.String())
	fmt.Print(e)
	// Output:
	// web-1 (root.shop, cpu=6) is refused (no-victims): no legal set of victims makes room
	//   1 too high in effective priority (priority)
	//   2 of no help with what is short (not-helping)
	//   1 could be taken
	//   closest: n2, which would still lack cpu=3
	//   queue       tasks  candidates  may lose  finding
	//   root                                     on the path
	//   root.batch  4      1
	//   root.shop   0      0                     the asking queue, starving
	//   node  finding
	//   n1    reserved: for web-2, short of cpu=6
	//   n2    lacks: short of cpu=6, and still of cpu=3 with all its candidates gone
	//   task     queue       node  finding
	//   billing  root.batch  n2    priority: too high in effective priority
	//   etl      root.batch  n1    not-helping: of no help with what is short
	//   index    root.batch  n1    not-helping: of no help with what is short
	//   train    root.batch  n2    candidate
	// it would have a place
	//   if n1 were not reserved (reservation): on n1, with 2 victims
	//   if billing were low enough in effective priority (priority): on n2, with 2 victims
}

// What if? A plan is applied, the next ask decided on top of it, and the plan
// taken back.
func ExampleCluster_Apply() {
	cluster := exampleCluster()
	planner := jobs.Planner{Cluster: cluster}
	var d victims.Decision
	decide := func(key string) {
		ask := exampleAsk(cluster, key, 3000)
		check(planner.Decide(&d, &ask, exampleNow))
		fmt.Print(d)
	}

	decide("web-1")
	version := cluster.Version()
	check(cluster.Apply(&d))
	decide("web-2")

	check(cluster.Undo())
	fmt.Println("as before:", cluster.Version() == version)
	// Output:
	// web-1 (root.shop, cpu=3) runs on n2 once these have stopped:
	//   train on n2 (root.batch, cpu=3, priority 0, rank -100) for room on the node
	//   cost: highest rank -100, 1 victim, 1h of work lost, 3 cpu-hours
	//   no legal plan costs less
	// web-2 (root.shop, cpu=3) runs on n1 once these have stopped:
	//   etl on n1 (root.batch, cpu=4, priority 0, rank -100) for room on the node
	//   cost: highest rank -100, 1 victim, 1h of work lost, 4 cpu-hours, 8.3% of the cluster freed beyond need
	//   no legal plan costs less
	// as before: true
}

// From a plan to a running task: the place is held while the victims leave.
func ExampleCluster_Start() {
	cluster := exampleCluster()
	planner := jobs.Planner{Cluster: cluster}
	ask := exampleAsk(cluster, "web-1", 3000)
	var d victims.Decision
	check(planner.Decide(&d, &ask, exampleNow))
	check(cluster.Apply(&d)) // train is told to stop

	check(planner.Decide(&d, &ask, exampleNow))
	fmt.Println(d.Outcome, d.Refusal.Reason)

	check(cluster.RemoveTask("train")) // it has gone
	check(planner.Decide(&d, &ask, exampleNow))
	fmt.Println(d.Outcome, "on", cluster.Node(d.Plan.Places[0].Node).Name)

	check(cluster.Start("web-1", exampleNow))
	fmt.Print(cluster.Tree())
	// Output:
	// refused in-flight
	// fits on n2
	// root    used cpu=12
	//   batch used cpu=9
	//   shop  used cpu=3 guaranteed cpu=8
}

// A refusal says when to ask again, where time helps, and what is lacking.
func ExampleRefusal() {
	cluster := exampleCluster()
	planner := jobs.Planner{Cluster: cluster}
	var d victims.Decision

	early := exampleAsk(cluster, "web-1", 3000)
	early.PendingSince = exampleNow.Add(-10 * time.Second)
	check(planner.Decide(&d, &early, exampleNow))
	fmt.Println(d.Refusal.Reason, "until", d.Refusal.RetryAt.Format(time.TimeOnly))

	large := exampleAsk(cluster, "web-1", 7000)
	check(planner.Decide(&d, &large, exampleNow))
	check(d.Count())
	r := &d.Refusal
	fmt.Println(r.Reason, r.Counts, r.Candidates, "candidates")
	fmt.Println(r.Closest, "lacks", cluster.Schema().Format(r.Lacks))
	// Output:
	// too-early until 00:00:20
	// no-victims [{priority 1}] 3 candidates
	// n1 lacks cpu=1
}

// Two tasks of low rank cost less than one of high rank, and any number of those
// less than one that opted out.
func ExampleCost_Compare() {
	two := victims.Cost{MaxRank: -100, Victims: 2}
	one := victims.Cost{MaxRank: -1, Victims: 1}
	kept := victims.Cost{OptedOut: 1, MaxRank: -100, Victims: 1}
	fmt.Println(two.Compare(&one) < 0, one.Compare(&kept) < 0)
	// Output:
	// true true
}

// A program that is no scheduler reads reports: names instead of rows, and amounts
// as quantities.
func ExampleDecision_MarshalJSON() {
	c := exampleCluster()
	p := jobs.Planner{Cluster: c}
	ask := exampleAsk(c, "web-1", 2000)
	var d victims.Decision
	check(p.Decide(&d, &ask, exampleNow))
	text, err := json.MarshalIndent(&d, "", " ")
	check(err)
	fmt.Println(string(text))

	// Output:
	// {
	//  "summary": "web-1 (root.shop, cpu=2) runs on n1 once these have stopped: index",
	//  "outcome": "plan",
	//  "ask": {
	//   "key": "web-1",
	//   "application": "web",
	//   "queue": "root.shop",
	//   "resources": {
	//    "cpu": "2"
	//   },
	//   "priority": 100
	//  },
	//  "at": "2026-01-01T00:00:00Z",
	//  "plan": {
	//   "node": "n1",
	//   "victims": [
	//    {
	//     "key": "index",
	//     "queue": "root.batch",
	//     "node": "n1",
	//     "resources": {
	//      "cpu": "2"
	//     },
	//     "priority": 0,
	//     "rank": -100,
	//     "forNode": true
	//    }
	//   ],
	//   "cost": "highest rank -100, 1 victim, 1h of work lost, 2 cpu-hours",
	//   "lost": {
	//    "work": "600000001200000000000",
	//    "time": "1h0m0s",
	//    "type": "cpu",
	//    "amount": "2 cpu-hours"
	//   },
	//   "proof": "cost",
	//   "steps": 579
	//  }
	// }
}

// Somebody who pays for lost work wants least of that first, and then few
// victims. What the levels do not name does not count: index would free less
// beyond need, but loses as much work as etl, which comes first by key.
func ExampleDefaultLevels() {
	levels := []string{"work", "victims"}
	cluster := exampleCluster()
	planner := jobs.Planner{Cluster: cluster, Options: victims.Options{Levels: levels}}
	ask := exampleAsk(cluster, "web-1", 2000)
	var d victims.Decision
	check(planner.Decide(&d, &ask, exampleNow))
	fmt.Print(d)

	planner.Levels = []string{"work", "work"}
	fmt.Println(planner.Decide(&d, &ask, exampleNow))
	// Output:
	// web-1 (root.shop, cpu=2) runs on n1 once these have stopped:
	//   index on n1 (root.batch, cpu=2, priority 0, rank -100) for room on the node
	//   cost: highest rank -100, 1 victim, 1h of work lost, 2 cpu-hours
	//   no legal plan costs less
	// victims: Levels[1]: "work", as Levels[0]: duplicate key
}
