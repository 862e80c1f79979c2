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
	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// notDearer holds each part to what its asks would stop one after another: if all of them
// have places so, that does not cost less in the levels that can be summed up.
func (h *history) notDearer(j *joint) {
	c := h.cluster.Clone()
	inTurn := jobs.Planner{Cluster: c, Options: h.gangs.Options} // a planner must not be copied
	for i := range j.Parts {
		part := &j.Parts[i]
		all, applied := true, 0
		var sum victims.Cost
		for _, k := range part.Asks {
			var one joint
			h.must(decideAll(&inTurn, &one, j.Asks[k:k+1], h.o.Now))
			if all = all && len(one.Refused) == 0; !all {
				break
			}
			h.must(c.ApplyAll(one.all))
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
		d := part.Decision
		d.Plan.Version = c.Version()
		h.must(c.Apply(&d))
	}
}

// A joint is what was decided for several asks, by their numbers.
type joint struct {
	Asks    []victims.Ask
	Parts   []part
	Refused []refusedAsk
	Steps   int64
	all     []victims.Decision
}

type part struct {
	Asks []int
	victims.Decision
}

type refusedAsk struct {
	Ask     int
	Refusal victims.Refusal
}

// decideAll decides asks, and reads what is returned.
func decideAll(p *jobs.Planner, j *joint, asks []victims.Ask, now time.Time) (err error) {
	*j = joint{Asks: asks}
	if j.all, err = p.DecideAll(nil, asks, now); err != nil {
		return err
	}
	number := make(map[string]int)
	for i := range asks {
		number[asks[i].Key] = i
	}
	for _, d := range j.all {
		j.Steps += d.Plan.Steps
		if d.Outcome == victims.Refused {
			j.Refused = append(j.Refused, refusedAsk{number[d.Plan.Ask.Key], d.Refusal})
			continue
		}
		who := part{Decision: d}
		for i := range d.SharedBy {
			who.Asks = append(who.Asks, number[d.SharedBy[i].Key])
		}
		if len(who.Asks) == 0 {
			who.Asks = []int{number[d.Plan.Ask.Key]}
		}
		j.Parts = append(j.Parts, who)
	}
	return nil
}

// audit judges each decision for a clone with those before it applied, up to the first that
// breaks a law.
func (j *joint) audit(a *victims.Auditor) (found []victims.Violation) {
	original := a.Cluster
	defer func() { a.Cluster = original }()
	a.Cluster = original.Clone()
	for _, p := range j.Parts {
		if found = a.Audit(found, &p.Decision, p.Plan.At); len(found) > 0 {
			break
		}
		p.Plan.Version = a.Cluster.Version()
		if err := a.Cluster.Apply(&p.Decision); err != nil {
			panic(err)
		}
	}
	return found
}

// asks returns the members of the job of a town as asks.
func (w *town) asks() (asks []victims.Ask) {
	for i := range w.job.Members {
		m := &w.job.Members[i]
		asks = append(asks, victims.Ask{
			Key: m.Key, Application: w.job.Application, Queue: w.job.Queue, Priority: w.job.Priority, Size: m.Size, Class: m.Class,
			MayNotPreempt: w.job.MayNotPreempt,
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
func tellJoint(j *joint) string {
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
			"law 4: the fourth has no right, and in turn would have what the others need not stop", `
				queue a
				queue b g=3
				node n1 5
				task small a n1 2
				task large a n1 3
				job b 1,1,1,1
			`, "plan j0@n1 j1@n1 j2@n1 -large; j3: over-guarantee",
		},
		{
			"law 4: likewise where in turn the first takes the room of the second", `
				queue a
				queue b g=4
				node n1 3
				node n2 6
				task large a n2 5
				job b 1,3,3
			`, "fits j0@n2 j1@n1; j2: over-guarantee",
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
			var j joint
			require.NoError(t, decideAll(w.entitled(), &j, w.asks(), noon))
			require.Equal(t, test.want, tellJoint(&j))
			require.Equal(t, before, w.cluster.Version())
			require.Empty(t, j.audit(w.second()))
			require.NoError(t, w.cluster.ApplyAll(j.all))
			if len(j.Parts) == 0 {
				require.Equal(t, before, w.cluster.Version(), "refusals are passed over")
				return
			}
			require.ErrorIs(t, w.cluster.ApplyAll(j.all), victims.ErrStale)
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
		{func(a []victims.Ask) { a[2].Queue = 0 }, invalid.Queue},
		{func(a []victims.Ask) { a[1].Size[0] = -1 }, invalid.Amount},
	} {
		asks := w.asks()
		for i := range asks {
			asks[i].Size = append(asks[i].Size[:0:0], asks[i].Size...)
		}
		test.change(asks)
		j := joint{Parts: make([]part, 1)}
		require.ErrorIs(t, decideAll(w.entitled(), &j, asks, noon), test.want)
		require.Empty(t, j.Parts)
		require.Equal(t, before, w.cluster.Version())
	}
}

// What is alike to an ask that was refused is asked about once somebody between them was served: the
// victim of that one leaves more room than it takes.
func TestTogether_RefusedAlikeBefore(t *testing.T) {
	w := build(t, "queue a\nqueue b g=100\nnode n1 8\ntask v a n1 4\ntask w a n1 4\njob b 5,1,5")
	p := w.entitled()
	p.MaxVictims = 1
	all, err := p.DecideAll(nil, w.asks(), noon)
	require.NoError(t, err)
	var said []string
	for i := range all {
		said = append(said, fmt.Sprint(all[i].Plan.Ask.Key, " ", all[i].Outcome, " ", len(all[i].Plan.Victims)))
	}
	require.Equal(t, []string{"j0 refused 0", "j1 plan 1", "j2 plan 1"}, said)
}

// Functions see which ask it is: what they keep one from says nothing of another that is alike.
func TestTogether_RefusedAlikeByFunctions(t *testing.T) {
	for _, test := range []struct {
		say  string
		want string
		set  func(*jobs.Planner, victims.TaskID)
	}{
		{"blockers", "plan j1@n1 -v; j0: no-victims", func(p *jobs.Planner, kept victims.TaskID) {
			p.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
				if q.Member.Key == "j0" {
					dst = append(dst, kept)
				}
				return dst
			}
		}},
		{"exempt", "plan j1@n1 -v; j0: no-victims", func(p *jobs.Planner, _ victims.TaskID) {
			p.Exempt = func(q *victims.Question) (time.Time, bool) { return time.Time{}, q.Member.Key == "j0" }
		}},
		{"predicate", "plan j1@n1 -v; j0: predicate", func(p *jobs.Planner, _ victims.TaskID) {
			p.Predicate = func(q *victims.Question) bool { return q.Member.Key != "j0" }
		}},
	} {
		w := build(t, "queue a\nqueue b g=100\nqueue c policy=disabled\nnode n1 4\ntask v a n1 2\ntask kept c n1 2\njob b 2,2")
		kept, _ := w.cluster.Lookup("kept")
		p := w.entitled()
		test.set(p, kept)
		var j joint
		require.NoError(t, decideAll(p, &j, w.asks(), noon))
		require.Equal(t, test.want, tellJoint(&j), test.say)
	}
}

// Who is not preemptible is spared, also if somebody goes who opted out: the auditor lets an ask take either.
func TestTogether_NonPreemptible(t *testing.T) {
	w := build(t, "queue a\nqueue b g=100\nnode n1 4\ntask v a n1 2 opted\ntask w a n1 2 fixed\njob b 2")
	p := w.entitled()
	p.Admit = nil
	var j joint
	require.NoError(t, decideAll(p, &j, w.asks(), noon))
	require.Equal(t, "plan j0@n1 -v", tellJoint(&j))
	audit := victims.Auditor{Cluster: w.cluster, Options: p.Options}
	require.Empty(t, j.audit(&audit))
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &w.asks()[0], noon))
	require.Equal(t, "w", d.Plan.Victims[0].Key)
	require.Empty(t, audit.Audit(nil, &d, noon))
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
		_, err := w.cluster.GrantPlace(&granted, n1, time.Time{})
		require.NoError(t, err)
		var j joint
		require.NoError(t, decideAll(w.entitled(), &j, asks, noon))
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
			var j joint
			require.NoError(t, decideAll(p, &j, asks, noon))
			require.Equal(t, want+test.reason, tellJoint(&j))
			require.Equal(t, test.retry, j.Refused[0].Refusal.RetryAt)
			require.NoError(t, decideAll(p, &j, asks, test.retry))
			require.Equal(t, "plan j0@n1 j1@n1 j2@n1 -v0 -v1 -v2", tellJoint(&j))
		}
	}
}

// What is changed in a plan, the auditor finds.
func TestAudit_SharedBy(t *testing.T) {
	for _, test := range []struct {
		law    string
		change func(j *joint)
	}{
		{finding.LawKey, func(j *joint) { j.Parts[0].SharedBy[1].Key = "other" }},
		{finding.LawSize, func(j *joint) { j.Parts[0].SharedBy[1].Size[0] = 1 }},
		{finding.LawLeaf, func(j *joint) { j.Parts[0].SharedBy[0].Queue = 1 }},
		{finding.LawMember, func(j *joint) { j.Parts[0].SharedBy[0].Priority = 1 }},
		{finding.LawApplication, func(j *joint) { j.Parts[0].SharedBy[0].Application = "a" }},
		{finding.LawMayPreempt, func(j *joint) { j.Parts[0].SharedBy[0].MayNotPreempt = true }},
		{finding.LawDelay, func(j *joint) { j.Parts[0].SharedBy[0].PendingSince = noon.Add(time.Hour) }},
		{finding.LawNode, func(j *joint) { j.Parts[0].SharedBy[0].RequiredNode = "n1" }},
		{finding.LawPlaced, func(j *joint) { j.Parts[0].SharedBy = j.Parts[0].SharedBy[:1] }},
		{finding.LawKey, func(j *joint) { j.Parts[0].SharedBy[1] = j.Parts[0].SharedBy[0] }},
		{finding.LawPlaced, func(j *joint) { j.Parts = append(j.Parts, j.Parts[0]) }},
		{finding.LawRoom, func(j *joint) { j.Parts[0].Plan.Victims = nil }},
		{finding.LawTrigger, func(j *joint) { // the large one first
			for _, size := range []*int64{&j.Parts[0].SharedBy[0].Size[0], &j.Parts[0].Plan.Ask.Members[0].Size[0]} {
				*size = 3000
			}
			for _, size := range []*int64{&j.Parts[0].SharedBy[1].Size[0], &j.Parts[0].Plan.Ask.Members[1].Size[0]} {
				*size = 1000
			}
		}},
	} {
		w := build(t, "queue a\nqueue b g=3\nnode n1 4\ntask v a n1 4\njob b 2,2")
		var j joint
		require.NoError(t, decideAll(w.entitled(), &j, w.asks(), noon))
		require.Empty(t, j.audit(w.second()))
		test.change(&j)
		var laws []string
		for _, v := range j.audit(w.second()) {
			laws = append(laws, v.Law)
		}
		require.Contains(t, laws, test.law)
	}
}

// Decisions that were made for the same cluster are not applied one after another, and those that
// were made for a copy with the others applied are: all, or none.
func TestApplyAll(t *testing.T) {
	w := build(t, "queue a\nqueue b g=8\nnode n1 4\nnode n2 4\ntask v a n1 4\ntask w a n2 4\njob b 4,4")
	p, asks, before := w.entitled(), w.asks(), w.cluster.Version()
	first, err := p.DecideAll(nil, asks[:1], noon)
	require.NoError(t, err)
	second, err := p.DecideAll(nil, asks[1:], noon)
	require.NoError(t, err)
	require.ErrorIs(t, w.cluster.ApplyAll(append(first[:1:1], second...)), victims.ErrStale)
	require.Equal(t, before, w.cluster.Version(), "the first is taken back")

	c := w.cluster.Clone()
	require.NoError(t, c.ApplyAll(first))
	p.Cluster = c
	second, err = p.DecideAll(nil, asks[1:], noon)
	require.NoError(t, err)
	require.NoError(t, w.cluster.ApplyAll(append(first[:1:1], second...)))
	for _, key := range []string{"j0", "j1"} {
		g, _ := w.cluster.Grant(key)
		require.Len(t, g.Leaving, 1, key)
		_, waits := w.cluster.LookupGrant(key)
		require.True(t, waits, key)
	}
}

// Whoever fits is told in one plan, also if some of them have their places together only.
func TestTogether_FitsTogether(t *testing.T) {
	w := build(t, "queue b\nnode n1 4\nnode n2 2\nnode n3 2\njob b 2,4,2")
	p := w.entitled()
	p.Admit = nil // then one may follow others
	var j joint
	require.NoError(t, decideAll(p, &j, w.asks(), noon))
	require.Equal(t, "fits j0@n2 j1@n1 j2@n3", tellJoint(&j))
}
