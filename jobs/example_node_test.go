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

// A node fails while a gang waits for its victims. The gang has lost one place, keeps the other,
// and gets a plan for the first. The task that was lost with the node waits again.
func ExamplePending_nodeFails() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	eight, err := schema.Parse("gpu=8")
	check(err)
	sixteen, err := schema.ParseLimit("gpu=16")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "research", Guaranteed: sixteen},
	}})
	check(err)
	batch, _ := tree.Lookup("root.batch")
	research, _ := tree.Lookup("root.research")
	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i, name := range []string{"n0", "n1", "n2"} {
		_, err := cluster.AddNode(&victims.Node{Name: name, Capacity: eight})
		check(err)
		_, err = cluster.AddTask(&victims.Task{
			Key: fmt.Sprint("etl-", i), Queue: batch, NodeName: name, Size: eight, Scheduled: now.Add(time.Duration(i-3) * time.Hour),
		})
		check(err)
	}
	waiting := jobs.Pending{Planner: &jobs.Planner{Cluster: cluster}}
	waiting.Add(victims.Ask{
		Key: "llm", Queue: research, Size: eight, PendingSince: now.Add(-time.Minute),
		Members: []victims.Member{{Key: "llm-0"}, {Key: "llm-1"}},
	})
	look := func() {
		for d, err := range waiting.Decide(now) {
			check(err)
			fmt.Println(d.Summary())
			if d.Outcome != victims.Refused {
				check(cluster.Apply(d)) // then stop d.Plan.Victims
			}
		}
	}
	look()

	now = now.Add(time.Minute)
	orphans, err := cluster.RemoveNode("n2")
	check(err)
	fmt.Println("lost places:", orphans)
	for name := range cluster.UnknownNodes() {
		node, _ := cluster.LookupNode(name)
		var lost []victims.Task
		for id := range cluster.TasksOn(node) {
			lost = append(lost, cluster.Task(id))
		}
		for _, t := range lost {
			check(cluster.RemoveTask(t.Key))
			waiting.Add(victims.Ask{Key: t.Key, Queue: t.Queue, Size: t.Size, PendingSince: now})
		}
	}
	look()
	for _, stopped := range []string{"etl-0", "etl-1"} {
		check(cluster.RemoveTask(stopped))
	}
	started, err := cluster.StartReady(now, nil)
	check(err)
	fmt.Println("started:", started)
	// Output:
	// job llm (root.research, priority 0) runs once these have stopped: etl-1, etl-2
	// lost places: [{llm llm-1}]
	// job llm (root.research, priority 0) runs once these have stopped: etl-0
	// etl-2 (root.batch, gpu=8) is refused (too-early): it has not been pending for 30s, the preemption delay of its queue
	// started: [llm-0 llm-1]
}
