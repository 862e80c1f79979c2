// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"github.com/go-preempt/preempt/resources"
)

// BenchmarkVector measures the arithmetic that everything else consists of.
func BenchmarkVector(b *testing.B) {
	for _, types := range []int{2, 4, 8, 16} {
		x, y, dst := make(resources.Vector, types), make(resources.Vector, types), make(resources.Vector, types)
		for t := range types {
			x[t], y[t] = int64(1000+t), int64(2000+t)
		}
		l := resources.Limit{Value: y, Defined: resources.Positive(y)}
		lent := resources.Limit{Value: make(resources.Vector, types)}
		for _, op := range []struct {
			name string
			do   func() bool
		}{
			{"Add", func() bool { return len(resources.Add(dst, x, y)) == types }},
			{"Sub", func() bool { return len(resources.Sub(dst, x, y)) == types }},
			{"Max", func() bool { return len(resources.Max(dst, x, y)) == types }},
			{"Fits", func() bool { return resources.Fits(x, y) }},
			{"Over", func() bool { return len(resources.Over(dst, x, l)) == types }},
			{"Admits", func() bool { return resources.Admits(l, x) }},
			{"SubOnlyExisting", func() bool { return resources.SubOnlyExisting(lent, l, x).Defined == l.Defined }},
			{"DominantShare", func() bool { return resources.DominantShare(x, y).Amount > 0 }},
		} {
			b.Run(fmt.Sprintf("op=%s/types=%d", op.name, types), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if !op.do() {
						b.Fatal("a wrong answer")
					}
				}
			})
		}
	}
}
