// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An ask that the caller has placed by itself holds its room until it starts.
func ExampleCluster_GrantPlace() {
	cluster := exampleCluster()
	_, err := cluster.AddNode(&victims.Node{Name: "n3", Capacity: resources.Vector{6000}})
	check(err)
	n3, _ := cluster.LookupNode("n3")
	ask := exampleAsk(cluster, "web-1", 4000)
	_, err = cluster.GrantPlace(&ask, n3, exampleNow)
	check(err)

	size := resources.Vector{3000}
	fmt.Println("3 cpu more on n3:", cluster.Admits(size, ask.Queue, n3))
	check(cluster.Start("web-1", exampleNow))
	id, _ := cluster.Lookup("web-1")
	fmt.Println("web-1 is", cluster.State(id))
	// Output:
	// 3 cpu more on n3: false
	// web-1 is running
}

// An ask was withdrawn, or its victims do not stop in time: they run on. If they cannot be told
// to, because they are being deleted, use Drop.
func ExampleCluster_Cancel() {
	cluster := exampleCluster()
	planner := jobs.Planner{Cluster: cluster}
	ask := exampleAsk(cluster, "web-1", 3000)
	var d victims.Decision
	check(planner.Decide(&d, &ask, exampleNow))
	check(cluster.Apply(&d))

	g, _ := cluster.Grant("web-1")
	fmt.Println("web-1 waits for", g.Leaving, "and is ready:", g.Ready)
	unmarked, err := cluster.Cancel("web-1")
	check(err)
	_, held := cluster.Grant("web-1")
	fmt.Println("run on:", unmarked, "grant:", held)
	// Output:
	// web-1 waits for [train] and is ready: false
	// run on: [train] grant: false
}

// A task that ends by itself makes room: whoever waits for it needs no victim.
func ExampleCluster_SetState() {
	cluster := exampleCluster()
	planner := jobs.Planner{Cluster: cluster}
	ask := exampleAsk(cluster, "web-1", 3000)
	var d victims.Decision
	check(planner.Decide(&d, &ask, exampleNow))
	fmt.Println(d.Outcome, d.Plan.Victims[0].Key)

	check(cluster.SetState("billing", victims.Releasing))
	check(planner.Decide(&d, &ask, exampleNow))
	fmt.Println(d.Outcome)
	// Output:
	// plan train
	// waits
}

// A plan is decided on a clone, while the original serves others. It applies to
// the original as long as that is as it was.
func ExampleCluster_Clone() {
	cluster := exampleCluster()
	clone := cluster.Clone()
	planner := jobs.Planner{Cluster: clone}
	ask := exampleAsk(clone, "web-1", 3000)
	var d victims.Decision
	check(planner.Decide(&d, &ask, exampleNow))
	fmt.Println("applied:", cluster.Apply(&d))

	// The original has changed. The clone is brought up to date in its own memory.
	clone.CopyFrom(cluster)
	ask = exampleAsk(clone, "web-2", 3000)
	check(planner.Decide(&d, &ask, exampleNow))
	check(cluster.RemoveTask("index"))
	fmt.Println("applied:", cluster.Apply(&d))
	// Output:
	// applied: <nil>
	// applied: victims: plan for "web-2" made for version 8, not 9: cluster has changed
}

// Of a service only so many replicas may be stopped.
func ExampleCluster_SetBudget() {
	cluster := exampleCluster()
	check(cluster.SetBudget("trainers", victims.Budget{Left: 1, Hard: true}))
	id, _ := cluster.Lookup("train")
	task := cluster.Task(id)
	task.Budgets = []string{"trainers"}
	_, err := cluster.SetTask(&task)
	check(err)

	planner := jobs.Planner{Cluster: cluster}
	ask := exampleAsk(cluster, "web-1", 3000)
	var d victims.Decision
	check(planner.Decide(&d, &ask, exampleNow))
	check(cluster.Apply(&d))
	b, _ := cluster.Budget("trainers")
	fmt.Println(d.Plan.Victims[0].Key, "may stop, and then", b.Left, "more")
	// Output:
	// train may stop, and then 0 more
}

// After a restart the cluster is told what runs on a node.
func ExampleCluster_SyncNode() {
	cluster := exampleCluster()
	batch, _ := cluster.Tree().Lookup("root.batch")
	root, _ := cluster.Tree().Lookup("root")
	synced, err := cluster.SyncNode("n1", []victims.Task{
		{Key: "etl", Queue: batch, Size: resources.Vector{4000}, Scheduled: exampleNow.Add(-time.Hour)},
		{Key: "stray", Queue: root, Size: resources.Vector{1000}},
	})
	check(err)
	for _, x := range synced.NotTaken {
		fmt.Println(x.Err)
	}
	n1, _ := cluster.LookupNode("n1")
	fmt.Println("free:", cluster.Free(nil, n1), "unknown:", cluster.UnknownUsage(nil, n1))
	// Output:
	// victims: task "stray": queue root: not a leaf queue
	// free: [1000] unknown: [1000]
}

// A victim will not stop. It runs on, nobody takes it for an hour, and the ask whose plan needs it
// is decided anew.
func ExampleCluster_Spare() {
	cluster := exampleCluster()
	planner := jobs.Planner{Cluster: cluster}
	ask := exampleAsk(cluster, "web-1", 3000)
	var d victims.Decision
	check(planner.Decide(&d, &ask, exampleNow))
	check(cluster.Apply(&d))
	victim := d.Plan.Victims[0].Key
	fmt.Println(victim, "shall stop")

	asks, err := cluster.Spare(victim, exampleNow.Add(time.Hour))
	check(err)
	for _, key := range asks {
		check(cluster.Drop(key))
	}
	check(planner.Decide(&d, &ask, exampleNow))
	fmt.Println(asks, "decided anew:", d.Plan.Victims[0].Key, "shall stop")
	// Output:
	// train shall stop
	// [web-1] decided anew: etl shall stop
}

// After a restart the cluster is told all that there is. What ran there before and is not listed
// was lost.
func ExampleCluster_Sync() {
	cluster := exampleCluster()
	batch, _ := cluster.Tree().Lookup("root.batch")
	synced, err := cluster.Sync(victims.Listing{
		Nodes: []victims.Node{{Name: "n1", Capacity: resources.Vector{8000}}},
		Tasks: []victims.Task{{Key: "etl", Queue: batch, NodeName: "n1", Size: resources.Vector{4000}, Budgets: []string{"etl"}}},
	})
	check(err)
	fmt.Println("gone:", synced.Removed)
	fmt.Println("budgets that nobody has set:", slices.Collect(cluster.UnknownBudgets()))
	// Output:
	// gone: [billing index train]
	// budgets that nobody has set: [etl]
}
