// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// The auditor agrees with package oracle on whether a plan is lawful: the
// cheapest one, or that with some tasks more or less, or any at all.
func TestOracleAudits(t *testing.T) { rapid.Check(t, propertyOracleAudits) }

func FuzzOracleAudits(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyOracleAudits))
}

func propertyOracleAudits(t *rapid.T) {
	c := world.Cases(world.Small.With(world.Everything)).Draw(t, "case")
	held := slices.ContainsFunc(c.World.Grants, func(g world.Grant) bool { return g.Ask.Key == c.Ask.Key })
	node, keys := drawPlan(t, c)
	if held || len(keys) == 0 {
		return // such a plan is judged by its room alone
	}
	oracleAudits(t, c, node, keys)
}

// oracleAudits holds the auditor to package oracle, for a plan of the ask of a case, and
// returns what the auditor finds.
func oracleAudits(t tb, c *world.Case, node string, keys []string) []victims.Violation {
	t.Helper()
	breaks := oracle.Breaks(c, node, keys)
	reason := oracle.Precondition(c)
	lawful := len(breaks) == 0 && (reason == "" || lifts(c, reason))

	cluster := build(t, &c.World)
	p := world.CasePlanner(cluster, c)
	a := victims.Auditor{Cluster: cluster, Options: p.Options}
	n, _ := cluster.LookupNode(node)
	plan := victims.Plan{Ask: askOf(t, cluster, &c.Ask), Places: []victims.Place{{Node: n}}}
	for _, key := range keys {
		id, _ := cluster.Lookup(key)
		plan.Victims = append(plan.Victims, victims.Victim{Task: id, Key: key})
	}
	found := slices.DeleteFunc(a.Audit(nil, decided(&plan), c.Options.Now), func(v victims.Violation) bool {
		return v.Law == finding.LawOptedOut // a matter of other plans
	})
	if lawful != (len(found) == 0) {
		t.Fatalf("%v on %s: the auditor says %v, the oracle %q %v\n%v", keys, node, found, reason, breaks, c)
	}
	return found
}

// A gang of three tasks, one on the node of the ask and two on another, goes as a whole.
// Whether some of them would do depends on who may go alone, and so does what is decided.
func TestOracleAudits_PartsOfGang(t *testing.T) {
	for _, tt := range []struct {
		name     string
		keeps    int
		same     bool   // victims are on the node only
		required string // node
		short    bool   // headroom lacks what two of the tasks have
		part     bool   // a part would do
	}{
		{name: "it needs all", keeps: 3},
		{name: "one goes alone", keeps: 2, part: true},
		{name: "one of two goes alone", keeps: 1, part: true},
		{name: "on the node, it needs all", keeps: 3, same: true},
		{name: "on the node, one goes alone", keeps: 2, same: true, part: true},
		{name: "on the node, one of two goes alone", keeps: 1, same: true, part: true},
		{name: "on a required node, it needs all", keeps: 3, required: "n1"},
		{name: "on a required node, one of two goes alone", keeps: 1, required: "n1", part: true},
		{name: "headroom, two go alone", keeps: 1, short: true, part: true},
		{name: "headroom, of two only that on the node", keeps: 1, short: true, same: true},
		{name: "headroom, of two only that on a required node", keeps: 1, short: true, required: "n1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := gangOnTwoNodes()
			c.Options.Minimums, c.Options.VictimsOnNode = map[string]int{"g": tt.keeps}, tt.same
			c.Ask.RequiredNode = tt.required
			if tt.short {
				c.World.Root.Max = world.Amounts{"cpu": 6}
			}
			found := oracleAudits(t, c, "n1", []string{"t1", "t2", "t3"})
			part := len(found) == 1 && found[0].Law == finding.LawMinimal && strings.Contains(found[0].String(), " g")
			if part != tt.part || !tt.part && len(found) > 0 {
				t.Fatalf("the auditor says %v", found)
			}
			want := oracle.Decide(c)
			if all := len(want.Victims) == 3; all == tt.part {
				t.Fatalf("the oracle stops %v", want.Cost.Keys)
			}
			compare(t, c, world.CasePlanner(build(t, &c.World), c), want, "")
		})
	}
}

// gangOnTwoNodes returns a case in which an ask lacks 2 cpu on n1, where t1 of the gang g has
// them. The other two members are on n2, where it has no place.
func gangOnTwoNodes() *world.Case {
	cpu := func(v int64) world.Amounts { return world.Amounts{"cpu": v} }
	task := func(key, node string) world.Task {
		return world.Task{Key: key, Application: "app", Queue: "root.a", Node: node, Size: cpu(2), Job: "g"}
	}
	return &world.Case{
		World: world.World{
			Types: []string{"cpu"},
			Root:  world.Queue{Name: "root", Children: []world.Queue{{Name: "a"}, {Name: "b", Guaranteed: cpu(4)}}},
			Nodes: []world.Node{{Name: "n1", Capacity: cpu(4)}, {Name: "n2", Capacity: cpu(4), Unschedulable: true}},
			Tasks: []world.Task{task("t1", "n1"), task("t2", "n2"), task("t3", "n2")},
		},
		Ask: world.Ask{
			Key: "x", Application: "app-x", Queue: "root.b", Size: cpu(4), PendingSince: world.Epoch.Add(-time.Hour),
		},
		Options: world.Options{Now: world.Epoch},
	}
}

// lifts reports whether the option of the own leaf lifts a precondition.
func lifts(c *world.Case, reason string) bool {
	return c.World.OwnLeaf(c.Ask.Queue, c.Options.OwnLeaf) != "" && c.Ask.RequiredNode == "" &&
		slices.Contains([]string{"over-max", "not-guaranteed", "over-guarantee", "headroom-inside", "nothing-in-reach"}, reason)
}

// drawPlan draws a plan for the ask of a case.
func drawPlan(t *rapid.T, c *world.Case) (node string, keys []string) {
	r := oracle.Decide(c)
	if node = r.Node; node == "" || rapid.IntRange(0, 9).Draw(t, "another") == 0 {
		node = rapid.SampledFrom(c.World.Nodes).Draw(t, "node").Name
	}
	for _, v := range r.Victims {
		keys = append(keys, v.Key)
	}
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		if len(c.World.Tasks) == 0 {
			break
		}
		key := rapid.SampledFrom(c.World.Tasks).Draw(t, "task").Key
		if i := slices.Index(keys, key); i >= 0 {
			keys = slices.Delete(keys, i, i+1)
		} else {
			keys = append(keys, key)
		}
	}
	return node, keys
}
