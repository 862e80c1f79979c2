// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/victims"
	"github.com/stretchr/testify/require"
)

// TestLive: what a live planner decides about the first request of a document
// is what a run decides, twice as once. Live planners know no moves.
func TestLive(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.json"))
	require.NoError(t, err)
	decided := 0
	for _, file := range law.Some(files) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		doc, err := Parse(file, text)
		if err != nil || len(doc.Requests) == 0 || doc.Requests[0].Kind != KindAsk || doc.Requests[0].Repeat > 0 || doc.Options.movesFor() != "" {
			continue
		}
		run, err := doc.Run()
		if err != nil {
			continue
		}
		live, err := doc.Live()
		require.NoError(t, err, file)
		require.Equal(t, doc.Now, live.Now())
		var d victims.Decision
		for range 2 {
			planner, ask, err := live.Aim(doc.Requests[0].Ask)
			require.NoError(t, err, file)
			require.NoError(t, planner.Decide(&d, ask, live.Now()), file)
			want := &run.Steps[0].Asked.Decision
			require.Equal(t, want.Outcome, d.Outcome, file)
			require.Equal(t, want.Plan.Places, d.Plan.Places, file)
			require.Equal(t, want.Plan.Victims, d.Plan.Victims, file)
			require.Equal(t, want.Refusal.Reason, d.Refusal.Reason, file)
		}
		decided++
	}
	require.Positive(t, decided, "documents with an ask")
}
