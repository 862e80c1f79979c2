// SPDX-License-Identifier: Apache-2.0

package storm

// move calls for every way in which tasks, from one on, may move while the ask is placed:
// also if it does not need that.
func (a *question) move(task int, do func()) {
	if task == len(a.Tasks) {
		if a.moveWhole() {
			do()
		}
		return
	}
	a.move(task+1, do)
	if !a.mayMove(task) {
		return
	}
	for n := range a.Nodes {
		if n == a.place[task] || !a.roomToMove(task, n) {
			continue
		}
		a.movers |= 1 << task
		a.there[n] |= 1 << task
		a.move(task+1, do)
		a.movers &^= 1 << task
		a.there[n] &^= 1 << task
	}
}

// mayMove reports whether the laws about a single task let it move for the ask.
func (a *question) mayMove(task int) bool {
	switch t := &a.Tasks[task]; {
	case a.Rules.Moves == MovesNever, a.Rules.Moves == MovesEntitled && !a.entitled && !a.byPriority,
		(a.running&^a.granted)>>task&1 == 0, a.job > 0 && t.Job == a.job:
		return false
	case a.Queues[t.Leaf].Disabled || !a.reaches(t.Leaf): // Law 7
		return false
	}
	if rank := a.rank[task][a.ask]; rank > 0 || rank == 0 && (a.Rules.Strict || a.byPriority) { // Law 6
		return false
	}
	for _, q := range a.above[a.Tasks[task].Leaf] {
		for t := range a.types {
			if a.size(task, t) > 0 && a.used[q*a.types+t] > a.most(q, t) {
				return false // it could not start again
			}
		}
	}
	return true
}

// roomToMove reports whether a node has room for a task beside other movers, while all are
// still where they are.
func (a *question) roomToMove(task, n int) bool {
	for t := range a.types {
		if size := a.size(task, t); size > 0 && a.free[n*a.types+t]-a.sum(a.there[n]&a.movers, t) < size {
			return false
		}
	}
	return true
}

// moveWhole reports whether each gang moves as a whole or not at all, to one rack.
func (a *question) moveWhole() bool {
	for job := 1; job < len(a.jobs); job++ {
		moved := a.jobs[job] & a.movers
		if moved == 0 || a.Minimum[job] == 0 {
			continue
		}
		if moved != a.jobs[job]&a.running&^a.granted || !a.oneRack(job) {
			return false
		}
	}
	return true
}
