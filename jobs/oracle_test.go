// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"math"
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
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The planner agrees with package oracle, which decides by definition, about
// small worlds: on the outcome always, and where it says that nothing is
// cheaper, on everything.
func TestOracle(t *testing.T) { rapid.Check(t, propertyOracle) }

func FuzzOracle(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyOracle))
}

func propertyOracle(t *rapid.T) { agrees(t, 0) }

// Rule by rule, and with all rules together.
func TestOracle_Features(t *testing.T) {
	t.Parallel()
	eachFeature(t, agrees)
}

// eachFeature checks a property of worlds with one feature at a time, and then
// with all. Gangs are in each of them.
func eachFeature(t *testing.T, property func(*rapid.T, world.Features)) {
	for _, f := range append(slices.Clip(world.Table),
		world.Feature{Name: "gangs alone", Jobs: true},
		world.Feature{Name: "budgets and domains", Jobs: true, With: world.WithBudgets | world.WithDomains},
		world.Feature{Name: "own leaf and budgets", Jobs: true, With: world.WithOwnLeaf | world.WithBudgets},
		world.Feature{Name: "everything", Jobs: true, With: everything}) {
		if f.Jobs {
			t.Run(f.Name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) { property(t, f.With) })
			})
		}
	}
}

// What may be taken of the own leaf is one of three, and each is compared by
// itself, on the same worlds.
func TestOracle_OwnLeaf(t *testing.T) {
	for _, own := range []string{"", world.Met, world.Branch} {
		t.Run("own="+own, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := world.JobCases(world.Small.With(world.WithOwnLeaf)).Draw(t, "case")
				c.SetOwnLeaf(own)
				newHarness(t, c).compare("own leaf "+own, oracle.DecideJob(c))
			})
		})
	}
}

// Whatever decides between plans: there is one if the oracle has one, it is lawful and costs what it says, and the
// oracle's costs no more. Mostly it is as cheap, though the planner proves nothing then.
func TestOracle_Levels(t *testing.T) {
	plans, decides, least := 0, 0, 0
	law.Check3000(t, func(t *rapid.T) {
		c := world.JobCases(world.Small.With(world.WithPreemptions|world.WithCosts|world.WithCheckpoints)).Draw(t, "case")
		c.Options.Levels = rapid.Permutation(rulebook.AllWords()).Draw(t, "levels")[:rapid.IntRange(1, 3).Draw(t, "number")]
		if lent.To(&victims.Options{Levels: c.Options.Levels}).Check() != nil {
			return
		}
		h := newHarness(t, c)
		want := oracle.DecideJob(c)
		h.compare("by levels", want)
		if h.d.Outcome != victims.Preempts || want.Outcome != oracle.Preempts {
			return
		}
		plain := *c
		plain.Options.Levels = nil
		plans++
		if !slices.Equal(oracle.DecideJob(&plain).Victims, want.Victims) {
			decides++
		}
		cost := h.account("by levels")
		switch order := cost.Compare(c.Options.Levels, &want.Cost); {
		case order < 0:
			t.Fatalf("%v is cheaper than the oracle's %v by %v\n%v", cost, want.Cost, c.Options.Levels, c)
		case order == 0:
			least++
		}
	})
	t.Logf("of %d plans %d are others by the levels, and %d the cheapest", plans, decides, least)
	if plans > 300 && (20*decides < plans || 100*least < 70*plans) {
		t.Error("too few")
	}
}

// everything is what jobs know of what worlds may have.
var everything = world.EverythingOfJobs

func FuzzOracle_Features(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { agrees(t, everything) }))
}

// agrees compares planner and oracle about a case with some features.
func agrees(t *rapid.T, features world.Features) {
	c := world.JobCases(world.Small.With(features)).Draw(t, "case")
	h := newHarness(t, c)
	want := oracle.DecideJob(c)
	h.compare("as built", want)
	// The order in which tasks and nodes came and went does not matter.
	h.reshuffle(t)
	h.compare("shuffled", want)
	// Node order does, but it is nothing that planner and oracle see differently.
	c.World.Nodes = rapid.Permutation(c.World.Nodes).Draw(t, "nodes")
	h.rebuild()
	h.compare("with nodes in another order", oracle.DecideJob(c))
}

// Nor does a predicate that looks at nodes, and at the members placed before,
// keep a planner from finding what there is.
func TestOracleWithPredicate(t *testing.T) { rapid.Check(t, propertyOracleWithPredicate) }

func FuzzOracleWithPredicate(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyOracleWithPredicate))
}

func propertyOracleWithPredicate(t *rapid.T) {
	c := world.PickyJobCases(world.Small.With(everything)).Draw(t, "case")
	h := newHarness(t, c)
	h.planner.Predicate = h.accepts
	h.honest(oracle.DecideJob(c))
}

// With a budget of a few steps a planner may find no plan, or a dear one, and
// then does not claim a proof.
func TestOracleOnABudget(t *testing.T) { rapid.Check(t, propertyOracleOnABudget) }

func FuzzOracleOnABudget(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyOracleOnABudget))
}

func propertyOracleOnABudget(t *rapid.T) {
	h := newHarness(t, world.JobCases(world.Small.With(everything)).Draw(t, "case"))
	h.planner.Steps = rapid.SampledFrom([]int64{1, 100, 200, 500, 1000, 2000, 5000, 10_000}).Draw(t, "budget")
	h.honest(oracle.DecideJob(h.c))
}

// honest fails where the planner claims more than the oracle confirms. On a
// budget it may miss a plan, but not one without victims.
func (h *harness) honest(want oracle.JobResult) {
	const name = "as built"
	h.decide(name)
	missed := h.d.Outcome == victims.Refused && want.Outcome == oracle.Preempts
	if missed && h.planner.Steps != 0 && !h.d.Refusal.Proven {
		return
	}
	if got := h.d.Outcome.String(); got != want.Outcome {
		h.Fatalf("%s (%v), and the oracle says %s %v %v\n%v",
			h.said(), h.d.Refusal.Proven, want.Outcome, want.Victims, want.Placements, h.c)
	}
	if h.d.Outcome != victims.Refused {
		h.lawful(name)
		h.compareCost(name, want)
		h.replay(name)
	}
}

// In worlds that are too large to look at every set, plans hold to every law, no
// victim can be given back, and they are what they say.
func TestLaws(t *testing.T) { rapid.Check(t, propertyLaws) }

func FuzzLaws(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyLaws))
}

func propertyLaws(t *rapid.T) {
	h := newHarness(t, rapid.OneOf(
		world.JobCases(world.Crowded.With(everything)), world.JobCases(world.Large.With(everything)), world.PickyJobCases(world.Large.With(everything)),
	).Draw(t, "case"))
	if h.c.Apart || len(h.c.Refused) > 0 {
		h.planner.Predicate = h.accepts
	}
	h.planner.Steps = rapid.SampledFrom([]int64{100_000, 1, 1000, 10_000}).Draw(t, "budget")
	h.decide("larger")
	if h.d.Outcome == victims.Refused {
		return
	}
	h.lawful("larger")
	h.replay("larger")
	if h.d.Outcome == victims.Preempts {
		h.account("larger")
	}
}

// compare fails where planner and oracle differ.
func (h *harness) compare(name string, want oracle.JobResult) {
	h.decide(name)
	if got := h.d.Outcome.String(); got != want.Outcome {
		h.Fatalf("%s: %s, and the oracle says %s %v %v\n%v", name, h.said(), want.Outcome, want.Victims, want.Placements, h.c)
	}
	if h.d.Outcome == victims.Refused {
		h.compareRefusal(name, want)
		return
	}
	h.lawful(name)
	h.compareCost(name, want)
	h.replay(name)
}

// decide asks the planner, which must change nothing.
func (h *harness) decide(name string) {
	version := h.cluster.Version()
	if err := h.planner.Decide(&h.d, &h.job, h.c.Options.Now); err != nil {
		h.Fatalf("%s: %v\n%v", name, err, h.c)
	}
	if err := h.d.Count(); err != nil {
		h.Fatalf("%s: %v\n%v", name, err, h.c)
	}
	if h.cluster.Version() != version {
		h.Fatalf("%s: the planner changed the cluster\n%v", name, h.c)
	}
}

// compareRefusal compares what is said about a job without a plan.
func (h *harness) compareRefusal(name string, want oracle.JobResult) {
	r := &h.d.Refusal
	if got := r.Reason; got != want.Reason {
		h.Fatalf("%s: %s, and the oracle says %s %v\n%v", name, got, want.Reason, want.Where, h.c)
	}
	var where []string
	for _, b := range r.Breaches {
		at := b.Queue + " " + h.cluster.Schema().Name(b.Type)
		if !slices.Contains(where, at) {
			where = append(where, at)
		}
	}
	also := r.Also
	if also == "" {
		also = r.Reason
	}
	switch also {
	case "over-max", "over-guarantee", "headroom-inside":
		at := r.Queue + " " + h.cluster.Schema().Name(r.Type)
		all := want.Where
		if r.Also != "" {
			all = want.AlsoWhere
		}
		if !slices.Contains(all, at) {
			h.Fatalf("%s: %v of %s, and the oracle says %v\n%v", name, also, at, all, h.c)
		}
		if r.Also == "" {
			where = want.Where
		}
	}
	if r.Also != want.Also && (r.Also != "" || want.Also != "") {
		h.Fatalf("%s: also %v, and the oracle says %q\n%v", name, r.Also, want.Also, h.c)
	}
	if diff := cmp.Diff(want.Where, where, cmpopts.EquateEmpty()); diff != "" {
		h.Fatalf("%s: %s: oracle (-) and planner (+) differ in where:\n%s\n%v", name, want.Reason, diff, h.c)
	}
	counts := make(map[string]int)
	for _, n := range r.Counts {
		counts[n.Rule] = n.Tasks
	}
	if diff := cmp.Diff(want.Counts, counts, cmpopts.EquateEmpty()); diff != "" || r.Candidates != want.Candidates {
		h.Fatalf("%s: %s: %d candidates, and %d by the oracle; counts of oracle (-) and planner (+):\n%s\n%v",
			name, want.Reason, r.Candidates, want.Candidates, diff, h.c)
	}
	if by := r.ProtectedBy; counts["guarantee"] > 0 && by.Queue+" "+h.cluster.Schema().Name(by.Type) != want.ProtectedBy {
		h.Fatalf("%s: protected by %+v, and by the oracle by %q\n%v", name, by, want.ProtectedBy, h.c)
	}
	if cause := world.CauseOf(h.cluster, &r.Cause); cause != want.Cause {
		h.Fatalf("%s: it can never run for %q, and by the oracle for %q\n%v", name, cause, want.Cause, h.c)
	}
	hasPlan := oracle.HasPlan
	if want.Late {
		hasPlan = oracle.HasLatePlan
	}
	if wanted := len(oracle.Unplaced(h.c)); want.Counts != nil &&
		(r.Wanted != wanted || r.Placeable >= wanted || !hasPlan(h.c, r.Placeable) || hasPlan(h.c, r.Placeable+1)) {
		h.Fatalf("%s: %d of %d members placeable\n%v", name, r.Placeable, r.Wanted, h.c)
	}
	if !r.RetryAt.Equal(want.RetryAt) {
		h.Fatalf("%s: retry at %v, and the oracle says %v\n%v", name, r.RetryAt, want.RetryAt, h.c)
	}
	if !r.Proven {
		h.Fatalf("%s: no proof of %s\n%v", name, want.Reason, h.c)
	}
}

// lawful fails where the plan breaks a law, or places the members beyond the
// minimum otherwise than follows from the others.
func (h *harness) lawful(name string) {
	places, further := h.places()
	stops := h.stops()
	if broken := oracle.JobBreaks(h.c, places, stops); len(broken) > 0 {
		h.Fatalf("%s: %s breaks %v\n%v", name, h.said(), broken, h.c)
	}
	if h.d.Outcome == victims.Fits && !oracle.FitsAt(h.c, places) {
		h.Fatalf("%s: %s is not now\n%v", name, h.said(), h.c)
	}
	want := oracle.FurtherPlaces(h.c, h.d.Outcome.String(), places, stops)
	if diff := cmp.Diff(want, further, cmpopts.EquateEmpty()); diff != "" {
		h.Fatalf("%s: %s: oracle (-) and planner (+) differ in further members:\n%s\n%v", name, h.said(), diff, h.c)
	}
}

// leastLevels leaves out of a cost what comes after the levels that a plan may prove alone.
var leastLevels = cmp.Options{
	cmpopts.IgnoreFields(oracle.JobCost{}, "Losses.Excess", "Losses.Work", "Losses.Keys", "NodePenalty", "Domain", "Nodes"),
}

// compareCost compares as much of the cost as the plan claims proof of, and all
// of it where members are alike.
func (h *harness) compareCost(name string, want oracle.JobResult) {
	p := &h.d.Plan
	places, _ := h.places()
	if h.alike() && p.Proof != victims.ProofCost && len(h.c.Options.Levels) == 0 {
		h.Fatalf("%s: %s: proof of %v\n%v", name, h.said(), p.Proof, h.c)
	}
	if h.d.Outcome != victims.Preempts {
		if p.Proof == victims.ProofCost && !slices.Equal(places, minimum(want.Placements)) {
			h.Fatalf("%s: %s, and the oracle says %v\n%v", name, h.said(), want.Placements, h.c)
		}
		return
	}
	cost := h.account(name)
	least := []cmp.Option{compareNumbers}
	switch p.Proof {
	case victims.NoProof:
		return
	case victims.ProofLevels:
		least = append(least, leastLevels)
	}
	if diff := cmp.Diff(want.Cost, cost, least...); diff != "" {
		h.Fatalf("%s: %s: proof of %v, and oracle (-) and planner (+) differ:\n%s\n%v", name, h.said(), p.Proof, diff, h.c)
	}
}

// account fails where what the plan says of its victims and of its cost is not
// so by definition. It returns the cost by definition.
func (h *harness) account(name string) oracle.JobCost {
	places, _ := h.places()
	var list []oracle.JobVictim
	for _, v := range h.d.Plan.Victims {
		list = append(list, oracle.JobVictim{
			Key: v.Key, Rank: v.Rank, Job: v.Job, Whole: v.Whole,
			ForNode: v.ForNode, ForHeadroom: v.ForHeadroom, ForQuota: v.ForQuota,
		})
	}
	if diff := cmp.Diff(oracle.JobVictims(h.c, places, h.stops()), list); diff != "" {
		h.Fatalf("%s: %s: victims by definition (-) and by the planner (+):\n%s\n%v", name, h.said(), diff, h.c)
	}
	cost := oracle.JobCostOf(h.c, places, h.stops())
	inRange := saturated(cost)
	if diff := cmp.Diff(levels(&inRange), h.levels()); diff != "" {
		h.Fatalf("%s: %s: cost by definition (-) and by the planner (+):\n%s\n%v", name, h.said(), diff, h.c)
	}
	return cost
}

// alike reports whether the members of the minimum without a place are of one
// size, and no node is reserved for one of them.
func (h *harness) alike() bool {
	if h.planner.Predicate != nil || h.planner.Steps != 0 {
		return false // no proof is asked for
	}
	var first resources.Vector
	for _, p := range h.d.Plan.Places {
		m := &h.c.Job.Members[p.Member]
		if slices.ContainsFunc(h.c.World.Nodes, func(n world.Node) bool { return n.ReservedFor == m.Key }) {
			return false
		}
		if size := h.job.Members[p.Member].Size; !p.Extra && first == nil {
			first = size
		} else if !p.Extra && !slices.Equal(first, size) {
			return false
		}
	}
	return true
}

var compareNumbers = cmp.Options{
	cmp.Comparer(func(a, b *big.Rat) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
	cmp.Comparer(func(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
}

// levels writes the parts of a cost that do not speak of nodes.
func levels(c *oracle.JobCost) string {
	l := c.Losses
	l.Keys = nil
	return fmt.Sprintf("%+v %v\n", l, c.NodePenalty)
}

func (h *harness) levels() string {
	c := &h.d.Plan.Cost
	return levels(&oracle.JobCost{NodePenalty: big.NewInt(c.NodePenalty), Losses: oracle.LossesOf(c)})
}

// saturated returns a cost whose node rank is in the range of a plan's.
func saturated(c oracle.JobCost) oracle.JobCost {
	if !c.NodePenalty.IsInt64() {
		least, most := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
		if c.NodePenalty.Sign() < 0 {
			most = least
		}
		c.NodePenalty = most
	}
	return c
}
