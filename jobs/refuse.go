// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"time"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// refused sets dst to a refusal that is certain.
func (d *decision) refused(dst *victims.Decision, r string) {
	dst.Outcome = victims.Refused
	dst.Plan.Version = victims.Version{} // there is nothing to apply
	dst.Refusal.Reason = r
	dst.Refusal.Wanted = len(d.unplaced)
	// Reasons that need no search are certain. Who has searched says otherwise
	// afterwards.
	dst.Refusal.Proven = true
}

// lacks sets dst to the refusal of a job for which no legal plan was found, but for what
// is counted.
func (d *decision) lacks(dst *victims.Decision) {
	d.refused(dst, rulebook.NoVictims)
	r := &dst.Refusal
	// A predicate that refused anything may be all that was in the way; nothing
	// else could tell.
	if d.search.asker.refused {
		r.Reason = rulebook.PredicateRefused
	}
	r.Proven, dst.Plan.Steps = d.best.proven, d.effort.steps()
	if r.Reason == rulebook.NoVictims && d.caps != (rulebook.Caps{}) && !d.p.hasty && !d.effort.eager {
		d.tellCap(r)
	}
}

// tellCap looks for any plan without one of the caps, and tells this as the reason if there is one.
func (d *decision) tellCap(r *victims.Refusal) {
	d.effort.eager = true
	if c, bars := d.caps.Bars(func() bool { return d.plans(len(d.unplaced)) }); bars {
		r.Reason, lent.To(r).Beyond = c.Entry().Word, lent.To(&d.p.Options).Capped(d.c, d.appendTasks(nil, d.best.units))[c]
	}
	d.effort.eager, d.best.found = false, false
	d.state(len(d.unplaced))
}

// unplanned completes the refusal of a job that has no plan with the candidates of a stage.
func (d *decision) unplanned(dst *victims.Decision, s stage) {
	r := &dst.Refusal
	counted := rulebook.ReasonOf(r.Reason).Searched
	own := s != byPriority && d.mayTakeOwn(r.Reason)
	if !counted {
		if own && d.rules.timed.Any() {
			d.effort.eager = true
			r.RetryAt = d.retryAt(withOwnLeaf, r.Proven)
		}
		return
	}
	if d.rules.stage != s {
		d.rules.stage = s
		d.state(len(d.unplaced))
	}
	if d.p.Admit != nil {
		d.gather(scope{all: true})
		d.lackQuota(r)
	}
	lent.To(dst).CountLater(d, uint8(s))
	last := s
	if own {
		last = withOwnLeaf // whoever may go in the first stage may go in the second
	}
	// What follows searches again, for other moments, and overwrites the case. So all that
	// is said of the case itself comes before.
	d.effort.eager = true // from here on any plan will do
	r.RetryAt = d.retryAt(last, r.Proven)
	d.rules.timed.Horizon, d.rules.stage = d.now, s
}

// plans reports whether the first n members of the minimum have a plan.
func (d *decision) plans(n int) bool { return d.state(n) && d.find() }

// lackQuota notes which quotas have their max passed with everybody gone who
// could.
func (d *decision) lackQuota(r *victims.Refusal) {
	// Everybody who could go is taken off the books. What is passed even then
	// no victims can help.
	for i := range d.cands {
		d.gate.remove(d.cands[i].id)
	}
	if !d.gate.admits(d.rem) {
		r.Reason, r.Breaches = rulebook.QuotaMax, append(r.Breaches, d.gate.asking.Breaches...)
	}
}

// retryAt returns the first instant at which, all else equal, there is a plan because rules have ended; zero if
// there is none. If it is certain that there is none now, one for which too few steps were left counts as if it
// had one: there is none before what it returns.
func (d *decision) retryAt(s stage, certain bool) time.Time {
	if !d.rules.timed.Any() || d.p.hasty {
		return time.Time{}
	}
	d.rules.stage = s
	if d.state(len(d.unplaced)); d.gate.forbids(d.rem) {
		return time.Time{} // whoever may go
	}
	d.ends = d.ends[:0]
	for id := range d.c.Tasks() {
		d.pay(lookWork)
		// A task that another rule keeps does not become a candidate by time.
		if t := d.c.TaskView(id); t.State != victims.Granted && d.rules.veto(&t) == 0 {
			d.ends = d.rules.timed.AppendEnd(d.ends, lent.To(&d.p.Options).Stay(d.c, id))
		}
	}
	// The more rules have ended the more tasks may go, so this is monotone.
	first := eligible.FirstEnd(d.ends, func(end time.Time) bool {
		d.rules.timed.Horizon, d.effort.found, d.best.proven = end, false, true
		if d.effort.exhausted() {
			return certain
		}
		return d.plans(len(d.unplaced)) || certain && !d.best.proven && d.effort.Over()
	})
	if d.effort.Stopped {
		return time.Time{}
	}
	return first
}

// domainIsFull reports whether grants of the job bind the members without a place to a
// domain whose nodes have no room for them, and no plan makes any: without these grants the
// job could go elsewhere. Time and quotas are other matters.
func (d *decision) domainIsFull(dst *victims.Decision) bool {
	if dst.Outcome != victims.Refused || d.job.DomainDepth == 0 || len(d.held) == 0 || len(d.unplaced) == 0 {
		return false
	}
	switch dst.Refusal.Reason {
	case victims.InFlight, rulebook.NoDomain, rulebook.QuotaMin, rulebook.QuotaMax, rulebook.TooEarly, rulebook.TooSoon:
		return false
	}
	d.space = d.space[:0]
	for h := range d.hosts {
		d.space = append(d.space, d.hosts[h].free...)
	}
	return !d.packAmounts()
}

// packAmounts reports whether all members fit into d.space, by amounts alone.
func (d *decision) packAmounts() bool {
	asker := &d.search.asker
	picky := asker.picky
	asker.picky = false
	defer func() { asker.picky = picky }()
	return d.search.pack.packInto(d.space, nil)
}

// root notes why a refused job could not run even in an empty cluster: what is so of the
// first required member of which anything is.
func (d *decision) root(dst *victims.Decision) {
	if dst.Outcome != victims.Refused || dst.Refusal.Reason == victims.InFlight {
		return
	}
	for _, i := range d.unplaced {
		size := d.job.Members[i].Size
		size = size[:min(len(size), d.types)]
		d.may = d.may[:0]
		for n := range d.c.Nodes() {
			if d.mayUse(n, i) {
				if d.may = append(d.may, n); resources.Fits(size, d.c.NodeView(n).Capacity) {
					break
				}
			}
		}
		member := victims.Ask{Size: size, Queue: d.job.Queue}
		if dst.Refusal.Cause = lent.To(&d.p.Options).CauseOf(d.c, &member, d.may); dst.Refusal.Cause.Kind != "" {
			return
		}
	}
}

// mayUse reports whether a member may run on a node, whatever domain the job requires.
func (d *decision) mayUse(n victims.NodeID, member int) bool {
	if h := d.hostAt(n); h >= 0 {
		return d.takesMember(h, member)
	}
	v := d.c.NodeView(n)
	d.asked.Member, d.asked.Node = &d.job.Members[member], n
	return !v.Unschedulable && (v.ReservedFor == "" || v.ReservedFor == d.job.Key || v.ReservedFor == d.job.Members[member].Key) &&
		(d.p.Filter == nil || d.p.Filter(&d.asked))
}

// help says what would help after a refusal. An answer other than a refusal needs room as
// things are, or a plan. (DESIGN.md, What would help.)
func (d *decision) help(dst *victims.Decision) {
	r, fill := &dst.Refusal, lent.To(dst)
	if r.Proven {
		r.RetryAt = eligible.Sooner(r.RetryAt, d.filter.until, d.now)
	}
	fill.HelpTime()
	w := d.wish(r)
	defer func() { fill.Note(d.c, &w, &d.rules.eligible) }()
	switch {
	// A predicate may look at anything, and so may formulas of quotas.
	case d.p.ByPriority, d.p.Admit != nil, d.p.Predicate != nil, d.p.Blockers != nil, d.mayTakeOwn(r.Reason):
		w.Anything = true
		fill.Anything(d.c)
		return
	}
	e := rulebook.ReasonOf(r.Reason)
	if fill.HelpReason(); !e.Place && !e.Gate {
		// Of a job that may have victims on many nodes MayHaveChanged compares amounts. Gangs go for
		// reasons of their own.
		switch r.Reason {
		case rulebook.NoVictims:
			w.Anything, w.Gangs = !r.Proven, true
		case victims.InFlight:
			w.Anything = d.leaving
		default:
			w.Anything = true
		}
		fill.Anything(d.c)
	}
	if e.Place {
		d.helpRoom(dst)
	}
}

// wish says what the required members without a place want.
func (d *decision) wish(r *victims.Refusal) rulebook.Wish {
	w := rulebook.Wish{
		Queue: d.job.Queue, Many: len(d.unplaced) > 1, All: d.rem, At: d.now, RetryAt: r.RetryAt,
		Reason: r.Reason, About: lent.To(r).About, Type: r.Type, NeedsRoom: d.needs.open(), Counting: lent.To(&d.p.Options).Counting(),
	}
	if r.Reason == rulebook.OverGuarantee {
		w.Before = d.before.At(r.Type)
	}
	for n, i := range d.unplaced {
		if size := d.job.Members[i].Size; n == 0 {
			d.least = append(rows.Zeros(d.least, d.types)[:0], size...)
		} else {
			for t := range d.least {
				d.least[t] = min(d.least[t], size.At(t))
			}
		}
	}
	w.Least = d.least
	d.places = d.places[:0]
	for _, id := range d.held {
		d.places = append(d.places, int32(d.c.NodeOf(id)))
	}
	w.Places = d.places
	return w
}

// helpRoom names what could give the members room: less usage of a queue that has no
// headroom for them, and else any node. Of two that are both necessary one is enough to
// name.
func (d *decision) helpRoom(dst *victims.Decision) {
	h, fill := &dst.Refusal.Help, lent.To(dst)
	for q := range d.tree.Ancestors(d.job.Queue) {
		most := d.tree.Max(q)
		for t := range most.Defined.All() {
			if need := d.rem.At(t); need > 0 && d.gate.usage(q, t, coming)+need > most.Value[t] {
				h.Bounds = true
				fill.HelpLess(d.tree.Path(q))
				return
			}
		}
	}
	fill.HelpNodes()
	h.Labels = true
}
