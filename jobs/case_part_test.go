// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Parts of a case alone. Each is held to what its comment says, in the plainest
// code there is, on the small cases that engines are tested with.

// The members without a place are those of the minimum first, in the order of
// the caller, and then those beyond it; and who is leaving counts only if the
// minimum is not reached otherwise.
func TestRoster_Split(t *testing.T) { rapid.Check(t, rosterIsSplit) }

func rosterIsSplit(t *rapid.T) {
	const running, granted, leaving, unplaced = 0, 1, 2, 3
	states := rapid.SliceOfN(rapid.SampledFrom([]int{unplaced, unplaced, running, granted, leaving}), 1, 6).Draw(t, "states")
	minimum := rapid.IntRange(0, len(states)).Draw(t, "minimum")
	c, q := oneQueue(t)
	node, err := c.AddNode(&victims.Node{Name: "n", Capacity: resources.Vector{99}})
	require.NoError(t, err)
	job := &victims.Ask{Key: "j", Queue: q, MinMembers: minimum}
	for i, state := range states {
		key := fmt.Sprintf("j%d", i)
		job.Members = append(job.Members, victims.Member{Key: key, Size: resources.Vector{1}})
		switch state {
		case granted:
			_, err = c.GrantPlace(&victims.Ask{Key: key, Queue: q, Size: resources.Vector{1}, Job: "j"}, node, time.Time{})
		case running, leaving:
			as := []victims.State{running: victims.Running, leaving: victims.Releasing}[state]
			_, err = c.AddTask(&victims.Task{Key: key, Queue: q, Node: node, Size: resources.Vector{1}, Job: "j", State: as})
		}
		require.NoError(t, err)
	}
	var b jobCase
	require.NoError(t, b.begin(&Planner{Options: victims.Options{ByPriority: true}, Cluster: c}, job, time.Unix(0, 0)))

	var without []int
	missing := cmp.Or(minimum, len(states))
	grants, goes := 0, false
	for i, state := range states {
		switch state {
		case unplaced:
			without = append(without, i)
		case leaving:
			goes = true
		default:
			missing--
		}
		if state == granted {
			grants++
		}
	}
	missing = max(missing, 0)
	first := min(missing, len(without))
	require.Equal(t, list(without[:first]), list(b.unplaced), "states %v, minimum %d", states, minimum)
	if missing < len(without) {
		require.Equal(t, list(without[missing:]), list(b.further))
	} else {
		require.Empty(t, b.further)
	}
	require.Len(t, b.held, grants)
	require.Equal(t, goes && missing > first, b.leaving)
}

// list makes nil and empty lists alike.
func list(l []int) []int { return append([]int{}, l...) }

// oneQueue returns a cluster of one type and one leaf.
func oneQueue(t require.TestingT) (*victims.Cluster, queue.ID) {
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "q"}}})
	require.NoError(t, err)
	q, _ := tree.Lookup("root.q")
	return victims.NewCluster(tree), q
}

// What is listed of a host is what runs there: its units, each once and in their
// order, what they can free at most, and what none of them goes below.
func TestHosts_Twin(t *testing.T) { rapid.Check(t, hostsAreTwin) }

func FuzzHosts(f *testing.F) { f.Fuzz(rapid.MakeFuzz(hostsAreTwin)) }

func hostsAreTwin(t *rapid.T) {
	c := drawDesk(t, false).board
	for h := range c.hosts {
		host := &c.hosts[h]
		var units []int32
		var sizes []resources.Vector
		all := slices.Clone(host.free)
		for u := range c.units {
			here := make(resources.Vector, c.types)
			found := false
			for _, i := range c.tasksOf(int32(u)) {
				if c.cands[i].host == int32(h) {
					found = true
					resources.Add(here, here, c.cands[i].size)
					for l, v := range c.cands[i].levels {
						require.LessOrEqual(t, host.least[l], v, "host %d, level %d", h, l)
					}
				}
			}
			if found {
				units, sizes = append(units, int32(u)), append(sizes, here)
			}
		}
		for i := range c.cands {
			if c.grades[i].usable && c.cands[i].host == int32(h) {
				resources.Add(all, all, c.cands[i].size)
			}
		}
		require.Equal(t, units, append([]int32(nil), c.unitsOn(int32(h))...))
		require.Equal(t, all, host.all)
		boundsFreed(t, c, host, sizes)
	}
}

// boundsFreed holds host.most to all choices of units.
func boundsFreed(t *rapid.T, c *jobCase, host *host, sizes []resources.Vector) {
	best := make([]resources.Vector, len(sizes)+1) // by number of units: the most of each type
	for i := range best {
		best[i] = make(resources.Vector, c.types)
	}
	for set := range 1 << len(sizes) {
		n := 0
		sum := make(resources.Vector, c.types)
		for i, size := range sizes {
			if set>>i&1 != 0 {
				n++
				resources.Add(sum, sum, size)
			}
		}
		resources.Max(best[n], best[n], sum)
	}
	for n := range sizes {
		require.Equal(t, best[n+1], c.row(host.most, n), "with %d units", n+1)
	}
}

// A unit has the tasks, the amounts and the cost of those that go with it, and the
// units of a task are itself, if it may go alone, and its whole gang.
func TestUnits_Twin(t *testing.T) { rapid.Check(t, unitsAreTwin) }

func unitsAreTwin(t *rapid.T) {
	c := drawDesk(t, false).board
	for u := range c.units {
		unit := &c.units[u]
		tasks := c.tasksOf(int32(u))
		require.NotEmpty(t, tasks)
		size := make(resources.Vector, c.types)
		var levels cost.Levels
		var work resources.Wide
		for n, i := range tasks {
			cand := &c.cands[i]
			require.True(t, c.grades[i].usable)
			resources.Add(size, size, cand.size)
			levels = c.order.Join(&levels, n, &cand.levels)
			work = work.Add(cand.work)
			if unit.whole {
				require.Equal(t, unit.gang, cand.gang)
			}
		}
		if unit.whole {
			require.Len(t, tasks, c.gangs[unit.gang].running)
			require.True(t, c.gangs[unit.gang].whole())
			levels[rulebook.LevelJobs] = 1
		} else {
			require.Len(t, tasks, 1, "who is not of a whole gang goes alone")
		}
		require.Equal(t, levels, unit.Levels)
		require.Equal(t, work, unit.Work)
		require.Equal(t, size, unit.Size)
	}
	require.True(t, slices.IsSortedFunc(c.units, func(a, b unit) int { return falseFirst(a.whole, b.whole) }), "gangs are last")
}

// falseFirst orders bools.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return +1
}

// Members beyond the minimum are placed one after another, each on the first node
// with room for it and only within the max of its queue, on what the plan leaves.
func TestFurtherer_Twin(t *testing.T) { rapid.Check(t, furthererIsTwin) }

func FuzzFurtherer(f *testing.F) { f.Fuzz(rapid.MakeFuzz(furthererIsTwin)) }

func furthererIsTwin(t *rapid.T) {
	d := drawDesk(t, false)
	c := d.board
	most := int64(rapid.IntRange(0, 9).Draw(t, "max"))
	bounded := rapid.Bool().Draw(t, "bounded")
	if bounded {
		require.NoError(t, c.c.SetMax(c.job.Queue, resources.Limit{Value: resources.Vector{most, 0}, Defined: 1}))
	}
	c.job.MinMembers = 1
	c.roster.split(c)
	c.place()
	plan := victims.Plan{Places: []victims.Place{c.placement(0, int32(rapid.IntRange(0, len(c.hosts)-1).Draw(t, "host")))}}
	for id := range c.c.Tasks() {
		if rapid.Bool().Draw(t, "victim") {
			plan.Victims = append(plan.Victims, victims.Victim{Task: id})
		}
	}

	// The twin keeps what is free in a list, and asks everything anew.
	var free []resources.Vector
	for h := range c.hosts {
		free = append(free, slices.Clone(c.hosts[h].free))
	}
	for _, v := range plan.Victims {
		task := c.c.Task(v.Task)
		h := c.hostAt(task.Node)
		resources.Add(free[h], free[h], task.Size)
	}
	used := int64(0)
	seat := func(member int, h int) {
		for typ, v := range c.job.Members[member].Size {
			free[h][typ] -= v
		}
		used += c.job.Members[member].Size[0]
	}
	seat(0, int(c.hostAt(plan.Places[0].Node)))
	want := slices.Clone(plan.Places)
	for _, m := range c.further {
		size := c.job.Members[m].Size
		if bounded && size[0] > 0 && used+size[0] > most {
			continue
		}
		h := slices.IndexFunc(free, func(left resources.Vector) bool {
			return (size[0] == 0 || size[0] <= left[0]) && (size[1] == 0 || size[1] <= left[1])
		})
		if h < 0 {
			continue
		}
		seat(m, h)
		at := c.placement(m, int32(h))
		at.Extra = true
		want = append(want, at)
	}

	x := furtherer{jobCase: c, asker: &asker{}}
	x.place(&plan, coming)
	require.Equal(t, want, plan.Places)
}
