// SPDX-License-Identifier: Apache-2.0

package fence_test

import (
	"cmp"
	"fmt"
	"log"
	"slices"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A pod is what some scheduler has for a task. Nothing below needs another type.
type pod struct {
	name     string
	team     string // the path of its queue
	size     resources.Vector
	priority int32
}

// stops returns pods that may stop so that the ask has its size, the least
// important first, or nil. It looks at queues only: a whole planner, which knows
// nodes and finds the cheapest set, is in package victims.
func stops(tree *queue.Tree, running []pod, ask pod, user resources.Limit) []pod {
	leaf, _ := tree.Lookup(ask.team)

	// Neither a max of the path nor the user's own may be passed.
	room := resources.Tighten(resources.Limit{}, tree.Headroom(resources.Limit{}, leaf), user)
	if !resources.Admits(room, ask.size) {
		fmt.Println(ask.name, "passes a max by", tree.Schema().Format(resources.Over(nil, ask.size, room)))
		return nil
	}
	// Law 4: some queue of the path lacks what it is guaranteed. If that is the
	// fence root or a queue above it, everybody in reach is inside the needy queue.
	needy, entitled := underGuarantee(tree, leaf, ask.size)
	root := fence.Root(tree, leaf)
	inside := needy != root && tree.Contains(root, needy)
	if !entitled || !inside {
		fmt.Println(ask.name, "may not preempt")
		return nil
	}
	lacks := resources.Short(nil, tree.Guaranteed(needy), tree.Effective(nil, needy))
	fmt.Println(ask.name, "may preempt:", tree.Path(needy), "lacks", tree.Schema().Format(lacks))

	var able []pod
	for w := range fence.Reach(tree, leaf) { // law 7
		for _, p := range running {
			if p.team == tree.Path(w) && !tree.Contains(needy, w) &&
				fence.Rank(tree, fence.Priority{Leaf: w, Raw: p.priority}, fence.Priority{Leaf: leaf, Raw: ask.priority}) <= 0 { // law 6
				able = append(able, p)
			}
		}
	}
	slices.SortFunc(able, func(a, b pod) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.name, b.name))
	})
	return enough(tree.Clone(), able, ask.size, leaf)
}

// underGuarantee returns the lowest queue that governs an ask, if all that do are under their
// guarantees.
func underGuarantee(tree *queue.Tree, leaf queue.ID, size resources.Vector) (needy queue.ID, ok bool) {
	for i := range resources.Positive(size).All() {
		q, governed := tree.Governing(leaf, i)
		if !governed {
			continue
		}
		if guaranteed, _ := tree.Guaranteed(q).Bound(i); tree.Effective(nil, q)[i] >= guaranteed {
			return 0, false
		}
		needy, ok = max(needy, q), true
	}
	return needy, ok
}

// enough takes pods in order, as long as no queue goes below its guarantee (law 2),
// until size is free. It takes what it takes from the tree.
func enough(tree *queue.Tree, able []pod, size resources.Vector, asking queue.ID) (taken []pod) {
	var freed resources.Vector
	for _, p := range able {
		w, _ := tree.Lookup(p.team)
		lawful := true
		for q := w; !tree.Contains(q, asking); q, _ = tree.Parent(q) {
			lawful = lawful && resources.Fits(p.size, tree.Surplus(nil, q))
		}
		if !lawful || resources.Fits(size, freed) {
			continue
		}
		if err := tree.Remove(w, p.size); err != nil {
			log.Fatal(err)
		}
		freed = resources.Add(freed, freed, p.size)
		taken = append(taken, p)
	}
	if !resources.Fits(size, freed) {
		return nil
	}
	return taken
}

// A little planner for pods of another scheduler, made of the parts: headroom,
// law 4, reach, effective priority, surplus.
func Example_planner() {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	schema, err := resources.NewSchema("gpu")
	check(err)
	bound := func(text string) resources.Limit {
		l, err := schema.ParseLimit(text)
		check(err)
		return l
	}
	tree, err := queue.New(schema, queue.Config{Name: "root", Max: bound("gpu=20"), Children: []queue.Config{
		{Name: "web", Guaranteed: bound("gpu=8")},
		{Name: "data", Guaranteed: bound("gpu=6")},
		{Name: "lab", Policies: queue.Policies{PriorityOffset: new(int32(-10))}},
		{Name: "audit", Policies: queue.Policies{Preemption: queue.Disabled}},
	}})
	check(err)
	running := []pod{
		{"data-1", "root.data", resources.Vector{4}, 0},
		{"data-2", "root.data", resources.Vector{3}, 1},
		{"lab-1", "root.lab", resources.Vector{2}, 9},
		{"lab-2", "root.lab", resources.Vector{2}, 20},
		{"audit-1", "root.audit", resources.Vector{2}, 0},
	}
	for _, p := range running {
		w, _ := tree.Lookup(p.team)
		check(tree.Add(w, p.size))
	}
	user := bound("gpu=6") // what the user may have
	for _, ask := range []pod{
		{"web-1", "root.web", resources.Vector{2}, 5},
		{"web-2", "root.web", resources.Vector{7}, 5},
		{"data-3", "root.data", resources.Vector{1}, 5},
	} {
		for _, p := range stops(tree, running, ask, user) {
			fmt.Println("  stop", p.name)
		}
	}
	// Output:
	// web-1 may preempt: root.web lacks gpu=8
	//   stop lab-1
	// web-2 passes a max by gpu=1
	// data-3 may not preempt
}
