// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// holders names the tasks whose keys begin with "port" as blockers.
func (f *fixture) holders(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
	for id := range f.c.TasksOn(q.Node) {
		if key := f.c.Key(id); len(key) >= 4 && key[:4] == "port" {
			dst = append(dst, id)
		}
	}
	return dst
}

// leaves makes a task one that leaves.
func leaves(t *victims.Task) { t.State = victims.Releasing }

// A blocker without amounts that leaves is waited for, although the node has room
// now as then.
func TestBlockers_WaitForNoAmounts(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 2)
	f.task("port", "a", "n1", 0, leaves)
	d := f.decide(&jobs.Planner{Options: victims.Options{Blockers: f.holders}}, f.ask("x", "b", 2))
	require.Equal(t, victims.Waits, d.Outcome)
	require.Equal(t, "n1", d.Plan.Places[0].NodeName)
}

// Nor does who holds a grant start beside a blocker that is there still.
func TestBlockers_InFlight(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 2)
	f.task("port", "a", "n1", 0, leaves)
	ask := f.ask("x", "b", 2)
	n1, _ := f.c.LookupNode("n1")
	_, err := f.c.GrantPlace(ask, n1, time.Time{})
	require.NoError(t, err)
	p := &jobs.Planner{Options: victims.Options{Blockers: f.holders}}
	d := f.decide(p, ask)
	require.Equal(t, victims.Refused, d.Outcome)
	require.Equal(t, victims.InFlight, d.Refusal.Reason)
	require.Equal(t, []string{"port"}, d.Refusal.WaitsFor)

	require.NoError(t, f.c.RemoveTask("port"))
	require.Equal(t, victims.Fits, f.decide(p, ask).Outcome)
}
