// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"log"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
)

// A scheduler tells of what it is configured to, and looks whenever there may
// be something to do. Here the max of a queue and that of its parent are
// lowered. What the first run takes helps the parent too, but not enough, and
// the run of the parent ends short, so that it is due again after the delay.
func ExampleTiming() {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "lab", Children: []queue.Config{{Name: "vision"}, {Name: "speech"}}},
	}})
	check(err)
	lab, _ := tree.Lookup("root.lab")
	vision, _ := tree.Lookup("root.lab.vision")
	speech, _ := tree.Lookup("root.lab.speech")
	check(tree.Add(vision, resources.Vector{6}))
	check(tree.Add(speech, resources.Vector{6}))

	start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	timing := quota.NewTiming(tree)
	lower := func(q queue.ID, gpu int64, delay time.Duration) {
		s := quota.Quota{Queue: q, Max: resources.Limit{Value: resources.Vector{gpu}, Defined: 1}, Delay: delay}
		check(tree.SetMax(q, s.Max))
		check(timing.Observe(s, start))
	}
	lower(lab, 8, 10*time.Minute)
	lower(vision, 4, 10*time.Minute)
	fmt.Print(timing)

	// A real run chooses victims; this one takes what it is told to.
	stop := func(q queue.ID) {
		leaf, gpu := vision, int64(2)
		if q == lab {
			leaf, gpu = speech, 1
		}
		check(tree.Mark(leaf, resources.Vector{gpu}))
	}
	for range 3 {
		now, ok := timing.Next()
		if !ok {
			break
		}
		fmt.Println(now.Format(time.TimeOnly))
		for q, ok := timing.Begin(now); ok; q, ok = timing.Begin(now) {
			before := tree.Effective(nil, q)
			stop(q)
			fmt.Printf("  %s: %s, then %s\n", tree.Path(q), schema.Format(before), schema.Format(tree.Effective(nil, q)))
			check(timing.End(q, now))
		}
	}
	// Output:
	// root.lab         waits until 2026-01-01T09:10:00Z
	// root.lab.vision  waits until 2026-01-01T09:10:00Z
	// 09:10:00
	//   root.lab.vision: gpu=6, then gpu=4
	//   root.lab: gpu=10, then gpu=9
	// 09:20:00
	//   root.lab: gpu=9, then gpu=8
}
