// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// twoNodes is n0, full of tasks of (2, 2), and n1, without tasks.
func twoNodes(t *testing.T) *fixture {
	f := newTypedFixture(t, "cpu", "gpu")
	f.sized("n0", 16, 16)
	f.sized("n1", 16, 16)
	f.runs("n0", 8, resources.Vector{2, 2})
	return f
}

// runs adds so many tasks of a size to a node.
func (f *fixture) runs(node string, n int, size resources.Vector) {
	f.t.Helper()
	for k := range n {
		f.run(fmt.Sprint(node, "-", k), node, size)
	}
}

func (f *fixture) victimsFor(p *jobs.Planner, size resources.Vector) []string {
	f.t.Helper()
	ask := f.ask("x", "b", 0)
	ask.Size = size
	return keysOf(f.decide(p, ask))
}

// What a planner has summed up for one ask tells of the next one only as far as that lacks the
// same types, and as long as the node has the same tasks.
func TestPlanner_KeptSums(t *testing.T) {
	t.Run("other types", func(t *testing.T) {
		f, p := twoNodes(t), &jobs.Planner{}
		f.runs("n1", 4, resources.Vector{4, 4})
		require.Equal(t, []string{"n1-0", "n1-1"}, f.victimsFor(p, resources.Vector{8, 0}))
		require.Equal(t, []string{"n1-0", "n1-1"}, f.victimsFor(p, resources.Vector{8, 8}))
	})
	t.Run("other tasks", func(t *testing.T) {
		f, p := twoNodes(t), &jobs.Planner{}
		// By the largest alone two would be enough. Three have 7 together.
		f.run("large", "n1", resources.Vector{5, 5})
		f.runs("n1", 11, resources.Vector{1, 1})
		require.Len(t, f.victimsFor(p, resources.Vector{8, 8}), 4)
		require.NoError(t, f.c.RemoveTask("large"))
		for k := range 11 {
			require.NoError(t, f.c.RemoveTask(fmt.Sprint("n1-", k)))
		}
		f.runs("n1", 4, resources.Vector{4, 4})
		require.Equal(t, []string{"n1-0", "n1-1"}, f.victimsFor(p, resources.Vector{8, 8}))
	})
}

// Tasks of the least priority that laws keep say nothing of those that may go.
func TestPlanner_SumsOfKeptTasks(t *testing.T) {
	priority := func(p int32) func(*victims.Task) { return func(t *victims.Task) { t.Priority = p } }
	f := newTypedFixture(t, "cpu", "gpu")
	f.sized("n0", 16, 16)
	f.sized("n1", 13, 13)
	for k := range 8 {
		f.run(fmt.Sprint("n0-", k), "n0", resources.Vector{2, 2}, priority(1))
	}
	f.run("own", "n1", resources.Vector{1, 1}, func(t *victims.Task) { t.Application = "app-x" })
	for k := range 3 {
		f.run(fmt.Sprint("n1-", k), "n1", resources.Vector{4, 4}, priority(1))
	}
	ask := f.ask("x", "b", 0)
	ask.Size, ask.Priority = resources.Vector{8, 8}, 5
	require.Equal(t, []string{"n1-0", "n1-1"}, keysOf(f.decide(&jobs.Planner{}, ask)))
}

// A plan of as many victims on a node that comes later is found if it loses less work, though
// other tasks there lose more.
func TestPlanner_LessWorkLater(t *testing.T) {
	scheduled := func(ago time.Duration) func(*victims.Task) {
		return func(t *victims.Task) { t.Scheduled = now.Add(-ago) }
	}
	for _, tt := range []struct {
		name string
		ask  resources.Vector
		want []string
	}{
		{"one", resources.Vector{2, 2}, []string{"young-0"}},
		{"two", resources.Vector{4, 4}, []string{"young-0", "young-1"}},
		// Two of the young ones are not enough beside the tiny one, which lost least.
		{"three", resources.Vector{6, 6}, []string{"young-0", "young-1", "young-2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := twoNodes(t)
			for k := range 3 {
				f.run(fmt.Sprint("old-", k), "n1", resources.Vector{2, 2}, scheduled(1000*time.Hour))
			}
			f.run("tiny", "n1", resources.Vector{1, 1}, scheduled(time.Second))
			for k := range 4 {
				f.run(fmt.Sprint("young-", k), "n1", resources.Vector{2, 2}, scheduled(time.Minute))
			}
			f.run("small", "n1", resources.Vector{1, 1}, scheduled(time.Hour))
			require.Equal(t, tt.want, f.victimsFor(&jobs.Planner{}, tt.ask))
		})
	}
}

// Of nodes with plans that cost the same the first in node order is taken, though a search looks at
// a few from everywhere first.
func TestPlanner_FirstOfEqualNodes(t *testing.T) {
	f := newTypedFixture(t, "cpu", "gpu")
	for n := range 70 {
		name := fmt.Sprintf("n%02d", n)
		f.sized(name, 3, 3)
		f.run("small-"+name, name, resources.Vector{1, 1}, func(t *victims.Task) { t.Scheduled = now.Add(-time.Second) })
		ago := 100 * time.Hour
		if n == 1 || n == 64 {
			ago = time.Minute
		}
		f.run("on-"+name, name, resources.Vector{2, 2}, func(t *victims.Task) { t.Scheduled = now.Add(-ago) })
	}
	require.Equal(t, []string{"on-n01"}, f.victimsFor(&jobs.Planner{}, resources.Vector{2, 2}))
}

// What a single victim frees for headroom is not freed in vain, though the node lacks less.
func TestPlanner_OneVictimForBoth(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "p", Max: slots(11), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(100)}}},
	}})
	f.node("n0", 10)
	f.node("n1", 9)
	young := func(t *victims.Task) { t.Scheduled = now }
	f.task("six", "p.a", "n0", 6, young)
	f.task("five", "p.a", "n1", 5, young)
	require.Equal(t, []string{"five"}, keysOf(f.decide(&jobs.Planner{}, f.ask("x", "p.b", 5))))
}
