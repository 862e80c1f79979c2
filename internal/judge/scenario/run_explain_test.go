// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/victims"
)

// Explanations are there when they are asked for, and change nothing else.
func TestRunExplained(t *testing.T) {
	docs := some(t, "scenarios")
	explained := 0
	for _, file := range slices.Sorted(maps.Keys(docs)) {
		doc, err := Parse(file, docs[file])
		require.NoError(t, err)
		plain, err := doc.Run()
		run, errExplained := doc.RunExplained()
		if err != nil {
			require.EqualError(t, errExplained, err.Error())
			continue
		}
		require.NoError(t, errExplained)
		var want, have bytes.Buffer
		require.NoError(t, plain.Report().Write(&want))
		require.NoError(t, run.Report().Write(&have))
		require.Equal(t, want.String(), have.String(), file)
		require.Len(t, run.Steps, len(plain.Steps))
		for i := range run.Steps {
			if asked := run.Steps[i].Asked; asked != nil {
				require.Nil(t, plain.Steps[i].Asked.Explanation)
				if len(asked.Decision.Plan.Moves) > 0 {
					require.Nil(t, asked.Explanation) // it would be of the cluster after the moves
					continue
				}
				require.Equal(t, asked.Decision, asked.Explanation.Decision)
				require.Len(t, asked.Explanation.Nodes, len(doc.Nodes))
				explained++
			}
		}
	}
	require.GreaterOrEqual(t, explained*len(corpus(t, "scenarios")), 150*len(docs))
}

// What an explanation says of law 4 is what decides: every type is short in a plan, of
// which nothing is inside E, and the one that a refusal names is not.
func TestRunExplained_Law4(t *testing.T) {
	if testing.Short() {
		t.Skip("it decides every document")
	}
	docs := corpus(t, "scenarios")
	plans, refused := 0, 0
	for _, file := range slices.Sorted(maps.Keys(docs)) {
		doc, err := Parse(file, docs[file])
		require.NoError(t, err)
		run, err := doc.RunExplained()
		require.NoError(t, err)
		tree := run.After.Tree()
		for _, step := range run.Steps {
			p := step.Placed
			if p == nil {
				continue
			}
			d := &p.Decision
			switch met := slices.IndexFunc(p.Law4, func(g Governed) bool { return g.Met() }); {
			case doc.Options.JobTrigger == byPriority:
				require.Empty(t, p.Law4, file)
			case d.Outcome == victims.Preempts && !d.Plan.WithinQueue:
				plans++
				require.NotEmpty(t, p.Law4, file)
				require.Equal(t, -1, met, file)
				for _, v := range p.Victims {
					require.False(t, tree.Contains(p.Needy, v.Queue), file)
				}
			case d.Refusal.Reason == "over-guarantee":
				refused++
				require.NotEqual(t, -1, met, file)
				require.Equal(t, d.Refusal.Queue, tree.Path(p.Law4[met].Queue), file)
				require.Equal(t, d.Refusal.Type, p.Law4[met].Type, file)
			case d.Refusal.Reason == "not-guaranteed":
				require.Empty(t, p.Law4, file)
			}
		}
	}
	require.Greater(t, plans, 15)
	require.Greater(t, refused, 5)
}

// An explanation is of the cluster as it was when the ask was decided.
func TestRunExplained_Before(t *testing.T) {
	doc, err := Parse("doc.json", []byte(small(ask("x", "5", ""))))
	require.NoError(t, err)
	run, err := doc.RunExplained()
	require.NoError(t, err)
	e := run.Steps[0].Asked.Explanation
	require.Equal(t, []string{"x running on n1 with cpu=5"}, tasks(run.After))
	require.Len(t, e.Tasks, 1)
	require.Equal(t, "v", e.Tasks[0].Key)
	require.True(t, e.Tasks[0].Victim)
}

// Of jobs and quotas, explanations say which law keeps whom: never a victim, and
// nobody unless they are asked for.
func TestRunExplained_Kept(t *testing.T) {
	if testing.Short() {
		t.Skip("it decides every document twice")
	}
	docs := corpus(t, "scenarios")
	byJobs, byQuotas := make(map[string]int), make(map[string]int)
	for _, file := range slices.Sorted(maps.Keys(docs)) {
		doc, err := Parse(file, docs[file])
		require.NoError(t, err)
		plain, err := doc.Run()
		if err != nil {
			continue
		}
		run, err := doc.RunExplained()
		require.NoError(t, err)
		for i := range run.Steps {
			s, silent := &run.Steps[i], &plain.Steps[i]
			if s.Placed != nil {
				require.Nil(t, silent.Placed.Kept)
				for _, v := range s.Placed.Kept {
					require.NotContains(t, s.Result.Victims, v.Victim, file)
					byJobs[v.Law]++
				}
			}
			if s.Enforced != nil {
				require.Nil(t, silent.Enforced.Kept)
				for _, v := range s.Enforced.Kept {
					require.NotContains(t, s.Result.Victims, v.Victim, file)
					byQuotas[v.Law]++
				}
			}
		}
	}
	for _, law := range []string{finding.LawPriority, finding.LawGuarantee, finding.LawNonPreemptible} {
		require.Positive(t, byJobs[law], law)
	}
	for _, law := range []string{finding.LawInside, finding.LawGuarantee} {
		require.Positive(t, byQuotas[law], law)
	}
	for _, law := range []string{
		finding.LawMinimal, finding.LawRoom, finding.LawHelpful, finding.LawNearby, finding.LawOptedOut, finding.LawSurplus,
	} {
		require.Zero(t, byJobs[law], "%s says nothing of one task, or what law 2 does", law)
	}
	require.Zero(t, byJobs[finding.LawKnown], "grants are no tasks")
}
