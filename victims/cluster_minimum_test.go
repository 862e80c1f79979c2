// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/invalid"
)

// tooManyMembers is above math.MaxInt32, or below 0 if an int has 32 bits.
var tooManyMembers = func() int { n := math.MaxInt32; return n + 1 }()

// The minimum of a job is there before its tasks and after them, and with 0 it is not.
func TestMinMembers(t *testing.T) {
	c := nodeOfEight(t)
	require.EqualError(t, c.SetMinMembers("", 1), `victims: minimum of job "": empty name`)
	require.EqualError(t, c.SetMinMembers("g", -1), `victims: minimum of job "g": -1: out of range`)
	require.ErrorIs(t, c.SetMinMembers("g", tooManyMembers), invalid.Range)
	require.Zero(t, c.MinMembers("g"))
	require.Zero(t, c.MinMembers(""))

	require.NoError(t, c.SetMinMembers("g", 2))
	require.Equal(t, 2, c.MinMembers("g"))
	require.Zero(t, c.JobLen("g"))
	member := Task{Key: "m", Queue: 1, Node: 1, Job: "g"}
	_, err := c.AddTask(&member)
	require.NoError(t, err)
	_, err = c.SetTask(&member)
	require.NoError(t, err)
	require.Equal(t, 1, c.JobLen("g"))
	require.NoError(t, c.RemoveTask("m"))
	require.Equal(t, 2, c.MinMembers("g"))
	require.Equal(t, 2, c.Clone().MinMembers("g"))

	require.NoError(t, c.SetMinMembers("g", 0))
	require.NoError(t, c.SetMinMembers("h", 0))
	require.Zero(t, c.MinMembers("g"))
	require.Empty(t, c.jobs.ids, "nobody uses a name")
}

// A minimum says who may go, and whoever was refused asks anew once it is another one.
func TestMinMembers_Decides(t *testing.T) {
	c := nodeOfEight(t)
	for _, key := range []string{"v1", "v2", "v3", "v4"} {
		_, err := c.SetTask(&Task{Key: key, Queue: 1, Node: 1, Size: vec{2}, Job: "g"})
		require.NoError(t, err)
	}
	require.NoError(t, c.SetBudget("web", Budget{Left: 1, Hard: true}))
	_, err := c.SetTask(&Task{Key: "v1", Queue: 1, Node: 1, Size: vec{2}, Job: "g", Budgets: []string{"web"}})
	require.NoError(t, err)
	bound := c.Tree().Max(2)
	require.NoError(t, c.SetGuaranteed(2, bound))
	p, ask := planner{Cluster: c, Options: Options{Audit: true}}, Ask{Key: "x", Queue: 2, Size: vec{2}, PendingSince: noon.Add(-time.Hour)}
	stopped := func() int {
		var d Decision
		require.NoError(t, p.Decide(&d, &ask, noon))
		return len(d.Plan.Victims)
	}
	require.Equal(t, 1, stopped())
	require.NoError(t, c.SetMinMembers("g", 4))
	require.Equal(t, 4, stopped())
	require.NoError(t, c.SetBudget("web", Budget{Hard: true}))
	var d Decision
	require.NoError(t, p.Decide(&d, &ask, noon))
	require.Equal(t, Refused, d.Outcome)
	require.False(t, d.Refusal.Help.MayHaveChanged(c, noon))
	require.NoError(t, c.SetMinMembers("g", 3))
	require.True(t, d.Refusal.Help.MayHaveChanged(c, noon))
	require.Equal(t, 1, stopped())
}
