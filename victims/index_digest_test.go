// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A digest has the tasks of its node in the order of what makes a lane, then of the
// work that they lose, then of keys, however many lanes there are and however long they
// are. The slow twin sorts them one by one.
func TestDigest_IsSorted(t *testing.T) {
	schema, err := resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}, {Name: "b"}}})
		require.NoError(t, err)
		c := NewCluster(tree)
		kinds, nodes := rapid.Int64Range(1, 30).Draw(t, "kinds"), rapid.IntRange(1, 32).Draw(t, "nodes")
		// Once for all nodes, and once for those that changed.
		for round := range 2 {
			for i := range rapid.IntRange(0, 120).Draw(t, "tasks") {
				kind := rapid.Int64Range(0, kinds-1).Draw(t, "kind")
				_, err := c.AddTask(&Task{
					Key: fmt.Sprint(round, "-", i), Queue: queue.ID(1 + i%2), NodeName: fmt.Sprint("n", i%nodes*(1-round)),
					Size: vec{kind % 3, kind / 9}, Priority: int32(kind / 3 % 2), OptedOut: kind%7 == 6, Cost: kind / 20,
					Scheduled: epoch.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "scheduled")) * time.Minute),
				})
				require.NoError(t, err)
			}
			c.settle()
			for n := range c.nodes[1:] {
				compareDigest(t, c, NodeID(1+n))
			}
		}
	})
}

// compareDigest compares the digest of a node with its tasks.
func compareDigest(t *rapid.T, c *Cluster, n NodeID) {
	want := slices.Clone(c.nodes[n].tasks)
	slices.SortFunc(want, func(a, b TaskID) int {
		return cmp.Or(c.compareLanes(a, b), c.compareInLane(dealtTask{c.newest(a), a}, dealtTask{c.newest(b), b}))
	})
	d := &c.digest.nodes[n]
	require.Equal(t, want, append([]TaskID{}, d.ids...))
	for j, id := range d.ids {
		require.Equal(t, c.newest(id), d.times[j])
		require.Equal(t, c.tasks[id].leaf, d.leaves[j])
	}
	first := int32(0)
	for i := range d.lanes {
		l := &d.lanes[i]
		require.Equal(t, first, l.first)
		for _, id := range d.ids[l.first:l.end] {
			require.Equal(t, c.size(id), d.size(i, c.types))
			require.Equal(t, c.tasks[id].priority, l.priority)
		}
		if first = l.end; int(first) < len(d.ids) {
			require.NotZero(t, c.compareLanes(d.ids[first-1], d.ids[first]), "one lane is cut in two")
		}
	}
	require.Equal(t, len(d.ids), int(first))
}
