// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Six asks wait for GPUs. Those that are alike are decided once, and again only after
// something that is enough for them.
func ExamplePending() {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	schema, err := resources.NewSchema("gpu")
	must(err)
	gpus := func(n int64) resources.Vector { return resources.Vector{n} }
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "research"}, {Name: "product", Guaranteed: resources.Limit{Value: gpus(8), Defined: 1}},
	}})
	must(err)
	research, _ := tree.Lookup("root.research")
	product, _ := tree.Lookup("root.product")
	cluster := victims.NewCluster(tree)
	for _, name := range []string{"n1", "n2"} {
		node, err := cluster.AddNode(&victims.Node{Name: name, Capacity: gpus(8)})
		must(err)
		for _, half := range []string{"a", "b"} {
			_, err := cluster.AddTask(&victims.Task{
				Key: "train-" + name + half, Queue: research, Node: node, Size: gpus(4), Priority: 100, Scheduled: start,
			})
			must(err)
		}
	}

	waiting := jobs.Pending{Planner: &jobs.Planner{Cluster: cluster}}
	for i := range 5 {
		waiting.Add(victims.Ask{Key: fmt.Sprint("serve-", i), Queue: product, Size: gpus(4)})
	}
	waiting.Add(victims.Ask{Key: "batch", Queue: product, Size: gpus(8)})
	look := func(now time.Time) {
		for d, err := range waiting.Decide(now) {
			must(err)
			if d.Outcome == victims.Refused {
				fmt.Println(now.Format(time.TimeOnly), d.Plan.Ask.Key, "refused", d.Refusal.Reason)
				continue
			}
			fmt.Println(now.Format(time.TimeOnly), d.Plan.Ask.Key, d.Outcome)
			must(cluster.Apply(d)) // stop the victims here
		}
		_, err := cluster.StartReady(now, nil)
		must(err)
	}
	look(start) // all of research is of higher priority
	look(start.Add(time.Minute))
	must(cluster.RemoveTask("train-n1b"))
	look(start.Add(2 * time.Minute))
	fmt.Println("serve-4 is still", waiting.Last("serve-4").Outcome)
	// Output:
	// 00:00:00 serve-0 refused no-victims
	// 00:00:00 batch refused no-victims
	// 00:02:00 serve-0 fits
	// 00:02:00 serve-1 refused no-victims
	// serve-4 is still refused
}
