// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// DecideAll agrees with the definition of DESIGN.md, Jobs: together, worked out over all
// sets of victims and all places: on who is served, by which parts, and where a part is
// proven, on its cost and on everything. No part costs more than its asks in turn.
func TestTogether_Oracle(t *testing.T) {
	t.Parallel()
	for _, features := range []world.Features{0, world.WithBudgets, world.WithOwnLeaf, world.WithRanks | world.WithLabels | world.WithCosts, everything} {
		t.Run(fmt.Sprint("features ", features), func(t *testing.T) {
			var seen jointTally
			rapid.Check(t, func(t *rapid.T) { propertyTogether(t, features, &seen) })
			if testing.Short() {
				return
			}
			seen = jointTally{}
			for seed := range 150 {
				rapid.Custom(func(t *rapid.T) int { propertyTogether(t, features, &seen); return 0 }).Example(seed)
			}
			t.Logf("%+v", seen)
			require.Greater(t, seen.shared, 5, "%+v", seen)
			require.Greater(t, seen.refused, 5, "%+v", seen)
			require.Greater(t, seen.parts, seen.shared, "%+v", seen)
		})
	}
}

func FuzzTogether(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { propertyTogether(t, everything, &jointTally{}) }))
}

// jointTally counts what properties are about.
type jointTally struct{ worlds, parts, plans, shared, saved, unproven, refused, apart int }

func propertyTogether(t *rapid.T, features world.Features, seen *jointTally) {
	b := newBrute(t, features)
	b.got = new(joint)
	h := newHarness(t, b.c)
	var asks []victims.Ask
	for i := range b.asks {
		a, err := world.AskOf(h.cluster, &b.asks[i])
		if err != nil {
			t.Fatal(err)
		}
		a.Class = i // its selector is that of the member
		asks = append(asks, a)
	}
	var j joint
	if err := decideAll(&h.planner, &j, asks, b.c.Options.Now); err != nil {
		t.Fatalf("%v\n%v", err, b)
	}
	a := victims.Auditor{
		Cluster: h.cluster, Options: h.planner.Options,
	}
	if found := j.audit(&a); len(found) > 0 {
		t.Fatalf("%v: %+v\n%v", tellJoint(&j), found, b)
	}
	b.got, b.seen = &j, seen
	b.walk()
	seen.worlds++
	seen.refused += len(j.Refused)
}

// A brute decides asks by definition.
type brute struct {
	*rapid.T
	c     *world.JobCase // its members are the asks
	asks  []world.Ask
	w     world.World                 // with the parts so far
	known map[string]oracle.JobResult // what was decided about w
	got   *joint
	part  int             // the next of got
	spent *oracle.JobCost // by the parts of asks that do not share a plan
	seen  *jointTally
}

// newBrute draws a world with two or three asks. Half of those after the first are like
// the one before.
func newBrute(t *rapid.T, features world.Features) *brute {
	c := world.JobCases(world.Small.With(features)).Draw(t, "case")
	c.Job.MinMembers, c.Job.Domain = 0, 0
	c.Job.Members = c.Job.Members[:min(len(c.Job.Members), 3)]
	if len(c.Job.Members) == 1 {
		twin := c.Job.Members[0]
		twin.Key = "x9"
		c.Job.Members = append(c.Job.Members, twin)
	}
	b := &brute{T: t, c: c}
	if rapid.Bool().Draw(t, "no job") {
		c.Job.Name = ""
	}
	var leaves []string
	for _, q := range c.World.Queues() {
		if q.IsLeaf() {
			leaves = append(leaves, q.Path)
		}
	}
	job := c.Job
	for i := range c.Job.Members {
		m := &c.Job.Members[i]
		c.World.Tasks = slices.DeleteFunc(slices.Clone(c.World.Tasks), func(t world.Task) bool { return t.Key == m.Key })
		if i > 0 && rapid.IntRange(0, 2).Draw(t, "unlike") == 2 {
			switch rapid.IntRange(0, 4).Draw(t, "how") {
			case 0:
				job.Queue = rapid.SampledFrom(leaves).Draw(t, "leaf")
			case 1:
				job.Priority--
			case 2:
				job.Application = "other"
			case 3:
				job.NonPreemptible = !job.NonPreemptible
			case 4:
				job.MayNot = !job.MayNot
			}
		}
		b.asks = append(b.asks, job.Ask(m))
	}
	b.w, b.known, b.spent = c.World, make(map[string]oracle.JobResult), noCost()
	return b
}

func (b *brute) String() string { return fmt.Sprintf("%v%+v\n%v", b.c, b.asks, tellJoint(b.got)) }

// walk goes through the asks in their order and holds each part to the definition.
func (b *brute) walk() {
	for first, end := 0, 0; first < len(b.asks); first = end {
		for end = first + 1; end < len(b.asks) && b.alike(first, end); {
			end++
		}
		b.run(first, end)
	}
	if b.part < len(b.got.Parts) {
		b.Fatalf("part %d is one too many\n%v", b.part, b)
	}
}

func (b *brute) alike(i, k int) bool {
	x, y := &b.asks[i], &b.asks[k]
	for _, t := range b.w.Types {
		if x.Size[t] > 0 != (y.Size[t] > 0) {
			return false
		}
	}
	return x.Queue == y.Queue && x.Application == y.Application && x.Job == y.Job && x.Priority == y.Priority &&
		x.MayNot == y.MayNot && x.NonPreemptible == y.NonPreemptible
}

// run decides asks that are alike. As many from the first on are served as can be at once;
// the next has no place beside them, but it may have one after them; those that follow it
// are then asked in the same way.
func (b *brute) run(first, end int) {
	var part, rest []int
	for i := first; i < end; i++ {
		if slices.ContainsFunc(b.w.Grants, func(g world.Grant) bool { return g.Ask.Key == b.asks[i].Key }) {
			b.refused(i, "in-flight")
			continue
		}
		rest = append(rest, i)
	}
	for len(rest) > 0 {
		n := len(rest)
		for n > 0 && b.decide(&b.w, slices.Concat(part, rest[:n])).Outcome == oracle.Refused {
			n--
		}
		if n > 0 {
			part, rest = append(part, rest[:n]...), rest[n:]
			continue
		}
		next := rest[0]
		rest = rest[1:]
		if len(part) == 0 {
			b.refused(next, b.decide(&b.w, []int{next}).Reason)
			continue
		}
		if b.divided(part) {
			part, rest = nil, b.end(part, slices.Concat([]int{next}, rest))
			continue
		}
		after := b.after(&b.w, part, b.decide(&b.w, part))
		if r := b.decide(&after, []int{next}); r.Outcome == oracle.Refused {
			b.refused(next, r.Reason)
			continue
		}
		b.end(part, nil)
		part = []int{next}
	}
	if len(part) > 0 {
		b.end(part, nil)
	}
}

// decide decides asks as the members of a job.
func (b *brute) decide(w *world.World, list []int) oracle.JobResult {
	if w != &b.w {
		return oracle.DecideJob(b.caseOf(w, list))
	}
	key := fmt.Sprint(list)
	r, ok := b.known[key]
	if !ok {
		r = oracle.DecideJob(b.caseOf(w, list))
		b.known[key] = r
	}
	return r
}

func (b *brute) caseOf(w *world.World, list []int) *world.JobCase {
	c, first := *b.c, &b.asks[list[0]]
	c.World, c.InOrder = *w, true
	if len(list) > 1 && !c.ByPriority {
		c.SetOwnLeaf("")
	}
	c.Job = world.Job{
		Name: cmp.Or(first.Job, "asks from "+first.Key), Application: first.Application, Queue: first.Queue, Priority: first.Priority,
		NonPreemptible: first.NonPreemptible, MayNot: first.MayNot,
	}
	for _, i := range list {
		a := &b.asks[i]
		later(&c.Job.PendingSince, a.PendingSince)
		later(&c.Job.LastAttempt, a.LastAttempt)
		c.Job.Members = append(c.Job.Members, world.Member{
			Key: a.Key, Size: a.Size, Originator: a.Originator, OptedOut: a.OptedOut, Selector: a.Selector,
		})
	}
	return &c
}

func later(at *time.Time, than time.Time) {
	if than.After(*at) {
		*at = than
	}
}

// after returns a world with what was decided about asks carried out.
func (b *brute) after(from *world.World, list []int, r oracle.JobResult) world.World {
	var places []string
	for _, p := range r.Placements {
		places = append(places, p.Node)
	}
	return b.carryOut(from, list, places, r.Victims)
}

func (b *brute) carryOut(from *world.World, list []int, places, stopped []string) world.World {
	w := *from
	w.Tasks, w.Grants, w.Budgets = slices.Clone(w.Tasks), slices.Clone(w.Grants), maps.Clone(w.Budgets)
	for i := range w.Tasks {
		if t := &w.Tasks[i]; slices.Contains(stopped, t.Key) {
			t.State = world.Preempting
			for _, name := range t.Budgets {
				left := w.Budgets[name]
				left.Left--
				w.Budgets[name] = left
			}
		}
	}
	for n, i := range list {
		w.Grants = append(w.Grants, world.Grant{Ask: b.asks[i], Node: places[n]})
	}
	return w
}

// refused holds the library to a refusal.
func (b *brute) refused(ask int, reason string) {
	for i := range b.got.Refused {
		if r := &b.got.Refused[i]; r.Ask == ask {
			if got := r.Refusal.Reason; got != reason {
				b.Fatalf("ask %d is refused for %s, want %s\n%v", ask, got, reason, b)
			}
			return
		}
	}
	b.Fatalf("ask %d is served, want refused for %s\n%v", ask, reason, b)
}

// end holds the next parts of the library to asks that share a plan: that is one part, or
// several where the asks in turn were shown to be cheaper. Of these the last may serve some
// of rest, too; end returns the others.
func (b *brute) end(list, rest []int) []int {
	want := b.decide(&b.w, list)
	if b.part == len(b.got.Parts) {
		b.Fatalf("no part for %v\n%v", list, b)
	}
	got := &b.got.Parts[b.part]
	if b.divided(list) {
		return b.apart(list, rest, &want)
	}
	b.seen.parts++
	if !slices.Equal(got.Asks, list) {
		b.Fatalf("part %d is of asks %v, want %v\n%v", b.part, got.Asks, list, b)
	}
	b.part++
	if got.Outcome.String() != want.Outcome {
		b.Fatalf("%v: %v, want %v\n%v", list, got.Outcome, want.Outcome, b)
	}
	var places, stopped []string
	for _, p := range got.Plan.Places {
		places = append(places, p.NodeName)
	}
	for _, v := range got.Plan.Victims {
		stopped = append(stopped, v.Key)
	}
	if want.Outcome == oracle.Preempts {
		b.seen.plans++
		if len(list) > 1 {
			b.seen.shared++
		}
		c := b.caseOf(&b.w, list)
		if broken := oracle.JobBreaks(c, places, stopped); len(broken) > 0 {
			b.Fatalf("%v breaks %v\n%v", list, broken, b)
		}
		cost := oracle.JobCostOf(c, places, stopped)
		add(b.spent, &cost)
		switch proof := got.Plan.Proof; {
		case cost.Compare(nil, &want.Cost) < 0:
			b.Fatalf("%v costs less than the least\n%v", list, b)
		case proof == victims.ProofCost && cost.Compare(nil, &want.Cost) != 0,
			proof == victims.ProofLevels && untilVictims(&cost, &want.Cost) != 0:
			b.Fatalf("%v is proven (%v) and costs %v, and the least is %v\n%v", list, proof, levels(&cost), levels(&want.Cost), b)
		case proof == victims.NoProof:
			b.seen.unproven++
		}
		if sum, ok := b.inTurn(list); ok {
			if untilVictims(&cost, sum) > 0 {
				b.Fatalf("%v costs %v, and in turn %v\n%v", list, levels(&cost), levels(sum), b)
			}
			if cost.Victims < sum.Victims {
				b.seen.saved++
			}
		}
	}
	b.w = b.carryOut(&b.w, list, places, stopped)
	clear(b.known)
	return rest
}

// divided reports whether the library has plans of their own for asks that could share one.
func (b *brute) divided(list []int) bool {
	if b.part == len(b.got.Parts) {
		return false
	}
	asks := b.got.Parts[b.part].Asks
	return len(asks) < len(list) && slices.Equal(asks, list[:len(asks)])
}

// apart holds the next parts of the library to asks that could share a plan and do not:
// that costs less, or it does with what comes after them. Each part is of those that follow.
func (b *brute) apart(list, rest []int, want *oracle.JobResult) []int {
	sum, ok := b.inTurn(list)
	b.seen.apart++
	b.spent = noCost()
	all := slices.Concat(list, rest)
	for n := 0; n < len(list); {
		part := all[n : n+1]
		if b.part < len(b.got.Parts) {
			part = all[n:min(n+len(b.got.Parts[b.part].Asks), len(all))]
		}
		b.end(part, nil)
		n += len(part)
		rest = all[max(n, len(list)):]
	}
	if list[len(list)-1] == len(b.asks)-1 && (!ok || min(untilVictims(sum, &want.Cost), untilVictims(b.spent, &want.Cost)) >= 0) {
		b.Fatalf("%v do not share a plan, for no less\n%v", list, b)
	}
	return rest
}

// inTurn returns what asks cost one after another, each by its cheapest plan.
func (b *brute) inTurn(list []int) (*oracle.JobCost, bool) {
	sum, w := noCost(), &b.w
	for _, i := range list {
		r := b.decide(w, []int{i})
		if r.Outcome == oracle.Refused || r.OwnLeaf && !b.c.ByPriority && len(list) > 1 {
			return nil, false
		}
		if c := &r.Cost; r.Outcome == oracle.Preempts {
			add(sum, c)
		}
		after := b.after(w, []int{i}, r)
		w = &after
	}
	return sum, true
}

func noCost() *oracle.JobCost {
	return &oracle.JobCost{Losses: oracle.Losses{Own: new(big.Int), Excess: new(big.Rat), Work: new(big.Int)}}
}

// add adds a cost to a sum, down to the level before the excess.
func add(sum, c *oracle.JobCost) {
	if sum.Victims == 0 {
		sum.MaxRank, sum.MaxPriority = c.MaxRank, c.MaxPriority
	}
	sum.OptedOut, sum.Overrun, sum.Originators = sum.OptedOut+c.OptedOut, sum.Overrun+c.Overrun, sum.Originators+c.Originators
	sum.MaxRank, sum.MaxPriority, sum.Jobs = max(sum.MaxRank, c.MaxRank), max(sum.MaxPriority, c.MaxPriority), sum.Jobs+c.Jobs
	sum.Own.Add(sum.Own, c.Own)
	sum.Victims += c.Victims
	sum.SumRanks, sum.SumPriorities = sum.SumRanks+c.SumRanks, sum.SumPriorities+c.SumPriorities
}

// untilVictims compares costs down to the level before the excess.
func untilVictims(c, d *oracle.JobCost) int {
	return cmp.Or(
		cmp.Compare(c.OptedOut, d.OptedOut), cmp.Compare(c.Overrun, d.Overrun), cmp.Compare(c.Originators, d.Originators),
		cmp.Compare(c.MaxRank, d.MaxRank), cmp.Compare(c.MaxPriority, d.MaxPriority), cmp.Compare(c.Jobs, d.Jobs), c.Own.Cmp(d.Own),
		cmp.Compare(c.Victims, d.Victims), cmp.Compare(c.SumRanks, d.SumRanks), cmp.Compare(c.SumPriorities, d.SumPriorities),
	)
}
