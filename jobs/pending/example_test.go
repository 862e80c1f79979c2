// SPDX-License-Identifier: Apache-2.0

package pending_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs/pending"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Six asks wait for GPUs. Those that are alike are decided once, and again only after
// something that is enough for them.
func ExampleList() {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	schema, err := resources.NewSchema("gpu")
	check(err)
	gpus := func(n int64) resources.Vector { return resources.Vector{n} }
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "research"}, {Name: "product", Guaranteed: resources.Limit{Value: gpus(8), Defined: 1}},
	}})
	check(err)
	research, _ := tree.Lookup("root.research")
	product, _ := tree.Lookup("root.product")
	cluster := victims.NewCluster(tree)
	for _, name := range []string{"n1", "n2"} {
		node, err := cluster.AddNode(&victims.Node{Name: name, Capacity: gpus(8)})
		check(err)
		for _, half := range []string{"a", "b"} {
			_, err := cluster.AddTask(&victims.Task{
				Key: "train-" + name + half, Queue: research, Node: node, Size: gpus(4), Priority: 100, Scheduled: start,
			})
			check(err)
		}
	}

	planner := victims.Planner{Cluster: cluster}
	waiting := pending.Asks(&planner)
	for i := range 5 {
		waiting.Add(victims.Ask{Key: fmt.Sprint("serve-", i), Queue: product, Size: gpus(4)})
	}
	waiting.Add(victims.Ask{Key: "batch", Queue: product, Size: gpus(8)})
	look := func(now time.Time) {
		for ask, d := range waiting.All(now) {
			if d.Outcome == victims.Refused {
				fmt.Println(now.Format(time.TimeOnly), ask.Key, "refused", d.Refusal.Reason)
				continue
			}
			fmt.Println(now.Format(time.TimeOnly), ask.Key, d.Outcome)
			check(cluster.Apply(d.Plan.Change())) // stop the victims here
			if d.Outcome == victims.Fits {
				check(cluster.Start(ask.Key, now))
				waiting.Remove(ask.Key)
			}
		}
		check(waiting.Err())
	}
	look(start) // all of research is of higher priority
	look(start.Add(time.Minute))
	check(cluster.RemoveTask("train-n1b"))
	look(start.Add(2 * time.Minute))
	fmt.Println("serve-4 is still", waiting.Last("serve-4").Outcome)
	// Output:
	// 00:00:00 serve-0 refused no-victims
	// 00:00:00 batch refused no-victims
	// 00:02:00 serve-0 fits
	// 00:02:00 serve-1 refused no-victims
	// serve-4 is still refused
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
