// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A victim elsewhere may be smaller than any on the node. Here n1 is full and
// the root is at its max. With small, which runs on n1 and has no cpu, the ask
// gets n2 and nothing is freed beyond need; without it one cpu is. So n2 must
// not be passed over because all that runs there has cpu.
func TestDecide_SmallVictimElsewhere(t *testing.T) {
	schema, err := resources.NewSchema("cpu", "memory")
	require.NoError(t, err)
	amounts := func(cpu, memory int64) resources.Vector { return resources.Vector{cpu, memory} }
	both := func(v resources.Vector) resources.Limit { return resources.Limit{Value: v, Defined: 0b11} }
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Max: both(amounts(28, 31)), Children: []queue.Config{
		{Name: "a"}, {Name: "b", Guaranteed: both(amounts(1, 1))},
	}})
	require.NoError(t, err)
	a, b := queue.ID(1), queue.ID(2)
	c := victims.NewCluster(tree)
	n1, err := c.AddNode(&victims.Node{Name: "n1", Capacity: amounts(27, 33)})
	require.NoError(t, err)
	n2, err := c.AddNode(&victims.Node{Name: "n2", Capacity: amounts(2, 6)})
	require.NoError(t, err)
	add := func(key string, node victims.NodeID, size resources.Vector) {
		_, err := c.AddTask(&victims.Task{Key: key, Queue: a, Node: node, Size: size})
		require.NoError(t, err)
	}
	add("small", n1, amounts(0, 1))
	add("large", n1, amounts(1, 2))
	add("there", n2, amounts(1, 2))
	for i := range 26 {
		add(fmt.Sprintf("t%02d", i), n1, amounts(1, 1))
	}
	ask := victims.Ask{Key: "x", Application: "x", Queue: b, Size: amounts(2, 5), Priority: 3}
	for _, exhaustive := range []bool{false, true} {
		p := jobs.Planner{Cluster: c}
		p.Exhaust(exhaustive)
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &ask, now))
		require.Equal(t, []string{"large", "small", "there"}, keysOf(&d), "exhaustive: %t", exhaustive)
		require.Equal(t, n2, d.Plan.Places[0].Node)
		require.Zero(t, d.Plan.Cost.Excess.Amount)
		require.True(t, d.Plan.Proof == victims.ProofCost)
	}
}
