// SPDX-License-Identifier: Apache-2.0

package queue_test

import (
	"fmt"
	"math"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// Usage over time: who has used much lately has less weight. What was used counts half
// after each day. The weights go into a tree for the division; its shares are the guarantees
// of the next plans.
func ExampleFairShares_usage() {
	schema, _ := resources.NewSchema("gpu")
	used := map[string]float64{"lab": 0, "vision": 0} // gpu-hours that still count
	note := func(team string, gpus int64, hours, age time.Duration) {
		used[team] += float64(gpus) * hours.Hours() * math.Exp2(-age.Hours()/24)
	}
	divide := func() {
		config := queue.Config{Name: "root"}
		for _, team := range []string{"lab", "vision"} {
			weight := fmt.Sprint(1 + int(100_000/(100+used[team])))
			config.Children = append(config.Children, queue.Config{Name: team, Properties: map[string]string{"fair.weight": weight}})
		}
		tree, err := queue.New(schema, config)
		if err != nil {
			panic(err)
		}
		demand := make([]resources.Vector, tree.Len())
		for leaf := range tree.Leaves(queue.Root) {
			demand[leaf] = resources.Vector{16}
		}
		var shares queue.FairShares
		if err := shares.Divide(tree, demand, resources.Limit{Value: resources.Vector{16}, Defined: 1}); err != nil {
			panic(err)
		}
		for leaf := range tree.Leaves(queue.Root) {
			fmt.Println(tree.Path(leaf), schema.FormatLimit(shares.Of(leaf)))
		}
	}
	divide()
	note("vision", 16, 20*time.Hour, 0) // the whole cluster for most of a day
	divide()
	// Output:
	// root.lab gpu=8
	// root.vision gpu=8
	// root.lab gpu=13
	// root.vision gpu=3
}
