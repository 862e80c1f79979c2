// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A host keeps its own counters. Prometheus would read them like this: decisions
// by outcome and reason, victims by queue, the time that queues are under their
// guarantee, grants that are held and their age.
func ExampleOptions_observe() {
	cluster := exampleCluster()
	tree, cpu := cluster.Tree(), 0
	decisions, stopped, under := map[string]int{}, map[string]int{}, map[string]time.Duration{}
	planner := jobs.Planner{Cluster: cluster, Options: victims.Options{Observe: func(d *victims.Decision) {
		labels := fmt.Sprintf("outcome=%q", d.Outcome)
		if d.Outcome == victims.Refused {
			labels += fmt.Sprintf(",reason=%q", d.Refusal.Reason)
		}
		decisions[labels]++
		for _, v := range d.Plan.Victims {
			stopped[v.Path]++
		}
	}}}
	now := exampleNow
	var d victims.Decision
	for key, size := range []int64{3000, 7000, 1000} {
		ask := exampleAsk(cluster, fmt.Sprint("web-", key), size)
		check(planner.Decide(&d, &ask, now))
		if d.Outcome != victims.Refused {
			check(cluster.Apply(&d))
		}
		for q := range queue.ID(tree.Len()) { // with what is granted, and without what is leaving
			if least, ok := tree.Guaranteed(q).Bound(cpu); ok && tree.Effective(nil, q)[cpu] < least {
				under[tree.Path(q)] += 20 * time.Second
			}
		}
		now = now.Add(20 * time.Second)
	}
	for _, labels := range slices.Sorted(maps.Keys(decisions)) {
		fmt.Printf("decisions_total{%s} %d\n", labels, decisions[labels])
	}
	for _, queue := range slices.Sorted(maps.Keys(stopped)) {
		fmt.Printf("victims_total{queue=%q} %d\n", queue, stopped[queue])
	}
	for _, queue := range slices.Sorted(maps.Keys(under)) {
		fmt.Printf("under_guarantee_seconds_total{queue=%q} %v\n", queue, under[queue].Seconds())
	}
	for g := range cluster.Grants() {
		fmt.Printf("grant_age_seconds{ask=%q} %v\n", g.Ask, now.Sub(g.Since).Seconds())
	}
	// Output:
	// decisions_total{outcome="plan"} 2
	// decisions_total{outcome="refused",reason="no-victims"} 1
	// victims_total{queue="root.batch"} 2
	// under_guarantee_seconds_total{queue="root.shop"} 60
	// grant_age_seconds{ask="web-0"} 60
	// grant_age_seconds{ask="web-2"} 20
}

// A decision ends when the caller's deadline has passed. What is found by then is
// lawful, and says that it is not proven.
func ExampleOptions_stop() {
	cluster := exampleCluster()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	planner := jobs.Planner{Cluster: cluster, Options: victims.Options{Stop: func() bool { return ctx.Err() != nil }}}
	ask := exampleAsk(cluster, "web-1", 3000)
	var d victims.Decision
	check(planner.Decide(&d, &ask, exampleNow))
	fmt.Println(d.Outcome, "with proof", d.Plan.Proof, "on", d.Plan.Places[0].NodeName)
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

	quota := victims.WhatIf{Cluster: cluster}
	ask := exampleAsk(cluster, "web-1", 2000)
	check(quota.Open(&ask, exampleNow))

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
