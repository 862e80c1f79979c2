// SPDX-License-Identifier: Apache-2.0

package cover_test

import (
	"fmt"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// Which containers of one node should stop, so that 4 cpu are free? The order
// here is the caller's own: the lowest highest priority, then the fewest.
func ExampleWorker_Least() {
	const (
		priority = iota
		count
	)
	unit := func(key string, cpu, prio int64) cover.Unit {
		return cover.Unit{
			Key:    key,
			Size:   resources.Vector{cpu},
			Levels: cover.Levels{priority: prio, count: 1},
			Needs:  []int32{0},
		}
	}
	p := &cover.Problem{
		Needs: []cover.Need{{Short: resources.Vector{4}}},
		Units: []cover.Unit{
			unit("database", 6, 100),
			unit("batch-1", 1, 5),
			unit("batch-2", 3, 5),
			unit("batch-3", 2, 5),
			unit("batch-4", 2, 1),
		},
		Order:    cover.Order{Max: 1 << priority, Count: count},
		Wanted:   resources.Vector{4},
		Capacity: resources.Vector{16},
	}
	var w cover.Worker
	var s cover.Selection
	w.Least(&s, p, 1<<16)
	for _, i := range s.Units {
		fmt.Println(p.Units[i].Key)
	}
	fmt.Println("excess", s.Total.Excess, "proven", s.Proven)
	// Output:
	// batch-1
	// batch-2
	// excess 0/16 proven true
}

// Two of the three tasks make room, but their queue may lose one only.
func ExampleWorker_Greedy() {
	task := func(key string, bounds ...int32) cover.Unit {
		return cover.Unit{Key: key, Size: resources.Vector{2}, Levels: cover.Levels{1}, Needs: []int32{0}, Bounds: bounds}
	}
	p := &cover.Problem{
		Needs:  []cover.Need{{Short: resources.Vector{4}}},
		Bounds: []cover.Bound{{Room: resources.Limit{Value: resources.Vector{3}, Defined: 1}}},
		Units:  []cover.Unit{task("a", 0), task("b", 0), task("c")},
	}
	var w cover.Worker
	var s cover.Selection
	w.Greedy(&s, p)
	for _, i := range s.Units {
		fmt.Println(p.Units[i].Key)
	}
	// Output:
	// a
	// c
}
