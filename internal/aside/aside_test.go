// SPDX-License-Identifier: Apache-2.0

package aside_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/aside"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

// A copy is made again if the cluster, or the copy itself, has changed, and not else.
func TestCopy(t *testing.T) {
	c := workload.W{Nodes: 10, Tasks: 4, Tree: workload.Tree4x100}.Build()
	var x aside.Copy
	own := x.Of(c)
	require.Equal(t, c.Version(), own.Version())
	key := c.Key(0)
	require.NoError(t, own.SetState(key, victims.Releasing))
	require.Equal(t, victims.Running, c.State(0))
	require.Same(t, own, x.Of(c))
	require.Equal(t, victims.Running, own.State(0))
	cost := int64(0)
	change := func() {
		cost++
		require.NoError(t, c.SetCost(key, cost))
	}
	change()
	require.Equal(t, cost, x.Of(c).Task(0).Cost)
	require.Zero(t, testing.AllocsPerRun(10, func() { change(); x.Of(c) }))
	require.Zero(t, testing.AllocsPerRun(10, func() { x.Of(c) }))
}
