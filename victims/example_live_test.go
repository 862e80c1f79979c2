package victims_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A decision ends when the caller's deadline has passed. What is found by then is
// lawful, and says that it is not proven.
func ExamplePlanner_stop() {
	cluster := exampleCluster()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	planner := victims.Planner{Cluster: cluster, Stop: func() bool { return ctx.Err() != nil }}
	ask := exampleAsk(cluster, "web-1", 3000)
	var d victims.Decision
	check(planner.Decide(&d, &ask, exampleNow))
	fmt.Println(d.Outcome, "with proof", d.Plan.Proof, "on", d.Plan.Place)
	// Output:
	// plan with proof none on n1
}

// A scheduler that searches nodes by itself does as kube-scheduler does: on a
// node it first takes all that it may, and then spares whom it can, the most
// important first. Before each step it asks whether quota allows it. In the end
// the set is lawful, and nobody in it can be spared.
func ExampleWhatIf() {
	cluster := exampleCluster()
	batch, _ := cluster.Tree().Lookup("root.batch")
	check(cluster.RemoveTask("etl"))
	for i, key := range []string{"etl-1", "etl-2"} {
		addExample(cluster, &victims.Task{
			Key: key, NodeName: "n1", Queue: batch, Size: resources.Vector{2000}, Priority: int32(10 * (i + 1)),
		})
	}
	check(cluster.SetGuaranteed(batch, resources.Limit{Value: resources.Vector{7000}, Defined: 1}))

	var quota victims.WhatIf
	ask := exampleAsk(cluster, "web-1", 2000)
	check(quota.Open(&victims.Planner{Cluster: cluster}, &ask, exampleNow))

	n1, _ := cluster.LookupNode("n1")
	free := cluster.ComingFree(nil, n1)[0]
	tasks := slices.Collect(cluster.TasksOn(n1))
	slices.SortFunc(tasks, func(a, b victims.TaskID) int {
		return cmp.Compare(cluster.Task(a).Priority, cluster.Task(b).Priority)
	})
	var taken []victims.TaskID
	for _, id := range tasks { // the least important first
		quota.Preempt(id)
		if !quota.Lawful() {
			quota.TakeBack(id)
			fmt.Println(cluster.Key(id), "must not go")
			continue
		}
		taken, free = append(taken, id), free+cluster.Task(id).Size[0]
	}
	for _, id := range slices.Backward(taken) { // the most important first
		size := cluster.Task(id).Size[0]
		quota.TakeBack(id)
		if free-size >= ask.Size[0] && quota.MayFit() {
			free -= size
			fmt.Println(cluster.Key(id), "is spared")
			continue
		}
		quota.Preempt(id)
		fmt.Println(cluster.Key(id), "goes")
	}
	fmt.Println("lawful:", quota.Lawful())
	// Output:
	// etl-2 must not go
	// etl-1 is spared
	// index goes
	// lawful: true
}
