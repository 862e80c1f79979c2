// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/preempttest"
)

// drawLevels draws some levels in any order, often all.
func drawLevels(t *rapid.T) []string {
	levels := rapid.Permutation(rulebook.AllWords()).Draw(t, "levels")
	if rapid.Bool().Draw(t, "all levels") {
		return levels
	}
	return levels[:rapid.IntRange(1, len(levels)).Draw(t, "of them")]
}

// TestOracle_Levels compares the planner with the oracle if levels decide in any
// other order, and some not at all: with and without pruning.
func TestOracle_Levels(t *testing.T) { law.Check3000(t, propertyLevels) }

func FuzzOracle_Levels(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyLevels))
}

func propertyLevels(t *rapid.T) {
	shape := world.Small
	if rapid.Bool().Draw(t, "everything") {
		shape = shape.With(world.Everything)
	}
	c := world.Cases(shape).Draw(t, "case")
	c.Options.Levels = drawLevels(t)
	want := oracle.Decide(c)
	planner := world.CasePlanner(build(t, &c.World), c)
	planner.Audit = true
	for _, exhaustive := range []bool{false, true} {
		planner.Exhaust(exhaustive)
		compare(t, c, planner, want, fmt.Sprintf("levels %v, exhaustive %v", c.Options.Levels, exhaustive))
	}
}

// TestLevels_Compare: a planner whose Compare is that of some levels, which
// searches all nodes, decides as one that has the levels. After a predicate has
// refused, that holds for what is proven.
func TestLevels_Compare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.Cases(world.Small.With(world.Of(func(f *world.Feature) bool { return !f.Level }))).Draw(t, "case")
		cluster := build(t, &c.World)
		levels := drawLevels(t)
		refused := rapid.IntRange(0, 4).Draw(t, "the predicate refuses sets of")
		var said []string
		for _, byLevels := range []bool{true, false} {
			planner := world.CasePlanner(cluster, c)
			planner.Predicate = func(p *victims.Question) bool { return len(p.Victims) != refused || refused == 0 }
			if planner.Levels = levels; !byLevels {
				planner.Compare = victims.CompareBy(levels)
			}
			ask := askOf(t, cluster, &c.Ask)
			var d victims.Decision
			require.NoError(t, planner.Decide(&d, &ask, c.Options.Now))
			if d.Outcome != victims.Refused && d.Plan.Proof != victims.ProofCost || d.Outcome == victims.Refused && !d.Refusal.Proven {
				return
			}
			(*rulebook.Cost)(&d.Plan.Cost).Drop(rulebook.Unnamed(levels)) // Compare sees them
			if refused > 0 {
				d.Refusal.RetryAt = time.Time{} // what is said of later instants is not proven
			}
			said = append(said, d.String())
		}
		require.Equal(t, said[1], said[0], "levels %v\n%v", levels, c)
	})
}

// TestLevels_Default: all levels in the default order decide as none do.
func TestLevels_Default(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.Cases(world.Small.With(world.Of(func(f *world.Feature) bool { return !f.Level }))).Draw(t, "case")
		cluster := build(t, &c.World)
		planner := world.CasePlanner(cluster, c)
		ask := askOf(t, cluster, &c.Ask)
		var got, want victims.Decision
		require.NoError(t, planner.Decide(&want, &ask, c.Options.Now))
		planner.Levels = victims.DefaultLevels()
		require.NoError(t, planner.Decide(&got, &ask, c.Options.Now))
		got.Plan.Steps, want.Plan.Steps = 0, 0
		if diff := cmp.Diff(want.String(), got.String()); diff != "" {
			t.Fatalf("the default (-) and all levels (+):\n%s\n%v", diff, c)
		}
	})
}

// Who was preempted before is not the first again, if that is a level: by itself, before the number of
// victims, of a gang as a whole, and to a caller's own order. By default it does not count.
func TestLevels_Preemptions(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.node("n2", 4)
	f.task("often", "a", "n1", 4, func(t *victims.Task) { t.Preemptions = 3 })
	f.task("once", "a", "n2", 2, func(t *victims.Task) { t.Preemptions = 1 })
	f.task("never", "a", "n2", 2)
	ask := f.ask("x", "b", 4)
	decide := func(o victims.Options) *victims.Decision { return f.decide(&jobs.Planner{Options: o}, ask) }
	d := decide(victims.Options{Audit: true})
	require.Equal(t, []string{"often"}, keysOf(d))
	require.Zero(t, d.Plan.Cost.Preemptions)

	d = decide(victims.Options{Levels: []string{"opted-out", "preemptions"}, Audit: true})
	require.Equal(t, []string{"never", "once"}, keysOf(d))
	require.Equal(t, int64(1), d.Plan.Cost.Preemptions)
	require.True(t, d.Plan.Proof == victims.ProofCost)
	require.Contains(t, d.Plan.Cost.String(), "preempted 1 time before, 2 victims")
	require.Equal(t, []string{"often"}, keysOf(decide(victims.Options{Levels: []string{"victims", "preemptions"}})))
	byPreemptions := func(a, b *victims.Cost) int {
		if c := int(a.Preemptions - b.Preemptions); c != 0 {
			return c
		}
		return a.Compare(b)
	}
	require.Equal(t, []string{"never", "once"}, keysOf(decide(victims.Options{Compare: byPreemptions})))

	task := f.c.Task(d.Plan.Victims[0].Task)
	for _, n := range []int64{-1, math.MaxInt32 + 1} {
		task.Preemptions = int(n) // of 32 bits it is negative
		_, err := f.c.SetTask(&task)
		require.ErrorIs(t, err, invalid.Range)
	}
	_, err := f.c.GrantPlace(&victims.Ask{Key: "g", Queue: ask.Queue, Size: ask.Size, Preemptions: 2}, d.Plan.Places[0].Node, now)
	require.NoError(t, err)
	id, _ := f.c.LookupGrant("g")
	require.Equal(t, 2, f.c.Task(id).Preemptions, "what it will be as a task")
}

// TestLevels_Check: what is no level, or stands twice, is told, and nothing is
// decided.
func TestLevels_Check(t *testing.T) {
	for _, test := range []struct {
		levels []string
		wraps  error
		says   string
	}{
		{[]string{"work", "age"}, victims.ErrUnknown, `victims: Levels[1]: "age": `},
		{[]string{""}, victims.ErrUnknown, `victims: Levels[0]: "": `},
		{[]string{"rank", "work", "rank"}, victims.ErrDuplicate, `victims: Levels[2]: "rank", as Levels[0]: `},
	} {
		f := giverAndTaker(t)
		p := jobs.Planner{Cluster: f.c, Options: victims.Options{Levels: test.levels}}
		before := victims.Decision{Outcome: victims.Waits}
		d := before
		err := p.Decide(&d, f.ask("x", "b", 3), now)
		require.ErrorIs(t, err, test.wraps)
		require.ErrorContains(t, err, test.says)
		require.Equal(t, before, d)
	}
}

// TestOptions_Words: other words that are none are told, too.
func TestOptions_Words(t *testing.T) {
	f := giverAndTaker(t)
	for says, o := range map[string]victims.Options{
		`victims: WithinQueue: "any", want never, met or branch: unknown`: {WithinQueue: "any"},
		`victims: Moves: "some": unknown`:                                 {Moves: "some"},
	} {
		err := (&jobs.Planner{Cluster: f.c, Options: o}).Decide(new(victims.Decision), f.ask("x", "b", 3), now)
		require.EqualError(t, err, says)
		require.ErrorIs(t, err, victims.ErrUnknown)
	}
}

// TestLevels_Order: levels in any order make a strict weak order that nobody costs less
// by than a part of his victims.
func TestLevels_Order(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		levels := drawLevels(t)
		require.NoError(t, preempttest.Test(&jobs.Planner{Options: victims.Options{Compare: victims.CompareBy(levels)}}, nil, now), "%v", levels)
	})
}

// TestLevels_Warm: another order of levels allocates nothing either.
func TestLevels_Warm(t *testing.T) {
	w := workload.W{Nodes: 100, Tasks: 30, Tree: workload.Tree4x100}
	s := w.Subject(w.Build(), 4)
	s.Planner.Levels = []string{"victims", "work", "rank"}
	s.Decide()
	require.Zero(t, testing.AllocsPerRun(10, s.Decide))
}
