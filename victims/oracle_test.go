package victims_test

import (
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/oracle"
	"github.com/go-preempt/preempt/internal/world"
	"github.com/go-preempt/preempt/victims"
)

// The planner agrees with package oracle, which decides by definition, on
// everything that it says about a small world.
func TestOracle(t *testing.T) { rapid.Check(t, propertyOracle) }

func FuzzOracle(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyOracle))
}

func propertyOracle(t *rapid.T) {
	c := world.Cases(world.Small).Draw(t, "case")
	want := oracle.Decide(c)
	planner := &victims.Planner{}
	shuffled := shuffle(t, c.World.Tasks)
	for _, v := range []struct {
		name       string
		tasks      []world.Task
		exhaustive bool
	}{
		{"pruned", c.World.Tasks, false},
		{"exhaustive", c.World.Tasks, true},
		{"shuffled", shuffled, false},
		{"shuffled and exhaustive", shuffled, true},
	} {
		w := c.World
		w.Tasks = v.tasks
		cluster := build(t, &w)
		planner = plannerOf(planner, cluster, c)
		planner.Exhaustive = v.exhaustive
		compare(t, c, planner, want, v.name)
	}
}

// shuffle returns tasks in a random order.
func shuffle(t *rapid.T, tasks []world.Task) (shuffled []world.Task) {
	for _, i := range permutation(t, len(tasks)) {
		shuffled = append(shuffled, tasks[i])
	}
	return shuffled
}

// plannerOf makes p, which keeps the memory of other decisions, the planner of
// a case.
func plannerOf(p *victims.Planner, cluster *victims.Cluster, c *world.Case) *victims.Planner {
	fresh := world.PlannerOf(cluster, &c.Options)
	p.Cluster, p.Exempt = fresh.Cluster, fresh.Exempt
	p.StrictPriority, p.Interval = fresh.StrictPriority, fresh.Interval
	return p
}

// compare fails where the planner and the oracle differ.
func compare(t *rapid.T, c *world.Case, p *victims.Planner, want oracle.Result, name string) {
	ask, err := world.AskOf(p.Cluster, &c.Ask)
	if err != nil {
		t.Fatal(err)
	}
	var d victims.Decision
	if err := p.Decide(&d, &ask, c.Options.Now); err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	got := resultOf(p.Cluster, &d)
	if len(got.Where) > 0 && slices.Contains(want.Where, got.Where[0]) {
		got.Where = want.Where
	}
	if diff := cmp.Diff(want, got, compareNumbers, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s: oracle (-) and planner (+) differ:\n%s\n%v", name, diff, c)
	}
	if !proven(&d) {
		t.Fatalf("%s: not proven within the step budget\n%v", name, c)
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
		refusalOf(c, &d.Refusal, &r)
		return r
	}
	r.Node = c.Node(d.Plan.Node).Name
	if d.Outcome != victims.Preempts {
		return r
	}
	cost := &d.Plan.Cost
	work, _ := cost.Work.Duration()
	r.Cost = oracle.Cost{
		OptedOut: cost.OptedOut, Originators: cost.Originators,
		MaxRank: cost.MaxRank, MaxPriority: cost.MaxPriority,
		Victims: cost.Victims, SumRanks: cost.SumRanks,
		Excess: big.NewRat(cost.Excess.Amount, max(cost.Excess.Of, 1)),
		Work:   big.NewInt(int64(work)),
		Node:   cost.Node - 1, // places count from 1 in a cluster that has lost no node
	}
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
	r.Reason, r.RetryAt, r.Candidates = f.Reason.String(), f.RetryAt, f.Candidates
	switch f.Reason {
	case victims.OverMax, victims.OverGuarantee, victims.HeadroomInside:
		r.Where = []string{c.Tree().Path(f.Queue) + " " + c.Schema().Name(f.Type)}
	}
	r.Counts = make(map[string]int)
	for rule, n := range f.Counts {
		if n > 0 {
			r.Counts[victims.Rule(rule).String()] = n
		}
	}
	if f.HasClosest {
		r.Closest = c.Node(f.Closest).Name
		r.Lacks = world.AmountsOf(c, f.Lacks)
	}
}

func build(t *rapid.T, w *world.World) *victims.Cluster {
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
