// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/victims"
)

// What each of the orders of fewest victims takes, where the default takes another set.
func TestFewest(t *testing.T) {
	young := age(time.Minute)
	for _, test := range []struct {
		name              string
		fill              func(f *fixture)
		free              int64
		walk, leaves, all []string
	}{
		{"one large one for two small ones", func(f *fixture) {
			f.task("old", "p.a", 4)
			f.task("y1", "p.a", 2, young)
			f.task("y2", "p.a", 2, young)
		}, 4, []string{"y1", "y2"}, []string{"old"}, []string{"old"}},
		{"of all leaves, whatever their parts", func(f *fixture) {
			f.task("a1", "p.a", 1)
			f.task("a2", "p.a", 3)
			f.task("b1", "p.b", 1)
			f.task("b2", "p.b", 3)
		}, 2, []string{"a1", "b1"}, []string{"a1", "b1"}, []string{"a2"}},
		{"no more tasks for fewer that opted out", func(f *fixture) {
			f.task("out", "p.a", 3, optedOut)
			for _, key := range []string{"p1", "p2", "p3", "p4"} {
				f.task(key, "p.a", 1, priority(1))
			}
		}, 4, []string{"out", "p1"}, []string{"out", "p1"}, []string{"out", "p1"}},
		{"no higher priority for fewer tasks", func(f *fixture) {
			f.task("high", "p.a", 4, priority(1))
			f.task("low1", "p.a", 2)
			f.task("low2", "p.a", 2)
		}, 4, []string{"low1", "low2"}, []string{"low1", "low2"}, []string{"low1", "low2"}},
		// The parts are 3 and 1. That a frees 4 by one task spares b's.
		{"what one frees beyond its part spares others", func(f *fixture) {
			f.task("a1", "p.a", 4)
			f.task("a2", "p.a", 2, young)
			f.task("a3", "p.a", 1, young)
			f.task("b1", "p.b", 1, young)
			f.task("b2", "p.b", 1)
		}, 4, []string{"a2", "a3", "b1"}, []string{"a1"}, []string{"a1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, inner("p", leaf("a"), leaf("b")))
			test.fill(f)
			p := f.queue("p")
			most := slots(f.c.Tree().Usage(p)[0] - test.free)
			for order, want := range map[quota.Order][]string{quota.YoungestFirst: test.walk, quota.Fewest: test.leaves, quota.FewestOfAll: test.all} {
				f.e.Order = order
				require.Equal(t, want, keys(f.enforce("p", most)), "%q", order)
			}
		})
	}
}

// Without steps for a search the tasks that serve most are taken, and once it is stopped those of
// the walk stay.
func TestFewest_Bounded(t *testing.T) {
	c := broad(t, 2000, 10)
	p, _ := c.Tree().Lookup("root.p")
	require.NoError(t, c.SetMax(p, shareOf(c, p, 9, 10, 1)))
	count := func(e quota.Enforcer) int {
		e.Cluster = c
		var d victims.Decision
		require.NoError(t, e.Enforce(&d, p, now))
		require.Empty(t, (&victims.Auditor{Cluster: c}).Audit(nil, &d, d.Plan.At))
		require.Equal(t, "met", d.Enforcement.Result)
		return len(d.Plan.Victims)
	}
	walk := count(quota.Enforcer{})
	for _, order := range []quota.Order{quota.Fewest, quota.FewestOfAll} {
		for _, steps := range []int64{0, 1} {
			require.Less(t, count(quota.Enforcer{Order: order, Options: victims.Options{Steps: steps}}), walk*4/5)
		}
		require.Equal(t, walk, count(quota.Enforcer{Order: order, Options: victims.Options{Stop: func() bool { return true }}}))
	}
}
