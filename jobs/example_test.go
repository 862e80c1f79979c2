// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// exampleCluster has two nodes of 8 gpus, full with batch work and with a job
// that needs two of its three members.
func exampleCluster() *victims.Cluster {
	schema, err := resources.NewSchema("gpu")
	must(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "train"}, {Name: "batch"},
	}})
	must(err)
	batch, _ := tree.Lookup("root.batch")
	cluster := victims.NewCluster(tree)
	for _, name := range []string{"n1", "n2"} {
		_, err := cluster.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{8}})
		must(err)
	}
	n1, _ := cluster.LookupNode("n1")
	n2, _ := cluster.LookupNode("n2")
	for _, t := range []victims.Task{
		{Key: "report", Node: n1, Size: resources.Vector{4}},
		{Key: "old-0", Node: n1, Size: resources.Vector{4}, Job: "old"},
		{Key: "old-1", Node: n2, Size: resources.Vector{4}, Job: "old"},
		{Key: "old-2", Node: n2, Size: resources.Vector{4}, Job: "old"},
	} {
		t.Queue, t.Scheduled = batch, noon.Add(-time.Hour)
		_, err := cluster.AddTask(&t)
		must(err)
	}
	must(cluster.SetMinMembers("old", 2))
	return cluster
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// trainJob wants two members of some gpus.
func trainJob(cluster *victims.Cluster, gpus int64) *victims.Ask {
	train, _ := cluster.Tree().Lookup("root.train")
	return &victims.Ask{Key: "new", Queue: train, Priority: 10, Members: []victims.Member{
		{Key: "new-0", Size: resources.Vector{gpus}},
		{Key: "new-1", Size: resources.Vector{gpus}},
	}}
}

// Two members of 4 need more room than the surplus of the old job gives: rather
// than all of that job, a report of the same priority goes with it.
func ExamplePlanner() {
	cluster := exampleCluster()
	planner := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: cluster}
	var d victims.Decision
	must(planner.Decide(&d, trainJob(cluster, 4), noon))
	fmt.Print(d)
	must(cluster.Apply(&d))
	// Output:
	// job new (root.train, priority 10) runs once these have stopped: 2 members placed
	//   member new-0 (gpu=4) on n1
	//   member new-1 (gpu=4) on n1
	//   victim old-0 on n1 (root.batch, gpu=4, priority 0, rank -10, surplus of job old) for room on the node
	//   victim report on n1 (root.batch, gpu=4, priority 0, rank -10) for room on the node
	//   cost: highest rank -10, 2 victims, ranks sum up to -20, 2h of work lost, 8 gpu-hours
	//   no legal plan costs less
}

// Members of 8 need both nodes. Then nothing is left of the old job that would
// be of use, and it goes as a whole.
func ExamplePlanner_wholeJob() {
	cluster := exampleCluster()
	planner := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: cluster}
	var d victims.Decision
	must(planner.Decide(&d, trainJob(cluster, 8), noon))
	for _, v := range d.Plan.Victims {
		fmt.Println(v.Key, v.Whole)
	}
	// Output:
	// old-0 true
	// old-1 true
	// old-2 true
	// report false
}

// A job of which one member finds no room takes no victims for the other.
func ExampleDecision_String() {
	cluster := exampleCluster()
	planner := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: cluster}
	job := trainJob(cluster, 8)
	job.Members[1].Size = resources.Vector{9}
	var d victims.Decision
	must(planner.Decide(&d, job, noon))
	must(d.Count())
	fmt.Print(d)
	// Output:
	// job new (root.train, priority 10) is refused (no-victims): larger than any node that it may use: n1 has 8 gpu; no legal set of victims makes room for all members
	//   4 could be taken
	//   the first 1 of 2 members could be placed
}

// An auditor judges plans of others, too. This one leaves half a job.
func Example_audit() {
	cluster := exampleCluster()
	n2, _ := cluster.LookupNode("n2")
	foreign := victims.Decision{Outcome: victims.Preempts, Plan: victims.Plan{
		Ask: *trainJob(cluster, 4), Places: []victims.Place{{Member: 0, Node: n2}, {Member: 1, Node: n2}},
	}}
	for _, key := range []string{"old-1", "old-2"} {
		id, _ := cluster.Lookup(key)
		foreign.Plan.Victims = append(foreign.Plan.Victims, victims.Victim{Task: id, Key: key})
	}
	auditor := victims.Auditor{Options: victims.Options{ByPriority: true}, Cluster: cluster}
	for _, v := range auditor.Audit(nil, &foreign, noon) {
		fmt.Println(v)
	}
	// Output:
	// gang: job old: 1 members run on, want at least 2
}

// The first members without a place are the minimum; the others run where there
// is room, and cost nobody anything.
func ExampleJob() {
	cluster := exampleCluster()
	must(cluster.RemoveTask("old-2"))
	job := trainJob(cluster, 4)
	job.MinMembers = 1
	var d victims.Decision
	planner := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: cluster}
	must(planner.Decide(&d, job, noon))
	for _, at := range d.Plan.Places {
		fmt.Println(job.Members[at.Member].Key, "on", cluster.Node(at.Node).Name)
	}
	fmt.Println(d.Outcome, len(d.Plan.Victims))
	// Output:
	// new-0 on n2
	// fits 0
}

// A predicate keeps members apart.
func ExamplePlanner_predicate() {
	cluster := exampleCluster()
	planner := jobs.Planner{Cluster: cluster, Options: victims.Options{ByPriority: true, Predicate: func(q *victims.Question) bool {
		return !slices.ContainsFunc(q.Places, func(at victims.Place) bool { return at.Node == q.Node })
	}}}
	var d victims.Decision
	must(planner.Decide(&d, trainJob(cluster, 4), noon))
	for _, at := range d.Plan.Places {
		fmt.Println(at.Key, "on", cluster.Node(at.Node).Name)
	}
	// Output:
	// new-0 on n1
	// new-1 on n2
}

// What is not preemptible has to stay within the min of its queue, and no victim
// helps against that.
func ExamplePlanner_admit() {
	cluster := exampleCluster()
	job := trainJob(cluster, 4)
	job.NonPreemptible = true
	four := resources.Limit{Value: resources.Vector{4}, Defined: 1}

	quotas := map[string]*koordinator.ElasticQuota{"root.train": {Min: four}}
	planner := jobs.Planner{Cluster: cluster, Options: victims.Options{
		ByPriority: true,
		Admit: func(dst resources.Vector, a *victims.Admission) (resources.Vector, bool) {
			return quotas[a.Queue].Admit(dst, a)
		},
	}}
	var d victims.Decision
	must(planner.Decide(&d, job, noon))
	fmt.Println(d.Outcome, d.Refusal.Reason)
	for _, b := range d.Refusal.Breaches {
		fmt.Println(b.Text(cluster.Schema()))
	}
	// Output:
	// refused quota-min
	// non-preemptible-min: root.train: gpu: 0 used and 8 asked for are above 4 by 4
}
