// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/go-preempt/preempt/resources"
)

// BenchmarkFairShares has 1,000 queues: all leaves of the root, as in a cluster
// with a queue per user, and in four levels with ten children each. Every queue
// has another weight and every leaf wants something else, so that nothing comes
// out even. Of the first type there is too little for the guarantees, of the
// second and the third too little for the demand, and of the fourth enough.
func BenchmarkFairShares(b *testing.B) {
	s, err := resources.NewSchema("cpu", "memory", "disk", "gpu")
	if err != nil {
		b.Fatal(err)
	}
	var draw seed
	var grow func(name string, levels, children int) Config
	grow = func(name string, levels, children int) Config {
		c := Config{Name: name, Properties: map[string]string{propertyFairWeight: fmt.Sprint(1 + draw.below(1000))}}
		if levels == 1 {
			c.Guaranteed = resources.Limit{Value: resources.Vector{draw.below(1 << 30), draw.below(1 << 40)}, Defined: 0b11}
			return c
		}
		for i := range children {
			c.Children = append(c.Children, grow(fmt.Sprint("q", i), levels-1, children))
		}
		return c
	}
	for _, shape := range []struct{ levels, children int }{{2, 999}, {4, 10}} {
		tree, err := NewLenient(s, grow("root", shape.levels, shape.children))
		if err != nil {
			b.Fatal(err)
		}
		demand := make([]resources.Vector, tree.Len())
		var capacity resources.Vector
		for q := range tree.Leaves(Root) {
			demand[q] = resources.Vector{draw.below(1 << 30), draw.below(1 << 42), draw.below(1 << 20), draw.below(16)}
			capacity = resources.Add(capacity, capacity, demand[q])
		}
		capacity[0] /= 4
		capacity[1] /= 2
		capacity[2] /= 2
		var f FairShares
		name := fmt.Sprintf("queues=%d/children=%d/types=4", tree.Len(), shape.children)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Divide(tree, demand, resources.Limit{Value: capacity, Defined: 0b1111}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(bits.OnesCount64(uint64(f.scarce))), "scarce")
		})
	}
}

// A seed is a generator of numbers that are the same in every run.
type seed uint64

func (s *seed) below(n int64) int64 {
	*s = *s*6364136223846793005 + 1442695040888963407
	return int64(uint64(*s)>>1) % n
}
