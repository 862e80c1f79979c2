// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

func violationLines(vs []victims.Violation) (lines []string) {
	for _, v := range vs {
		lines = append(lines, v.String())
	}
	return lines
}

func TestAudit(t *testing.T) {
	for _, test := range auditRows() {
		t.Run(test.name, func(t *testing.T) {
			a, p := test.build(t)
			got := violationLines(a.Audit(nil, decided(p), auditNow))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

// Every law has a row of its own in the table: one that breaks no other, but
// for law 5, which cannot be broken without law 2.
func TestAuditTableIsComplete(t *testing.T) {
	alone := make(map[string]bool)
	for _, test := range auditRows() {
		law, _, _ := strings.Cut(strings.Join(test.want, "\n"), ":")
		law, _, _ = strings.Cut(law, " ")
		if len(test.want) == 1 || law == "surplus" {
			alone[law] = true
		}
	}
	text, err := os.ReadFile("../DESIGN.md")
	require.NoError(t, err)
	list := regexp.MustCompile(`(?s)\* of asks: (.*?);`).FindStringSubmatch(string(text))
	laws := make(map[string]bool)
	for _, word := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(list[1], -1) {
		laws[word[1]] = true
	}
	require.Equal(t, laws, alone, "laws of asks that DESIGN.md lists, and those that a plan of the table breaks alone")
}

// The parts of a violation are there for programs, and those that do not apply
// are zero.
func TestViolationFields(t *testing.T) {
	c := lawfulCase()
	c.victims = []string{"v1"}
	c.lendX.Guaranteed.Value[0] = 4
	c.task("v1").Priority = 2
	a, p := c.build(t)
	before := victims.Violation{Law: finding.LawKey}
	got := a.Audit([]victims.Violation{before}, decided(p), auditNow)
	want := []victims.Violation{
		before,
		{Law: finding.LawPriority, Victim: "v1", Have: 2, Want: 0},
		{Law: finding.LawGuarantee, Queue: "root.lend.x", Type: "gpu", Have: 2, Want: 4},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(victims.Violation{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Programs read words and names.
func TestViolationJSON(t *testing.T) {
	c := lawfulCase()
	c.victims = []string{"v1"}
	c.lendX.Guaranteed.Value[0] = 4
	c.task("v1").Priority = 2
	a, p := c.build(t)
	got, err := json.Marshal(a.Audit(nil, decided(p), auditNow))
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"law": "priority", "number": 6, "victim": "v1", "have": "2", "want": "0", "complaint": "effective priority 2, want at most 0"},
		{"law": "guarantee", "number": 2, "queue": "root.lend.x", "type": "gpu", "have": "2", "want": "4",
			"complaint": "gpu 2 after the plan, want at least 4"}
	]`, string(got))
}

// A plan that the predicate had made larger makes room on the node as well as
// headroom: root is full, n1 is full, and any one victim is refused. The first
// two by key would make headroom, and are on n2.
func TestAuditAcceptsWidenedPlan(t *testing.T) {
	c := lawfulCase()
	c.add("a1", "root.lend.y", "n2", 2)
	c.add("a2", "root.lend.y", "n2", 2)
	c.queues.Max = resources.Limit{Value: resources.Vector{20}, Defined: 1}
	c.nodes[1].Unschedulable = true
	many := func(q *victims.Question) bool { return len(q.Victims) >= 2 }
	c.auditor.Predicate = many
	a, p := c.build(t)
	planner := jobs.Planner{Cluster: a.Cluster, Options: victims.Options{Predicate: many}}
	var d victims.Decision
	if err := planner.Decide(&d, &p.Ask, auditNow); err != nil || d.Outcome != victims.Preempts || len(d.Plan.Victims) != 2 {
		t.Fatalf("decision %+v, error %v; want a plan with 2 victims", d, err)
	}
	if got := a.Audit(nil, &d, auditNow); got != nil {
		t.Errorf("%+v breaks %v", d.Plan.Victims, violationLines(got))
	}
}

// An auditor carries nothing over from one audit to the next.
func TestAuditorIsReusable(t *testing.T) {
	var reused victims.Auditor
	for round := range 2 {
		for _, test := range auditRows() {
			a, p := test.build(t)
			reused.Cluster, reused.Options = a.Cluster, a.Options
			got := violationLines(reused.Audit(nil, decided(p), auditNow))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("round %d: %s (-want +got):\n%s", round, test.name, diff)
			}
		}
	}
}

// The plan may be a copy from anywhere, the cluster may be in use: neither is
// touched.
func TestAuditInputUnchanged(t *testing.T) {
	for _, test := range auditRows() {
		a, p := test.build(t)
		before, queues, version := *p, a.Cluster.Tree().String(), a.Cluster.Version()
		before.Victims = slices.Clone(p.Victims)
		before.Ask.Size = slices.Clone(p.Ask.Size)
		a.Audit(nil, decided(p), auditNow)
		if diff := cmp.Diff(&before, p, cmpopts.EquateComparable(victims.Version{})); diff != "" {
			t.Errorf("%s: plan (-before +after):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(queues, a.Cluster.Tree().String()); diff != "" || version != a.Cluster.Version() {
			t.Errorf("%s: cluster (-before +after):\n%s", test.name, diff)
		}
	}
}

func TestAuditNoAllocs(t *testing.T) {
	for _, test := range auditRows() {
		if test.want != nil {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			c := lawfulCase()
			if test.edit != nil {
				test.edit(c)
			}
			a, p := c.build(t)
			var lawful []victims.Violation
			d := decided(p)
			if n := testing.AllocsPerRun(10, func() { lawful = a.Audit(nil, d, auditNow) }); n != 0 {
				t.Errorf("%v allocations in an audit of a lawful plan", n)
			}
			if lawful != nil {
				t.Errorf("got %v, want nil: nothing is appended", lawful)
			}
		})
	}
}

func ExampleAuditor() {
	schema, _ := resources.NewSchema("gpu")
	guaranteed, _ := schema.ParseLimit("gpu=2")
	tree, _ := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Guaranteed: guaranteed},
		{Name: "b", Guaranteed: guaranteed},
	}})
	a, _ := tree.Lookup("root.a")
	b, _ := tree.Lookup("root.b")

	cluster := victims.NewCluster(tree)
	node, _ := cluster.AddNode(&victims.Node{Name: "n", Capacity: resources.Vector{3}})
	one := resources.Vector{1}
	for _, key := range []string{"t1", "t2", "t3"} {
		cluster.AddTask(&victims.Task{Key: key, Application: "x", Queue: a, Node: node, Size: one})
	}

	// A plan made elsewhere stops two tasks of root.a, where one is enough and
	// root.a may not end below 2.
	t1, _ := cluster.Lookup("t1")
	t2, _ := cluster.Lookup("t2")
	foreign := &victims.Decision{Outcome: victims.Preempts, Plan: victims.Plan{
		Ask:     victims.Ask{Key: "ask", Application: "y", Queue: b, Size: one},
		Places:  []victims.Place{{Node: node}},
		Victims: []victims.Victim{{Task: t1, Key: "t1"}, {Task: t2, Key: "t2"}},
	}}
	auditor := victims.Auditor{Cluster: cluster}
	for _, v := range auditor.Audit(nil, foreign, time.Now()) {
		fmt.Println(v)
	}
	// Output:
	// guarantee (law 2): root.a: gpu 1 after the plan, want at least 2
	// minimal: victim t1: can be given back
	// minimal: victim t2: can be given back
}

func BenchmarkAudit(b *testing.B) {
	for _, tasks := range []int{10, 1000} {
		b.Run(fmt.Sprintf("victims=1/tasks=%d", tasks), func(b *testing.B) {
			c := lawfulCase()
			for i := range tasks {
				c.add(fmt.Sprintf("more-%d", i), "root.lend.y", "n2", 1)
			}
			a, p := c.build(b)
			d := decided(p)
			b.ReportAllocs()
			for b.Loop() {
				if got := a.Audit(nil, d, auditNow); got != nil {
					b.Fatal(got)
				}
			}
		})
	}
}
