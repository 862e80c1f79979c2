// SPDX-License-Identifier: Apache-2.0

package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
)

// Random cases with every feature are of use only while each feature is what
// decides often enough: without it the answer would be another.
func TestFeaturesMatter(t *testing.T) {
	if testing.Short() {
		t.Skip("it says something of the generator, from thousands of cases")
	}
	least := map[string]int{ // of a thousand
		"no gangs": 20, "no budgets": 20, "no costs": 10, "no checkpoints": 20, "no ranks": 2, "no labels": 30,
		"no ports": 30, "no own leaf": 20, "no cap": 2, "no grants": 20,
		"stops jobs": 8, "overrun": 15, "own leaf": 20, "rule budget": 10, "rule guarantee": 10,
		"filtered": 20, "waits for somebody": 15, "in-flight": 20,
		"cause no-node": 50, "cause too-large": 30, "cause above-max": 10, oracle.Preempts: 200, oracle.Fits: 30,
	}
	const cases = 1500
	count := make(map[string]int)
	generator := world.Cases(world.Small.With(world.Everything))
	for seed := range cases {
		c := generator.Example(seed)
		with := oracle.Decide(c)
		for _, f := range world.Table {
			if least["no "+f.Name] > 0 && said(oracle.Decide(without(&f, c))) != said(with) {
				count["no "+f.Name]++
			}
		}
		for rule := range with.Counts {
			count["rule "+rule]++
		}
		cause, _, _ := strings.Cut(with.Cause, " ")
		count["cause "+cause]++
		count[with.Outcome]++
		count[with.Reason]++
		for name, is := range map[string]bool{
			"stops jobs": with.Cost.Jobs > 0, "overrun": with.Cost.Overrun > 0, "own leaf": with.OwnLeaf,
			"filtered": with.Filtered > 0, "waits for somebody": len(with.WaitsFor) > 0,
		} {
			if is {
				count[name]++
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%5.1f %% %s", 100*float64(count[key])/cases, key)
	}
	for key, atLeast := range least {
		assert.GreaterOrEqual(t, count[key]*1000/cases, atLeast, key)
	}
}

// By itself each feature decides as often as its row says.
func TestFeatures_Decide(t *testing.T) {
	if testing.Short() {
		t.Skip("it says something of the generator, from thousands of cases")
	}
	for _, f := range world.Table {
		if f.Decides == 0 {
			continue
		}
		const cases = 1000
		decides := 0
		generator := world.Cases(world.Small.With(f.With))
		for seed := range cases {
			c := generator.Example(seed)
			if said(oracle.Decide(without(&f, c))) != said(oracle.Decide(c)) {
				decides++
			}
		}
		t.Logf("%5.1f %% %s", 100*float64(decides)/cases, f.Name)
		assert.GreaterOrEqual(t, decides*1000/cases, f.Decides, "internal/judge/world/feature.go: %s", f.Name)
	}
}

// In dense cases many plans depend on several rules at once: without any of them
// the plan would be another, or none.
func TestFeaturesMatterTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("it says something of the generator, from thousands of cases")
	}
	const cases = 1000
	count := make(map[int]int)
	generator := world.DenseCases(world.Small)
	for seed := range cases {
		c := generator.Example(seed)
		with := oracle.Decide(c)
		if with.Outcome != oracle.Preempts {
			continue
		}
		matter := 0
		for _, f := range world.Table {
			if f.Spoil != nil && said(oracle.Decide(without(&f, c))) != said(with) {
				matter++
			}
		}
		for n := range matter + 1 {
			count[n]++
		}
	}
	t.Logf("of %d cases, plans in which at least so many rules matter: %v", cases, count)
	for n, atLeast := range map[int]int{0: 120, 2: 50, 3: 10, 4: 3} { // of a thousand
		assert.GreaterOrEqual(t, count[n]*1000/cases, atLeast, "%d rules", n)
	}
}

// said is what a caller of a planner acts on, and the work lost.
func said(r oracle.Result) string {
	s := fmt.Sprint(r.Outcome, " ", r.Node, " ", r.Reason, " ", r.Cost.Work)
	for _, v := range r.Victims {
		s += " " + v.Key
	}
	return s
}

// without returns a case without a feature.
func without(f *world.Feature, c *world.Case) *world.Case {
	less := *c
	less.World.Tasks, less.World.Nodes = slices.Clone(c.World.Tasks), slices.Clone(c.World.Nodes)
	f.Spoil(&less)
	return &less
}

// Each feature is one row of the table, in the order of their constants.
func TestFeatures_Table(t *testing.T) {
	for i, f := range world.Table {
		assert.Equal(t, world.Features(1)<<i, f.With, "internal/judge/world/feature.go: %s", f.Name)
		assert.False(t, f.Decides > 0 && f.Spoil == nil, f.Name)
	}
	assert.Equal(t, world.Everything, world.Of(func(*world.Feature) bool { return true }),
		"internal/judge/world/feature.go: a feature has no row")
}
