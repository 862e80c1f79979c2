// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// planFor is a plan of this moment to stop run for an ask on n2.
func planFor(c *Cluster) *Plan {
	return &Plan{
		Ask: Ask{Key: "ask", Queue: 2, Size: vec{1}}, Places: []Place{{Node: 2}},
		Victims: []Victim{{Task: 0, Key: "run"}}, Version: c.Version(),
	}
}

// TestForeignPlan shows that a plan for another cluster is refused though that
// has counted as many changes. DESIGN.md, Identity.
func TestForeignPlan(t *testing.T) {
	c, other := tableCluster(t), tableCluster(t)
	require.Equal(t, c.Version().String(), other.Version().String())
	require.NotEqual(t, true, c.Version() == other.Version())
	require.ErrorIs(t, c.Apply(decided(planFor(other))), ErrStale)
	require.NoError(t, c.Apply(decided(planFor(c))))
}

// TestClonePlan shows when a plan for a cluster applies to its clone, and the
// other way round: as long as both are as they were when it was cloned.
func TestClonePlan(t *testing.T) {
	change := func(c *Cluster) {
		t.Helper()
		require.NoError(t, c.SetCost("run", 7))
	}
	for _, tt := range []struct {
		name         string
		first, after func(c, clone *Cluster) // before the plan and between plan and Apply
		onClone      bool
		want         error
	}{
		{name: "decided on the clone", onClone: true},
		{name: "decided on the original"},
		{name: "the clone changed first", first: func(_, clone *Cluster) { change(clone) }, onClone: true, want: ErrStale},
		{name: "the clone changed after", after: func(_, clone *Cluster) { change(clone) }, onClone: true},
		{name: "the original changed", after: func(c, _ *Cluster) { change(c) }, onClone: true, want: ErrStale},
		{name: "both changed alike", first: func(c, clone *Cluster) { change(c); change(clone) }, onClone: true, want: ErrStale},
		{name: "both changed alike, the other way", first: func(c, clone *Cluster) { change(c); change(clone) }, want: ErrStale},
		{name: "a what-if on the clone, undone", onClone: true, first: func(_, clone *Cluster) {
			require.NoError(t, clone.Apply(decided(planFor(clone))))
			require.NoError(t, clone.Undo())
		}},
		{name: "a clone that was copied into anew", onClone: true, first: func(c, clone *Cluster) {
			change(clone)
			change(c)
			clone.CopyFrom(c)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := tableCluster(t)
			clone := c.Clone()
			if tt.first != nil {
				tt.first(c, clone)
			}
			from, to := c, clone
			if tt.onClone {
				from, to = clone, c
			}
			p := planFor(from)
			if tt.after != nil {
				tt.after(c, clone)
			}
			require.ErrorIs(t, to.Apply(decided(p)), tt.want)
		})
	}
}

// TestCopies shows that what a cluster hands out is not its own memory, and
// that what it is given stays the caller's.
func TestCopies(t *testing.T) {
	c := tableCluster(t)
	require.NoError(t, c.UpdateNode(&Node{Name: "n1", Capacity: vec{8, 8}, Domains: []string{"b1"}}))
	before := lookAt(c).String()

	task, node := c.Task(0), c.Node(1)
	task.Size[0], task.Budgets[0] = 99, "other"
	node.Capacity[0], node.Domains[0] = 99, "b9"
	require.Equal(t, before, lookAt(c).String())

	// A task that was removed comes back as it was, whatever took its row.
	task = c.Task(0)
	require.NoError(t, c.RemoveTask("run"))
	_, err := c.AddTask(&Task{Key: "other", Queue: 2, Node: 1, Size: vec{5, 5}})
	require.NoError(t, err)
	id, err := c.AddTask(&task)
	require.NoError(t, err)
	require.Equal(t, vec{2, 1}, c.Task(id).Size)
	require.Equal(t, vec{10, 7}, c.Tree().Usage(queue.Root))

	task.Size[0], task.Budgets[0] = 99, "other"
	require.Equal(t, vec{2, 1}, c.Task(id).Size)
	require.Equal(t, []string{"web"}, c.Task(id).Budgets)
}

// TestTreeIsOwned shows that nobody changes the tree of a cluster behind its
// back, and that the tree it was made with shows what it does.
func TestTreeIsOwned(t *testing.T) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}}})
	require.NoError(t, err)
	c := NewCluster(tree)
	before := c.Version()
	bound := resources.Limit{Value: vec{3}, Defined: 1}
	require.ErrorIs(t, tree.SetMax(1, bound), queue.ErrReadOnly)
	require.ErrorIs(t, c.Tree().Add(1, vec{1}), queue.ErrReadOnly)
	require.Equal(t, before, c.Version())

	require.NoError(t, c.SetMax(1, bound))
	require.Equal(t, bound, tree.Max(1))
	require.NoError(t, c.Clone().Tree().Clone().Add(1, vec{1}))
	require.Equal(t, vec{0}, tree.Usage(1))
}

// TestMisuse shows that a caller's bug panics with the name of the mistake.
func TestMisuse(t *testing.T) {
	used := func() *queue.Tree {
		tree := tableCluster(t).Tree().Clone()
		return tree
	}
	for _, tt := range []struct {
		text string
		call func()
	}{
		{"victims: NewCluster without a tree: see queue.New", func() { NewCluster(nil) }},
		{"victims: NewCluster without a tree: see queue.New", func() { NewCluster(new(queue.Tree)) }},
		{"victims: NewCluster with a tree that has usage [5 2] already, of tasks that the cluster does not know", func() { NewCluster(used()) }},
		{"victims: NewCluster with the tree of another cluster: give it a Clone", func() {
			schema, _ := resources.NewSchema("gpu")
			tree, _ := queue.NewLenient(schema, queue.Config{Name: "root"})
			NewCluster(tree)
			NewCluster(tree)
		}},
	} {
		t.Run(tt.text, func(t *testing.T) { require.PanicsWithValue(t, tt.text, tt.call) })
	}
	const zero = "victims: the zero Cluster has no queues: see NewCluster"
	for name, call := range map[string]func(c *Cluster){
		"AddNode":       func(c *Cluster) { _, _ = c.AddNode(&Node{Name: "n"}) },
		"AddTask":       func(c *Cluster) { _, _ = c.AddTask(&Task{Key: "a"}) },
		"Grant":         func(c *Cluster) { _, _ = c.GrantPlace(&Ask{Key: "a"}, 0, time.Time{}) },
		"SetBudget":     func(c *Cluster) { _ = c.SetBudget("b", Budget{}) },
		"SetGuaranteed": func(c *Cluster) { _ = c.SetGuaranteed(0, resources.Limit{}) },
		"SetMax":        func(c *Cluster) { _ = c.SetMax(0, resources.Limit{}) },
		"Tree":          func(c *Cluster) { c.Tree() },
		"Schema":        func(c *Cluster) { c.Schema() },
		"Clone":         func(c *Cluster) { c.Clone() },
		"CopyFrom":      func(c *Cluster) { new(Cluster).CopyFrom(c) },
	} {
		t.Run(name, func(t *testing.T) { require.PanicsWithValue(t, zero, func() { call(new(Cluster)) }) })
	}
	c := tableCluster(t)
	for name, call := range map[string]func(id TaskID){
		"Task": func(id TaskID) { c.Task(id) }, "TaskView": func(id TaskID) { c.TaskView(id) },
		"Key": func(id TaskID) { c.Key(id) }, "NodeOf": func(id TaskID) { c.NodeOf(id) }, "State": func(id TaskID) { c.State(id) },
		"Tag": func(id TaskID) { c.Tag(id) }, "Job": func(id TaskID) { c.Job(id) }, "Scheduled": func(id TaskID) { c.Scheduled(id) },
	} {
		for row, text := range map[TaskID]string{
			-1: "victims: no task has row -1: it is gone, or of another cluster",
			9:  "victims: no task has row 9: it is gone, or of another cluster",
			2:  "victims: no task has row 2: it is gone, or of another cluster", // gone
		} {
			t.Run(name+text, func(t *testing.T) { require.PanicsWithError(t, text, func() { call(row) }) })
		}
	}
	for name, call := range map[string]func(id NodeID){
		"Node": func(id NodeID) { c.Node(id) }, "NodeView": func(id NodeID) { c.NodeView(id) },
		"NodeName": func(id NodeID) { c.NodeName(id) },
		"TasksOn":  func(id NodeID) { c.TasksOn(id) }, "Free": func(id NodeID) { c.Free(nil, id) },
		"ComingFree": func(id NodeID) { c.ComingFree(nil, id) },
	} {
		t.Run(name, func(t *testing.T) {
			require.PanicsWithError(t, "victims: no node has row 7: it is gone, or of another cluster", func() { call(7) })
		})
	}
	require.PanicsWithError(t, "victims: no queue has row 3: it is gone, or of another cluster", func() { c.TasksIn(3) })
}

// TestVersion shows what a version says of itself.
func TestVersion(t *testing.T) {
	c := tableCluster(t)
	v := c.Version()
	require.NotEqual(t, Version{}, v)
	require.Equal(t, v, c.Version())
	require.Equal(t, "10", v.String())
	require.NoError(t, c.Start("grant", time.Unix(5, 0)))
	require.Equal(t, "11", c.Version().String())
}

// TestCopyFromNoAllocs shows that a clone is brought up to date without
// allocating once it is warm, digests included.
func TestCopyFromNoAllocs(t *testing.T) {
	c := benchCluster(t, 10, 30)
	require.NoError(t, c.SetBudget("web", Budget{Left: 3}))
	id, err := c.AddTask(&Task{Key: "rich", Job: "gang", Tag: 7, Budgets: []string{"web"}, Queue: 1, Node: 1})
	require.NoError(t, err)
	clone := c.Clone()
	c.settle()
	clone.settle()
	round := func() {
		must(c.SetState("rich", Releasing))
		must(c.SetState("rich", Running))
		clone.CopyFrom(c)
		clone.settle()
		c.settle()
	}
	round()
	require.Zero(t, testing.AllocsPerRun(100, round))
	require.Equal(t, lookAt(c).String(), lookAt(clone).String())
	require.Equal(t, c.Version(), clone.Version())
	require.Equal(t, []TaskID{id}, slices.Collect(clone.JobTasks("gang")))
	if !errors.Is(clone.Undo(), ErrState) {
		t.Error("a copy has something to undo")
	}
}
