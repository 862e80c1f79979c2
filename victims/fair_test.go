// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// fairTown is a full cluster of 4 gpus with memory to spare. Two leaves of a branch
// share it by equal weights: a runs four tasks, and b asks for one. The demands are
// what runs and what waits, so that 2 gpus are due to each.
func fairTown(t *testing.T) (c *Cluster, shares *queue.FairShares, ask Ask, now time.Time) {
	now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	schema, err := resources.NewSchema("gpu", "memory")
	require.NoError(t, err)
	configured, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "team", Children: []queue.Config{{Name: "a"}, {Name: "b"}}},
	}})
	require.NoError(t, err)
	a, _ := configured.Lookup("root.team.a")
	b, _ := configured.Lookup("root.team.b")

	c = NewCluster(configured.Clone())
	node, err := c.AddNode(&Node{Name: "n", Capacity: resources.Vector{4, 64}})
	require.NoError(t, err)
	size := resources.Vector{1, 4}
	for _, key := range []string{"a1", "a2", "a3", "a4"} {
		_, err := c.AddTask(&Task{Key: key, Application: key, Queue: a, Node: node, Size: size, Scheduled: now.Add(-time.Hour)})
		require.NoError(t, err)
	}
	ask = Ask{Key: "b1", Application: "b1", Queue: b, Size: size, PendingSince: now.Add(-time.Hour)}

	demand := make([]resources.Vector, configured.Len())
	demand[a], demand[b] = resources.Vector{4, 16}, resources.Vector{2, 8}
	shares = new(queue.FairShares)
	require.NoError(t, shares.Divide(configured, demand, resources.Limit{Value: c.Capacity(), Defined: 0b11}))
	return c, shares, ask, now
}

// TestFairShares_Scarce shows that guarantees of the leaves in scarce types let the
// leaf that has less than its share preempt, and that guarantees in a type that is
// not scarce would forbid every plan. So would one of the branch in their stead: the
// cluster is full, and the branch has its share.
func TestFairShares_Scarce(t *testing.T) {
	const gpu, both = resources.Mask(1), resources.Mask(3)
	for _, test := range []struct {
		name    string
		types   resources.Mask // in which a leaf has its share as its guarantee
		inner   resources.Mask // in which the branch has
		outcome Outcome
		reason  string
	}{
		{"no guarantees", 0, 0, Refused, "not-guaranteed"},
		{"the leaves in the scarce type", gpu, 0, Preempts, ""},
		{"the leaves in both types", both, 0, Refused, "no-victims"},
		{"the branch alone", 0, gpu, Refused, "over-guarantee"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, shares, ask, now := fairTown(t)
			require.Equal(t, gpu, shares.Guarantee(ask.Queue).Defined)
			for q := range queue.ID(c.Tree().Len()) {
				types := test.inner
				if c.Tree().IsLeaf(q) {
					types = test.types
				}
				require.NoError(t, c.SetGuaranteed(q, resources.Limit{Value: shares.Of(q).Value, Defined: types}))
			}
			var d Decision
			require.NoError(t, (&planner{Cluster: c}).Decide(&d, &ask, now))
			require.Equal(t, test.outcome, d.Outcome, d.String())
			if d.Outcome == Refused {
				require.Equal(t, test.reason, d.Refusal.Reason, d.String())
			}
		})
	}
}

// TestSetGuarantees sets all guarantees of a cluster at once.
func TestSetGuarantees(t *testing.T) {
	c, shares, ask, now := fairTown(t)
	p := planner{Cluster: c}
	var d, stale Decision
	require.NoError(t, p.Decide(&d, &ask, now))
	require.Equal(t, Refused, d.Outcome)

	require.NoError(t, c.SetGuarantees(shares))
	for q := range queue.ID(c.Tree().Len()) {
		require.True(t, c.Tree().Guaranteed(q).Equal(shares.Guarantee(q)), c.Tree().Path(q))
	}
	require.NoError(t, p.Decide(&stale, &ask, now))
	require.Equal(t, Preempts, stale.Outcome)

	require.NoError(t, c.SetGuarantees(shares), "a change, even to the same")
	require.ErrorIs(t, c.Apply(&stale), ErrStale)
	require.NoError(t, p.Decide(&d, &ask, now))
	require.NoError(t, c.Apply(&d))

	a, _ := c.Tree().Lookup("root.team.a")
	require.NoError(t, c.SetGuaranteed(a, resources.Limit{}))
	require.NoError(t, c.SetMax(a, resources.Limit{Value: resources.Vector{1}, Defined: 1}))
	require.ErrorIs(t, c.SetGuarantees(shares), queue.ErrConfig)
	require.False(t, c.Tree().Guaranteed(a).Defined.Has(0), "nothing changes")
}
