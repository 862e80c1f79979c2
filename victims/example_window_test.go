// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// kinds are what the filter looks at in an ask, by class: who asks, and for how long.
var kinds = []struct {
	user  string
	hours time.Duration
}{{"ann", 2}, {"ann", 3}, {"bob", 3}}

// Time and people in a filter. Node n1 is maintained from half past two to four: only work that
// ends before may start there, with the time that victims take to stop. Node n2 is reserved for
// bob. A refusal that ends by itself says when, and the answer when to try again.
func ExampleOptions_window() {
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

	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cluster := victims.NewCluster(tree)
	for _, name := range []string{"n1", "n2"} {
		_, err := cluster.AddNode(&victims.Node{Name: name, Capacity: eight})
		check(err)
		_, err = cluster.AddTask(&victims.Task{Key: "etl-" + name, Queue: batch, NodeName: name, Size: eight, Scheduled: noon})
		check(err)
	}
	from, to := noon.Add(150*time.Minute), noon.Add(4*time.Hour)
	const stopping = 10 * time.Minute
	planner := jobs.Planner{Cluster: cluster}
	planner.Filter = func(q *victims.Question) bool {
		kind := kinds[q.Member.Class]
		switch q.Cluster.NodeName(q.Node) {
		case "n1":
			if q.Now.Add(stopping+kind.hours*time.Hour).After(from) && q.Now.Before(to) {
				q.Until = to
				return false
			}
		case "n2":
			return kind.user == "bob"
		}
		return true
	}
	var d victims.Decision
	for class, kind := range kinds {
		ask := victims.Ask{Key: "of-" + kind.user, Queue: research, Size: eight, Class: class}
		check(planner.Decide(&d, &ask, noon))
		fmt.Println(d.Summary())
		if d.Outcome == victims.Refused {
			fmt.Println("  again at", d.Refusal.RetryAt.Format(time.TimeOnly))
		}
	}
	// Output:
	// of-ann (root.research, gpu=8) runs on n1 once these have stopped: etl-n1
	// of-ann (root.research, gpu=8) is refused (no-victims): there is no node that it may use; no legal set of victims makes room
	//   again at 16:00:00
	// of-bob (root.research, gpu=8) runs on n2 once these have stopped: etl-n2
}
