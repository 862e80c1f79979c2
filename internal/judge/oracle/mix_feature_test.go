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
	const cases = 1500
	count := make(map[string]int)
	generator := world.Cases(world.Small.With(world.Everything))
	for seed := range cases {
		c := generator.Example(seed)
		with := oracle.Decide(c)
		for name, spoil := range spoils {
			less := *c
			less.World.Tasks, less.World.Nodes = slices.Clone(c.World.Tasks), slices.Clone(c.World.Nodes)
			if spoil(&less); said(oracle.Decide(&less)) != said(with) {
				count[name]++
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
	for key, atLeast := range map[string]int{ // of a thousand
		"no gangs": 20, "no budgets": 20, "no costs": 10, "no checkpoints": 20, "no ranks": 2, "no labels": 30,
		"no ports": 30, "no own leaf": 20, "no cap": 2, "no other grants": 20,
		"stops jobs": 8, "overrun": 15, "own leaf": 20, "rule budget": 10, "rule guarantee": 10,
		"filtered": 20, "waits for somebody": 15, "in-flight": 20,
		"cause no-node": 50, "cause too-large": 30, "cause above-max": 10, oracle.Preempts: 200, oracle.Fits: 30,
	} {
		assert.GreaterOrEqual(t, count[key]*1000/cases, atLeast, key)
	}
}

// floors have the features that are drawn behind all else, with what takes each out of a case. By
// itself each decides in one of twenty cases at least; but those about asks that need a node or short
// headroom, of which there are few.
var floors = []struct {
	feature world.Features
	spoil   string
	atLeast int // of a thousand
}{
	{world.WithNearby, "no nearby", 20},
	{world.WithCap, "no cap", 50},
	{world.WithMinRuntime, "no min runtime", 50},
	{world.WithPreemptions, "no preemptions", 50},
}

func TestFeatures_Decide(t *testing.T) {
	if testing.Short() {
		t.Skip("it says something of the generator, from thousands of cases")
	}
	for _, f := range floors {
		const cases = 1000
		decides := 0
		generator := world.Cases(world.Small.With(f.feature))
		for seed := range cases {
			c := generator.Example(seed)
			less := *c
			less.World.Tasks, less.World.Nodes = slices.Clone(c.World.Tasks), slices.Clone(c.World.Nodes)
			if spoils[f.spoil](&less); said(oracle.Decide(&less)) != said(oracle.Decide(c)) {
				decides++
			}
		}
		t.Logf("%5.1f %% %s", 100*float64(decides)/cases, f.spoil)
		assert.GreaterOrEqual(t, decides*1000/cases, f.atLeast, "internal/judge/world/feature.go: %s", f.spoil)
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
		for _, spoil := range spoils {
			less := *c
			less.World.Tasks, less.World.Nodes = slices.Clone(c.World.Tasks), slices.Clone(c.World.Nodes)
			if spoil(&less); said(oracle.Decide(&less)) != said(with) {
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

// spoils take a feature out of a case.
var spoils = map[string]func(c *world.Case){
	"no gangs":        func(c *world.Case) { c.Options.Minimums = nil },
	"no own leaf":     func(c *world.Case) { c.SetOwnLeaf("") },
	"no labels":       func(c *world.Case) { c.Ask.Selector = nil },
	"no ports":        func(c *world.Case) { c.Ask.Ports = nil },
	"no budgets":      func(c *world.Case) { c.World.Budgets = nil },
	"no costs":        eachTask(func(t *world.Task) { t.Cost = 0 }),
	"no checkpoints":  eachTask(func(t *world.Task) { t.Checkpoint = t.Scheduled }),
	"no ranks":        func(c *world.Case) { forEach(c.World.Nodes, func(n *world.Node) { n.Rank = 0 }) },
	"no nearby":       func(c *world.Case) { c.Options.VictimsOnNode, c.Options.TakeOwnApplication = false, false },
	"no min runtime":  func(c *world.Case) { c.Options.Settled = true },
	"no preemptions":  func(c *world.Case) { c.Options.Levels = nil },
	"no cap":          func(c *world.Case) { c.Options.MaxVictims = 0 },
	"no other grants": func(c *world.Case) { c.World.Grants = nil },
}

func eachTask(change func(*world.Task)) func(*world.Case) {
	return func(c *world.Case) { forEach(c.World.Tasks, change) }
}

func forEach[T any](list []T, change func(*T)) {
	for i := range list {
		change(&list[i])
	}
}
