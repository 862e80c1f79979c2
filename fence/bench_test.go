// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"fmt"
	"testing"

	"github.com/go-preempt/preempt/queue"
)

// benchTree is a tree with ten children to a queue, and a leaf in its middle.
func benchTree(b *testing.B, levels int) (*queue.Tree, queue.ID) {
	var grow func(name string, levels int) queue.Config
	grow = func(name string, levels int) queue.Config {
		var children []queue.Config
		for i := range 10 {
			if levels > 1 {
				children = append(children, grow(fmt.Sprintf("q%d", i), levels-1))
			}
		}
		return node(name, set("+1"), children...)
	}
	tree := mustNew(b, grow("root", levels))
	path := "root"
	for range levels - 1 {
		path += ".q5"
	}
	return tree, mustLookup(b, tree, path)
}

func BenchmarkRank(b *testing.B) {
	tree, leaf := benchTree(b, 4)
	b.Run("depth=4", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sinkInt = int(Rank(tree, Priority{3, 7}, Priority{leaf, 5}))
		}
	})
}

func BenchmarkReach(b *testing.B) {
	tree, leaf := benchTree(b, 4)
	b.Run(fmt.Sprintf("queues=%d", tree.Len()), func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			for range Reach(tree, leaf) {
				n++
			}
		}
		sinkInt = n
	})
}
