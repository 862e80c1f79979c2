// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// What a plan costs is what the oracle says, whoever made the plan.
func TestAuditorCost(t *testing.T) { rapid.Check(t, propertyAuditorCost) }

func FuzzAuditorCost(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyAuditorCost))
}

func propertyAuditorCost(t *rapid.T) {
	c := world.Cases(world.Small.With(world.Everything)).Draw(t, "case")
	held := slices.ContainsFunc(c.World.Grants, func(g world.Grant) bool { return g.Ask.Key == c.Ask.Key })
	node, keys := drawPlan(t, c)
	leaving := slices.ContainsFunc(c.World.Tasks, func(task world.Task) bool {
		return task.State.Leaving() && slices.Contains(keys, task.Key)
	})
	if held || leaving || len(keys) == 0 {
		return // no costs are asked of such plans
	}
	cluster := build(t, &c.World)
	n, _ := cluster.LookupNode(node)
	plan := victims.Plan{Ask: askOf(t, cluster, &c.Ask), Places: []victims.Place{{Node: n}}}
	for _, key := range keys {
		id, _ := cluster.Lookup(key)
		plan.Victims = append(plan.Victims, victims.Victim{Task: id, Key: key})
	}
	a := victims.Auditor{Cluster: cluster, Options: world.PlannerOf(cluster, &c.Options).Options}
	cost := a.Cost(decided(&plan), c.Options.Now)
	// Places count from 1 in a cluster that has lost no node.
	got := oracle.Cost{Losses: oracle.LossesOf(&cost), NodePenalty: cost.NodePenalty, Node: cost.Node - 1}
	want := oracle.CostOf(c, node, keys)
	if diff := cmp.Diff(want, got, compareNumbers, cmpopts.IgnoreFields(oracle.Cost{}, "Losses.Keys")); diff != "" {
		t.Fatalf("%v on %s (-oracle +auditor):\n%s\n%v", keys, node, diff, c)
	}
}

// Every level, by hand: v1 opted out and w is an originator. Both are of the job
// j, which needs two of three, and draw on a soft budget of 1. Each weighs 3 of 16 gpu.
func TestAuditorCost_ByHand(t *testing.T) {
	c := lawfulCase()
	c.gang(2, "v1", "w", "u")
	c.spend(victims.Budget{Left: 1}, "v1", "w")
	c.nodes[0].Penalty = 7
	v1, w := c.task("v1"), c.task("w")
	v1.OptedOut, v1.Priority, v1.Cost, v1.Scheduled = true, -4, 5, auditNow.Add(-100)
	w.Originator, w.Priority, w.Cost, w.Scheduled, w.Checkpoint = true, -1, 6, auditNow.Add(-100), auditNow.Add(-30)
	c.ask.Size[0], c.victims = 5, []string{"v1", "w"}
	a, p := c.build(t)
	got := a.Cost(decided(p), auditNow)
	want := victims.Cost{
		OptedOut: 1, Overrun: 1, Originators: 1, MaxRank: -1, MaxPriority: -1, Jobs: 1, Own: resources.WideOf(11),
		Victims: 2, SumRanks: -5, SumPriorities: -5,
		Excess: resources.Share{Amount: 1, Of: 16}, Work: resources.WideOf(130 * 187_500_000), NodePenalty: 7, Node: 1,
	}
	require.Zero(t, got.Compare(&want), "got %+v, want %+v", got, want)

	v1.Preemptions, w.Preemptions = 2, 5
	a, p = c.build(t)
	require.Zero(t, a.Cost(decided(p), auditNow).Preemptions, "it does not count")
	a.Levels = []string{"preemptions"}
	require.Equal(t, int64(7), a.Cost(decided(p), auditNow).Preemptions)
	a.Levels = nil

	p.Ask.Key = ""
	require.Equal(t, victims.Cost{}, a.Cost(decided(p), auditNow), "nothing can be judged")
}
