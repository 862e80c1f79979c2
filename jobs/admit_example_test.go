// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A queue has a min of 10 gpus for the non-preemptible and a max of 20 in all.
// 8 are used by preemptible tasks, and 6 are asked for by non-preemptible ones
// that wait: those are withheld.
func ExampleLedger_Admit() {
	schema, err := resources.NewSchema("gpu")
	if err != nil {
		panic(err)
	}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}}})
	if err != nil {
		panic(err)
	}
	a, _ := tree.Lookup("root.a")
	quotas := jobs.NewAllowances(tree)
	if err := quotas.Set(a, jobs.Allowance{
		Min:     resources.Limit{Value: resources.Vector{10}, Defined: 1},
		Max:     resources.Limit{Value: resources.Vector{20}, Defined: 1},
		Waiting: resources.Vector{6},
	}); err != nil {
		panic(err)
	}
	cluster := victims.NewCluster(tree)
	node, err := cluster.AddNode(&victims.Node{Name: "n"})
	if err != nil {
		panic(err)
	}
	if _, err := cluster.AddTask(&victims.Task{Key: "t", Queue: a, Node: node, Size: resources.Vector{8}}); err != nil {
		panic(err)
	}

	ledger := jobs.Ledger{Cluster: cluster, Allowances: quotas}
	ledger.Read(a)
	for _, claim := range []jobs.Claim{
		{Rem: resources.Vector{6}},
		{Rem: resources.Vector{7}},
		{Rem: resources.Vector{10}, NonPreemptible: true},
		{Rem: resources.Vector{11}, NonPreemptible: true},
	} {
		breaches := ledger.Admit(nil, claim)
		fmt.Println(claim.Rem, claim.NonPreemptible, len(breaches) == 0)
		for _, b := range breaches {
			fmt.Println("  " + b.Text(tree))
		}
	}
	// Output:
	// [6] false true
	// [7] false false
	//   preemptible-max: root.a: gpu: 6 withheld for the non-preemptible, 8 used by the preemptible and 7 asked for are above the max of 20 by 1
	// [10] true true
	// [11] true false
	//   non-preemptible-min: root.a: gpu: 0 used by the non-preemptible and 11 asked for are above the min of 10 by 1
}

// Three gpus of a max of 4 are used, and a non-preemptible job asks for 3 more,
// which its min has room for: two must go.
func ExampleAccount_Need() {
	c := victims.NewCluster(quotaTree(check{}))
	_, err := c.AddNode(&victims.Node{Name: "n", Capacity: resources.Vector{0, 9}})
	must(err)
	for _, key := range []string{"v1", "v2", "w"} {
		_, err := c.AddTask(&victims.Task{Key: key, Queue: quotaA1, Node: 1, Size: resources.Vector{0, 1}})
		must(err)
	}
	quotas := jobs.NewAllowances(c.Tree())
	if err := quotas.Set(quotaA, jobs.Allowance{Min: gpus(3), Max: gpus(4)}); err != nil {
		panic(err)
	}
	ledger := jobs.Ledger{Cluster: c, Allowances: quotas}
	ledger.Read(quotaA1)
	claim := jobs.Claim{Rem: resources.Vector{0, 3}, NonPreemptible: true}
	fmt.Println("may preempt:", len(ledger.MayPreempt(nil, claim)) == 0)
	fmt.Println("need:", ledger.Accounts()[0].Need(nil, claim))

	for _, key := range []string{"v1", "w"} {
		id, _ := c.Lookup(key)
		task := c.Task(id)
		ledger.Remove(&task)
	}
	fmt.Println("without v1 and w:", len(ledger.Admit(nil, claim)) == 0)
	// Output:
	// may preempt: true
	// need: [0 2]
	// without v1 and w: true
}
