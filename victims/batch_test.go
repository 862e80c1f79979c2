// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/world"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// outcomes writes decisions as "plan n1 [v]", "fits n2" or "refused predicate".
func (f *fixture) outcomes(ds []victims.Decision) []string {
	lines := []string{}
	for i := range ds {
		d := &ds[i]
		line := d.Outcome.String()
		switch d.Outcome {
		case victims.Refused:
			line += " " + d.Refusal.Reason.String()
		default:
			line += " " + f.c.Node(d.Plan.Node).Name
			for _, key := range keysOf(d) {
				line += " " + key
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func (f *fixture) snapshot() string { return snapshot(f.c) }

// Each ask sees what those before it got: places, victims and guarantees.
func TestBatch(t *testing.T) {
	tests := []struct {
		name  string
		b     int64 // what queue b is guaranteed
		sizes []int64
		want  []string
	}{
		{"no asks", 100, nil, []string{}},
		{"one", 100, []int64{6}, []string{"plan n1 v"}},
		{"each takes another node", 100, []int64{6, 6}, []string{"plan n1 v", "plan n2 w"}},
		{"what the first leaves is used", 100, []int64{4, 2, 6}, []string{"plan n1 v", "waits n1", "plan n2 w"}},
		{"the third finds nothing", 100, []int64{6, 6, 6}, []string{"plan n1 v", "plan n2 w", "refused no-victims"}},
		{"a refusal takes nothing", 100, []int64{7, 6, 6}, []string{"refused no-victims", "plan n1 v", "plan n2 w"}},
		{"the guarantee is used up", 6, []int64{6, 1}, []string{"plan n1 v", "refused over-guarantee"}},
		{"and not by a refusal", 6, []int64{7, 6, 1}, []string{"refused no-victims", "plan n1 v", "refused over-guarantee"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, queue.Config{Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(test.b)}}})
			f.node("n1", 6)
			f.node("n2", 6)
			f.task("v", "a", "n1", 6)
			f.task("w", "a", "n2", 6)
			var list []victims.Ask
			for i, size := range test.sizes {
				list = append(list, *f.ask(string(rune('p'+i)), "b", size))
			}
			before := f.snapshot()
			p := &victims.Planner{Cluster: f.c}
			got, err := p.Batch(nil, list, now)
			require.NoError(t, err)
			require.Equal(t, test.want, f.outcomes(got))
			require.Equal(t, before, f.snapshot())
			require.ErrorIs(t, f.c.Undo(), victims.ErrNothingApplied)
		})
	}
}

// The same key twice is an ask that holds a grant by then.
func TestBatch_SameAskTwice(t *testing.T) {
	f := threeNodes(t)
	p := &victims.Planner{Cluster: f.c}
	got, err := p.Batch(nil, []victims.Ask{*f.ask("x", "b", 6), *f.ask("x", "b", 6)}, now)
	require.NoError(t, err)
	require.Equal(t, []string{"plan n2 v1", "refused in-flight"}, f.outcomes(got))
}

// An ask that starts on the place it is granted keeps its grant: the cluster is
// told of the start later.
func TestBatch_GrantThatFits(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 6)
	ask := f.ask("x", "b", 6)
	n1, _ := f.c.LookupNode("n1")
	_, err := f.c.Grant(ask, n1)
	require.NoError(t, err)
	before := f.snapshot()
	p := &victims.Planner{Cluster: f.c}
	got, err := p.Batch(nil, []victims.Ask{*ask, *f.ask("y", "b", 1)}, now)
	require.NoError(t, err)
	require.Equal(t, []string{"fits n1", "refused no-victims"}, f.outcomes(got))
	require.Equal(t, before, f.snapshot())
}

// Whatever ask is wrong, there is no decision, and the cluster is as before.
func TestBatch_Error(t *testing.T) {
	for at := range 3 {
		f := threeNodes(t)
		p := &victims.Planner{Cluster: f.c}
		asks := []victims.Ask{*f.ask("x", "b", 6), *f.ask("y", "b", 6), *f.ask("z", "b", 6)}
		asks[at].Size = resources.Vector{-1}
		before := f.snapshot()
		got, err := p.Batch(make([]victims.Decision, 5), asks, now)
		require.ErrorIs(t, err, victims.ErrAmount)
		require.EqualError(t, err, []string{
			`victims: ask "x": slots -1: bad amount (ask 1 of 3)`,
			`victims: ask "y": slots -1: bad amount (ask 2 of 3)`,
			`victims: ask "z": slots -1: bad amount (ask 3 of 3)`,
		}[at])
		require.Empty(t, got)
		require.Equal(t, before, f.snapshot())
		require.ErrorIs(t, f.c.Undo(), victims.ErrNothingApplied)
	}
}

// What was applied before a batch can be taken back after it.
func TestBatch_KeepsWhatCanBeUndone(t *testing.T) {
	f := threeNodes(t)
	p := &victims.Planner{Cluster: f.c}
	before := f.snapshot()
	require.NoError(t, f.c.Apply(f.decide(p, f.ask("x", "b", 6)).Plan.Change()))
	_, err := p.Batch(nil, []victims.Ask{*f.ask("y", "b", 6), *f.ask("z", "b", 6)}, now)
	require.NoError(t, err)
	require.NoError(t, f.c.Undo())
	require.Equal(t, before, f.snapshot())
}

// The first plan of a batch is for the cluster as it is, and can be applied.
func TestBatch_FirstPlanApplies(t *testing.T) {
	f := threeNodes(t)
	p := &victims.Planner{Cluster: f.c}
	got, err := p.Batch(nil, []victims.Ask{*f.ask("x", "b", 6), *f.ask("y", "b", 6)}, now)
	require.NoError(t, err)
	require.ErrorIs(t, f.c.Apply(got[1].Plan.Change()), victims.ErrStale)
	require.NoError(t, f.c.Apply(got[0].Plan.Change()))
}

// Decisions reuse the memory of those before them, as many as there are, and
// share none with each other.
func TestBatch_Memory(t *testing.T) {
	f := threeNodes(t)
	p := &victims.Planner{Cluster: f.c}
	long := []victims.Ask{*f.ask("x", "b", 6), *f.ask("y", "b", 6), *f.ask("z", "b", 6)}
	first, err := p.Batch(nil, long, now)
	require.NoError(t, err)
	want := f.outcomes(first)

	again, err := p.Batch(first, long[:1], now)
	require.NoError(t, err)
	require.Len(t, again, 1)
	require.Same(t, &first[0], &again[0])
	again, err = p.Batch(again, long, now)
	require.NoError(t, err)
	require.Same(t, &first[0], &again[0])
	require.Equal(t, want, f.outcomes(again))

	size := &again[0].Plan.Ask.Size[0]
	again, err = p.Batch(again[:1:1], long, now)
	require.NoError(t, err)
	require.Same(t, size, &again[0].Plan.Ask.Size[0])
	require.Equal(t, want, f.outcomes(again))

	for i := range again {
		again[i].Plan.Ask.Size[0]++
		for j := range again {
			if i != j {
				require.Equal(t, int64(6), again[j].Plan.Ask.Size[0])
			}
		}
		again[i].Plan.Ask.Size[0]--
	}
	allocs := testing.AllocsPerRun(20, func() { again, err = p.Batch(again, long, now) })
	require.NoError(t, err)
	require.LessOrEqual(t, allocs, float64(len(long)), "a list of grants for each plan")
}

// A batch is single calls, each applied before the next, and leaves no trace.
func TestBatch_IsSingleCalls(t *testing.T) { rapid.Check(t, propertyBatch) }

func FuzzBatch(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyBatch))
}

func propertyBatch(t *rapid.T) {
	w := world.Workloads(world.Crowded).Draw(t, "workload")
	cluster := build(t, &w.World)
	var asks []victims.Ask
	for i := range w.Asks {
		asks = append(asks, askOf(t, cluster, &w.Asks[i]))
	}
	// Now and then an ask comes twice, or is in error.
	if len(asks) > 0 && rapid.IntRange(0, 3).Draw(t, "twice") == 3 {
		asks = append(asks, asks[0])
	}
	bad := -1
	if len(asks) > 0 && rapid.IntRange(0, 7).Draw(t, "wrong") == 7 {
		bad = rapid.IntRange(0, len(asks)-1).Draw(t, "which")
		asks[bad].Key = ""
	}
	warm := slices.Repeat([]victims.Decision{{Outcome: victims.Fits}}, rapid.IntRange(0, 3).Draw(t, "warm"))

	clone, version := cluster.Clone(), cluster.Version()
	before := snapshot(cluster)
	got, err := world.PlannerOf(cluster, &w.Options).Batch(warm, asks, w.Options.Now)
	if after := snapshot(cluster); after != before || cluster.Version() != version {
		t.Fatalf("the cluster has changed:\n%s", cmp.Diff(before, after))
	}
	if bad >= 0 {
		if err == nil || len(got) > 0 {
			t.Fatalf("%d decisions and error %v with ask %d wrong", len(got), err, bad)
		}
		return
	}
	if err != nil || len(got) != len(asks) {
		t.Fatalf("%d decisions about %d asks: %v", len(got), len(asks), err)
	}
	single := world.PlannerOf(clone, &w.Options)
	for i := range asks {
		var want victims.Decision
		if err := single.Decide(&want, &asks[i], w.Options.Now); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, &got[i], byText[cover.Work](), byText[victims.Version](), cmpopts.IgnoreFields(victims.Plan{}, "Sequel")); diff != "" {
			t.Fatalf("ask %d of %d, single (-) and in a batch (+):\n%s\n%v", i+1, len(asks), diff, &w.World)
		}
		if want.Outcome != victims.Refused {
			if err := clone.Apply(want.Plan.Change()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Time is the same for all asks of a batch.
func TestBatch_OneInstant(t *testing.T) {
	f := threeNodes(t)
	p := &victims.Planner{Cluster: f.c}
	young := f.ask("x", "b", 6)
	young.PendingSince = now.Add(-30*time.Second + 1)
	got, err := p.Batch(nil, []victims.Ask{*young, *f.ask("y", "b", 6)}, now)
	require.NoError(t, err)
	require.Equal(t, []string{"refused too-early", "plan n2 v1"}, f.outcomes(got))
	require.Equal(t, now.Add(1), got[0].Refusal.RetryAt)
}

// An ask that fits by the grant that it holds, though its size has changed
// since, does not spoil the batch.
func TestBatch_ResizedGrant(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 8)
	n, _ := f.c.LookupNode("n1")
	_, err := f.c.Grant(f.ask("x", "b", 4), n)
	require.NoError(t, err)
	p := &victims.Planner{Cluster: f.c}
	got, err := p.Batch(nil, []victims.Ask{*f.ask("y", "b", 1), *f.ask("x", "b", 3)}, now)
	require.NoError(t, err)
	require.Equal(t, victims.Fits, got[0].Outcome)
	require.Equal(t, victims.Fits, got[1].Outcome)
}

// byText compares values by their text: two clusters never share a version, but
// count theirs alike.
func byText[T fmt.Stringer]() cmp.Option {
	return cmp.Comparer(func(x, y T) bool { return x.String() == y.String() })
}
