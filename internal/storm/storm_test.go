package storm

import (
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
