// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// notDearer holds each part to what its asks would stop one after another: if all of them
// have places so, that does not cost less in the levels that can be summed up.
func (h *history) notDearer(j *jobs.Joint) {
	c := h.cluster.Clone()
	inTurn := jobs.Planner{Cluster: c, Options: h.gangs.Options} // a planner must not be copied
	for i := range j.Parts {
		part := &j.Parts[i]
		all, applied := true, 0
		var sum victims.Cost
		for _, k := range part.Asks {
			var one jobs.Joint
			h.must(inTurn.Together(&one, j.Asks[k:k+1], h.o.Now))
			if all = all && len(one.Refused) == 0; !all {
				break
			}
			h.must(one.Apply(c))
			applied++
			if got := &one.Parts[0].Plan.Cost; got.Victims > 0 {
				if sum.Victims == 0 {
					sum.MaxRank, sum.MaxPriority = got.MaxRank, got.MaxPriority
				}
				sum.OptedOut, sum.Overrun, sum.Originators = sum.OptedOut+got.OptedOut, sum.Overrun+got.Overrun, sum.Originators+got.Originators
				sum.MaxRank, sum.MaxPriority = max(sum.MaxRank, got.MaxRank), max(sum.MaxPriority, got.MaxPriority)
				sum.Jobs, sum.Own, sum.Victims = sum.Jobs+got.Jobs, sum.Own.Add(got.Own), sum.Victims+got.Victims
			}
		}
		got := &part.Plan.Cost
		dearer := cmp.Or(
			got.OptedOut-sum.OptedOut, cmp.Compare(got.Overrun, sum.Overrun), got.Originators-sum.Originators,
			cmp.Compare(got.MaxRank, sum.MaxRank), cmp.Compare(got.MaxPriority, sum.MaxPriority),
			got.Jobs-sum.Jobs, got.Own.Compare(sum.Own), got.Victims-sum.Victims,
		)
		// No victims are cheapest whatever a highest rank of none is.
		if all && dearer > 0 && got.Victims > 0 {
			h.Fatalf("part %d of %v costs %v, and in turn %v\n%v", i, j.Parts, got, &sum, h)
		}
		for range applied {
			h.must(c.Undo())
		}
		d := victims.Decision{Outcome: part.Outcome, Plan: part.Plan}
		d.Plan.Version = c.Version()
		h.must(c.Apply(&d))
	}
}

// asks returns the members of the job of a town as asks.
func (w *town) asks() (asks []victims.Ask) {
	for i := range w.job.Members {
		m := &w.job.Members[i]
		asks = append(asks, victims.Ask{
			Key: m.Key, Application: w.job.Application, Queue: w.job.Queue, Priority: w.job.Priority, Size: m.Size, Class: m.Class,
			NeverPreempts: w.job.NeverPreempts,
		})
	}
	return asks
}

// entitled and second are the planner and the auditor of the town, by guarantee.
func (w *town) entitled() *jobs.Planner {
	p := w.planner()
	p.ByPriority = false
	return p
}

func (w *town) second() *victims.Auditor {
	a := w.auditor()
	a.ByPriority = false
	return a
}

// tellJoint writes what was decided as "plan j0@n1 j1@n1 [v]; j2: no-victims".
func tellJoint(j *jobs.Joint) string {
	var told []string
	for i := range j.Parts {
		part := &j.Parts[i]
		words := []string{part.Outcome.String()}
		for _, at := range part.Plan.Places {
			words = append(words, at.Key+"@"+at.NodeName)
		}
		for _, v := range part.Plan.Victims {
			words = append(words, "-"+v.Key)
		}
		told = append(told, strings.Join(words, " "))
	}
	for i := range j.Refused {
		told = append(told, fmt.Sprintf("%s: %v", j.Asks[j.Refused[i].Ask].Key, j.Refused[i].Refusal.Reason))
	}
	return strings.Join(told, "; ")
}

func TestTogether(t *testing.T) {
	const pair = `
		queue a
		queue b g=100
		node n1 8
		node n2 4
		task small1 a n1 2
		task small2 a n1 2
		task large a n2 4
		task rest a n1 4 p=20
	`
	for _, test := range []struct{ name, town, want string }{
		{"they share a large one", pair + "job b 2,2", "plan j0@n2 j1@n2 -large"},
		{"alone it takes the small one", pair + "job b 2", "plan j0@n1 -small1"},
		{"the second is too large for all of them", pair + "job b 2,9,2", "plan j0@n2 j2@n2 -large; j1: no-victims"},
		{"nobody loses the place to a later one", pair + "job b 4,4,4", "plan j0@n1 j1@n2 -large -small1 -small2; j2: no-victims"},
		{"who may not preempt has room only", pair + "job b 2,2 never", "j0: may-not-preempt; j1: may-not-preempt"},
		{"other types, another part", strings.ReplaceAll(pair, "n1 8", "n1 8/1") + "job b 2,2,0/1", "plan j0@n2 j1@n2 -large; fits j2@n1"},
		{
			"law 4: each triggers as if those before it were granted", strings.ReplaceAll(pair, "g=100", "g=3") + "job b 2,2,1",
			"plan j0@n2 j1@n2 -large; j2: over-guarantee",
		},
		{
			"law 4: the order counts, and not which is the largest", strings.ReplaceAll(pair, "g=100", "g=3") + "job b 3,1",
			"plan j0@n2 -large; waits j1@n2",
		},
		{
			"law 2: on the final state", `
				queue top g=8
				queue top.a
				queue top.b g=8
				node n1 8
				task large top.a n1 8
				job top.b 4,4
			`, "plan j0@n1 j1@n1 -large",
		},
		{
			"law 2: those that cannot be served take no place from those that can", `
				queue top g=8
				queue top.a
				queue top.b g=8
				node n1 8
				task large top.a n1 8
				job top.b 4,4,9,9,9,9
			`, "plan j0@n1 j1@n1 -large; j2: over-guarantee; j3: over-guarantee; j4: over-guarantee; j5: over-guarantee",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, test.town)
			before := w.cluster.Version()
			var j jobs.Joint
			require.NoError(t, w.entitled().Together(&j, w.asks(), noon))
			require.Equal(t, test.want, tellJoint(&j))
			require.Equal(t, before, w.cluster.Version())
			require.Empty(t, j.Audit(w.second(), nil, noon))
			if len(j.Parts) == 0 {
				require.ErrorIs(t, j.Apply(w.cluster), victims.ErrState)
				return
			}
			require.NoError(t, j.Apply(w.cluster))
			require.ErrorIs(t, j.Apply(w.cluster), victims.ErrStale)
			for range j.Parts {
				require.NoError(t, w.cluster.Undo())
			}
			require.Equal(t, before, w.cluster.Version())
		})
	}
}

func TestTogether_Errors(t *testing.T) {
	w := build(t, "queue a\nqueue b g=100\nnode n1 8\ntask v a n1 8\njob b 2,2,2")
	before := w.cluster.Version()
	for _, test := range []struct {
		change func(a []victims.Ask)
		want   error
	}{
		{func(a []victims.Ask) { a[2].RequiredNode = "n1" }, victims.ErrState},
		{func(a []victims.Ask) { a[1].Members = []victims.Member{{Key: "m"}} }, victims.ErrState},
		{func(a []victims.Ask) { a[2].Key = "j0" }, victims.ErrDuplicate},
		{func(a []victims.Ask) { a[2].Key = "v" }, victims.ErrDuplicate},
		{func(a []victims.Ask) { a[2].Queue = 0 }, victims.ErrQueue},
		{func(a []victims.Ask) { a[1].Size[0] = -1 }, victims.ErrAmount},
	} {
		asks := w.asks()
		for i := range asks {
			asks[i].Size = append(asks[i].Size[:0:0], asks[i].Size...)
		}
		test.change(asks)
		j := jobs.Joint{Parts: make([]jobs.Part, 1)}
		require.ErrorIs(t, w.entitled().Together(&j, asks, noon), test.want)
		require.Empty(t, j.Parts)
		require.Equal(t, before, w.cluster.Version())
	}
}

// An ask that holds a grant is refused, wherever it stands, and the others go on.
func TestTogether_Held(t *testing.T) {
	for held, want := range []string{
		"plan j1@n1 j2@n1 -v; j0: in-flight", "plan j0@n1 j2@n1 -v; j1: in-flight", "plan j0@n1 j1@n1 -v; j2: in-flight",
	} {
		w := build(t, "queue a\nqueue b g=100\nnode n1 8\ntask v a n1 4\njob b 2,2,2")
		asks := w.asks()
		n1, _ := w.cluster.LookupNode("n1")
		granted := asks[held]
		granted.Job = "another" // it may have changed since
		_, err := w.cluster.Reserve(&granted, n1, time.Time{})
		require.NoError(t, err)
		var j jobs.Joint
		require.NoError(t, w.entitled().Together(&j, asks, noon))
		require.Equal(t, want, tellJoint(&j))
	}
}

// Each ask waits for its own delay and interval. Those after it do not wait for them.
func TestTogether_Early(t *testing.T) {
	for _, test := range []struct {
		change func(a *victims.Ask)
		reason string
		retry  time.Time
	}{
		{func(a *victims.Ask) { a.PendingSince = noon }, "too-early", noon.Add(30 * time.Second)},
		{func(a *victims.Ask) { a.LastAttempt = noon.Add(-time.Second) }, "too-soon", noon.Add(59 * time.Second)},
	} {
		for early, want := range []string{"plan j1@n1 j2@n1 -v0 -v1; j0: ", "plan j0@n1 j2@n1 -v0 -v1; j1: ", "plan j0@n1 j1@n1 -v0 -v1; j2: "} {
			w := build(t, "queue a\nqueue b g=100\nnode n1 6\ntask v0 a n1 2\ntask v1 a n1 2\ntask v2 a n1 2\njob b 2,2,2")
			asks, p := w.asks(), w.entitled()
			p.RetryInterval = time.Minute
			test.change(&asks[early])
			var j jobs.Joint
			require.NoError(t, p.Together(&j, asks, noon))
			require.Equal(t, want+test.reason, tellJoint(&j))
			require.Equal(t, test.retry, j.Refused[0].Refusal.RetryAt)
			require.NoError(t, p.Together(&j, asks, test.retry))
			require.Equal(t, "plan j0@n1 j1@n1 j2@n1 -v0 -v1 -v2", tellJoint(&j))
		}
	}
}

// What is changed in a plan, the auditor finds.
func TestAuditJoint(t *testing.T) {
	for _, test := range []struct {
		law    string
		change func(j *jobs.Joint)
	}{
		{finding.LawKey, func(j *jobs.Joint) { j.Asks[1].Key = "other" }},
		{finding.LawSize, func(j *jobs.Joint) { j.Asks[1].Size[0] = 1 }},
		{finding.LawLeaf, func(j *jobs.Joint) { j.Asks[0].Queue = 1 }},
		{finding.LawMember, func(j *jobs.Joint) { j.Asks[0].Priority = 1 }},
		{finding.LawApplication, func(j *jobs.Joint) { j.Asks[0].Application = "a" }},
		{finding.LawMayPreempt, func(j *jobs.Joint) { j.Asks[0].NeverPreempts = true }},
		{finding.LawDelay, func(j *jobs.Joint) { j.Asks[0].PendingSince = noon.Add(time.Hour) }},
		{finding.LawNode, func(j *jobs.Joint) { j.Asks[0].RequiredNode = "n1" }},
		{finding.LawPlaced, func(j *jobs.Joint) { j.Parts[0].Asks = j.Parts[0].Asks[:1] }},
		{finding.LawPlaced, func(j *jobs.Joint) { j.Parts[0].Asks[1] = 0 }},
		{finding.LawPlaced, func(j *jobs.Joint) { j.Parts = append(j.Parts, j.Parts[0]) }},
		{finding.LawRoom, func(j *jobs.Joint) { j.Parts[0].Plan.Victims = nil }},
		{finding.LawTrigger, func(j *jobs.Joint) { // the large one first
			for _, size := range []*int64{&j.Asks[0].Size[0], &j.Parts[0].Plan.Ask.Members[0].Size[0]} {
				*size = 3000
			}
			for _, size := range []*int64{&j.Asks[1].Size[0], &j.Parts[0].Plan.Ask.Members[1].Size[0]} {
				*size = 1000
			}
		}},
	} {
		w := build(t, "queue a\nqueue b g=3\nnode n1 4\ntask v a n1 4\njob b 2,2")
		var j jobs.Joint
		require.NoError(t, w.entitled().Together(&j, w.asks(), noon))
		require.Empty(t, j.Audit(w.second(), nil, noon))
		test.change(&j)
		var laws []string
		for _, v := range j.Audit(w.second(), nil, noon) {
			laws = append(laws, v.Law)
		}
		require.Contains(t, laws, test.law)
	}
}
