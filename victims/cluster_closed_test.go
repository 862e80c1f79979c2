// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/queue"
)

// TestClosedNode follows a node that goes before its tasks, comes back, and goes
// with its last task. DESIGN.md, Changes.
func TestClosedNode(t *testing.T) {
	c := tableCluster(t)
	require.NoError(t, law.ErrOf(c.RemoveNode("n1")))
	n1, ok := c.LookupNode("n1")
	require.True(t, ok)
	require.True(t, c.Closed(n1))
	require.Equal(t, []NodeID{n1}, c.ClosedNodes(nil))
	require.Equal(t, []string{"n1"}, slices.Collect(c.UnknownNodes()))
	require.Equal(t, vec{8, 8}, c.Capacity())
	require.Equal(t, vec{4, 2}, c.Tree().Usage(queue.Root), "its tasks still count, and its grant has ended")
	require.ErrorIs(t, law.ErrOf(c.RemoveNode("n1")), ErrUnknown)
	require.ErrorIs(t, c.UpdateNode(&Node{Name: "n1"}), ErrUnknown)
	_, err := c.GrantPlace(&Ask{Key: "ask", Queue: 2}, n1, leapDay)
	require.ErrorIs(t, err, ErrRoom)
	require.ErrorContains(t, err, `task "ask": node "n1": it is closed`)
	require.False(t, c.Admits(nil, 1, n1))

	// A victim on it can go for headroom, and can be given back.
	require.NoError(t, apply(func(*Plan) {})(c))
	require.NoError(t, c.Undo())

	again, err := c.AddNode(&Node{Name: "n1", Capacity: vec{4, 4}})
	require.NoError(t, err)
	require.Equal(t, n1, again)
	require.False(t, c.Closed(n1))
	require.Equal(t, vec{0, 2}, c.Free(nil, n1))
	require.Equal(t, vec{12, 12}, c.Capacity())

	require.NoError(t, law.ErrOf(c.RemoveNode("n1")))
	require.NoError(t, c.RemoveTask("run"))
	_, ok = c.LookupNode("n1")
	require.True(t, ok)
	require.NoError(t, c.RemoveTask("leave"))
	_, ok = c.LookupNode("n1")
	require.False(t, ok, "it went with its last task")
}

// TestTaskBeforeNode shows that a task may name a node that is not there yet.
func TestTaskBeforeNode(t *testing.T) {
	c := tableCluster(t)
	id, err := c.AddTask(&Task{Key: "early", Queue: 1, NodeName: "n9", Size: vec{3}})
	require.NoError(t, err)
	n9 := c.NodeOf(id)
	require.True(t, c.Closed(n9))
	require.Equal(t, "n9", c.NodeName(n9))
	require.NoError(t, law.ErrOf(c.AddTask(&Task{Key: "typo", Queue: 1, NodeName: "n1 "})))
	require.NoError(t, law.ErrOf(c.SyncNode("n2", []Task{{Key: "blind", Queue: 1, Size: vec{-1}}})))
	n2, _ := c.LookupNode("n2")
	require.True(t, c.Closed(n2), "but known")
	require.Equal(t, []string{"n1 ", "n9"}, slices.Collect(c.UnknownNodes()))
	for name := range c.UnknownNodes() {
		require.Equal(t, "n1 ", name)
		break
	}
	require.NoError(t, law.ErrOf(c.SyncNode("n2", nil)))
	require.NoError(t, c.RemoveTask("typo"))
	_, err = c.AddNode(&Node{Name: "n9", Capacity: vec{8, 8}})
	require.NoError(t, err)
	require.Equal(t, vec{5, 8}, c.Free(nil, n9))
	require.Empty(t, slices.Collect(c.UnknownNodes()))
	require.Equal(t, "", c.Task(id).NodeName)

	// It moves, and the name alone would not keep a node.
	_, err = c.SetTask(&Task{Key: "early", Queue: 2, NodeName: "n10", Size: vec{3}})
	require.NoError(t, err)
	_, err = c.SetTask(&Task{Key: "early", Queue: 2, NodeName: "n9", Size: vec{3}})
	require.NoError(t, err)
	_, ok := c.LookupNode("n10")
	require.False(t, ok)
	before := lookAt(c).String()
	_, err = c.AddTask(&Task{Key: "bad", Queue: 0, NodeName: "n10"})
	require.ErrorIs(t, err, invalid.Queue)
	require.Equal(t, before, lookAt(c).String())
}

// TestSetTask shows that a task is put as it is told, with its row and its mark.
func TestSetTask(t *testing.T) {
	c := nodeOfEight(t)
	plan(t, c, "ask", 4, "v1", "v2")
	id, _ := c.Lookup("v1")
	again, err := c.SetTask(&Task{Key: "v1", Queue: 2, Node: 1, Size: vec{1}, Priority: 9, Job: "gang", Tag: 7})
	require.NoError(t, err)
	require.Equal(t, id, again)
	got := c.Task(id)
	require.Equal(t, Marked, got.State, "a mark is kept")
	require.Equal(t, "gang", got.Job)
	require.Equal(t, vec{1}, c.Tree().Leaving(2))
	require.Equal(t, []string{"v1", "v2"}, held(t, c, "ask").Leaving, "and waited for")

	_, err = c.SetTask(&Task{Key: "ask", Queue: 2, Node: 1, Size: vec{4}})
	require.NoError(t, err)
	_, granted := c.LookupGrant("ask")
	require.False(t, granted, "the grant is dropped")
	_, err = c.SetTask(&Task{Key: "ask", State: Granted})
	require.ErrorIs(t, err, ErrState)
}

// TestSyncNode shows what a sync takes, what it does not, and what that means for
// the node.
func TestSyncNode(t *testing.T) {
	c := tableCluster(t)
	_, err := c.AddTask(&Task{Key: "far", Queue: 2, Node: 2, Size: vec{1, 1}})
	require.NoError(t, err)
	synced, err := c.SyncNode("n1", []Task{
		{Key: "leave", Queue: 1, Size: vec{1, 1}},
		{Key: "grant", Queue: 2, Size: vec{2}},
		{Key: "far", Queue: 2, Size: vec{1}},
		{Key: "lost", Queue: 0, Size: vec{1, 2}},
		{Key: "leave", Queue: 1, Size: vec{1}},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"grant"}, synced.Started)
	not := synced.NotTaken
	require.Len(t, not, 2)
	require.ErrorIs(t, not[0].Err, invalid.Queue)
	require.Equal(t, 3, not[0].Index)
	require.ErrorIs(t, not[1].Err, ErrDuplicate)
	require.Equal(t, 4, not[1].Index)

	_, ok := c.Lookup("run")
	require.False(t, ok, "it has gone")
	id, _ := c.Lookup("leave")
	require.Equal(t, Marked, c.State(id))
	_, held := c.LookupGrant("grant")
	require.False(t, held, "it has started")
	require.Equal(t, vec{8, 8}, c.Free(nil, 2), "far has moved")
	require.Equal(t, vec{2, 2}, c.UnknownUsage(nil, 1))
	require.Equal(t, vec{2, 5}, c.Free(nil, 1))

	// Of -1 nobody knows what it is: the node is closed until the next sync.
	synced, err = c.SyncNode("n1", []Task{{Key: "odd", Queue: 1, Size: vec{-1}}})
	require.NoError(t, err)
	require.Len(t, synced.NotTaken, 1)
	require.Empty(t, synced.Started)
	require.True(t, c.Closed(1))
	require.Equal(t, vec{8, 8}, c.Capacity())
	require.NoError(t, c.UpdateNode(&Node{Name: "n1", Capacity: vec{9, 9}}))
	require.Equal(t, vec{8, 8}, c.Capacity())
	_, err = c.SyncNode("n1", nil)
	require.NoError(t, err)
	require.False(t, c.Closed(1))
	require.Equal(t, vec{17, 17}, c.Capacity())
	require.Equal(t, vec{9, 9}, c.Free(nil, 1))
	var order []NodeID
	for id := range c.Nodes() {
		order = append(order, id)
	}
	require.Equal(t, []NodeID{1, 2}, order, "in its old place")

	_, err = c.SyncNode("", nil)
	require.ErrorIs(t, err, invalid.Empty)
	_, err = c.SyncNode("n7", nil)
	require.NoError(t, err)
	_, ok = c.LookupNode("n7")
	require.False(t, ok, "nothing is known of it")
}

// TestSync shows what becomes of tasks that a listing has and a cluster cannot take, and of wrong
// listings.
func TestSync(t *testing.T) {
	c := tableCluster(t)
	var nodes []Node
	for id := range c.Nodes() {
		nodes = append(nodes, c.Node(id))
	}
	before, version := lookAt(c).String(), c.Version()
	for _, test := range []struct {
		l    Listing
		is   error
		text string
	}{
		{Listing{Nodes: []Node{{}}}, invalid.Empty, `victims: node "": empty name`},
		{Listing{Nodes: []Node{nodes[0], nodes[0]}}, ErrDuplicate, `victims: node "n1": duplicate key`},
		{Listing{Nodes: []Node{{Name: "x", Capacity: vec{-1}}}}, invalid.Amount, `victims: node "x": capacity gpu -1: bad amount`},
		{Listing{Nodes: []Node{{Name: "x", Capacity: vec{math.MaxInt64}}, nodes[0]}}, invalid.Range, `victims: node "n1": capacity of all nodes: gpu: out of range`},
		{Listing{Budgets: map[string]Budget{"": {}}}, invalid.Empty, `victims: budget "": empty name`},
		{Listing{Minimums: map[string]int{"j": -1}}, invalid.Range, `victims: minimum of job "j": -1: out of range`},
	} {
		_, err := c.Sync(test.l)
		require.ErrorIs(t, err, test.is)
		require.EqualError(t, err, test.text)
		require.Equal(t, version, c.Version())
		require.Equal(t, before, lookAt(c).String())
	}
	synced, err := c.Sync(Listing{Nodes: nodes, Tasks: []Task{
		{Key: "leave", Queue: 1, NodeName: "n2", Size: vec{1, 1}},
		{Key: "run", Queue: 0, NodeName: "n2", Size: vec{1, 2}},
		{Key: "odd", Queue: 1, NodeName: "n7", Size: vec{-1}},
		{Key: "leave", Queue: 1, NodeName: "n1", Size: vec{1}},
		{Key: "nowhere", Queue: 1},
	}})
	require.NoError(t, err)
	var not []int
	for _, n := range synced.NotTaken {
		not = append(not, n.Index)
	}
	require.Equal(t, []int{1, 2, 3, 4}, not)
	id, _ := c.Lookup("leave")
	require.Equal(t, Marked, c.State(id), "it has moved, and is marked")
	require.Equal(t, "n2", c.NodeName(c.NodeOf(id)))
	_, ok := c.Lookup("run")
	require.False(t, ok, "it is not where it was either")
	require.Equal(t, vec{1, 2}, c.UnknownUsage(nil, 2))
	_, held := c.LookupGrant("grant")
	require.True(t, held)
	n7, ok := c.LookupNode("n7")
	require.True(t, ok)
	require.True(t, c.Closed(n7), "nobody knows what is used there")
	_, ok = c.Budget("web")
	require.True(t, ok, "nil budgets stay")

	synced, err = c.Sync(Listing{})
	require.NoError(t, err)
	require.Equal(t, []string{"leave"}, synced.Removed)
	require.Equal(t, []Orphan{{Ask: "grant"}}, synced.Orphans)
	require.Zero(t, c.TaskLen()+c.NodeLen()+len(c.ClosedNodes(nil)))
}
