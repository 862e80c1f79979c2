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

// oneGPU is the size of all tasks. Of memory there is enough.
var oneGPU = resources.Vector{1, 4 << 30}

// Two teams share 8 GPUs by their weights, 3 : 1, and nothing is guaranteed. While
// research is idle, batch may use all GPUs. Once research wants them, its share
// becomes its guarantee, and it takes them back one task at a time.
func Example_fairShares() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	schema, err := resources.NewSchema("gpu", "memory")
	check(err)
	weight := func(w string) map[string]string { return map[string]string{"fair.weight": w} }
	configured, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "batch", Properties: weight("1")}, {Name: "research", Properties: weight("3")},
	}})
	check(err)
	batch, _ := configured.Lookup("root.batch")
	research, _ := configured.Lookup("root.research")

	// The cluster plans with a clone of the configured tree.
	cluster := victims.NewCluster(configured.Clone())
	node, err := cluster.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{8, 256 << 30}})
	check(err)
	for i := range 8 {
		key := fmt.Sprint("etl-", i)
		_, err := cluster.AddTask(&victims.Task{Key: key, Application: key, Queue: batch, Node: node, Size: oneGPU, Scheduled: now.Add(time.Duration(i-60) * time.Minute)})
		check(err)
	}

	// What runs and what waits, in each leaf. Of gpus there are too few.
	demand := make([]resources.Vector, configured.Len())
	demand[batch] = resources.Scale(nil, oneGPU, 8)
	demand[research] = resources.Scale(nil, oneGPU, 9)
	var shares queue.FairShares
	check(shares.Divide(configured, demand, resources.Limit{Value: cluster.Capacity(), Defined: 0b11}))
	check(cluster.SetGuarantees(&shares))

	planner := jobs.Planner{Cluster: cluster}
	for i := range 9 {
		var d victims.Decision
		check(planner.Decide(&d, &victims.Ask{
			Key: fmt.Sprint("train-", i), Application: "train", Queue: research, Size: oneGPU, PendingSince: now.Add(-time.Minute),
		}, now))
		if d.Outcome == victims.Refused {
			fmt.Print(d)
			break
		}
		check(cluster.Apply(&d))
	}
	fmt.Print(cluster.Tree())

	// Output:
	// train-6 (root.research, gpu=1 memory=4Gi) is refused (over-guarantee): root.research has its guaranteed gpu=6 already
	// root       used gpu=14 memory=56Gi leaving gpu=6 memory=24Gi
	//   batch    used gpu=8 memory=32Gi leaving gpu=6 memory=24Gi guaranteed gpu=2
	//   research used gpu=6 memory=24Gi guaranteed gpu=6
}
