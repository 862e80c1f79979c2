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

// selectors are the node labels that asks of each class want.
var selectors = []map[string]string{
	{},
	{"gpu": "h100"},
	{"gpu": "h100", "zone": "west"},
}

// A filter says where asks of a class may run, whoever goes: here on nodes that have all
// labels of a selector.
func ExampleOptions_filter() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	eight := resources.Limit{Value: resources.Vector{8}, Defined: 1}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch"}, {Name: "research", Guaranteed: eight},
	}})
	check(err)
	batch, _ := tree.Lookup("root.batch")
	research, _ := tree.Lookup("root.research")

	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	labels := make(map[victims.NodeID]map[string]string)
	for i, model := range []string{"a100", "h100"} {
		node, err := cluster.AddNode(&victims.Node{Name: "node-" + model, Capacity: resources.Vector{8}})
		check(err)
		labels[node] = map[string]string{"gpu": model, "zone": "east"}
		_, err = cluster.AddTask(&victims.Task{
			Key: fmt.Sprint("etl-", i), Queue: batch, Node: node, Size: resources.Vector{8}, Scheduled: now.Add(-time.Hour),
		})
		check(err)
	}

	planner := jobs.Planner{Cluster: cluster}
	planner.Filter = func(q *victims.Question) bool {
		for key, value := range selectors[q.Member.Class] {
			if labels[q.Node][key] != value {
				return false
			}
		}
		return true
	}
	var d victims.Decision
	for class := range selectors {
		ask := victims.Ask{Key: "train", Queue: research, Size: resources.Vector{8}, Class: class}
		check(planner.Decide(&d, &ask, now))
		fmt.Println(d.Summary())
	}
	// Output:
	// train (root.research, gpu=8) runs on node-a100 once these have stopped: etl-0
	// train (root.research, gpu=8) runs on node-h100 once these have stopped: etl-1
	// train (root.research, gpu=8) is refused (no-victims): there is no node that it may use; no legal set of victims makes room
}
