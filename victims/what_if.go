package victims

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A WhatIf answers about sets of victims for one ask: whether headroom under
// the maxima of the queues would do, and whether the set is lawful. Use it if
// another scheduler searches the nodes by itself, and asks about quota again
// and again while it adds tasks to the set and takes them back. The cluster
// stays as it is.
//
// Open it for an ask. Its set is empty then. [WhatIf.Preempt] and
// [WhatIf.TakeBack] change the set, [WhatIf.MayFit] and [WhatIf.Lawful] say what
// it is. A change costs depth times types; an answer costs nothing. Once warm it
// allocates nothing.
//
// A WhatIf knows no nodes. Whether the ask has room on its node, whether victims
// are there or who blocks it, and whether fewer victims or others would do, is
// for those who search; an [Auditor] says it all.
//
// If the cluster changes, the WhatIf is closed: it may not fit and is not
// lawful, until it is opened again. It serves one goroutine at a time; several may
// be open over one unchanged cluster. It must not be copied after its first use.
type WhatIf struct {
	d      decision
	answer Decision // to the question whether the ask may preempt at all
	open   Version
	barred bool // the ask may have no victims

	set []supposed
	at  []int32 // by task: its place in set, and one; 0 if it is not there

	lack   []int64 // per queue that lacks headroom, and type
	gone   []int64 // per bound of law 2, and type
	eroded []int64 // likewise; see Rooms.Erodes
	drawn  []int64 // per budget

	lacks  int // how many amounts of lack are open
	wrongs int // how many laws are broken: victims, bounds, budgets, jobs
}

// A supposed is a task of the set.
type supposed struct {
	task TaskID
	rule Rule // that keeps it from being a victim, or 0
}

// Open opens the question for an ask at the instant now, with the empty set and
// the options of a planner: its cluster, StrictPriority, OwnLeaf, Interval,
// Exempt and Minimum. The ask must not change while it is open.
//
// Errors are those of [Planner.Decide]. An ask that holds a grant is one too,
// and wraps [ErrState]: it has no victims to choose. An error closes w. The cost
// is linear in queues times types, and in the size of the set before.
func (w *WhatIf) Open(p *Planner, ask *Ask, now time.Time) error {
	if p.Cluster == nil {
		panic("victims: a Planner without a Cluster")
	}
	w.open = Version{}
	d := &w.d
	if err := d.reset(p, ask, now); err != nil {
		return err
	}
	if _, held := d.c.LookupGrant(ask.Key); held {
		return fmt.Errorf("victims: what if for ask %q: it holds a grant: %w", ask.Key, ErrState)
	}
	second := p.OwnLeaf != OwnNever && !d.required()
	w.barred = w.bars(second)
	s := outsideLeaf
	if second {
		s = withOwnLeaf
	}
	d.prepare(s)
	w.clear()
	w.open = d.c.version
	return nil
}

// bars reports whether the ask may have no victims at all. If tasks of its own
// leaf may go, law 4 is a matter of single victims; see prepare.
func (w *WhatIf) bars(second bool) bool {
	w.answer.reset(&w.d)
	w.d.precondition(&w.answer)
	switch w.answer.Refusal.Reason {
	case 0, HeadroomInside: // the latter only says that no set helps
		return false
	case OverMax, NotGuaranteed, OverGuarantee:
		return !second
	}
	return true
}

// clear makes the set the empty one.
func (w *WhatIf) clear() {
	for _, s := range w.set {
		w.at[s.task] = 0
	}
	c, needs := w.d.c, &w.d.needs
	w.set, w.wrongs, w.lacks = w.set[:0], 0, 0
	w.at = rows.More(w.at, max(0, len(c.tasks)-len(w.at)))
	w.lack = append(w.lack[:0], needs.blocks...)
	for _, v := range w.lack {
		if v > 0 {
			w.lacks++
		}
	}
	amounts := len(w.d.eligible.Rooms.Bounds) * c.types
	w.gone, w.eroded = rows.Zeros(w.gone, amounts), rows.Zeros(w.eroded, amounts)
	w.drawn = rows.Zeros(w.drawn, len(c.budgets))
}

// Preempt adds a task to the set. It reports false, and changes nothing, if the
// row is that of no task, grants included, if the task is in the set already, or
// if w is not open. A task that may not go is added as well: the set is unlawful
// as long as it is there.
func (w *WhatIf) Preempt(id TaskID) bool {
	if !w.isOpen() || uint(id) >= uint(len(w.at)) || w.at[id] != 0 {
		return false
	}
	r := &w.d.c.tasks[id]
	if !r.flags.has(flagLive) || r.state == Granted {
		return false
	}
	s := supposed{task: id, rule: w.d.eligible.Rule(id)}
	w.set = append(w.set, s)
	w.at[id] = int32(len(w.set))
	w.count(s, +1)
	return true
}

// TakeBack takes a task out of the set. It reports false, and changes nothing,
// if the task is not there or w is not open.
func (w *WhatIf) TakeBack(id TaskID) bool {
	if !w.isOpen() || uint(id) >= uint(len(w.at)) || w.at[id] == 0 {
		return false
	}
	i, last := w.at[id]-1, len(w.set)-1
	s := w.set[i]
	w.set[i] = w.set[last]
	w.at[w.set[i].task] = i + 1
	w.at[id] = 0
	w.set = w.set[:last]
	w.count(s, -1)
	return true
}

// MayFit reports whether every queue above the ask has headroom for it once the
// set and what is leaving already have gone. On which node a task runs, and
// whether it may go at all, plays no part in it.
func (w *WhatIf) MayFit() bool { return w.isOpen() && w.lacks == 0 }

// Lawful reports whether the set breaks no law: the ask may preempt, each task
// may be a victim, law 2 holds over all of them, no hard budget is overrun, and
// jobs with a minimum keep it or go whole. The empty set is lawful. A set that is
// part of a lawful one is lawful too, but for members of a job that goes whole.
func (w *WhatIf) Lawful() bool {
	return w.isOpen() && w.wrongs == 0 && (!w.barred || len(w.set) == 0)
}

// Len returns the number of tasks in the set.
func (w *WhatIf) Len() int { return len(w.set) }

// isOpen reports whether the cluster is still the one that w was opened for.
func (w *WhatIf) isOpen() bool { return w.d.c != nil && w.open == w.d.c.version }

// count counts a task, or takes it back. What is leaving anyway frees nothing.
func (w *WhatIf) count(s supposed, sign int64) {
	if s.rule != 0 {
		w.wrongs += int(sign)
	}
	r := &w.d.c.tasks[s.task]
	if r.state != Running {
		return
	}
	leaf, size := &w.d.eligible.leaves[r.leaf], w.d.c.size(s.task)
	w.countHeadroom(leaf.level, size, sign)
	for _, b := range leaf.bounds {
		w.countBound(w.gone, boundPart{b, size, sign})
	}
	for _, b := range leaf.erodes {
		w.countBound(w.eroded, boundPart{b, size, sign})
	}
	for _, b := range w.d.c.budgetsOf(s.task) {
		w.countBudget(b, sign)
	}
	if r.job != 0 && w.d.p.Minimum != nil {
		j := w.d.gangs.glance(r.job)
		w.judge(j.broken(), -1)
		j.taken += int32(sign)
		w.judge(j.broken(), +1)
	}
}

// judge notes that a law is broken, or was and is looked at again.
func (w *WhatIf) judge(broken bool, sign int) {
	if broken {
		w.wrongs += sign
	}
}

// countHeadroom counts amounts for the queues from a level on.
func (w *WhatIf) countHeadroom(level int32, size resources.Vector, sign int64) {
	n := &w.d.needs
	for i := int(level); i < len(n.queues); i++ {
		for t := range n.masks[i].All() {
			lack := &w.lack[i*n.types+t]
			if n.short[i][t] == 0 {
				continue
			}
			if *lack > 0 {
				w.lacks--
			}
			if *lack -= sign * size[t]; *lack > 0 {
				w.lacks++
			}
		}
	}
}

// boundPart is amounts that count for a bound of law 2, or are taken back.
type boundPart struct {
	row  int32
	size resources.Vector
	sign int64
}

// countBound counts amounts in one of the two sums of a bound.
func (w *WhatIf) countBound(sums []int64, p boundPart) {
	bound := &w.d.eligible.Rooms.Bounds[p.row]
	for t := range bound.Room.Defined.All() {
		if v := p.size[t]; v > 0 {
			i := int(p.row)*len(p.size) + t
			extra := bound.Extra.At(t)
			w.judge(w.gone[i] > bound.Room.Value[t]+max(extra-w.eroded[i], 0), -1)
			sums[i] += p.sign * v
			w.judge(w.gone[i] > bound.Room.Value[t]+max(extra-w.eroded[i], 0), +1)
		}
	}
}

// countBudget counts a task of a budget.
func (w *WhatIf) countBudget(row int32, sign int64) {
	b := &w.d.c.budgets[row]
	if left := max(b.left, 0); b.hard {
		w.judge(w.drawn[row] > left, -1)
		w.drawn[row] += sign
		w.judge(w.drawn[row] > left, +1)
	}
}
