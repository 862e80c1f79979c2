// SPDX-License-Identifier: Apache-2.0

package queue_test

import (
	"fmt"
	"log"

	"github.com/go-preempt/preempt/queue"
)

// The first task of a user makes a queue, which takes what it does not set from
// the template of the queue above.
func ExampleConfig_Add() {
	schema := cpu()
	root := queue.Config{Name: "root", Children: []queue.Config{{
		Name: "users", Children: []queue.Config{{Name: "ann"}},
		Template: &queue.Template{Guaranteed: limit(schema, "2"), Max: limit(schema, "8")},
	}}}
	if err := root.Add("root.users", queue.Config{Name: "bob", Max: limit(schema, "4")}); err != nil {
		log.Fatal(err)
	}
	tree, err := queue.New(schema, root, queue.Strict)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(tree)
	// Output:
	// root    used none
	//   users used none
	//     ann used none
	//     bob used none guaranteed cpu=2 max cpu=4
}

// A queue comes and another goes at run time: the usage moves to a new tree, by
// the names of the leaves.
func ExampleMove() {
	schema := cpu()
	build := func(leaves ...string) *queue.Tree {
		root := queue.Config{Name: "root"}
		for _, name := range leaves {
			root.Children = append(root.Children, queue.Config{Name: name})
		}
		tree, err := queue.New(schema, root, queue.Strict)
		if err != nil {
			log.Fatal(err)
		}
		return tree
	}
	old := build("web", "batch", "idle")
	use(old, "root.web", "3")
	use(old, "root.batch", "5")

	// What is used cannot go.
	move, err := queue.NewMove(old, build("web", "lab"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(move.Usage())

	tree := build("lab", "batch", "web")
	if move, err = queue.NewMove(old, tree); err != nil {
		log.Fatal(err)
	}
	for q := range move.Gone() {
		fmt.Println("gone:", old.Path(q))
	}
	if err := move.Usage(); err != nil {
		log.Fatal(err)
	}
	fmt.Print(tree)
	// Output:
	// queue: root.batch: the leaf is gone: used cpu=5
	// gone: root.idle
	// root    used cpu=8
	//   lab   used none
	//   batch used cpu=5
	//   web   used cpu=3
}
