// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// The laws are checked on large random worlds from the worlds themselves, in
// the words of the laws; see package oracle.

// Law 1: opted-out victims only if no plan does without, and then the fewest
// possible. And a plan there is, whenever there is a lawful one.
func TestLaw1_OptedOutOnlyAsLastResort(t *testing.T) { rapid.Check(t, propertyLaw1) }

func FuzzLaw1(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyLaw1))
}

func propertyLaw1(t *rapid.T) {
	c := world.Cases(world.Large).Draw(t, "case")
	d, _ := decide(t, c)
	fewest, ok := oracle.Fewest(c)
	switch {
	case d.Outcome == victims.Preempts && !ok:
		t.Fatalf("a plan where none is lawful\n%v", c)
	case d.Outcome == victims.Preempts && d.Plan.Proof == victims.ProofCost && d.Plan.Cost.OptedOut != fewest:
		t.Fatalf("%d opted-out victims where %d are enough\n%v", d.Plan.Cost.OptedOut, fewest, c)
	case d.Outcome == victims.Refused && d.Refusal.Reason == "no-victims" && d.Refusal.Proven && ok:
		t.Fatalf("no plan where one with %d opted-out victims is lawful\n%v", fewest, c)
	}
}

func TestLaw2_NeverBelowGuarantee(t *testing.T)        { checkLaws(t, oracle.Law2) }
func TestLaw3_NeverSameApplication(t *testing.T)       { checkLaws(t, oracle.Law3) }
func TestLaw4_OnlyUnderGuaranteeTriggers(t *testing.T) { checkLaws(t, oracle.Law4) }
func TestLaw5_OnlyOverGuaranteeGives(t *testing.T)     { checkLaws(t, oracle.Law5) }
func TestLaw6_NeverHigherPriority(t *testing.T)        { checkLaws(t, oracle.Law6) }
func TestLaw7_NeverOutsideFence(t *testing.T)          { checkLaws(t, oracle.Law7, oracle.Disabled) }

// What else a plan must be: of tasks that may be taken, never from inside the
// starving queue, with room for the ask on its node and under every max.
func TestPlansAreLawful(t *testing.T) {
	checkLaws(t, oracle.Candidate, oracle.Exempt, oracle.Storm, oracle.Node, oracle.Headroom)
}

// No victim can be given back: without it there is no room.
func TestMinimality(t *testing.T) { checkLaws(t, oracle.Minimal) }

// FuzzLaws checks every law at once.
func FuzzLaws(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { propertyLaws(t, nil) }))
}

func checkLaws(t *testing.T, laws ...oracle.Law) {
	rapid.Check(t, func(t *rapid.T) { propertyLaws(t, laws) })
}

// propertyLaws checks the plan of a random case against the laws, or all. They
// hold for the best that was found within any budget.
func propertyLaws(t *rapid.T, laws []oracle.Law) {
	c := world.Cases(world.Large).Draw(t, "case")
	d, cluster := decideWithin(t, c, of(t, "budget", []int64{0, 1, 1000, 10_000}))
	if d.Outcome == victims.Refused {
		return
	}
	var keys []string
	for _, v := range d.Plan.Victims {
		keys = append(keys, v.Key)
	}
	if d.Outcome != victims.Preempts && len(keys) > 0 {
		t.Fatalf("%v with victims %v\n%v", d.Outcome, keys, c)
	}
	if d.Outcome != victims.Preempts {
		laws = []oracle.Law{oracle.Node, oracle.Headroom} // no victims, no trigger
		if _, held := grantOf(&c.World, c.Ask.Key); held {
			return // its own grant would be in the way
		}
	}
	for _, b := range oracle.Breaks(c, cluster.Node(d.Plan.Places[0].Node).Name, keys) {
		if laws == nil || slices.Contains(laws, b.Law) {
			t.Fatalf("plan of %v on %s breaks %s: %s\n%v", keys, cluster.Node(d.Plan.Places[0].Node).Name, b.Law, b.Text, c)
		}
	}
}

func grantOf(w *world.World, key string) (node string, ok bool) {
	for _, g := range w.Grants {
		if g.Ask.Key == key {
			return g.Node, true
		}
	}
	return "", false
}

// The cost of a plan is that of its victims, summed up anew.
func TestCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.Cases(world.Large).Draw(t, "case")
		d, cluster := decide(t, c)
		if d.Outcome != victims.Preempts {
			return
		}
		got := resultOf(cluster, d)
		want := oracle.CostOf(c, got.Node, got.Cost.Keys)
		if diff := cmp.Diff(want, got.Cost, compareNumbers); diff != "" {
			t.Fatalf("costs differ:\n%s\n%v", diff, c)
		}
	})
}

// Neither pruning nor the order in which tasks were added changes an answer
// that is proven.
func TestPruning(t *testing.T) {
	law.Check3000(t, func(t *rapid.T) {
		c := world.Cases(world.Large).Draw(t, "case")
		d, cluster := decide(t, c)
		other := build(t, &c.World)
		reshuffle(t, other, c.World.Tasks)
		planner := world.PlannerOf(other, &c.Options)
		planner.Exhaust(true)
		ask := askOf(t, other, &c.Ask)
		var e victims.Decision
		if err := planner.Decide(&e, &ask, c.Options.Now); err != nil {
			t.Fatal(err)
		}
		if !proven(d) || !proven(&e) {
			return
		}
		if diff := cmp.Diff(resultOf(other, &e), resultOf(cluster, d), compareNumbers, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("exhaustive and shuffled (-), and not (+):\n%s\n%v", diff, c)
		}
	})
}

func proven(d *victims.Decision) bool { return d.Plan.Proof == victims.ProofCost || d.Refusal.Proven }

// Deciding changes neither the cluster nor the ask, and deciding again gives
// the same answer, with the memory of a planner and a decision warm.
func TestInputUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.Cases(world.Large).Draw(t, "case")
		other := world.Cases(world.Large).Draw(t, "another case")
		cluster := build(t, &c.World)
		planner := world.PlannerOf(cluster, &c.Options)
		ask := askOf(t, cluster, &c.Ask)

		before, size := snapshot(cluster), slices.Clone(ask.Size)
		var first victims.Decision
		if err := planner.Decide(&first, &ask, c.Options.Now); err != nil {
			t.Fatal(err)
		}
		if after := snapshot(cluster); after != before {
			t.Fatalf("the cluster has changed:\n%s", cmp.Diff(before, after))
		}
		if !slices.Equal(ask.Size, size) {
			t.Fatalf("the ask has changed: %v, was %v", ask.Size, size)
		}

		// Another decision in between, and then the same into its memory.
		var again victims.Decision
		planner = plannerOf(planner, build(t, &other.World), other)
		otherAsk := askOf(t, planner.Cluster, &other.Ask)
		if err := planner.Decide(&again, &otherAsk, other.Options.Now); err != nil {
			t.Fatal(err)
		}
		planner = plannerOf(planner, cluster, c)
		if err := planner.Decide(&again, &ask, c.Options.Now); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(resultOf(cluster, &first), resultOf(cluster, &again), compareNumbers, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the second answer differs:\n%s\n%v", diff, c)
		}
	})
}

// plannerOf makes p, which keeps the memory of other decisions, the planner of
// a case.
func plannerOf(p *jobs.Planner, cluster *victims.Cluster, c *world.Case) *jobs.Planner {
	fresh := world.PlannerOf(cluster, &c.Options)
	p.Cluster, p.Exempt = fresh.Cluster, fresh.Exempt
	p.StrictPriority, p.RetryInterval, p.Scarce = fresh.StrictPriority, fresh.RetryInterval, fresh.Scarce
	return p
}

// snapshot writes down all that a cluster shows.
func snapshot(c *victims.Cluster) string {
	var b strings.Builder
	fmt.Fprintln(&b, "version", c.Version(), "capacity", c.Capacity())
	t := c.Tree()
	for q := range queue.ID(t.Len()) {
		fmt.Fprintln(&b, "queue", t.Path(q), t.Usage(q), t.Leaving(q), t.Guaranteed(q), t.Max(q))
	}
	for n := range c.Nodes() {
		fmt.Fprintln(&b, "node", c.Node(n), c.Free(nil, n), c.ComingFree(nil, n))
	}
	for id := range c.Tasks() {
		fmt.Fprintln(&b, "task", id, c.Task(id))
	}
	return b.String()
}

// decide builds the world of a case and has its ask decided.
func decide(t tb, c *world.Case) (*victims.Decision, *victims.Cluster) {
	return decideWithin(t, c, 0)
}

func decideWithin(t tb, c *world.Case, budget int64) (*victims.Decision, *victims.Cluster) {
	cluster := build(t, &c.World)
	planner := world.PlannerOf(cluster, &c.Options)
	planner.Steps = budget
	ask := askOf(t, cluster, &c.Ask)
	d := new(victims.Decision)
	if err := errors.Join(planner.Decide(d, &ask, c.Options.Now), d.Count()); err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	return d, cluster
}

func askOf(t tb, c *victims.Cluster, a *world.Ask) victims.Ask {
	ask, err := world.AskOf(c, a)
	if err != nil {
		t.Fatal(err)
	}
	return ask
}
