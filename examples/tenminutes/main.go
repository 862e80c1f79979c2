// SPDX-License-Identifier: Apache-2.0

// Tenminutes is the program of docs/ten-minutes.md, which has all of its main
// function, part by part, and what it prints.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

func main() {
	schema := must(resources.NewSchema("gpu", "memory"))
	four, eight := must(schema.Parse("gpu=4 memory=256Gi")), must(schema.Parse("gpu=8 memory=512Gi"))
	gpus := func(n string) resources.Limit { return must(schema.ParseLimit("gpu=" + n)) }
	tree := must(queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch", Policies: queue.Policies{QuotaDelay: new(time.Minute)}},
		{Name: "research", Guaranteed: gpus("16")},
	}}))
	batch, _ := tree.Lookup("root.batch")
	research, _ := tree.Lookup("root.research")

	cluster := victims.NewCluster(tree)
	for i := range 4 {
		must(cluster.AddNode(&victims.Node{
			Name: fmt.Sprint("n", i), Capacity: eight, Domains: []string{fmt.Sprint("rack-", i/2)},
		}))
	}

	now := time.Now()
	var etl [8]victims.Task
	for i := range etl {
		at := now.Add(time.Duration(i-8) * time.Hour) // etl-7 is the youngest
		etl[i] = victims.Task{
			Key: fmt.Sprint("etl-", i), Queue: batch, NodeName: fmt.Sprint("n", i%4),
			Size: four, Created: at, Scheduled: at,
		}
		must(cluster.AddTask(&etl[i]))
	}

	planner := jobs.Planner{Cluster: cluster}
	ask := victims.Ask{Key: "train", Queue: research, Size: four, PendingSince: now.Add(-time.Minute)}
	var d victims.Decision
	check(planner.Decide(&d, &ask, now))
	fmt.Print(d)

	check(cluster.Apply(&d))
	for _, v := range d.Plan.Victims {
		check(cluster.RemoveTask(v.Key)) // once it has gone
	}
	check(cluster.Start(ask.Key, now))

	greedy := victims.Ask{Key: "etl-8", Queue: batch, Size: four, Priority: 1000}
	check(planner.Decide(&d, &greedy, now))
	fmt.Print(d)

	old, _ := cluster.LookupNode("n1")
	planner.Filter = func(q *victims.Question) bool { return q.Member.Class == 0 || q.Node == old }
	ask = victims.Ask{Key: "eval", Queue: research, Size: four, Class: 1}
	check(planner.Decide(&d, &ask, now))
	fmt.Println(d.Summary())

	etl[5].Job, etl[6].Job = "tune", "tune"
	must(cluster.SetTask(&etl[5]))
	must(cluster.SetTask(&etl[6]))
	check(cluster.SetMinMembers("tune", 2))
	ask.Class = 0
	check(planner.Decide(&d, &ask, now))
	fmt.Println(d.Summary())

	job := victims.Ask{Key: "llm", Queue: research, Size: four, Members: []victims.Member{{Key: "llm-0"}, {Key: "llm-1"}}}
	check(planner.Decide(&d, &job, now))
	fmt.Println(d.Summary())

	check(cluster.SetBudget("etl", victims.Budget{Left: 0, Hard: true}))
	etl[4].Budgets = []string{"etl"}
	must(cluster.SetTask(&etl[4]))
	check(planner.Decide(&d, &ask, now))
	fmt.Println(d.Summary())

	check(cluster.SetCheckpoint("etl-1", now))
	check(planner.Decide(&d, &ask, now))
	fmt.Println(d.Summary())

	timing := quota.Timing{Cluster: cluster}
	check(cluster.SetMax(batch, gpus("24")))
	timing.Observe(now)
	now = now.Add(time.Minute)
	enforcer := quota.Enforcer{Cluster: cluster, Options: victims.Options{NeverOvershoot: true}}
	for q := range timing.Due(now) {
		check(enforcer.Enforce(&d, q, now))
		if d.Outcome == victims.Preempts {
			check(cluster.Apply(&d)) // then stop d.Plan.Victims
		}
		check(timing.End(q, now))
		fmt.Println(d.Summary())
	}

	job.DomainDepth = 1
	check(planner.Decide(&d, &job, now))
	fmt.Println(d.Summary())

	weights := must(queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch", Policies: queue.Policies{Weight: 1}},
		{Name: "research", Policies: queue.Policies{Weight: 3}},
	}}))
	demand := make([]resources.Vector, weights.Len())
	demand[batch] = resources.Scale(nil, eight, 4)
	demand[research] = demand[batch]
	var shares queue.FairShares
	check(shares.Divide(weights, demand, gpus("32")))
	check(cluster.SetGuarantees(&shares))
	fmt.Println("research:", schema.FormatLimit(shares.Of(research)))

	var file bytes.Buffer
	check(cluster.Save(&file))
	check(timing.Save(&file))
	r := bufio.NewReader(&file)
	cluster = must(victims.Load(r))
	timing = quota.Timing{Cluster: cluster}
	check(timing.Load(r))
	planner = jobs.Planner{Cluster: cluster, Options: planner.Options}
	check(planner.Decide(&d, &ask, now))
	fmt.Println(d.Summary())
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
