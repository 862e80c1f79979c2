// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Joint is what [Planner.Together] has decided about asks. It is plain data. Carry it
// out by [Joint.Apply].
type Joint struct {
	Asks    []victims.Ask // copies, in the order in which they were given
	Parts   []Part        // each is for the cluster with those before it applied
	Refused []RefusedAsk  // in the order of their asks
}

// A Part is a plan for asks that share their victims. Law 2 holds at its end.
type Part struct {
	Asks    []int           // indices of Joint.Asks, ascending
	Outcome victims.Outcome // Fits, Waits or Preempts
	// Plan has the asks as members of a job, in their order. Its cost and proof are
	// those of all its victims together.
	Plan Plan
}

// A RefusedAsk is an ask that has no place beside those before it.
type RefusedAsk struct {
	Ask     int // an index of Joint.Asks
	Refusal Refusal
}

// Apply carries out all parts, all or nothing. Errors are those of [victims.Cluster.Apply];
// without any part they wrap [victims.ErrState]. Each part is a change of its own to
// [victims.Cluster.Undo].
func (j *Joint) Apply(c *victims.Cluster) error {
	if len(j.Parts) == 0 {
		return fmt.Errorf("jobs: plan for %d asks: %w: there is none", len(j.Asks), victims.ErrState)
	}
	version := j.Parts[0].Plan.Version
	for i := range j.Parts {
		ch := j.change(&j.Parts[i], version)
		if err := c.Apply(ch); err != nil {
			undo(c, i)
			return fmt.Errorf("%w (part %d of %d)", err, i+1, len(j.Parts))
		}
		version = c.Version()
	}
	return nil
}

// change returns what a part does to a cluster of some version. Grants are those of the
// asks themselves, for a member of a job does not know all that an ask does.
func (j *Joint) change(part *Part, version victims.Version) victims.Change {
	ch := part.Plan.Change()
	ch.Version = version
	for i, at := range part.Plan.Placements {
		ch.Grants[i].Ask = &j.Asks[part.Asks[at.Member]]
	}
	return ch
}

// undo takes back the last n changes, which were applied just now.
func undo(c *victims.Cluster, n int) {
	for range n {
		if err := c.Undo(); err != nil {
			panic(err) // somebody else changes the cluster
		}
	}
}

// Together decides several asks at the instant now, so that they share victims. It serves
// them in their order: an ask is refused if there is no room for it beside those before
// it.
//
// Asks share a plan, a [Part], if they follow each other and have the same queue,
// application, job, priority, types and right to preempt. Their sizes may differ. An ask
// that needs tasks of its own leaf has a plan of its own. Each ask must trigger as if
// those before it had their places (law 4), unless ByPriority is set. See DESIGN.md,
// Jobs: together.
//
// The rules are those of jobs: Predicate is told a job whose members are the asks. An ask
// that holds a grant is refused, InFlight. The cluster changes during the call, and ends
// as it was, version included.
//
// Errors are those of Decide, a key twice (ErrDuplicate), and an ask that requires a node
// (ErrState): use [victims.Planner.Decide] for it. Then dst has no parts. If all n asks
// of a part are served, it costs one decision of a job of n members; each refused ask
// adds log n, and 32 more if guarantees above refuse it.
func (p *Planner) Together(dst *Joint, asks []victims.Ask, now time.Time) error {
	*dst = Joint{}
	if err := checkAsks(p.Cluster, asks); err != nil {
		return err
	}
	j := joiner{p: p, dst: &Joint{Asks: copyAsks(asks)}, now: now, own: p.OwnLeaf}
	for n := range p.Cluster.Nodes() {
		if who := p.Cluster.NodeView(n).ReservedFor; who != "" {
			j.reserved = append(j.reserved, who)
		}
	}
	defer func() {
		p.OwnLeaf, p.inOrder = j.own, false
		undo(p.Cluster, len(j.dst.Parts))
	}()
	for first, end := 0, 0; first < len(asks); first = end {
		for end = first + 1; end < len(asks) && shares(&asks[first], &asks[end]); {
			end++
		}
		if err := j.run(first, end); err != nil {
			return err
		}
	}
	*dst = *j.dst
	slices.SortFunc(dst.Refused, func(a, b RefusedAsk) int { return a.Ask - b.Ask })
	return nil
}

// checkAsks reports what no job could say of asks. The rest is told by Decide.
func checkAsks(c *victims.Cluster, asks []victims.Ask) error {
	seen := make(map[string]bool, len(asks))
	for i := range asks {
		a := &asks[i]
		_, runs := c.Lookup(a.Key)
		switch {
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
		a.MayNot == b.MayNot && a.NonPreemptible == b.NonPreemptible && resources.Positive(a.Size) == resources.Positive(b.Size)
}

// A joiner is one call of Together.
type joiner struct {
	p        *Planner
	dst      *Joint // its parts are applied
	now      time.Time
	own      victims.OwnLeaf // of the planner
	reserved []string        // who nodes are reserved for
	job      Job
	trial    Decision // the last one
	kept     Decision // the last one that is no refusal
}

// run decides asks that are alike, those from first up to end.
func (j *joiner) run(first, end int) error {
	c := j.p.Cluster
	var part []int      // asks that are served, and not yet in dst
	var served Decision // what was decided about them
	var settled []Part  // the same; nil if that is not worked out yet
	rest := make([]int, 0, end-first)
	for i := first; i < end; i++ {
		if _, held := c.LookupGrant(j.dst.Asks[i].Key); held {
			j.refuse(i, &Refusal{Cause: victims.Cause{Reason: victims.InFlight, Proven: true}})
		} else {
			rest = append(rest, i)
		}
	}
	since := len(j.dst.Refused) // those refused from here on saw the asks that are served now
	for len(rest) > 0 {
		next := rest[0]
		if same := j.refusedAlike(since, next); same >= 0 {
			j.refuse(next, &j.dst.Refused[same].Refusal)
			rest = rest[1:]
			continue
		}
		n, err := j.most(part, rest)
		if err != nil {
			return err
		}
		if n > 0 {
			part, rest = append(part, rest[:n]...), rest[n:]
			served, j.kept, settled, since = j.kept, Decision{}, nil, len(j.dst.Refused)
			continue
		}
		rest = rest[1:]
		j.count()
		proven := j.trial.Refusal.Proven
		if len(part) == 0 {
			j.refuse(next, &j.trial.Refusal)
			continue
		}
		// It may have room as it is, or tasks of its own leaf may go for it.
		if settled, err = j.place(settled, part, &served); err != nil {
			return err
		}
		if err := j.decide([]int{next}); err != nil {
			return err
		}
		if j.trial.Outcome == victims.Refused {
			j.count()
			undo(c, len(settled))
			j.dst.Parts = j.dst.Parts[:len(j.dst.Parts)-len(settled)]
			j.trial.Refusal.Proven = j.trial.Refusal.Proven && proven
			j.refuse(next, &j.trial.Refusal)
			continue
		}
		part, served, j.trial, settled, since = []int{next}, j.trial, Decision{}, nil, len(j.dst.Refused)
	}
	if len(part) == 0 {
		return nil
	}
	_, err := j.place(settled, part, &served)
	return err
}

// place applies what was decided about asks, which settles it if that is not done yet, and
// returns the parts.
func (j *joiner) place(settled []Part, part []int, served *Decision) ([]Part, error) {
	if settled == nil {
		var err error
		if settled, err = j.settle(part, served); err != nil {
			return nil, err
		}
	}
	return settled, j.apply(settled)
}

// most finds how many of rest, from the first on, can be served beside part. If there is
// one, the decision about them is kept; else the last one is the refusal of the first.
func (j *joiner) most(part, rest []int) (int, error) {
	const patience = 32
	least, beyond, inLine := 0, len(rest)+1, 0
	// All of them is what is asked first. After that each question halves what is open,
	// for more asks have no place where fewer have none. Only law 2 may say otherwise, for
	// it counts what arrives: a large victim may be more than one ask brings. So what it
	// refuses says nothing about other numbers, and these are tried from the largest down,
	// but not for ever.
	for n := len(rest); beyond-least > 1; {
		if err := j.decide(append(part[:len(part):len(part)], rest[:n]...)); err != nil {
			return 0, err
		}
		switch {
		case j.trial.Outcome != victims.Refused:
			least = n
			j.kept, j.trial = j.trial, j.kept
		case n < beyond-1 && inLine < patience && j.guaranteeKeeps():
			inLine++ // all those above are still to be tried
			n = beyond - 1
			continue
		default:
			beyond = n
		}
		if n = (least + beyond) / 2; inLine > 0 && inLine < patience {
			inLine++
			n = beyond - 1
		}
	}
	return least, nil
}

// guaranteeKeeps reports whether law 2 has kept tasks in the last trial, which is a refusal.
func (j *joiner) guaranteeKeeps() bool {
	j.count()
	return slices.ContainsFunc(j.trial.Refusal.Counts, func(n victims.Count) bool {
		return n.Rule == rulebook.RuleGuarantee.String()
	})
}

// count counts for the last trial, a refusal of just now.
func (j *joiner) count() {
	if err := j.trial.Count(); err != nil {
		panic(err) // somebody else changes the cluster
	}
}

// decide decides asks as a job.
func (j *joiner) decide(list []int) error {
	first := &j.dst.Asks[list[0]]
	job := &j.job
	*job = Job{
		Name: cmp.Or(first.Job, "asks from "+first.Key), Application: first.Application, Queue: first.Queue,
		Priority: first.Priority, NonPreemptible: first.NonPreemptible, MayNot: first.MayNot,
		PendingSince: first.PendingSince, LastAttempt: first.LastAttempt, Members: job.Members[:0],
	}
	for _, i := range list {
		a := &j.dst.Asks[i]
		// All of them must have waited for long enough.
		if a.PendingSince.After(job.PendingSince) {
			job.PendingSince = a.PendingSince
		}
		if a.LastAttempt.After(job.LastAttempt) {
			job.LastAttempt = a.LastAttempt
		}
		job.Members = append(job.Members, Member{
			Key: a.Key, Size: a.Size, Originator: a.Originator, OptedOut: a.OptedOut, Class: a.Class,
			Name: a.Name, Tag: a.Tag, Cost: a.Cost, Budgets: a.Budgets,
		})
	}
	// The second stage would take from the own leaf for all of them, also for those that
	// have others to take from. By priority there is one stage only.
	j.p.OwnLeaf, j.p.inOrder = j.own, true
	if len(list) > 1 && !j.p.ByPriority {
		j.p.OwnLeaf = victims.OwnNever
	}
	return j.p.Decide(&j.trial, job, j.now)
}

// settle returns a decision about asks as a part. If it is not shown to be the least in
// the levels before the excess, the asks are decided one by one as well, and the cheaper
// of both is the answer.
func (j *joiner) settle(part []int, d *Decision) ([]Part, error) {
	joint := []Part{{Asks: part, Outcome: d.Outcome, Plan: d.Plan}}
	if len(part) == 1 || d.Outcome != victims.Preempts || d.Plan.Proof != victims.NoProof {
		return joint, nil
	}
	before := len(j.dst.Parts)
	defer func() {
		undo(j.p.Cluster, len(j.dst.Parts)-before)
		j.dst.Parts = j.dst.Parts[:before]
	}()
	var single []Part
	for _, i := range part {
		if err := j.decide([]int{i}); err != nil {
			return nil, err
		}
		if j.trial.Outcome == victims.Refused || j.trial.Plan.OwnLeaf && !j.p.ByPriority {
			return joint, nil // who shares a plan takes from others first
		}
		single = append(single, Part{Asks: []int{i}, Outcome: j.trial.Outcome, Plan: j.trial.Plan})
		j.trial = Decision{}
		if err := j.apply(single[len(single)-1:]); err != nil {
			return nil, err
		}
	}
	one, all := levelsOf(single), levelsOf(joint)
	if one.Compare(&all) < 0 {
		return single, nil
	}
	return joint, nil
}

// levelsOf sums up the costs of parts in the levels before the excess. Victims of parts
// are different tasks, so that all but the highest are sums. A job that two parts stop
// counts twice, and then the sum is too high.
func levelsOf(parts []Part) (sum victims.Cost) {
	for i := range parts {
		c := &parts[i].Plan.Cost
		if c.Victims == 0 {
			continue
		}
		if sum.Victims == 0 {
			sum.MaxRank, sum.MaxPriority = c.MaxRank, c.MaxPriority
		}
		sum.MaxRank, sum.MaxPriority = max(sum.MaxRank, c.MaxRank), max(sum.MaxPriority, c.MaxPriority)
		sum.OptedOut += c.OptedOut
		sum.Overrun += c.Overrun
		sum.Originators += c.Originators
		sum.Jobs += c.Jobs
		sum.Own = sum.Own.Add(c.Own)
		sum.Victims += c.Victims
		sum.SumRanks += c.SumRanks
		sum.SumPriorities += c.SumPriorities
	}
	return sum
}

// apply adds parts to the answer, and applies them for those that follow.
func (j *joiner) apply(parts []Part) error {
	for i := range parts {
		if err := j.p.Cluster.Apply(j.dst.change(&parts[i], j.p.Cluster.Version())); err != nil {
			return err
		}
		j.dst.Parts = append(j.dst.Parts, parts[i])
	}
	return nil
}

// refuse adds a refusal to the answer. The memory of it may be used again.
func (j *joiner) refuse(ask int, r *Refusal) {
	j.dst.Refused = append(j.dst.Refused, RefusedAsk{Ask: ask, Refusal: *r})
	if r == &j.trial.Refusal {
		j.trial = Decision{}
	}
}

// refusedAlike returns a refusal, from one on, of an ask of which all is the same that
// matters, or -1.
func (j *joiner) refusedAlike(from, ask int) int {
	a := &j.dst.Asks[ask]
	if slices.Contains(j.reserved, a.Key) {
		return -1
	}
	for i := from; i < len(j.dst.Refused); i++ {
		r := &j.dst.Refused[i]
		b := &j.dst.Asks[r.Ask]
		if resources.Equal(a.Size, b.Size) && a.Class == b.Class &&
			a.PendingSince.Equal(b.PendingSince) && a.LastAttempt.Equal(b.LastAttempt) {
			return i
		}
	}
	return -1
}
