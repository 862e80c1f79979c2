// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// minimums tells the cluster what jobs need.
func (f *fixture) minimums(of map[string]int) { world.SetMinimums(f.c, of) }

// A gang goes one by one above its minimum, and else as a whole. In each case the
// gang is g and the leaf q, of a parent p.
func TestGang(t *testing.T) {
	g, minutes := job("g"), func(n time.Duration) change { return age(n * time.Minute) }
	type task struct {
		key    string
		size   int64
		change []change
	}
	// Members of 1, in the order of taking.
	members := func(n int) (all []task) {
		for i := range n {
			all = append(all, task{"g" + string(rune('1'+i)), 1, []change{g, minutes(time.Duration(i + 1))}})
		}
		return all
	}
	for _, test := range []struct {
		name      string
		minimum   int
		tasks     []task
		overshoot int
		free      int64
		want      []string
		result    string
	}{
		{"as a whole", 3, append(members(3), task{"s", 1, []change{priority(5)}}), 0, 1, []string{"g1", "g2", "g3"}, "met"},
		{"at the place of its last member", 2, []task{
			{"g1", 1, []change{g}}, {"g2", 1, []change{g, priority(9)}}, {"s", 1, []change{priority(5)}},
		}, 0, 1, []string{"s"}, "met"},
		{"one by one above the minimum", 3, append(members(4), task{"s", 1, []change{priority(1)}}), 0, 1, []string{"g1"}, "met"},
		{"then the rest", 3, append(members(4), task{"z", 1, []change{priority(1)}}), 0, 2, []string{"g1", "g2", "g3", "g4"}, "met"},
		{"then who comes before the rest", 3, append(members(4), task{"s", 1, []change{minutes(3)}}), 0, 2, []string{"g1", "s"}, "met"},
		{"one by one without a minimum", 0, members(3), 0, 1, []string{"g1"}, "met"},
		{"fewer run than it needs", 9, members(2), 0, 1, []string{"g1", "g2"}, "met"},
		{"one is bound to a node", 3, append(members(2), task{"g3", 1, []change{g, requiredNode}}, task{"s", 1, []change{priority(7)}}), 0, 2,
			[]string{"s"}, "partial"},
		{"above the minimum with one that is bound", 2, append(members(2), task{"g3", 1, []change{g, requiredNode}}), 0, 2,
			[]string{"g1"}, "partial"},
		{"who is leaving is no member", 2, append(members(2), task{"g3", 1, []change{g, leaving}}), 0, 1,
			[]string{"g1", "g2"}, "met"},
		{"a member that has none of the type goes along", 2, append(members(1), task{"g2", 0, []change{g, withDisks(3)}}), 0, 1,
			[]string{"g1", "g2"}, "met"},
		{"it goes back as a whole", 2, append(members(2), task{"s", 3, []change{priority(1)}}), 0, 3, []string{"s"}, "met"},
		{"the first is not given back while the rest goes", 2, append(members(3), task{"s", 3, []change{priority(1)}}), 0, 2,
			[]string{"g1", "g2", "g3"}, "met"},
		{"exactly: too large as a whole", 2, append(members(2), task{"s", 1, []change{priority(1)}}), exactly, 1, []string{"s"}, "met"},
		{"exactly: a search takes the whole", 2, []task{
			{"a", 2, []change{minutes(1)}}, {"g1", 1, []change{g, minutes(2)}}, {"g2", 2, []change{g, minutes(3)}},
		}, exactly, 3, []string{"g1", "g2"}, "met"},
		{"exactly: a search takes no more than may go singly", 2, []task{
			{"a", 2, []change{minutes(1)}}, {"g1", 2, []change{g, minutes(2)}}, {"g2", 1, []change{g, minutes(3)}}, {"g3", 2, []change{g, minutes(4)}},
			{"z", 3, []change{priority(9)}},
		}, exactly, 3, []string{"a", "g2"}, "met"},
		{"exactly: a search counts nobody twice", 1, []task{
			{"g1", 2, []change{g, minutes(1)}}, {"g2", 2, []change{g, minutes(2)}}, {"x", 6, []change{priority(9)}},
		}, exactly, 6, []string{"x"}, "met"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, inner("p", leaf("q"), leaf("other")))
			f.minimums(map[string]int{"g": test.minimum})
			f.e.NeverOvershoot = test.overshoot == exactly
			for _, task := range test.tasks {
				f.task(task.key, "p.q", task.size, task.change...)
			}
			q := f.queue("p.q")
			used := f.c.Tree().Usage(q)[0] - f.c.Tree().Leaving(q)[0]
			o := f.enforce("p.q", slots(used-test.free))
			require.Equal(t, test.want, keys(o))
			require.Equal(t, test.result, o.Enforcement.Result)
		})
	}
}

// Members of other leaves count, wherever they are, and keep the gang from going
// as a whole.
func TestGang_Leaves(t *testing.T) {
	f := newFixture(t, inner("p", leaf("a"), leaf("b")), leaf("c"))
	f.minimums(map[string]int{"g": 2})
	f.task("g1", "p.a", 1, job("g"))
	f.task("g2", "p.b", 1, job("g"))
	require.Equal(t, "impossible", f.enforce("p", slots(0)).Enforcement.Result)
	f.task("g3", "c", 1, job("g"))
	o := f.enforce("p", slots(0)) // one of the three may go
	require.Equal(t, []string{"g1"}, keys(o))
	require.Equal(t, []victims.Obstacle{{Rule: "gang", Amount: 1, Queue: "root.p"}}, obstacles(o))
	require.NotContains(t, o.String(), "goes as a whole")
}

// Law 2 is judged for a gang as a whole.
func TestGang_Guarantee(t *testing.T) {
	f := newFixture(t, leaf("a", slots(2)))
	f.minimums(map[string]int{"g": 2})
	f.task("g1", "a", 1, job("g"))
	f.task("g2", "a", 1, job("g"))
	f.task("s", "a", 1, priority(9))
	o := f.enforce("a", slots(2))
	require.Equal(t, []string{"s"}, keys(o))
	f.task("h1", "a", 1, job("g"))
	f.minimums(map[string]int{"g": 3})
	o = f.enforce("a", slots(2)) // the gang is 3 of 4, and 2 may go
	require.Equal(t, []string{"s"}, keys(o))
	require.Equal(t, []victims.Obstacle{{Rule: "guarantee", Amount: 3, Queue: "root.a"}}, obstacles(o))
}

// The outcome names the jobs that go as a whole.
func TestGang_Jobs(t *testing.T) {
	f := newFixture(t, leaf("a"))
	f.minimums(map[string]int{"whole": 2, "part": 1, "below": 3})
	for _, name := range []string{"whole", "part", "below"} {
		f.task(name+"-1", "a", 1, job(name))
		f.task(name+"-2", "a", 1, job(name), priority(1))
	}
	o := f.enforce("a", slots(1))
	require.Equal(t, []string{"below-1", "below-2", "part-1", "whole-1", "whole-2"}, keys(o))
	require.Contains(t, o.String(), "  job below goes as a whole: minimum 3, running 2\n  job whole goes as a whole: minimum 2, running 2\n")
	require.Equal(t, 2, o.Plan.Cost.Jobs)
}

// A member that went alone can be given back once the rest has been.
func TestGang_GivenBackInTurn(t *testing.T) {
	// Exact: 3 and then 2 are to go. In a first walk g2 is too large, and g3 goes
	// alone; offered the whole, the rest is taken; the last trim gives both back.
	f := newFixture(t, leaf("a"))
	f.minimums(map[string]int{"g": 2})
	f.task("g1", "a", 1, job("g"), age(1*time.Minute))
	f.task("g2", "a", 1, job("g"), age(2*time.Minute))
	f.task("g3", "a", 1, job("g"), age(3*time.Minute))
	f.task("s", "a", 9, priority(1))
	o := f.enforce("a", slots(3)) // 9 of 12: the gang first, then s, then the gang back
	require.Equal(t, []string{"s"}, keys(o))
}

// Hard budgets bind, soft ones are told.
func TestBudget(t *testing.T) {
	in := func(names ...string) change { return func(t *victims.Task) { t.Budgets = names } }
	fill := func(f *fixture, hard bool, left int64) {
		f.budget("web", victims.Budget{Left: left, Hard: hard})
		f.task("t1", "a", 1, in("web"), age(1*time.Minute))
		f.task("t2", "a", 1, in("web"), age(2*time.Minute))
		f.task("t3", "a", 1, age(3*time.Minute))
	}
	for _, test := range []struct {
		name    string
		hard    bool
		left    int64
		max     int64
		want    []string
		overrun int64
	}{
		{"kept", true, 1, 1, []string{"t1", "t3"}, 0},
		{"below zero is zero", true, -5, 1, []string{"t3"}, 0},
		{"soft", false, 1, 1, []string{"t1", "t2"}, 1},
		{"soft, below zero is zero", false, -5, 1, []string{"t1", "t2"}, 2},
		{"enough is left", true, 2, 1, []string{"t1", "t2"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, leaf("a"))
			fill(f, test.hard, test.left)
			o := f.enforce("a", slots(test.max))
			require.Equal(t, test.want, keys(o))
			require.Equal(t, test.overrun, o.Plan.Cost.Overrun)
		})
	}
}

func (f *fixture) budget(name string, b victims.Budget) {
	f.t.Helper()
	require.NoError(f.t, f.c.SetBudget(name, b))
}

// What a hard budget keeps is told, and applying a plan uses it up.
func TestBudget_UsedUp(t *testing.T) {
	f := newFixture(t, leaf("a"))
	f.budget("web", victims.Budget{Left: 1, Hard: true})
	for _, key := range []string{"t1", "t2", "t3"} {
		f.task(key, "a", 1, func(t *victims.Task) { t.Budgets = []string{"web"} })
	}
	o := f.enforce("a", slots(1))
	require.Equal(t, "partial", o.Enforcement.Result)
	require.Equal(t, []victims.Obstacle{{Rule: "budget", Amount: 2, Queue: "root.a"}}, obstacles(o))
	require.NoError(t, f.c.Apply(o))
	require.Equal(t, "impossible", f.enforce("a", slots(1)).Enforcement.Result)
}

// A search keeps hard budgets, and so does a gang as a whole.
func TestBudget_Sets(t *testing.T) {
	in := func(t *victims.Task) { t.Budgets = []string{"b", "c"} }
	f := newFixture(t, leaf("a"))
	f.e.NeverOvershoot = true
	f.budget("b", victims.Budget{Left: 1, Hard: true})
	f.budget("c", victims.Budget{})
	f.task("t1", "a", 3, age(1*time.Minute))
	f.task("t2", "a", 2, in, age(2*time.Minute))
	f.task("t3", "a", 2, in, age(3*time.Minute))
	f.task("t4", "a", 2, priority(1))
	o := f.enforce("a", slots(5))
	require.Equal(t, []string{"t2", "t4"}, keys(o))
	require.EqualValues(t, 1, o.Plan.Cost.Overrun)

	f = newFixture(t, leaf("a"))
	f.minimums(map[string]int{"g": 2})
	f.budget("b", victims.Budget{Left: 1, Hard: true})
	f.budget("c", victims.Budget{})
	f.task("g1", "a", 1, job("g"), in)
	f.task("g2", "a", 1, job("g"), in)
	f.task("s", "a", 1, priority(3))
	o = f.enforce("a", slots(1))
	require.Equal(t, []string{"s"}, keys(o))
	require.Equal(t, []victims.Obstacle{{Rule: "budget", Amount: 2, Queue: "root.a"}}, obstacles(o))
	require.Equal(t, resources.Vector{1, 0}, o.Enforcement.Shortfall)
}

// In a search a gang as a whole uses up as much of a budget as it has members.
func TestBudget_GangInSearch(t *testing.T) {
	in := func(t *victims.Task) { t.Budgets = []string{"b"} }
	f := newFixture(t, leaf("a"))
	f.e.NeverOvershoot = true
	f.minimums(map[string]int{"g": 2})
	f.budget("b", victims.Budget{Left: 2, Hard: true})
	f.task("first", "a", 3, age(time.Minute))
	f.task("g1", "a", 1, job("g"), in)
	f.task("g2", "a", 1, job("g"), in)
	f.task("t", "a", 2, in)
	f.task("z", "a", 2, priority(9))
	o := f.enforce("a", slots(5)) // 4 of 9: with the gang and t there would be three of b
	require.Equal(t, []string{"t", "z"}, keys(o))
	require.Equal(t, "met", o.Enforcement.Result)
}
