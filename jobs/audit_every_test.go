// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// fields tells what a violation names: everything that is set, by field.
func fields(v victims.Violation) string {
	words := []string{v.Law}
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+"="+value)
		}
	}
	var said map[string]any
	text, err := json.Marshal(v)
	if err != nil || json.Unmarshal(text, &said) != nil {
		panic(err)
	}
	for _, name := range []string{"member", "victim", "job", "other", "node", "budget"} {
		if said[name] != nil {
			add(name, said[name].(string))
		}
	}
	add("queue", v.Queue)
	add("type", v.Type)
	if v.Have != 0 || v.Want != 0 {
		add("have", fmt.Sprintf("%d/%d", v.Have, v.Want))
	}
	return strings.Join(words, " ")
}

// unlike has two tasks with nothing in common, both of which have to go.
const unlike = "queue q g=9\nqueue low\nqueue lent\nnode n1 4\nnode n2 4\ntask v low n1 4 app=a\ntask w lent n2 4 app=b\njob q 4,4"

// For every law there is a plan that breaks it and no other one. What is said of it
// names who is at fault, and what there is beside what is wanted.
func TestAudit_EveryLaw(t *testing.T) {
	const (
		queues = "queue q\nqueue low\n"
		full   = queues + "node n1 4\ntask v low n1 4 "
		one    = "\njob q 4"
		// The job's queue is guaranteed what it asks for.
		promised = "queue q g=4\nqueue low\nnode n1 4\ntask v low n1 4\njob q 4"
	)
	byGuarantee := func(_ *town, _ *victims.Plan, a *victims.Auditor) { a.ByPriority = false }
	tested := map[string]bool{}
	type row struct {
		law        string
		town       string
		nodes      string
		victims    string
		spoil      func(w *town, p *victims.Plan, a *victims.Auditor)
		want       string
		afterwards bool // the law is told beside one that it brings about
	}
	tests := []row{
		{law: finding.LawKey, town: full + "\njob q 4,0", nodes: "n1 n1", victims: "v",
			spoil: func(_ *town, p *victims.Plan, _ *victims.Auditor) { p.Ask.Members[1].Key = "j0" }, want: "key member=j0"},
		{law: finding.LawLeaf, town: full + one, nodes: "n1", victims: "v",
			spoil: func(_ *town, p *victims.Plan, _ *victims.Auditor) { p.Ask.Queue = queue.Root }, want: "leaf queue=root"},
		{law: finding.LawSize, town: full + one, nodes: "n1", victims: "v",
			spoil: func(_ *town, p *victims.Plan, _ *victims.Auditor) { p.Ask.Members[0].Size = resources.Vector{0, 0, 7} },
			want:  "size member=j0 type=#2 have=7/0"},
		{law: finding.LawNode, town: full + one, nodes: "n1", victims: "v",
			spoil: func(_ *town, p *victims.Plan, _ *victims.Auditor) { p.Places[0].Node = 5 }, want: "node member=j0"},
		{law: finding.LawPlaced, town: full + "\njob q 4,0 min=1", nodes: "n1", victims: "v",
			spoil: func(_ *town, p *victims.Plan, _ *victims.Auditor) { p.Places = append(p.Places, p.Places[0]) },
			want:  "placed member=j0"},
		{law: finding.LawMinimum, town: full + "\njob q 4,0", nodes: "n1", victims: "v", want: "minimum have=1/2"},

		{law: finding.LawSchedulable, town: queues + "node n1 4 off\ntask v low n1 4" + one, nodes: "n1", victims: "v",
			want: "schedulable member=j0 node=n1"},
		{law: finding.LawReserved, town: queues + "node n1 4 for=x\ntask v low n1 4" + one, nodes: "n1", victims: "v",
			want: "reserved member=j0 node=n1"},
		{law: finding.LawFilter, town: full + one, nodes: "n1", victims: "v",
			spoil: func(_ *town, _ *victims.Plan, a *victims.Auditor) {
				a.Filter = func(*victims.Question) bool { return false }
			}, want: "filter member=j0 node=n1"},
		{law: finding.LawDomain, town: queues + "node n1 4 in=r1\nnode n2 4 in=r2\njob q 4,4 domain=1", nodes: "n1 n2",
			want: "domain member=j1 node=n2"},

		{law: finding.LawMayPreempt, town: full + "\njob q 4 never", nodes: "n1", victims: "v", want: "may-preempt"},
		// A job that must not be preempted may not go beyond the min: neither before the
		// plan nor after it, for no victim changes that.
		{law: finding.LawFormula, town: "queue q quota=3:9\nqueue low\nnode n1 4\ntask v low n1 4\njob q 4 fixed", nodes: "n1", victims: "v",
			want: "formula queue=root.q type=cpu have=4000/3000", afterwards: true},
		{law: finding.LawMember, town: full + "\ntask j1 q n1 0 p=3 job=j\njob q 4,0", nodes: "n1", victims: "v", want: "member-priority member=j1 have=3/10"},
		{law: finding.LawDelay, town: promised, nodes: "n1", victims: "v",
			spoil: func(_ *town, p *victims.Plan, a *victims.Auditor) {
				a.ByPriority, p.Ask.PendingSince = false, noon.Add(-20*time.Second)
			}, want: "delay have=20000000000/30000000000"},
		{law: finding.LawInterval, town: promised, nodes: "n1", victims: "v",
			spoil: func(_ *town, p *victims.Plan, a *victims.Auditor) {
				a.ByPriority, a.RetryInterval, p.Ask.LastAttempt = false, time.Minute, noon.Add(-time.Second)
			}, want: "interval have=1000000000/60000000000"},
		{law: finding.LawMax, town: "queue t max=3\nqueue t.q g=9\nqueue low\nqueue t.x\nnode n1 4\ntask v low n1 4\nnode n2 4\ntask x t.x n2 4\njob t.q 4", nodes: "n1", victims: "v",
			spoil: byGuarantee, want: "max queue=root.t type=cpu have=4000/3000", afterwards: true},
		{law: finding.LawTrigger, town: "queue q g=2\nqueue low\nnode n1 4\ntask v low n1 4\njob q 2,2", nodes: "n1 n1", victims: "v",
			spoil: byGuarantee, want: "trigger queue=root.q type=cpu have=2000/2000"},
		{law: finding.LawStorm, town: "queue t g=9\nqueue t.q\nqueue t.x\nnode n1 4\ntask v t.x n1 4\njob t.q 4", nodes: "n1", victims: "v",
			spoil: byGuarantee, want: "storm victim=v queue=root.t"},

		{law: finding.LawSurplus, town: "queue q g=4\nqueue low g=9\nnode n1 4\ntask v low n1 4\njob q 4", nodes: "n1", victims: "v",
			spoil: byGuarantee, want: "surplus victim=v queue=root.low type=cpu have=4000/9000", afterwards: true},
		{law: finding.LawHelpful, town: promised + "\nnode n2 4\ntask w low n2 4", nodes: "n1", victims: "v w",
			spoil: func(_ *town, _ *victims.Plan, a *victims.Auditor) {
				a.ByPriority, a.Predicate = false, func(p *victims.Question) bool { return len(p.Victims) == 2 }
			}, want: "helpful victim=w"},
		{law: finding.LawNearby, town: "queue t max=4\nqueue t.q g=4\nqueue t.x\nnode n1 4\nnode n2 4\ntask x t.x n2 4\njob t.q 4", nodes: "n1", victims: "x",
			spoil: func(_ *town, _ *victims.Plan, a *victims.Auditor) { a.ByPriority, a.VictimsOnNode = false, true }, want: "nearby victim=x"},
		{law: finding.LawOptedOut, town: "queue q\nqueue low\nnode n1 8\ntask v low n1 4 opted\ntask w low n1 4" + one, nodes: "n1", victims: "v",
			want: "opted-out victim=v other=w"},

		{law: finding.LawKnown, town: full + one, nodes: "n1", victims: "v",
			spoil: func(_ *town, p *victims.Plan, _ *victims.Auditor) {
				p.Victims = append(p.Victims, victims.Victim{Task: p.Victims[0].Task, Key: "w"})
			}, want: "known victim=w"},
		{law: finding.LawOnce, town: full + one, nodes: "n1", victims: "v v", want: "once victim=v"},
		{law: finding.LawLeaving, town: full + "state=releasing" + one, nodes: "n1", victims: "v", want: "leaving victim=v"},
		{law: finding.LawRequiredTask, town: full + "bound" + one, nodes: "n1", victims: "v", want: "required-task victim=v"},
		{law: finding.LawApplication, town: full + "app=j" + one, nodes: "n1", victims: "v", want: "application victim=v"},
		{law: finding.LawFence, town: "queue t policy=fence\nqueue t.q\nqueue low\nnode n1 4\ntask v low n1 4\njob t.q 4", nodes: "n1", victims: "v",
			want: "fence victim=v queue=root.low"},
		{law: finding.LawDisabled, town: "queue q\nqueue low policy=disabled\nnode n1 4\ntask v low n1 4" + one, nodes: "n1", victims: "v",
			want: "disabled victim=v queue=root.low"},
		{law: finding.LawNonPreemptible, town: full + "fixed" + one, nodes: "n1", victims: "v", want: "non-preemptible victim=v"},
		{law: finding.LawPriority, town: full + "p=10" + one, nodes: "n1", victims: "v", want: "priority victim=v have=10/9"},
		{law: finding.LawRefused, town: full + "refuses" + one, nodes: "n1", victims: "v", want: "refused victim=v"},
		{law: finding.LawExempt, town: full + "until=ever" + one, nodes: "n1", victims: "v", want: "exempt victim=v"},

		{law: finding.LawGuarantee, town: "queue q\nqueue low g=1\nnode n1 4\ntask v low n1 4" + one, nodes: "n1", victims: "v",
			want: "guarantee queue=root.low type=cpu have=0/1000"},
		{law: finding.LawBudget, town: "budget web 0 hard\n" + full + "web=web" + one, nodes: "n1", victims: "v",
			want: "budget budget=web have=1/0"},
		{law: finding.LawGang, town: full + "job=g\ntask w low n1 0 job=g\nkeep g 2" + one, nodes: "n1", victims: "v",
			want: "gang job=g have=1/2"},

		{law: finding.LawRoom, town: queues + "node n1 3" + one, nodes: "n1", want: "room node=n1 type=cpu have=3000/4000"},
		{law: finding.LawHeadroom, town: "queue q max=3\nnode n1 4" + one, nodes: "n1", want: "headroom queue=root.q type=cpu have=3000/4000"},
		{law: finding.LawQuota, town: "queue q quota=0:3\nnode n1 4" + one, nodes: "n1", want: "quota queue=root.q type=cpu have=4000/3000"},
		{law: finding.LawPredicate, town: full + one, nodes: "n1", victims: "v",
			spoil: func(_ *town, _ *victims.Plan, a *victims.Auditor) {
				a.Predicate = func(*victims.Question) bool { return false }
			},
			want: "predicate member=j0 node=n1"},
		{law: finding.LawMinimal, town: full + "\ntask w low n1 0" + one, nodes: "n1", victims: "v w", want: "minimal victim=w"},
	}
	for c := range rulebook.NumCaps {
		tests = append(tests, row{law: c.Entry().Word, town: unlike, nodes: "n1 n2", victims: "v w", want: c.Entry().Word + " have=2/1",
			spoil: func(_ *town, _ *victims.Plan, a *victims.Auditor) { *lent.To(&a.Options).Caps()[c] = 1 }})
	}
	for _, test := range tests {
		t.Run(test.law, func(t *testing.T) {
			w := build(t, test.town)
			p, a := w.plan(strings.Fields(test.nodes), strings.Fields(test.victims)...), w.auditor()
			if test.spoil != nil {
				p.Ask.Members = slices.Clone(p.Ask.Members)
				test.spoil(w, p, a)
			}
			found := a.Audit(nil, asDecision(p), noon)
			require.NotEmpty(t, found)
			require.Equal(t, test.want, fields(found[0]))
			require.Len(t, found, map[bool]int{false: 1, true: 2}[test.afterwards], "it breaks one law: %v", found)
			require.Regexp(t, "^"+test.law+`( \(law [1-7]\))?: `, found[0].String())
		})
		tested[test.law] = true
	}
	require.Len(t, tested, lawsOf(t), "a law that no plan breaks")
}

// A violation is an object for programs, with names and quantities, in the form of
// those of packages victims and quota.
func TestViolation_JSON(t *testing.T) {
	w := build(t, "queue q\nqueue low g=1\nnode n1 4\ntask v low n1 4 p=30\njob q 4")
	text, err := json.Marshal(w.auditor().Audit(nil, asDecision(w.plan([]string{"n1"}, "v")), noon))
	require.NoError(t, err)
	require.Equal(t, `[{"law":"priority","number":6,"victim":"v","have":"30","want":"9","complaint":"effective priority 30, want at most 9"},`+
		`{"law":"guarantee","number":2,"queue":"root.low","type":"cpu","have":"0","want":"1","complaint":"cpu 0 after the plan, want at least 1"}]`, string(text))
}

// Every plan of the same town is judged by itself: an auditor that has seen a bad
// one says nothing of it about the next.
func TestAudit_Again(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4\nnode n2 4\ntask v low n1 4 job=g\ntask w low n2 4 job=g\nkeep g 2\njob q 4")
	a := w.auditor()
	good, bad := w.plan([]string{"n1"}, "v", "w"), w.plan([]string{"n1"}, "v")
	kept := a.Audit(nil, asDecision(bad), noon)
	require.Len(t, kept, 1)
	for range 3 {
		require.Empty(t, a.Audit(nil, asDecision(good), noon))
		require.Equal(t, kept, a.Audit(nil, asDecision(bad), noon))
	}
	both := a.Audit(kept, asDecision(bad), noon)
	require.Equal(t, append(slices.Clone(kept), kept...), both, "what was there stays before it")
}

// If a plan breaks many laws all are said, in the order of the auditor: the nodes,
// what lets the job preempt, each victim, then sums.
func TestAudit_Order(t *testing.T) {
	w := build(t, "budget web 0 hard\nqueue q max=3\nqueue low g=9\nnode n1 8 off\n"+
		"task v low n1 4 p=30 web=web\ntask w low n1 1 bound\ntask x low n1 3 job=g\ntask y low n1 0 job=g\nkeep g 2\njob q 6,1 never")
	var got []string
	for _, v := range w.auditor().Audit(nil, asDecision(w.plan([]string{"n1", "n1"}, "w", "v", "x")), noon) {
		got = append(got, fields(v))
	}
	require.Equal(t, []string{
		"schedulable member=j0 node=n1", "schedulable member=j1 node=n1",
		"may-preempt",
		"required-task victim=w", "priority victim=v have=30/9",
		"guarantee queue=root.low type=cpu have=0/8000", // it was below 9 before
		"budget budget=web have=1/0",
		"gang job=g have=1/2",
		"headroom queue=root.q type=cpu have=3000/7000",
	}, got)
}

// lawsOf returns how many laws DESIGN.md names for jobs.
func lawsOf(t *testing.T) int {
	text, err := os.ReadFile("../DESIGN.md")
	require.NoError(t, err)
	list := regexp.MustCompile(`(?s)\* of jobs: (.*?);`).FindStringSubmatch(string(text))
	return len(regexp.MustCompile("`[a-z-]+`").FindAllString(list[1], -1))
}
