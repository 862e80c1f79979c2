// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// TestFloor holds a pass to a plain walk over the tasks.
func TestFloor(t *testing.T) { rapid.Check(t, propertyFloor) }

func FuzzFloor(f *testing.F) { fuzz(f, propertyFloor) }

func propertyFloor(t *rapid.T) {
	c := drawW(t).Build()
	f := NewFloor(c)
	for range 2 { // a second pass starts anew
		f.Pass()
		for n := range c.Nodes() {
			var want resources.Vector
			for id := range c.Tasks() {
				task := c.Task(id)
				if task.Node == n && resources.Fits(task.Size, c.Tree().Surplus(nil, task.Queue)) {
					want = resources.Add(want, want, task.Size)
				}
			}
			got := f.Sum(n)
			if !resources.Equal(got[:], want) {
				t.Fatalf("node %d: %v, want %v", n, got, want)
			}
		}
	}
}

// TestMapsAgrees shows that the map baseline makes the same decision as the
// planner: same node, same victims and therefore the same cost. Nodes have 24
// tasks and more, so that what is freed beyond need is, as a share of the
// cluster, pods.
func TestMapsAgrees(t *testing.T) {
	for _, w := range []W{
		{Nodes: 1, Tasks: 24, Tree: []int{3}},
		{Nodes: 12, Tasks: 24, Tree: Tree2x10},
		{Nodes: 20, Tasks: 30, Tree: Tree2x10},
		{Nodes: 20, Tasks: 30, Tree: []int{2, 2, 3}},
		{Nodes: 9, Tasks: 40, Tree: []int{4, 3}},
	} {
		c := w.Build()
		m := NewMaps(c)
		for _, k := range []int64{1, 4, 7, 10} {
			s := w.Subject(c, k)
			s.Decide()
			require.Equal(t, victims.Preempts, s.Decision.Outcome)
			var keys []string
			for _, v := range s.Decision.Plan.Victims {
				keys = append(keys, v.Key)
			}
			got, ok := m.Decide(c.Tree(), &s.Ask)
			require.True(t, ok)
			require.Equal(t, MapPlan{c.Node(s.Decision.Plan.Places[0].Node).Name, keys}, got, "%v k=%d", w, k)
		}
	}
}

// TestMapsRefuses shows that the map baseline keeps guarantees.
func TestMapsRefuses(t *testing.T) {
	w := W{Nodes: 6, Tasks: 24, Tree: Tree2x10, Protected: true}
	c := w.Build()
	ask := w.Ask(c, 4)
	_, ok := NewMaps(c).Decide(c.Tree(), &ask)
	require.False(t, ok)
}

// TestMapsLeavesAsIs shows that decisions of the map baseline change nothing.
func TestMapsLeavesAsIs(t *testing.T) {
	w := W{Nodes: 6, Tasks: 24, Tree: Tree2x10}
	c := w.Build()
	m := NewMaps(c)
	ask := w.Ask(c, 4)
	first, ok := m.Decide(c.Tree(), &ask)
	require.True(t, ok)
	second, _ := m.Decide(c.Tree(), &ask)
	require.Equal(t, first, second)
	require.Equal(t, NewMaps(c), m)
}

// TestChurn shows that a cluster is what it was after any number of rounds, but
// for the times of its tasks.
func TestChurn(t *testing.T) {
	w := W{Nodes: 20, Tasks: 6, Tree: Tree2x10}
	c := w.Build()
	x := NewChurn(w.Subject(c, 4))
	for range 20 {
		require.NoError(t, x.Round())
	}
	require.Equal(t, timeless(w.Build()), timeless(c))
	require.NotEqual(t, byKey(w.Build()), byKey(c), "no task has begun since")
	require.NotEmpty(t, x.stopped)
}

func byKey(c *victims.Cluster) listing {
	l := listingOf(c)
	slices.SortFunc(l.Tasks, func(a, b listedTask) int { return strings.Compare(a.Key, b.Key) })
	return l
}

func timeless(c *victims.Cluster) listing {
	l := byKey(c)
	for i := range l.Tasks {
		l.Tasks[i].Age, l.Tasks[i].Ran = 0, 0
	}
	return l
}

// TestChurnWithoutNeed shows that a churn says so where there is none.
func TestChurnWithoutNeed(t *testing.T) {
	w := W{Nodes: 20, Tasks: 6, Tree: Tree2x10}
	c := w.Build()
	require.EqualError(t, NewChurn(w.Subject(c, 0)).Round(), "workload: churn without a plan: fits")
	w.Protected = true
	c = w.Build()
	require.EqualError(t, NewChurn(w.Subject(c, 1)).Round(), "workload: churn without a plan: refused")
}
