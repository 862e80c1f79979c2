// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// Cases in which a planner went wrong that random ones seldom show. Job x of
// queue b takes from queue a on full nodes.
func TestOracleOnCases(t *testing.T) {
	task := func(key string, size int64, priority int32, job string) world.Task {
		return world.Task{
			Key: key, Application: "app", Queue: "root.a", Node: "n1",
			Size: world.Amounts{"cpu": size}, Priority: priority, Job: job,
		}
	}
	members := func(sizes ...int64) (list []world.Member) {
		for i, size := range sizes {
			list = append(list, world.Member{Key: fmt.Sprintf("x%d", i), Size: world.Amounts{"cpu": size}})
		}
		return list
	}
	var alike []world.Task
	for i := range 30 {
		alike = append(alike, task(fmt.Sprintf("t%d", i), 1, 0, ""))
	}
	for _, tt := range []struct {
		name       string
		guaranteed world.Amounts // of queue a
		tasks      []world.Task
		keeps      map[string]int
		members    []world.Member
		small      bool // enough to look at every set
	}{
		{
			// The gang of 2 cpus may not fall, for a has 1 to give: that is
			// told in the counts.
			name: "a gang protected by the guarantee", guaranteed: world.Amounts{"cpu": 2},
			tasks:   []world.Task{task("h1", 1, 0, "h"), task("h2", 1, 0, "h"), task("v", 1, 9, "")},
			keeps:   map[string]int{"h": 2},
			members: members(1), small: true,
		},
		{
			// All of g free 9 where 8 are wanted, and without g1 it would keep
			// its minimum.
			name: "a whole gang where its surplus is enough",
			tasks: []world.Task{
				task("h1", 1, 0, "h"), task("g1", 1, 0, "g"), task("h2", 1, 0, "h"),
				task("g2", 1, 0, "g"), task("g3", 4, 2, "g"), task("g4", 3, 1, "g"),
			},
			keeps:   map[string]int{"g": 1},
			members: members(2, 2, 2, 2), small: true,
		},
		{
			// Either all of g goes, or one of it, b, and with c the job h: both
			// stop three tasks and one job. The keys decide, a b c before a y z,
			// and those of g are not only the least of them.
			name: "all keys of a whole gang count",
			tasks: []world.Task{
				task("a", 1, 0, "g"), task("b", 1, 0, ""), task("c", 1, 0, "h"), task("y", 1, 0, "g"), task("z", 1, 0, "g"),
			},
			keeps:   map[string]int{"g": 2, "h": 2},
			members: members(1, 1, 1), small: true,
		},
		{
			// Members of two sizes are not placed in their order, which the
			// predicate may rely on.
			name: "a predicate and members of two sizes", tasks: alike, members: members(2, 2, 2, 3),
		},
	} {
		for _, budget := range []int64{0, 1, 1000, 10_000} {
			t.Run(fmt.Sprintf("%s/budget=%d", tt.name, budget), func(t *testing.T) {
				c := &world.JobCase{
					ByPriority: true,
					World: world.World{
						Types: []string{"cpu"},
						Root: world.Queue{Name: "root", Children: []world.Queue{
							{Name: "a", Guaranteed: tt.guaranteed}, {Name: "b"},
						}},
						Tasks: tt.tasks,
					},
					Job: world.Job{
						Name: "x", Application: "app-x", Queue: "root.b", Priority: 9, Members: tt.members,
					},
					Minimums: tt.keeps,
					Options:  world.Options{Now: world.Epoch},
				}
				var used int64
				for _, task := range tt.tasks {
					used += task.Size["cpu"]
				}
				c.World.Nodes = []world.Node{{Name: "n1", Capacity: world.Amounts{"cpu": used}}, {Name: "n2"}}
				h := newHarness(t, c)
				h.planner.Steps = budget
				if !tt.small {
					h.planner.Predicate = h.accepts
					h.decide("as built")
					h.lawful("as built")
					if h.d.Outcome != victims.Preempts {
						t.Fatalf("%s", h.said())
					}
					return
				}
				if want := oracle.DecideJob(c); budget == 0 {
					h.compare("as built", want)
				} else {
					h.honest(want)
				}
			})
		}
	}
}

// With the option of the own leaf, law 2 has other words on the job's path, and
// who counts for a guarantee is told in these. Root is under what it guarantees and
// so binds nobody; with never it would keep t24.
func TestOracleCounts_OwnLeafMet(t *testing.T) {
	task := func(key, queue string, size world.Amounts) world.Task {
		return world.Task{Key: key, Application: "app", Queue: queue, Node: "n1", Size: size}
	}
	for own, want := range map[string]int{"": 3, world.Met: 2} {
		c := &world.JobCase{
			ByPriority: true,
			World: world.World{
				Types: []string{"cpu", "memory"},
				Root: world.Queue{Name: "root", Guaranteed: world.Amounts{"cpu": 7}, Children: []world.Queue{
					{Name: "a"}, {Name: "b", Guaranteed: world.Amounts{"cpu": 1}}, {Name: "x"},
				}},
				Nodes: []world.Node{{Name: "n1", Capacity: world.Amounts{"cpu": 4, "memory": 2}}},
				Tasks: []world.Task{
					task("t10", "root.b", world.Amounts{"cpu": 1, "memory": 1}),
					task("t17", "root.b", world.Amounts{"cpu": 2, "memory": 1}),
					task("t24", "root.a", world.Amounts{"cpu": 1}),
				},
			},
			Job: world.Job{
				Name: "x", Application: "app-x", Queue: "root.x", Priority: 3,
				Members: []world.Member{
					{Key: "x0", Size: world.Amounts{"cpu": 1, "memory": 1}}, {Key: "x1", Size: world.Amounts{"cpu": 1, "memory": 1}},
				},
			},
			Options: world.Options{Now: world.Epoch, OwnLeaf: own},
		}
		h := newHarness(t, c)
		h.compare("as built", oracle.DecideJob(c))
		got := h.d.Refusal.Counts
		if kept := (victims.Count{Rule: "guarantee", Tasks: want}); !slices.Contains(got, kept) && want > 0 ||
			want == 0 && slices.ContainsFunc(got, func(n victims.Count) bool { return n.Rule == kept.Rule }) {
			t.Errorf("own leaf %q: %v, want %v", own, got, kept)
		}
	}
}
