// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"slices"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// queue returns a queue and those below it.
func (w *writer) queue(q queue.ID) queueEntry {
	t := w.c.Tree()
	e := queueEntry{Name: w.text(trees.Name(t, q)), Properties: properties(t, q)}
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

// properties returns those that give a queue its policies, below queues that
// have theirs.
func properties(t *queue.Tree, q queue.ID) map[string]string {
	all := make(map[string]string)
	p, delay, least, within, inherited := t.Policies(q), 30*time.Second, time.Duration(0), queue.WithinQueue(""), queue.Default
	if up, ok := t.Parent(q); ok {
		above := t.Policies(up)
		if delay, least, within = *above.PreemptionDelay, *above.MinRuntime, above.WithinQueue; above.Preemption == queue.Disabled {
			inherited = queue.Disabled
		}
	}
	by, _ := trees.DisabledBy(t, q)
	if p.Preemption != inherited || p.Preemption == queue.Disabled && by == q {
		all["preemption.policy"] = string(p.Preemption)
	}
	if *p.PreemptionDelay != delay {
		all["preemption.delay"] = p.PreemptionDelay.String()
	}
	if *p.MinRuntime != least {
		all["preemption.min-runtime"] = p.MinRuntime.String()
	}
	if p.WithinQueue != within {
		all["preemption.own-leaf"] = string(p.WithinQueue)
	}
	if p.PriorityFence == "fence" {
		all["priority.policy"] = "fence"
	}
	if *p.PriorityOffset != 0 {
		all["priority.offset"] = strconv.Itoa(int(*p.PriorityOffset))
	}
	if *p.QuotaDelay != 0 {
		all["quota.preemption.delay"] = p.QuotaDelay.String()
	}
	if p.Weight != 1 {
		all["fair.weight"] = strconv.Itoa(int(p.Weight))
	}
	return all
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
