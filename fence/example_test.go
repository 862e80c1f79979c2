// SPDX-License-Identifier: Apache-2.0

package fence_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

func newTree(root queue.Config) *queue.Tree {
	schema, err := resources.NewSchema("cpu")
	if err != nil {
		log.Fatal(err)
	}
	tree, err := queue.New(schema, root)
	if err != nil {
		log.Fatal(err)
	}
	return tree
}

// The fence picture. Both tenants are fenced, and so is queue A, so that the
// asks of A reach no one, those of the tenants only their own kind, and those of
// the system everyone. No fence keeps another queue from looking in.
func Example() {
	fenced := queue.Policies{Preemption: queue.Fence}
	tree := newTree(queue.Config{Name: "root", Children: []queue.Config{
		{Name: "tenant1", Policies: fenced, Children: []queue.Config{
			{Name: "A", Policies: fenced},
			{Name: "B"},
			{Name: "C"},
		}},
		{Name: "tenant2", Policies: fenced, Children: []queue.Config{
			{Name: "Q1"},
			{Name: "Q2"},
		}},
		{Name: "system"},
	}})

	for leaf := range tree.Leaves(queue.Root) {
		var reach []string
		for w := range fence.Reach(tree, leaf) {
			reach = append(reach, last(tree.Path(w)))
		}
		if len(reach) == 0 {
			reach = []string{"no one"}
		}
		fmt.Printf("%-6s below %-14s reaches %s\n", last(tree.Path(leaf)), tree.Path(fence.Root(tree, leaf)), strings.Join(reach, " "))
	}
	// Output:
	// A      below root.tenant1.A reaches no one
	// B      below root.tenant1   reaches A C
	// C      below root.tenant1   reaches A B
	// Q1     below root.tenant2   reaches Q2
	// Q2     below root.tenant2   reaches Q1
	// system below root           reaches A B C Q1 Q2
}

// last returns the own name of the queue of a path.
func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// offices is a tree in which the tasks of an office are worth more than others,
// and those of the lab all the same.
func offices() *queue.Tree {
	return newTree(queue.Config{Name: "root", Children: []queue.Config{
		{Name: "office", Policies: queue.Policies{PriorityOffset: new(int32(100))}, Children: []queue.Config{
			{Name: "web"},
			{Name: "mail"},
		}},
		{Name: "lab", Policies: queue.Policies{PriorityFence: "fence", PriorityOffset: new(int32(50))}},
	}})
}

// Priorities are compared below the lowest common ancestor of two leaves.
func ExampleRank_sign() {
	tree := offices()
	web, _ := tree.Lookup("root.office.web")
	mail, _ := tree.Lookup("root.office.mail")
	lab, _ := tree.Lookup("root.lab")
	fmt.Println(fence.Rank(tree, fence.Priority{Leaf: web, Raw: 1}, fence.Priority{Leaf: mail, Raw: 2}))
	fmt.Println(fence.Rank(tree, fence.Priority{Leaf: web, Raw: 1}, fence.Priority{Leaf: lab, Raw: 2000}))
	fmt.Println(fence.Rank(tree, fence.Priority{Leaf: web, Raw: -50}, fence.Priority{Leaf: lab, Raw: 2000}))
	// Output:
	// -1
	// 51
	// 0
}

// To order tasks of several leaves, take their ranks against one ask.
func ExampleRank() {
	tree := offices()
	lab, _ := tree.Lookup("root.lab")
	ask := fence.Priority{Leaf: lab, Raw: 7}
	for w := range tree.Leaves(queue.Root) {
		for _, priority := range []int32{-51, -50, 0} {
			fmt.Printf("%s, priority %d: rank %d\n", tree.Path(w), priority, fence.Rank(tree, fence.Priority{Leaf: w, Raw: priority}, ask))
		}
	}
	// Output:
	// root.office.web, priority -51: rank -1
	// root.office.web, priority -50: rank 0
	// root.office.web, priority 0: rank 50
	// root.office.mail, priority -51: rank -1
	// root.office.mail, priority -50: rank 0
	// root.office.mail, priority 0: rank 50
	// root.lab, priority -51: rank -58
	// root.lab, priority -50: rank -57
	// root.lab, priority 0: rank -7
}

// A fence keeps the asks of a tenant in, and lets others look in. What is
// disabled is protected from all.
func ExampleReach() {
	tree := newTree(queue.Config{Name: "root", Children: []queue.Config{
		{Name: "tenant", Policies: queue.Policies{Preemption: queue.Fence}, Children: []queue.Config{{Name: "x"}, {Name: "y"}}},
		{Name: "system", Policies: queue.Policies{Preemption: queue.Disabled}},
		{Name: "batch"},
	}})
	for _, path := range []string{"root.tenant.x", "root.system"} {
		leaf, _ := tree.Lookup(path)
		fmt.Println(path, "below", tree.Path(fence.Root(tree, leaf)))
		for w := range fence.Reach(tree, leaf) {
			fmt.Println("  may take from", tree.Path(w))
		}
	}
	// Output:
	// root.tenant.x below root.tenant
	//   may take from root.tenant.y
	// root.system below root
	//   may take from root.tenant.x
	//   may take from root.tenant.y
	//   may take from root.batch
}
