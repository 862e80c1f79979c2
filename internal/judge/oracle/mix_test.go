// SPDX-License-Identifier: Apache-2.0

package oracle_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
)

// Random cases are of use only while each kind of answer is frequent enough.
// The seeds are fixed, so that this says something of the generator alone.
func TestCasesAreMixed(t *testing.T) {
	if testing.Short() {
		t.Skip("it says something of the generator, from thousands of cases")
	}
	const cases = 2000
	count := make(map[string]int)
	generator := world.Cases(world.Small)
	for seed := range cases {
		c := generator.Example(seed)
		r := oracle.Decide(c)
		count[r.Outcome]++
		if c.Options.Scarce != nil {
			c.Options.Scarce = nil
			if all := oracle.Decide(c); all.Outcome != r.Outcome || all.Reason != r.Reason || !slices.Equal(all.Victims, r.Victims) {
				count["which types count"]++
			}
		}
		if r.Outcome == oracle.Refused {
			count[r.Reason]++
		}
		if r.Reason == "no-victims" && !r.RetryAt.IsZero() {
			count["wakes"]++
		}
		for rule := range r.Counts {
			count["rule "+rule]++
		}
		if len(r.Victims) > 1 {
			count["several victims"]++
		}
		if slices.ContainsFunc(r.Victims, func(v oracle.Victim) bool { return v.ForHeadroom }) {
			count["for headroom"]++
		}
		if slices.ContainsFunc(r.Victims, func(v oracle.Victim) bool { return !v.ForNode }) {
			count["for headroom only"]++
			if slices.ContainsFunc(r.Victims, func(v oracle.Victim) bool { return v.ForNode }) {
				count["for headroom only and for the node"]++
			}
		}
		if r.Cost.OptedOut > 0 {
			count["opted out"]++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%5.1f %% %s", 100*float64(count[key])/cases, key)
	}
	for key, atLeast := range map[string]int{ // of a thousand
		oracle.Preempts: 300, oracle.Fits: 50, oracle.Waits: 30, oracle.Refused: 200,
		"several victims": 40, "for headroom": 60, "for headroom only": 30, "opted out": 8,
		"which types count": 30, "in-flight": 5, "may-not-preempt": 5, "too-early": 5, "too-soon": 1, "over-max": 2,
		"not-guaranteed": 5, "over-guarantee": 5, "headroom-inside": 5, "nothing-in-reach": 5,
		"no-victims": 100, "wakes": 3,
		"rule leaving": 20, "rule required-node": 20, "rule same-application": 20, "rule fence": 20,
		"rule disabled": 5, "rule inside": 5, "rule priority": 50, "rule exempt": 10,
		"rule not-helping": 50, "rule guarantee": 30,
	} {
		assert.GreaterOrEqual(t, count[key]*1000/cases, atLeast, key)
	}
}
