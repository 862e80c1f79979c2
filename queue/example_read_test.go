// SPDX-License-Identifier: Apache-2.0

package queue_test

import (
	"fmt"
	"log"

	"github.com/go-preempt/preempt/queue"
)

// Try something on a copy of the tree, and leave the tree as it is.
func ExampleTree_Clone() {
	tree := company(cpu())
	use(tree, "root.data", "6")
	trial := tree.Clone()
	use(trial, "root.data", "2")

	data, _ := tree.Lookup("root.data")
	fmt.Println("tree: ", tree.Schema().Format(tree.Usage(data)))
	fmt.Println("trial:", tree.Schema().Format(trial.Usage(data)))
	// Output:
	// tree:  cpu=6
	// trial: cpu=8
}

// A path begins with the root's own name.
func ExampleTree_Lookup() {
	tree := company(cpu())
	for _, path := range []string{"root", "root.web.shop", "web.shop", "root.web.", "root.sales"} {
		q, ok := tree.Lookup(path)
		fmt.Printf("%q %d %v\n", path, q, ok)
	}
	// Output:
	// "root" 0 true
	// "root.web.shop" 2 true
	// "web.shop" 0 false
	// "root.web." 0 false
	// "root.sales" 0 false
}

// A tree is built even if some of what it says cannot be as it is meant.
func ExampleTree_Warnings() {
	schema := cpu()
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "tenant", Guaranteed: limit(schema, "8"),
			Properties: map[string]string{"preemption.policy": "fence"},
			Children:   []queue.Config{{Name: "batch"}, {Name: "web"}}},
		{Name: "lab", Properties: map[string]string{"priority.ofset": "10"}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, warning := range tree.Warnings() {
		fmt.Println(warning)
	}
	// Output:
	// queue: root.tenant: can never preempt inside itself: preemption.policy is fence, and no queue below has a guarantee
	// queue: root.lab: bad property: priority.ofset "10": unknown property
}

// A queue enforces a lowered max after its own delay. The delay is not inherited.
func ExampleTree_Policies() {
	tree, err := queue.New(cpu(), queue.Config{Name: "root", Children: []queue.Config{
		{Name: "duration", Properties: map[string]string{"quota.preemption.delay": "5m"},
			Children: []queue.Config{{Name: "below"}}},
		{Name: "seconds", Properties: map[string]string{"quota.preemption.delay": "90"}},
		{Name: "off"},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for q := range queue.ID(tree.Len()) {
		if d := *tree.Policies(q).QuotaDelay; d > 0 {
			fmt.Println(tree.Path(q), "after", d)
		} else {
			fmt.Println(tree.Path(q), "never")
		}
	}
	// Output:
	// root never
	// root.duration after 5m0s
	// root.duration.below never
	// root.seconds after 1m30s
	// root.off never
}
