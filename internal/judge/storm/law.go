// SPDX-License-Identifier: Apache-2.0

package storm

import "math/bits"

// A question is what a task that waits, or the members of a job that wait, may
// do in the present state, and what the laws say of it before anybody goes.
type question struct {
	*world
	ask        int    // the task, or the first of the members
	members    uint64 // who arrives
	there      where  // and on which node, beside those who move
	movers     uint64 // who moves
	job        int    // whose members they are, if these start together
	byPriority bool   // it is a job that asks by priority: laws 4 and 5 and E do not bind
	second     bool   // tasks of the own leaf may go, or of the own branch
	entitled   bool   // by law 4
	inside     uint64 // the tasks below E
	path       []int  // the queues above the ask, its leaf first
	own        OwnLeaf
}

// where says which tasks are on each node.
type where [maxNodes]uint64

// maxNodes is how many nodes a universe has at most.
const maxNodes = 3

// ask returns the question whether tasks that wait may take others' places: one, or the
// members that a job needs, all of one leaf and priority.
func (w *world) ask(members uint64) question {
	first := bits.TrailingZeros64(members)
	a := question{world: w, ask: first, members: members, path: w.above[w.Tasks[first].Leaf], own: w.own[w.Tasks[first].Leaf], entitled: true}
	governed := false
	lowest := len(a.path) // index on the path of E
	for t := range w.types {
		arrives := w.sum(members, t)
		if arrives == 0 {
			continue
		}
		for i, q := range a.path {
			g := w.counting(q, t)
			if g < 0 {
				continue
			}
			governed, lowest = true, min(lowest, i)
			// Law 4: the last member, the largest, finds the queue under its guarantee.
			a.entitled = a.entitled && w.used[q*w.types+t]+arrives-w.largest(members, t) < g
			break // only the nearest definition counts
		}
	}
	a.entitled = a.entitled && governed
	if governed && !w.Rules.Inside {
		a.inside = w.under[a.path[lowest]]
	}
	return a
}

// jobAsk returns the question for members of a job that start together.
func (w *world) jobAsk(members uint64) question {
	a := w.ask(members)
	a.job = w.Tasks[a.ask].Job
	if a.byPriority = w.Rules.ByPriority && (!w.Rules.Mixed || a.job%2 == 1); a.byPriority {
		a.second = a.own != Never
	}
	return a
}

// arrives returns what arrives of a type.
func (a *question) arrives(t int) int { return a.sum(a.members, t) }

// room reports whether there is room on the nodes and in all queues once victims
// have gone.
func (a *question) room(victims uint64) bool {
	for t := range a.types {
		for n := range a.Nodes {
			load := a.sum(a.there[n], t)
			if load > 0 && a.frees(n, t, victims) < load {
				return false
			}
		}
		size := a.arrives(t)
		for _, q := range a.path {
			if size > 0 && a.used[q*a.types+t]-a.sum(victims&a.under[q], t)+size > a.most(q, t) {
				return false
			}
		}
	}
	return true
}

// frees returns what is free of a type on a node once victims and movers have gone.
func (a *question) frees(n, t int, victims uint64) int {
	return a.free[n*a.types+t] + a.sum((victims|a.movers)&a.on(n), t)
}

// largest returns the most that one of some tasks has of a type.
func (w *world) largest(tasks uint64, t int) (most int) {
	for ; tasks != 0; tasks &= tasks - 1 {
		most = max(most, w.size(bits.TrailingZeros64(tasks), t))
	}
	return most
}

// oneRack reports whether all members of a job would be in one rack, if there are racks.
func (a *question) oneRack(job int) bool {
	if job == 0 || len(a.Racks) == 0 {
		return true
	}
	rack := -1
	for n, there := range a.there {
		if (there|a.on(n)&^a.movers)&a.jobs[job] == 0 {
			continue
		}
		if rack >= 0 && a.Racks[n] != rack {
			return false
		}
		rack = a.Racks[n]
	}
	return true
}

// on returns the tasks that run on a node.
func (w *world) on(node int) (tasks uint64) {
	for i, n := range w.place {
		if n == node {
			tasks |= 1 << i
		}
	}
	return tasks
}

// sum adds up what tasks have of a type.
func (w *world) sum(tasks uint64, t int) (sum int) {
	for ; tasks != 0; tasks &= tasks - 1 {
		sum += w.size(bits.TrailingZeros64(tasks), t)
	}
	return sum
}

// refused reports whether a precondition stands in the way: law 4, a queue over
// its max, or headroom that nobody outside E can make.
func (a *question) refused() bool {
	if a.second || a.byPriority {
		return false
	}
	if !a.stops() {
		return true
	}
	for t := range a.types {
		size := a.arrives(t)
		if size == 0 {
			continue
		}
		for _, q := range a.path {
			used := a.used[q*a.types+t]
			lacks := used+size > a.most(q, t)
			if used > a.most(q, t) || lacks && a.under[q]&^a.inside == 0 {
				return true
			}
		}
	}
	return false
}

// may reports whether the laws about a single task let it go.
func (a *question) may(victim int) bool {
	if a.job > 0 && a.Tasks[victim].Job == a.job || (a.granted|a.movers)>>victim&1 == 1 {
		return false
	}
	leaf := a.Tasks[victim].Leaf
	switch {
	case a.Queues[leaf].Disabled || !a.reaches(leaf): // Law 7
		return false
	case a.byPriority:
		return a.rank[victim][a.ask] < 0
	case leaf == a.Tasks[a.ask].Leaf || a.own == Branch && a.inside>>victim&1 == 1:
		return a.second && a.rank[victim][a.ask] < 0
	case a.Rules.Strict && a.rank[victim][a.ask] == 0 || a.rank[victim][a.ask] > 0: // Law 6
		return false
	}
	return a.stops() && a.inside>>victim&1 == 0
}

// stops is law 4.
func (a *question) stops() bool { return a.entitled || a.Rules.Stops && a.movers != 0 }

// reaches reports whether a leaf is below the lowest preemption fence above the ask.
func (a *question) reaches(leaf int) bool {
	for _, q := range a.path {
		if a.Queues[q].Keeps {
			return a.within(leaf, q)
		}
	}
	return true
}

// helps reports whether a task reduces a need that is open.
func (a *question) helps(victim int) bool {
	node := a.place[victim]
	for t := range a.types {
		if a.size(victim, t) == 0 {
			continue
		}
		if load := a.sum(a.there[node], t); load > 0 && a.frees(node, t, 0) < load {
			return true
		}
		size := a.arrives(t)
		for _, q := range a.path {
			if size > 0 && a.under[q]>>victim&1 == 1 && a.used[q*a.types+t]+size > a.most(q, t) {
				return true
			}
		}
	}
	return false
}

// guarantees is law 2.
func (a *question) guarantees(victims uint64) bool {
	for q := range a.Queues {
		for t := range a.types {
			if g := a.counting(q, t); g >= 0 && !a.keeps(q, t, g, victims) {
				return false
			}
		}
	}
	return true
}

// keeps is law 2 for a queue and a type of which it guarantees g.
func (a *question) keeps(q, t, g int, victims uint64) bool {
	before, gone := a.used[q*a.types+t], a.sum(victims&a.under[q], t)
	arrives := a.arrives(t)
	switch {
	case !a.within(a.Tasks[a.ask].Leaf, q):
		return before-gone >= min(g, before)
	case !a.second:
		return before-gone+arrives >= min(g, before)
	case a.own != Any && before >= g:
		return before-gone+arrives >= g
	case a.own != Any:
		return arrives > 0 || gone == 0
	}
	own := a.sum(victims&a.under[a.Tasks[a.ask].Leaf], t)
	return before-(gone-own)+max(0, arrives-own) >= min(g, before)
}

// gangs reports whether each job keeps enough members or goes as a whole, and
// whether whoever does not help goes with a job of whom somebody does.
func (a *question) gangs(victims, useful uint64) bool {
	idle := victims &^ useful
	for job := 1; job < len(a.jobs); job++ {
		running := a.jobs[job] & a.running &^ a.granted
		taken := victims & running
		surplus := max(0, bits.OnesCount64(running)-a.Minimum[job])
		whole := taken == running && bits.OnesCount64(taken) > surplus
		if !whole && bits.OnesCount64(taken) > surplus {
			return false
		}
		if whole && taken&useful != 0 {
			idle &^= taken
		}
	}
	return idle == 0
}
