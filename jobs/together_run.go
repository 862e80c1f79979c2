// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// jointSteps is how many steps [Planner.DecideAll] may take if the caller sets none: some 15 milliseconds.
const jointSteps = 1 << 22

// jointTimes is how many times the steps of the turns DecideAll takes, turns included. A step of
// a joint search takes up to half as long again, so that it is 4 times in time.
const jointTimes = 3

// A joiner is one call of DecideAll.
//
// The asks in turn are its first answer. Whoever is served in turn may follow those before
// it into a part: their plans in sequence are the incumbent, and show that the part has
// places. So a plan for all of a part is looked for once, at its end, and beside that only
// if an ask has no place in turn.
type joiner struct {
	p       *Planner
	now     time.Time
	asks    []victims.Ask // copies, in the order in which they were given
	parts   []jointPart   // applied, the incumbent of the part at hand included; each is for the cluster with those before it
	refused []refusedAsk  // in the order of their asks, in the end

	// What the planner had before the call.
	cluster *victims.Cluster
	steps   int64
	stop    func() bool

	most, spent int64 // steps: the budget, 0 while it is open, and what is spent
	until       int64 // how much may be spent once the run at hand is decided
	perAsk      int64 // what an ask took in turn
	stopped     bool  // Stop has returned true

	reserved []string        // who nodes are reserved for
	asAsks   bool            // the planner of asks knows all rules
	rules    victims.Options // of an ask by itself
	turns    []turn          // all asks in turn
	strayed  bool            // the cluster is not what turns are for any more
	job      victims.Ask
	trial    victims.Decision // the last one

	// The part at hand.
	part    []int       // its asks, which are served
	base    int         // its incumbent are the parts from here on
	found   *queue.Tree // as it was before them; nil if nobody follows
	loner   bool        // its ask takes what none may take that shares a plan
	settled []jointPart // what is better than the incumbent; see settle
	asked   bool        // settled is worked out
}

// begin notes what the planner had, and end restores it. Meanwhile it plans over a copy of the
// cluster, to which parts are applied for those that follow.
func (j *joiner) begin() {
	p := j.p
	j.cluster, j.steps, j.stop = p.Cluster, p.Steps, p.Stop
	p.Cluster = p.aside.Of(p.Cluster)
	j.most = max(p.Steps, 0)
	j.asAsks = !p.ByPriority && p.Admit == nil && p.Predicate == nil
	if p.Stop != nil || p.Steps > 0 {
		p.Stop = j.ends
	}
	j.reserved = slices.AppendSeq(j.reserved, reservedFor(p.Cluster))
}

// ends reports whether the decision at hand is to end: Stop said so, and is not asked again,
// or the steps of the caller are spent, and some more: a few steps find an ask a plan.
func (j *joiner) ends() bool {
	j.stopped = j.stopped || j.stop != nil && j.stop()
	return j.stopped || j.steps > 0 && j.spent >= j.most+fewSteps
}

// fewSteps is by how much all asks together may pass the steps of the caller, so that each gets
// a plan if there is one near at hand.
const fewSteps = 1 << 17

func (j *joiner) end() {
	j.p.Steps, j.p.Stop, j.p.inOrder, j.p.sharing, j.p.hasty = j.steps, j.stop, false, false, false
	undo(j.p.Cluster, len(j.parts))
	j.p.Cluster = j.cluster
}

// run decides asks that are alike, those from first up to end.
func (j *joiner) run(first, end int) error {
	left := j.most - j.spent
	j.until = j.spent + left*int64(end-first)/int64(len(j.asks)-first)
	rest := j.waiting(first, end)
	j.open(len(rest) > 1)
	since := len(j.refused) // those refused from here on saw the asks that are served now
	for len(rest) > 0 {
		next := rest[0]
		if same := j.refusedAlike(j.refused[since:], next); same >= 0 {
			j.refuse(next, &j.refused[since+same].refusal)
			rest = rest[1:]
			continue
		}
		n, err := j.serve(rest)
		if err != nil {
			return err
		}
		if n > 0 {
			since = len(j.refused)
		}
		rest = rest[max(n, 1):]
	}
	return j.close()
}

// waiting lists asks, and refuses those that hold grants.
func (j *joiner) waiting(first, end int) (list []int) {
	for i := first; i < end; i++ {
		if j.inFlight(i) {
			j.refuse(i, j.turns[i].refusal)
		} else {
			list = append(list, i)
		}
	}
	return list
}

// serve gives places to as many of rest as it can at once, from the first on, and returns
// the number. If it is 0 the first is refused.
func (j *joiner) serve(rest []int) (n int, err error) {
	t, err := j.turnOf(rest[0])
	if err != nil {
		return 0, err
	}
	// An ask that only its own leaf serves may find others' tasks together with those after
	// it: law 2 counts what all of them bring.
	if len(j.part) == 0 && t.served() && !(t.second && len(rest) > 1) || j.mayFollow(&t) {
		return 1, j.add(&t)
	}
	n, proven, err := j.join(rest, &t)
	if n > 0 || err != nil {
		return n, err
	}
	// It may have room as it is once the part is settled, or tasks of its own leaf may go
	// for it.
	incumbent, changed := slices.Clone(j.parts[j.base:]), false
	if j.left()/2 >= j.perAsk*int64(len(rest)) { // the others are asked again then
		if changed, err = j.settle(); err != nil {
			return 0, err
		}
	}
	if changed {
		if t, err = j.alone(rest[0]); err != nil {
			return 0, err
		}
	}
	if t.served() {
		j.strayed = j.strayed || changed
		j.open(len(rest) > 1)
		return 1, j.add(&t)
	}
	if changed {
		j.retreat(j.base)
		err = j.apply(incumbent)
	}
	t.refusal.Proven = t.refusal.Proven && proven
	j.refuse(rest[0], t.refusal)
	return 0, err
}

// turnOf decides an ask by itself, for the cluster as it is.
func (j *joiner) turnOf(ask int) (turn, error) {
	if j.strayed {
		return j.alone(ask)
	}
	return j.turns[ask], nil
}

// open begins a part, and says whether others may follow its first ask.
func (j *joiner) open(others bool) {
	j.part, j.base, j.loner = nil, len(j.parts), false
	j.asked, j.settled, j.found = false, nil, nil
	if others {
		// The first turn has told what is wrong with the types.
		j.found, _ = trees.Counting(j.p.Cluster.Tree().Clone(), new(queue.Tree), j.p.Scarce)
	}
}

// add adds an ask to the part.
func (j *joiner) add(t *turn) error {
	j.part = append(j.part, t.asks[0])
	j.loner, j.asked = t.second, false
	return j.apply([]jointPart{t.jointPart})
}

// close ends a part.
func (j *joiner) close() error {
	changed, err := j.settle()
	j.strayed = j.strayed || changed
	if parts := j.parts[j.base:]; err == nil && len(parts) > 1 && !slices.ContainsFunc(parts, func(p jointPart) bool { return p.Outcome != victims.Fits }) {
		// Whoever fits is told in one plan.
		all := j.fitting(j.retreat(j.base))
		err = j.apply([]jointPart{all})
	}
	return err
}

// fitting makes one part of several that fit.
func (j *joiner) fitting(parts []jointPart) jointPart {
	all := parts[0]
	j.describe(j.part)
	all.asks, all.SharedBy, all.Plan.Places, all.Plan.Proof = j.part, j.sharedBy(j.part), nil, victims.ProofLevels
	all.Plan.Ask = j.job
	all.Plan.Ask.Members = slices.Clone(j.job.Members)
	first := 0
	for i := range parts {
		for _, at := range parts[i].Plan.Places {
			at.Member += first
			all.Plan.Places = append(all.Plan.Places, at)
		}
		first += len(parts[i].asks)
	}
	return all
}

// mayFollow reports whether the part and an ask that is served in turn have places
// together, as far as that is known.
func (j *joiner) mayFollow(t *turn) bool {
	// Quotas count victims as gone in turn only, and the predicate is told other things.
	if len(j.part) == 0 || !t.served() || t.second || j.loner || j.p.Admit != nil || j.p.Predicate != nil {
		return false
	}
	stops := func(p jointPart) bool { return p.Outcome == victims.Preempts }
	if j.p.ByPriority || !stops(t.jointPart) && !slices.ContainsFunc(j.parts[j.base:], stops) {
		return true
	}
	// All of them must be entitled, also those that fit. (Law 4: before each of them.)
	j.describe(append(j.part[:len(j.part):len(j.part)], t.asks[0]))
	job := &j.job
	before := make(resources.Vector, j.p.Cluster.Schema().Len())
	for i := range job.Members[:len(job.Members)-1] {
		before = resources.Add(before, before, job.Members[i].Size)
	}
	gate := trigger.Case{
		Tree: j.found, Leaf: job.Queue, Before: before,
		Arriving: resources.Add(nil, before, job.Members[len(job.Members)-1].Size),
		MayNot:   job.MayNotPreempt, PendingSince: job.PendingSince, LastAttempt: job.LastAttempt, Interval: j.p.RetryInterval, Now: j.now,
	}
	return gate.Ask().Obstacle == ""
}

// join looks for a plan for the part and the first n of rest, of which the first has no
// place in turn or may not follow, makes it the incumbent, and returns n: 0 if there is none
// that is worth it. It says whether that is certain.
//
// More asks have no place if fewer have none. Only law 2 may say otherwise, for it counts
// what arrives: a large victim may be more than one ask brings. So what it refuses says
// nothing about other numbers, and these are tried from the largest down, but not for ever.
func (j *joiner) join(rest []int, t *turn) (n int, proven bool, err error) {
	const patience = 32
	numbers := make([]int, 0, patience+1)
	if len(j.part) > 0 {
		numbers = append(numbers, 1)
	}
	proven = true
	if t.law2() {
		for n := len(rest); n > 1; n-- {
			if proven = len(numbers) < patience; !proven {
				break
			}
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 || !j.affords(j.left()/4, len(j.part)+1) {
		return 0, len(numbers) == 0, nil
	}
	incumbent := j.retreat(j.base)
	for _, n := range numbers {
		list := append(j.part[:len(j.part):len(j.part)], rest[:n]...)
		served, certain, err := j.question(list, incumbent, j.left()/4)
		if err != nil {
			return 0, false, err
		}
		if !served {
			proven = proven && certain
			continue
		}
		joint := []jointPart{j.taken(list)}
		if t.served() {
			turns, known, err := j.inTurn(incumbent, rest[:n], t)
			if err != nil {
				return 0, false, err
			}
			if !known || turns != nil && j.dearer(joint, turns) {
				continue
			}
		}
		j.part, j.loner, j.asked, j.strayed = list, false, false, true
		return n, true, j.apply(joint)
	}
	return 0, proven, j.apply(incumbent)
}

// inTurn returns parts for asks one after another, of which the first has its turn, behind
// an incumbent: all of them, or nil if an ask is refused or takes from its own leaf. It is
// not known if nothing is left to find out.
func (j *joiner) inTurn(incumbent []jointPart, asks []int, first *turn) (parts []jointPart, known bool, err error) {
	base := len(j.parts)
	defer func() { j.retreat(base) }()
	if err := j.apply(incumbent); err != nil {
		return nil, false, err
	}
	for i, ask := range asks {
		t := *first
		if i > 0 {
			if j.strayed && j.left() <= 0 {
				return nil, false, nil
			}
			if t, err = j.turnOf(ask); err != nil {
				return nil, false, err
			}
		}
		if !t.served() {
			return nil, true, nil
		}
		if err := j.apply([]jointPart{t.jointPart}); err != nil {
			return nil, false, err
		}
	}
	parts = slices.Clone(j.parts[base:])
	if slices.ContainsFunc(parts, j.takesOwn) {
		return nil, true, nil
	}
	return parts, true, nil
}

// takesOwn reports whether a part takes from the own leaf what a plan that is shared would
// not: by priority there is no such difference.
func (j *joiner) takesOwn(p jointPart) bool { return p.Plan.WithinQueue && !j.p.ByPriority }

// taken makes a part of the last decision.
func (j *joiner) taken(list []int) jointPart {
	d := j.trial
	j.trial = victims.Decision{}
	if d.SharedBy = j.sharedBy(list); d.SharedBy == nil {
		d.Plan.Ask = victims.Ask{}
		fill(&d.Plan.Ask, &j.asks[list[0]])
	}
	return jointPart{list, d}
}

// settle makes one plan for all asks of the part the incumbent, unless that costs more in
// the levels before the excess or is not found. It reports whether it did.
func (j *joiner) settle() (changed bool, err error) {
	incumbent := j.parts[j.base:]
	fits := func(p jointPart) bool { return p.Outcome == victims.Fits }
	if len(incumbent) < 2 || !slices.ContainsFunc(incumbent, func(p jointPart) bool { return !fits(p) }) {
		return false, nil
	}
	if !j.asked {
		j.asked, j.settled = true, nil
		if !j.affords(j.left()/2, len(j.part)) {
			return false, nil
		}
		before := j.retreat(j.base)
		served, _, err := j.question(j.part, before, j.left()/2)
		if err != nil {
			return false, err
		}
		if one := []jointPart{j.taken(j.part)}; served && !j.dearer(one, before) {
			j.settled = one
		}
		if err := j.apply(before); err != nil {
			return false, err
		}
	}
	if j.settled == nil {
		return false, nil
	}
	j.retreat(j.base)
	return true, j.apply(j.settled)
}

// left is how many steps the run at hand may still take.
func (j *joiner) left() int64 { return j.until - j.spent }

// affords reports whether so many steps are enough for a question about asks to be worth
// it: a look at each task, and at each node for each ask.
func (j *joiner) affords(steps int64, asks int) bool {
	c := j.p.Cluster
	return !j.stopped && steps >= 4*int64(c.TaskLen())+int64(c.NodeLen())*int64(asks)
}

// question decides asks as a job, within some steps. The first of them have what the
// incumbent gave them, and the next one, if there is one, has no place in turn. It reports
// whether all are served, and if not whether that is certain.
func (j *joiner) question(list []int, incumbent []jointPart, steps int64) (served, certain bool, err error) {
	if !j.affords(steps, len(list)) {
		return false, false, nil
	}
	j.describe(list)
	// The second stage would take from the own leaf for all of them, also for those that
	// have others to take from. By priority there is one stage only.
	p := j.p
	p.inOrder, p.sharing, p.hasty, p.Steps = true, len(list) > 1 && !p.ByPriority, true, steps
	p.asked = incumbent
	err = p.answer(&j.trial, &j.job, j.now)
	p.asked = nil
	j.spent += p.d.effort.steps() + nodeWork*int64(p.Cluster.NodeLen())
	return err == nil && j.trial.Outcome != victims.Refused, j.trial.Refusal.Proven, err
}

// sharedBy returns the asks of a plan, if they are several.
func (j *joiner) sharedBy(list []int) (asks []victims.Ask) {
	for _, i := range list[:len(list)*min(len(list)-1, 1)] {
		asks = append(asks, j.asks[i])
	}
	return asks
}

// describe makes the job the one whose members are asks.
func (j *joiner) describe(list []int) {
	first := &j.asks[list[0]]
	job := &j.job
	*job = victims.Ask{
		Key: cmp.Or(first.Job, "asks from "+first.Key), Application: first.Application, Queue: first.Queue,
		Priority: first.Priority, NonPreemptible: first.NonPreemptible, MayNotPreempt: first.MayNotPreempt,
		PendingSince: first.PendingSince, LastAttempt: first.LastAttempt, Members: job.Members[:0],
	}
	for _, i := range list {
		a := &j.asks[i]
		// All of them must have waited for long enough.
		if a.PendingSince.After(job.PendingSince) {
			job.PendingSince = a.PendingSince
		}
		if a.LastAttempt.After(job.LastAttempt) {
			job.LastAttempt = a.LastAttempt
		}
		job.Members = append(job.Members, a.Member(0))
	}
}

// apply adds parts to the answer, and applies them for those that follow.
func (j *joiner) apply(parts []jointPart) error {
	for i := range parts {
		parts[i].Plan.Version = j.p.Cluster.Version()
		if err := j.p.Cluster.Apply(&parts[i].Decision); err != nil {
			return err
		}
		j.parts = append(j.parts, parts[i])
	}
	j.spent += int64(len(parts)) * applyWork
	return nil
}

// applyWork is what it takes to apply a part and to take it back, and nodeWork what it takes to
// state a case, for each node: in steps.
const applyWork, nodeWork = 1000, 32

// retreat takes parts back, and returns them.
func (j *joiner) retreat(base int) []jointPart {
	parts := slices.Clone(j.parts[base:])
	undo(j.p.Cluster, len(parts))
	j.parts = j.parts[:base]
	return parts
}

// refuse adds a refusal to the answer.
func (j *joiner) refuse(ask int, r *victims.Refusal) {
	j.refused = append(j.refused, refusedAsk{ask, *r})
}

// refusedAlike returns the place in a list of an ask of which all is the same that matters, or -1:
// functions that see the ask may tell any two apart.
func (j *joiner) refusedAlike(list []refusedAsk, ask int) int {
	a := &j.asks[ask]
	if j.p.Exempt != nil || j.p.Predicate != nil || j.p.Blockers != nil || slices.Contains(j.reserved, a.Key) {
		return -1
	}
	return slices.IndexFunc(list, func(r refusedAsk) bool {
		b := &j.asks[r.ask]
		return shares(a, b) && resources.Equal(a.Size, b.Size) && a.Class == b.Class &&
			a.PendingSince.Equal(b.PendingSince) && a.LastAttempt.Equal(b.LastAttempt)
	})
}

// law2 reports whether law 2 has kept tasks that might go if more asks arrived.
func (t *turn) law2() bool {
	if t.served() {
		return t.second
	}
	return slices.ContainsFunc(t.refusal.Counts, func(n victims.Count) bool {
		return n.Rule == rulebook.RuleGuarantee.String()
	})
}
