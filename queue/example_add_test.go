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
		Template: &queue.Config{Guaranteed: limit(schema, "2"), Max: limit(schema, "8")},
	}}}
	if err := root.Add("root.users", queue.Config{Name: "bob", Max: limit(schema, "4")}); err != nil {
		log.Fatal(err)
	}
	tree, err := queue.New(schema, root)
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
