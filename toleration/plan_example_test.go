// SPDX-License-Identifier: Apache-2.0

package toleration_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
)

// patient is a priority class whose tasks may run for ten minutes, if less than 10000 asks.
var patient = toleration.PriorityClass{Name: "patient", Value: 8_000, Annotations: map[string]string{
	toleration.AnnotationMinimum: "10000",
	toleration.AnnotationSeconds: "600",
}}

// A planner spares the tasks that tolerate an ask, and a refusal says when the first of them
// that would do can be taken. Look the policy of a task up once, when the task arrives.
func Example_planner() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	class, err := toleration.Parse(patient)
	check(err)

	schema, err := resources.NewSchema("gpu")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "serve", Guaranteed: resources.Limit{Value: resources.Vector{8}, Defined: 1}},
	}})
	check(err)
	batch, _ := tree.Lookup("root.batch")
	serve, _ := tree.Lookup("root.serve")

	cluster, noon := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	node, err := cluster.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{8}})
	check(err)
	etl, err := cluster.AddTask(&victims.Task{
		Key: "etl", Queue: batch, Node: node, Size: resources.Vector{8},
		Priority: class.Priority, OptedOut: class.OptedOut, Scheduled: noon,
	})
	check(err)
	policies := map[victims.TaskID]toleration.Policy{etl: class.Policy}

	planner := jobs.Planner{Cluster: cluster}
	planner.Exempt = func(e *victims.Question) (until time.Time, exempt bool) {
		return policies[e.Task].Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
	}
	var d victims.Decision
	for _, x := range []struct{ priority, minutes int32 }{{9_000, 4}, {10_000, 4}, {9_000, 10}} {
		now := noon.Add(time.Duration(x.minutes) * time.Minute)
		ask := victims.Ask{Key: "chat", Queue: serve, Size: resources.Vector{8}, Priority: x.priority}
		check(planner.Decide(&d, &ask, now))
		fmt.Println(now.Format(time.TimeOnly), x.priority, d.Outcome)
		if d.Outcome == victims.Refused {
			check(d.Count())
			fmt.Println(d.Refusal.Counts, "try again at", d.Refusal.RetryAt.Format(time.TimeOnly))
		}
	}
	// Output:
	// 12:04:00 9000 refused
	// [{exempt 1}] try again at 12:10:00
	// 12:04:00 10000 plan
	// 12:10:00 9000 plan
}
