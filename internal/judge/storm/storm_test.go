// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func amounts(n ...int) []int { return n }

// siblings are two leaves below a queue that starves, and room for one task.
func siblings(r Rules) *Universe {
	return &Universe{
		Queues: []Queue{{}, {Parent: 0, Guaranteed: amounts(2)}, {Parent: 1}, {Parent: 1}},
		Nodes:  [][]int{{1}},
		Tasks:  []Task{{Leaf: 2, Size: amounts(1)}, {Leaf: 3, Size: amounts(1)}},
		Rules:  r,
	}
}

// siblingGangs are two gangs of two in those leaves, and room for one.
func siblingGangs(r Rules) *Universe {
	u := siblings(r)
	u.Queues[1].Guaranteed, u.Nodes = amounts(4), [][]int{{1}, {1}}
	u.Tasks = []Task{
		{Leaf: 2, Size: amounts(1), Job: 1}, {Leaf: 2, Size: amounts(1), Job: 1},
		{Leaf: 3, Size: amounts(1), Job: 2}, {Leaf: 3, Size: amounts(1), Job: 2},
	}
	u.Minimum, u.Together = []int{0, 2, 2}, []bool{false, true, true}
	return u
}

// fenced is the story of four tasks in DESIGN.md, The own leaf.
func fenced(r Rules) *Universe {
	return &Universe{
		Queues: []Queue{{}, {Guaranteed: amounts(2), Fence: true}, {Guaranteed: amounts(2), Fence: true}},
		Nodes:  [][]int{{5}},
		Tasks: []Task{
			{Leaf: 1, Size: amounts(2), Priority: 0}, {Leaf: 1, Size: amounts(1), Priority: 1},
			{Leaf: 2, Size: amounts(2), Priority: 0}, {Leaf: 2, Size: amounts(1), Priority: 1},
		},
		Rules: r,
	}
}

// plain are six tasks of two types in a tree without fences and offsets. Most
// plans have one lawful set only: who else could go would bring a queue below
// its guarantee of one of the types.
func plain(r Rules) *Universe {
	return &Universe{
		Queues: []Queue{{}, {Guaranteed: amounts(4, 2)}, {Guaranteed: amounts(1, 2)}},
		Nodes:  [][]int{{8, 4}},
		Tasks: []Task{
			{Leaf: 1, Size: amounts(4, 1), Priority: 2}, {Leaf: 2, Size: amounts(2, 0), Priority: 2},
			{Leaf: 1, Size: amounts(3, 0), Priority: 1}, {Leaf: 2, Size: amounts(0, 1), Priority: 1},
			{Leaf: 1, Size: amounts(4, 2), Priority: 0}, {Leaf: 2, Size: amounts(3, 3), Priority: 0},
		},
		Rules: r,
	}
}

// anyPlan is another, which storms only if asks may choose among lawful plans.
func anyPlan(r Rules) *Universe {
	return &Universe{
		Queues: []Queue{{}, {Guaranteed: amounts(4, 1)}, {Guaranteed: amounts(1, 0)}},
		Nodes:  [][]int{{8, 3}},
		Tasks: []Task{
			{Leaf: 1, Size: amounts(4, 1), Priority: 2}, {Leaf: 2, Size: amounts(2, 0), Priority: 2},
			{Leaf: 1, Size: amounts(3, 0), Priority: 1}, {Leaf: 2, Size: amounts(0, 1), Priority: 1},
			{Leaf: 1, Size: amounts(4, 1), Priority: 0}, {Leaf: 2, Size: amounts(3, 2), Priority: 0},
		},
		Rules: r,
	}
}

// backfill is a queue of two tasks, the first of which is older, and another of one.
// Without both of its own and the other's the first has room, and its share is less than
// the other's. Then its own task is given back, and its share is more: the other takes
// its place back.
func backfill(r Rules) *Universe {
	r.OwnLeaf = Met
	return &Universe{
		Queues: []Queue{{}, {}, {}},
		Nodes:  [][]int{{6}},
		Tasks:  []Task{{Leaf: 1, Size: amounts(3)}, {Leaf: 1, Size: amounts(2)}, {Leaf: 2, Size: amounts(4)}},
		Rules:  r,
	}
}

// several are three tasks of a queue that shares 6 with another of one, and a quota of 1
// each. The large one of the other takes the first by its final share, 3 of 4, and the
// second by the initial one, 3 of 4. Then the first takes it, with 2 of 3.
func several(r Rules) *Universe {
	return &Universe{
		Queues: []Queue{{}, {Guaranteed: amounts(1)}, {Guaranteed: amounts(1)}},
		Nodes:  [][]int{{6}},
		Tasks: []Task{
			{Leaf: 1, Size: amounts(1)}, {Leaf: 1, Size: amounts(3)}, {Leaf: 1, Size: amounts(2), Priority: 1}, {Leaf: 2, Size: amounts(4)},
		},
		Rules: r,
	}
}

// movers are two large tasks of two leaves that compete for what others leave: there is room
// for one. A small one has room on two nodes.
func movers(r Rules) *Universe {
	return &Universe{
		Queues: []Queue{{}, {}, {}},
		Nodes:  [][]int{{3}, {3}},
		Tasks: []Task{
			{Leaf: 1, Size: amounts(2)}, {Leaf: 2, Size: amounts(2)}, {Leaf: 1, Size: amounts(1)}, {Leaf: 1, Size: amounts(2)},
		},
		Rules: r,
	}
}

func TestStorms(t *testing.T) {
	const round = "running: 0 3; 4 starts; 1 takes 0; 2 takes 4; 5 starts; 0 takes 1 2 3; 3 takes 5"
	for _, test := range []struct {
		name  string
		u     *Universe
		story string // "" if there is none
	}{
		{"siblings in a starving queue", siblings(Rules{}), ""},
		{"siblings, own branch", siblings(Rules{OwnLeaf: Branch}), ""},
		{"siblings, with what is inside allowed", siblings(Rules{Inside: true}), "running: 0; 1 takes 0; 0 takes 1"},
		{"gangs in a starving queue", siblingGangs(Rules{}), ""},
		{"gangs in a starving queue, by priority", siblingGangs(Rules{ByPriority: true}), ""},
		{"gangs in a starving queue, own branch", siblingGangs(Rules{OwnLeaf: Branch, Grants: true}), ""},
		{"gangs, with what is inside allowed", siblingGangs(Rules{Inside: true}), "running: 0 1; 2 3 takes 0 1; 0 1 takes 2 3"},
		{"fair shares, given back", backfill(Rules{Fair: true}), "running: 0 1; 2 takes 0; 0 takes 2"},
		{"fair shares, given back, by guarantees", backfill(Rules{}), ""},
		{"fair shares, several victims", several(Rules{Fair: true}), "running: 0 2; 1 starts; 3 takes 0 1; 0 takes 3"},
		{"fair shares, several victims, by guarantees", several(Rules{}), ""},
		{"moves for all", movers(Rules{Moves: MovesAny}), ""},
		{"moves for some who may stop others", movers(Rules{Moves: MovesEntitled, Stops: true}), ""},
		{"moves for all who may stop others", movers(Rules{Moves: MovesAny, Stops: true}),
			"running: 0 1 2; 3 takes 1, 2 moves to node 1; 1 takes 3, 2 moves to node 0"},
		{"four tasks below fences, never", fenced(Rules{}), ""},
		{"four tasks below fences, met", fenced(Rules{OwnLeaf: Met}), ""},
		{"four tasks below fences, any", fenced(Rules{OwnLeaf: Any}), "running: 0 1 2; 3 takes 2; 2 takes 1; 1 takes 0; 0 takes 3"},
		{"four tasks below fences, any, of least cost", fenced(Rules{OwnLeaf: Any, Least: true}), "running: 0 1 2; 3 takes 2; 2 takes 1; 1 takes 0; 0 takes 3"},
		{"six tasks without fences, never", plain(Rules{}), ""},
		{"six tasks without fences, met", plain(Rules{OwnLeaf: Met}), ""},
		{"six tasks without fences, any", plain(Rules{OwnLeaf: Any}), round},
		{"six tasks without fences, any, of least cost", plain(Rules{OwnLeaf: Any, Least: true}), round},
		{"six tasks without fences, any, highest priority first", plain(Rules{OwnLeaf: Any, HighestFirst: true}), ""},
		{"six tasks, any", anyPlan(Rules{OwnLeaf: Any}), round},
		{"six tasks, any, of least cost", anyPlan(Rules{OwnLeaf: Any, Least: true}), ""},
		{"six tasks, met", anyPlan(Rules{OwnLeaf: Met}), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, looked := test.u.Storm()
			require.Positive(t, looked)
			if test.story == "" {
				require.Nil(t, c)
				return
			}
			require.NotNil(t, c)
			require.Equal(t, test.story, c.String())
		})
	}
}

// Where there is a storm without the rule of the starving queue, there is rest
// with it, from each state of the storm. A universe that storms has no rest.
func TestRest(t *testing.T) {
	three := func(r Rules) *Universe {
		u := siblings(r)
		u.Nodes = [][]int{{1}, {1}}
		u.Queues = append(u.Queues, Queue{})
		u.Tasks = append(u.Tasks, Task{Leaf: 4, Size: amounts(1)})
		return u
	}
	steps, ok := three(Rules{}).Rest([]int{0, -1, 1})
	require.True(t, ok)
	require.Equal(t, []Step{{Tasks: []int{1}, Nodes: []int{1}, Victims: []int{2}}}, steps, "the guest goes, and nobody else")
	steps, ok = three(Rules{}).Rest([]int{-1, -1, -1})
	require.True(t, ok)
	require.Len(t, steps, 3, "two start, the third takes the place of the guest")
	_, ok = siblings(Rules{Inside: true}).Rest([]int{0, -1})
	require.False(t, ok, "a storm")
	_, ok = siblings(Rules{}).Rest([]int{0, 0})
	require.False(t, ok, "more than the node holds")
}

// With the own branch a task takes a lower one of another leaf of the tenant, and no equal.
// One that holds a grant is taken by nobody until it has started.
func TestRest_Branch(t *testing.T) {
	three := func(r Rules, priorities ...int) *Universe {
		u := siblings(r)
		u.Tasks = append(u.Tasks, u.Tasks[0])
		for i, p := range priorities {
			u.Tasks[i].Priority = p
		}
		return u
	}
	takes := func(victim int, task int) Step {
		return Step{Tasks: []int{task}, Nodes: []int{0}, Victims: []int{victim}}
	}
	for _, test := range []struct {
		rules      Rules
		priorities []int
		steps      []Step
	}{
		{Rules{OwnLeaf: Met}, []int{0, 1, 0}, nil},
		{Rules{OwnLeaf: Branch}, []int{0, 0, 0}, nil},
		{Rules{OwnLeaf: Branch}, []int{0, 1, 0}, []Step{takes(0, 1)}},
		{Rules{OwnLeaf: Branch}, []int{0, 1, 2}, []Step{takes(0, 1), takes(1, 2)}},
		{Rules{OwnLeaf: Branch, Grants: true}, []int{0, 1, 2}, []Step{takes(0, 1), {Tasks: []int{1}}, takes(1, 2), {Tasks: []int{2}}}},
	} {
		steps, ok := three(test.rules, test.priorities...).Rest([]int{0, -1, -1})
		require.True(t, ok)
		require.Equal(t, test.steps, steps, "%+v, priorities %v", test.rules, test.priorities)
	}
}

// Two small tasks within their guarantee, on a node each, keep a large one out. It has one of
// them move if it is entitled, or if that does not matter.
func TestRest_Moves(t *testing.T) {
	moves := []Step{{Tasks: []int{2}, Nodes: []int{1}, Movers: []int{1}, To: []int{0}}}
	grants := append(slices.Clone(moves), Step{Tasks: []int{1}}, Step{Tasks: []int{2}})
	for _, test := range []struct {
		guaranteed int
		rules      Rules
		steps      []Step
	}{
		{2, Rules{}, nil},
		{2, Rules{Moves: MovesEntitled}, moves},
		{0, Rules{Moves: MovesEntitled}, nil},
		{0, Rules{Moves: MovesAny}, moves},
		{0, Rules{Moves: MovesAny, Grants: true}, grants},
	} {
		u := &Universe{
			Queues: []Queue{{}, {Guaranteed: amounts(test.guaranteed)}, {Guaranteed: amounts(2)}},
			Nodes:  [][]int{{2}, {2}},
			Tasks:  []Task{{Leaf: 2, Size: amounts(1)}, {Leaf: 2, Size: amounts(1)}, {Leaf: 1, Size: amounts(2)}},
			Rules:  test.rules,
		}
		steps, ok := u.Rest([]int{0, 1, -1})
		require.True(t, ok)
		require.Equal(t, test.steps, steps, "%+v", test)
		c, _ := u.Storm()
		require.Nil(t, c)
	}
}

// From every state of a storm that a rule forbids, the universe with the rule
// comes to rest.
func TestRest_AfterStorms(t *testing.T) {
	c, _ := fenced(Rules{OwnLeaf: Any}).Storm()
	place := slices.Clone(c.Running)
	for _, s := range c.Steps {
		steps, ok := fenced(Rules{}).Rest(place)
		require.True(t, ok)
		end := slices.Clone(place)
		for i := range steps {
			play(end, &steps[i])
		}
		again, ok := fenced(Rules{}).Rest(end)
		require.True(t, ok)
		require.Empty(t, again, "it is at rest")
		play(place, &s)
	}
	require.Equal(t, c.Running, place, "a cycle")
}

// play carries out a step.
func play(place []int, s *Step) {
	for _, v := range s.Victims {
		place[v] = -1
	}
	for i, task := range s.Tasks {
		place[task] = s.Nodes[i]
	}
}
