// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"slices"
	"testing"

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
	c := world.Cases(world.Small.With(world.Everything|world.WithNearby)).Draw(t, "case")
	held := slices.ContainsFunc(c.World.Grants, func(g world.Grant) bool { return g.Ask.Key == c.Ask.Key })
	node, keys := drawPlan(t, c)
	if held || len(keys) == 0 {
		return // such a plan is judged by its room alone
	}
	breaks := oracle.Breaks(c, node, keys)
	reason := oracle.Precondition(c)
	lawful := len(breaks) == 0 && (reason == "" || lifts(c, reason))

	cluster := build(t, &c.World)
	p := world.CasePlanner(cluster, c)
	a := victims.Auditor{Cluster: cluster, Rules: p.Rules, Blockers: p.Blockers}
	n, _ := cluster.LookupNode(node)
	plan := victims.Plan{Ask: askOf(t, cluster, &c.Ask), Node: n}
	for _, key := range keys {
		id, _ := cluster.Lookup(key)
		plan.Victims = append(plan.Victims, victims.Victim{Task: id, Key: key})
	}
	found := slices.DeleteFunc(a.Audit(nil, &plan, c.Options.Now), func(v victims.Violation) bool {
		return v.Law == finding.LawOptedOut // a matter of other plans
	})
	if lawful != (len(found) == 0) {
		t.Fatalf("%v on %s: the auditor says %v, the oracle %q %v\n%v", keys, node, found, reason, breaks, c)
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
