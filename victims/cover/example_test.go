// SPDX-License-Identifier: Apache-2.0

package cover_test

import (
	"fmt"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// Two of the three tasks make room, but their queue may lose one only.
func ExampleWorker_Greedy() {
	task := func(key string, bounds ...int32) cover.Unit {
		return cover.Unit{Key: key, Size: resources.Vector{2}, Levels: cover.Levels{1}, Needs: []int32{0}, Bounds: bounds}
	}
	p := &cover.Problem{
		Needs:  []resources.Vector{{4}},
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
