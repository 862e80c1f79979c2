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

// orderCluster has a leaf with tasks of 2 and 4 on node n1, and one of 3 on n2,
// from the youngest to the oldest.
func orderCluster() (*victims.Cluster, queue.ID) {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	schema, err := resources.NewSchema("cpu", "gpu")
	check(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "lab", Policies: queue.Policies{QuotaDelay: new(time.Minute)}},
	}})
	check(err)
	c := victims.NewCluster(tree)
	lab, _ := tree.Lookup("root.lab")
	for _, name := range []string{"n1", "n2"} {
		_, err := c.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{16, 4}})
		check(err)
	}
	for i, t := range []victims.Task{
		{Key: "young", Node: 1, Size: resources.Vector{2, 1}},
		{Key: "middle", Node: 2, Size: resources.Vector{3}},
		{Key: "old", Node: 1, Size: resources.Vector{4}},
	} {
		t.Queue, t.Application, t.Created = lab, t.Key, now.Add(-time.Duration(i+1)*time.Hour)
		_, err := c.AddTask(&t)
		check(err)
	}
	return c, lab
}

// The orders of the enforcer, and one of the caller's: the largest first.
func ExampleOrder() {
	c, lab := orderCluster()
	share := func(t *victims.Task) resources.Share { return resources.DominantShare(t.Size, c.Capacity()) }
	largest := func(a, b *victims.Task) int { return share(b).Compare(share(a)) }
	for _, e := range []quota.Enforcer{
		{},
		{Order: quota.ClosestMatch}, // young uses a gpu as well
		{Order: quota.Pack},         // n1 has more of what is to be freed
		{Order: quota.Fewest},       // one as well, with less beyond the target
		{CompareTasks: largest},
	} {
		e.Cluster = c
		var o victims.Decision
		check(c.SetMax(lab, resources.Limit{Value: resources.Vector{7}, Defined: 1}))
		if err := e.Enforce(&o, lab, now); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(o.Plan.Victims[0].Key)
	}
	// Output:
	// young
	// middle
	// young
	// middle
	// old
}

// A job that needs two members loses none of its two: both or nobody. Of three
// it can spare one.
func ExampleEnforcer_Enforce_gang() {
	c, lab := orderCluster()
	for _, key := range []string{"young", "old"} {
		id, _ := c.Lookup(key)
		t := c.Task(id)
		if err := c.RemoveTask(key); err != nil {
			fmt.Println(err)
			return
		}
		t.Job = "training"
		if _, err := c.AddTask(&t); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := c.SetMinMembers("training", 2); err != nil {
		fmt.Println(err)
		return
	}
	e := quota.Enforcer{Cluster: c}
	var o victims.Decision
	for _, most := range []int64{6, 5} {
		check(c.SetMax(lab, resources.Limit{Value: resources.Vector{most}, Defined: 1}))
		if err := e.Enforce(&o, lab, now); err != nil {
			fmt.Println(err)
			return
		}
		for _, v := range o.Plan.Victims {
			fmt.Printf("%d: %s, with its whole job: %v\n", most, v.Key, v.Whole)
		}
	}
	// Output:
	// 6: middle, with its whole job: false
	// 5: old, with its whole job: true
	// 5: young, with its whole job: true
}

// Queues whose quota is being enforced give nothing to the run of a parent.
func ExampleTiming_Running() {
	c, lab := orderCluster()
	timing := quota.Timing{Cluster: c}
	five := resources.Limit{Value: resources.Vector{5}, Defined: 1}
	check(c.SetMax(lab, five))
	timing.Observe(now)
	fmt.Println(timing.Running(lab))
	for q := range timing.Due(now.Add(time.Minute)) {
		fmt.Println(q == lab, timing.Running(lab))
	}

	e := quota.Enforcer{Cluster: c, Options: victims.Options{Enforced: timing.Running}}
	var o victims.Decision
	check(c.SetMax(queue.Root, five))
	if err := e.Enforce(&o, queue.Root, now); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(o.Enforcement.Result, o.Enforcement.Obstacles[0].Rule)
	// Output:
	// false
	// true true
	// impossible enforced
}
