// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// change is a change of a task; none is the one that changes nothing.
type change = func(*victims.Task)

func none(*victims.Task) {}

// Each step of the order decides where those before it do not, and against all
// that come after it.
func TestOrder(t *testing.T) {
	last := age(9 * time.Hour)
	for _, test := range []struct {
		name          string
		order         quota.Order
		first, second []change
	}{
		{"plain before originators", "", []change{priority(9), optedOut}, []change{originator, age(0)}},
		{"lower priority", "", []change{optedOut, last}, []change{priority(1), age(0)}},
		{"the lowest priority there is", "", []change{priority(-1 << 31), last}, []change{priority(-1<<31 + 1)}},
		{"the highest priority there is", "", []change{priority(1<<31 - 2), last}, []change{priority(1<<31 - 1)}},
		{"opted-in before opted-out", "", []change{last}, []change{optedOut, age(0)}},
		{"younger", "", []change{age(time.Hour - 1), withDisks(50)}, []change{none}},
		{"in the future is younger still", "", []change{age(-time.Hour)}, []change{age(0)}},
		{"of unknown age are the oldest", "", []change{age(90 * 365 * 24 * time.Hour)}, []change{unknownAge}},
		{"smaller by dominant share", "", []change{withDisks(4)}, []change{withDisks(6)}},
		{"exactly the types", quota.ClosestMatch, []change{originator, priority(9)}, []change{withDisks(1)}},
		{"then by the order", quota.ClosestMatch, []change{withDisks(2)}, []change{withDisks(1), priority(1)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, leaf("a"))
			f.e.Order = test.order
			f.task("y", "a", 5, test.first...) // the keys are for the second
			f.task("x", "a", 5, test.second...)
			require.Equal(t, []string{"y"}, keys(f.enforce("a", slots(5))))
		})
	}
}

// The key decides last: both tasks are 5 of 100.
func TestOrder_Key(t *testing.T) {
	f := newFixture(t, leaf("a"))
	f.task("y", "a", 5, withDisks(4))
	f.task("x", "a", 5, withDisks(5))
	require.Equal(t, []string{"x"}, keys(f.enforce("a", slots(5))))
}

// The walk takes in order until the target is met, skips what a guarantee
// keeps, and gives back what is not needed. Where that ends short there is a
// search.
func TestLeaf(t *testing.T) {
	type task struct {
		key    string
		size   int64
		change []change
	}
	minutes := func(n int) change { return age(time.Duration(n) * time.Minute) }
	// In the order of taking, by their age.
	sizes := func(all ...int64) (tasks []task) {
		for i, size := range all {
			tasks = append(tasks, task{string(rune('a' + i)), size, []change{minutes(i)}})
		}
		return tasks
	}
	for _, test := range []struct {
		name       string
		guaranteed resources.Limit
		tasks      []task
		max        resources.Limit
		overshoot  int
		want       []string
		result     string
		short      resources.Vector
	}{
		{"until it is met", slots(0), sizes(5, 6, 9), slots(10), 0, []string{"a", "b"}, "met", nil},
		{"skips what is too large", slots(10), sizes(5, 6, 3, 4), slots(10), 0, []string{"a", "c"}, "met", nil},
		{"gives back what is not needed", slots(0), sizes(1, 2, 4), slots(2), 0, []string{"a", "c"}, "met", nil},
		{"searches where the walk is short", slots(2), sizes(2, 3, 3), slots(2), 0, []string{"b", "c"}, "met", nil},
		{"search: fewest originators, then", slots(11), append(sizes(5, 2, 2, 2), task{"x", 3, []change{originator}}, task{"y", 3, nil}), slots(11), 0,
			[]string{"b", "c", "d"}, "met", nil},
		{"search: least highest priority, then", slots(11), append(sizes(5, 3, 3), task{"x", 6, []change{priority(1)}}), slots(11), 0,
			[]string{"b", "c"}, "met", nil},
		{"search: the highest, not the sum", slots(11), append(sizes(5), task{"x", 3, []change{priority(1)}}, task{"y", 3, []change{priority(1)}}, task{"z", 6, []change{priority(2)}}), slots(11), 0,
			[]string{"x", "y"}, "met", nil},
		{"search: fewest opted-out, then", slots(11), append(sizes(5, 2, 2, 2), task{"x", 3, []change{optedOut}}, task{"y", 3, nil}), slots(11), 0,
			[]string{"b", "c", "d"}, "met", nil},
		{"search: fewest tasks, then", slots(11), sizes(5, 2, 2, 2, 3, 3), slots(11), 0, []string{"e", "f"}, "met", nil},
		{"search: least sum of priorities, then", slots(8), append(sizes(5), task{"x", 3, []change{priority(1)}}, task{"y", 3, []change{priority(2)}}, task{"z", 3, []change{priority(2)}}), slots(8), 0,
			[]string{"x", "y"}, "met", nil},
		{"search: least freed of other types, then", slots(8), append(sizes(5), task{"x", 3, []change{withDisks(2)}}, task{"y", 3, []change{withDisks(1)}}, task{"z", 3, nil}), slots(8), 0,
			[]string{"y", "z"}, "met", nil},
		{"search: least work lost, then", slots(8), append(sizes(5), task{"x", 3, []change{ran(3 * time.Hour)}}, task{"y", 3, nil}, task{"z", 3, []change{ran(2 * time.Hour)}}), slots(8), 0,
			[]string{"y", "z"}, "met", nil},
		{"search: none is lost of what will be scheduled", slots(8), append(sizes(5), task{"x", 3, nil}, task{"y", 3, nil}, task{"z", 3, []change{ran(-time.Hour)}}), slots(8), 0,
			[]string{"x", "z"}, "met", nil},
		{"search: the keys", slots(8), append(sizes(5), task{"z", 3, nil}, task{"y", 3, nil}, task{"x", 3, nil}), slots(8), 0,
			[]string{"x", "y"}, "met", nil},
		{"as much as there is", slots(0), append(sizes(3), task{"ds", 4, []change{requiredNode}}), slots(2), 0,
			[]string{"a"}, "partial", resources.Vector{2, 0}},
		{"nobody", slots(7), sizes(3, 3, 3), slots(8), 0, nil, "impossible", resources.Vector{1, 0}},
		{"exactly, by a search", slots(0), sizes(4, 5, 2), slots(4), exactly, []string{"b", "c"}, "met", nil},
		{"exactly, in part", slots(0), sizes(3, 3, 3), slots(4), exactly, []string{"a"}, "partial", resources.Vector{2, 0}},
		{"what is leaving counts as gone", slots(0), append(sizes(4), task{"l", 4, []change{leaving}}), slots(4), 0, nil, "met", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, leaf("q", test.guaranteed))
			f.e.NeverOvershoot = test.overshoot == exactly
			for _, task := range test.tasks {
				f.task(task.key, "q", task.size, task.change...)
			}
			o := f.enforce("q", test.max)
			require.Equal(t, append([]string{}, test.want...), keys(o))
			require.Equal(t, test.result, o.Enforcement.Result)
			require.True(t, resources.Equal(test.short, o.Enforcement.Shortfall), "short of %v", o.Enforcement.Shortfall)
			require.True(t, o.Enforcement.Proven)
		})
	}
}

// What the trim gives back may make room for others. Of disks 3 are to go, and
// 6 may: x and a take 5 of them, so that b has no room; x goes back. All slots
// cannot be had, since c has no room beside any other.
func TestLeaf_FillsAfterTrim(t *testing.T) {
	f := newFixture(t, leaf("q", resources.Limit{Value: resources.Vector{0, 6}, Defined: 2}))
	f.task("x", "q", 0, withDisks(2))
	f.task("a", "q", 1, withDisks(3), priority(1))
	f.task("b", "q", 4, withDisks(3), priority(2))
	f.task("c", "q", 1, withDisks(4), priority(3))
	o := f.enforce("q", both(0, 9))
	require.Equal(t, []string{"a", "b"}, keys(o))
	require.Equal(t, resources.Vector{1, 0}, o.Enforcement.Shortfall)
	require.True(t, o.Enforcement.Proven)
}

// Pack takes node after node: first the one with most of what is open, in node
// order where two have as much, and on a node in the default order. What goes
// back is of the last node.
func TestPack(t *testing.T) {
	type task struct {
		key, node string
		size      int64
		change    []change
	}
	for _, test := range []struct {
		name  string
		tasks []task
		free  int64
		want  []string
	}{
		{"most of what is open", []task{{"a", "n1", 3, []change{age(0)}}, {"b", "n2", 2, nil}, {"c", "n2", 2, nil}}, 3, []string{"b", "c"}},
		{"before originators and priority", []task{{"a", "n1", 3, nil}, {"b", "n2", 4, []change{originator, priority(9)}}}, 3, []string{"b"}},
		{"node order", []task{{"b", "n2", 3, []change{age(0)}}, {"a", "n1", 3, nil}}, 3, []string{"a"}},
		{"more than is open still counts", []task{{"a", "n1", 4, nil}, {"b", "n2", 5, nil}}, 3, []string{"b"}},
		{"on a node in the default order", []task{{"a", "n1", 2, []change{priority(1)}}, {"b", "n1", 2, nil}, {"c", "n2", 3, nil}}, 2, []string{"b"}},
		{"the last node gives back", []task{{"a", "n1", 1, []change{priority(9)}}, {"b", "n1", 4, []change{priority(9)}}, {"c", "n2", 4, nil}}, 8, []string{"b", "c"}},
		{"a task that does not help counts for nothing", []task{{"a", "n1", 2, nil}, {"x", "n1", 0, []change{withDisks(90)}}, {"b", "n2", 3, nil}}, 2, []string{"b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, leaf("q"))
			f.e.Order = quota.Pack
			f.node("n2")
			var used int64
			for _, task := range test.tasks {
				node, _ := f.c.LookupNode(task.node)
				f.task(task.key, "q", task.size, append(task.change, func(t *victims.Task) { t.Node = node })...)
				used += task.size
			}
			require.Equal(t, test.want, keys(f.enforce("q", slots(used-test.free))))
		})
	}
}

// In a second round what is open is less, and nodes are put in order anew.
func TestPack_Rounds(t *testing.T) {
	f := newFixture(t, inner("p", leaf("a", slots(4)), leaf("b")))
	f.e.Order = quota.Pack
	n2 := func(t *victims.Task) { t.Node = 2 }
	f.node("n2")
	f.task("a", "p.a", 8) // it has a part and cannot give it
	f.task("b1", "p.b", 3)
	f.task("b2", "p.b", 1, n2)
	f.task("b3", "p.b", 1, n2)
	f.task("b4", "p.b", 1, n2, originator)
	o := f.enforce("p", slots(8)) // 6 of 14: parts are 2 and 4
	require.Equal(t, map[string]int64{"root.p.a": 2, "root.p.b": 4}, f.parts(o))
	require.Equal(t, []string{"b1", "b2", "b3", "b4"}, keys(o))
}

// Victims are sorted by key, whatever the keys look like.
func TestVictims_Sorted(t *testing.T) {
	for _, all := range [][]string{
		{"b", "a", "ab", "aa"},
		{"same-beginning-2", "same-beginning-10", "same-beginning-1"},
		{"x-00000000-b", "x-00000000-a", "y"},
		{"a\x00", "a", "a\x00\x00", "\x00"},
		{"ä", "z", "\xff", "Z"},
		{"only"},
	} {
		f := newFixture(t, leaf("a"))
		for _, key := range all {
			f.task(key, "a", 1)
		}
		want := slices.Sorted(slices.Values(all))
		require.Equal(t, want, keys(f.enforce("a", slots(0))))
	}
}
