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

// Random cases of jobs are of use only while each kind of answer is frequent
// enough. The seeds are fixed, so that this says something of the generator
// alone.
func TestJobCasesAreMixed(t *testing.T) {
	if testing.Short() {
		t.Skip("it says something of the generator, from thousands of cases")
	}
	const cases = 1000
	count := make(map[string]int)
	generator := world.JobCases(world.Small)
	for seed := range cases {
		c := generator.Example(seed)
		r := oracle.DecideJob(c)
		for _, word := range words(c, r) {
			count[word]++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%5.1f %% %s", 100*float64(count[key])/cases, key)
	}
	for key, atLeast := range map[string]int{ // of a thousand
		oracle.Preempts: 140, oracle.Fits: 40, oracle.Waits: 20, oracle.Refused: 300,
		"several victims": 50, "plan of several members": 80, "plan on several nodes": 25,
		"a gang stopped": 5, "a surplus goes": 40, "one of its own queue goes": 20, "one on another node goes": 3,
		"opted out": 10, "plan of a job that is not preemptible": 30,
		"further members": 10, "placed or waiting members": 40,
		oracle.InFlight: 2, oracle.MayNotPreempt: 5, oracle.QuotaMin: 8, oracle.QuotaMax: 10,
		oracle.NoVictims: 200, "wakes": 2,
		// What jobs are told that take by guarantee, seven of ten.
		"over-guarantee": 100, "not-guaranteed": 30, "over-max": 10, "headroom-inside": 10, "too-early": 5,
		oracle.NothingInReach: 30,
	} {
		assert.GreaterOrEqual(t, count[key]*1000/cases, atLeast, key)
	}
}

// words returns what can be said of a case and its answer.
func words(c *world.JobCase, r oracle.JobResult) (list []string) {
	say := func(on bool, word string) {
		if on {
			list = append(list, word)
		}
	}
	list = append(list, r.Outcome)
	say(r.Reason != "", r.Reason)
	say(r.Reason == oracle.NoVictims && !r.RetryAt.IsZero(), "wakes")
	plan := r.Outcome == oracle.Preempts
	say(plan && len(r.Victims) > 1, "several victims")
	say(plan && len(r.Cost.Nodes) > 1, "plan of several members")
	say(plan && len(slices.Compact(slices.Sorted(slices.Values(r.Cost.Nodes)))) > 1, "plan on several nodes")
	say(r.Cost.Jobs > 0, "a gang stopped")
	say(r.Cost.OptedOut > 0, "opted out")
	say(plan && c.Job.NonPreemptible, "plan of a job that is not preemptible")
	say(slices.ContainsFunc(r.Placements, func(p oracle.Placement) bool { return p.Further }), "further members")
	gang, own, elsewhere := false, false, false
	for _, v := range c.World.Tasks {
		if slices.Contains(r.Victims, v.Key) {
			gang = gang || v.Job != ""
			own = own || v.Queue == c.Job.Queue
			elsewhere = elsewhere || !slices.ContainsFunc(r.Placements, func(p oracle.Placement) bool { return p.Node == v.Node })
		}
	}
	say(gang, "a member of a gang goes")
	say(gang && r.Cost.Jobs == 0, "a surplus goes")
	say(own, "one of its own queue goes")
	say(elsewhere, "one on another node goes")
	say(len(c.Job.Members) > len(r.Placements) && plan, "placed or waiting members")
	return list
}
