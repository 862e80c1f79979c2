// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Nobody may use more than 8 GPUs, whatever the queues are guaranteed: what would take its user
// beyond that is on hold, and costs nobody a victim.
func ExamplePending_hold() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	four, err := schema.Parse("gpu=4")
	check(err)
	sixteen, err := schema.Parse("gpu=16")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "research"}}})
	check(err)
	research, _ := tree.Lookup("root.research")
	cluster, now := victims.NewCluster(tree), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	_, err = cluster.AddNode(&victims.Node{Name: "n1", Capacity: sixteen})
	check(err)

	// What each user uses: tasks and grants. Tags are users here; members have one, too.
	used := func(user uint64) (sum resources.Vector) {
		for id := range cluster.Tasks() {
			if t := cluster.TaskView(id); t.Tag == user {
				sum = resources.Add(sum, sum, t.Size)
			}
		}
		return sum
	}
	limit, err := schema.ParseLimit("gpu=8")
	check(err)
	waiting := jobs.Pending{
		Planner: &jobs.Planner{Cluster: cluster},
		Hold: func(a *victims.Ask) bool {
			sum := used(a.Tag)
			for i := range max(len(a.Members), 1) {
				m := a.Member(i)
				_, runs := cluster.Lookup(m.Key)
				if _, granted := cluster.LookupGrant(m.Key); !runs && !granted { // else it is counted
					sum = resources.Add(sum, sum, m.Size)
				}
			}
			return !resources.Admits(limit, sum)
		},
	}
	const ann, bob = 1, 2
	for i, user := range []uint64{ann, ann, ann, bob} {
		waiting.Add(victims.Ask{Key: fmt.Sprint([]string{ann: "ann", bob: "bob"}[user], "-", i), Tag: user, Queue: research, Size: four})
	}
	look := func() {
		for d, err := range waiting.Decide(now) {
			check(err)
			check(cluster.Apply(d))
		}
		started, err := cluster.StartReady(now, nil)
		check(err)
		fmt.Println("started:", started)
	}
	look()
	check(cluster.RemoveTask("ann-0")) // it has ended
	waiting.Remove("ann-0")
	look()
	// Output:
	// started: [ann-0 ann-1 bob-3]
	// started: [ann-2]
}
