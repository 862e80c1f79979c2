// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of all plans that somebody could propose for the small documents, none is
// lawful and cheaper than ours, and each lawful one has a cost: the auditor and
// the planner agree, though they share no code.
func TestRunJudged_All(t *testing.T) {
	if testing.Short() {
		t.Skip("it judges every proposal for every document")
	}
	const mostTasks, mostRequests = 8, 6
	docs := corpus(t, "scenarios")
	verdicts := make(map[Verdict]int)
	for _, file := range slices.Sorted(maps.Keys(docs)) {
		doc, err := Parse(file, docs[file])
		require.NoError(t, err)
		if len(doc.Tasks) > mostTasks || len(doc.Requests) > mostRequests {
			continue
		}
		for i := range doc.Requests {
			doc.Requests[i].Proposed = nil
		}
		for i := range doc.Requests {
			for _, p := range proposals(doc, &doc.Requests[i]) {
				doc.Requests[i].Proposed = p
				run, err := doc.RunJudged()
				if err != nil {
					break // the document has mistakes that only show when it is run
				}
				s := run.Steps[slices.IndexFunc(run.Steps, func(s Step) bool { return s.Judged != nil })]
				verdicts[s.Judged.Verdict]++
				if v := s.Judged.Verdict; v == Cheaper || v == Lawful {
					t.Errorf("%s: request %d: %v: %+v; ours: %v", file, i, s.Judged, p, s.Result.Victims)
				}
			}
			doc.Requests[i].Proposed = nil
		}
	}
	t.Log(verdicts)
	require.Greater(t, verdicts[Same], 300)
	require.Greater(t, verdicts[Dearer], 150)
}

// proposals returns every plan for an ask, and for a job of one or two members,
// that takes tasks of the document.
func proposals(doc *Document, q *Request) (all []*Proposal) {
	var places []Proposal
	switch {
	case q.Kind == KindAsk && q.Repeat == 0:
		for i := range doc.Nodes {
			places = append(places, Proposal{Node: doc.Nodes[i].Name})
		}
	case q.Kind == KindJob && len(q.Job.Members) <= 2:
		for i := range doc.Nodes {
			for j := range doc.Nodes {
				first, last := &q.Job.Members[0], &q.Job.Members[len(q.Job.Members)-1]
				if first.Node != "" || last.Node != "" || first == last && i != j {
					continue
				}
				places = append(places, Proposal{Placements: map[string]string{first.Key: doc.Nodes[i].Name, last.Key: doc.Nodes[j].Name}})
			}
		}
	}
	for set := range 1 << len(doc.Tasks) {
		for _, p := range places {
			for i := range doc.Tasks {
				if set>>i&1 == 1 {
					p.Victims = append(p.Victims, Ref{Key: doc.Tasks[i].Key})
				}
			}
			all = append(all, &p)
		}
	}
	return all
}
