// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// Searches change at some sizes of a cluster: beyond 300 tasks headroom is looked for by bounds,
// beyond 1,024 kinds of tasks the best by themselves, beyond some 4,000 a search among all that
// make headroom takes more than the budget, beyond 8,192 tasks the last key gets a part of it.
// So worlds are drawn around each of these, and every plan is audited and applied.

// A largeAsk is an ask for k tasks of mean size in a large world.
type largeAsk struct {
	h workload.Hard
	k int64
}

// String names the ask as benchmarks do.
func (x largeAsk) String() string { return fmt.Sprintf("%v/k=%d", x.h, x.k) }

// audited decides the ask, has the plan audited and applied, and returns the decision.
func (x largeAsk) audited(t *testing.T) *victims.Decision {
	t.Helper()
	return x.auditedWith(t, x.h.Subject(x.h.Build(), x.k))
}

// auditedWith is audited with a planner whose rules may be others.
func (x largeAsk) auditedWith(t *testing.T, s *workload.Subject) *victims.Decision {
	t.Helper()
	s.Decide()
	if s.Decision.Outcome != victims.Preempts {
		return &s.Decision
	}
	c, p := s.Planner.Cluster, &s.Decision.Plan
	a := victims.Auditor{Cluster: c, Options: s.Planner.Options}
	require.Empty(t, a.Audit(nil, &s.Decision, workload.Now), "%v: proof %v, %#v", x, p.Proof, x.h)
	require.NoError(t, c.Apply(&s.Decision), "%v", x)
	require.NoError(t, c.Undo())
	return &s.Decision
}

// drawLarge draws an ask in a world of about so many tasks: of few shapes, so that many are
// alike, with none to three queues short of headroom.
func drawLarge(r *rand.Rand, tasks int) largeAsk {
	of := func(list ...int) int { return list[r.IntN(len(list))] }
	per := of(5, 10, 30, 30, 100)
	return largeAsk{workload.Hard{
		Nodes: max(2, tasks/per+of(-1, 0, 1, 2)), Tasks: per, Types: of(1, 2, 4, 4, 8), Shapes: of(0, 1, 2, 4, 8, 12, 21, 30), Levels: of(0, 1, 2, 3, 3, 3),
		OptOuts: of(0, 0, 0, 10, 60), Priorities: of(0, 0, 3, 20), Gangs: of(0, 0, 0, 3, 8), Budgets: of(0, 0, 0, 5), OwnCosts: of(0, 0, 0, 1) == 1,
		Labels: of(0, 0, 0, 4), OwnLeaf: of(0, 0, 0, 0, 0, 1) == 1, Seed: r.Uint64(),
	}, int64(of(1, 2, 3, 8, 10, 20))}
}

// largeSizes are the switches, and sizes between them.
var largeSizes = []int{300, 1 << 10, 1 << 11, 1 << 12, 6000, 1 << 13, 12_000, 1 << 14}

func TestLargeWorlds_AreAudited(t *testing.T) {
	t.Parallel()
	draws := 12
	if testing.Short() {
		draws = 2
	}
	for _, tasks := range largeSizes {
		r := rand.New(rand.NewPCG(uint64(tasks), 1))
		plans := 0
		for range draws {
			if drawLarge(r, tasks).audited(t).Outcome == victims.Preempts {
				plans++
			}
		}
		require.Positive(t, plans, "%d tasks", tasks)
	}
}

// Tasks that are alike share a row. A cover takes rows in the order of what they are worth of
// what is still lacking, and must not take the same task of a row twice.
func TestLargeWorlds_NobodyIsNamedTwice(t *testing.T) {
	for _, x := range []largeAsk{
		{workload.Hard{Nodes: 287, Tasks: 30, Shapes: 21, Levels: 3, Seed: 0x62e29c04ce84879}, 10},
		{workload.Hard{Nodes: 538, Tasks: 30, Shapes: 4, Levels: 3, Seed: 0xcf814d0f7014b9b8}, 20},
		{workload.Hard{Nodes: 631, Tasks: 30, Shapes: 11, Levels: 3, Seed: 0xc6c31e1347c1e4d4}, 20},
		{workload.Hard{Nodes: 929, Tasks: 10, Shapes: 11, Levels: 3, Seed: 0x703df36a8c242c2d}, 10},
		{workload.Hard{Nodes: 79, Tasks: 300, Shapes: 6, Levels: 3, Seed: 0xf83a4cf66a17dc17}, 20},
	} {
		require.Equal(t, victims.Preempts, x.audited(t).Outcome, "%v", x)
	}
}

// Gangs that have a member more than they need went as a whole where that member is enough.
func TestLargeWorlds_NoGangGoesNeedlessly(t *testing.T) {
	x := largeAsk{workload.Hard{Nodes: 561, Tasks: 30, Types: 4, Shapes: 12, Levels: 3, Gangs: 8, Seed: 0x1898092843ad48f6}, 8}
	require.Equal(t, victims.Preempts, x.audited(t).Outcome)
}

// Gangs of five need four, and went as a whole where one of them is enough: four of those
// that might go alone are given back at once, and no fewer.
func TestLargeWorlds_NoMoreOfAGangGoesThanItCanSpare(t *testing.T) {
	x := largeAsk{workload.Hard{Nodes: 11, Tasks: 30, Types: 8, Shapes: 12, Levels: 3, OptOuts: 10, Priorities: 3, Gangs: 5, Seed: 0xb8b7dc7f3dc54fcf}, 8}
	s := x.h.Subject(x.h.Build(), x.k)
	world.SetEveryMinimum(s.Planner.Cluster, func(string) int { return 4 })
	require.Equal(t, victims.Preempts, x.auditedWith(t, s).Outcome)
}

// Another that did not opt out does in the place of one that did, and then others of the plan
// are not needed: a search that ended early had not tried it.
func TestLargeWorlds_NobodyWhoOptedOutGoesNeedlessly(t *testing.T) {
	x := largeAsk{workload.Hard{Nodes: 630, Tasks: 5, Types: 1, Shapes: 2, Levels: 3, OptOuts: 60, Priorities: 20, Gangs: 8, Budgets: 5, Seed: 0x9378f5bef332e114}, 8}
	require.Equal(t, victims.Preempts, x.audited(t).Outcome)
}

// Where a search among all that make headroom takes more than the budget, plans have at most a tenth
// more victims than with four times as many steps, and no more that opted out.
func TestLargeWorlds_HeadroomTakesNoMoreThanItNeeds(t *testing.T) {
	for _, x := range []largeAsk{
		{workload.Hard{Nodes: 200, Tasks: 30, Shapes: 8, Levels: 3, Seed: 0xf43a29fd6968eb4d}, 20},
		{workload.Hard{Nodes: 200, Tasks: 30, Shapes: 24, Levels: 3, Seed: 0xcea013c3aef6657d}, 2},
		{workload.Hard{Nodes: 200, Tasks: 30, Shapes: 18, Levels: 3, Seed: 0x21ac7bed7a8dcd99}, 4},
		{workload.Hard{Nodes: 200, Tasks: 30, Levels: 3, Seed: 0x2a1b954903c77f0f}, 4},
		{workload.Hard{Nodes: 200, Tasks: 30, Types: 4, Levels: 2, OptOuts: 10, Priorities: 20, OwnCosts: true, Seed: 0xa810bb469cc06721}, 20},
	} {
		c := x.h.Build()
		s, more := x.h.Subject(c, x.k), x.h.Subject(c, x.k)
		s.Decide()
		more.Planner.Steps = 4 * lent.To(new(victims.Options)).DefaultSteps(c)
		more.Decide()
		a, b := s.Decision.Plan.Cost, more.Decision.Plan.Cost
		require.LessOrEqual(t, a.OptedOut, b.OptedOut, "%v", x)
		if a.OptedOut == b.OptedOut {
			require.LessOrEqual(t, 10*a.Victims, 11*b.Victims, "%v", x)
		}
	}
}

// compareLevels compares costs from opted-out victims down to the sum of priorities.
func compareLevels(a, b *victims.Cost) int {
	x, y := *a, *b
	y.Excess, y.Work, y.NodePenalty, y.Node = x.Excess, x.Work, x.NodePenalty, x.Node
	return x.Compare(&y)
}

// With more Steps no answer is dearer, from half of them on. What fewer Steps than the default
// give, and what is between, is counted: searches divide what there is in other ways then.
func TestLargeWorlds_MoreStepsAreNeverDearer(t *testing.T) {
	t.Parallel()
	draws, pairs, dearer := 3, 0, 0
	if testing.Short() {
		draws = 1
	}
	for _, tasks := range largeSizes[:7] {
		r := rand.New(rand.NewPCG(uint64(tasks), 2))
		for range draws {
			x := drawLarge(r, tasks)
			c := x.h.Build()
			n := lent.To(new(victims.Options)).DefaultSteps(c)
			decided := make(map[int64]victims.Decision)
			decide := func(steps int64) victims.Decision {
				if d, ok := decided[steps]; ok {
					return d
				}
				s := x.h.Subject(c, x.k)
				s.Planner.Steps = steps
				s.Decide()
				decided[steps] = s.Decision
				return s.Decision
			}
			last := decide(0)
			for _, steps := range []int64{n, 2 * n, 4 * n, 16 * n} {
				d := decide(steps)
				if last.Outcome == victims.Preempts {
					require.Equal(t, victims.Preempts, d.Outcome, "%v, %d steps", x, steps)
					require.LessOrEqual(t, compareLevels(&d.Plan.Cost, &last.Plan.Cost), 0, "%v, %d steps: %v, and %v with fewer", x, steps, &d.Plan.Cost, &last.Plan.Cost)
				}
				last = d
			}
			last = decide(1000)
			for _, steps := range []int64{n / 16, n / 4, n, 3 * n, 4 * n} {
				d := decide(steps)
				if pairs++; last.Outcome == victims.Preempts && (d.Outcome != victims.Preempts || compareLevels(&d.Plan.Cost, &last.Plan.Cost) > 0) {
					dearer++
				}
				last = d
			}
		}
	}
	t.Logf("between: %d of %d pairs are dearer with more steps", dearer, pairs)
}

// A smaller ask is never dearer if both plans are proven. Of others it is counted.
func TestLargeWorlds_SmallerAsksAreNeverDearer(t *testing.T) {
	t.Parallel()
	draws, pairs, dearer := 6, 0, 0
	if testing.Short() {
		draws = 1
	}
	for _, tasks := range largeSizes[:7] {
		r := rand.New(rand.NewPCG(uint64(tasks), 3))
		for range draws {
			x := drawLarge(r, tasks)
			c := x.h.Build()
			large, small := x.h.Subject(c, x.k), x.h.Subject(c, x.k)
			for i := range small.Ask.Size {
				small.Ask.Size[i] -= 1 + r.Int64N(500)
			}
			large.Decide()
			small.Decide()
			a, b := &small.Decision, &large.Decision
			if b.Outcome != victims.Preempts || b.Plan.WithinQueue || a.Plan.WithinQueue || a.Outcome == victims.Fits || a.Outcome == victims.Waits {
				continue
			}
			worse := a.Outcome == victims.Refused || compareLevels(&a.Plan.Cost, &b.Plan.Cost) > 0
			if b.Plan.Proof != victims.NoProof && (a.Plan.Proof != victims.NoProof || a.Outcome == victims.Refused && a.Refusal.Proven) {
				require.False(t, worse, "%v: %v, and %v for more", x, &a.Plan.Cost, &b.Plan.Cost)
			} else if pairs++; worse {
				dearer++
			}
		}
	}
	t.Logf("without proof: %d of %d smaller asks are dearer", dearer, pairs)
}
