// SPDX-License-Identifier: Apache-2.0

package toleration_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
)

// What policies do to the decisions of a planner, in random worlds.
var planLaws = []law.Law{
	{Name: "OnlyProtects", Holds: onlyProtects},
	{Name: "RetryAt", Holds: retryAtIsTheFirstPlan},
	{Name: "HigherAsks", Holds: higherAsksLoseNothing},
}

func TestPlanLaws(t *testing.T) { law.Check(t, planLaws) }

func FuzzPlanLaws(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	law.Fuzz(f, planLaws)
}

// A scene is a random case whose tasks have policies.
type scene struct {
	c        *world.Case
	cluster  *victims.Cluster
	ask      victims.Ask
	policies map[string]toleration.Policy
}

// String draws the scene.
func (s *scene) String() string {
	var b strings.Builder
	b.WriteString(s.c.String())
	for i := range s.c.World.Tasks {
		key := s.c.World.Tasks[i].Key
		fmt.Fprintf(&b, "policy %s %v\n", key, s.policies[key])
	}
	return b.String()
}

// GoString keeps the log of a failing property short, as that of a case.
func (s *scene) GoString() string { return "a scene" }

// scenes returns random scenes in worlds of a shape. Most tasks have a policy,
// most policies are about the ask's priority, and most of their ends some
// minutes away.
func scenes(shape world.Shape) *rapid.Generator[*scene] {
	return rapid.Custom(func(t *rapid.T) *scene {
		s := &scene{c: world.Cases(shape).Draw(t, "case"), policies: make(map[string]toleration.Policy)}
		for i := range s.c.World.Tasks {
			s.give(t, &s.c.World.Tasks[i])
		}
		var err error
		s.cluster, err = world.Build(&s.c.World)
		require.NoError(t, err)
		s.ask, err = world.AskOf(s.cluster, &s.c.Ask)
		require.NoError(t, err)
		return s
	})
}

// give gives a task a policy, or none. It is mostly scheduled by now.
func (s *scene) give(t *rapid.T, task *world.Task) {
	now := s.c.Options.Now
	if task.Scheduled.IsZero() && rapid.IntRange(0, 3).Draw(t, "scheduled") > 0 {
		task.Scheduled = now.Add(-time.Minute)
	}
	p := toleration.Policy{
		MinimumPreemptablePriority: higher(t, s.c.Ask.Priority),
		Seconds:                    -1,
	}
	switch rapid.SampledFrom([]string{"none", "ends", "ends", "ever"}).Draw(t, "policy") {
	case "none":
		return
	case "ends":
		age := max(0, now.Sub(task.Scheduled)) / time.Second
		p.Seconds = int64(age) + 60*rapid.Int64Range(-1, 4).Draw(t, "minutes left")
	}
	s.policies[task.Key] = p
}

// higher returns a priority that is the given one or a little higher.
func higher(t *rapid.T, priority int32) int32 {
	return int32(min(int64(priority)+rapid.Int64Range(0, 3).Draw(t, "higher by"), math.MaxInt32))
}

// exempt is what a caller gives the planner.
func (s *scene) exempt(e *victims.Question) (until time.Time, exempt bool) {
	return s.policies[e.Cluster.Key(e.Task)].Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
}

// decide decides the scene at an instant, with policies or without.
func (s *scene) decide(t require.TestingT, now time.Time, policies bool) *victims.Decision {
	options := s.c.Options
	options.Exempt = nil
	planner := world.PlannerOf(s.cluster, &options)
	if policies {
		planner.Exempt = s.exempt
	}
	d := new(victims.Decision)
	require.NoError(t, planner.Decide(d, &s.ask, now))
	return d
}

// onlyProtects: a toleration makes nobody a victim who was none before. What it
// leaves is a plan without policies too, which costs no less than the best of
// those; who tolerates the ask now is not in it; and where there was no plan
// there is none.
func onlyProtects(t *rapid.T) {
	s := scenes(world.Large).Draw(t, "scene")
	now := s.c.Options.Now
	without, with := s.decide(t, now, false), s.decide(t, now, true)
	switch {
	case without.Outcome != victims.Preempts:
		if with.Outcome != without.Outcome || with.Refusal.Reason != without.Refusal.Reason {
			t.Fatalf("%v %v with policies, %v %v without\n%v", with.Outcome, with.Refusal.Reason,
				without.Outcome, without.Refusal.Reason, s)
		}
		return
	case with.Outcome == victims.Refused && with.Refusal.Reason == "no-victims":
		return
	case with.Outcome != victims.Preempts:
		t.Fatalf("%v %v with policies, a plan without\n%v", with.Outcome, with.Refusal.Reason, s)
	}
	for _, v := range with.Plan.Victims {
		task := s.cluster.Task(v.Task)
		if spares(s.policies[v.Key], task.Scheduled, s.ask.Priority, now) {
			t.Fatalf("%s tolerates the ask\n%v", v.Key, s)
		}
	}
	auditor := victims.Auditor{Cluster: s.cluster, Options: victims.Options{StrictPriority: s.c.Options.StrictPriority, RetryInterval: s.c.Options.Interval, Scarce: s.c.Options.Counting(s.cluster)}}
	for _, v := range auditor.Audit(nil, with, now) {
		// The fewest opted-out victims are fewer where nobody is exempt.
		if v.Law != finding.LawOptedOut {
			t.Fatalf("%v\n%v", v, s)
		}
	}
	if without.Plan.Proof == victims.ProofCost && with.Plan.Cost.Compare(&without.Plan.Cost) < 0 {
		t.Fatalf("policies make the plan cheaper\n%v", s)
	}
}

// retryAtIsTheFirstPlan: at the instant that a refusal gives there is a plan,
// and at no end of a toleration before it; where it gives none, at none.
func retryAtIsTheFirstPlan(t *rapid.T) {
	s := scenes(world.Small).Draw(t, "scene")
	d := s.decide(t, s.c.Options.Now, true)
	if d.Outcome != victims.Refused || d.Refusal.Reason != "no-victims" {
		return
	}
	retry := d.Refusal.RetryAt
	if !retry.IsZero() && s.decide(t, retry, true).Outcome != victims.Preempts {
		t.Fatalf("no plan at %v\n%v", retry, s)
	}
	for id := range s.cluster.Tasks() {
		until, exempt := s.exempt(&victims.Question{Cluster: s.cluster, Task: id, Ask: &s.ask})
		if !exempt || !until.After(s.c.Options.Now) {
			continue
		}
		for _, now := range []time.Time{until.Add(-1), until} {
			if (retry.IsZero() || now.Before(retry)) && s.decide(t, now, true).Outcome != victims.Refused {
				t.Fatalf("a plan at %v, before %v\n%v", now, retry, s)
			}
		}
	}
}

// higherAsksLoseNothing: an ask that has a plan has one with a higher priority
// too, whatever the policies.
func higherAsksLoseNothing(t *rapid.T) {
	s := scenes(world.Small).Draw(t, "scene")
	low := s.decide(t, s.c.Options.Now, true)
	s.ask.Priority = higher(t, s.ask.Priority)
	high := s.decide(t, s.c.Options.Now, true)
	if low.Outcome != victims.Refused && high.Outcome != low.Outcome {
		t.Fatalf("%v, and %v with a higher priority\n%v", low.Outcome, high.Outcome, s)
	}
}

// Random scenes are of use only while policies change decisions. The seeds are
// fixed, so that this says something of the generator alone.
func TestScenesAreMixed(t *testing.T) {
	if testing.Short() {
		t.Skip("it says something of the generator, from thousands of cases")
	}
	const cases = 2000
	count := make(map[string]int)
	generator := scenes(world.Small)
	for seed := range cases {
		s := generator.Example(seed)
		now := s.c.Options.Now
		without, with := s.decide(t, now, false), s.decide(t, now, true)
		if without.Outcome != victims.Preempts {
			continue
		}
		switch {
		case with.Outcome == victims.Preempts && !cmp.Equal(with.Plan.Victims, without.Plan.Victims):
			count["other victims"]++
		case with.Outcome == victims.Refused && with.Refusal.RetryAt.IsZero():
			count["never"]++
		case with.Outcome == victims.Refused:
			count["later"]++
		}
	}
	for kind, atLeast := range map[string]int{"other victims": 40, "never": 25, "later": 20} { // of a thousand
		require.GreaterOrEqual(t, count[kind]*1000/cases, atLeast, "%s: %v", kind, count)
	}
}
