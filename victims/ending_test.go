// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// TestEnds: a queue guaranteed 20 that uses 16 in one gang loses the gang to a more important
// task of its own. Describe and the report say where that ends, for asks and for jobs; a queue
// that keeps what it is guaranteed, or had, is not named, nor a type that does not count.
func TestEnds(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "prod", Guaranteed: slots(20), Policies: queue.Policies{WithinQueue: queue.Met}},
	}})
	f.node("n", 16)
	f.task("gang-1", "prod", "n", 8)
	f.task("gang-2", "prod", "n", 8)
	for _, key := range []string{"gang-1", "gang-2"} {
		id, _ := f.c.Lookup(key)
		task := f.c.Task(id)
		task.Job = "gang"
		_, err := f.c.SetTask(&task)
		require.NoError(t, err)
	}
	ask := f.ask("x", "prod", 1)
	ask.Priority = 1
	require.NoError(t, f.c.SetMinMembers("gang", 2))
	p := jobs.Planner{Cluster: f.c, Options: victims.Options{Audit: true}}
	var d victims.Decision
	require.NoError(t, p.Decide(&d, ask, now))
	require.Len(t, d.Plan.Ends, 1)
	text, err := json.Marshal(d)
	require.NoError(t, err)
	require.Contains(t, string(text), `"ends":[{"queue":"root.prod","type":"slots","amount":"1","guaranteed":"20"}]`)
	require.Contains(t, d.String(), "  root.prod ends at 1 of 20 slots\n  cost: ")

	var x victims.Explanation
	require.NoError(t, p.Explain(&x, ask, now))
	require.Contains(t, x.String(), "the asking queue, starving, root.prod ends at 1 of 20 slots\n")

	j := jobs.Planner{Cluster: f.c, Options: p.Options}
	var e victims.Decision
	require.NoError(t, j.Decide(&e, &victims.Ask{Key: "j", Queue: ask.Queue, Priority: 1, PendingSince: ask.PendingSince,
		Members: []victims.Member{{Key: "j-0", Size: resources.Vector{1}}}}, now))
	require.Equal(t, d.Plan.Ends, e.Plan.Ends)
	require.Contains(t, e.String(), "root.prod ends at 1 of 20 slots\n")

	p.Scarce = new(resources.Mask)
	require.NoError(t, p.Decide(&d, ask, now))
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Empty(t, d.Plan.Ends, "nothing is guaranteed in types that count")
	p.Scarce, ask.Size = nil, resources.Vector{16}
	require.NoError(t, p.Decide(&d, ask, now))
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Empty(t, d.Plan.Ends, "it ends at what it had")
}
