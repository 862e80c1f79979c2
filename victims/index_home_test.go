// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
)

// The home of an application is the leaf that all its tasks are in, wherever that is
// in a new tree.
func TestHomes(t *testing.T) {
	c := tableCluster(t)
	home := func() queue.ID {
		id, ok := c.apps.lookup("new")
		require.True(t, ok)
		return c.homes[id]
	}
	add := func(key string, leaf queue.ID) {
		_, err := c.AddTask(&Task{Key: key, Queue: leaf, NodeName: "n1", Application: "new"})
		require.NoError(t, err)
	}
	add("t1", 1)
	add("t2", 1)
	require.Equal(t, queue.ID(1), home())
	clone := c.Clone()
	require.Equal(t, c.homes, clone.homes)

	// Where it has been in several, it is not known until the last has gone.
	add("t3", 2)
	require.Equal(t, noLeaf, home())
	require.NoError(t, c.RemoveTask("t3"))
	require.Equal(t, noLeaf, home())
	require.NoError(t, c.RemoveTask("t1"))
	require.NoError(t, c.RemoveTask("t2"))
	add("t4", 2)
	require.Equal(t, queue.ID(2), home())
}
