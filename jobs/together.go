// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A jointPart is a plan for asks that share their victims. Law 2 holds at its end.
type jointPart struct {
	asks []int // indices of joiner.asks, ascending
	victims.Decision
}

// A refusedAsk is an ask that has no place beside those before it.
type refusedAsk struct {
	ask     int // an index of joiner.asks
	refusal victims.Refusal
}

// undo takes back the last n changes, which were applied just now.
func undo(c *victims.Cluster, n int) {
	for range n {
		if err := c.Undo(); err != nil {
			panic(err) // somebody else changes the cluster
		}
	}
}

// DecideAll decides several asks at the instant now, so that they share victims. It serves them in their order:
// an ask is refused if there is no room beside those before it. It returns dst, overwritten: a decision for
// each plan and for each refusal, in the order of the first ask of each, each for the cluster with those before
// it applied; see [victims.Cluster.ApplyAll].
//
// Asks share a plan if they follow each other and have the same queue, application, job, priority, types and right to
// preempt. Plan.Ask has them as members, SharedBy as given. An ask that needs tasks of its own leaf has a plan of
// its own. NonPreemptible tasks are spared, as by gangs. Each ask must trigger as if those before it had their places (law
// 4), unless ByPriority is set. See DESIGN.md, Jobs: together.
//
// It never costs more, down to the sum of priorities, than the asks in turn if these serve the same, tasks of the own
// queue apart.
//
// An ask that holds a grant is refused, InFlight. Functions are asked about a copy, with what is decided before.
//
// Steps bound the whole call, and the first decision has those taken; 0 means 3 times what the asks take one by one. If
// too little is left for a shared plan, asks have plans of their own.
//
// Errors are those of [Planner.Decide], a key twice (ErrDuplicate), the option Moves, and an ask that is a gang or
// requires a node (ErrState). Then nothing is returned. The cost is at most three times that of the asks one by one.
func (p *Planner) DecideAll(dst []victims.Decision, asks []victims.Ask, now time.Time) ([]victims.Decision, error) {
	if p.Moves != "" {
		return nil, fmt.Errorf("jobs: Moves: %q: several asks are decided without moves: %w", p.Moves, victims.ErrState)
	}
	dst = dst[:0]
	if err := checkAsks(p.Cluster, asks); err != nil {
		return dst, err
	}
	j := &joiner{p: p, asks: copyAsks(asks), now: now}
	if err := j.decide(); err != nil {
		return dst, err
	}
	dst = j.tell(dst)
	for i := range dst {
		if p.Observe != nil {
			p.Observe(&dst[i])
		}
	}
	return dst, nil
}

// decide decides all asks on the copy of the planner.
func (j *joiner) decide() error {
	j.begin()
	defer j.end()
	if err := j.takeTurns(); err != nil {
		return err
	}
	asks := j.asks
	for first, end := 0, 0; first < len(asks); first = end {
		for end = first + 1; end < len(asks) && shares(&asks[first], &asks[end]); {
			end++
		}
		if err := j.run(first, end); err != nil {
			return err
		}
	}
	j.preferTurns()
	slices.SortFunc(j.refused, func(a, b refusedAsk) int { return a.ask - b.ask })
	return nil
}

// tell appends what was decided: parts, and between them those refused who come before.
func (j *joiner) tell(dst []victims.Decision) []victims.Decision {
	refused := j.refused
	for i := 0; i < len(j.parts) || len(refused) > 0; {
		if i == len(j.parts) || len(refused) > 0 && refused[0].ask < j.parts[i].asks[0] {
			dst = append(dst, j.refusal(&refused[0]))
			refused = refused[1:]
			continue
		}
		d := j.parts[i].Decision
		d.Plan.Steps = 0
		dst = append(dst, d)
		i++
	}
	if len(dst) == 0 {
		return dst
	}
	dst[0].Plan.Steps = j.spent
	return dst
}

// refusal returns the decision about an ask that is refused.
func (j *joiner) refusal(r *refusedAsk) (d victims.Decision) {
	ask := &j.asks[r.ask]
	if !j.asAsks {
		fill(&j.job, ask)
		ask = &j.job
	}
	lent.To(&d).Begin(ask, j.p.Cluster, j.now)
	d.Outcome, d.Refusal, d.Plan.Version = victims.Refused, r.refusal, victims.Version{}
	lent.To(&d).HelpTime() // what others have shown counts for its proof, too
	return d
}

// checkAsks reports what no job could say of asks. The rest is told by Decide.
func checkAsks(c *victims.Cluster, asks []victims.Ask) error {
	seen := make(map[string]bool, len(asks))
	for i := range asks {
		a := &asks[i]
		_, runs := c.Lookup(a.Key)
		switch {
		case len(a.Members) > 0:
			return fmt.Errorf("jobs: ask %q: has members: %w", a.Key, victims.ErrState)
		case a.RequiredNode != "":
			return fmt.Errorf("jobs: ask %q: requires node %q: %w", a.Key, a.RequiredNode, victims.ErrState)
		case seen[a.Key] || runs:
			return fmt.Errorf("jobs: ask %q: %w", a.Key, victims.ErrDuplicate)
		}
		seen[a.Key] = true
	}
	return nil
}

func copyAsks(asks []victims.Ask) []victims.Ask {
	asks = slices.Clone(asks)
	for i := range asks {
		asks[i].Size, asks[i].Budgets = slices.Clone(asks[i].Size), slices.Clone(asks[i].Budgets)
	}
	return asks
}

// shares reports whether two asks may be members of one plan: the same tasks may go for
// both, and the same queue is the needy one.
func shares(a, b *victims.Ask) bool {
	return a.Queue == b.Queue && a.Application == b.Application && a.Job == b.Job && a.Priority == b.Priority &&
		a.MayNotPreempt == b.MayNotPreempt && a.NonPreemptible == b.NonPreemptible && resources.Positive(a.Size) == resources.Positive(b.Size)
}

// A turn is what was decided about an ask by itself: a part for the cluster with those
// before it applied, or a refusal.
type turn struct {
	jointPart
	refusal *victims.Refusal
	second  bool // it is served by the stage of the own leaf, which is not for plans that are shared
}

func (t *turn) served() bool { return t.refusal == nil }

// takeTurns decides all asks one after another, each for the cluster with those before it
// applied, and takes that back.
func (j *joiner) takeTurns() error {
	j.turns = make([]turn, len(j.asks))
	var refused []refusedAsk // that have seen the same cluster
	for i := range j.turns {
		t := &j.turns[i]
		if j.inFlight(i) {
			t.refusal = &victims.Refusal{Reason: victims.InFlight, Proven: true}
			continue
		}
		if same := j.refusedAlike(refused, i); same >= 0 {
			t.refusal = j.turns[refused[same].ask].refusal
			continue
		}
		var err error
		if *t, err = j.alone(i); err != nil {
			return err
		}
		if !t.served() {
			refused = append(refused, refusedAsk{ask: i})
			continue
		}
		refused = nil
		if err := j.apply([]jointPart{t.jointPart}); err != nil {
			return err
		}
	}
	j.retreat(0)
	j.perAsk = j.spent / int64(max(len(j.asks), 1))
	if j.most == 0 {
		j.most = max(jointTimes*j.spent, jointSteps)
	}
	return nil
}

// inFlight reports whether an ask holds a grant that is none of this call.
func (j *joiner) inFlight(i int) bool {
	if t := &j.turns[i]; t.refusal != nil {
		return t.refusal.Reason == victims.InFlight
	}
	_, held := j.p.Cluster.LookupGrant(j.asks[i].Key)
	return held
}

// preferTurns makes the turns the answer if they serve the same asks for less. Each part
// costs no more than its asks in turn, but those after it might.
func (j *joiner) preferTurns() {
	served := 0
	var parts []jointPart
	for i := range j.turns {
		t := &j.turns[i]
		if !t.served() {
			continue
		}
		if j.takesOwn(t.jointPart) {
			return // who shares a plan takes from others first
		}
		parts = append(parts, t.jointPart)
		served++
	}
	if !j.strayed || served+len(j.refused) != len(j.turns) ||
		slices.ContainsFunc(j.refused, func(r refusedAsk) bool { return j.turns[r.ask].served() }) ||
		!j.dearer(j.parts, parts) {
		return
	}
	j.retreat(0)
	if err := j.apply(parts); err != nil {
		panic(err) // they were applied before
	}
	j.refused = j.refused[:0]
	for i := range j.turns {
		if t := &j.turns[i]; !t.served() {
			j.refuse(i, t.refusal)
		}
	}
}

// dearer reports whether parts cost more than others in the levels before the work.
func (j *joiner) dearer(parts, others []jointPart) bool {
	a, b := levelsOf(parts), levelsOf(others)
	switch {
	case a.Victims == 0:
		return false // whatever a highest rank of none is
	case b.Victims == 0:
		return true
	}
	return lent.To(&j.p.Options).CompareCosts(&a, &b) > 0
}

// levelsOf sums up the costs of parts in the levels before the work. Victims of parts
// are different tasks, so that all but the highest are sums. A job that two parts stop
// counts twice, and then the sum is too high.
func levelsOf(parts []jointPart) (sum victims.Cost) {
	for i := range parts {
		c := &parts[i].Plan.Cost
		(*rulebook.Cost)(&sum).Join((*rulebook.Cost)(c))
	}
	sum.Work = resources.Wide{}
	return sum
}

// alone decides an ask by itself, for the cluster as it is: by the planner of asks if that
// knows all rules, else as a job of one member.
func (j *joiner) alone(i int) (turn, error) {
	steps := j.steps
	if steps > 0 {
		steps = max(1, steps/int64(4*len(j.asks)))
	}
	if !j.asAsks {
		return j.asJob(i, steps)
	}
	return j.asAsk(i, steps)
}

// asJob decides an ask as a job of one member.
func (j *joiner) asJob(i int, steps int64) (turn, error) {
	j.describe([]int{i})
	p := j.p
	p.inOrder, p.sharing, p.hasty, p.Steps = true, false, false, steps
	err := p.answer(&j.trial, &j.job, j.now)
	j.spent += p.d.effort.steps() + int64(p.Cluster.NodeLen())
	if err != nil {
		return turn{}, err
	}
	if j.trial.Outcome == victims.Refused {
		if err := j.trial.Count(); err != nil {
			panic(err) // somebody else changes the cluster
		}
		r := j.trial.Refusal
		j.trial = victims.Decision{}
		return turn{refusal: &r}, nil
	}
	t := turn{jointPart: j.taken([]int{i})}
	t.second = t.Outcome == victims.Preempts && p.d.rules.stage == withOwnLeaf
	return t, nil
}

// asAsk decides an ask as the planner of asks does.
func (j *joiner) asAsk(i int, most int64) (turn, error) {
	p, ask, d := &j.p.asks, &j.asks[i], new(victims.Decision)
	j.rules, j.rules.Steps, j.rules.Audit = j.p.Options, most, false
	p.set(j.p.Cluster, &j.rules)
	steps, err := p.ask(d, ask, j.now)
	if err != nil {
		return turn{}, err
	}
	j.spent += steps + int64(p.cluster.NodeLen())
	if d.Outcome == victims.Refused {
		if err := d.Count(); err != nil {
			panic(err) // somebody else changes the cluster
		}
		return turn{refusal: &d.Refusal}, nil
	}
	return turn{jointPart: jointPart{[]int{i}, *d}, second: lent.To(d).Second()}, nil
}
