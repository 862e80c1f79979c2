// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-preempt/preempt/resources"
)

// benchConfig is a tree of four levels with ten children to a queue, four types
// and bounds everywhere.
func benchConfig(b *testing.B) (*resources.Schema, Config) {
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
	return s, grow("root", 4)
}

// benchTree is a tree of benchConfig, and a leaf in its middle.
func benchTree(b *testing.B) (*Tree, ID) {
	s, root := benchConfig(b)
	tree, err := NewLenient(s, root)
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

func BenchmarkNew(b *testing.B) {
	s, root := benchConfig(b)
	b.Run("queues=1111/types=4", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := NewLenient(s, root); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The leaf is looked up among ten siblings on each level.
func BenchmarkTreeLookup(b *testing.B) {
	tree, leaf := benchTree(b)
	path := tree.Path(leaf)
	b.Run("depth=4/siblings=10", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sinkID, sinkBool = tree.Lookup(path)
		}
	})
}

// The nearer case is that of a leaf with a guarantee of its own, the farther one
// that of a guarantee of the root alone.
func BenchmarkGoverning(b *testing.B) {
	for _, levels := range []int{1, 4} {
		tree, leaf := benchTree(b)
		for q := range tree.Ancestors(leaf) {
			if strings.Count(tree.Path(q), ".") > 4-levels {
				if err := tree.SetGuaranteed(q, resources.Limit{}); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run(fmt.Sprintf("levels=%d", levels), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sinkID, sinkBool = tree.Governing(leaf, 3)
			}
		})
	}
}

func BenchmarkSetGuaranteed(b *testing.B) {
	tree, leaf := benchTree(b)
	g := resources.Limit{Value: resources.Vector{1, 2, 3, 4}, Defined: 0b1111}
	b.Run(benchName, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := tree.SetGuaranteed(leaf, g); err != nil {
				b.Fatal(err)
			}
		}
	})
}
