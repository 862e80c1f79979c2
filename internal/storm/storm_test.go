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

func TestStorms(t *testing.T) {
	const round = "running: 0 3; 4 starts; 1 takes 0; 2 takes 4; 5 starts; 0 takes 1 2 3; 3 takes 5"
	for _, test := range []struct {
		name  string
		u     *Universe
		story string // "" if there is none
	}{
		{"siblings in a starving queue", siblings(Rules{}), ""},
		{"siblings, with what is inside allowed", siblings(Rules{Inside: true}), "running: 0; 1 takes 0; 0 takes 1"},
		{"gangs in a starving queue", siblingGangs(Rules{}), ""},
		{"gangs in a starving queue, by priority", siblingGangs(Rules{ByPriority: true}), ""},
		{"gangs, with what is inside allowed", siblingGangs(Rules{Inside: true}), "running: 0 1; 2 3 takes 0 1; 0 1 takes 2 3"},
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
