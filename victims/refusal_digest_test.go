// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// Who runs on a closed node counts at the rule that keeps them, whether tasks are
// counted one by one or node by node.
func TestRefusal_CountsClosedNodes(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "a"},
		{Name: "kept", Properties: map[string]string{"preemption.policy": "disabled"}},
		{Name: "b", Guaranteed: slots(9)},
	}})
	for _, node := range []string{"n1", "n2"} {
		f.node(node, 3)
		f.task("high-"+node, "a", node, 1, priority(9))
		f.task("higher-"+node, "a", node, 1, priority(10))
		f.task("kept-"+node, "kept", node, 1, priority(9))
	}
	require.NoError(t, law.ErrOf(f.c.RemoveNode("n2")))
	for _, exhaustive := range []bool{false, true} {
		r := f.decide(&jobs.Planner{Options: *new(victims.Options).Exhaust(exhaustive)}, f.ask("x", "b", 2)).Refusal
		require.Equal(t, "no-victims", r.Reason)
		require.Equal(t, []victims.Count{{Rule: "disabled", Tasks: 2}, {Rule: "priority", Tasks: 4}}, r.Counts)
		require.Equal(t, r.Closest, "n1")
	}
}

// A refusal says the same with and without digests, in clusters of which some
// nodes are closed.
func TestRefusal_WithoutDigests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.Cases(world.Small.With(world.WithLabels|world.WithGrants)).Draw(t, "case")
		cluster := build(t, &c.World)
		for n := range c.World.Nodes {
			if rapid.IntRange(0, 3).Draw(t, "closes") == 0 {
				if err := law.ErrOf(cluster.RemoveNode(c.World.Nodes[n].Name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		planner := world.CasePlanner(cluster, c)
		ask := askOf(t, cluster, &c.Ask)
		var said [2]victims.Decision
		var helps [2][]string
		for i, exhaustive := range []bool{false, true} {
			planner.Exhaust(exhaustive)
			if err := planner.Decide(&said[i], &ask, c.Options.Now); err != nil {
				t.Fatal(err)
			}
			if err := said[i].Count(); err != nil {
				t.Fatal(err)
			}
			said[i].Plan.Steps = 0
			helps[i] = strings.Split(said[i].Refusal.Help.String()[len("what would help: "):], ", ")
			slices.Sort(helps[i])
		}
		require.Equal(t, helps[1], helps[0])
		if d := cmp.Diff(said[1].Refusal, said[0].Refusal, cmpopts.IgnoreUnexported(victims.Help{}), cmp.AllowUnexported(victims.Refusal{}, victims.Protector{})); d != "" {
			t.Fatalf("without and with digests:\n%s\n%v", d, c)
		}
	})
}
