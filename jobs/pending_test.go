// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/pending"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A list of what waits gives the answers of a loop that decides each job each time, whatever happens
// in between.
func propertyPending(t *rapid.T) {
	c := world.JobCases(world.Small).Draw(t, "case")
	c.ByPriority = false
	c.SetOwnLeaf("")
	h := newHarness(t, c)
	h.planner.Admit = nil
	if len(c.Options.Exempt) == 0 {
		h.planner.Exempt = nil // with it no two jobs are alike
	}
	first := h.job
	all := []victims.Ask{first}
	for i := range 3 { // alike, but for names, and one smaller
		j := first
		j.Key, j.Members = fmt.Sprint(first.Key, "-", i), nil
		for _, m := range first.Members[i/2:] {
			m.Key = fmt.Sprint(m.Key, "-", i)
			j.Members = append(j.Members, m)
		}
		j.MinMembers = min(j.MinMembers, len(j.Members))
		if len(j.Members) > 0 {
			all = append(all, j)
		}
	}
	waiting := pending.Jobs(&h.planner)
	for i := range all {
		waiting.Add(all[i])
	}
	m := &meanwhile{harness: h, t: t, now: c.Options.Now, any: true, help: &victims.Help{}}
	for range 4 {
		if rapid.IntRange(0, 3).Draw(t, "other types count") == 3 {
			h.planner.Scarce = new(resources.Mask(rapid.Uint64Range(0, 1<<h.cluster.Schema().Len()-1).Draw(t, "scarce")))
		}
		twin := jobs.Planner{Cluster: h.cluster.Clone(), Options: h.planner.Options}
		var want, got []string
		for i := range all {
			var d jobs.Decision
			require.NoError(t, twin.Decide(&d, &all[i], m.now))
			if d.Outcome != victims.Refused {
				want = append(want, d.Summary(twin.Cluster))
				carryOut(t, twin.Cluster, &d)
			}
		}
		for _, d := range waiting.All(m.now) {
			if d.Outcome != victims.Refused {
				got = append(got, d.Summary(h.cluster))
				carryOut(t, h.cluster, d)
			}
		}
		require.NoError(t, waiting.Err())
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q, and a loop over all of them says %q; after %q\n%v", got, want, m.done, c)
		}
		for range rapid.IntRange(0, 3).Draw(t, "happenings") {
			m.next()
		}
	}
}

// carryOut applies a plan. A job whose members are all placed has nothing to apply.
func carryOut(t *rapid.T, c *victims.Cluster, d *jobs.Decision) {
	if len(d.Plan.Placements)+len(d.Plan.Victims) > 0 {
		require.NoError(t, c.Apply(d.Plan.Change()))
	}
}

func TestPending_AsALoop(t *testing.T) { law.Check3000(t, propertyPending) }

func FuzzPending(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyPending)) }
