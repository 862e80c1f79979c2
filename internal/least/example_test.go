// SPDX-License-Identifier: Apache-2.0

package least

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/cost"
)

// The nodes of the documentation.
func Example() {
	const priority, victims = 0, 1
	order := cost.Order{Max: 1 << priority, Count: victims}
	units := func(count, p int64, size ...int64) Row {
		return Row{Levels: cost.Levels{priority: p, victims: 1}, Size: size, Gives: size, Count: count}
	}
	nodes := []struct {
		name string
		rows []Row
	}{
		{"a", []Row{units(2, 0, 3, 0)}},
		{"b", []Row{units(2, 5, 4, 4)}},
		{"c", []Row{units(4, 0, 3, 1), units(4, 0, 1, 3)}},
		{"c of one kind", []Row{units(8, 0, 3, 1)}},
	}
	for _, incumbent := range []int64{2, 3} {
		fmt.Printf("an incumbent of %d victims\n", incumbent)
		for _, n := range nodes {
			need := []int64{4, 4}
			p := &Problem{Need: need, Typ: []int32{0, 1}, Rows: n.rows, Wanted: need}
			best := Best{Found: true, Node: 9, Total: cost.Total{Levels: cost.Levels{victims: incumbent}}}
			s := Search{Host: single{}, Keys: single{}, Order: &order, Meter: &Meter{Left: 1 << 20}, Capacity: []int64{100, 100}, Best: &best}
			s.Pose(p)
			s.Lesser = true
			l := &s.ladder
			switch told := !s.climb(p, glance); {
			case !told && !s.climb(p, seek):
				open := l.weigh([]int64{1, 3})
				fmt.Printf("  %s: out at 1 for a CPU and 3 for a GB: %d needed, a unit is worth %d\n", n.name, open, l.worth[0])
			case !told:
				a := s.Solve(p, &best.Total, nil, 100)
				fmt.Printf("  %s: solved, %v, %d victims\n", n.name, a.Taken, a.Total.Units)
			case l.rungs == 0:
				fmt.Printf("  %s: out, all together give %v\n", n.name, l.sum)
			default:
				fmt.Printf("  %s: out by priority %d, %d victims\n", n.name, l.levels[priority], l.levels[victims])
			}
		}
	}
	// Output:
	// an incumbent of 2 victims
	//   a: out, all together give [6 0]
	//   b: out by priority 5, 0 victims
	//   c: out by priority 0, 2 victims
	//   c of one kind: out by priority 0, 2 victims
	// an incumbent of 3 victims
	//   a: out, all together give [6 0]
	//   b: out by priority 5, 0 victims
	//   c: solved, [1 1], 2 victims
	//   c of one kind: out at 1 for a CPU and 3 for a GB: 16 needed, a unit is worth 6
}
