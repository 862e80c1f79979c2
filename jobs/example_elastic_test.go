// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A gang of two to four members. The first two start together; leave it in the list, and it gets
// the others as room comes, which never cost a victim. It leaves the list once all of it runs.
func ExamplePending_elastic() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	eight, err := schema.Parse("gpu=8")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "research"}}})
	check(err)
	research, _ := tree.Lookup("root.research")
	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	addNode := func(name string) {
		_, err := cluster.AddNode(&victims.Node{Name: name, Capacity: eight})
		check(err)
	}
	waiting := jobs.Pending{Planner: &jobs.Planner{Cluster: cluster}}
	waiting.Add(victims.Ask{
		Key: "llm", Queue: research, Size: eight, MinMembers: 2,
		Members: []victims.Member{{Key: "llm-0"}, {Key: "llm-1"}, {Key: "llm-2"}, {Key: "llm-3"}},
	})
	look := func() {
		now = now.Add(time.Minute)
		for d, err := range waiting.Decide(now) {
			check(err)
			fmt.Println(d.Summary())
			if d.Outcome != victims.Refused {
				check(cluster.Apply(d))
			}
		}
		started, err := cluster.StartReady(now, nil)
		check(err)
		fmt.Println("started:", started)
	}
	for _, name := range []string{"n1", "n2", "n3", "n4"} {
		addNode(name)
		look()
	}
	look()
	fmt.Println("waiting:", len(slices.Collect(waiting.All())))
	// Output:
	// job llm (root.research, priority 0) is refused (not-guaranteed): no queue on its path is guaranteed anything that its members ask for
	// started: []
	// job llm (root.research, priority 0) fits: 2 members placed
	// started: [llm-0 llm-1]
	// job llm (root.research, priority 0) fits: 1 member placed, 1 of them beyond the minimum
	// started: [llm-2]
	// job llm (root.research, priority 0) fits: 1 member placed, 1 of them beyond the minimum
	// started: [llm-3]
	// started: []
	// waiting: 0
}
