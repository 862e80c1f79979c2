// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// guaranteed describes an inner queue with a guarantee.
func guaranteed(name string, g resources.Limit, children ...queue.Config) queue.Config {
	return queue.Config{Name: name, Guaranteed: g, Children: children}
}

// What the rounds, leaf by leaf, do not find is searched for below the whole
// queue. In each case the rounds end with a1, and a2 or b1 where they fit.
func TestJoint(t *testing.T) {
	aAndB := []queue.Config{leaf("a"), leaf("b")}
	for _, test := range []struct {
		name   string
		tree   queue.Config
		fill   func(*fixture)
		queue  string
		max    resources.Limit
		want   []string
		result string
		short  resources.Vector
	}{
		// 4 of 7 are to go, and as many may: 2 and 1 of a leave no room for b1.
		{"one of 4 for 2 and 1", guaranteed("p", slots(3), aAndB...), func(f *fixture) {
			f.tasks("p.a", 2, 1)
			f.tasks("p.b", 4)
		}, "p", slots(3), []string{"b1"}, "met", nil},
		{"whatever the order of children", guaranteed("p", slots(3), leaf("b"), leaf("a")), func(f *fixture) {
			f.tasks("p.a", 2, 1)
			f.tasks("p.b", 4)
		}, "p", slots(3), []string{"b1"}, "met", nil},
		{"a guarantee above", guaranteed("p", slots(3), inner("q", aAndB...)), func(f *fixture) {
			f.tasks("p.q.a", 2, 1)
			f.tasks("p.q.b", 4)
		}, "p.q", slots(3), []string{"b1"}, "met", nil},
		{"who is being enforced stays", guaranteed("p", slots(3), leaf("a"), leaf("busy")), func(f *fixture) {
			f.tasks("p.a", 2, 1)
			f.task("b1", "p.busy", 4)
		}, "p", slots(3), []string{"a1", "a2"}, "partial", resources.Vector{1, 0}},
		{"who is bound to a node stays", guaranteed("p", slots(3), aAndB...), func(f *fixture) {
			f.tasks("p.a", 2, 1)
			f.task("b1", "p.b", 4, requiredNode)
		}, "p", slots(3), []string{"a1", "a2"}, "partial", resources.Vector{1, 0}},
		// 4 of 11, with 7 guaranteed: b1 and c1 would do.
		{"the cheapest", guaranteed("p", slots(7), leaf("a"), leaf("b"), leaf("c")), func(f *fixture) {
			f.tasks("p.a", 2, 1)
			f.task("b1", "p.b", 4, originator)
			f.task("c1", "p.c", 4, priority(9))
		}, "p", slots(7), []string{"c1"}, "met", nil},
		// 5 are to go, and 4 may.
		{"more of a leaf where all cannot be had", guaranteed("p", slots(1), aAndB...), func(f *fixture) {
			f.tasks("p.a", 2, 3)
		}, "p.a", slots(0), []string{"a2"}, "partial", resources.Vector{2, 0}},
		// All 15 are to go, and 12 may: 6+4 has no room for 5, and 6+5 is the most.
		{"more of a parent where all cannot be had", guaranteed("p", slots(3), inner("q", aAndB...)), func(f *fixture) {
			f.tasks("p.q.a", 6)
			f.tasks("p.q.b", 4, 5)
		}, "p.q", slots(0), []string{"a1", "b2"}, "partial", resources.Vector{4, 0}},
		// Each has 3 disks, and 3 may go. Only slots are over.
		{"another type is in the way", guaranteed("p", both(0, 3), aAndB...), func(f *fixture) {
			f.task("a1", "p.a", 1, withDisks(3))
			f.task("b1", "p.b", 4, withDisks(3))
		}, "p", slots(0), []string{"b1"}, "partial", resources.Vector{1, 0}},
		// As before, but 3 of the 5 disks are over as well: b1 has 3 more slots
		// and a disk less.
		{"no type falls", guaranteed("p", both(0, 2), aAndB...), func(f *fixture) {
			f.task("a1", "p.a", 1, withDisks(3))
			f.task("b1", "p.b", 4, withDisks(2))
		}, "p", both(0, 2), []string{"a1"}, "partial", resources.Vector{4, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, test.tree)
			f.e.Enforced = func(q queue.ID) bool { return trees.Name(f.c.Tree(), q) == "busy" }
			test.fill(f)
			o := f.enforce(test.queue, test.max)
			require.Equal(t, test.want, keys(o))
			require.Equal(t, test.result, o.Enforcement.Result)
			require.True(t, resources.Equal(test.short, o.Enforcement.Shortfall), "short of %v", o.Enforcement.Shortfall)
			require.True(t, o.Enforcement.Proven)
		})
	}
}

// What a search replaces is told as if the leaves had been asked for it, and
// parts stay those of the first round.
func TestJoint_Leaves(t *testing.T) {
	f := newFixture(t, inner("p", leaf("a"), leaf("b"), leaf("c")))
	f.e.NeverOvershoot = true
	f.tasks("p.a", 1)
	f.tasks("p.b", 3)
	f.tasks("p.c", 3)
	o := f.enforce("p", slots(1)) // 1, 3 and 2 of 6, so that the rounds end with a1 and b1
	require.Equal(t, map[string]int64{"root.p.a": 1, "root.p.b": 3, "root.p.c": 2}, f.parts(o))
	require.Equal(t, []string{"b1", "c1"}, keys(o))
	require.Equal(t, "met", o.Enforcement.Result)
	require.Equal(t, []victims.Part{
		{Queue: "root.p.a", Amount: resources.Vector{1, 0}, Asked: resources.Vector{1, 0}, Freed: resources.Vector{0, 0}},
		{Queue: "root.p.b", Amount: resources.Vector{3, 0}, Asked: resources.Vector{3, 0}, Freed: resources.Vector{3, 0}, Victims: 1},
		{Queue: "root.p.c", Amount: resources.Vector{2, 0}, Asked: resources.Vector{3, 0}, Freed: resources.Vector{3, 0}, Victims: 1},
	}, o.Enforcement.Parts)
}

// The most of the first type comes first, even if less of it is to be had with
// more of the next one: the rounds end with a and c, for 2 slots and 4 disks of
// 5 each; b and c have 3 and 5, but c and z 5 and 4.
func TestJoint_TypeByType(t *testing.T) {
	f := newFixture(t, leaf("q"))
	f.e.NeverOvershoot = true
	f.task("a", "q", 1, withDisks(1), age(1*time.Minute))
	f.task("c", "q", 1, withDisks(3), age(2*time.Minute))
	f.task("z", "q", 4, withDisks(1), age(3*time.Minute))
	f.task("b", "q", 2, withDisks(2), age(4*time.Minute))
	o := f.enforce("q", both(3, 2)) // of 8 and 7
	require.Equal(t, []string{"c", "z"}, keys(o))
	require.Equal(t, resources.Vector{0, 1}, o.Enforcement.Shortfall)
}

// A shortfall is what stays over once the most that can be had is freed.
func TestJoint_Short(t *testing.T) {
	f := newFixture(t, guaranteed("p", slots(1), leaf("a")))
	f.tasks("p.a", 2, 3)
	o := f.enforce("p.a", slots(0))
	require.Equal(t, []string{"a2"}, keys(o))
	require.Equal(t, "partial", o.Enforcement.Result)
	require.Equal(t, []victims.Obstacle{{Rule: "guarantee", Amount: 2, Queue: "root.p"}}, obstacles(o))
}

// Few candidates are searched to the end; more as far as the budget goes, and the
// outcome says which. Where sums alone show that no more can be had there is
// nothing to search.
func TestJoint_Budget(t *testing.T) {
	// All but one task are of 2, each in a leaf of its own and no two alike. An
	// even number of slots is to go, all that may: after odd, of 1, one is left.
	cluster := func(tasks int) *fixture {
		children := []queue.Config{leaf("odd")}
		for i := range tasks - 1 {
			children = append(children, leaf(fmt.Sprintf("q%02d", i)))
		}
		f := newFixture(t, guaranteed("p", slots(1), children...))
		f.task("odd", "p.odd", 1)
		for i := range tasks - 1 {
			f.task(fmt.Sprintf("t%02d", i), fmt.Sprintf("p.q%02d", i), 2, ran(time.Duration(i)*time.Hour), withDisks(int64(i)))
		}
		return f
	}
	few := cluster(quota.CompleteCandidates)
	few.e.Steps = 1
	o := few.enforce("p", slots(1))
	require.Equal(t, "met", o.Enforcement.Result)
	require.True(t, o.Enforcement.Proven)
	require.NotContains(t, keys(o), "odd")

	many := cluster(quota.CompleteCandidates + 1)
	many.e.Steps = 1
	o = many.enforce("p", slots(1))
	require.Equal(t, "partial", o.Enforcement.Result)
	require.False(t, o.Enforcement.Proven)
	require.Contains(t, keys(o), "odd")

	many.e.Steps = 0
	o = many.enforce("p", slots(1))
	require.Equal(t, "met", o.Enforcement.Result)
	require.True(t, o.Enforcement.Proven)
	require.Positive(t, o.Plan.Steps)

	require.NoError(t, many.c.SetGuaranteed(many.queue("p"), resources.Limit{}))
	many.grant("g", "p.odd", 5)
	many.e.Steps = 1
	o = many.enforce("p", slots(1)) // everybody goes, and the grant stays
	require.Equal(t, "partial", o.Enforcement.Result)
	require.True(t, o.Enforcement.Proven)
	require.Zero(t, o.Plan.Steps)
}

// A warm enforcer allocates nothing for it, whether it finds anything or not.
func TestJoint_NoAllocs(t *testing.T) {
	for _, exact := range []bool{false, true} {
		f := newFixture(t, guaranteed("p", slots(3), leaf("a"), leaf("b")))
		f.e.NeverOvershoot = exact
		f.tasks("p.a", 2, 1)
		f.tasks("p.b", 4)
		p := f.queue("p")
		var o victims.Decision
		for _, most := range []resources.Limit{slots(3), slots(5)} {
			require.NoError(t, f.c.SetMax(p, most))
			enforce := func() {
				if err := f.e.Enforce(&o, p, now); err != nil {
					t.Fatal(err)
				}
			}
			enforce()
			require.Zero(t, testing.AllocsPerRun(20, enforce))
		}
	}
}
