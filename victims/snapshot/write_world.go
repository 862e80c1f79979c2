// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"slices"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// queue returns a queue and those below it.
func (w *writer) queue(q queue.ID) queueEntry {
	t := w.c.Tree()
	e := queueEntry{Name: w.text(trees.Name(t, q)), Properties: lent.Of(t).Says(int32(q))}
	var b bounds
	if l := t.Guaranteed(q); l.Defined != 0 {
		amounts := w.limit(l)
		b.Guaranteed = &amounts
	}
	if l := t.Max(q); l.Defined != 0 {
		amounts := w.limit(l)
		b.Max = &amounts
	}
	if b != (bounds{}) {
		e.Resources = &b
	}
	for child := range t.Children(q) {
		e.Queues = append(e.Queues, w.queue(child))
	}
	return e
}

// nodes writes the nodes in their order. A closed node that tasks run on comes
// after them, as one without capacity that takes nothing.
func (w *writer) nodes() {
	for id := range w.c.Nodes() {
		n := w.c.NodeView(id)
		e := node{
			Name: w.text(n.Name), Unschedulable: n.Unschedulable, ReservedFor: w.text(n.ReservedFor),
			Rank: n.Penalty, Domains: w.texts(n.Domains),
		}
		capacity := slices.Clone(n.Capacity)
		if used := w.c.UnknownUsage(nil, id); !resources.IsZero(used) {
			w.lacks("usage", n.Name, "what no task accounts for is taken off its capacity, as far as it goes")
			for i, v := range used {
				capacity[i] = max(0, capacity[i]-v)
			}
		}
		e.Capacity = w.amounts(capacity)
		w.doc.Nodes = append(w.doc.Nodes, e)
	}
	for _, id := range w.c.ClosedNodes(nil) {
		name := w.c.NodeName(id)
		w.lacks("closed", name, "a node without capacity that takes no tasks")
		w.doc.Nodes = append(w.doc.Nodes, node{Name: w.text(name), Capacity: w.amounts(nil), Unschedulable: true})
	}
}

func (w *writer) setBudgets() {
	w.doc.Budgets = make(map[string]budget)
	for name, b := range w.c.Budgets() {
		w.doc.Budgets[w.text(name)] = budget(b)
	}
}
