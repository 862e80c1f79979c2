// SPDX-License-Identifier: Apache-2.0

package least

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-preempt/preempt/internal/cost"
)

// benchProblem has n rows in the order of plans, below two queues with a guarantee, and in five
// priorities. A quarter of all is needed, of each dimension. Rows are of a few shapes, or each of
// its own.
func benchProblem(n, dims int, shapes string) *Problem {
	r := rand.New(rand.NewPCG(uint64(n), uint64(dims)))
	p := &Problem{Room: make([]int64, 2*dims)}
	for k := range dims {
		p.Typ, p.Types = append(p.Typ, int32(k)), append(p.Types, int32(k), int32(k))
	}
	p.Need, p.Wanted = make([]int64, dims), make([]int64, dims)
	for i := range n {
		priority := int64(-i % 5)
		x := Row{Levels: cost.Levels{3: priority, 4: priority, 8: 1, 9: priority, 10: priority}, Count: int64(1 + i%3), Weight: 1}
		for range x.Count {
			x.Times = append(x.Times, -int64(i%11))
		}
		for k := range dims {
			size := int64(1 + (i+k*i/4)%4)
			if shapes == "many" {
				size = 100 + r.Int64N(900)
			}
			x.Size = append(x.Size, size)
			p.Need[k] += size * x.Count
			for q := range min(i%3, 2) {
				x.Takes = append(x.Takes, Take{int32(2*k + 1 - q), size})
				p.Room[2*k+1-q] += size * x.Count / 2
			}
		}
		x.Gives = x.Size
		p.Rows = append(p.Rows, x)
	}
	for k := range p.Need {
		p.Need[k] /= 4
		p.Wanted[k] = p.Need[k]
	}
	return p
}

// What a search of one problem takes: all of it within 2000 steps, or its preparation.
func BenchmarkSolve(b *testing.B) {
	for _, steps := range []int{2000, 0} {
		for _, n := range []int{10, 30, 100, 300} {
			for _, shapes := range []string{"few", "many"} {
				for _, dims := range []int{1, 2, 8, 16} {
					b.Run(fmt.Sprintf("steps=%d/rows=%d/shapes=%s/dims=%d", steps, n, shapes, dims), func(b *testing.B) {
						p := benchProblem(n, dims, shapes)
						s := pose(p)
						b.ReportAllocs()
						for b.Loop() {
							s.Pose(p)
							if !s.Solve(p, nil, nil, steps).Found {
								b.Fatal("nothing found")
							}
						}
						b.ReportMetric(float64(s.Steps()), "steps")
						b.ReportMetric(float64(b.Elapsed())/float64(s.Meter.Used), "ns/elementary")
					})
				}
			}
		}
	}
}

// What a look at a node takes, if the incumbent has as many victims as the node may have.
func BenchmarkClimb(b *testing.B) {
	for e, name := range []string{glance: "glance", bound: "bound", seek: "seek"} {
		for _, n := range []int{10, 30, 100, 300} {
			for _, dims := range []int{1, 8} {
				b.Run(fmt.Sprintf("%s/rows=%d/dims=%d", name, n, dims), func(b *testing.B) {
					p := benchProblem(n, dims, "many")
					s := pose(p)
					best := *s.Solve(p, nil, nil, 2000)
					s.Best.Found, s.Best.Node, s.Best.Total = true, 9, best.Total
					s.Best.Total.Levels[8]--
					s.Best.Note(s.Capacity)
					s.Meter.Used = 0
					b.ReportAllocs()
					for b.Loop() {
						s.climb(p, effort(e))
					}
					b.ReportMetric(float64(b.Elapsed())/float64(s.Meter.Used), "ns/elementary")
				})
			}
		}
	}
}

// A warm search allocates nothing.
func TestNoAllocs(t *testing.T) {
	for _, shapes := range []string{"few", "many"} {
		p := benchProblem(30, 4, shapes)
		s := pose(p)
		limit := s.Solve(p, nil, nil, enough).Total
		for name, run := range map[string]func(){
			"search":    func() { s.Pose(p); s.Solve(p, nil, nil, 2000) },
			"few steps": func() { s.Solve(p, nil, nil, 0) },
			"a limit":   func() { s.Solve(p, &limit, nil, 2000) },
			"bound":     func() { s.climb(p, seek) },
		} {
			if n := testing.AllocsPerRun(20, run); n != 0 {
				t.Errorf("%s, %s shapes: %v allocations", name, shapes, n)
			}
		}
	}
}
