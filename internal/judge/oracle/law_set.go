// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// guarantees checks law 2: for every queue and every type it guarantees, usage
// after the plan, with the victims gone and the ask counted, is at least the
// smaller of the guarantee and usage before. The option of the own leaf has
// other words for it on the path of the ask.
func (d *docket) guarantees() {
	for _, q := range d.w.Queues() {
		for t, g := range q.Guaranteed {
			if after := d.after(q.Path, t); !d.lawful(q.Path, t, after) {
				d.report(Law2, "%s of %s goes from %d to %d of guaranteed %d", t, q.Path, d.coming[q.Path][t], after, g)
			}
		}
	}
}

// after returns what a queue uses of a type after the plan.
func (d *docket) after(queue, t string) int64 {
	after := d.coming[queue][t] - freedBelow(d.victims, queue, t)
	if world.Inside(d.ask.Queue, queue) {
		after += d.ask.Size[t]
	}
	return after
}

// lawful says what law 2 means for a type that a queue guarantees, where usage
// after the plan is given.
func (d *docket) lawful(queue, t string, after int64) bool {
	if world.Inside(d.ask.Queue, queue) {
		return d.lawfulOnPath(queue, t, after)
	}
	return after >= min(d.queues[queue].Guaranteed[t], d.coming[queue][t])
}

// lawfulOnPath says what law 2 means for a queue above the ask, where usage
// after the plan is given.
func (d *docket) lawfulOnPath(queue, t string, after int64) bool {
	g, before := d.queues[queue].Guaranteed[t], d.coming[queue][t]
	switch {
	case !d.own:
		return after >= min(g, before)
	case before >= g:
		return after >= g
	}
	return after >= before || d.ask.Size[t] > 0
}

// room checks that the ask fits the node and every headroom, and that nobody
// blocks it there.
func (d *docket) room() {
	for _, n := range d.w.Nodes {
		if n.Name == d.node && !d.usable(&n) {
			d.report(Node, "%s takes no ask", d.node)
		}
	}
	if _, ok := d.comingFree[d.node]; !ok {
		d.report(Node, "%s is unknown", d.node)
	}
	for t, short := range d.nodeNeed(d.node) {
		if freed := freedOn(d.victims, d.node, t); freed < short {
			d.report(Node, "%s is short of %d of %s", d.node, short-freed, t)
		}
	}
	for _, q := range d.path {
		for t, short := range d.headroomNeed(q) {
			if freed := freedBelow(d.victims, q, t); freed < short {
				d.report(Headroom, "%s is short of %d of %s", q, short-freed, t)
			}
		}
	}
	tasks, grants := d.blockers(d.node)
	for _, b := range tasks {
		if !b.State.Leaving() && !slices.Contains(d.victims, b) {
			d.report(Blocker, "%s", b)
		}
	}
	for _, key := range grants {
		d.report(Blocker, "%s, which holds a grant", key)
	}
}

// budgets checks that no hard budget loses more than it has left.
func (d *docket) budgets() {
	for name, b := range d.w.Budgets {
		if beyond := overrun(b, taken(d.victims, name)); b.Hard && beyond > 0 {
			d.report(Budget, "%s by %d", name, beyond)
		}
	}
}

// taken is how many of some tasks are in a budget.
func taken(victims []*world.Task, budget string) (n int64) {
	for _, v := range victims {
		if slices.Contains(v.Budgets, budget) {
			n++
		}
	}
	return n
}

// overrun is how many of n tasks a budget has not left. Below 0 counts as 0.
func overrun(b world.Budget, n int64) int64 { return max(0, n-max(0, b.Left)) }

// freedOn is how much of a type the victims free on a node, freedBelow how much
// below a queue.
func freedOn(victims []*world.Task, node, t string) (sum int64) {
	for _, v := range victims {
		if v.Node == node {
			sum += v.Size[t]
		}
	}
	return sum
}

func freedBelow(victims []*world.Task, queue, t string) (sum int64) {
	for _, v := range victims {
		if world.Inside(v.Queue, queue) {
			sum += v.Size[t]
		}
	}
	return sum
}

func keysOf(tasks []*world.Task) (keys []string) {
	for _, t := range tasks {
		keys = append(keys, t.Key)
	}
	slices.Sort(keys)
	return keys
}
