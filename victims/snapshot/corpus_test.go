// SPDX-License-Identifier: Apache-2.0

package snapshot_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// TestTake_Corpus takes a snapshot at every request of the scenario documents that
// decides something: of the cluster that those before it left, and of the
// planner that decides it. The snapshot is decided as the document is.
func TestTake_Corpus(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a second")
	}
	files, err := filepath.Glob("../../internal/judge/scenario/testdata/scenarios/*.json")
	require.NoError(t, err)
	kinds, moving := make(map[scenario.Kind]int), 0
	for _, file := range law.Some(files) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		doc, err := scenario.Parse(file, text)
		require.NoError(t, err)
		var answers []string
		done, err := doc.RunSeen(func(m *scenario.Moment) error {
			kinds[doc.Requests[m.Request].Kind]++
			shot, got := run(t, momentOf(doc, m))
			require.Empty(t, shot.Unsaid, "%s: request %d", file, m.Request)
			require.Len(t, got.Steps, 1)
			answers = append(answers, answer(got, 0))
			return nil
		})
		require.NoError(t, err)
		for _, s := range done.Steps {
			if s.Result == nil {
				continue
			}
			// The queues have the same places in the snapshot, so that the document's
			// cluster after everything gives their names as well.
			want := ""
			switch {
			case s.Asked != nil:
				want = s.Asked.Decision.String()
				moving += len(s.Asked.Decision.Plan.Moves)
			case s.Placed != nil:
				want = s.Placed.Decision.String()
				moving += len(s.Placed.Decision.Plan.Moves)
			case s.Enforced != nil:
				want = s.Enforced.Decision.String()
			}
			require.NotEmpty(t, answers)
			require.Equal(t, want, answers[0], "%s: request %d", file, s.Request)
			answers = answers[1:]
		}
		require.Empty(t, answers)
	}
	if len(law.Some(files)) == len(files) {
		require.Positive(t, moving)
	}
	for _, kind := range []scenario.Kind{scenario.KindAsk, scenario.KindJob, scenario.KindEnforceQuota} {
		require.Greater(t, kinds[kind], 40*len(law.Some(files))/len(files), "%v", kind)
	}
}

// momentOf returns the scene of a moment.
func momentOf(doc *scenario.Document, m *scenario.Moment) *snapshot.Scene {
	s := &snapshot.Scene{Name: doc.Name, Planner: m.Planner, Now: m.Now, Quotas: m.Quotas, Enforcer: m.Enforcer}
	switch {
	case m.Ask != nil:
		s.Asks = []victims.Ask{*m.Ask}
	case m.Job != nil:
		s.Planner, s.Asks = m.JobPlanner, []victims.Ask{*m.Job}
	default:
		s.Enforce = []queue.ID{m.Queue}
	}
	return s
}

// answer returns what was decided at a step.
func answer(r *snapshot.Run, i int) string {
	return r.Steps[i].String()
}
