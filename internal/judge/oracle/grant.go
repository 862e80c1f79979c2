// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// grant returns the place in the order of grants of the ask's own.
func (j *judge) grant() (i int, ok bool) {
	i = slices.IndexFunc(j.w.Grants, func(g world.Grant) bool { return g.Ask.Key == j.ask.Key })
	return i, i >= 0
}

// start decides for an ask that holds a grant: it starts on its node, or it is
// in flight and waits for some tasks. Its own grant and those given there after
// it are taken off; whether the node would be given once more is not asked.
func (j *judge) start(i int) Result {
	w := *j.w
	node := w.Grants[i].Node
	w.Grants = slices.Clone(w.Grants[:i])
	for _, g := range j.w.Grants[i+1:] {
		if g.Node != node {
			w.Grants = append(w.Grants, g)
		}
	}
	then := newJudge(&w, j.ask, j.o)
	if then.open(node, false) && then.fits(then.presentFree[node], then.present) {
		return Result{Outcome: Fits, Node: node}
	}
	return Result{Outcome: Refused, Reason: "in-flight", WaitsFor: then.waitsFor(node)}
}

// waitsFor returns the tasks that the ask waits for on a node: those leaving
// there, those leaving below a queue whose max is short, and its blockers.
func (j *judge) waitsFor(node string) (keys []string) {
	for i := range j.w.Tasks {
		t := &j.w.Tasks[i]
		if t.State.Leaving() && (t.Node == node || j.leavesShort(t)) || j.blocks(t, node) {
			keys = append(keys, t.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

// leavesShort reports whether a task is below a queue of the path whose max the
// ask does not fit as things are.
func (j *judge) leavesShort(t *world.Task) bool {
	for _, q := range j.path {
		for _, kind := range j.wants {
			most, ok := j.queues[q].Max[kind]
			if ok && j.present[q][kind]+j.ask.Size[kind] > most && world.Inside(t.Queue, q) {
				return true
			}
		}
	}
	return false
}
