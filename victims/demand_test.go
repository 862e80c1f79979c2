// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// What runs and stays, grants, and what waits for a place, once each.
func TestCluster_Demand(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 40)
	f.task("runs", "a", "n1", 1)
	f.task("leaves", "a", "n1", 2, func(t *victims.Task) { t.State = victims.Releasing })
	n1, _ := f.c.LookupNode("n1")
	_, err := f.c.GrantPlace(f.ask("held", "b", 4), n1, now)
	require.NoError(t, err)
	asks := []*victims.Ask{
		f.ask("runs", "a", 8), f.ask("held", "b", 8), // these have places
		f.ask("leaves", "a", 16), // and this was stopped, and waits again
		f.ask("new", "b", 32),
		{
			Key: "gang", Queue: f.ask("", "b", 0).Queue, Size: slots(64).Value,
			Members: []victims.Member{{Key: "runs"}, {Key: "gang-1"}, {Key: "gang-2", Size: slots(128).Value}},
		},
	}
	of := func(demand []resources.Vector, queue string) int64 {
		return demand[f.ask("", queue, 0).Queue].At(0) / slots(1).Value[0]
	}
	demand, err := f.c.Demand(nil, nil)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 4}, []int64{of(demand, "a"), of(demand, "b")})
	again := &demand[1][0]
	demand, err = f.c.Demand(demand, slices.Values(asks))
	require.NoError(t, err)
	require.Equal(t, []int64{1 + 16, 4 + 32 + 64 + 128}, []int64{of(demand, "a"), of(demand, "b")})
	require.Empty(t, demand[0], "of a queue with children")
	require.Same(t, again, &demand[1][0], "in the memory that was given")

	for _, test := range []struct {
		change func(a *victims.Ask)
		kind   error
		text   string
	}{
		{func(a *victims.Ask) { a.Queue = 0 }, invalid.Queue, `victims: demand of ask "x": queue root: not a leaf queue`},
		{func(a *victims.Ask) { a.Queue = 99 }, victims.ErrUnknown, `victims: demand of ask "x": queue 99`},
		{func(a *victims.Ask) { a.Size[0] = -1 }, invalid.Amount, `bad amount`},
		{func(a *victims.Ask) { a.Size[0] = math.MaxInt64 }, invalid.Range, `victims: demand of ask "x": `},
	} {
		bad := f.ask("x", "b", 1)
		test.change(bad)
		_, err := f.c.Demand(demand, slices.Values([]*victims.Ask{bad}))
		require.ErrorIs(t, err, test.kind)
		require.ErrorContains(t, err, test.text)
	}
}
