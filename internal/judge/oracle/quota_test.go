// SPDX-License-Identifier: Apache-2.0

package oracle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
)

// enforceBase is a case to be worked out by heart. Queue a has 6 cpus in three
// tasks of 3, 2 and 1, and may have 4.
func enforceBase() *world.EnforceCase {
	task := func(key string, size int64) world.Task {
		return world.Task{Key: key, Queue: "root.a", Application: "app", Node: "n1", Size: cpu{"cpu": size}}
	}
	return &world.EnforceCase{
		World: world.World{
			Types: []string{"cpu", "gpu"},
			Root:  world.Queue{Name: "root", Children: []world.Queue{{Name: "a"}, {Name: "b"}}},
			Nodes: []world.Node{{Name: "n1", Capacity: cpu{"cpu": 9}}},
			Tasks: []world.Task{task("t3", 3), task("t2", 2), task("t1", 1)},
		},
		Queue: "root.a", Max: cpu{"cpu": 4}, Minimums: map[string]int{}, Now: world.Epoch,
	}
}

func TestEnforceBreaks(t *testing.T) {
	gang := func(keeps int) func(*world.EnforceCase) {
		return func(c *world.EnforceCase) {
			c.Minimums["g"] = keeps
			for i := range c.World.Tasks {
				c.World.Tasks[i].Job = "g"
			}
		}
	}
	for _, tt := range []struct {
		name  string
		twist func(c *world.EnforceCase)
		stops []string
		want  []oracle.Law
		meets bool // some other set may
	}{
		{name: "just enough", stops: []string{"t2"}, meets: true},
		{name: "one too many", stops: []string{"t1", "t2"}, want: []oracle.Law{oracle.Minimal}, meets: true},
		{name: "none of several can be spared", twist: func(c *world.EnforceCase) { c.Max = cpu{"cpu": 2} }, stops: []string{"t2", "t3"}, meets: true},
		{name: "too few is no break", stops: []string{"t1"}, meets: true},
		{name: "unknown", stops: []string{"t2", "t9"}, want: []oracle.Law{oracle.Candidate}, meets: true},
		{name: "from elsewhere", twist: func(c *world.EnforceCase) { c.World.Tasks[2].Queue = "root.b" },
			stops: []string{"t1"}, want: []oracle.Law{oracle.Minimal, oracle.Scope}, meets: true},
		{name: "has none of it", twist: func(c *world.EnforceCase) { c.World.Tasks[2].Size = cpu{"gpu": 1} },
			stops: []string{"t1", "t2"}, want: []oracle.Law{oracle.Kind, oracle.Minimal}, meets: true},
		{name: "leaving", twist: func(c *world.EnforceCase) { c.World.Tasks[1].State = world.Releasing; c.Max = cpu{"cpu": 1} },
			stops: []string{"t2"}, want: []oracle.Law{oracle.Candidate}, meets: true},
		{name: "would not stop", twist: func(c *world.EnforceCase) { c.Refused = map[string]time.Time{"t2": c.Now.Add(1)} },
			stops: []string{"t2"}, want: []oracle.Law{oracle.Exempt}, meets: true},
		{name: "would not stop until now", twist: func(c *world.EnforceCase) { c.Refused = map[string]time.Time{"t2": c.Now} }, stops: []string{"t2"}, meets: true},
		{name: "of a gang of which one would not stop", twist: func(c *world.EnforceCase) {
			gang(3)(c)
			c.Refused = map[string]time.Time{"t1": c.Now.Add(1)}
		}, stops: []string{"t1", "t2", "t3"}, want: []oracle.Law{oracle.Exempt, oracle.Gang}},
		{name: "too young for asks", twist: func(c *world.EnforceCase) {
			c.World.Root.Properties, c.World.Tasks[1].Scheduled = map[string]string{"preemption.min-runtime": "1h"}, c.Now
		}, stops: []string{"t2"}, meets: true},
		{name: "below the guarantee", twist: func(c *world.EnforceCase) { c.World.Root.Guaranteed = cpu{"cpu": 5} },
			stops: []string{"t2"}, want: []oracle.Law{oracle.Law2}},
		{name: "exact", twist: func(c *world.EnforceCase) { c.Exact = true }, stops: []string{"t3"}, want: []oracle.Law{oracle.Part}, meets: true},
		{name: "hard budget", twist: func(c *world.EnforceCase) {
			c.World.Budgets = map[string]world.Budget{"web": {Left: 1, Hard: true}}
			c.World.Tasks[1].Budgets, c.World.Tasks[0].Budgets = []string{"web"}, []string{"web"}
			c.Max = cpu{"cpu": 1}
		}, stops: []string{"t2", "t3"}, want: []oracle.Law{oracle.Budget}},
		{name: "surplus", twist: gang(2), stops: []string{"t2"}, meets: true},
		{name: "more than the surplus", twist: func(c *world.EnforceCase) { gang(2)(c); c.Max = cpu{"cpu": 2} },
			stops: []string{"t2", "t3"}, want: []oracle.Law{oracle.Gang}, meets: true},
		{name: "all of it", twist: gang(3), stops: []string{"t1", "t2", "t3"}, meets: true},
		{name: "all of it, though the surplus would do", twist: func(c *world.EnforceCase) {
			gang(2)(c)
			c.World.Tasks[0].Priority, c.World.Tasks[2].Priority = 1, 1 // t2 is the first in the order
		}, stops: []string{"t1", "t2", "t3"}, want: []oracle.Law{oracle.Minimal}, meets: true},
		{name: "over two leaves", twist: func(c *world.EnforceCase) {
			gang(3)(c)
			c.World.Tasks[0].Queue, c.Queue, c.Max = "root.b", "root", cpu{"cpu": 1}
		}, stops: []string{"t1", "t2", "t3"}, want: []oracle.Law{oracle.Gang}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := enforceBase()
			if tt.twist != nil {
				tt.twist(c)
			}
			var got []oracle.Law
			breaks := oracle.EnforceBreaks(c, tt.stops)
			for _, b := range breaks {
				got = append(got, b.Law)
			}
			require.ElementsMatch(t, tt.want, got, breaks)
			require.Equal(t, tt.meets, oracle.CanMeet(c))
		})
	}
}

// What meets a target once meets it without more victims than the tasks below
// the queue, and a max of what is used asks for nobody.
func TestCanMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.EnforceCases(world.Small.With(world.WithGangs|world.WithBudgets|world.WithRefusals)).Draw(t, "case")
		c.Max = c.World.Usage(true)[c.Queue]
		require.True(t, oracle.CanMeet(c), "%v", c)
		require.Empty(t, oracle.EnforceBreaks(c, nil), "%v", c)
	})
}
