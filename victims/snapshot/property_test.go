// SPDX-License-Identifier: Apache-2.0

package snapshot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// everything is small worlds with all features.
var everything = world.Shape{Types: 3, Queues: 8, Depth: 4, Nodes: 4, Tasks: 10, Features: world.Everything}

// sceneOf returns the scene of a random case, over a cluster of its own.
func sceneOf(t require.TestingT, k *world.Case) *snapshot.Scene {
	c, err := world.Build(&k.World)
	require.NoError(t, err)
	ask, err := world.AskOf(c, &k.Ask)
	require.NoError(t, err)
	return &snapshot.Scene{Planner: world.CasePlanner(c, k), Now: k.Options.Now, Asks: []victims.Ask{ask}}
}

// decide returns what a planner says about the only ask of a scene.
func decide(t require.TestingT, s *snapshot.Scene) string {
	var d victims.Decision
	require.NoError(t, s.Planner.Decide(&d, &s.Asks[0], s.Now))
	require.NoError(t, d.Count())
	return d.String()
}

// taken is what Take returns.
type taken struct {
	Text   []byte
	Unsaid []string
}

// run takes a snapshot and decides it.
func run(t require.TestingT, s *snapshot.Scene) (shot taken, done *snapshot.Run) {
	var err error
	shot.Text, shot.Unsaid, err = snapshot.Take(s)
	require.NoError(t, err)
	run, err := snapshot.Read("snapshot", shot.Text)
	require.NoError(t, err, string(shot.Text))
	return shot, run
}

// TestTake_SameAnswer decides random clusters live and as documents. What a
// document cannot say of them is noted, and the others have the same answer.
func TestTake_SameAnswer(t *testing.T) {
	all, said, plans := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := sceneOf(t, world.Cases(everything).Draw(t, "case"))
		shot, run := run(t, s)
		all++
		if len(shot.Unsaid) > 0 {
			for _, u := range shot.Unsaid {
				require.Contains(t, []string{"exempt", "interval", "pending", "scarce", "scheduled"}, strings.FieldsFunc(u, func(r rune) bool { return r == ' ' || r == ':' })[0])
			}
			return
		}
		said++
		require.Len(t, run.Steps, 1)
		d := run.Steps[0]
		if d.Outcome == victims.Preempts {
			plans++
		}
		require.Equal(t, decide(t, s), d.String(), string(shot.Text))
	})
	if all < 100 {
		return // with -short there are too few to say anything of all
	}
	require.Greater(t, said, all/2, "of %d", all)
	require.Positive(t, plans)
}

// TestTake_Again takes a snapshot of what was read: nothing changes but what the
// functions of the first planner said.
func TestTake_Again(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sceneOf(t, world.Cases(everything).Draw(t, "case"))
		s.Planner = &jobs.Planner{Cluster: s.Planner.Cluster, Options: victims.Options{WithinQueue: s.Planner.WithinQueue}}
		s.Asks = nil
		first, run := run(t, s)
		s.Planner.Cluster = run.Before
		second, _, err := snapshot.Take(s)
		require.NoError(t, err)
		if len(first.Unsaid) == 0 {
			require.Equal(t, string(first.Text), string(second))
		}
	})
}
