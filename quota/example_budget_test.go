// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A quota is a promise to others, so soft budgets do not stop it: their overrun
// is only told. A hard budget does. What it keeps stays over, if nobody else can
// go instead.
func ExampleEnforcer_Enforce_budgets() {
	c := lab(queue.Config{Name: "a", Max: gpus(10)})
	leaf, _ := c.Tree().Lookup("root.a")
	check(c.SetBudget("web", victims.Budget{Left: 1}))
	for _, key := range []string{"web-1", "web-2", "web-3"} {
		_, err := c.AddTask(&victims.Task{Key: key, Queue: leaf, Size: resources.Vector{2}, Budgets: []string{"web"}})
		check(err)
	}
	enforcer := quota.Enforcer{Cluster: c}
	var o quota.Outcome
	for _, hard := range []bool{false, true} {
		check(c.SetBudget("web", victims.Budget{Left: 1, Hard: hard}))
		check(enforcer.Enforce(&o, quota.Quota{Queue: leaf, Max: gpus(2)}, now))
		fmt.Print(o.Describe(c))
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
