// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// Every reason for a refusal once: what it counts, what a person reads and what a
// program does. Reasons that come before candidates are looked for count none.
func TestRefusal_EveryReason(t *testing.T) {
	const (
		queues = "queue q\nqueue low\n"
		full   = queues + "node n1 4\ntask v low n1 4 "
	)
	const promised = "queue q g=4\nqueue low\nnode n1 4\ntask v low n1 4\njob q 4"
	byGuarantee := func(*jobs.Planner, *victims.Ask) {}
	tested := map[string]bool{}
	type row struct {
		reason    string
		town      string
		predicate func(*victims.Question) bool
		change    func(p *jobs.Planner, j *victims.Ask) // of a job by guarantee
		brief     string
		lines     []string // after the first
	}
	tests := []row{
		{reason: "too-early", town: promised, change: func(p *jobs.Planner, j *victims.Ask) { j.PendingSince = noon.Add(-20 * time.Second) },
			brief: "refused too-early", lines: []string{"try again at " + noon.Add(10*time.Second).Format(time.RFC3339Nano)}},
		{reason: "too-soon", town: promised, change: func(p *jobs.Planner, j *victims.Ask) {
			p.RetryInterval, j.LastAttempt = time.Minute, noon.Add(-time.Second)
		},
			brief: "refused too-soon", lines: []string{"try again at " + noon.Add(59*time.Second).Format(time.RFC3339Nano)}},
		{reason: "over-max", town: "queue t max=3\nqueue t.q g=9\nqueue t.x\nqueue low\nnode n1 4\ntask v low n1 4\nnode n2 4\ntask x t.x n2 4\njob t.q 4",
			change: byGuarantee, brief: "refused over-max"},
		{reason: "not-guaranteed", town: full + "\njob q 4", change: byGuarantee, brief: "refused not-guaranteed"},
		{reason: "over-guarantee", town: "queue q g=2\nqueue low\nnode n1 4\ntask v low n1 4\njob q 2,2", change: byGuarantee, brief: "refused over-guarantee"},
		{reason: "headroom-inside", town: "queue q g=3 max=3\nqueue low\nnode n1 4\ntask v low n1 4\njob q 4", change: byGuarantee, brief: "refused headroom-inside"},
		{reason: victims.InFlight, town: full + "state=releasing\ngrant j0 q n1 4 job=j\njob q 4", brief: "refused in-flight"},
		{reason: "domain", town: full + "\njob q 4 domain=1", brief: "refused domain"},
		{reason: "quota-min", town: "queue q quota=3:\nqueue low\nnode n1 4\ntask v low n1 4\njob q 4 fixed", brief: "refused quota-min",
			lines: []string{"non-preemptible-min: root.q: cpu: 0 used and 4 asked for are above 3 by 1"}},
		{reason: "quota-max", town: "queue q quota=:3\nqueue low\nnode n1 4\ntask v low n1 4\njob q 4", brief: "refused quota-max",
			lines: []string{"preemptible-max: root.q: cpu: 0 used and 4 asked for are above 3 by 1"}},
		{reason: "may-not-preempt", town: full + "\njob q 4 never", brief: "refused may-not-preempt"},
		{reason: "nothing-in-reach", town: "queue q policy=disabled\nnode n1 4\ntask v q n1 4\njob q 4", brief: "refused nothing-in-reach"},
		{reason: "no-victims", town: full + "p=30\ntask w low n1 0/1\njob q 4,4", brief: "refused no-victims 1 priority 1 not-helping",
			lines: []string{"1 not lower in effective priority (priority)", "1 of no help with what is short (not-helping)",
				"not even the first of 2 members could be placed"}},
		{reason: "predicate", town: full + "\njob q 4", predicate: func(*victims.Question) bool { return false },
			brief: "refused predicate", lines: []string{"1 could be taken"}},
		{reason: victims.Unlawful, town: full + "\njob q 4", predicate: yesOnce(), brief: "refused unlawful"},
	}
	for c := range rulebook.NumCaps {
		tests = append(tests, row{reason: c.Entry().Word, town: unlike, brief: "refused " + c.Entry().Word,
			change: func(p *jobs.Planner, _ *victims.Ask) { *lent.To(&p.Options).Caps()[c] = 1 },
			lines:  []string{"2 could be taken", "the first 1 of 2 members could be placed"}})
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			w := build(t, test.town)
			p := w.planner()
			p.Predicate = test.predicate
			if test.change != nil {
				p.ByPriority = false
				test.change(p, &w.job)
			}
			var d victims.Decision
			require.NoError(t, p.Decide(&d, &w.job, noon))
			require.NoError(t, d.Count())
			require.Equal(t, test.reason, d.Refusal.Reason)
			require.Equal(t, test.brief, w.brief(&d))

			lines := strings.Split(strings.TrimSuffix(d.String(), "\n"), "\n")
			require.Contains(t, lines[0], "is refused ("+test.reason+"): ")
			for i := range lines[1:] {
				lines[1+i] = strings.TrimPrefix(lines[1+i], "  ")
			}
			require.Equal(t, test.lines, append([]string(nil), lines[1:]...))

			r, _ := reportOf(t, &d, w.cluster)
			require.Nil(t, r.Plan)
			require.Equal(t, test.reason, r.Refusal.Reason)
			require.Equal(t, strings.TrimSpace(lines[0]), r.Summary)
			require.Len(t, r.Refusal.Breaches, len(d.Refusal.Breaches))
			require.Equal(t, len(w.job.Members), r.Refusal.Wanted+placed(w))
			require.Empty(t, d.Plan.Places)
			require.Zero(t, d.Plan.Version)
			require.ErrorIs(t, w.cluster.Apply(&d), victims.ErrState, "a refusal is nothing to apply")
		})
		tested[test.reason] = true
	}
	for _, r := range rulebook.Reasons() {
		require.Equal(t, r != "unknown-node", tested[r], "nothing is refused for %v", r) // which is of asks
	}
}

// yesOnce is a predicate that changes its mind: the plan is found, and the audit is
// told something else.
func yesOnce() func(*victims.Question) bool {
	asked := 0
	return func(*victims.Question) bool { asked++; return asked < 2 }
}

// placed counts the members of a town's job that have a place.
func placed(w *town) (n int) {
	for _, m := range w.job.Members {
		if _, ok := w.cluster.Lookup(m.Key); ok {
			n++
		} else if _, ok := w.cluster.LookupGrant(m.Key); ok {
			n++
		}
	}
	return n
}

// A job that is refused for more than one reason is told the first: what victims
// cannot change comes before what they could.
func TestRefusal_Precedence(t *testing.T) {
	const full = "queue q quota=3:3 policy=disabled\nqueue low policy=disabled\nnode n1 4\ntask v low n1 4 state=preempting p=30\n"
	for _, test := range []struct{ town, want string }{
		{full + "grant j0 q n1 4 job=j\njob q 4 fixed never domain=1", "refused in-flight"},
		{full + "grant j0 q n1 4 job=j\njob q 4,4 fixed never domain=1", "refused domain"},
		{full + "job q 4 fixed never domain=1", "refused domain"},
		{full + "job q 4 fixed never", "refused quota-min"},
		{full + "job q 4 never", "refused quota-max"},
		{full + "task w low n1 4\njob q 3 never", "refused may-not-preempt"},
		{full + "task w low n1 4\njob q 3", "refused nothing-in-reach"},
	} {
		w := build(t, test.town)
		require.Equal(t, test.want, w.brief(w.decide()), test.town)
	}
}

// Every rule once, and each task once: at the first rule that keeps it, in the order
// of the constants. The last row is a task that all of them would keep.
func TestRefusal_EveryRule(t *testing.T) {
	const town = "budget web 0 hard\nqueue f policy=fence\nqueue f.q\nqueue f.low g=4\nqueue f.off policy=disabled\nqueue out\n" +
		"node n1 9\nnode n2 9/1 off\n"
	tested := map[string]bool{}
	for _, test := range []struct{ rule, tasks string }{
		{"leaving", "task v f.low n2 0 state=releasing"},
		{"required-node", "task v f.low n1 1 bound"},
		{"same-application", "task v f.low n1 1 app=j"},
		{"fence", "task v out n1 1"},
		{"disabled", "task v f.off n1 1"},
		{"non-preemptible", "task v f.low n1 1 fixed"},
		{"priority", "task v f.low n1 1 p=10"},
		{"refused", "task v f.low n1 1 refuses until=ever"},
		{"exempt", "task v f.low n1 1 until=ever"},
		{"gang", "task v f.low n1 1 job=g\ntask w f.low n1 0 bound job=g\nkeep g 2"},
		{"not-helping", "task v f.low n2 0/1"},
		{"budget", "task v f.low n1 1 web=web"},
		{"guarantee", "task v f.low n1 4"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := build(t, town+test.tasks+"\njob f.q 20")
			got := w.brief(w.decide())
			if test.rule == "gang" { // for one who is bound to its node
				got = strings.Replace(got, "1 required-node ", "", 1)
			}
			require.Equal(t, "refused no-victims 1 "+test.rule, got)
		})
		tested[test.rule] = true
	}
	t.Run("inside", func(t *testing.T) {
		w := build(t, "queue t g=30\nqueue t.q\nqueue t.x\nqueue low\nnode n1 9\ntask v t.x n1 1\njob t.q 20")
		p := w.planner()
		p.ByPriority = false
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &w.job, noon))
		require.NoError(t, d.Count())
		require.Equal(t, "refused no-victims 1 inside", w.brief(&d))
		tested["inside"] = true
	})
	for r := rulebook.Rule(1); r <= rulebook.RuleGuarantee; r++ { // those after it are of quotas
		require.True(t, tested[r.String()], "jobs/refuse_every_test.go: no task is kept by %v", r)
	}

	// What a task has of several rules, and which of them counts: the words of
	// each row are those of the row before without the first.
	for _, test := range []struct{ rule, task string }{
		{"leaving", "out n1 1 state=releasing bound app=j fixed p=10 refuses until=ever web=web"},
		{"required-node", "out n1 1 bound app=j fixed p=10 refuses until=ever web=web"},
		{"same-application", "out n1 1 app=j fixed p=10 refuses until=ever web=web"},
		{"fence", "out n1 1 fixed p=10 refuses until=ever web=web"},
		{"disabled", "f.off n1 1 fixed p=10 refuses until=ever web=web"},
		{"non-preemptible", "f.low n1 1 fixed p=10 refuses until=ever web=web"},
		{"priority", "f.low n1 1 p=10 refuses until=ever web=web"},
		{"refused", "f.low n1 1 refuses until=ever web=web"},
		{"exempt", "f.low n1 1 until=ever web=web"},
		{"budget", "f.low n1 1 web=web"},
	} {
		w := build(t, town+"task v "+test.task+"\njob f.q 20")
		require.Equal(t, "refused no-victims 1 "+test.rule, w.brief(w.decide()), test.task)
	}
}

// What is counted adds up: every task of the cluster is counted at one rule, or as a
// candidate, and a grant is no task.
func TestRefusal_CountsAll(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 9\ntask a low n1 1\ntask b low n1 1 p=30\ntask c low n1 1 fixed\ngrant x low n1 1\n"+
		"task d q n1 1 app=j\ntask e low n1 1\njob q 30,1")
	d := w.decide()
	total := d.Refusal.Candidates
	for _, n := range d.Refusal.Counts {
		total += n.Tasks
	}
	require.Equal(t, 5, total)
	require.Equal(t, 2, d.Refusal.Candidates)
	said, _ := reportOf(t, d, w.cluster)
	require.Equal(t, map[string]int{"priority": 1, "non-preemptible": 1, "same-application": 1}, said.Refusal.Counts)

	// Counts are in the order of rules in the text.
	text := d.String()
	var at []int
	for _, words := range []string{"of the job or its application", "not preemptible", "not lower", "could be taken", "of 2 members"} {
		at = append(at, strings.Index(text, words))
	}
	require.True(t, slices.IsSorted(at) && at[0] >= 0, "%v in %s", at, text)
}
