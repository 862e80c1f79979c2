package quota

import (
	"math"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// The levels of the cost of a set of tasks: "fewest originators, then least
// highest priority, fewest opted-out, fewest tasks, least sum of priorities,
// least freed beyond the target, least work lost, keys". The first two are 0
// but for ClosestMatch.
const (
	levelInexact = iota
	levelOthers
	levelOriginators
	levelPriority
	levelOptedOut
	levelTasks
	levelSumPriorities
)

// costOrder is how they combine.
var costOrder = cover.Order{Max: 1 << levelPriority, Count: levelTasks}

// search looks for a set of tasks of leaf w that meets its goal where the walk
// in order did not, or as much of the goal as any task can give, type by type.
// Where there is one, the cheapest takes the place of what was taken. It
// reports whether that frees more of the goal.
func (x *enforcement) search(w queue.ID) bool {
	x.pose(w)
	need, freed := x.needs[0].Short, x.row(x.freed, w)
	hope := false
	for _, t := range x.list {
		hope = hope || need[t] > freed[t]
	}
	if !hope {
		return false // all that could be had is taken
	}
	row := x.at(w)
	return x.replace(row.first, row.end)
}

// replace replaces the victims in some rows by the cheapest set that the problem
// asks for, if there is one.
func (x *enforcement) replace(first, end int32) bool {
	if !x.solve() {
		return false
	}
	for i := first; i < end; i++ {
		if x.taken[i] {
			x.untake(i)
		}
	}
	for _, u := range x.selection.Units {
		x.take(x.rowsOf[u])
	}
	return true
}

// solve searches for the cheapest set that the problem asks for, as far as the
// budget of steps goes, and reports whether it found one.
func (x *enforcement) solve() bool {
	steps, price, ok := x.allowance(len(x.problem.Units))
	if !ok {
		x.unproven = true
		return false
	}
	x.worker.Least(&x.selection, &x.problem, steps)
	x.steps += x.selection.Steps
	x.budget -= x.selection.Steps * price
	if !x.selection.Proven {
		x.unproven = true
	}
	return x.selection.Found
}

// allowance returns how many steps a search among n tasks may take, and what
// each of them costs of the budget. It is not ok where a search would not come
// to an end even once. Few tasks are searched to the end, at no cost.
func (x *enforcement) allowance(n int) (steps, price int, ok bool) {
	if n <= CompleteCandidates {
		return 2 << CompleteCandidates, 0, true
	}
	price = 1 + n/64
	// No search takes much of what is left for those to come.
	steps = x.budget / 16 / price
	return steps, price, steps >= n
}

// pose makes a problem of the goal of leaf w: its tasks, of which the whole
// set is chosen anew, what they should free, and what they may.
func (x *enforcement) pose(w queue.ID) {
	p := &x.problem
	p.Order = costOrder
	p.Capacity = x.c.Capacity()
	p.Needs, p.Bounds = x.needs[:], x.bounds[:]
	p.Units, x.rowsOf = p.Units[:0], x.rowsOf[:0]

	x.leave(w)
	room := resources.Add(x.bounds[0].Room.Value, x.left, x.row(x.freed, w))
	x.bounds[0].Room = resources.Limit{Value: room, Defined: math.MaxUint64 >> (64 - x.types)}

	need := zeros(x.needs[0].Short, x.types)
	row, goal := x.at(w), x.row(x.goal, w)
	for i := row.first; i < row.end; i++ {
		size := x.size(i)
		if !x.wants(goal, size) || !resources.Fits(size, room) {
			continue
		}
		p.Units = append(p.Units, x.unit(i))
		x.rowsOf = append(x.rowsOf, i)
		for _, t := range x.list {
			need[t] += size[t]
		}
	}
	for _, t := range x.list {
		need[t] = min(need[t], goal[t], room[t])
	}
	x.needs[0].Short = need
	p.Wanted = need
}

// wants reports whether a task of this size can serve a goal.
func (x *enforcement) wants(goal, size resources.Vector) bool {
	for _, t := range x.list {
		if goal[t] > 0 && size[t] > 0 {
			return true
		}
	}
	return false
}

// onlyOne is the list of the one need, and of the one bound, of a problem.
var onlyOne = []int32{0}

// unit makes a unit of a task.
func (x *enforcement) unit(i int32) cover.Unit {
	c, size := &x.tasks[i], x.size(i)
	t := x.c.TaskView(c.id)
	u := cover.Unit{Key: c.key, Size: size, Needs: onlyOne, Bounds: onlyOne}
	u.Levels[levelPriority] = int64(t.Priority)
	u.Levels[levelTasks] = 1
	u.Levels[levelSumPriorities] = int64(t.Priority)
	if t.Originator {
		u.Levels[levelOriginators] = 1
	}
	if t.OptedOut {
		u.Levels[levelOptedOut] = 1
	}
	if x.e.Order == ClosestMatch {
		exact, others := x.match(size)
		if u.Levels[levelOthers] = int64(others); !exact {
			u.Levels[levelInexact] = 1
		}
	}
	u.Work = t.Lost(x.now)
	return u
}
