// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// blockedBy names the tasks with some keys as blockers of their nodes.
func blockedBy(c *victims.Cluster, keys ...string) func([]victims.TaskID, *victims.Question) []victims.TaskID {
	return func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
		for id := range c.TasksOn(q.Node) {
			if slices.Contains(keys, c.Key(id)) {
				dst = append(dst, id)
			}
		}
		return dst
	}
}

// Who blocks a place has to go, though there is room without. Who leaves is waited for, and a
// grant, or who may not go, rules the node out.
func TestBlockers_Gang(t *testing.T) {
	const town = "queue q g=20\nqueue low\nnode n1 8\nnode n2 8\ntask port low n1 0\ntask far low n2 1\n"
	for _, test := range []struct{ more, blockers, want string }{
		{"job q 4", "port", "fits j0=n2"},
		{"job q 4,6", "port", "plan j0=n1 j1=n2 -port"},
		{"job q 4,6", "port far", "plan j0=n1 j1=n2 -far -port"},
		{"task own q n1 0 p=20\njob q 4,6", "own", "refused no-victims"},
		{"task gone low n1 0 state=releasing\njob q 4,6", "gone", "waits j0=n1 j1=n2"},
		{"grant gone low n1 0\njob q 4,6", "gone", "refused no-victims"},
	} {
		for _, byPriority := range []bool{false, true} {
			w := build(t, town+test.more+" p=10")
			p := w.planner()
			p.ByPriority, p.Blockers = byPriority, blockedBy(w.cluster, strings.Fields(test.blockers)...)
			var d victims.Decision
			require.NoError(t, p.Decide(&d, &w.job, noon))
			require.Equal(t, test.want, w.brief(&d), "%s, by priority %v", test.more, byPriority)
			for _, v := range d.Plan.Victims {
				require.Equal(t, strings.Contains(test.blockers, v.Key), v.Blocks, v.Key)
			}
			if strings.Contains(test.want, "-port") {
				require.Contains(t, d.String(), "victim port on n1 (root.low, none, priority 0, rank -10), which blocks the node\n")
			}
			if d.Outcome == victims.Preempts {
				require.Equal(t, victims.NoProof, d.Plan.Proof)
			}
		}
	}
}

// With any options plans of gangs are lawful, or there is none: the auditor, which looks at
// every one, finds nothing.
func TestOptions_Lawful(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.JobCases(world.Small.With(everything)).Draw(t, "case")
		h := newHarness(t, c)
		p := &h.planner
		p.VictimsOnNode = rapid.Bool().Draw(t, "on nodes")
		if rapid.Bool().Draw(t, "levels") {
			p.Levels = rapid.Permutation(victims.DefaultLevels()).Draw(t, "order")[:rapid.IntRange(1, 3).Draw(t, "number")]
		} else if rapid.Bool().Draw(t, "compare") {
			p.Compare = func(a, b *victims.Cost) int { return a.Victims - b.Victims }
		}
		var keys []string
		for id := range h.cluster.Tasks() {
			if rapid.IntRange(0, 4).Draw(t, "blocks") == 0 {
				keys = append(keys, h.cluster.Key(id))
			}
		}
		if len(keys) > 0 {
			p.Blockers = blockedBy(h.cluster, keys...)
		}
		h.decide("with options")
		if h.d.Refusal.Reason == victims.Unlawful {
			a := victims.Auditor{Cluster: p.Cluster, Options: p.Options}
			t.Fatalf("%v: %+v\n%v", a.Audit(nil, &h.d, h.c.Options.Now), p.Options, h.c)
		}
	})
}

// The level of preemptions decides between plans of gangs as well, where it is named.
func TestLevels_PreemptionsOfGang(t *testing.T) {
	w := build(t, "queue q g=9\nqueue low\nnode n1 4\nnode n2 4\nnode n3 4\n"+
		"task o low n1 4 age=1m\ntask v low n2 4 age=3h\ntask w low n3 4 age=4h\njob q 4,4")
	id, _ := w.cluster.Lookup("o")
	task := w.cluster.Task(id)
	task.Preemptions = 2
	_, err := w.cluster.SetTask(&task)
	require.NoError(t, err)
	p := w.planner()
	p.ByPriority = false
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.Equal(t, "plan j0=n1 j1=n2 -o -v", w.brief(&d))
	p.Levels = []string{"opted-out", "preemptions", "victims", "work"}
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.Equal(t, "plan j0=n2 j1=n3 -v -w", w.brief(&d))
	require.Zero(t, d.Plan.Cost.Preemptions)
}
