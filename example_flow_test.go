// SPDX-License-Identifier: Apache-2.0

package preempt_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The flows below share a cluster: two nodes of 8 cores, which two tasks of 4
// cores each fill; they are of a queue batch without bounds. Another queue, prod,
// is guaranteed 8 cores and uses none.
const batch, prod queue.ID = 1, 2

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func cores(n int64) resources.Vector { return resources.Vector{n * 1000} }

func upTo(n int64) resources.Limit { return resources.Limit{Value: cores(n), Defined: 1} }

func fullCluster() *victims.Cluster {
	schema, err := resources.NewSchema("cpu")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "prod", Guaranteed: upTo(8)},
	}})
	check(err)
	c := victims.NewCluster(tree)
	for _, name := range []string{"n1", "n2"} {
		node, err := c.AddNode(&victims.Node{Name: name, Capacity: cores(8)})
		check(err)
		for _, task := range []string{"a", "b"} {
			_, err := c.AddTask(&victims.Task{
				Key: name + task, Application: name + task, Queue: batch, Node: node, Size: cores(4),
				Scheduled: noon.Add(-time.Hour),
			})
			check(err)
		}
	}
	return c
}

// A task of a daemon set can run on its node only. There it may take what is of
// no higher priority, whatever is guaranteed.
func Example_requiredNode() {
	c := fullCluster()
	planner := jobs.Planner{Cluster: c}
	ask := victims.Ask{Key: "agent", Application: "agent", Queue: batch, Size: cores(1), RequiredNode: "n2"}
	var d victims.Decision
	check(planner.Decide(&d, &ask, noon))
	fmt.Print(d)
	// Output:
	// agent (root.batch, cpu=1) runs on n2 once these have stopped:
	//   n2a on n2 (root.batch, cpu=4, priority 0) for room on the node
	//   cost: 1 victim, 1h of work lost, 4 cpu-hours, 18.8% of the cluster freed beyond need
	//   no legal plan costs less
}

// What if? Plans are applied to see what would come next, and undone, newest
// first. The cluster is then what it was.
func Example_whatIf() {
	c := fullCluster()
	planner := jobs.Planner{Cluster: c}
	before := c.Version()
	var d victims.Decision
	for i := range 3 {
		ask := victims.Ask{Key: fmt.Sprint("web-", i), Application: "web", Queue: prod, Size: cores(4)}
		check(planner.Decide(&d, &ask, noon))
		fmt.Print(d)
		if d.Outcome == victims.Preempts {
			check(c.Apply(&d))
		}
	}
	check(c.Undo())
	check(c.Undo())
	fmt.Println("as before:", c.Version() == before)
	// Output:
	// web-0 (root.prod, cpu=4) runs on n1 once these have stopped:
	//   n1a on n1 (root.batch, cpu=4, priority 0) for room on the node
	//   cost: 1 victim, 1h of work lost, 4 cpu-hours
	//   no legal plan costs less
	// web-1 (root.prod, cpu=4) runs on n1 once these have stopped:
	//   n1b on n1 (root.batch, cpu=4, priority 0) for room on the node
	//   cost: 1 victim, 1h of work lost, 4 cpu-hours
	//   no legal plan costs less
	// web-2 (root.prod, cpu=4) is refused (over-guarantee): root.prod has its guaranteed cpu=8 already
	// as before: true
}

// The audit checks plans of other schedulers against every law. It shares no
// code with the planner.
func Example_audit() {
	c := fullCluster()
	check(c.SetGuaranteed(batch, upTo(12))) // of the 16 that it uses
	n1, _ := c.LookupNode("n1")
	foreign := victims.Decision{Outcome: victims.Preempts, Plan: victims.Plan{
		Ask:    victims.Ask{Key: "web", Application: "web", Queue: prod, Size: cores(6)},
		Places: []victims.Place{{Node: n1}},
	}}
	for _, key := range []string{"n1a", "n1b"} {
		id, _ := c.Lookup(key)
		foreign.Plan.Victims = append(foreign.Plan.Victims, victims.Victim{Task: id, Key: key})
	}
	auditor := victims.Auditor{Cluster: c}
	for _, violation := range auditor.Audit(nil, &foreign, noon) {
		fmt.Println(violation)
	}
	// Output:
	// guarantee (law 2): root.batch: cpu 8 after the plan, want at least 12
}
