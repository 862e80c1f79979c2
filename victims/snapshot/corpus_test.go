package snapshot_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// TestTake_Corpus takes a snapshot at every ask of the scenario documents, of the
// cluster that the requests before it left. It is decided as the document is.
// Left out are asks with ports, and documents with tolerations or fair shares:
// there the planner is the document's own.
func TestTake_Corpus(t *testing.T) {
	files, err := filepath.Glob("../../internal/scenario/testdata/scenarios/*.json")
	require.NoError(t, err)
	asks := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		doc, err := scenario.Parse(file, text)
		require.NoError(t, err)
		if doc.Options.Toleration || doc.Options.FairShares {
			continue
		}
		for i := range doc.Requests {
			if q := &doc.Requests[i]; q.Kind == scenario.KindAsk && q.Repeat == 0 && len(q.Ask.Ports) == 0 {
				sameAnswer(t, doc, i)
				asks++
			}
		}
	}
	require.Greater(t, asks, 200)
}

// sameAnswer decides request i of a document from a snapshot.
func sameAnswer(t *testing.T, doc *scenario.Document, i int) {
	before, upTo := *doc, *doc
	before.Requests, upTo.Requests = doc.Requests[:i], doc.Requests[:i+1]
	live, err := before.Run()
	require.NoError(t, err)
	c := live.After
	decided, err := upTo.Run()
	require.NoError(t, err)
	want := decided.Steps[len(decided.Steps)-1].Asked.Decision

	_, got := run(t, &snapshot.Scene{
		Name: doc.Name, Planner: plannerOf(doc, c, &doc.Requests[i]), Now: live.End, Asks: []victims.Ask{want.Plan.Ask},
	})
	require.Len(t, got.Steps, 1)
	require.Equal(t, c.Describe(&want), got.Before.Describe(got.Steps[0].Ask), "%s: request %d", doc.File, i)
}

// plannerOf returns a planner as the document describes it.
func plannerOf(doc *scenario.Document, c *victims.Cluster, q *scenario.Request) *victims.Planner {
	p := &victims.Planner{Cluster: c, StrictPriority: doc.Options.StrictPriority}
	switch doc.Options.OwnLeaf {
	case "met":
		p.OwnLeaf = victims.OwnMet
	case "any":
		p.OwnLeaf = victims.OwnAny
	}
	p.Minimum = func(job string) int {
		for _, m := range doc.JobMinimums {
			if m.Job == job {
				return m.Members
			}
		}
		return 0
	}
	p.Filter = func(_ *victims.Ask, n victims.NodeID) bool {
		for i := range doc.Nodes {
			if doc.Nodes[i].Name == c.NodeName(n) {
				return q.Ask.NodeSelector.Selects(&doc.Nodes[i])
			}
		}
		return false
	}
	return p
}
