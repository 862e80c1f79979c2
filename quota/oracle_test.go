// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/victims"
)

// planned are the features of worlds whose rules the enforcer knows.
var planned = world.Of(func(f *world.Feature) bool { return f.Quotas })

// What an enforcer says holds to every law of package oracle, nobody can be
// spared, and it falls short only where no lawful set is enough.
func TestOracle(t *testing.T) { rapid.Check(t, propertyOracle) }

func FuzzOracle(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyOracle))
}

func propertyOracle(t *rapid.T) {
	c := world.EnforceCases(world.Small.With(planned)).Draw(t, "case")
	o := enforceCase(t, c)
	if breaks := oracle.EnforceBreaks(c, keys(o)); len(breaks) > 0 {
		t.Fatalf("%v: %v\n%v", keys(o), breaks, c)
	}
	if !o.Enforcement.Proven {
		t.Fatalf("%v: not proven\n%v", keys(o), c)
	}
	// Taking in parts may fall short where taking freely would not.
	leaf := len(c.World.Queues()) == 1 || isLeaf(&c.World, c.Queue)
	if met := o.Enforcement.Result == "met"; leaf && met != oracle.CanMeet(c) {
		t.Fatalf("%v: %v, and the oracle says %v\n%v", o.Enforcement.Result, keys(o), !met, c)
	}
}

// Tasks that would not stop decide often enough, and least running times never.
func TestOracle_RefusalsDecide(t *testing.T) {
	const cases = 1000
	decide := 0
	generator := world.EnforceCases(world.Small.With(world.WithRefusals | world.WithMinRuntime))
	for seed := range cases {
		c := generator.Example(seed)
		with := keys(enforceCase(t, c))
		plain := *c
		if plain.Refused = nil; !slices.Equal(with, keys(enforceCase(t, &plain))) {
			decide++
		}
	}
	t.Logf("%5.1f %% are others", 100*float64(decide)/cases)
	require.GreaterOrEqual(t, decide*1000/cases, 50)
}

// In worlds that are too large to look at every set, the laws hold all the same.
func TestOracle_LargeWorlds(t *testing.T) { rapid.Check(t, propertyOracleLarge) }

func FuzzOracle_LargeWorlds(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyOracleLarge))
}

func propertyOracleLarge(t *rapid.T) {
	shape := of(t, "shape", world.Large, world.Crowded)
	c := world.EnforceCases(shape.With(planned)).Draw(t, "case")
	o := enforceCase(t, c)
	if breaks := oracle.EnforceBreaks(c, keys(o)); len(breaks) > 0 {
		t.Fatalf("%v: %v\n%v", keys(o), breaks, c)
	}
}

func isLeaf(w *world.World, path string) bool {
	for _, q := range w.Queues() {
		if q.Path == path {
			return q.IsLeaf()
		}
	}
	return false
}

func enforceCase(t rapid.TB, c *world.EnforceCase) *victims.Decision {
	cluster, err := world.Build(&c.World)
	if err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	world.SetMinimums(cluster, c.Minimums)
	for key, until := range c.Refused {
		if _, err := cluster.Spare(key, until); err != nil {
			t.Fatalf("%v\n%v", err, c)
		}
	}
	e := quota.Enforcer{Cluster: cluster, Order: quota.Order(c.Order)}
	if c.Exact {
		e.NeverOvershoot = true
	}
	queue, ok := cluster.Tree().Lookup(c.Queue)
	if !ok {
		t.Fatalf("no queue %s\n%v", c.Queue, c)
	}
	var o victims.Decision
	if err := cluster.SetMax(queue, world.LimitOf(cluster, c.Max)); err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	if err := e.Enforce(&o, queue, c.Now); err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	return &o
}
