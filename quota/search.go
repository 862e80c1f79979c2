package quota

import (
	"math"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// finder searches for the cheapest set of tasks if the walk in order ends short.
// A search lifts the victims in question off first: law 2, gangs and budgets then
// say what may go if they were chosen anew. In the end they are put back, or
// replaced by what was found.
type finder struct {
	*roster

	worker  cover.Worker
	problem cover.Problem
	poser   poser
	trial   cover.Selection // of the present search
	found   cover.Selection // of the last one that found anything
	lifted  []lifted
	had     resources.Vector // what was freed before, or by the last set found
	single  resources.Vector // what a task may have, if nobody else goes
	sum     resources.Vector // scratch
	most    []int64          // see hope
	pass    uint64           // counts looks at the tasks of a leaf

	steps    int64       // elementary ones, of all searches
	left     int64       // of the budget, for searches that need not be complete
	share    cover.Meter // a part of it, for the present search
	unproven bool
}

// lifted is a victim that was lifted off.
type lifted struct {
	row       int32
	asOneUnit bool
}

// start begins with the whole budget.
func (f *finder) start() {
	f.steps, f.unproven = 0, false
	if f.left = f.e.Budget; f.left <= 0 {
		f.left = victims.DefaultBudget(f.c)
	}
}

// search looks for a set of tasks of leaf w that meets a goal which the walk in
// order did not, or as much of the goal as any task can give, type by type. If
// there is one, the cheapest takes the place of what was taken. It reports
// whether that frees more of the goal.
func (f *finder) search(w queue.ID, goal resources.Vector) bool {
	row := f.at(w)
	f.had = resources.Copy(f.had, f.row(f.freed, w))
	f.lift(row.first, row.end)
	tasks := f.pose(w, goal)
	hope := false
	for _, t := range f.list {
		hope = hope || f.poser.need[t] > f.had[t]
	}
	// Without hope all that could be had is taken.
	if !hope || !f.solve(tasks) {
		f.putBack()
		return false
	}
	f.takeFound()
	return true
}

// lift gives the victims in some rows back, and notes them.
func (f *finder) lift(first, end int32) {
	f.lifted = f.lifted[:0]
	for i := first; i < end; i++ {
		if f.taken[i] {
			f.lifted = append(f.lifted, lifted{i, f.tasks[i].asOneUnit})
		}
	}
	for _, l := range f.lifted {
		if t := &f.tasks[l.row]; !l.asOneUnit {
			f.untake(l.row)
		} else if f.gangs.rows[t.gang].gone {
			f.untakeRest(t.gang)
		}
	}
}

// putBack takes the victims again that were lifted.
func (f *finder) putBack() {
	for _, l := range f.lifted {
		if !l.asOneUnit {
			f.take(l.row)
		}
	}
	for _, l := range f.lifted { // those that are left of their gangs
		if gang := f.tasks[l.row].gang; l.asOneUnit && !f.gangs.rows[gang].gone {
			f.takeRest(gang)
		}
	}
}

// takeFound takes the set that was found last.
func (f *finder) takeFound() {
	for _, u := range f.found.Units {
		if row := f.poser.rowOf[u]; row >= 0 {
			f.take(row)
		} else {
			f.takeRest(^row)
		}
	}
}

// solve searches for the cheapest set that the problem asks for, which is about so
// many tasks, as far as the budget goes. It reports whether it found one, and sets
// found and had to it.
func (f *finder) solve(tasks int) bool {
	if !f.allow(tasks) {
		f.unproven = true
		return false
	}
	pace := 2 * CompleteCandidates << CompleteCandidates
	if f.worker.Meter != nil {
		pace = math.MaxInt32 // the allowance bounds it
	}
	f.worker.Least(&f.trial, &f.problem, pace)
	f.steps += f.trial.Spent
	if f.worker.Meter != nil {
		f.left -= f.trial.Spent
	}
	if !f.trial.Proven {
		f.unproven = true
	}
	if !f.trial.Found {
		return false
	}
	f.trial, f.found = f.found, f.trial
	clear(f.had)
	for _, u := range f.found.Units {
		f.had = resources.Add(f.had, f.had, f.problem.Units[u].Size)
	}
	return true
}

// allow gives a search among n tasks its share of the budget, and reports whether
// that is enough to look at each of them once. Few tasks are searched to the end,
// at no cost: of n tasks there are 2^n sets at most, and no branch is longer than
// twice their number, gangs included.
func (f *finder) allow(n int) bool {
	if n <= CompleteCandidates {
		f.worker.Meter = nil
		return true
	}
	f.share.Left = f.left / 16 // no search takes much of what is left for those to come
	f.worker.Meter = &f.share
	return f.share.Left >= int64(n)*int64(f.types)
}
