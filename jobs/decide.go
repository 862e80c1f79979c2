package jobs

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// decide answers a job. (Section 8.)
func (d *decision) decide(dst *Decision) {
	d.steps, d.refusals, d.picky, d.eager = 0, 0, true, false
	d.findHosts()
	d.setTodo(len(d.unplaced))
	d.measureHosts()
	if d.leaving || !d.couldStart() {
		d.refused(dst, InFlight)
		return
	}
	if d.place(dst) || d.forbidden(dst) {
		return
	}
	d.setAsk()
	if !d.prepare(len(d.unplaced)) {
		d.refused(dst, NothingInReach)
		return
	}
	if d.choose() {
		d.planned(dst)
		return
	}
	d.unplanned(dst)
}

// place decides without victims where that is possible: lazily, for nothing
// that runs may be stopped for a job that has room.
func (d *decision) place(dst *Decision) bool {
	switch {
	case d.fits(present):
		dst.Outcome = victims.Fits
	case d.fits(coming):
		dst.Outcome = victims.Waits
	default:
		return false
	}
	dst.Plan.Placements = d.placements(dst.Plan.Placements, d.pack.at)
	dst.Plan.Proof = ProofLevels // nobody falls
	if d.pack.first {
		dst.Plan.Proof = ProofCost
	}
	d.placeFurther(dst, d.pack.moment)
	return true
}

// couldStart reports whether the members that hold a grant have room at present,
// where what is leaving is still: on their nodes, under the maxima of their
// path, and in its quotas. With their grants taken off they ask anew.
func (d *decision) couldStart() bool {
	if len(d.held) == 0 {
		return true
	}
	d.read(present)
	d.heldSum = zeros(d.heldSum, d.types)
	for _, id := range d.held {
		t := d.c.TaskView(id)
		d.sum = d.c.Free(d.sum, t.Node)
		for i, v := range t.Size {
			if v > 0 && d.sum[i] < 0 {
				return false
			}
		}
		d.heldSum = resources.Add(d.heldSum, d.heldSum, t.Size)
		d.ledger.Remove(&t)
	}
	if !d.underMaxima(resources.Positive(d.heldSum), nil, present) {
		return false // usage has the grants
	}
	d.breaches = d.ledger.Admit(d.breaches[:0], Claim{Rem: d.heldSum, NonPreemptible: d.job.NonPreemptible})
	return len(d.breaches) == 0
}

// forbidden refuses a job that may not have victims now.
func (d *decision) forbidden(dst *Decision) bool {
	d.read(coming)
	d.breaches = d.ledger.MayPreempt(d.breaches[:0], d.claim())
	if len(d.breaches) > 0 {
		reason := QuotaMax
		if d.job.NonPreemptible {
			reason = QuotaMin
		}
		d.refused(dst, reason)
		dst.Refusal.Breaches = append(dst.Refusal.Breaches, d.breaches...)
		return true
	}
	if d.job.MayNot {
		d.refused(dst, MayNotPreempt)
		return true
	}
	return false
}

// verify has the auditor look at a plan, from scratch. What does not pass is
// withheld.
func (d *decision) verify(dst *Decision) {
	if dst.Outcome == victims.Refused {
		return
	}
	p := d.p
	p.auditor.Cluster, p.auditor.Quotas, p.auditor.Minimum = p.Cluster, p.Quotas, p.Minimum
	p.auditor.Exempt, p.auditor.Predicate = p.Exempt, p.Predicate
	p.found = p.auditor.Audit(p.found[:0], &dst.Plan, d.now)
	if len(p.found) > 0 {
		dst.Plan.Placements, dst.Plan.Victims = dst.Plan.Placements[:0], dst.Plan.Victims[:0]
		d.refused(dst, Unlawful)
		dst.Refusal.Proven = false
	}
}

// setAsk describes the first member without a place to those who exempt tasks
// from it.
func (d *decision) setAsk() {
	d.ask = victims.Ask{Key: d.job.Name, Application: d.job.Application, Queue: d.job.Queue, Priority: d.job.Priority}
	if len(d.unplaced) > 0 {
		d.ask = d.job.ask(d.unplaced[0])
	}
}

// prepare makes the first n members of the minimum the ones to be placed, and
// works out what could be stopped for them. It reports whether any leaf is in
// reach.
func (d *decision) prepare(n int) bool {
	d.setTodo(n)
	d.measureHosts()
	d.read(coming)
	d.prepareNeeds()
	if !d.prepareLeaves() {
		return false
	}
	d.gatherCandidates()
	d.measureUnits()
	return true
}

// planned sets dst to the best plan.
func (d *decision) planned(dst *Decision) {
	dst.Outcome = victims.Preempts
	p := &dst.Plan
	p.Placements = d.placements(p.Placements, d.best.at)
	p.Cost, p.Steps, p.Proof = d.best.cost, d.steps, d.proof
	d.loadHosts(d.best.at)
	short := resources.Vector(d.block(1))
	for _, u := range d.best.units {
		for _, i := range d.fallsOf(u) {
			p.Victims = append(p.Victims, d.victim(u, i, short))
		}
	}
	slices.SortFunc(p.Victims, func(a, b Victim) int { return strings.Compare(a.Key, b.Key) })
	d.placeFurther(dst, coming)
}

// victim returns candidate i, which falls with unit u, as a victim.
func (d *decision) victim(u, i int32, short resources.Vector) Victim {
	c := &d.cands[i]
	size := resources.Positive(c.size)
	v := Victim{
		Task: c.id, Key: c.key, Rank: c.levels[victims.LevelRank],
		Job: d.c.TaskView(c.id).Job, Whole: d.units[u].whole,
	}
	if c.host >= 0 && d.shortOf(short, c.host) {
		v.ForNode = resources.Positive(short)&size != 0
	}
	for n := c.leaf.level; n < int32(len(d.needs.queues)); n++ {
		v.ForHeadroom = v.ForHeadroom || d.needs.headroom[n]&size != 0
		v.ForQuota = v.ForQuota || d.needs.quota[n]&size != 0
	}
	return v
}

// loadHosts sets what members ask for on every host.
func (d *decision) loadHosts(at []int32) {
	d.load = zeros(d.load, len(d.hosts)*d.types)
	for m, h := range at {
		load := d.row(d.load, int(h))
		resources.Add(load, load, d.kinds[d.kindOf[m]].size)
	}
}
