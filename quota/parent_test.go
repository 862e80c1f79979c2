// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// tasks adds tasks a1, a2, … to leaf a, in the order of taking.
func (f *fixture) tasks(path string, sizes ...int64) {
	f.t.Helper()
	name := path[len(path)-1:]
	for i, size := range sizes {
		f.task(fmt.Sprint(name, i+1), path, size, priority(int32(i)))
	}
}

// Children give in proportion to what they can release, in the first round.
func TestParent_Parts(t *testing.T) {
	f := newFixture(t, inner("p",
		inner("t", leaf("a", slots(10)), leaf("c", slots(2))),
		inner("u", queue.Config{Name: "b"}),
		leaf("none"), leaf("full", slots(7)),
	))
	f.tasks("p.t.a", 5, 5)                // releases nothing
	f.tasks("p.t.c", 1, 1, 1, 1, 1, 1, 1) // 5
	f.tasks("p.u.b", 2, 2, 2, 2, 2)       // 10
	f.tasks("p.full", 7)
	o := f.enforce("p", slots(25)) // 9 of 34
	require.Equal(t, map[string]int64{
		"root.p.t": 3, "root.p.t.c": 3, "root.p.u": 6, "root.p.u.b": 6,
	}, f.parts(o))
	require.Equal(t, []string{"b1", "b2", "b3", "c1", "c2", "c3"}, keys(o))
	require.Equal(t, []victims.Part{
		{Queue: "root.p.t", Amount: resources.Vector{3, 0}},
		{Queue: "root.p.t.c", Amount: resources.Vector{3, 0}, Asked: resources.Vector{3, 0}, Freed: resources.Vector{3, 0}, Victims: 3},
		{Queue: "root.p.u", Amount: resources.Vector{6, 0}},
		{Queue: "root.p.u.b", Amount: resources.Vector{6, 0}, Asked: resources.Vector{6, 0}, Freed: resources.Vector{6, 0}, Victims: 3},
	}, o.Enforcement.Parts)
}

// A guarantee above the enforced queue limits what is taken, but neither target,
// parts nor shortfall.
func TestParent_GuaranteeAbove(t *testing.T) {
	f := newFixture(t, queue.Config{Name: "p", Guaranteed: slots(8), Children: []queue.Config{inner("q", leaf("a"), leaf("b"))}})
	f.tasks("p.q.a", 1, 1, 1, 1, 1)
	f.tasks("p.q.b", 1, 1, 1, 1, 1)
	o := f.enforce("p.q", slots(4))
	require.Equal(t, map[string]int64{"root.p.q.a": 3, "root.p.q.b": 3}, f.parts(o))
	require.Equal(t, []string{"a1", "b1"}, keys(o))
	require.Equal(t, "partial", o.Enforcement.Result)
	require.Equal(t, resources.Vector{6, 0}, o.Enforcement.Target)
	require.Equal(t, resources.Vector{4, 0}, o.Enforcement.Shortfall)
	require.Equal(t, []victims.Obstacle{{Type: 0, Rule: "guarantee", Amount: 8, Queue: "root.p"}}, obstacles(o))
}

// Parts are those of the whole target, and what a guarantee above lets go is cut
// as evenly.
func TestParent_PartsBelowGuarantee(t *testing.T) {
	f := newFixture(t, queue.Config{Name: "top", Guaranteed: slots(16), Children: []queue.Config{
		inner("p", leaf("a"), leaf("b")), leaf("o"),
	}})
	f.tasks("top.p.a", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	f.tasks("top.p.b", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	o := f.enforce("top.p", slots(10))
	require.Equal(t, map[string]int64{"root.top.p.a": 5, "root.top.p.b": 5}, f.parts(o))
	require.Equal(t, []string{"a1", "a2", "b1", "b2"}, keys(o))
	require.Equal(t, resources.Vector{6, 0}, o.Enforcement.Shortfall)
	require.True(t, o.Enforcement.Proven)
}

// What a leaf cannot give is offered to its siblings first, and then to those
// of its parent.
func TestParent_Rounds(t *testing.T) {
	tree := []queue.Config{inner("p", inner("t", leaf("a", slots(4)), leaf("c")), leaf("u"))}
	for _, test := range []struct {
		name    string
		c, u    []int64
		max     int64
		parts   map[string]int64
		victims []string
	}{
		// a has one task of 8 over a guarantee of 4, and cannot give its part.
		{"to the sibling", []int64{1, 1, 1, 1}, []int64{1, 1, 1, 1, 1, 1, 1, 1}, 16,
			map[string]int64{"root.p.t": 2, "root.p.t.a": 1, "root.p.t.c": 1, "root.p.u": 2}, []string{"c1", "c2", "u1", "u2"}},
		{"to the parent's sibling", []int64{1}, []int64{1, 1, 1, 1, 1}, 8,
			map[string]int64{"root.p.t": 3, "root.p.t.a": 2, "root.p.t.c": 1, "root.p.u": 3}, []string{"c1", "u1", "u2", "u3", "u4", "u5"}},
		{"overshoot counts", []int64{3}, []int64{1, 1, 1, 1}, 11,
			map[string]int64{"root.p.t": 3, "root.p.t.a": 2, "root.p.t.c": 1, "root.p.u": 1}, []string{"c1", "u1"}},
		// u1 is the more valuable, but without it the target of 2 is not met.
		{"overshoot of another makes a victim superfluous", []int64{1, 1, 1}, []int64{4}, 13,
			map[string]int64{"root.p.t": 1, "root.p.t.a": 1, "root.p.u": 1}, []string{"u1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, tree...)
			f.tasks("p.t.a", 8)
			f.tasks("p.t.c", test.c...)
			f.tasks("p.u", test.u...)
			o := f.enforce("p", slots(test.max))
			require.Equal(t, test.parts, f.parts(o))
			require.Equal(t, test.victims, keys(o))
		})
	}
}

// No leaf trims: the last trim looks at all that was taken, so that an opted-out
// task stays a victim only where no plain one that was taken, equal in
// originator and priority, could be given back in its stead.
func TestParent_LastTrim(t *testing.T) {
	minutes := func(n time.Duration) change { return age(n * time.Minute) }
	for _, test := range []struct {
		name  string
		order quota.Order
		fill  func(*fixture)
		free  int64
		want  []string
	}{
		// Parts are 8 and 1. Trimmed on its own, a would keep 2 and 6.
		{"a plain one of another leaf", "", func(f *fixture) {
			f.task("a1", "p.a", 2, minutes(1))
			f.task("a2", "p.a", 1, minutes(2))
			f.task("a3", "p.a", 6, minutes(3))
			f.task("b1", "p.b", 1, minutes(4), optedOut)
		}, 9, []string{"a1", "a2", "a3"}},
		// Parts are 3 and 1. Trimmed on its own, a would keep a2.
		{"in its own leaf", "", func(f *fixture) {
			f.task("a1", "p.a", 2, minutes(10))
			f.task("a2", "p.a", 3, minutes(5), optedOut)
			f.task("b1", "p.b", 3, minutes(20))
		}, 4, []string{"a1", "b1"}},
		// b1 is opted out, but a2 has the higher priority.
		{"not of a higher priority", "", func(f *fixture) {
			f.task("a1", "p.a", 1)
			f.task("a2", "p.a", 3, priority(1))
			f.task("b1", "p.b", 3, optedOut)
		}, 4, []string{"a1", "b1"}},
		{"closest match", quota.ClosestMatch, func(f *fixture) {
			f.task("a1", "p.a", 2, minutes(1))
			f.task("a2", "p.a", 1, minutes(2))
			f.task("a3", "p.a", 6, minutes(3))
			f.task("b1", "p.b", 1, withDisks(1))
		}, 9, []string{"a1", "a2", "a3"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, inner("p", leaf("a"), leaf("b")))
			f.e.Order = test.order
			test.fill(f)
			used := f.c.Tree().Usage(f.queue("p"))[0]
			require.Equal(t, test.want, keys(f.enforce("p", slots(used-test.free))))
		})
	}
}

// A task that is too large for the parts may be right for the whole.
func TestParent_ExactWhole(t *testing.T) {
	f := newFixture(t, inner("p", leaf("a"), leaf("b")))
	f.e.NeverOvershoot = true
	f.tasks("p.a", 4)
	f.tasks("p.b", 4)
	require.Equal(t, []string{"a1"}, keys(f.enforce("p", slots(4))))
}

// And it is so for the whole of an inner queue before its siblings are asked.
func TestParent_ExactWholeInside(t *testing.T) {
	f := newFixture(t, inner("p", inner("t", leaf("a"), leaf("c")), leaf("u")))
	f.e.NeverOvershoot = true
	f.tasks("p.t.a", 2)
	f.tasks("p.t.c", 2)
	f.tasks("p.u", 1, 1, 1, 1)
	o := f.enforce("p", slots(4)) // parts are 2 and 2, those of a and c 1
	require.Equal(t, []string{"a1", "u1", "u2"}, keys(o))
}

// The last trim may empty the part of a leaf: most valuable back first.
func TestParent_LastTrimEmptiesALeaf(t *testing.T) {
	f := newFixture(t, inner("p", leaf("a"), leaf("b")))
	f.task("a1", "p.a", 3, originator)
	f.task("b1", "p.b", 3, priority(9))
	o := f.enforce("p", slots(3)) // parts are 2 and 1
	require.Equal(t, map[string]int64{"root.p.a": 2, "root.p.b": 1}, f.parts(o))
	require.Equal(t, []string{"b1"}, keys(o))
	require.Equal(t, 0, o.Enforcement.Parts[0].Victims)
}

// Queues that are being enforced already, and all below them, give nothing.
func TestParent_Enforced(t *testing.T) {
	f := newFixture(t, inner("p", inner("t", leaf("a")), leaf("b")))
	f.tasks("p.t.a", 1, 1, 1, 1)
	f.tasks("p.b", 1, 1)
	busy := f.queue("p.t")
	f.e.Enforced = func(q queue.ID) bool { return q == busy || q == f.queue("p") }
	o := f.enforce("p", slots(1)) // that p itself is being enforced is what this is about
	require.Equal(t, []string{"b1", "b2"}, keys(o))
	require.Equal(t, map[string]int64{"root.p.b": 2}, f.parts(o))
	require.Equal(t, []victims.Obstacle{{Rule: "enforced", Amount: 4, Queue: "root.p"}}, obstacles(o))
}

// What keeps the rest of each type, by rule.
func TestStops(t *testing.T) {
	f := newFixture(t, queue.Config{Name: "p", Children: []queue.Config{
		leaf("a", both(2, 1)), leaf("b"), leaf("c"),
	}})
	f.task("a1", "p.a", 4, withDisks(1))
	f.task("b1", "p.b", 3, requiredNode)
	f.task("b2", "p.b", 2)
	f.task("c1", "p.c", 5, withDisks(2))
	f.task("c2", "p.c", 7, leaving)
	f.grant("g2", "p.b", 1)
	f.grant("g1", "p.c", 6)
	busy := f.queue("p.c")
	f.e.Enforced = func(q queue.ID) bool { return q == busy }
	o := f.enforce("p", both(0, 0))
	require.Equal(t, []string{"b2"}, keys(o))
	require.Equal(t, []victims.Obstacle{
		{Type: 0, Rule: "guarantee", Amount: 4, Queue: "root.p.a"},
		{Type: 0, Rule: "enforced", Amount: 5, Queue: "root.p"},
		{Type: 0, Rule: "required-node", Amount: 3, Queue: "root.p"},
		{Type: 0, Rule: "granted", Amount: 7, Queue: "root.p"},
		{Type: 1, Rule: "guarantee", Amount: 1, Queue: "root.p.a"},
		{Type: 1, Rule: "enforced", Amount: 2, Queue: "root.p"},
	}, obstacles(o))
	require.Equal(t, []string{"g1", "g2"}, o.Enforcement.Grants)
	require.Equal(t, resources.Vector{19, 3}, o.Enforcement.Shortfall)
}

// Of several guarantees that keep tasks, the first in tree order is named,
// above the enforced queue too.
func TestStops_Guarantees(t *testing.T) {
	f := newFixture(t, queue.Config{Name: "p", Guaranteed: slots(11), Children: []queue.Config{
		inner("q", leaf("a", slots(3)), leaf("b", slots(4))),
	}})
	f.task("a1", "p.q.a", 4)
	f.task("b1", "p.q.b", 6)
	o := f.enforce("p.q", slots(9)) // of 10, and p is guaranteed 11
	require.Equal(t, []victims.Obstacle{{Rule: "guarantee", Amount: 10, Queue: "root.p"}}, obstacles(o))
	require.NoError(t, f.c.SetGuaranteed(f.queue("p"), resources.Limit{}))
	o = f.enforce("p.q", slots(9))
	require.Equal(t, []victims.Obstacle{{Rule: "guarantee", Amount: 10, Queue: "root.p.q.a"}}, obstacles(o))
}
