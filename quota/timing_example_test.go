// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"log"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A scheduler looks whenever there may be something to do. Here the max of a queue
// and that of its parent are lowered. What the first run takes helps the parent too, but
// not enough, and the run of the parent ends short, so that it is due again after the delay.
func ExampleTiming() {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	later := queue.Policies{QuotaDelay: new(10 * time.Minute)}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "lab", Policies: later, Children: []queue.Config{{Name: "vision", Policies: later}, {Name: "speech"}}},
	}})
	check(err)
	lab, _ := tree.Lookup("root.lab")
	vision, _ := tree.Lookup("root.lab.vision")
	speech, _ := tree.Lookup("root.lab.speech")
	cluster := victims.NewCluster(tree)
	for i, leaf := range []queue.ID{vision, vision, vision, speech, speech, speech} {
		_, err := cluster.AddTask(&victims.Task{Key: fmt.Sprint("t", i), Queue: leaf, NodeName: "n1", Size: resources.Vector{2}})
		check(err)
	}

	start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	timing := quota.Timing{Cluster: cluster}
	check(cluster.SetMax(lab, resources.Limit{Value: resources.Vector{7}, Defined: 1}))
	check(cluster.SetMax(vision, resources.Limit{Value: resources.Vector{4}, Defined: 1}))
	timing.Observe(start)
	fmt.Print(&timing)

	// A real run chooses victims; this one takes what it is told to.
	stops := []string{"t0", "t3", "t4"}
	for range 3 {
		now, ok := timing.Next()
		if !ok {
			break
		}
		fmt.Println(now.Format(time.TimeOnly))
		for q := range timing.Due(now) {
			before := tree.Effective(nil, q)
			check(cluster.SetState(stops[0], victims.Marked))
			stops = stops[1:]
			fmt.Printf("  %s: %s, then %s\n", tree.Path(q), schema.Format(before), schema.Format(tree.Effective(nil, q)))
			check(timing.End(q, now))
		}
	}
	// Output:
	// root.lab         waits until 2026-01-01T09:10:00Z
	// root.lab.vision  waits until 2026-01-01T09:10:00Z
	// 09:10:00
	//   root.lab.vision: gpu=6, then gpu=4
	//   root.lab: gpu=10, then gpu=8
	// 09:20:00
	//   root.lab: gpu=8, then gpu=6
}
