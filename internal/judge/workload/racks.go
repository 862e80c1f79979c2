// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Racks returns full nodes of 8 devices, dealt out to racks in turn. In the queue
// root.batch run tasks of 4, 2 and 1 devices, of ten priorities, in gangs of one
// task each on four neighbours. Nothing is in root.train.
func Racks(nodes, racks int) *victims.Cluster {
	schema, err := resources.NewSchema("gpu")
	must(err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "batch"}, {Name: "train"}}})
	must(err)
	c := victims.NewCluster(tree)
	batch, _ := tree.Lookup("root.batch")
	next := uint32(1)
	draw := func(n uint32) uint32 { // the generator of Numerical Recipes
		next = next*1664525 + 1013904223
		return next >> 8 % n
	}
	for n := range nodes {
		id, err := c.AddNode(&victims.Node{
			Name: fmt.Sprintf("n%d", n), Capacity: resources.Vector{8}, Domains: []string{fmt.Sprintf("rack-%d", n%racks)},
		})
		must(err)
		for i, left := 0, int64(8); left > 0; i++ {
			size := min([]int64{4, 2, 1, 4}[draw(4)], left)
			left -= size
			_, err := c.AddTask(&victims.Task{
				Key: fmt.Sprintf("t-%d-%d", n, i), Queue: batch, Node: id, Size: resources.Vector{size},
				Priority: int32(draw(10)), Scheduled: Now.Add(-time.Hour), Job: fmt.Sprintf("j-%d-%d", n/4, i),
			})
			must(err)
		}
	}
	return c
}
