// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"math"
	"slices"
)

// kubeScheduler is the rule of DefaultPreemption, as its documentation has it
// (kubernetes.io, Pod Priority and Preemption): on each node take all tasks of lower
// priority off. If there is room then, put back as many as can be, first those whose
// disruption budget would be overrun, and of each kind the most important ones. Of all
// nodes take the one with the fewest overruns, then the lowest highest victim, then the
// least sum of priorities, the fewest victims, and the latest start of its most important
// victims. It knows no queues and no gangs, and a budget is a wish.
func kubeScheduler() rule {
	find := func(w *world, a *work, size []int64) (int, []int, bool) {
		if n, ok := w.room(a, size); ok {
			return n, nil, true
		}
		var best reprieved
		found := false
		for n := range w.nodes {
			if !w.may(a, n) {
				continue
			}
			if r, ok := w.reprieve(a, n, size); ok && (!found || r.compare(&best) < 0) {
				best, found = r, true
			}
		}
		return best.node, best.victims, found
	}
	return rule{name: "kube-scheduler's rule", plan: finder(find).oneByOne}
}

// A reprieved is what is left of the victims of a node, and what decides between nodes.
type reprieved struct {
	node     int
	victims  []int
	overruns int
	highest  int32
	sum      int64
	start    int64 // the earliest of those of the highest priority
}

func (r *reprieved) compare(o *reprieved) int {
	return cmp.Or(cmp.Compare(r.overruns, o.overruns), cmp.Compare(r.highest, o.highest), cmp.Compare(r.sum, o.sum),
		cmp.Compare(len(r.victims), len(o.victims)), cmp.Compare(o.start, r.start))
}

// reprieve finds the victims of one node, and leaves the world as it was.
func (w *world) reprieve(a *work, n int, size []int64) (reprieved, bool) {
	r := reprieved{node: n, start: math.MaxInt64}
	var lower []int
	for _, t := range w.nodes[n].tasks {
		if !w.tasks[t].gone && w.tasks[t].priority < a.priority {
			lower = append(lower, t)
		}
	}
	// The most important first: higher priority, then the longest at work.
	slices.SortFunc(lower, func(i, k int) int {
		x, y := &w.tasks[i], &w.tasks[k]
		return cmp.Or(cmp.Compare(y.priority, x.priority), cmp.Compare(x.scheduled, y.scheduled), cmp.Compare(i, k))
	})
	// Those that a budget has no room for if all of them go. They come back first.
	var over, others []int
	left := make(map[int]int)
	for _, t := range lower {
		b := w.tasks[t].budget
		if b < 0 {
			others = append(others, t)
			continue
		}
		if _, known := left[b]; !known {
			left[b] = w.budgets[b].left()
		}
		if left[b]--; left[b] < 0 {
			over = append(over, t)
		} else {
			others = append(others, t)
		}
	}
	for _, t := range lower {
		w.stop(t)
	}
	ok := len(lower) > 0 && w.fits(n, size)
	for i, list := range [][]int{over, others} {
		for _, t := range list {
			w.resume(t)
			if !ok || w.fits(n, size) {
				continue
			}
			w.stop(t)
			r.victims = append(r.victims, t)
			if i == 0 {
				r.overruns++
			}
		}
	}
	for i, v := range r.victims {
		t := &w.tasks[v]
		w.resume(v)
		if i == 0 || t.priority > r.highest {
			r.highest, r.start = t.priority, math.MaxInt64
		}
		if t.priority == r.highest {
			r.start = min(r.start, t.scheduled)
		}
		// As in the program, which makes all summands positive.
		r.sum += int64(t.priority) + math.MaxInt32 + 1
	}
	return r, ok && len(r.victims) > 0
}

// yuniKorn is the rule of YuniKorn's design (yunikorn.apache.org, Preemption Design): the
// queue of the ask is under its guarantee. Victims are of lower or equal priority, inside
// the fence, in other queues that are over their guarantee, and none may bring its queue
// below. They are taken node by node, those first that did not opt out, then by priority,
// then the youngest, until there is room. Of all nodes take the one with the fewest victims
// that opted out, then the fewest at all, then the first: that is for the implementation to
// choose, and so does the program. What a queue is over by is its usage less its guarantee in
// the types that it guarantees (SubOnlyExisting), and all of its usage in the others. It knows
// no gangs as victims and no budgets, takes nothing from the own queue, and gives nothing back.
func yuniKorn() rule {
	find := func(w *world, a *work, size []int64) (node int, victims []int, ok bool) {
		if n, ok := w.room(a, size); ok {
			return n, nil, true
		}
		if !w.under(a.leaf, size) {
			return 0, nil, false
		}
		fence := w.reach(a.leaf)
		least := 0
		for n := range w.nodes {
			if !w.may(a, n) {
				continue
			}
			set, room := w.overGuarantee(a, n, size, fence)
			if !room {
				continue
			}
			score := len(set)
			for _, v := range set {
				if w.tasks[v].optedOut {
					score += 1 << 20
				}
			}
			if !ok || score < least {
				node, victims, least, ok = n, set, score, true
			}
		}
		return node, victims, ok
	}
	return rule{name: "YuniKorn's rule", plan: finder(find).oneByOne}
}

// overGuarantee takes victims on one node until there is room, and leaves the world as
// it was.
func (w *world) overGuarantee(a *work, n int, size []int64, fence int) (victims []int, room bool) {
	var list []int
	for _, t := range w.nodes[n].tasks {
		x := &w.tasks[t]
		if !x.gone && x.queue != a.leaf && x.app != a.app && x.priority <= a.priority && x.queue != fence && w.inside(x.queue, fence) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(i, k int) int { return w.lessImportant(i, k) })
	for _, t := range list {
		if w.fits(n, size) {
			break
		}
		if w.helps(t, n, size) && w.spares(t, a.leaf) {
			w.stop(t)
			victims = append(victims, t)
		}
	}
	room = w.fits(n, size)
	for _, t := range victims {
		w.resume(t)
	}
	return victims, room
}

// spares reports whether the queue of a task, and those above it that the ask is not
// below, can do without it: they are over by as much, in all types that they guarantee.
func (w *world) spares(t, leaf int) bool {
	for q := w.tasks[t].queue; q >= 0 && !w.inside(leaf, q); q = w.queues[q].parent {
		for i, promised := range w.queues[q].guaranteed {
			if promised != undefined && w.tasks[t].size[i] > max(0, w.queues[q].usage[i]-promised) {
				return false
			}
		}
	}
	return true
}
