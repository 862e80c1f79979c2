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

func TestStorms(t *testing.T) {
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
