// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

// mustJudge carries out a document with judgements.
func mustJudge(t *testing.T, text string) *Run {
	t.Helper()
	doc, err := Parse("doc.json", []byte(text))
	require.NoError(t, err)
	run, err := doc.RunJudged()
	require.NoError(t, err)
	return run
}

// proposed is more of a request: somebody else's plan.
func proposed(plan string) string { return `, "then": "nothing", "proposed": ` + plan }

func TestRunJudged(t *testing.T) {
	for _, test := range []struct{ name, request, want string }{
		{"the same", ask("x", "5", proposed(`{"node": "n1", "victims": ["v"]}`)), "same"},
		{"a refusal", ask("x", "5", proposed(`{}`)), "refuses though lawful"},
		{"both refuse", ask("x", "50", proposed(`{}`)), "same"},
		{"a place", ask("x", "1", proposed(`{"node": "n2"}`)), "same"},
		{"victims for nothing", ask("x", "1", proposed(`{"node": "n1", "victims": ["v"]}`)), "dearer"},
		{"no room", ask("x", "5", proposed(`{"node": "n1"}`)), "breaks law room"},
		{"no node", ask("x", "5", proposed(`{"victims": ["v"]}`)), "breaks law node"},
		{"nobody", ask("x", "5", proposed(`{"node": "n1", "victims": ["v", "w"]}`)), "breaks law known"},
		{"law 4 and another", `{"ask": {"key": "x", "queue": "root.a", "application": "app-a", "resources": {"cpu": "5"}}` +
			proposed(`{"node": "n1", "victims": ["v"]}`) + `}`, "breaks law 3, 4, 7"},
		{"a job", job("j", "5", proposed(`{"victims": ["v"], "placements": {"j-0": "n1"}}`)), "same"},
		{"a job that is refused", job("j", "5", proposed(`{}`)), "refuses though lawful"},
		{"a job in the wrong place", job("j", "5", proposed(`{"victims": ["v"], "placements": {"j-0": "n2"}}`)), "breaks law helpful, room"},
		{"half a job", job("j", "5", proposed(`{"victims": ["v"]}`)), "breaks law minimum"},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := mustJudge(t, small(test.request)).Steps[0].Judged
			require.Equal(t, test.want, j.String(), "%+v", j)
			require.Equal(t, j.Verdict == Breaks, len(j.Broken) > 0)
		})
	}
}

// job is a request for a job of root.b with one member.
func job(name, cpu, more string) string {
	return `{"job": {"name": "` + name + `", "queue": "root.b", "application": "app-b", "priority": 1, "members": [` +
		`{"key": "` + name + `-0", "resources": {"cpu": "` + cpu + `"}}]}` + more + `}`
}

// Nothing is judged unless that is asked for, and judging changes nothing.
func TestRunJudged_Only(t *testing.T) {
	text := small(ask("x", "5", `, "proposed": {}`) + "," + ask("y", "50", ""))
	plain, judged := mustRun(t, text), mustJudge(t, text)
	require.Nil(t, plain.Steps[0].Judged)
	require.NotNil(t, judged.Steps[0].Judged)
	require.Nil(t, judged.Steps[1].Judged)
	require.Equal(t, plain.Report(), judged.Report())
	require.Equal(t, tasks(plain.After), tasks(judged.After))
}

// Proposals that cannot be judged are told where they are.
func TestRunJudged_Errors(t *testing.T) {
	for _, test := range []struct{ request, want string }{
		{ask("x", "5", `, "repeat": 2, "proposed": {}`), "doc.json: requests[0].proposed: bad value: it is not clear for which of the repeated asks this is"},
		{ask("x", "5", `, "proposed": {"placements": {"x": "n1"}}`), "doc.json: requests[0].proposed.placements: bad value: an ask has a node; placements are of a job"},
		{job("j", "5", `, "proposed": {"node": "n1"}`), "doc.json: requests[0].proposed.node: bad value: a job has placements; a node is of an ask"},
		{job("j", "5", `, "proposed": {"placements": {"j-1": "n1"}}`), "doc.json: requests[0].proposed.placements: bad value: not all of these are members of the job"},
		{`{"enforceQuota": {"queue": "root.a"}, "proposed": {"victims": ["v"]}}`, "doc.json: requests[0].proposed: bad value: plans of asks and jobs are judged, not those of quotas"},
	} {
		doc, err := Parse("doc.json", []byte(small(test.request)))
		require.NoError(t, err)
		_, err = doc.RunJudged()
		require.EqualError(t, err, test.want)
		_, err = doc.Run()
		require.NoError(t, err, "who does not judge does not mind")
	}
}

// What this library decides is judged to be the same, with the cost that it
// says; with a victim less it breaks a law; and to refuse is not lawful then.
func TestRunJudged_Ours(t *testing.T) {
	if testing.Short() {
		t.Skip("it judges every document many times")
	}
	docs := corpus(t, "scenarios")
	judged := 0
	for _, file := range slices.Sorted(maps.Keys(docs)) {
		if strings.Contains(string(docs[file]), `"moves"`) {
			continue // proposals have none
		}
		for i, p := range ours(t, file, docs[file]) {
			s := judgedWith(t, file, docs[file], i, p)
			require.Equal(t, Same, s.Judged.Verdict, "%s: request %d: %+v", file, i, s.Judged)
			require.Equal(t, s.Judged.Least, s.Judged.Cost, "%s: request %d", file, i)
			if len(p.Victims) > 0 {
				less := *p
				less.Victims = p.Victims[1:]
				require.Equal(t, Breaks, judgedWith(t, file, docs[file], i, &less).Judged.Verdict, "%s: request %d", file, i)
				judged++
			}
			require.Equal(t, Refuses, judgedWith(t, file, docs[file], i, &Proposal{}).Judged.Verdict, "%s: request %d", file, i)
		}
	}
	require.Greater(t, judged, 50)
}

// ours returns what this library does for each request of a document that can
// be judged, but for refusals.
func ours(t *testing.T, file string, data []byte) map[int]*Proposal {
	t.Helper()
	doc, err := Parse(file, data)
	require.NoError(t, err)
	run, err := doc.Run()
	if err != nil {
		return nil
	}
	all := make(map[int]*Proposal)
	for i := range run.Steps {
		s := &run.Steps[i]
		q := &doc.Requests[s.Request]
		if s.Result == nil || s.Enforced != nil || q.Repeat > 0 || s.Result.Outcome == OutcomeRefused {
			continue
		}
		p := &Proposal{Node: s.Result.Node}
		if s.Placed != nil {
			plan := &s.Placed.Decision.Plan
			p.Placements = make(map[string]string)
			for _, at := range plan.Places {
				p.Placements[plan.Ask.Members[at.Member].Key] = run.After.NodeName(at.Node)
			}
		}
		if p.none() && len(s.Result.Victims) == 0 {
			continue // a job with all members in place
		}
		for _, key := range s.Result.Victims {
			p.Victims = append(p.Victims, Ref{Key: key})
		}
		all[s.Request] = p
	}
	return all
}

// judgedWith judges one proposal for a document.
func judgedWith(t *testing.T, file string, data []byte, request int, p *Proposal) *Step {
	t.Helper()
	doc, err := Parse(file, data)
	require.NoError(t, err)
	for i := range doc.Requests {
		doc.Requests[i].Proposed = nil
	}
	doc.Requests[request].Proposed = p
	run, err := doc.RunJudged()
	require.NoError(t, err)
	at := slices.IndexFunc(run.Steps, func(s Step) bool { return s.Request == request })
	return &run.Steps[at]
}

// What a lawful plan comes to beside ours.
func TestJudged_Compare(t *testing.T) {
	one, two := &victims.Cost{Victims: 1}, &victims.Cost{Victims: 2}
	for _, test := range []struct {
		name    string
		theirs  victims.Outcome
		cost    *victims.Cost
		ours    victims.Outcome
		least   *victims.Cost
		own     bool
		verdict Verdict
	}{
		{"less", victims.Preempts, one, victims.Preempts, two, false, Cheaper},
		{"more", victims.Preempts, two, victims.Preempts, one, false, Dearer},
		{"as much", victims.Preempts, one, victims.Preempts, one, false, Same},
		{"another node", victims.Preempts, &victims.Cost{Victims: 1, Node: 3}, victims.Preempts, one, false, Same},
		{"a worse node", victims.Preempts, &victims.Cost{Victims: 1, NodePenalty: 3}, victims.Preempts, one, false, Dearer},
		{"where we refuse", victims.Preempts, two, victims.Refused, nil, false, Cheaper},
		{"instead of victims", victims.Waits, &victims.Cost{}, victims.Preempts, one, false, Cheaper},
		{"too late", victims.Waits, &victims.Cost{}, victims.Fits, &victims.Cost{}, false, Dearer},
		{"somewhere", victims.Fits, &victims.Cost{Node: 2}, victims.Fits, &victims.Cost{}, false, Same},
		{"of its own leaf", victims.Preempts, one, victims.Preempts, two, true, Dearer},
		{"unknown", victims.Refused, nil, victims.Preempts, two, false, Lawful},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, proven := range []bool{false, true} {
				j := &Judged{Outcome: test.theirs, Cost: test.cost, Least: test.least, OwnLeaf: test.own}
				j.compare(new(victims.Options), test.ours, proven)
				require.Equal(t, test.verdict, j.Verdict)
				require.Equal(t, proven && test.verdict == Cheaper, j.Defect())
				require.Equal(t, j.Defect(), j.Fails())
			}
		})
	}
}

// Selectors, ports, minimums of jobs and the option of the own leaf bind the
// plans of others.
func TestRunJudged_Rules(t *testing.T) {
	const text = `{
  "name": "rules",
  "queues": {"name": "root", "queues": [{"name": "a"}, {"name": "b", "resources": {"guaranteed": {"cpu": "100"}}}]},
  "nodes": [
    {"name": "n1", "capacity": {"cpu": "10"}, "labels": {"zone": "z"}},
    {"name": "n2", "capacity": {"cpu": "10"}},
    {"name": "n3", "capacity": {"cpu": "10"}, "labels": {"zone": "z"}}],
  "tasks": [
    {"key": "g-0", "queue": "root.a", "application": "g", "node": "n1", "resources": {"cpu": "5"}, "job": "g"},
    {"key": "g-1", "queue": "root.a", "application": "g", "node": "n1", "resources": {"cpu": "5"}, "job": "g"},
    {"key": "v2", "queue": "root.a", "application": "v", "node": "n2", "resources": {"cpu": "5"}},
    {"key": "p2", "queue": "root.a", "application": "v", "node": "n2", "resources": {"cpu": "5"}, "ports": ["80"]},
    {"key": "own", "queue": "root.b", "application": "o", "node": "n3", "resources": {"cpu": "5"}},
    {"key": "v3", "queue": "root.a", "application": "v", "node": "n3", "resources": {"cpu": "5"}, "ports": ["81"]}],
  "jobMinimums": {"g": 2},
  "requests": [{"ask": {"key": "x", "queue": "root.b", "application": "x", "resources": {"cpu": "5"}, "priority": 1%s}, "then": "nothing", "proposed": %s}],
  "options": {%s}}`
	for _, test := range []struct{ ask, proposed, options, law string }{
		{``, `{"node": "n1", "victims": ["g-0"]}`, ``, "breaks law gang"},
		{`, "nodeSelector": {"zone": "z"}`, `{"node": "n2", "victims": ["v2"]}`, ``, "breaks law filter"},
		{`, "ports": ["80"]`, `{"node": "n2", "victims": ["v2"]}`, ``, "breaks law blocker"},
		{``, `{"node": "n3", "victims": ["own"]}`, ``, "breaks law 7, storm"},
		{``, `{"node": "n3", "victims": ["own"]}`, `"ownLeaf": "met"`, "dearer"}, // others would do
		{``, `{"node": "n1", "victims": ["g-0", "g-1"]}`, ``, "dearer"},
		{`, "nodeSelector": {"zone": "z"}`, `{"node": "n3", "victims": ["v3"]}`, ``, "same"},
		{`, "ports": ["80"]`, `{"node": "n2", "victims": ["p2"]}`, ``, "same"},
		{`, "ports": ["80", "81"], "requiredNode": "n3"`, `{"node": "n3", "victims": ["v3"]}`, ``, "same"},
	} {
		j := mustJudge(t, fmt.Sprintf(text, test.ask, test.proposed, test.options)).Steps[0].Judged
		require.Equal(t, test.law, j.String(), "%+v", j)
	}
}
