package queue

import (
	"fmt"
	"testing"

	"github.com/go-preempt/preempt/resources"
)

// benchTree is a tree of four levels with ten children to a queue, four types
// and bounds everywhere. It returns a leaf in the middle, too.
func benchTree(b *testing.B) (*Tree, ID) {
	s, err := resources.NewSchema("cpu", "memory", "disk", "gpu")
	if err != nil {
		b.Fatal(err)
	}
	bound := resources.Limit{Value: resources.Vector{1 << 40, 1 << 40, 1 << 40, 1 << 40}, Defined: 0b1111}
	var grow func(name string, levels int) Config
	grow = func(name string, levels int) Config {
		c := Config{Name: name, Guaranteed: bound, Max: bound}
		if levels > 1 {
			for i := range 10 {
				c.Children = append(c.Children, grow(fmt.Sprintf("q%d", i), levels-1))
			}
		}
		return c
	}
	tree, err := New(s, grow("root", 4), Lenient)
	if err != nil {
		b.Fatal(err)
	}
	leaf, ok := tree.Lookup("root.q5.q5.q5")
	if !ok {
		b.Fatal("no leaf")
	}
	return tree, leaf
}

const benchName = "depth=4/types=4"

func BenchmarkUsage(b *testing.B) {
	tree, leaf := benchTree(b)
	size := resources.Vector{500, 1 << 30, 0, 1}
	if err := tree.Add(leaf, size); err != nil {
		b.Fatal(err)
	}
	for _, pair := range []struct {
		name   string
		do, un func(*Tree, ID, resources.Vector) error
	}{
		{"AddRemove", (*Tree).Add, (*Tree).Remove},
		{"MarkUnmark", (*Tree).Mark, (*Tree).Unmark},
	} {
		b.Run(pair.name+"/"+benchName, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if pair.do(tree, leaf, size) != nil || pair.un(tree, leaf, size) != nil {
					b.Fatal("error")
				}
			}
		})
	}
}

func BenchmarkHeadroom(b *testing.B) {
	tree, leaf := benchTree(b)
	var room resources.Limit
	b.Run(benchName, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			room = tree.Headroom(room, leaf)
		}
	})
}

func BenchmarkSurplus(b *testing.B) {
	tree, leaf := benchTree(b)
	var surplus resources.Vector
	b.Run(benchName, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			surplus = tree.Surplus(surplus, leaf)
		}
	})
}

func BenchmarkClone(b *testing.B) {
	tree, _ := benchTree(b)
	b.Run(fmt.Sprintf("queues=%d/types=4", tree.Len()), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tree.Clone()
		}
	})
}
