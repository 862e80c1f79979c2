package victims_test

import (
	"fmt"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Which containers of one node should stop, so that 4 cpu are free? The order
// here is the caller's own: the lowest highest priority, then the fewest.
func ExampleWorker_Least() {
	const (
		priority = iota
		count
	)
	unit := func(key string, cpu, prio int64) victims.Unit {
		return victims.Unit{
			Key:    key,
			Size:   resources.Vector{cpu},
			Levels: victims.Levels{priority: prio, count: 1},
			Needs:  []int32{0},
		}
	}
	p := &victims.Problem{
		Needs: []victims.Need{{Short: resources.Vector{4}}},
		Units: []victims.Unit{
			unit("database", 6, 100),
			unit("batch-1", 1, 5),
			unit("batch-2", 3, 5),
			unit("batch-3", 2, 5),
			unit("batch-4", 2, 1),
		},
		Order:    victims.Order{Max: 1 << priority, Count: count},
		Wanted:   resources.Vector{4},
		Capacity: resources.Vector{16},
	}
	var w victims.Worker
	var s victims.Selection
	w.Least(&s, p, victims.DefaultSteps)
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
	task := func(key string, bounds ...int32) victims.Unit {
		return victims.Unit{Key: key, Size: resources.Vector{2}, Levels: victims.Levels{1}, Needs: []int32{0}, Bounds: bounds}
	}
	p := &victims.Problem{
		Needs:  []victims.Need{{Short: resources.Vector{4}}},
		Bounds: []victims.Bound{{Room: resources.Limit{Value: resources.Vector{3}, Defined: 1}}},
		Units:  []victims.Unit{task("a", 0), task("b", 0), task("c")},
	}
	var w victims.Worker
	var s victims.Selection
	w.Greedy(&s, p)
	for _, i := range s.Units {
		fmt.Println(p.Units[i].Key)
	}
	// Output:
	// a
	// c
}
