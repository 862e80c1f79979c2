// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// states is how many states TestNoStorm looks at: as many as take a moment, or as
// the flag says.
//
//	go test ./internal/judge/storm -run NoStorm -v -args -storm.states=10000000
var states = flag.Int("storm.states", 100_000, "explore so many states")

// flat is a root with two leaves, wide one with three, deep one with two below a queue and a third,
// and fork one with two pairs. Nest is deep with a leaf more in between.
var (
	flat = []int{0, 0, 0}
	wide = []int{0, 0, 0, 0}
	deep = []int{0, 0, 1, 1, 0}
	fork = []int{0, 0, 1, 1, 0, 4, 4}
	nest = []int{0, 0, 1, 2, 2, 1, 0}
)

// families are those that are explored, the small ones first.
func families(o OwnLeaf) (all []Family) {
	for tasks := 2; tasks <= 6; tasks++ {
		for _, parents := range [][]int{flat, deep, fork} {
			for nodes := 1; nodes <= 2; nodes++ {
				all = append(all, Family{
					Parents: parents, Nodes: nodes, Capacities: [2]int{1, tasks}, Tasks: tasks,
					Sizes: min(2, tasks-1), Priorities: 2, Guarantees: []int{-1, 1, 2, 3}, Fences: parents[1] == 0 && len(parents) == 3,
					Rules: Rules{OwnLeaf: o},
				})
			}
		}
	}
	return all
}

// lowered are families in which the max of every queue may be lowered.
func lowered(o OwnLeaf) (all []Family) {
	for _, f := range families(o) {
		if f.Tasks > 4 || len(f.Parents) > len(deep) {
			continue // each queue doubles the states
		}
		for f.Lowered = 1; f.Lowered <= 2; f.Lowered++ {
			all = append(all, f)
		}
	}
	return all
}

// branches are families with several leaves below a queue that may have the guarantee:
// of three priorities, or with priority fences, or with offsets.
func branches(r Rules) (all []Family) {
	for tasks := 2; tasks <= 6; tasks++ {
		for _, parents := range [][]int{deep, nest, fork} {
			for nodes := 1; nodes <= 2; nodes++ {
				f := Family{
					Parents: parents, Nodes: nodes, Capacities: [2]int{1, tasks}, Tasks: tasks,
					Sizes: min(2, tasks-1), Priorities: 3, Guarantees: []int{-1, 1, 2}, Rules: r,
				}
				all = append(all, f)
				f.Priorities, f.Fences = 2, true
				all = append(all, f)
				f.Fences, f.Offsets = false, true
				all = append(all, f)
			}
		}
	}
	return all
}

// differing are families in which every leaf says for itself what it may take of its own.
func differing(list []Family) []Family {
	for i := range list {
		list[i].OwnLeaves = true
	}
	return list
}

// gangs are families of gangs that start together, mostly of one priority: in two leaves
// and in three, with offsets and fences, in racks, and with quotas.
func gangs(r Rules) (all []Family) {
	for tasks := 3; tasks <= 5; tasks++ { // two are a gang without victims
		for _, parents := range [][]int{flat, wide, deep} {
			for nodes := 1; nodes <= 3; nodes++ {
				f := Family{
					Parents: parents, Nodes: nodes, Capacities: [2]int{1, tasks}, Tasks: tasks,
					Sizes: 2, Priorities: 1, Guarantees: []int{-1, 1, 2, 3}, Gangs: true, Rules: r,
				}
				all = append(all, f)
				if nodes == 2 {
					f.Racks = []int{0, 1}
					all = append(all, f)
				}
				if nodes == 3 {
					f.Racks = []int{0, 1, 1}
					all = append(all, f)
				} else if len(parents) == len(flat) {
					f.Racks, f.Fences, f.Offsets, f.Priorities = nil, true, true, 2
					all = append(all, f)
				}
				if tasks <= 3 && nodes == 1 {
					f.Priorities = 1
					f.Fences, f.Offsets, f.Lowered = false, false, 1
					all = append(all, f)
				}
			}
		}
	}
	return all
}

// There is no storm with the rules as they are, and none with tasks of the own
// leaf or branch as long as a guarantee once met stays met; with quotas that are lowered at
// any time neither, nor with gangs, nor with grants.
func TestNoStorm(t *testing.T) {
	for _, o := range []OwnLeaf{Never, Met, Branch} {
		noStorm(t, fmt.Sprintf("own leaf %d, plans", o), families(o))
		noStorm(t, fmt.Sprintf("own leaf %d, plans and quotas", o), lowered(o))
		noStorm(t, fmt.Sprintf("own leaf %d, gangs by guarantee", o), gangs(Rules{OwnLeaf: o}))
		noStorm(t, fmt.Sprintf("own leaf %d, gangs by priority", o), gangs(Rules{OwnLeaf: o, ByPriority: true}))
	}
	noStorm(t, "own leaves that differ, plans", differing(branches(Rules{})))
	noStorm(t, "own leaves that differ, plans and grants", differing(branches(Rules{Grants: true})))
	noStorm(t, "own leaves that differ, quotas", differing(lowered(Never)))
	noStorm(t, "own leaves that differ, gangs by guarantee and by priority, and grants",
		differing(gangs(Rules{ByPriority: true, Mixed: true, Grants: true})))
	noStorm(t, "own branch, plans", branches(Rules{OwnLeaf: Branch}))
	noStorm(t, "own branch, plans and grants", branches(Rules{OwnLeaf: Branch, Grants: true}))
	noStorm(t, "own branch, gangs and grants", gangs(Rules{OwnLeaf: Branch, Grants: true}))
	noStorm(t, "own branch, gangs by guarantee and by priority, and grants",
		gangs(Rules{OwnLeaf: Branch, ByPriority: true, Mixed: true, Grants: true}))
}

// moving are families on several nodes, without gangs and of gangs. They have four tasks or
// more: else none stops if another moves.
func moving(r Rules, lowered int) (plans, ofGangs []Family) {
	for _, parents := range [][]int{flat, deep} {
		for tasks := 4; tasks <= 5; tasks++ {
			for nodes := 2; nodes <= 3; nodes++ {
				plans = append(plans, Family{
					Parents: parents, Nodes: nodes, Capacities: [2]int{2, 4}, Tasks: tasks,
					Sizes: 2, Priorities: 2, Guarantees: []int{-1, 1, 2}, Lowered: lowered, Rules: r,
				})
			}
		}
	}
	for _, f := range gangs(r) {
		if f.Nodes > 1 && f.Tasks > 3 {
			ofGangs = append(ofGangs, f)
		}
	}
	return plans, ofGangs
}

// There is no storm with moves. Those for all, and tasks of the own branch, are the most steps
// that there can be: to allow less takes steps away.
func TestNoStorm_Moves(t *testing.T) {
	r := Rules{OwnLeaf: Branch, Moves: MovesAny}
	plans, gangs := moving(r, 0)
	quotas, _ := moving(r, 1)
	noStorm(t, "plans", plans)
	noStorm(t, "plans and quotas", quotas)
	noStorm(t, "gangs by guarantee", gangs)
	r.Grants = true
	plans, gangs = moving(r, 0)
	noStorm(t, "plans and grants", plans)
	noStorm(t, "gangs by guarantee, and grants", gangs)
	r.ByPriority, r.Mixed = true, true
	_, gangs = moving(r, 0)
	noStorm(t, "gangs by guarantee and by priority, and grants", gangs)
}

// A plan that only moves is for everybody, but there are storms if such a plan may stop others.
func TestStorm_MovesThatStop(t *testing.T) {
	storms := func(r Rules) (storms int) {
		f := Family{Parents: flat, Nodes: 2, Capacities: [2]int{3, 3}, Tasks: 4, Sizes: 2, Priorities: 1, Guarantees: []int{-1, 1}, Rules: r}
		for u := range f.All() {
			if c, _ := u.Storm(); c != nil {
				storms++
			}
		}
		return storms
	}
	require.Zero(t, storms(Rules{Moves: MovesAny}))
	require.Positive(t, storms(Rules{Moves: MovesAny, Stops: true}))
}

// With Φ the sum of min(e, g) over queues and guaranteed types, every plan of an ask or of
// a job by guarantee makes Φ larger, whatever lawful plan it is, if the own leaf gives
// nothing; those that only move, for whom law 4 does not entitle, aside. A job by priority makes it no smaller, and nor does whatever else happens.
func (u *Universe) grows(t require.TestingT) (looked, plans int) {
	g := graph{world: u.world()}
	for state := range g.states() {
		if !g.set(state) {
			continue
		}
		looked++
		before := g.phi()
		for _, p := range g.successors() {
			g.set(g.to(state, &p))
			after := g.phi()
			g.set(state)
			require.GreaterOrEqual(t, after, before, "%+v: %v: %+v", *u, g.place, p.step())
			if s := p.step(); len(s.Victims)+len(s.Movers) > 0 && !s.Quota {
				plans++
				byPriority := u.Rules.ByPriority && u.startsTogether(s.Tasks[0])
				if onlyMoves := len(s.Victims) == 0; !byPriority && (!onlyMoves || u.Rules.Moves == MovesEntitled) {
					require.Greater(t, after, before, "%+v: %v: %+v", *u, g.place, s)
				}
			}
		}
	}
	return looked, plans
}

// startsTogether reports whether a task is a member of a job that starts together.
func (u *Universe) startsTogether(task int) bool {
	job := u.Tasks[task].Job
	return job > 0 && job < len(u.Together) && u.Together[job]
}

// phi is Φ in the present state.
func (w *world) phi() (phi int) {
	for q := range w.Queues {
		for t := range w.types {
			if g := w.counting(q, t); g >= 0 {
				phi += min(w.used[q*w.types+t], g)
			}
		}
	}
	return phi
}

// Every plan of a gang that its queue's guarantee entitles makes Φ larger.
func TestPhiGrows_Gangs(t *testing.T) {
	left, universes, plans := *states/4, 0, 0
	for _, f := range gangs(Rules{}) {
		for u := range f.All() {
			looked, n := u.grows(t)
			universes, plans = universes+1, plans+n
			if left -= looked; left <= 0 {
				t.Logf("%d universes, %d plans", universes, plans)
				require.Positive(t, plans)
				return
			}
		}
	}
}

// So it does in random universes, with jobs by guarantee and by priority.
func TestPhiGrows_Anywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUniverse(t)
		u.drawTogether(t)
		u.drawLowered(t)
		u.allSay(Never)
		u.Rules.Moves = Moves(rapid.IntRange(0, int(MovesAny)).Draw(t, "moves"))
		u.grows(t)
	})
}

// noStorm looks at an eighth of the states in families.
func noStorm(t *testing.T, name string, list []Family) {
	t.Run(name, func(t *testing.T) {
		left, universes, whole := *states/8, 0, 0
		for _, f := range list {
			for u := range f.All() {
				c, looked := u.Storm()
				require.Nil(t, c, "%+v: %v", *u, c)
				universes++
				if left -= looked; left <= 0 {
					t.Logf("%d universes, %d families whole", universes, whole)
					return
				}
			}
			whole++
		}
		t.Logf("%d universes, all %d families whole", universes, whole)
	})
}

// Random universes have more of everything. Those that storm with anything
// allowed of the own leaf do not if a guarantee once met stays met.
func TestNoStorm_Anywhere(t *testing.T) { rapid.Check(t, propertyNoStorm) }

func FuzzNoStorm(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyNoStorm)) }

func propertyNoStorm(t *rapid.T) {
	u := drawUniverse(t)
	u.drawTogether(t)
	u.drawLowered(t)
	u.Rules.Mixed = rapid.Bool().Draw(t, "mixed")
	u.Rules.Moves = Moves(rapid.IntRange(0, int(MovesAny)).Draw(t, "moves"))
	u.Rules.Grants = len(u.Tasks) <= 5 && rapid.Bool().Draw(t, "grants")
	u.drawIgnored(t)
	u.drawOwnLeaves(t)
	// As its queues say, and then all the same.
	for o := OwnLeaf(-1); o <= Branch; o++ {
		if o >= Never {
			u.allSay(o)
		}
		if c, _ := u.Storm(); c != nil {
			t.Fatalf("%+v: %v", *u, c)
		}
	}
}

// allSay has all queues let asks take the same of their own leaf.
func (u *Universe) allSay(o OwnLeaf) {
	u.Rules.OwnLeaf = o
	for q := range u.Queues {
		u.Queues[q].Own = 0
	}
}

// A family is all of it: two tasks of one size in one of two leaves, where
// priorities and guarantees do not vary, are three universes.
func TestFamilyAll(t *testing.T) {
	f := Family{Parents: flat, Nodes: 1, Capacities: [2]int{1, 1}, Tasks: 2, Sizes: 1, Priorities: 1, Guarantees: []int{1}}
	var leaves [][2]int
	for u := range f.All() {
		leaves = append(leaves, [2]int{u.Tasks[0].Leaf, u.Tasks[1].Leaf})
	}
	require.Equal(t, [][2]int{{1, 1}, {1, 2}, {2, 2}}, leaves)

	count := func(f Family) (n int) {
		for range f.All() {
			n++
		}
		return n
	}
	require.Equal(t, 3, count(f))
	f.Capacities = [2]int{1, 2}
	require.Equal(t, 3*2, count(f))
	f.Guarantees = []int{-1, 1, 2}
	require.Equal(t, 3*2*3*3, count(f))
	f.Fences = true
	require.Equal(t, 3*2*6*6, count(f))
	f.Priorities = 2 // ten of four kinds
	require.Equal(t, 10*2*6*6, count(f))
}

// Universes near the known storms storm often with anything allowed of the own
// leaf. None does if a guarantee once met stays met.
func TestNoStorm_NearStorms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { stormsWithAny(t) })
	if testing.Short() {
		return
	}
	storms := 0 // in the same universes every time
	for seed := range 50 {
		storms += rapid.Custom(stormsWithAny).Example(seed)
	}
	require.Positive(t, storms, "universes that storm with anything allowed")
}

// stormsWithAny draws a universe near the known storms, and returns 1 if it storms
// with anything allowed.
func stormsWithAny(t *rapid.T) (storms int) {
	u := nearStorm(t)
	u.allSay(Any)
	if c, _ := u.Storm(); c != nil {
		storms = 1
	}
	for _, o := range []OwnLeaf{Never, Met, Branch} {
		u.allSay(o)
		if c, _ := u.Storm(); c != nil {
			t.Fatalf("%+v: %v", *u, c)
		}
	}
	return storms
}

// nearStorm draws a universe that differs a little from one that storms.
func nearStorm(t *rapid.T) *Universe {
	known := []func(Rules) *Universe{fenced, plain, anyPlan}
	u := rapid.SampledFrom(known).Draw(t, "near")(Rules{})
	var numbers []*int
	for q := range u.Queues {
		for i := range u.Queues[q].Guaranteed {
			numbers = append(numbers, &u.Queues[q].Guaranteed[i])
		}
	}
	for i := range u.Tasks {
		numbers = append(numbers, &u.Tasks[i].Priority)
		for n := range u.Tasks[i].Size {
			numbers = append(numbers, &u.Tasks[i].Size[n])
		}
	}
	for i := range u.Nodes[0] {
		numbers = append(numbers, &u.Nodes[0][i])
	}
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		a := rapid.SampledFrom(numbers).Draw(t, "amount")
		*a = max(0, *a+rapid.SampledFrom([]int{-1, 1}).Draw(t, "by"))
	}
	u.drawLowered(t)
	return u
}
