// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// auditor returns an auditor of the town with the options of its planner.
func (w *town) auditor() *victims.Auditor {
	p := w.planner()
	return &victims.Auditor{Cluster: p.Cluster, Options: victims.Options{Exempt: p.Exempt, ByPriority: p.ByPriority, Admit: p.Admit}}
}

// plan returns a plan of one's own: members on nodes, and victims by key.
func (w *town) plan(nodes []string, keys ...string) *victims.Plan {
	p := &victims.Plan{Ask: w.job}
	for i, name := range nodes {
		if name == "" {
			continue
		}
		n, ok := w.cluster.LookupNode(name)
		require.True(w, ok, name)
		p.Places = append(p.Places, victims.Place{Member: i, Node: n})
	}
	for _, key := range keys {
		id, _ := w.cluster.Lookup(key)
		p.Victims = append(p.Victims, victims.Victim{Task: id, Key: key})
	}
	return p
}

// Each row is a plan, and what is wrong with it.
func TestAudit(t *testing.T) {
	const (
		queues = "queue q\nqueue low\n"
		n1     = "node n1 4\n"
		full   = queues + n1 + "task v low n1 4 "
		one    = "\njob q 4 "
	)
	on := func(nodes ...string) []string { return nodes }
	for _, test := range []struct {
		name, town string
		nodes      []string
		victims    []string
		want       []string
	}{
		{"lawful", full + one, on("n1"), on("v"), nil},
		{"without victims", queues + n1 + "job q 4", on("n1"), nil, nil},
		{"a member that no node is given to", full + "\njob q 4,4", on("n1"), on("v"),
			[]string{"minimum: 1 members of the minimum, want exactly 2"}},
		{"not the first members", queues + "node n1 8\njob q 4,4 min=1", on("", "n1"), nil,
			[]string{"placed: member j1: no member without a place, or placed before"}},
		{"a member that runs", full + "\nnode n2 4\ntask j0 q n2 4 job=j\njob q 4,4", on("n2", "n1"), on("v"),
			[]string{"placed: member j0: no member without a place, or placed before"}},
		{"unschedulable", queues + "node n1 4 off\njob q 4", on("n1"), nil, []string{"schedulable: member j0: node n1: takes no new tasks"}},
		{"reserved", queues + "node n1 4 for=x\njob q 4", on("n1"), nil, []string{"reserved: member j0: node n1: reserved for another"}},
		{"must not", full + "\njob q 4 never", on("n1"), on("v"), []string{"may-preempt: the job must not preempt"}},
		{"trigger by the min", "queue q quota=3:9\nqueue low\n" + n1 + "task v low n1 4\njob q 4 fixed", on("n1"), on("v"),
			[]string{"formula: root.q: cpu 4 before the plan, want at most 3", "quota: root.q: cpu 4 after the plan, want at most 3"}},
		{"trigger by the max", "queue q quota=0:7\n" + n1 + "task v q n1 4\njob q 4", on("n1"), on("v"),
			[]string{"formula: root.q: cpu 8 before the plan, want at most 7"}},
		{"no task", full + one, on("n1"), on("v", "x"), []string{"known: victim x: no task of this row and key"}},
		{"twice", full + one, on("n1"), on("v", "v"), []string{"once: victim v: named before"}},
		{"leaving", full + "state=releasing" + one, on("n1"), on("v"), []string{"leaving: victim v: leaving already"}},
		{"bound", full + "bound" + one, on("n1"), on("v"), []string{"required-task: victim v: can run on its node only"}},
		{"application", full + "app=j" + one, on("n1"), on("v"), []string{"application (law 3): victim v: of the job, or of its application"}},
		{"its own", full + "job=j" + one, on("n1"), on("v"), []string{"application (law 3): victim v: of the job, or of its application"}},
		{"fence", "queue t policy=fence\nqueue t.q\nqueue low\n" + n1 + "task v low n1 4\njob t.q 4", on("n1"), on("v"), []string{"fence (law 7): victim v: root.low: out of reach"}},
		{"own leaf", "queue q policy=fence\n" + n1 + "task v q n1 4" + one, on("n1"), on("v"), nil},
		{"disabled", "queue q\nqueue low policy=disabled\n" + n1 + "task v low n1 4" + one, on("n1"), on("v"), []string{"disabled: victim v: root.low: preemption is disabled"}},
		{"not preemptible", full + "fixed" + one, on("n1"), on("v"), []string{"non-preemptible: victim v: no job may take it"}},
		{"equal priority", full + "p=10" + one, on("n1"), on("v"), []string{"priority (law 6): victim v: effective priority 10, want at most 9"}},
		{"lifted priority", "queue q offset=-3\nqueue low priority=fence offset=7\n" + n1 + "task v low n1 4 p=-99" + one, on("n1"), on("v"),
			[]string{"priority (law 6): victim v: effective priority 7, want at most 6"}},
		{"exempt", full + "until=1s" + one, on("n1"), on("v"), []string{"exempt: victim v: exempt"}},
		{"exempt until now", full + "until=0s" + one, on("n1"), on("v"), nil},
		{"guarantee", "queue q\nqueue low g=1\n" + n1 + "task v low n1 4" + one, on("n1"), on("v"),
			[]string{"guarantee (law 2): root.low: cpu 0 after the plan, want at least 1"}},
		{"half of a gang", full + "job=g\ntask w low n1 0 job=g\nkeep g 2" + one, on("n1"), on("v"),
			[]string{"gang: job g: 1 members run on, want at least 2"}},
		{"all of a gang", full + "job=g\ntask w low n1 0 job=g\nkeep g 2" + one, on("n1"), on("v", "w"), nil},
		{"a gang with a grant", full + "job=g\ngrant w low n1 0 job=g\nkeep g 1" + one, on("n1"), on("v"), nil},
		{"room", queues + n1 + "task v low n1 3 fixed" + one, on("n1"), nil, []string{"room: node n1: cpu 1 free, want at least 4"}},
		{"room for both", queues + n1 + "job q 3,3", on("n1", "n1"), nil, []string{"room: node n1: cpu 4 free, want at least 6"}},
		{"headroom", "queue q max=3\n" + n1 + "job q 4", on("n1"), nil, []string{"headroom: root.q: cpu 3 of headroom, want at least 4"}},
		{"quota", "queue q quota=3:5 waiting=2\n" + n1 + "job q 4", on("n1"), nil, []string{"quota: root.q: cpu 6 after the plan, want at most 5"}},
		{"quota of the non-preemptible", "queue q quota=9:3\n" + n1 + "job q 4 fixed", on("n1"), nil, []string{"quota: root.q: cpu 4 after the plan, want at most 3"}},
		{"more than needed", full + "\ntask w low n1 0\njob q 4", on("n1"), on("v", "w"), []string{"minimal: victim w: can be given back"}},
		{"a whole gang more than needed", full + "job=g\nnode n2 4\ntask w low n2 4 job=g\nkeep g 2\njob q 4", on("n2"), on("v", "w"), nil},
		{"a whole gang for nothing", full + "job=g\nnode n2 4\ntask w low n1 0 job=g\nkeep g 2\njob q 4", on("n2"), on("v", "w"),
			[]string{"minimal: job g: can be given back"}},
		{"a whole gang where its surplus would do", full + "job=g\ntask w low n1 0 job=g\nkeep g 1\njob q 4", on("n1"), on("v", "w"),
			[]string{"minimal: job g: can be given back"}},
		{"a whole gang where one on the node would do", full + "job=g\nnode n2 2\ntask u low n2 1 job=g\ntask w low n2 1 job=g\nkeep g 1\njob q 4", on("n1"), on("u", "v", "w"),
			[]string{"minimal: job g: can be given back"}},
		{"a whole gang for one on the node", full + "job=g\nnode n2 2\ntask u low n2 1 job=g\ntask w low n2 1 job=g\nkeep g 3\njob q 4", on("n1"), on("u", "v", "w"), nil},
		{"a whole gang where its largest member would do", queues + "node n1 8\ntask u low n1 4 job=g\ntask v low n1 2 job=g\ntask w low n1 2 job=g\nkeep g 2\njob q 4",
			on("n1"), on("u", "v", "w"), []string{"minimal: job g: can be given back"}},
		{"a whole gang where no member would do", queues + "node n1 8\ntask u low n1 3 job=g\ntask v low n1 3 job=g\ntask w low n1 2 job=g\nkeep g 2\njob q 4",
			on("n1"), on("u", "v", "w"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, test.town)
			var got []string
			for _, v := range w.auditor().Audit(nil, asDecision(w.plan(test.nodes, test.victims...)), noon) {
				got = append(got, v.String())
			}
			require.Equal(t, test.want, got)
		})
	}
}

// A job that is none is all that is said.
func TestAudit_NoPlan(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*victims.Plan)
		want  string
	}{
		{"name", func(p *victims.Plan) { p.Ask.Key = "" }, "key: no name, or one that another member has"},
		{"key", func(p *victims.Plan) { p.Ask.Members[1].Key = "j0" }, "key: member j0: no name, or one that another member has"},
		{"no leaf", func(p *victims.Plan) { p.Ask.Queue = queue.Root }, "leaf: root: the job is of no leaf queue"},
		{"no queue", func(p *victims.Plan) { p.Ask.Queue = -5 }, "leaf: the job is of no leaf queue"},
		{"size", func(p *victims.Plan) { p.Ask.Members[1].Size = resources.Vector{0, -1} }, "size: member j1: gpu -1 asked, want between 0 and 9223372036854775807"},
		{"unknown type", func(p *victims.Plan) { p.Ask.Members[1].Size = resources.Vector{0, 0, 1} }, "size: member j1: #2 1 asked, want between 0 and 0"},
		{"sum", func(p *victims.Plan) { p.Ask.Members[1].Size = resources.Vector{math.MaxInt64} },
			"size: member j1: cpu 9223372036854775.807 asked, want between 0 and 9223372036854771.807"},
		{"node", func(p *victims.Plan) { p.Places[0].Node = 7 }, "node: member j0: no node of this row"},
		{"the zero node", func(p *victims.Plan) { p.Places[0].Node = 0 }, "node: member j0: no node of this row"},
		{"node below zero", func(p *victims.Plan) { p.Places[0].Node = -1 }, "node: member j0: no node of this row"},
		{"member", func(p *victims.Plan) { p.Places[0].Member = 9 }, "placed: no member without a place, or placed before"},
		{"member twice", func(p *victims.Plan) { p.Places[1].Member = 0 }, "placed: member j0: no member without a place, or placed before"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, "queue q\nqueue low\nnode n1 8\ntask v low n1 2\njob q 2,0")
			p := w.plan([]string{"n1", "n1"})
			test.spoil(p)
			found := w.auditor().Audit(nil, asDecision(p), noon)
			require.NotEmpty(t, found)
			require.Equal(t, test.want, found[0].String())
			for _, v := range found {
				require.Equal(t, found[0].Law, v.Law)
			}
		})
	}
}

// Nobody stops for a member beyond the minimum, which needs room all the same.
func TestAudit_Further(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4\nnode n2 4\ntask v low n1 4\njob q 4,4 min=1")
	for keys, want := range map[string]string{
		"v": "minimal: victim v: can be given back",
		"":  "room: node n1: cpu 0 free, want at least 4",
	} {
		p := w.plan([]string{"n2", "n1"}, strings.Fields(keys)...)
		p.Places[1].Extra = true
		found := w.auditor().Audit(nil, asDecision(p), noon)
		require.Len(t, found, 1)
		require.Equal(t, want, found[0].String())
	}
}

// The predicate is asked about every placement, and about what is left when a
// victim is given back.
func TestAudit_Predicate(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4\ntask v low n1 4\ntask w low n1 0\njob q 4")
	a := w.auditor()
	a.Predicate = func(p *victims.Question) bool { return len(p.Victims) == 2 }
	require.Empty(t, a.Audit(nil, asDecision(w.plan([]string{"n1"}, "v", "w")), noon))
	a.Predicate = func(p *victims.Question) bool { return false }
	found := a.Audit(nil, asDecision(w.plan([]string{"n1"}, "v")), noon)
	require.Len(t, found, 1)
	require.Equal(t, "predicate: member j0: node n1: refused by the predicate", found[0].String())
}

// Whatever is in a plan, an audit ends, and finds every plan of the planner
// lawful. It changes nothing.
func FuzzAudit(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyAudit))
}

func TestAudit_Any(t *testing.T) { rapid.Check(t, propertyAudit) }

func propertyAudit(t *rapid.T) {
	c := world.JobCases(world.Small).Draw(t, "case")
	h := newHarness(t, c)
	h.decide("as built")
	a := victims.Auditor{Cluster: h.cluster, Options: h.planner.Options}
	version := h.cluster.Version()
	if h.d.Outcome != victims.Refused {
		if found := a.Audit(nil, &h.d, c.Options.Now); len(found) > 0 {
			t.Fatalf("%s: %v\n%v", h.said(), found, c)
		}
	}
	p := victims.Plan{Ask: h.job}
	p.Ask.Queue += queue.ID(rapid.IntRange(-1, 1).Draw(t, "queue"))
	for range rapid.IntRange(0, 4).Draw(t, "placements") {
		p.Places = append(p.Places, victims.Place{
			Member: rapid.IntRange(-1, len(p.Ask.Members)).Draw(t, "member"),
			Node:   victims.NodeID(rapid.IntRange(0, len(c.World.Nodes)+1).Draw(t, "node")),
			Extra:  rapid.Bool().Draw(t, "further"),
		})
	}
	for range rapid.IntRange(0, 4).Draw(t, "victims") {
		v := victims.Victim{Task: victims.TaskID(rapid.IntRange(-1, len(c.World.Tasks)).Draw(t, "task"))}
		if v.Task >= 0 && int(v.Task) < len(c.World.Tasks) {
			v.Key = h.cluster.Task(v.Task).Key
		}
		p.Victims = append(p.Victims, v)
	}
	for _, v := range a.Audit(nil, asDecision(&p), c.Options.Now.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "later")))) {
		if v.String() == "" {
			t.Fatal("a violation without words")
		}
	}
	if h.cluster.Version() != version {
		t.Fatal("the audit has changed the cluster")
	}
}

// Of a lawful plan nothing is told, not even an empty list, though trials with fewer
// victims have failed.
func TestAudit_LawfulIsNil(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4\ntask v low n1 4\njob q 4")
	require.Nil(t, w.auditor().Audit(nil, asDecision(w.plan([]string{"n1"}, "v")), noon))
}

// By priority an ask without members is judged as a gang of one.
func TestAudit_LoneByPriority(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4\ntask v low n1 4 fixed\njob q 4")
	p, a := w.plan([]string{"n1"}, "v"), w.auditor()
	p.Ask = p.Ask.MemberAsk(0)
	words := func() (list []string) {
		for _, v := range a.Audit(nil, asDecision(p), noon) {
			list = append(list, v.Law)
		}
		return list
	}
	require.Equal(t, []string{"non-preemptible"}, words())
	a.ByPriority, a.Admit = false, nil
	require.Equal(t, []string{"trigger"}, words())
	a.ByPriority, p.Ask.RequiredNode = true, "n1"
	require.Empty(t, words())
}

// asDecision returns a plan as a decision.
func asDecision(p *victims.Plan) *victims.Decision {
	return &victims.Decision{Outcome: victims.Preempts, Plan: *p}
}
