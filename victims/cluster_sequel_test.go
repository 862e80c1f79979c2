// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

// decided is a cluster and a batch of asks that were decided over it: two get
// plans, one is refused.
func decided(t *testing.T) (*victims.Cluster, []victims.Decision) {
	t.Helper()
	c := exampleCluster()
	asks := []victims.Ask{exampleAsk(c, "web-1", 3000), exampleAsk(c, "web-2", 4000), exampleAsk(c, "web-3", 4000)}
	p := victims.Planner{Cluster: c}
	ds, err := p.Batch(nil, asks, exampleNow)
	require.NoError(t, err)
	require.Equal(t, victims.Preempts, ds[0].Outcome)
	require.Equal(t, victims.Preempts, ds[1].Outcome)
	require.Equal(t, victims.Refused, ds[2].Outcome)
	return c, ds
}

// TestBatch_InARow applies the plans of a batch one after another, twice.
func TestBatch_InARow(t *testing.T) {
	c, ds := decided(t)
	version := c.Version()
	for range 2 {
		require.NoError(t, c.Apply(ds[0].Plan.Change()))
		require.Equal(t, ds[1].Plan.Version, c.Version())
		require.NoError(t, c.Apply(ds[1].Plan.Change()))
		require.NoError(t, c.Undo())
		require.NoError(t, c.Undo())
		require.Equal(t, version, c.Version())
	}
	require.ErrorIs(t, c.Apply(ds[1].Plan.Change()), victims.ErrStale, "the second without the first")

	// A plan that was changed leads somewhere else.
	changed := ds[0].Plan
	changed.Ask.Cost = 7
	require.NoError(t, c.Apply(changed.Change()))
	require.ErrorIs(t, c.Apply(ds[1].Plan.Change()), victims.ErrStale)
	require.NoError(t, c.Undo())

	// So does one that is applied after another change.
	require.NoError(t, c.SetBudget("other", victims.Budget{}))
	require.ErrorIs(t, c.Apply(ds[0].Plan.Change()), victims.ErrStale)
}

// TestBatch_OnAClone decides a batch on a clone, as a planner does that must not
// change what others read, and applies it to the original.
func TestBatch_OnAClone(t *testing.T) {
	clone, ds := decided(t)
	original, other := exampleCluster(), exampleCluster()
	clone.CopyFrom(original)
	p := victims.Planner{Cluster: clone}
	ds, err := p.Batch(ds, []victims.Ask{ds[0].Plan.Ask, ds[1].Plan.Ask, ds[2].Plan.Ask}, exampleNow)
	require.NoError(t, err)

	require.ErrorIs(t, original.Apply(ds[1].Plan.Change()), victims.ErrForeign, "the second without the first")
	require.NoError(t, original.Apply(ds[0].Plan.Change()))
	require.NoError(t, original.Apply(ds[1].Plan.Change()))
	one := snapshot(original)
	require.NoError(t, original.Undo())
	require.NoError(t, original.Undo())

	require.NoError(t, original.ApplyBatch(ds))
	require.Equal(t, one, snapshot(original))
	require.NoError(t, original.Undo())

	// Another batch does not make this one stale, unless it is applied.
	again, err := (&victims.Planner{Cluster: original}).Batch(nil, []victims.Ask{exampleAsk(original, "web-4", 3000)}, exampleNow)
	require.NoError(t, err)
	require.NoError(t, original.ApplyBatch(ds))
	require.NoError(t, original.Undo())
	require.NoError(t, original.ApplyBatch(again))
	require.ErrorIs(t, original.ApplyBatch(ds), victims.ErrStale)
	require.NoError(t, original.Undo())

	require.ErrorIs(t, other.ApplyBatch(ds), victims.ErrForeign)
	require.NoError(t, original.SetBudget("other", victims.Budget{}))
	require.ErrorIs(t, original.ApplyBatch(ds), victims.ErrStale)
}

// TestApplyBatch applies a batch as one change, or not at all.
func TestApplyBatch(t *testing.T) {
	c, ds := decided(t)
	version, before := c.Version(), snapshot(c)
	require.NoError(t, c.ApplyBatch(ds))
	var w victims.Waiting
	require.NoError(t, c.Waiting(&w, "web-1"))
	require.Equal(t, []string{"train"}, w.Victims, "each waits for its own")
	require.NoError(t, c.Waiting(&w, "web-2"))
	require.Equal(t, []string{"etl"}, w.Victims)
	require.NoError(t, c.Undo())
	require.Equal(t, version, c.Version())
	require.Equal(t, before, snapshot(c))
	require.ErrorIs(t, c.Undo(), victims.ErrNothingApplied)

	ds[1].Plan.Node = 9
	err := c.ApplyBatch(ds)
	require.ErrorIs(t, err, victims.ErrUnknown)
	require.ErrorContains(t, err, "(decision 2 of 3)")
	require.Equal(t, version, c.Version())
	require.Equal(t, before, snapshot(c))
}
