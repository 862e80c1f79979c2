// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// A job of one member is decided as the ask is. (DESIGN.md, Jobs: laws.) Two planners that
// share little are twins here. Jobs know neither ports nor required nodes nor other orders
// of the levels of cost, and asks do not know the label preemptible. A member that holds a
// grant has its place, and an ask that does asks for it anew.
func TestJobOfOneMember_IsDecidedAsTheAsk(t *testing.T) { law.Check3000(t, propertyOneMember) }

func FuzzJobOfOneMember(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyOneMember))
}

// drawOneMember draws the case of an ask, with the planner and the ask that it states, and the job of which it is the
// only member.
func drawOneMember(t *rapid.T) (c *world.Case, h *harness, asks *jobs.Planner, ask victims.Ask) {
	c = alone(rapid.OneOf(
		world.Cases(world.Small), world.Cases(world.Small.With(world.Everything)), world.DenseCases(world.Small),
	).Draw(t, "case"))
	h = newHarness(t, jobOfAsk(c))
	ask, err := world.AskOf(h.cluster, &c.Ask)
	if err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	return c, h, world.CasePlanner(h.cluster, c), ask
}

func propertyOneMember(t *rapid.T) {
	c, h, asks, ask := drawOneMember(t)
	if closed := rapid.SampledFrom(append([]string{""}, nodeNames(&c.World)...)).Draw(t, "closed"); closed != "" {
		// What a predicate says of a node it says of every set of victims there.
		lets := func(node victims.NodeID) bool { return h.cluster.NodeName(node) != closed }
		asks.Predicate = func(p *victims.Question) bool { return lets(p.Node) }
		h.planner.Predicate = func(p *victims.Question) bool { return lets(p.Node) }
	}
	var d victims.Decision
	if err := asks.Decide(&d, &ask, c.Options.Now); err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	if rapid.Bool().Draw(t, "itself") {
		h.job = ask // a lone ask is a job of itself
	}
	h.decide("job")
	if len(h.d.Plan.Places) == 1 {
		c, job := h.cluster.Clone(), ""
		if len(h.job.Members) > 0 {
			job = h.job.Key
		}
		if err := c.Apply(&h.d); err != nil {
			t.Fatalf("%v\n%v", err, h.c)
		}
		if id, _ := c.LookupGrant(h.d.Plan.Places[0].Key); c.Job(id) != job || c.MinMembers(h.job.Key) != len(h.job.Members) {
			t.Fatalf("grant of job %q, minimum %d\n%v", c.Job(id), c.MinMembers(h.job.Key), h.c)
		}
	}
	if h.d.Outcome == victims.Preempts {
		a := h.auditorOfCase()
		a.Predicate = h.planner.Predicate
		if found := a.Audit(nil, &h.d, c.Options.Now); len(found) > 0 {
			t.Fatalf("%s: %v\n%v", h.said(), found, h.c)
		}
	}
	want, got := answerToAsk(h.cluster, &d), answerToJob(h.cluster, &h.d)
	if d.Outcome != victims.Preempts {
		want.Cost, got.Cost = victims.Cost{}, victims.Cost{}
	}
	if h.planner.Predicate != nil && rulebook.ReasonOf(want.Reason).Searched && got.Reason == "predicate" {
		// It refused a place without victims, or one that no lawful set makes free. A job
		// counts that, for with several members nothing tells which refusal was in the way.
		got.Reason = want.Reason
	}
	want.Cost.Node, got.Cost.Node = 0, 0 // of a job it is the list of all places
	if diff := gocmp.Diff(want, got, cmpopts.EquateComparable(victims.Cost{})); diff != "" {
		t.Fatalf("as an ask (-) and as a job (+):\n%s%v", diff, h.c)
	}
}

// A plan for a job of one member is judged as one for the ask is, whatever is in it: by the
// same laws in the same order, and with the same words but for who asks.
func TestAudit_OfOneMember(t *testing.T) { law.Check3000(t, propertyAuditOfOneMember) }

func FuzzAudit_OfOneMember(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyAuditOfOneMember))
}

func propertyAuditOfOneMember(t *rapid.T) {
	c := alone(world.Cases(world.Small.With(world.Everything)).Draw(t, "case"))
	h := newHarness(t, jobOfAsk(c))
	asks := world.CasePlanner(h.cluster, c)
	ask, err := world.AskOf(h.cluster, &c.Ask)
	if err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	var d victims.Decision
	if err := asks.Decide(&d, &ask, c.Options.Now); err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	// The planner's plan, or one that is made up, or something between.
	plan := victims.Plan{Ask: ask, Places: []victims.Place{{}}, Victims: slices.Clone(d.Plan.Victims)}
	if len(d.Plan.Places) > 0 && rapid.Bool().Draw(t, "there") {
		plan.Places[0].Node = d.Plan.Places[0].Node
	} else {
		plan.Places[0].Node = victims.NodeID(rapid.IntRange(0, len(c.World.Nodes)+1).Draw(t, "node"))
	}
	plan.Victims = slices.DeleteFunc(plan.Victims, func(victims.Victim) bool { return rapid.IntRange(0, 3).Draw(t, "stays") == 0 })
	for range rapid.IntRange(0, 2).Draw(t, "more") {
		v := victims.Victim{Task: victims.TaskID(rapid.IntRange(0, len(c.World.Tasks)).Draw(t, "task"))}
		if int(v.Task) < len(c.World.Tasks) {
			v.Key = h.cluster.Key(v.Task)
		}
		plan.Victims = append(plan.Victims, v)
	}
	same := victims.Plan{Ask: h.job, Places: []victims.Place{{Node: plan.Places[0].Node}}, Victims: plan.Victims}

	want := (&victims.Auditor{Cluster: h.cluster, Options: asks.Options}).Audit(nil, asDecision(&plan), c.Options.Now)
	a := h.auditorOfCase()
	a.VictimsOnNode, a.TakeOwnApplication = asks.VictimsOnNode, asks.TakeOwnApplication
	got := a.Audit(nil, asDecision(&same), c.Options.Now)
	if diff := gocmp.Diff(want, got, cmpopts.IgnoreUnexported(victims.Violation{})); diff != "" {
		t.Fatalf("of an ask (-) and of a job (+):\n%s%v", diff, h.c)
	}
}

// alone makes a case one that a job can be in.
func alone(c *world.Case) *world.Case {
	c.Ask.RequiredNode, c.Ask.Ports, c.Ask.Job, c.Options.Levels = "", nil, "", nil
	for i := range c.World.Tasks {
		c.World.Tasks[i].NonPreemptible = false
	}
	c.World.Grants = slices.DeleteFunc(c.World.Grants, func(g world.Grant) bool { return g.Ask.Key == c.Ask.Key })
	for i := range c.World.Grants {
		c.World.Grants[i].Ask.NonPreemptible = false
	}
	return c
}

// jobOfAsk returns the case of a job whose only member is the ask.
func jobOfAsk(c *world.Case) *world.JobCase {
	a := &c.Ask
	return &world.JobCase{
		World: c.World, Options: c.Options, Minimums: c.Options.Minimums,
		Job: world.Job{
			Name: "the job", Application: a.Application, Queue: a.Queue, Priority: a.Priority, MayNot: a.MayNot,
			PendingSince: a.PendingSince, LastAttempt: a.LastAttempt,
			Members: []world.Member{{
				Key: a.Key, Size: a.Size, Originator: a.Originator, OptedOut: a.OptedOut, Selector: a.Selector,
			}},
		},
	}
}

func nodeNames(w *world.World) (names []string) {
	for i := range w.Nodes {
		names = append(names, w.Nodes[i].Name)
	}
	return names
}

// An answer is what the decision about an ask, and that about a job of one member, have in
// common.
type answer struct {
	Outcome victims.Outcome

	Node    string
	Victims []string
	Cost    victims.Cost

	Reason, Also string
	Where        string // the queue and the type that the reason, or Also, speaks of
	RetryAt      time.Time

	OwnLeaf bool
}

// answerToAsk reads the decision about an ask.
func answerToAsk(c *victims.Cluster, d *victims.Decision) answer {
	if r := &d.Refusal; d.Outcome == victims.Refused {
		a := answer{Outcome: d.Outcome, Reason: r.Reason, RetryAt: r.RetryAt, OwnLeaf: lent.To(r).OwnLeaf}
		return a.about(c, r.Also, r.Queue, r.Type)
	}
	p := &d.Plan
	a := answer{Outcome: d.Outcome, Node: c.NodeName(p.Places[0].Node), Cost: p.Cost, OwnLeaf: p.WithinQueue}
	for _, v := range p.Victims {
		a.Victims = append(a.Victims, v.Key)
	}
	return a
}

// answerToJob reads the decision about a job of one member.
func answerToJob(c *victims.Cluster, d *victims.Decision) answer {
	if r := &d.Refusal; d.Outcome == victims.Refused {
		a := answer{Outcome: d.Outcome, Reason: r.Reason, RetryAt: r.RetryAt, OwnLeaf: lent.To(r).OwnLeaf}
		return a.about(c, r.Also, r.Queue, r.Type)
	}
	p := &d.Plan
	a := answer{Outcome: d.Outcome, Cost: p.Cost, OwnLeaf: p.WithinQueue}
	for _, at := range p.Places {
		a.Node = c.NodeName(at.Node)
	}
	for _, v := range p.Victims {
		a.Victims = append(a.Victims, v.Key)
	}
	return a
}

// about adds what a refusal speaks of.
func (a answer) about(c *victims.Cluster, also, queue string, t int) answer {
	a.Also = also
	switch told := cmp.Or(also, a.Reason); told {
	case "over-max", "over-guarantee", "headroom-inside":
		a.Where = queue + " " + c.Schema().Name(t)
	}
	return a
}
