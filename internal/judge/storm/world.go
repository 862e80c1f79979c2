// SPDX-License-Identifier: Apache-2.0

package storm

import "math"

// A world is a universe made ready: what never changes is looked up once.
type world struct {
	*Universe
	types int
	above [][]int   // by queue: itself and those above, the leaf first
	under []uint64  // by queue: which tasks are below it
	rank  [][]int   // by victim and ask: effective priority less the ask's
	jobs  []uint64  // by job: its members
	own   []OwnLeaf // by queue: what asks of the leaves below may take of their own

	quotas  []int  // queues whose max may be lowered
	lowered uint64 // in the present state: which of quotas are

	// The state, and what follows from it.
	place   []int // by task: a node, or -1
	running uint64
	granted uint64 // those of the running ones that have not started
	used    []int  // by queue and type
	free    []int  // by node and type
}

// ownLeaf returns what the nearest queue of a path says of the own leaf, else the rules.
func (u *Universe) ownLeaf(path []int) OwnLeaf {
	for _, q := range path {
		if own := u.Queues[q].Own; own > 0 {
			return own - 1
		}
	}
	return u.Rules.OwnLeaf
}

func (u *Universe) world() *world {
	w := &world{Universe: u}
	for _, t := range u.Tasks {
		w.types = max(w.types, len(t.Size))
	}
	for q := range u.Queues {
		path := []int{q}
		for ; q != 0; path = append(path, q) {
			q = u.Queues[q].Parent
		}
		w.above = append(w.above, path)
		w.own = append(w.own, u.ownLeaf(path))
	}
	for q := range u.Queues {
		if len(u.Queues[q].Lowered) > 0 {
			w.quotas = append(w.quotas, q)
		}
	}
	w.under = make([]uint64, len(u.Queues))
	w.jobs = make([]uint64, max(1, len(u.Minimum)))
	for i, t := range u.Tasks {
		for _, q := range w.above[t.Leaf] {
			w.under[q] |= 1 << i
		}
		if t.Job > 0 {
			w.jobs[t.Job] |= 1 << i
		}
		ranks := make([]int, len(u.Tasks))
		for a := range u.Tasks {
			ranks[a] = w.lift(i, a) - w.lift(a, i)
		}
		w.rank = append(w.rank, ranks)
	}
	w.place = make([]int, len(u.Tasks))
	w.used = make([]int, len(u.Queues)*w.types)
	w.free = make([]int, len(u.Nodes)*w.types)
	return w
}

// lift returns the priority of task i up to below the queue that its leaf has in
// common with the leaf of task j.
func (w *world) lift(i, j int) int {
	priority := w.Tasks[i].Priority
	for _, q := range w.above[w.Tasks[i].Leaf] {
		if w.within(w.Tasks[j].Leaf, q) {
			break
		}
		if w.Queues[q].Fence {
			priority = 0
		}
		priority += w.Queues[q].Offset
	}
	return priority
}

// within reports whether queue q is a or below it.
func (w *world) within(q, a int) bool {
	for _, up := range w.above[q] {
		if up == a {
			return true
		}
	}
	return false
}

// size returns what a task has of a type.
func (w *world) size(task, t int) int { return amount(w.Tasks[task].Size, t, 0) }

// guaranteed returns what a queue guarantees of a type, or -1.
func (w *world) guaranteed(q, t int) int { return amount(w.Queues[q].Guaranteed, t, -1) }

// counting is guaranteed for asks and jobs, for which some types may not count.
func (w *world) counting(q, t int) int {
	if w.Rules.Ignored>>t&1 == 1 {
		return -1
	}
	return w.guaranteed(q, t)
}

// most returns the bound of a queue, or a number that nothing reaches.
func (w *world) most(q, t int) int {
	most := w.first(q, t)
	for i, of := range w.quotas {
		if m := amount(w.Queues[q].Lowered, t, -1); of == q && m >= 0 && w.lowered>>i&1 == 1 {
			most = min(most, m)
		}
	}
	return most
}

// first is most before the max is lowered.
func (w *world) first(q, t int) int {
	if m := amount(w.Queues[q].Max, t, -1); m >= 0 {
		return m
	}
	return math.MaxInt / 2
}

func amount(list []int, t, none int) int {
	if t < len(list) {
		return list[t]
	}
	return none
}

// states returns how many states there are, valid or not.
func (w *world) states() int {
	n := 1 << len(w.quotas)
	for range w.Tasks {
		n *= w.ways()
	}
	return n
}

// ways returns in how many ways a task may be: it waits, or it is on a node, or granted a
// place there.
func (w *world) ways() int {
	if w.Rules.Grants {
		return 1 + 2*len(w.Nodes)
	}
	return 1 + len(w.Nodes)
}

// set makes a state the present one and reports whether it is one: no node and
// no queue holds more than it can, but for a queue whose max was lowered.
func (w *world) set(state int) bool {
	w.running, w.granted = 0, 0
	clear(w.used)
	for n, capacity := range w.Nodes {
		for t := range w.types {
			w.free[n*w.types+t] = amount(capacity, t, 0)
		}
	}
	for task := range w.Tasks {
		w.place[task] = state%w.ways() - 1
		state /= w.ways()
		if w.place[task] >= len(w.Nodes) {
			w.place[task] -= len(w.Nodes)
			w.granted |= 1 << task
		}
		if n := w.place[task]; n >= 0 {
			w.running |= 1 << task
			for t := range w.types {
				w.free[n*w.types+t] -= w.size(task, t)
			}
			for _, q := range w.above[w.Tasks[task].Leaf] {
				for t := range w.types {
					w.used[q*w.types+t] += w.size(task, t)
				}
			}
		}
	}
	w.lowered = uint64(state)
	for _, v := range w.free {
		if v < 0 {
			return false
		}
	}
	for q := range w.Queues {
		for t := range w.types {
			if w.used[q*w.types+t] > w.first(q, t) {
				return false
			}
		}
	}
	return true
}

// after returns the state that a plan leads to.
func (w *world) after(p *plan) (state int) {
	state = int(w.lowered | p.lowers)
	for i := len(w.Tasks) - 1; i >= 0; i-- {
		place, granted := w.place[i], w.granted&^p.begins>>i&1 == 1
		if p.victims>>i&1 == 1 {
			place = -1
		}
		for n := range w.Nodes {
			if p.there[n]>>i&1 == 1 {
				place, granted = n, w.Rules.Grants && p.victims|p.movers != 0
			}
		}
		if granted {
			place += len(w.Nodes)
		}
		state = state*w.ways() + place + 1
	}
	return state
}
