// SPDX-License-Identifier: Apache-2.0

package main

import (
	"iter"

	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/queue"
)

// A watch sees to it that plans come to an end, as the theorem says
// they must (DESIGN.md, Storm freedom).
//
// Let e be the effective usage of a queue of a type and g what it is
// guaranteed. A plan makes min(e, g) larger in the lowest queue that governs a
// type of the ask, by the amount asked for or up to g, and nowhere smaller. So
// however victims come back, there is room for
//
//	Σ ⌈(g - e) / a⌉, over queues and types with e < g,
//
// more plans, where a is the smallest amount that any ask governed there wants.
// Of an empty cluster this is the bound of the theorem. A pod that ends, or a
// grant that is dropped, may make the sum larger, and with it the bound.
type watch struct {
	tree  *queue.Tree
	least []int64 // a, by queue and type; 0 if no ask is governed

	plans    int64
	fixed    int64 // the bound if nothing ever ends
	restored int64 // to the bound, by what has ended
	broken   int   // plans that did not do what the theorem says

	before, after []int64 // min(e, g), by queue and type
}

// newWatch returns a watch for a tree without usage and all pods to come. A
// function says which queue governs a type in a leaf.
func newWatch(tree *queue.Tree, pods []pod, governing func(leaf queue.ID, t int) (queue.ID, bool)) *watch {
	w := &watch{tree: tree, least: make([]int64, tree.Len()*tree.Schema().Len())}
	for i := range pods {
		for t, amount := range pods[i].size {
			q, governed := governing(pods[i].leaf, t)
			if !governed || amount == 0 {
				continue
			}
			least := w.leastOf(q, t)
			if *least == 0 || amount < *least {
				*least = amount
			}
		}
	}
	for q := range queue.ID(tree.Len()) {
		w.fixed = sat.Add(w.fixed, w.room(q))
	}
	return w
}

func (w *watch) leastOf(q queue.ID, t int) *int64 {
	return &w.least[int(q)*w.tree.Schema().Len()+t]
}

// room returns how many plans what one queue is short of has room for.
func (w *watch) room(q queue.ID) (plans int64) {
	for t := range w.tree.Guaranteed(q).Defined.All() {
		g, e := w.amounts(q, t)
		if least := *w.leastOf(q, t); least > 0 && e < g {
			plans = sat.Add(plans, (g-e-1)/least+1)
		}
	}
	return plans
}

func (w *watch) amounts(q queue.ID, t int) (guaranteed, effective int64) {
	guaranteed, _ = w.tree.Guaranteed(q).Bound(t)
	return guaranteed, w.tree.Usage(q)[t] - w.tree.Leaving(q)[t]
}

// bound returns the largest number of plans that there may have been by now.
func (w *watch) bound() int64 { return sat.Add(w.fixed, w.restored) }

// end changes the workload of a leaf, and the bound with it.
func (w *watch) end(leaf queue.ID, change func() error) error {
	return w.change(w.tree.Ancestors(leaf), change)
}

// change changes what some queues use or are guaranteed, and the bound with it.
func (w *watch) change(queues iter.Seq[queue.ID], change func() error) error {
	var before, after int64
	for q := range queues {
		before = sat.Add(before, w.room(q))
	}
	if err := change(); err != nil {
		return err
	}
	for q := range queues {
		after = sat.Add(after, w.room(q))
	}
	w.restored = sat.Add(w.restored, after-before)
	return nil
}

// plan applies a plan and looks whether it makes some min(e, g) larger and none
// smaller.
func (w *watch) plan(apply func() error) error {
	w.before = w.kept(w.before[:0])
	if err := apply(); err != nil {
		return err
	}
	w.plans++
	w.after = w.kept(w.after[:0])
	larger, smaller := false, false
	for i, now := range w.after {
		larger = larger || now > w.before[i]
		smaller = smaller || now < w.before[i]
	}
	if smaller || !larger {
		w.broken++
	}
	return nil
}

// kept appends min(e, g) of every queue and type with a guarantee.
func (w *watch) kept(dst []int64) []int64 {
	for q := range queue.ID(w.tree.Len()) {
		for t := range w.tree.Guaranteed(q).Defined.All() {
			g, e := w.amounts(q, t)
			dst = append(dst, min(g, e))
		}
	}
	return dst
}
