// SPDX-License-Identifier: Apache-2.0

package toleration_test

import (
	"fmt"
	"log"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
)

// A planner spares the tasks that tolerate an ask, and a refusal says when the
// first of them that would do can be taken. The policy of each task is looked
// up once, when the task arrives.
func Example_planner() {
	var classes toleration.Classes
	set(&classes, toleration.Config{Name: "low-10min", Value: 8_000, Annotations: map[string]string{
		toleration.AnnotationMinimum: "10000",
		toleration.AnnotationSeconds: "600",
	}})
	low := lookup(&classes, "low-10min")

	cluster := fullNode(victims.Task{
		Key: "etl", Application: "etl", Size: resources.Vector{8000},
		Priority: low.Value, OptedOut: low.OptedOut, Scheduled: noon,
	})
	policies := map[string]toleration.Policy{"etl": low.Policy}

	planner := victims.Planner{Cluster: cluster, Rules: victims.Rules{Exempt: func(e victims.Exemption) (until time.Time, exempt bool) {
		return policies[e.Cluster.Key(e.Task)].Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
	}}}
	prod, _ := cluster.Tree().Lookup("root.prod")
	ask := victims.Ask{Key: "web", Application: "web", Queue: prod, Size: resources.Vector{8000}}
	var d victims.Decision
	decide := func(priority int32, now time.Time) {
		ask.Priority = priority
		if err := planner.Decide(&d, &ask, now); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s, priority %d: %v", now.Format(time.TimeOnly), priority, d.Outcome)
		if d.Outcome == victims.Refused {
			fmt.Printf(", %d exempt, try again at %s", d.Refusal.Counts[victims.RuleExempt], d.Refusal.RetryAt.Format(time.TimeOnly))
		}
		fmt.Println()
	}
	decide(9_000, noon.Add(4*time.Minute))
	retry := d.Refusal.RetryAt
	decide(10_000, noon.Add(4*time.Minute))
	decide(9_000, retry)

	// Output:
	// 12:04:00, priority 9000: refused, 1 exempt, try again at 12:10:00
	// 12:04:00, priority 10000: plan
	// 12:10:00, priority 9000: plan
}

// fullNode returns a cluster of one node that tasks of root.batch fill, and a
// queue root.prod that is guaranteed all of it.
func fullNode(tasks ...victims.Task) *victims.Cluster {
	schema, err := resources.NewSchema("cpu")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "prod", Guaranteed: resources.Limit{Value: resources.Vector{8000}, Defined: 1}},
	}}, queue.Strict)
	check(err)
	cluster := victims.NewCluster(tree)
	node, err := cluster.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{8000}})
	check(err)
	batch, _ := tree.Lookup("root.batch")
	for _, t := range tasks {
		t.Queue, t.Node = batch, node
		_, err = cluster.AddTask(&t)
		check(err)
	}
	return cluster
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
