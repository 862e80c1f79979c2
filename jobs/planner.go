// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/aside"
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/moves"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Planner decides asks: gangs, several together, and lone ones. Only Cluster must be set.
type Planner struct {
	Cluster *victims.Cluster

	victims.Options

	lone    turnPlanner
	moves   moves.Search
	aside   aside.Copy  // see DecideAll
	asks    turnPlanner // likewise
	asked   []jointPart // of members in order, what the first of them have in turn; see DecideAll
	auditor victims.Auditor
	found   []victims.Violation
	quick   bool               // no complete search; for tests
	inOrder bool               // members ask in their order; see DecideAll
	hasty   bool               // there is an answer without this decision: it must not pass its budget, nor say what would help
	sharing bool               // and they are asks that share a plan, for which nobody of their own leaf goes
	without victims.Relaxation // a rule that does not hold; for Explain
	d       decision
}

// Decide sets dst to what should happen for an ask at the instant now. A refusal is no error. Errors leave dst as it
// was: a key that is empty or a task's, a queue that is no leaf, values out of range, bad options.
//
// An ask that holds a grant is judged on its node, without that and later grants there. It fits if it can start by
// [victims.Cluster.Start], or by [victims.Cluster.AddTask] if its size has changed. Else it is refused, InFlight.
//
// A gang whose members all have places fits, or is refused, InFlight, until they can start. Members that lost a
// grant with its node are decided anew; if their domain has no more room the reason is domain: drop the other grants.
//
// With ByPriority or Admit an ask without members is a gang of one, unless it requires a node.
//
// With Moves anything may help a refused ask.
func (p *Planner) Decide(dst *victims.Decision, ask *victims.Ask, now time.Time) error {
	if err := p.check(); err != nil {
		return err
	}
	err := p.stay(dst, ask, now)
	if err == nil && p.Moves != "" {
		err = p.move(dst, ask, now)
	}
	if err == nil && p.Observe != nil {
		p.Observe(dst)
	}
	return err
}

// check returns an error for options that are wrong.
func (p *Planner) check() error {
	if p.Cluster == nil {
		panic("jobs: a Planner without a Cluster")
	}
	return lent.To(&p.Options).Check()
}

// isLone reports whether an ask is decided by the engine of package victims.
func (p *Planner) isLone(ask *victims.Ask) bool {
	return len(ask.Members) == 0 && (ask.RequiredNode != "" || !p.ByPriority && p.Admit == nil)
}

// stay decides without moves, and nobody is told.
func (p *Planner) stay(dst *victims.Decision, ask *victims.Ask, now time.Time) error {
	if !p.isLone(ask) {
		return p.answer(dst, ask, now)
	}
	p.setLone()
	return p.lone.Decide(dst, ask, now)
}

// setLone gives that engine the cluster and the options of the planner.
func (p *Planner) setLone() { p.lone.set(p.Cluster, &p.Options) }

// move makes a decision one with moves, if that is better.
func (p *Planner) move(dst *victims.Decision, ask *victims.Ask, now time.Time) error {
	who, lone := *ask, p.isLone(ask)
	who.Job = jobOf(ask)
	defer p.setLone()    // the one that counts for a refusal
	options := p.Options // those of trials differ
	err := p.moves.Improve(dst, moves.Case{
		Options: &options, Cluster: p.Cluster, Ask: &who, Gang: !lone, Now: now,
		Decide: func(d *victims.Decision, c *victims.Cluster, only victims.NodeID, stop func() bool) error {
			cluster := p.Cluster
			defer func() { p.Cluster, p.Options = cluster, options }()
			p.Cluster, p.Stop = c, stop
			if lone {
				p.Filter = func(q *victims.Question) bool {
					return q.Node == only && (options.Filter == nil || options.Filter(q))
				}
			}
			return p.stay(d, ask, now)
		},
	})
	if err != nil || !p.Audit || len(dst.Plan.Moves) == 0 {
		return err
	}
	p.found = (&victims.Auditor{Cluster: p.Cluster, Options: p.Options}).Audit(p.found[:0], dst, now)
	if len(p.found) > 0 {
		lent.To(dst).Begin(ask, p.Cluster, now)
		dst.Outcome, dst.Refusal.Reason, dst.Refusal.Proven = victims.Refused, victims.Unlawful, false
		lent.To(dst).Anything(p.Cluster)
	}
	return nil
}

// answer is Decide, and nobody is told.
func (p *Planner) answer(dst *victims.Decision, job *victims.Ask, now time.Time) error {
	d := &p.d
	if err := d.begin(p, job, now); err != nil {
		return err
	}
	lent.To(dst).Begin(d.job, d.c, now)
	if p.inOrder && len(job.Members) > 1 {
		for i := range job.Members { // the asks themselves follow
			dst.SharedBy = append(dst.SharedBy, job.MemberAsk(i))
		}
	}
	d.decide(dst)
	if !p.hasty {
		d.root(dst)
	}
	d.verify(dst)
	if d.job.DomainDepth > 0 && len(dst.Plan.Places) > 0 {
		names, _ := d.domains.namesOf(&d.jobCase, dst.Plan.Places[0].Node)
		dst.Plan.Domain = append(dst.Plan.Domain, names...)
	}
	if dst.Outcome == victims.Refused && !p.hasty {
		d.help(dst)
	}
	return nil
}

// A decision is one decision in the making, and the memory for the next: the
// case, the search for a plan, and who is placed on what the plan leaves.
type decision struct {
	p *Planner
	jobCase
	effort  effort
	search  search
	further furtherer
	turn    turns // the members asked one after another
	bounds  []domainBound
	best    chosen

	load    load                   // of the plan
	short   resources.Vector       // of a host
	counts  [rulebook.NumRules]int // tasks by the rule that keeps them; see countRules
	heldSum resources.Vector       // of members that hold grants
	ready   bool                   // these grants can start
	may     []victims.NodeID       // scratch of root
	least   resources.Vector       // see wish
	places  []int32                // likewise
	ends    []time.Time            // of rules that end by themselves
	entry   trigger.Case           // see atGate
	before  resources.Vector       // likewise
	second  victims.Decision       // its refusal is that of the stage of the own leaf
	free    []int32                // candidates, see countGuaranteed
	space   []int64                // of hosts, see roomWithout
	lack    []int64                // of queues, likewise

	answers   func(*victims.Question) bool // see remembered
	answersOf *decision
}

// begin makes the decision one about a job at an instant.
func (d *decision) begin(p *Planner, job *victims.Ask, now time.Time) error {
	d.p = p
	d.effort.begin(p, len(job.Members))
	d.jobCase.meter = &d.effort.Meter
	if err := d.jobCase.begin(p, job, now); err != nil {
		return err
	}
	d.search.wire(&d.jobCase, &d.effort, p)
	d.search.asker.refusals, d.search.asker.refused, d.search.asker.picky = 0, false, true
	d.further.jobCase, d.further.asker, d.load.jobCase = &d.jobCase, &d.search.asker, &d.jobCase
	return nil
}

// decide answers a job. A refusal is no proof if a way without victims may be missing.
func (d *decision) decide(dst *victims.Decision) {
	d.search.pack.cut = false
	d.answer(dst)
	if d.domainIsFull(dst) {
		r := &dst.Refusal
		r.Reason, lent.To(r).DomainFull, r.Also = rulebook.NoDomain, true, ""
		lent.To(dst).RefuseAt(d.c, 0, 0)
	}
	if r := &dst.Refusal; dst.Outcome == victims.Refused && (d.search.pack.cut || d.effort.Stopped) {
		r.Proven = false
		if d.effort.Stopped {
			r.RetryAt = time.Time{}
		}
	}
}

// answer answers a job. (DESIGN.md, Jobs.)
func (d *decision) answer(dst *victims.Decision) {
	// Cheap questions come first, and those that cannot change with victims before
	// those that can. Candidates are gathered only for a job that may have some.
	d.place()
	d.ready = d.couldStart()
	if d.leaving || len(d.unplaced) == 0 && !d.ready {
		d.refused(dst, victims.InFlight)
		return
	}
	if !d.domains.settle(&d.jobCase) {
		d.refused(dst, rulebook.NoDomain)
		return
	}
	if d.room(dst) {
		return
	}
	if !d.p.ByPriority {
		d.byGuarantee(dst)
		return
	}
	// A job that its quota forbids anyway is told so before all else: somebody can act on
	// that.
	if d.gate.read(coming); d.quotaForbids(dst) {
		return
	}
	if d.job.MayNotPreempt {
		d.refused(dst, rulebook.MayNotPreempt)
		return
	}
	if !d.try(dst, byPriority) {
		d.unplanned(dst, byPriority)
	}
}

// atGate states what all required members without a place have to say at the gate in
// front of preemption: a job is an ask with many members.
func (d *decision) atGate() *trigger.Case {
	g, job := &d.entry, d.job
	// Before the last member, the largest, there are all the others. Of asks in order the
	// last is what it is.
	d.before = append(d.before[:0], d.rem...)
	list := d.unplaced
	if d.p.inOrder {
		list = list[len(list)-1:]
	}
	for t := range d.before {
		most := int64(0)
		for _, i := range list {
			most = max(most, job.Members[i].Size.At(t))
		}
		d.before[t] -= most
	}
	*g = trigger.Case{
		Tree: d.tree, Leaf: job.Queue, Arriving: d.rem, Before: d.before, MayNot: job.MayNotPreempt,
		PendingSince: job.PendingSince, LastAttempt: job.LastAttempt, Interval: d.p.RetryInterval, Now: d.now,
		Counting: lent.To(&d.p.Options).Counting(),
	}
	if d.p.without.Rule != "" {
		g.Waived = lent.To(&d.p.without).Waives
	}
	return g
}

// entitle tells the rules what law 4 says of the job.
func (d *decision) entitle(gate *trigger.Case) {
	needy, law4 := gate.Law4()
	d.rules.needy, d.rules.lawful = needy, law4.Obstacle == ""
}

// byGuarantee answers a job that has no room as an ask is answered: by tasks outside of
// its leaf, else with the option of the own leaf, else by a refusal.
func (d *decision) byGuarantee(dst *victims.Decision) {
	gate := d.atGate()
	d.entitle(gate)
	a := gate.Ask()
	if a.Obstacle != "" {
		d.refused(dst, a.Obstacle)
		r := &dst.Refusal
		r.RetryAt, lent.To(r).NoneCounts = a.RetryAt, a.NoneCounts
		lent.To(dst).RefuseAt(d.c, a.Queue, a.Type)
	} else if d.try(dst, outsideLeaf) {
		return
	}
	first := outsideLeaf
	if d.mayTakeOwn(dst.Refusal.Reason) {
		second := &d.second
		lent.To(second).Clear()
		if d.try(second, withOwnLeaf) {
			if !dst.Refusal.Proven {
				d.best.proof = victims.NoProof // tasks of other leaves might do after all
			}
			lent.To(dst).Clear()
			d.planned(dst)
			return
		}
		if d.others() {
			// What the second stage says is what a caller can act on. What kept the first one
			// from looking further is told beside it.
			also := dst.Refusal
			dst.Refusal, second.Refusal = second.Refusal, dst.Refusal
			if rulebook.ReasonOf(also.Reason).Gate {
				lent.To(&dst.Refusal).Also(&dst.Refusal, &also)
			}
			first, lent.To(&dst.Refusal).OwnLeaf, dst.Plan.Steps = withOwnLeaf, true, second.Plan.Steps
			dst.Refusal.Proven = dst.Refusal.Proven && also.Proven
		}
	}
	d.unplanned(dst, first)
}

// try looks for a plan with the candidates of a stage, and reports whether there is one,
// which it leaves as the best. Else it refuses.
func (d *decision) try(dst *victims.Decision, s stage) bool {
	d.rules.stage = s
	switch {
	case !d.state(len(d.unplaced)):
		d.refused(dst, rulebook.NothingInReach)
	case d.quotaForbids(dst):
	case d.find():
		if s != withOwnLeaf {
			d.planned(dst)
		}
		return true
	default:
		d.lacks(dst)
	}
	return false
}

// mayTakeOwn reports whether the option of the own leaf has a say after a refusal.
// (DESIGN.md, The own leaf.)
func (d *decision) mayTakeOwn(r string) bool {
	return d.rules.own != queue.Never && !rulebook.ReasonOf(r).Barred
}

// others reports whether the own leaf, or branch, has tasks that are not of the job's
// application: those that the second stage counts.
func (d *decision) others() bool {
	for w := range d.tree.Leaves(queue.Root) {
		if !d.rules.eligible.Owns(w) {
			continue
		}
		for id := range d.c.TasksIn(w) {
			if t := d.c.TaskView(id); t.State != victims.Granted && (t.Application == "" || t.Application != d.job.Application) {
				return true
			}
		}
	}
	return false
}

// room decides without victims if that is possible: nothing that runs may be
// stopped for a job that has room.
func (d *decision) room(dst *victims.Decision) bool {
	pack := &d.search.pack
	m := present
	// To fit now is better than to wait, even if waiting would allow earlier nodes.
	switch {
	case d.ready && pack.fits(present):
		dst.Outcome = victims.Fits
	// What is leaving goes in any case, so waiting for it costs nobody
	// anything.
	case pack.fits(coming):
		dst.Outcome = victims.Waits
		m = coming
	default:
		return false
	}
	dst.Plan.Places = d.placements(dst.Plan.Places, pack.at)
	// Nobody goes, so no plan is cheaper in the levels. Which nodes members get is
	// part of the cost, and that is least if this is the first way of all.
	dst.Plan.Proof = victims.ProofLevels
	if pack.first {
		dst.Plan.Proof = victims.ProofCost
	}
	d.further.place(&dst.Plan, m)
	return true
}

// couldStart reports whether the members that hold a grant have room at present,
// while what is leaving is still there: on their nodes, under the maxima of their
// path, and in its quotas. With their grants taken off they ask anew.
func (d *decision) couldStart() bool {
	if len(d.held) == 0 {
		return true
	}
	d.gate.read(present)
	d.heldSum = rows.Zeros(d.heldSum, d.types)
	for _, id := range d.held {
		t := d.c.TaskView(id)
		if d.c.Closed(t.Node) {
			return false
		}
		d.short = d.c.Free(d.short, t.Node)
		for i, v := range t.Size {
			// Free space has the grants taken off. If it is negative, somebody
			// who is leaving is still there.
			if v > 0 && d.short[i] < 0 {
				return false
			}
		}
		d.heldSum = resources.Add(d.heldSum, d.heldSum, t.Size)
		d.gate.remove(id)
	}
	return d.gate.hasHeadroom(d.heldSum) && d.gate.admits(d.heldSum)
}

// quotaForbids refuses a job whose quotas do not let it have victims.
func (d *decision) quotaForbids(dst *victims.Decision) bool {
	// On coming amounts, for preemption could do nothing about what is leaving
	// already. DESIGN.md, Jobs: laws.
	if d.gate.forbids(d.rem) {
		reason := rulebook.QuotaMax
		if d.job.NonPreemptible {
			reason = rulebook.QuotaMin
		}
		d.refused(dst, reason)
		dst.Refusal.Breaches = append(dst.Refusal.Breaches, d.gate.asking.Breaches...)
		return true
	}
	return false
}

// planned sets dst to the best plan.
func (d *decision) planned(dst *victims.Decision) {
	dst.Outcome = victims.Preempts
	// The best plan is kept in rows of the case. Here it becomes names, for the
	// case is overwritten by the next decision.
	p, best := &dst.Plan, &d.best
	p.Version = d.c.Version()
	p.Places = d.placements(p.Places, best.at)
	p.Cost, p.Steps, p.Proof = best.cost, d.effort.steps(), best.proof
	if d.effort.Stopped {
		p.Proof = victims.NoProof
	}
	p.Cost.NodePenalty = best.rank.int64()
	// What each host lacks depends on who is placed there, and says what a
	// victim is for.
	d.load.set(best.at)
	lost := &d.rules.weights
	lost.Begin(d.c.Capacity())
	for _, u := range best.units {
		for _, i := range d.tasksOf(u) {
			v := d.c.TaskView(d.cands[i].id)
			p.Victims = append(p.Victims, d.victim(u, i))
			lost.Add(v.Size, rulebook.Lost(v.Scheduled, v.Checkpoint, d.rules.now))
		}
	}
	lost.Tell((*rulebook.Cost)(&p.Cost), d.tree.Schema())
	for i := range p.Victims { // copies, for the cluster may change
		p.Victims[i].Size = lent.To(dst).Keep(d.c.TaskView(p.Victims[i].Task).Size)
	}
	// By key, so that the text of a plan does not depend on rows.
	slices.SortFunc(p.Victims, func(a, b victims.Victim) int { return strings.Compare(a.Key, b.Key) })
	for i := range p.Victims {
		p.WithinQueue = p.WithinQueue || d.rules.eligible.Owns(d.c.TaskView(p.Victims[i].Task).Queue)
	}
	d.further.place(p, coming)
	d.addEnds(p)
}

// addEnds tells which queues of the path end below their guarantee.
func (d *decision) addEnds(p *victims.Plan) {
	arriving, gone := resources.Vector(d.block(1)), resources.Vector(d.block(1))
	for _, at := range p.Places {
		arriving = resources.Add(arriving, arriving, d.job.Members[at.Member].Size)
	}
	s := rulebook.Shift{Tree: d.tree, Leaf: d.job.Queue, Arriving: arriving, Gone: gone}
	p.Ends = s.Endings(p.Ends, len(p.Victims), func(i int) (queue.ID, resources.Vector) {
		return d.c.TaskView(p.Victims[i].Task).Queue, p.Victims[i].Size
	})
}

// victim returns candidate i, which goes with unit u, as a victim.
func (d *decision) victim(u, i int32) victims.Victim {
	c := &d.cands[i]
	t := d.c.TaskView(c.id)
	v := victims.Victim{
		Task: c.id, Key: c.key, Name: t.Name, Path: d.tree.Path(t.Queue), NodeName: d.c.NodeName(t.Node),
		Priority: t.Priority, OptedOut: t.OptedOut, Originator: t.Originator,
		Rank: c.levels[rulebook.LevelRank], Job: t.Job, Whole: d.units[u].whole,
	}
	v.ForNode, v.ForHeadroom, v.ForQuota = d.load.serves(c)
	v.Blocks = d.blocking(d.todo, d.best.at, c.id)
	return v
}

// verify has the auditor look at a plan, from scratch. What does not pass is
// withheld.
func (d *decision) verify(dst *victims.Decision) {
	if dst.Outcome == victims.Refused || d.p.without.Rule != "" {
		return
	}
	// The auditor is the planner's own, so that its memory is warm, but it is told
	// everything anew: nothing of the decision reaches it except the plan, and the
	// answers of a filter that must not be asked twice.
	p := d.p
	p.auditor.Cluster, p.auditor.Options, p.auditor.Filter = p.Cluster, p.Options, d.remembered()
	// Law 1 is what the search says of it, and at which priority members run is the caller's to
	// say.
	p.auditor.Levels = noLaw1
	p.found = slices.DeleteFunc(p.auditor.Audit(p.found[:0], dst, d.now), func(v victims.Violation) bool {
		return v.Law == finding.LawMember
	})
	if len(p.found) > 0 {
		// A plan that breaks a law must not reach anybody, not even beside a
		// refusal.
		dst.Plan.Places, dst.Plan.Victims = dst.Plan.Places[:0], dst.Plan.Victims[:0]
		d.refused(dst, victims.Unlawful)
		dst.Refusal.Proven = false
	}
}

// noLaw1 are levels of which opted-out victims are not the first.
var noLaw1 = []string{"victims"}

// remembered returns the caller's filter with its answers to this decision, so
// that nobody is asked twice; nil without a filter.
func (d *decision) remembered() func(*victims.Question) bool {
	// A nil filter lets everybody run everywhere, and the auditor knows that.
	if d.filter.caller == nil {
		return nil
	}
	if d.answersOf != d { // once per planner, and again if that was copied
		d.answersOf = d
		d.answers = func(q *victims.Question) bool {
			h := d.hostAt(q.Node)
			return h >= 0 && d.lets(int32(slices.Index(d.filter.classes, q.Member.Class)), h)
		}
	}
	return d.answers
}
