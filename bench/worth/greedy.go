// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"
)

// greedy is what a good programmer writes in an afternoon: node by node, the least
// important tasks first and the youngest of these, as long as no queue at any level falls
// below its guarantee and no budget is overrun. What turns out to be needless is given
// back. The cheapest node wins. Like the library it takes from others if the queue is
// under its guarantee, and else lower tasks of the own queue.
//
// With gangs it knows as well that some tasks are members of a gang, and takes the whole
// gang if too few would be left. That is the second afternoon. Own costs are for neither.
func greedy(name string, gangs bool) rule {
	find := func(w *world, a *work, size []int64) (int, []int, bool) {
		if n, ok := w.room(a, size); ok {
			return n, nil, true
		}
		g := &greed{world: w, a: a, size: size, gangs: gangs}
		if w.under(a.leaf, size) {
			if n, victims, ok := g.best(); ok {
				return n, victims, true
			}
		}
		g.own = true
		return g.best()
	}
	return rule{name: name, plan: finder(find).oneByOne}
}

// A greed is one search for a node.
type greed struct {
	*world
	a     *work
	size  []int64
	gangs bool
	own   bool // lower tasks of the own queue are looked at, and no others

	before [][]int64 // usage by queue, at the start
	units  [][]int   // taken, in order; what goes together is one
}

// best returns the cheapest node.
func (g *greed) best() (node int, victims []int, ok bool) {
	g.before = g.before[:0]
	for q := range g.queues {
		g.before = append(g.before, slices.Clone(g.queues[q].usage))
	}
	var least price
	for n := range g.nodes {
		if !g.may(g.a, n) {
			continue
		}
		if set, found := g.onNode(n); found {
			if p := g.priceOf(set); !ok || p.compare(&least) < 0 {
				node, victims, least, ok = n, set, p, true
			}
		}
	}
	return node, victims, ok
}

// price is what the programmer thinks of: who asked to be spared, who is important, how
// many, and how much is lost.
type price struct {
	optedOut int
	highest  int32
	victims  int
	lost     int64
}

func (p *price) compare(o *price) int {
	return cmp.Or(cmp.Compare(p.optedOut, o.optedOut), cmp.Compare(p.highest, o.highest),
		cmp.Compare(p.victims, o.victims), cmp.Compare(p.lost, o.lost))
}

func (w *world) priceOf(victims []int) (p price) {
	p.victims = len(victims)
	for i, v := range victims {
		t := &w.tasks[v]
		if t.optedOut {
			p.optedOut++
		}
		if i == 0 || t.priority > p.highest {
			p.highest = t.priority
		}
		p.lost += t.lost(w.now)
	}
	return p
}

// onNode finds victims for one node, and leaves the world as it was.
func (g *greed) onNode(n int) (victims []int, ok bool) {
	g.units = g.units[:0]
	for _, t := range g.order(n) {
		if g.fits(n, g.size) {
			break
		}
		if !g.tasks[t].gone && g.helps(t, n, g.size) {
			g.take(t)
		}
	}
	if ok = g.fits(n, g.size); ok {
		g.trim(n)
	}
	for _, unit := range g.units {
		for _, t := range unit {
			g.resume(t)
		}
		victims = append(victims, unit...)
	}
	return victims, ok
}

// order returns the tasks of a node that may go, those first that go first.
func (g *greed) order(n int) []int {
	var list []int
	for _, t := range g.nodes[n].tasks {
		if g.candidate(t) {
			list = append(list, t)
		}
	}
	w := g.world
	slices.SortFunc(list, func(i, k int) int { return w.lessImportant(i, k) })
	return list
}

// lessImportant orders tasks: those first that did not ask to be spared, then lower
// priority, then the youngest.
func (w *world) lessImportant(i, k int) int {
	a, b := &w.tasks[i], &w.tasks[k]
	flag := func(x bool) int {
		if x {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(flag(a.optedOut), flag(b.optedOut)), cmp.Compare(a.priority, b.priority),
		cmp.Compare(b.scheduled, a.scheduled), cmp.Compare(i, k))
}

// candidate reports whether the ask may take a task at all.
func (g *greed) candidate(t int) bool {
	x := &g.tasks[t]
	switch {
	case x.gone || x.app == g.a.app:
		return false
	case x.queue == g.a.leaf:
		return g.own && x.priority < g.a.priority
	case g.own:
		return false
	}
	fence := g.reach(g.a.leaf)
	return x.priority <= g.a.priority && x.queue != fence && g.inside(x.queue, fence)
}

// take stops a task, and with it what cannot stay, if the rules allow.
func (g *greed) take(t int) {
	unit := []int{t}
	if k := g.tasks[t].gang; g.gangs && k >= 0 && g.running(k)-1 < g.world.gangs[k].minimum {
		unit = unit[:0]
		for _, m := range g.world.gangs[k].members {
			if !g.tasks[m].gone {
				unit = append(unit, m)
			}
		}
	}
	for i, m := range unit {
		b := g.tasks[m].budget
		allowed := g.candidate(m) && (b < 0 || g.budgets[b].left() > 0)
		if allowed {
			g.stop(m)
		}
		if !allowed || i == len(unit)-1 && !g.guaranteed(unit) {
			last := i
			if allowed {
				last++
			}
			for _, back := range unit[:last] {
				g.resume(back)
			}
			return
		}
	}
	if len(unit) > 1 { // what went of the gang before cannot come back by itself
		k := g.tasks[t].gang
		g.units = slices.DeleteFunc(g.units, func(u []int) bool {
			same := g.tasks[u[0]].gang == k
			if same {
				unit = append(unit, u...)
			}
			return same
		})
	}
	g.units = append(g.units, unit)
}

// guaranteed reports whether every queue keeps its guarantee, or what it had of it, once
// some tasks have gone and the ask has come.
func (g *greed) guaranteed(gone []int) bool {
	for _, t := range gone {
		for q := g.tasks[t].queue; q >= 0; q = g.queues[q].parent {
			for i, promised := range g.queues[q].guaranteed {
				if promised == undefined {
					continue
				}
				after := g.queues[q].usage[i]
				if g.inside(g.a.leaf, q) {
					after += g.size[i]
				}
				if after < min(promised, g.before[q][i]) {
					return false
				}
			}
		}
	}
	return true
}

// trim gives back what is not needed, the most important first.
func (g *greed) trim(n int) {
	for i := len(g.units) - 1; i >= 0; i-- {
		for _, t := range g.units[i] {
			g.resume(t)
		}
		if g.fits(n, g.size) {
			g.units = slices.Delete(g.units, i, i+1)
			continue
		}
		for _, t := range g.units[i] {
			g.stop(t)
		}
	}
}
