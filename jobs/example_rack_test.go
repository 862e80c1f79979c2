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

// servers have 8 GPUs each. A domain of depth 1 is a rack.
var servers = []victims.Node{
	{Name: "n1", Domains: []string{"rack-a"}, Capacity: resources.Vector{8}},
	{Name: "n2", Domains: []string{"rack-b"}, Capacity: resources.Vector{8}},
	{Name: "n3", Domains: []string{"rack-b"}, Capacity: resources.Vector{8}},
}

// Members that talk to each other all the time want one rack. There is room on
// n1 and n2, but these are in two.
func ExampleJob_domain() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	guaranteed, err := schema.ParseLimit("gpu=24")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "train", Guaranteed: guaranteed}, {Name: "web"},
	}})
	check(err)
	train, _ := tree.Lookup("root.train")
	web, _ := tree.Lookup("root.web")

	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i := range servers {
		_, err := cluster.AddNode(&servers[i])
		check(err)
	}
	_, err = cluster.AddTask(&victims.Task{
		Key: "web", Queue: web, NodeName: "n3", Size: resources.Vector{1}, Scheduled: now.Add(-time.Hour),
	})
	check(err)

	job := victims.Ask{Key: "llm", Queue: train, Members: []victims.Member{
		{Key: "llm-0", Size: resources.Vector{8}}, {Key: "llm-1", Size: resources.Vector{8}},
	}}
	planner := jobs.Planner{Cluster: cluster}
	var d victims.Decision
	for _, job.DomainDepth = range []int{0, 1} {
		check(planner.Decide(&d, &job, now))
		fmt.Print(d)
	}
	// Output:
	// job llm (root.train, priority 0) fits: 2 members placed
	//   member llm-0 (gpu=8) on n1
	//   member llm-1 (gpu=8) on n2
	// job llm (root.train, priority 0) runs in rack-b once these have stopped: 2 members placed
	//   member llm-0 (gpu=8) on n2
	//   member llm-1 (gpu=8) on n3
	//   victim web on n3 (root.web, gpu=1, priority 0) for room on the node
	//   cost: 1 victim, 1h of work lost, 1 gpu-hours
	//   no legal plan costs less
}
