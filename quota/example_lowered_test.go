// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// ages are for how many hours tasks have run, of 4 GPUs each.
var ages = map[string]time.Duration{"bert": 9, "clip": 2, "gpt": 5, "vit": 1}

// The max of a queue that uses 16 GPUs is lowered to 10. After a delay of five minutes the
// youngest tasks go until usage fits.
func Example() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "vision", Policies: queue.Policies{QuotaDelay: new(5 * time.Minute)}},
	}})
	check(err)
	vision, _ := tree.Lookup("root.vision")

	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	node, err := cluster.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{16}})
	check(err)
	for key, hours := range ages {
		at := now.Add(-hours * time.Hour)
		_, err := cluster.AddTask(&victims.Task{
			Key: key, Queue: vision, Node: node, Size: resources.Vector{4}, Created: at, Scheduled: at,
		})
		check(err)
	}

	timing := quota.Timing{Cluster: cluster}
	ten, err := schema.ParseLimit("gpu=10")
	check(err)
	check(cluster.SetMax(vision, ten))
	timing.Observe(now)

	enforcer := quota.Enforcer{Cluster: cluster, Options: victims.Options{Enforced: timing.Running}}
	var o victims.Decision
	for _, now := range []time.Time{now, now.Add(5 * time.Minute)} {
		for q := range timing.Due(now) {
			check(enforcer.Enforce(&o, q, now))
			fmt.Print(now.Format(time.TimeOnly), ": ", o.String())
			check(cluster.Apply(&o)) // marks the victims, which are for you to stop
			check(timing.End(q, now))
		}
	}
	fmt.Print(tree)
	// Output:
	// 12:05:00: root.vision uses gpu=16 with a max of gpu=10 (met): it is within it, once these have stopped
	//   to be freed: gpu=6
	//   root.vision: asked for gpu=6, gives gpu=8
	//     clip on n1 (gpu=4, priority 0)
	//     vit on n1 (gpu=4, priority 0)
	// root     used gpu=16 leaving gpu=8
	//   vision used gpu=16 leaving gpu=8 max gpu=10
}
