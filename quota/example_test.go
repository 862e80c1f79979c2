// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// gpus bounds gpus.
func gpus(n int64) resources.Limit {
	return resources.Limit{Value: resources.Vector{n}, Defined: 1}
}

// lab returns a cluster of gpus with the given queues.
func lab(queues ...queue.Config) *victims.Cluster {
	schema, _ := resources.NewSchema("gpu")
	tree, _ := queue.New(schema, queue.Config{Name: "root", Children: queues})
	c := victims.NewCluster(tree)
	c.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{64}})
	return c
}

// train adds tasks of a queue, each an hour older than the one before.
func train(c *victims.Cluster, path string, sizes ...int64) {
	leaf, _ := c.Tree().Lookup(path)
	for i, size := range sizes {
		began := now.Add(-time.Duration(i+1) * time.Hour)
		c.AddTask(&victims.Task{
			Key: path[len("root."):] + "-" + strconv.Itoa(i+1), Queue: leaf, NodeName: "n1", Size: resources.Vector{size},
			Created: began, Scheduled: began,
		})
	}
}

// Three levels: each queue gives in proportion to what it can release, down to
// the leaves. In team.x no task can go without breaking the guarantee, so that its
// sibling gives the part of both.
func ExampleEnforcer_Enforce_parent() {
	c := lab(queue.Config{Name: "lab", Max: gpus(40), Children: []queue.Config{
		{Name: "team", Children: []queue.Config{{Name: "x", Guaranteed: gpus(3)}, {Name: "y"}}},
		{Name: "guests"},
	}})
	train(c, "root.lab.team.x", 6)
	train(c, "root.lab.team.y", 1, 1, 1, 1, 1)
	train(c, "root.lab.guests", 1, 1, 1, 1, 1, 1, 1, 1)
	top, _ := c.Tree().Lookup("root.lab")

	enforcer := quota.Enforcer{Cluster: c}
	var o victims.Decision
	check(c.SetMax(top, gpus(15)))
	if err := enforcer.Enforce(&o, top, now); err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range o.Enforcement.Parts {
		fmt.Println(p.Queue, c.Schema().Format(p.Amount))
	}
	fmt.Print(o)
	// Output:
	// root.lab.team gpu=2
	// root.lab.team.x gpu=1
	// root.lab.team.y gpu=1
	// root.lab.guests gpu=2
	// root.lab uses gpu=19 with a max of gpu=15 (met): it is within it, once these have stopped
	//   to be freed: gpu=4
	//   root.lab.team.x: asked for gpu=1, gives none
	//   root.lab.team.y: asked for gpu=2, gives gpu=2
	//     lab.team.y-1 on n1 (gpu=1, priority 0)
	//     lab.team.y-2 on n1 (gpu=1, priority 0)
	//   root.lab.guests: asked for gpu=2, gives gpu=2
	//     lab.guests-1 on n1 (gpu=1, priority 0)
	//     lab.guests-2 on n1 (gpu=1, priority 0)
}

// What cannot be had stays over, and the decision says why. A slack says whether that may be.
func ExampleEnforcer_Enforce_bestEffort() {
	c := lab(queue.Config{Name: "a", Guaranteed: gpus(10), Max: gpus(20)})
	train(c, "root.a", 4, 4, 4, 4)
	a, _ := c.Tree().Lookup("root.a")
	check(c.SetMax(a, gpus(10)))

	enforcer := quota.Enforcer{Cluster: c}
	var d victims.Decision
	check(enforcer.Enforce(&d, a, now))
	fmt.Print(d)
	for _, may := range []int64{1, 2} {
		slack := quota.Slack{Amounts: resources.Vector{may}}
		fmt.Println(slack.Allows(d.Enforcement.Shortfall, d.Enforcement.Target))
	}
	// Output:
	// root.a uses gpu=16 with a max of gpu=10 (partial): gpu=2 stay over, once these have stopped
	//   to be freed: gpu=6
	//   root.a: asked for gpu=6, gives gpu=4
	//     a-1 on n1 (gpu=4, priority 0)
	//   gpu=12 stay: needed for the guarantee of root.a, gpu=10 (guarantee)
	// false
	// true
}

// Every task is too large for the guarantee: nobody is taken.
func ExampleEnforcer_Enforce_impossible() {
	c := lab(queue.Config{Name: "a", Guaranteed: gpus(7), Max: gpus(10)})
	train(c, "root.a", 3, 3, 3)
	a, _ := c.Tree().Lookup("root.a")

	enforcer := quota.Enforcer{Cluster: c}
	var o victims.Decision
	check(c.SetMax(a, gpus(8)))
	if err := enforcer.Enforce(&o, a, now); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(o)
	fmt.Println(o.Enforcement.Result, o.Enforcement.Obstacles[0].Rule, len(o.Plan.Victims))
	// Output:
	// root.a uses gpu=9 with a max of gpu=8 (impossible): gpu=1 stay over, and nobody can be taken
	//   to be freed: gpu=1
	//   root.a: asked for gpu=1, gives none
	//   gpu=9 stay: needed for the guarantee of root.a, gpu=7 (guarantee)
	// impossible guarantee 0
}

// A quota is a promise to others, so soft budgets do not stop it: their overrun
// is only told. A hard budget does. What it keeps stays over, if nobody else can
// go instead.
func ExampleEnforcer_Enforce_budgets() {
	c := lab(queue.Config{Name: "a", Max: gpus(10)})
	leaf, _ := c.Tree().Lookup("root.a")
	check(c.SetBudget("web", victims.Budget{Left: 1}))
	for _, key := range []string{"web-1", "web-2", "web-3"} {
		_, err := c.AddTask(&victims.Task{Key: key, Queue: leaf, NodeName: "n1", Size: resources.Vector{2}, Budgets: []string{"web"}})
		check(err)
	}
	enforcer := quota.Enforcer{Cluster: c}
	var o victims.Decision
	for _, hard := range []bool{false, true} {
		check(c.SetBudget("web", victims.Budget{Left: 1, Hard: hard}))
		check(c.SetMax(leaf, gpus(2)))
		check(enforcer.Enforce(&o, leaf, now))
		fmt.Print(o)
	}
	// Output:
	// root.a uses gpu=6 with a max of gpu=2 (met): it is within it, once these have stopped
	//   to be freed: gpu=4
	//   root.a: asked for gpu=4, gives gpu=4
	//     web-1 on n1 (gpu=2, priority 0)
	//     web-2 on n1 (gpu=2, priority 0)
	//   soft budgets are overrun by 1
	// root.a uses gpu=6 with a max of gpu=2 (partial): gpu=2 stay over, once these have stopped
	//   to be freed: gpu=4
	//   root.a: asked for gpu=4, gives gpu=2
	//     web-1 on n1 (gpu=2, priority 0)
	//   gpu=4 stay: no more tasks of a hard budget may stop (budget)
}

// check stops an example that is wrong in itself.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A share of the target may stay, or an amount of each type.
func ExampleSlack() {
	slack := quota.Slack{Share: resources.Share{Amount: 1, Of: 20}, Amounts: resources.Vector{2}}
	for _, short := range []int64{2, 3, 5, 6} {
		fmt.Println(short, slack.Allows(resources.Vector{short}, resources.Vector{100}))
	}
	// Output:
	// 2 true
	// 3 true
	// 5 true
	// 6 false
}

// How a target is shared out among queues of one's own. The third has nothing of memory to spare.
func ExampleParts() {
	schema, _ := resources.NewSchema("cpu", "memory")
	target, _ := schema.Parse("cpu=10 memory=9Gi")
	teams := []struct{ name, spare string }{{"vision", "cpu=8 memory=8Gi"}, {"speech", "cpu=24 memory=16Gi"}, {"web", "cpu=1"}}
	var spare []resources.Vector
	for _, team := range teams {
		v, err := schema.Parse(team.spare)
		check(err)
		spare = append(spare, v)
	}
	for i, part := range quota.Parts(nil, target, spare) {
		fmt.Println(teams[i].name, schema.Format(part))
	}
	// Output:
	// vision cpu=2.424 memory=3Gi
	// speech cpu=7.273 memory=6Gi
	// web cpu=0.303
}

// An auditor judges decisions, whoever made them.
func ExampleEnforcer_audit() {
	c := lab(queue.Config{Name: "a", Guaranteed: gpus(3)})
	train(c, "root.a", 2, 2, 1)
	a, _ := c.Tree().Lookup("root.a")
	enforcer := quota.Enforcer{Cluster: c}
	var o victims.Decision
	check(c.SetMax(a, gpus(3)))
	if err := enforcer.Enforce(&o, a, now); err != nil {
		fmt.Println(err)
		return
	}
	auditor := victims.Auditor{Cluster: c}
	fmt.Println(len(auditor.Audit(nil, &o, o.Plan.At)))

	id, _ := c.Lookup("a-2")
	o.Plan.Victims = append(o.Plan.Victims, victims.Victim{Task: id, Key: "a-2"})
	for _, v := range auditor.Audit(nil, &o, o.Plan.At) {
		fmt.Println(v)
	}
	// Output:
	// 0
	// freed: gpu 2 said to be freed, want what the victims have, 4
	// guarantee (law 2): root.a: gpu 1 after the plan, want at least 3
	// minimal: victim a-1: can be given back
	// minimal: victim a-2: can be given back
	// leaf: root.a: not so many victims
	// leaf: root.a: gpu 2 said to be freed, want what its victims have, 4
}
