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

// racks has three nodes of 8 gpus in two racks, and queues of which train has a
// guarantee of 8.
func racks() *victims.Cluster { return racksOf(8, queue.Policies{}) }

// racksOf is racks with another guarantee, and policies of root.train.
func racksOf(gpus int64, train queue.Policies) *victims.Cluster {
	schema, err := resources.NewSchema("gpu")
	must(err)
	guaranteed := resources.Limit{Value: resources.Vector{gpus}, Defined: 1}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "train", Guaranteed: guaranteed, Policies: train}, {Name: "web"},
	}})
	must(err)
	cluster := victims.NewCluster(tree)
	for _, n := range []victims.Node{
		{Name: "n1", Domains: []string{"rack-a"}},
		{Name: "n2", Domains: []string{"rack-b"}},
		{Name: "n3", Domains: []string{"rack-b"}},
	} {
		n.Capacity = resources.Vector{8}
		_, err := cluster.AddNode(&n)
		must(err)
	}
	return cluster
}

// run adds a task that has run for an hour.
func run(cluster *victims.Cluster, node, path string, t victims.Task) {
	t.Node, _ = cluster.LookupNode(node)
	t.Queue, _ = cluster.Tree().Lookup(path)
	t.Scheduled = noon.Add(-time.Hour)
	_, err := cluster.AddTask(&t)
	must(err)
}

// show prints where members go, and who stops for them.
func show(cluster *victims.Cluster, d *victims.Decision) {
	fmt.Println(d.Outcome)
	for _, at := range d.Plan.Places {
		fmt.Println(at.Key, "on", cluster.NodeName(at.Node))
	}
	for _, v := range d.Plan.Victims {
		fmt.Println(v.Key, "stops")
	}
}

// A filter says where members may ever run. It is asked about classes, not about
// members: here the first member leads and must be near the disks of n3, and the
// others run anywhere. It is asked once for each class and node, however many
// members there are. The second member takes what is left of the room that is
// made for the first, for that costs nothing more.
func ExamplePlanner_filter() {
	const leader, worker = 0, 1
	cluster := racks()
	run(cluster, "n3", "root.web", victims.Task{Key: "web", Size: resources.Vector{6}})
	job := trainJob(cluster, 4)
	job.Members[0].Class, job.Members[1].Class = leader, worker

	asked := 0
	planner := jobs.Planner{Cluster: cluster, Options: victims.Options{ByPriority: true, Filter: func(q *victims.Question) bool {
		asked++
		return q.Member.Class == worker || cluster.NodeName(q.Node) == "n3"
	}}}
	var d victims.Decision
	must(planner.Decide(&d, job, noon))
	show(cluster, &d)
	fmt.Println(asked, "questions")
	// Output:
	// plan
	// new-0 on n3
	// new-1 on n3
	// web stops
	// 6 questions
}

// A service says by a budget how many of its tasks it can do without. Two of them
// would be the cheapest victims, for their priority is lowest. But one is all
// that the budget has left, so a task of higher priority goes instead of the
// second.
func ExamplePlanner_budgets() {
	cluster := racks()
	must(cluster.SetBudget("web", victims.Budget{Left: 1}))
	for _, node := range []string{"n1", "n2"} {
		run(cluster, node, "root.web", victims.Task{Key: "web-" + node, Size: resources.Vector{8}, Budgets: []string{"web"}})
	}
	run(cluster, "n3", "root.web", victims.Task{Key: "index", Size: resources.Vector{8}, Priority: 5})

	planner := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: cluster}
	var d victims.Decision
	must(planner.Decide(&d, trainJob(cluster, 8), noon))
	show(cluster, &d)
	fmt.Println("overrun by", d.Plan.Cost.Overrun)
	// Output:
	// plan
	// new-0 on n1
	// new-1 on n3
	// index stops
	// web-n1 stops
	// overrun by 0
}

// The queue of the job is under its guarantee, and what it has is less important. To put a
// smaller member in its place leaves the queue with less than it had. By default law 2
// forbids that. With met, which the queue says here, only a guarantee once met stays met.
func ExamplePlanner_ownLeaf() {
	for _, within := range []queue.WithinQueue{queue.Never, queue.Met} {
		cluster := racksOf(16, queue.Policies{WithinQueue: within})
		run(cluster, "n1", "root.train", victims.Task{Key: "old", Size: resources.Vector{8}})
		for _, node := range []string{"n2", "n3"} {
			run(cluster, node, "root.web", victims.Task{Key: "web-" + node, Size: resources.Vector{8}, NonPreemptible: true})
		}
		planner := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: cluster}
		var d victims.Decision
		must(planner.Decide(&d, trainJob(cluster, 3), noon))
		show(cluster, &d)
	}
	// Output:
	// refused
	// plan
	// new-0 on n1
	// new-1 on n1
	// old stops
}
