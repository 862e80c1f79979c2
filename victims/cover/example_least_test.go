// SPDX-License-Identifier: Apache-2.0

package cover_test

import (
	"fmt"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A container is what some scheduler has for a task.
type container struct {
	name     string
	gpus     int64
	priority int64
}

// stop returns the containers of a node that should stop so that so many GPUs are free. The
// order is the caller's own: the lowest highest priority, then the fewest.
func stop(on []container, gpus int64) (chosen []container, proven bool) {
	const (
		priority = iota
		count
	)
	p := cover.Problem{
		Needs:    []resources.Vector{{gpus}},
		Order:    cover.Order{Max: 1 << priority, Count: count},
		Wanted:   resources.Vector{gpus},
		Capacity: resources.Vector{16},
	}
	for _, c := range on {
		p.Units = append(p.Units, cover.Unit{
			Key:    c.name,
			Size:   resources.Vector{c.gpus},
			Levels: cover.Levels{priority: c.priority, count: 1},
			Needs:  []int32{0},
		})
	}
	var w cover.Worker
	var s cover.Selection
	w.Least(&s, &p, 1<<16)
	for _, i := range s.Units {
		chosen = append(chosen, on[i])
	}
	return chosen, s.Proven
}

// Which containers of another scheduler should stop, so that 4 GPUs are free? One of
// them would do, but has a high priority. Of pairs the one goes that frees nothing more.
func ExampleWorker_Least() {
	chosen, proven := stop([]container{
		{"serve", 6, 100},
		{"sweep-1", 1, 5},
		{"sweep-2", 3, 5},
		{"notebook", 2, 1},
	}, 4)
	for _, c := range chosen {
		fmt.Println(c.name)
	}
	fmt.Println("proven:", proven)
	// Output:
	// sweep-1
	// sweep-2
	// proven: true
}
