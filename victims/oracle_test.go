// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// The planner agrees with package oracle, which decides by definition, on
// everything that it says about a small world.
func TestOracle(t *testing.T) { law.Check3000(t, propertyOracle) }

func FuzzOracle(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyOracle))
}

func propertyOracle(t *rapid.T) { comparedOn(t, world.Small) }

// comparedOn compares the planner with the oracle on worlds of a shape. Neither
// pruning nor the order in which tasks came and went matters.
func comparedOn(t *rapid.T, shape world.Shape) { comparedIn(t, world.Cases(shape)) }

// comparedIn is comparedOn for cases of a generator.
func comparedIn(t *rapid.T, cases *rapid.Generator[*world.Case]) {
	c := cases.Draw(t, "case")
	want := oracle.Decide(c)
	cluster := build(t, &c.World)
	planner := world.CasePlanner(cluster, c)
	planner.Audit = true
	for _, name := range []string{"as built", "shuffled"} {
		for _, exhaustive := range []bool{false, true} {
			planner.Exhaust(exhaustive)
			compare(t, c, planner, want, fmt.Sprintf("%s, exhaustive %v", name, exhaustive))
		}
		reshuffle(t, cluster, c.World.Tasks)
	}
}

// TestOracle_Features compares the planner with the oracle rule by rule, and
// with all rules at once.
func TestOracle_Features(t *testing.T) {
	for _, f := range append(slices.Clip(world.Table),
		world.Feature{Name: "cap and gangs", With: world.WithCap | world.WithGangs},
		world.Feature{Name: "everything", With: world.Everything}) {
		t.Run(f.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { comparedOn(t, world.Small.With(f.With)) })
		})
	}
}

// TestOracle_Together compares them where hardly anything is plain: the ask selects
// nodes and needs ports, and tasks are in budgets and gangs and have costs, so that
// many plans depend on several rules at once. Each plan is exact: of least cost
// down to the last key, and proven.
func TestOracle_Together(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { comparedIn(t, world.DenseCases(world.Small)) })
}

func FuzzOracle_Together(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { comparedIn(t, world.DenseCases(world.Small)) }))
}

func FuzzOracle_Everything(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { comparedOn(t, world.Small.With(world.Everything)) }))
}

// tb is what the tests of this file need of a *testing.T or a *rapid.T.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// reshuffle takes the tasks out of a cluster and adds them again, each in a
// random order, so that their rows are new to them.
func reshuffle(t *rapid.T, c *victims.Cluster, tasks []world.Task) {
	for _, i := range permutation(t, len(tasks)) {
		if err := c.RemoveTask(tasks[i].Key); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range permutation(t, len(tasks)) {
		if err := world.AddTask(c, &tasks[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// compare fails where the planner and the oracle differ.
func compare(t tb, c *world.Case, p *jobs.Planner, want oracle.Result, name string) {
	t.Helper()
	ask := askOf(t, p.Cluster, &c.Ask)
	var d victims.Decision
	if err := p.Decide(&d, &ask, c.Options.Now); err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	got := resultOf(p.Cluster, &d)
	if len(got.Where) > 0 && slices.Contains(want.Where, got.Where[0]) {
		got.Where = want.Where
	}
	if diff := law.Diff(want, got, compareNumbers, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s: oracle (-) and planner (+) differ:\n%s\n%v", name, diff, c)
	}
	if !proven(&d) {
		t.Fatalf("%s: not proven within the budget\n%v", name, c)
	}
}

var compareNumbers = cmp.Options{
	cmp.Comparer(func(a, b *big.Rat) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
	cmp.Comparer(func(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
}

// resultOf puts a decision in the words of the oracle.
func resultOf(c *victims.Cluster, d *victims.Decision) oracle.Result {
	r := oracle.Result{Outcome: d.Outcome.String()}
	if d.Outcome == victims.Refused {
		if err := d.Count(); err != nil {
			panic(err)
		}
		refusalOf(c, &d.Refusal, &r)
		return r
	}
	r.Node = c.Node(d.Plan.Places[0].Node).Name
	if d.Outcome != victims.Preempts {
		return r
	}
	cost := &d.Plan.Cost
	r.Cost.Losses = oracle.LossesOf(cost)
	r.Cost.NodePenalty, r.Cost.Node = cost.NodePenalty, cost.Node-1 // places count from 1 in a cluster that has lost no node
	r.OwnLeaf = d.Plan.WithinQueue
	for _, v := range d.Plan.Victims {
		r.Victims = append(r.Victims, oracle.Victim{
			Key: v.Key, Rank: v.Rank, ForNode: v.ForNode, ForHeadroom: v.ForHeadroom,
		})
		r.Cost.Keys = append(r.Cost.Keys, v.Key)
		if c.Task(v.Task).Key != v.Key {
			r.Victims = append(r.Victims, oracle.Victim{Key: "the row of another task than " + v.Key})
		}
	}
	return r
}

func refusalOf(c *victims.Cluster, f *victims.Refusal, r *oracle.Result) {
	r.Reason, r.RetryAt, r.Candidates = f.Reason, f.RetryAt, f.Candidates
	r.Filtered, r.WaitsFor = f.Filtered, f.WaitsFor
	about := f.Reason
	if r.OwnLeaf = lent.To(f).OwnLeaf; f.Also != "" {
		r.Also, about = f.Also, f.Also
	}
	switch about {
	case "over-max", "over-guarantee", "headroom-inside":
		r.Where = []string{f.Queue + " " + c.Schema().Name(f.Type)}
	}
	r.Counts = make(map[string]int)
	for _, n := range f.Counts {
		r.Counts[n.Rule] = n.Tasks
	}
	if r.Counts["guarantee"] > 0 {
		r.ProtectedBy = f.ProtectedBy.Queue + " " + c.Schema().Name(f.ProtectedBy.Type)
	}
	r.Cause = world.CauseOf(c, &f.Cause)
	if f.Closest != "" {
		r.Closest = f.Closest
		r.Lacks = world.AmountsOf(c, f.Lacks)
	}
}

func build(t tb, w *world.World) *victims.Cluster {
	c, err := world.Build(w)
	if err != nil {
		t.Fatalf("%v\n%v", err, w)
	}
	return c
}

func seedFuzz(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
}
