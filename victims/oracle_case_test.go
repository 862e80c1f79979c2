// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
)

// Cases in which a planner that leaves out too much goes wrong. The ask of
// root.p.b starves below root.p, of which a max may be short; root.c is outside.
func TestOracleOnCases(t *testing.T) {
	type amounts = world.Amounts
	cpu := func(v int64) amounts { return amounts{"cpu": v} }
	task := func(key, leaf, node string, size amounts) world.Task {
		return world.Task{Key: key, Application: "app", Queue: leaf, Node: node, Size: size}
	}
	since := func(t world.Task, age time.Duration) world.Task {
		t.Scheduled = world.Epoch.Add(-age)
		return t
	}
	tree := func(root, p, b, c world.Queue) world.Queue {
		root.Name, p.Name, b.Name, c.Name = "root", "p", "b", "c"
		p.Children = []world.Queue{{Name: "a"}, b}
		root.Children = []world.Queue{p, c}
		return root
	}
	type queue = world.Queue
	for _, tt := range []struct {
		name  string
		root  queue
		nodes []world.Node
		tasks []world.Task
		size  amounts
		node  string
		stops []string
	}{
		{
			// What c2 uses of the root's guarantee must not be taken off what
			// a1 and a2 may use, for c2 makes no headroom.
			name: "bounded by what others may use",
			root: tree(queue{Guaranteed: amounts{"memory": 3}}, queue{Max: amounts{"memory": 2}},
				queue{Guaranteed: amounts{"cpu": 1, "memory": 1}}, queue{}),
			nodes: []world.Node{
				{Name: "n1", Capacity: amounts{"cpu": 4, "memory": 3}},
				{Name: "n2", Capacity: amounts{"cpu": 1, "memory": 2}},
			},
			tasks: []world.Task{
				task("a1", "root.p.a", "n1", amounts{"cpu": 1, "memory": 1}),
				task("a2", "root.p.a", "n1", amounts{"memory": 1}),
				task("c1", "root.c", "n1", amounts{"cpu": 1}),
				task("c2", "root.c", "n1", amounts{"cpu": 1, "memory": 1}),
				task("c3", "root.c", "n1", amounts{"cpu": 1}),
			},
			size: amounts{"cpu": 1, "memory": 2}, node: "n1", stops: []string{"a1", "a2"},
		},
		{
			name:  "headroom from a larger task elsewhere",
			root:  tree(queue{}, queue{Max: cpu(5)}, queue{Guaranteed: cpu(9)}, queue{}),
			nodes: []world.Node{{Name: "n1", Capacity: cpu(4)}, {Name: "n2", Capacity: cpu(4), Unschedulable: true}},
			tasks: []world.Task{task("v", "root.p.a", "n2", cpu(4)), task("w", "root.c", "n1", cpu(3))},
			size:  cpu(2), node: "n1", stops: []string{"v", "w"},
		},
		{
			name:  "headroom from three that are alike",
			root:  tree(queue{}, queue{Max: cpu(8)}, queue{Guaranteed: cpu(9)}, queue{}),
			nodes: []world.Node{{Name: "n1", Capacity: cpu(5)}, {Name: "n2", Capacity: cpu(8), Unschedulable: true}},
			tasks: []world.Task{
				task("v1", "root.p.a", "n2", cpu(2)), task("v2", "root.p.a", "n2", cpu(2)),
				task("v3", "root.p.a", "n2", cpu(2)), task("v4", "root.p.a", "n2", cpu(2)),
				task("w", "root.c", "n1", cpu(5)),
			},
			size: cpu(5), node: "n1", stops: []string{"v1", "v2", "v3", "w"},
		},
		{
			name: "alike but for the queue's offset",
			root: tree(queue{}, queue{}, queue{Guaranteed: cpu(1)},
				queue{Properties: map[string]string{"priority.offset": "-1"}}),
			nodes: []world.Node{{Name: "n1", Capacity: cpu(2)}},
			tasks: []world.Task{
				since(task("v1", "root.p.a", "n1", cpu(1)), time.Minute),
				since(task("v2", "root.c", "n1", cpu(1)), time.Minute),
			},
			size: cpu(1), node: "n1", stops: []string{"v2"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &world.Case{
				World:   world.World{Types: []string{"cpu", "memory"}, Root: tt.root, Nodes: tt.nodes, Tasks: tt.tasks},
				Ask:     world.Ask{Key: "x", Application: "app-x", Queue: "root.p.b", Size: tt.size},
				Options: world.Options{Now: world.Epoch},
			}
			want := oracle.Decide(c)
			if want.Node != tt.node || !slices.Equal(want.Cost.Keys, tt.stops) {
				t.Fatalf("oracle: %v on %q\n%v", want.Cost.Keys, want.Node, c)
			}
			for _, exhaustive := range []bool{false, true} {
				planner := world.PlannerOf(build(t, &c.World), &c.Options)
				planner.Exhaust(exhaustive)
				compare(t, c, planner, want, fmt.Sprintf("exhaustive %v", exhaustive))
			}
		})
	}
}
