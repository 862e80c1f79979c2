// SPDX-License-Identifier: Apache-2.0

package queue_test

import (
	"fmt"
	"log"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// tenants are three teams that share 12 gpus by their weights. The first one is
// guaranteed 2 whatever the others want.
func tenants(schema *resources.Schema) *queue.Tree {
	bound := func(amounts map[string]string) resources.Limit {
		l, err := schema.Limit(amounts)
		if err != nil {
			log.Fatal(err)
		}
		return l
	}
	weight := func(w string) map[string]string { return map[string]string{"fair.weight": w} }
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "vision", Properties: weight("1"), Guaranteed: bound(map[string]string{"gpu": "2"})},
		{Name: "speech", Properties: weight("3"), Children: []queue.Config{{Name: "train"}, {Name: "serve"}}},
		{Name: "lab", Properties: weight("1"), Max: bound(map[string]string{"gpu": "4"})},
	}})
	if err != nil {
		log.Fatal(err)
	}
	return tree
}

// A leaf demands what runs there and what waits. Of gpus there are too few, and
// they are scarce. Of memory there is enough for all.
func ExampleFairShares() {
	schema, err := resources.NewSchema("gpu", "memory")
	if err != nil {
		log.Fatal(err)
	}
	tree := tenants(schema)
	demand := make([]resources.Vector, tree.Len())
	for path, amounts := range map[string]resources.Vector{
		"root.vision":       {8, 8 << 30},
		"root.speech.train": {9, 9 << 30},
		"root.speech.serve": {1, 4 << 30},
		"root.lab":          {6, 6 << 30},
	} {
		leaf, _ := tree.Lookup(path)
		demand[leaf] = amounts
	}
	capacity := resources.Limit{Value: resources.Vector{12, 64 << 30}, Defined: 0b11}

	var shares queue.FairShares
	if err := shares.Divide(tree, demand, capacity); err != nil {
		log.Fatal(err)
	}
	scarce, err := queue.Scarce(tree, demand, capacity)
	if err != nil {
		log.Fatal(err)
	}
	for i := range scarce.All() {
		fmt.Println("scarce:", schema.Name(i))
	}
	for q := range queue.ID(tree.Len()) {
		fmt.Printf("%-17s %s\n", tree.Path(q), schema.FormatLimit(shares.Of(q)))
	}
	// Output:
	// scarce: gpu
	// root              gpu=12 memory=27Gi
	// root.vision       gpu=4 memory=8Gi
	// root.speech       gpu=6 memory=13Gi
	// root.speech.train gpu=5 memory=9Gi
	// root.speech.serve gpu=1 memory=4Gi
	// root.lab          gpu=2 memory=6Gi
}

// One leaf wants more or less from now on: change its demand and divide again.
// Nothing is allocated, and a thousand queues take less than a millisecond.
func ExampleFairShares_Divide() {
	schema, _ := resources.NewSchema("gpu")
	tree := tenants(schema)
	vision, _ := tree.Lookup("root.vision")
	train, _ := tree.Lookup("root.speech.train")
	lab, _ := tree.Lookup("root.lab")
	demand := make([]resources.Vector, tree.Len())
	demand[vision], demand[train], demand[lab] = resources.Vector{8}, resources.Vector{9}, resources.Vector{6}
	capacity := resources.Limit{Value: resources.Vector{12}, Defined: 1}

	var shares queue.FairShares
	show := func(what string) {
		if err := shares.Divide(tree, demand, capacity); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: vision %d, train %d, lab %d\n", what,
			shares.Of(vision).Value[0], shares.Of(train).Value[0], shares.Of(lab).Value[0])
	}
	show("at first")
	demand[train] = resources.Vector{3}
	show("train needs 3 only")
	demand[vision] = resources.Vector{1}
	show("and vision 1")
	// Output:
	// at first: vision 4, train 6, lab 2
	// train needs 3 only: vision 6, train 3, lab 3
	// and vision 1: vision 1, train 3, lab 4
}

// Plans are made with a clone of the tree, in which the leaves are guaranteed
// their shares of what is scarce.
func ExampleFairShares_SetGuarantees() {
	schema, _ := resources.NewSchema("gpu", "memory")
	tree := tenants(schema)
	demand := make([]resources.Vector, tree.Len())
	for leaf := range tree.Leaves(queue.Root) {
		demand[leaf] = resources.Vector{5, 1 << 30}
	}
	var shares queue.FairShares
	if err := shares.Divide(tree, demand, resources.Limit{Value: resources.Vector{12, 64 << 30}, Defined: 0b11}); err != nil {
		log.Fatal(err)
	}
	planned := tree.Clone()
	if err := shares.SetGuarantees(planned); err != nil {
		log.Fatal(err)
	}
	fmt.Print(planned)
	// Output:
	// root      used none
	//   vision  used none guaranteed gpu=4
	//   speech  used none
	//     train used none guaranteed gpu=3
	//     serve used none guaranteed gpu=3
	//   lab     used none guaranteed gpu=2 max gpu=4
}

// Demand comes and goes all the time. Divide again, and set only the guarantees
// that differ: those that shrink first, since a max above may have no room for
// both the old ones and the new.
func ExampleFairShares_incremental() {
	schema, _ := resources.NewSchema("gpu")
	tree := tenants(schema)
	vision, _ := tree.Lookup("root.vision")
	train, _ := tree.Lookup("root.speech.train")
	serve, _ := tree.Lookup("root.speech.serve")
	lab, _ := tree.Lookup("root.lab")
	demand := make([]resources.Vector, tree.Len())
	demand[vision], demand[train], demand[serve], demand[lab] = resources.Vector{8}, resources.Vector{6}, resources.Vector{6}, resources.Vector{1}
	capacity := resources.Limit{Value: resources.Vector{12}, Defined: 1}

	planned := tree.Clone()
	var shares queue.FairShares
	follow := func(what string) {
		if err := shares.Divide(tree, demand, capacity); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s:", what)
		for _, growing := range []bool{false, true} {
			for leaf := range planned.Leaves(queue.Root) {
				old, now := planned.Guaranteed(leaf), shares.Guarantee(leaf)
				if old.Equal(now) || growing != (now.Value.At(0) > old.Value.At(0)) {
					continue
				}
				if err := planned.SetGuaranteed(leaf, now); err != nil {
					log.Fatal(err)
				}
				fmt.Printf(" %s %d", tree.Path(leaf), now.Value[0])
			}
		}
		fmt.Println()
	}
	follow("at first")
	demand[lab] = resources.Vector{2}
	follow("the lab wants one more")
	demand[serve] = resources.Vector{7}
	follow("so does serve, which has its share")
	// Output:
	// at first: root.vision 4 root.speech.train 4 root.speech.serve 3 root.lab 1
	// the lab wants one more: root.speech.train 3 root.lab 2
	// so does serve, which has its share:
}

// A tenant is guaranteed 8 GPUs, and its leaves nothing, so that they do not preempt each
// other. Dividing the tenant's guarantee gives each leaf its share of what they want. The
// branch is a tree of its own for that, and the guarantee its capacity.
func ExampleFairShares_branch() {
	schema, _ := resources.NewSchema("gpu")
	eight, _ := schema.ParseLimit("gpu=8")
	branch := queue.Config{Name: "research", Guaranteed: eight, Children: []queue.Config{
		{Name: "notebooks"}, {Name: "training", Properties: map[string]string{"fair.weight": "3"}},
	}}
	tree, err := queue.New(schema, branch)
	if err != nil {
		log.Fatal(err)
	}
	notebooks, _ := tree.Lookup("research.notebooks")
	training, _ := tree.Lookup("research.training")
	demand := make([]resources.Vector, tree.Len())
	demand[notebooks], demand[training] = resources.Vector{8}, resources.Vector{12}

	var shares queue.FairShares
	if err := shares.Divide(tree, demand, branch.Guaranteed); err != nil {
		log.Fatal(err)
	}
	branch.Children[0].Guaranteed, branch.Children[1].Guaranteed = shares.Guarantee(notebooks), shares.Guarantee(training)

	cluster, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{branch, {Name: "others"}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(cluster)
	// Output:
	// root          used none
	//   research    used none guaranteed gpu=8
	//     notebooks used none guaranteed gpu=2
	//     training  used none guaranteed gpu=6
	//   others      used none
}

// Which guarantees should count? Those of types of which there is not enough for all that
// runs and waits.
func ExampleScarce() {
	schema, err := resources.NewSchema("gpu", "memory")
	if err != nil {
		log.Fatal(err)
	}
	tree := tenants(schema)
	demand := make([]resources.Vector, tree.Len())
	for path, amounts := range map[string]resources.Vector{
		"root.vision": {8, 8 << 30}, "root.speech.train": {9, 9 << 30}, "root.lab": {6, 6 << 30},
	} {
		leaf, _ := tree.Lookup(path)
		demand[leaf] = amounts
	}
	scarce, err := queue.Scarce(tree, demand, resources.Limit{Value: resources.Vector{12, 64 << 30}, Defined: 0b11})
	if err != nil {
		log.Fatal(err)
	}
	for i := range scarce.All() {
		fmt.Println("scarce:", schema.Name(i)) // for victims.Options.Scarce
	}
	// Output:
	// scarce: gpu
}
