// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

const noLimit = math.MaxInt64

// A moment says which amounts count: those of now, or those that will be once
// what is already leaving has gone.
type moment uint8

const (
	present moment = 1 + iota
	coming
)

// usageAt returns what a queue uses of a type at a moment.
func usageAt(tree *queue.Tree, q queue.ID, t int, m moment) int64 {
	used := tree.Usage(q)[t]
	if m == coming {
		used -= tree.Leaving(q)[t]
	}
	return used
}

// A shortage is the headroom that is lacking under the maxima of a path. The
// queues are nested, so one number tells what a task helps, its level: the
// first of the queues that it is below. (DESIGN.md, The decision.)
type shortage struct {
	queues []queue.ID         // that lack headroom, from the leaf upwards
	short  []resources.Vector // what each lacks, in the types that are wanted
	masks  []resources.Mask   // the types in which those from a level on are short
	most   resources.Vector   // the largest lack per type
	// ruled says of each queue that one further down lacks at least as much: who
	// makes headroom there makes it here, and nobody else needs to go for it.
	ruled  []bool
	widest int // the last queue that is not ruled
	// whole says that none is ruled: a predicate may want whom amounts do not need.
	whole bool

	types  int
	blocks []int64
}

// open reports whether any headroom is lacking.
func (n *shortage) open() bool { return len(n.queues) > 0 }

// reset makes the shortage ready for queues that lack headroom.
func (n *shortage) reset(types int) {
	n.types, n.blocks = types, n.blocks[:0]
	n.queues, n.short, n.masks = n.queues[:0], n.short[:0], n.masks[:0]
	n.most = rows.Zeros(n.most, types)
}

// lack adds a queue if it lacks headroom: e + size - max, where most is the max
// in the types that are wanted.
func (n *shortage) lack(tree *queue.Tree, q queue.ID, most resources.Limit, size resources.Vector) {
	var short resources.Vector
	for t := range most.Defined.All() {
		lack := usageAt(tree, q, t, coming) + size[t] - most.Value[t]
		if lack <= 0 {
			continue
		}
		if short == nil {
			short = n.block()
		}
		short[t] = lack
		n.most[t] = max(n.most[t], lack)
	}
	if short != nil {
		n.queues = append(n.queues, q)
		n.short = append(n.short, short)
		n.masks = append(n.masks, resources.Positive(short))
	}
}

// settle ends a series of lacks.
func (n *shortage) settle() {
	n.rule()
	n.masks = append(n.masks, 0)
	for i := len(n.queues) - 1; i >= 0; i-- {
		n.masks[i] |= n.masks[i+1]
	}
}

// rule finds out which lacks follow from others.
func (n *shortage) rule() {
	n.ruled, n.widest = n.ruled[:0], 0
	for i, short := range n.short {
		ruled := !n.whole && slices.ContainsFunc(n.short[:i], func(inner resources.Vector) bool { return resources.Fits(short, inner) })
		if n.ruled = append(n.ruled, ruled); !ruled {
			n.widest = i
		}
	}
}

// needOf returns what headroom at a queue takes that does not follow from others.
func (n *shortage) needOf(i int) resources.Vector {
	if n.ruled[i] {
		return nil
	}
	return n.short[i]
}

// block returns a row of zeros, one amount per type, that lives until reset.
func (n *shortage) block() resources.Vector {
	from := len(n.blocks)
	n.blocks = rows.More(n.blocks, n.types)
	return n.blocks[from:len(n.blocks):len(n.blocks)]
}

// A WhatIf answers about a set of victims for one ask: is there headroom under the maxima, and is the set
// lawful? It looks at no node and no blocker, and does not ask if fewer would do.
//
// A change of the cluster closes it: both answers are no. A change of the set costs depth·types.
type WhatIf struct {
	Cluster *Cluster
	Options // but Filter, Moves, ByPriority and Admit

	p      planner
	answer Decision // to the question whether the ask may preempt at all
	open   Version
	barred bool // the ask may have no victims

	set   []TaskID
	rules []rulebook.Rule // that keep these from being victims, or 0
	at    []int32         // by task: its place in set, and one; 0 if it is not there

	lack  []int64 // per queue that lacks headroom, and type
	gone  []int64 // per bound of law 2, and type
	drawn []int64 // per budget

	lacks  int // how many amounts of lack are open
	wrongs int // how many laws are broken: victims, bounds, budgets, jobs
}

// Open opens the question for an ask at the instant now, with the empty set. The ask must not change while it is
// open. Errors are those of a planner, and ErrState for an ask that holds a grant or has members; they close w. The
// cost is linear in queues·types.
func (w *WhatIf) Open(ask *Ask, now time.Time) error {
	if w.Cluster == nil {
		panic("victims: a WhatIf without a Cluster")
	}
	w.open = Version{}
	w.p.Set(w.Cluster, &w.Options)
	d := &w.p.d
	if err := d.reset(&w.p, ask, now); err != nil {
		return err
	}
	if _, held := d.c.LookupGrant(ask.Key); held {
		return fmt.Errorf("victims: what if for ask %q: it holds a grant: %w", ask.Key, ErrState)
	}
	second := d.own != queue.Never && !d.required()
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
	w.p.d.begin(&w.answer)
	w.p.d.precondition(&w.answer)
	switch w.answer.Refusal.Reason {
	case "", rulebook.HeadroomInside: // the latter only says that no set helps
		return false
	case rulebook.OverMax, rulebook.NotGuaranteed, rulebook.OverGuarantee:
		return !second
	}
	return true
}

// clear makes the set the empty one.
func (w *WhatIf) clear() {
	for _, id := range w.set {
		w.at[id] = 0
	}
	c, needs := w.p.d.c, &w.p.d.needs
	w.set, w.rules, w.wrongs, w.lacks = w.set[:0], w.rules[:0], 0, 0
	w.at = rows.More(w.at, max(0, len(c.tasks)-len(w.at)))
	w.lack = append(w.lack[:0], needs.blocks...)
	for _, v := range w.lack {
		if v > 0 {
			w.lacks++
		}
	}
	amounts := len(w.p.d.eligible.Rooms.Bounds) * c.types
	w.gone = rows.Zeros(w.gone, amounts)
	w.drawn = rows.Zeros(w.drawn, len(c.budgets))
}

// Preempt adds a task, which may make the set unlawful. It reports false for a grant, a task in the set, or if
// w is not open.
func (w *WhatIf) Preempt(id TaskID) bool {
	if !w.isOpen() || uint(id) >= uint(len(w.at)) || w.at[id] != 0 {
		return false
	}
	r := &w.p.d.c.tasks[id]
	if !r.flags.has(flagLive) || r.state == Granted {
		return false
	}
	w.set, w.rules = append(w.set, id), append(w.rules, w.p.d.eligible.rule(id))
	w.at[id] = int32(len(w.set))
	w.count(len(w.set)-1, +1)
	return true
}

// TakeBack takes a task out. It reports false if it is not in the set or w is not open.
func (w *WhatIf) TakeBack(id TaskID) bool {
	if !w.isOpen() || uint(id) >= uint(len(w.at)) || w.at[id] == 0 {
		return false
	}
	i, last := w.at[id]-1, len(w.set)-1
	w.count(int(i), -1)
	w.set[i], w.rules[i] = w.set[last], w.rules[last]
	w.at[w.set[i]] = i + 1
	w.at[id] = 0
	w.set, w.rules = w.set[:last], w.rules[:last]
	return true
}

// MayFit reports whether every queue above the ask has headroom once the set and what is leaving have gone.
func (w *WhatIf) MayFit() bool { return w.isOpen() && w.lacks == 0 }

// Lawful reports whether the ask may preempt, and the set keeps all laws that depend on no node. Parts of a lawful set
// are lawful, unless they split a job that goes whole.
func (w *WhatIf) Lawful() bool {
	return w.isOpen() && w.wrongs == 0 && (!w.barred || len(w.set) == 0) && w.p.d.c.keepsCaps(&w.p.d.caps, w.set)
}

// isOpen reports whether the cluster is still the one that w was opened for.
func (w *WhatIf) isOpen() bool { return w.p.d.c != nil && w.open == w.p.d.c.version }

// count counts a task of the set, or takes it back. What is leaving anyway frees nothing.
func (w *WhatIf) count(i int, sign int64) {
	id := w.set[i]
	if w.rules[i] != 0 {
		w.wrongs += int(sign)
	}
	r := &w.p.d.c.tasks[id]
	if r.state != Running {
		return
	}
	leaf, size := &w.p.d.eligible.Leaves[r.leaf], w.p.d.c.size(id)
	w.countHeadroom(leaf.Level, size, sign)
	for _, b := range leaf.Bounds {
		w.countBound(b, size, sign)
	}
	for _, b := range w.p.d.c.budgetsOf(id) {
		w.countBudget(b, sign)
	}
	if r.job != 0 && w.p.d.c.gangs > 0 {
		j := w.p.d.gangs.glance(r.job)
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
	n := &w.p.d.needs
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

// countBound counts amounts for a bound of law 2, or takes them back.
func (w *WhatIf) countBound(row int32, size resources.Vector, sign int64) {
	bound := &w.p.d.eligible.Rooms.Bounds[row]
	for t := range bound.Room.Defined.All() {
		if v := size[t]; v > 0 {
			gone := &w.gone[int(row)*len(size)+t]
			w.judge(*gone > bound.Room.Value[t], -1)
			*gone += sign * v
			w.judge(*gone > bound.Room.Value[t], +1)
		}
	}
}

// countBudget counts a task of a budget.
func (w *WhatIf) countBudget(row int32, sign int64) {
	b := &w.p.d.c.budgets[row]
	if left := max(b.left, 0); b.hard {
		w.judge(w.drawn[row] > left, -1)
		w.drawn[row] += sign
		w.judge(w.drawn[row] > left, +1)
	}
}
