// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// odds is a queue of many leaves of 12 tasks, each of which has its own guarantee and
// cannot free the part that falls to it exactly: a walk ends short in each, and a search
// is asked for.
func odds(t *testing.T, leaves int) *fixture {
	var children []queue.Config
	for i := range leaves {
		children = append(children, leaf(fmt.Sprintf("w%03d", i), both(int64(7000+i), int64(3000+i))))
	}
	f := newFixture(t, inner("p", children...))
	for i := range leaves {
		for k := range quota.CompleteCandidates {
			size := int64(700 + (i*7919+k*104729)%1009)
			f.task(fmt.Sprintf("t%03d-%02d", i, k), fmt.Sprintf("p.w%03d", i), size, withDisks(size*size%997))
		}
	}
	f.e.NeverOvershoot = true
	return f
}

// used is what the tasks of a queue use.
func (f *fixture) used(path string) resources.Vector { return f.c.Tree().Usage(f.queue(path)) }

// Searches of few tasks have a budget, too: what many leaves may ask for is no longer
// without end, and Stop is asked all along.
func TestEnforce_Bounded(t *testing.T) {
	f := odds(t, 60)
	polls := 0
	f.e.Stop = func() bool { polls++; return false }
	f.e.Steps = 1
	used := f.used("p")
	o := f.enforce("p", both(used[0]*3/4, used[1]*3/4))
	require.NotEmpty(t, o.Plan.Victims)
	t.Logf("%v, proven %v, %d steps, asked %d times", o.Enforcement.Result, o.Enforcement.Proven, o.Plan.Steps, polls)
	require.GreaterOrEqual(t, int64(polls), o.Plan.Steps/1000)
	// A million steps, and one search that was begun before.
	require.LessOrEqual(t, o.Plan.Steps, int64(5<<20/4))
	require.LessOrEqual(t, polls, 5<<20/4/100)
}

// Once Stop says so nothing more is searched, and it is not asked again. The answer is
// lawful: nobody goes in vain, and nobody stays who could go.
func TestEnforce_Stop(t *testing.T) {
	for _, at := range []int{1, 2, 3, 10, 100} {
		f, polls := odds(t, 20), 0
		used := f.used("p")
		f.e.Stop = func() bool { polls++; return polls >= at }
		o := f.enforce("p", both(used[0]*3/4, used[1]*3/4))
		require.Equal(t, at, polls, "it is not asked again")
		require.False(t, o.Enforcement.Proven)
		require.NotEmpty(t, o.Plan.Victims)
		require.LessOrEqual(t, o.Plan.Steps, int64(1000*(at+1)), "stopped at question %d", at)
	}
}

// A walk asks as well.
func TestEnforce_WalksAsk(t *testing.T) {
	c := broad(t, 20_000, 20)
	p, _ := c.Tree().Lookup("root.p")
	polls := 0
	e := quota.Enforcer{Cluster: c, Options: victims.Options{Steps: 1, Stop: func() bool { polls++; return false }}}
	var o victims.Decision
	require.NoError(t, c.SetMax(p, shareOf(c, p, 1, 2, 7)))
	require.NoError(t, e.Enforce(&o, p, now))
	require.Zero(t, o.Plan.Steps) // a search has no room
	require.GreaterOrEqual(t, polls, 20_000/1000)
	before := len(o.Plan.Victims)

	e.Stop = func() bool { return true }
	require.NoError(t, c.SetMax(p, shareOf(c, p, 1, 2, 7)))
	require.NoError(t, e.Enforce(&o, p, now))
	require.Len(t, o.Plan.Victims, before)
	require.Empty(t, (&victims.Auditor{Cluster: c}).Audit(nil, &o, o.Plan.At))
}
