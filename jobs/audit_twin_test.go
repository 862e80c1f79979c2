// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// The auditor says of any plan what package oracle says of it: both find it lawful
// or neither does, and whatever law the oracle names the auditor names as well. The
// oracle stops at the first law in some places, so it may name fewer.
//
// Plans are made up here. Some are those of the planner, with a victim more or less
// or a member elsewhere: those are lawful but for one thing, as random ones hardly
// ever are.
//
// Of the planner's own plan the auditor works out the same cost.
func TestAudit_Twin(t *testing.T) {
	told := map[oracle.Law]int{}
	law.CheckUntil(t, func() bool { return len(told) > 0 }, func(t *rapid.T) { auditIsTwin(t, told) })
}

func FuzzAudit_Twin(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { auditIsTwin(t, map[oracle.Law]int{}) }))
}

func auditIsTwin(t *rapid.T, told map[oracle.Law]int) {
	c := world.JobCases(world.Small.With(everything)).Draw(t, "case")
	h := newHarness(t, c)
	h.decide("plan")
	if told := h.auditorOfCase().Cost(&h.d, c.Options.Now); h.d.Outcome == victims.Preempts && told.Compare(&h.d.Plan.Cost) != 0 {
		t.Fatalf("%s: the auditor says that it costs %v\nnot %v\n%v", h.said(), &told, &h.d.Plan.Cost, c)
	}
	plan, places, stops := h.madeUp(t)
	if plan == nil {
		return
	}
	want := oracle.JobBreaks(c, places, stops)
	var got []oracle.Law
	refused := false // by a quota, so that no victim helps
	for _, v := range h.auditorOfCase().Audit(nil, asDecision(plan), c.Options.Now) {
		switch v.Law {
		case finding.LawTrigger, finding.LawFormula, finding.LawMayPreempt, finding.LawDelay, finding.LawInterval, finding.LawMax, finding.LawMember,
			finding.LawOptedOut:
			// Which the oracle does not ask.
			refused = refused || v.Law == finding.LawFormula
		default:
			got = append(got, cmp.Or(lawOf[v.Law], oracle.Law(v.Law)))
		}
	}
	// Law 4 likewise. Of a victim that it keeps, the oracle names no later law.
	stops4 := slices.Contains(want, oracle.Law4)
	want = slices.DeleteFunc(want, func(law oracle.Law) bool { return law == oracle.Law4 })
	if slices.Contains(want, oracle.Candidate) {
		// What leaves anyway, and what nobody may take, frees something for the oracle
		// and not for the audit. That it is no candidate is all that both say.
		want = []oracle.Law{oracle.Candidate}
	}
	if len(want) > 1 {
		// Whether less would do is compared if nothing else is wrong: of half a job the
		// two give back different parts.
		want = slices.DeleteFunc(want, func(law oracle.Law) bool { return law == oracle.Minimal })
	}
	for _, law := range want {
		told[law]++
		if !slices.Contains(got, law) {
			t.Fatalf("stop %v for %v: the oracle says %v, and the audit %v\n%v", stops, places, want, got, c)
		}
	}
	if len(want) == 0 && !stops4 {
		told["lawful"]++
		if refused {
			got = slices.DeleteFunc(got, func(law oracle.Law) bool { return law == oracle.Law(finding.LawHelpful) })
		}
		if len(got) > 0 {
			t.Fatalf("stop %v for %v: the oracle finds it lawful, and the audit says %v\n%v", stops, places, got, c)
		}
	}
}

// auditorOfCase returns an auditor with the options of the planner.
func (h *harness) auditorOfCase() *victims.Auditor {
	p := &h.planner
	return &victims.Auditor{
		Cluster: p.Cluster, Options: p.Options,
	}
}

// madeUp returns a plan for the members of the minimum that have no place, with
// their nodes and the keys of the victims; nil if there are none to place or no
// nodes. If the planner had one it is that one, with something changed.
func (h *harness) madeUp(t *rapid.T) (p *victims.Plan, places, stops []string) {
	unplaced := h.minimumWithoutPlace()
	if len(unplaced) == 0 || len(h.c.World.Nodes) == 0 {
		return nil, nil, nil
	}
	if h.d.Outcome != victims.Refused {
		places, _ = h.places()
		stops = h.stops()
	}
	for len(places) < len(unplaced) {
		places = append(places, rapid.SampledFrom(h.c.World.Nodes).Draw(t, "node").Name)
	}
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		h.change(t, places, &stops)
	}
	p = &victims.Plan{Ask: h.job}
	for i, name := range places {
		n, _ := h.cluster.LookupNode(name)
		p.Places = append(p.Places, victims.Place{Member: unplaced[i], Node: n})
	}
	for _, key := range stops {
		id, _ := h.cluster.Lookup(key)
		p.Victims = append(p.Victims, victims.Victim{Task: id, Key: key})
	}
	return p, places, stops
}

// change moves a member, or stops a task more or less.
func (h *harness) change(t *rapid.T, places []string, stops *[]string) {
	switch rapid.SampledFrom([]string{"more", "less", "move"}).Draw(t, "change") {
	case "more":
		if tasks := h.c.World.Tasks; len(tasks) > 0 {
			key := rapid.SampledFrom(tasks).Draw(t, "task").Key
			if !slices.Contains(*stops, key) {
				*stops = append(*stops, key)
			}
		}
	case "less":
		if n := len(*stops); n > 0 {
			i := rapid.IntRange(0, n-1).Draw(t, "less")
			*stops = slices.Delete(slices.Clone(*stops), i, i+1)
		}
	case "move":
		places[rapid.IntRange(0, len(places)-1).Draw(t, "member")] = rapid.SampledFrom(h.c.World.Nodes).Draw(t, "to").Name
	}
}

// minimumWithoutPlace lists the members that a plan has to place, by the books of
// the world: as many of the first as the minimum lacks.
func (h *harness) minimumWithoutPlace() (list []int) {
	missing := h.c.Job.MinMembers
	if missing == 0 {
		missing = len(h.c.Job.Members)
	}
	for i := range h.c.Job.Members {
		key := h.c.Job.Members[i].Key
		at := slices.IndexFunc(h.c.World.Tasks, func(v world.Task) bool { return v.Key == key })
		switch {
		case at >= 0 && h.c.World.Tasks[at].State.Leaving():
		case at >= 0, slices.ContainsFunc(h.c.World.Grants, func(g world.Grant) bool { return g.Ask.Key == key }):
			missing--
		default:
			list = append(list, i)
		}
	}
	if missing > len(list) {
		return nil // somebody is leaving that is needed: there is no plan yet
	}
	return list[:max(missing, 0)]
}

// lawOf is what the oracle calls a law that has another name there.
var lawOf = map[string]oracle.Law{
	finding.LawSchedulable: oracle.Node, finding.LawReserved: oracle.Node, finding.LawFilter: oracle.Node,
	finding.LawDomain: oracle.Node, finding.LawRoom: oracle.Node,
	finding.LawKnown: oracle.Candidate, finding.LawOnce: oracle.Candidate, finding.LawLeaving: oracle.Candidate,
	finding.LawRequiredTask: oracle.Candidate, finding.LawNonPreemptible: oracle.Candidate,
	finding.LawApplication: oracle.Law3, finding.LawFence: oracle.Law7, finding.LawStorm: oracle.Storm, finding.LawDisabled: oracle.Disabled,
	finding.LawPriority: oracle.Law6, finding.LawExempt: oracle.Exempt, finding.LawGuarantee: oracle.Law2,
	finding.LawBudget: oracle.Budget, finding.LawGang: oracle.Gang, finding.LawHeadroom: oracle.Headroom,
	finding.LawQuota: oracle.Quota, finding.LawMinimal: oracle.Minimal,
}
