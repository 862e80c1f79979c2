// SPDX-License-Identifier: Apache-2.0

package units

import (
	"fmt"
	"testing"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/resources"
)

// benchProblem has n units of two types below two queues with a guarantee, in
// five priorities; a quarter of all is needed.
func benchProblem(n int) *Problem {
	p := &Problem{Order: planOrder, Bounds: rooms(int64(n), int64(2*n))}
	var sum resources.Vector
	for i := range n {
		u := unitOf(fmt.Sprintf("task-%03d", i*7919%n), int64(1+i%4), int64(i%3)).rank(int64(-i % 5)).work(uint64(i % 11))
		if i%3 > 0 {
			u = u.bounds([][]int32{{0, 1}, {1}}[i%2]...)
		}
		sum = resources.Add(nil, sum, u.Size)
		p.Units = append(p.Units, u.Unit)
	}
	p.Needs = shorts(ratio.OfVector(sum, 1, 4))
	p.Wanted, p.Capacity = p.Needs[0], sum
	return p
}

// TestCoverNoAllocs shows that a warm worker allocates nothing.
func TestCoverNoAllocs(t *testing.T) {
	var w Worker
	var s Selection
	p, ordered, tooMuch := benchProblem(30), benchProblem(30), benchProblem(30)
	ordered.Order.Compare = mostWork
	tooMuch.Needs = shorts(vec{1000})
	limited := benchProblem(30)
	limited.Limit = &cost.Total{Units: 3, Levels: cost.Levels{LevelVictims: 3}}
	for _, tt := range []struct {
		name string
		run  func()
	}{
		{"Greedy", func() { w.Least(&s, p, 0) }},
		{"Least", func() { w.Least(&s, p, 1000) }},
		{"Least/few steps", func() { w.Least(&s, p, 10) }},
		{"Least/order of the caller", func() { w.Least(&s, ordered, 1000) }},
		{"Least/too little", func() { w.Least(&s, tooMuch, 1000) }},
		{"Least/limit", func() { w.Least(&s, limited, 1000) }},
	} {
		if n := testing.AllocsPerRun(20, tt.run); n != 0 {
			t.Errorf("%s: %v allocations, want 0", tt.name, n)
		}
	}
}

// TestCoverAlike shows that units that are alike cost no steps: of a thousand
// that differ in work and key only, the search decides once how many to take.
func TestCoverAlike(t *testing.T) {
	p := &Problem{Order: planOrder, Needs: shorts(vec{500}), Capacity: vec{1000}}
	for i := range 1000 {
		p.Units = append(p.Units, unitOf(fmt.Sprintf("task-%03d", i), 1).work(uint64(1000-i)).Unit)
	}
	var w Worker
	var s Selection
	w.Least(&s, p, 10)
	if !s.Proven || s.Steps > 1 {
		t.Errorf("proven %t in %d steps, want true in 1", s.Proven, s.Steps)
	}
	// The second half of the units has the least work.
	if len(s.Units) != 500 || s.Units[0] != 500 {
		t.Errorf("%d units from %d on, want 500 from 500 on", len(s.Units), s.Units[0])
	}
}

func BenchmarkWorker(b *testing.B) {
	for _, n := range []int{10, 30, 100} {
		p := benchProblem(n)
		for _, bb := range []struct {
			name  string
			solve func(w *Worker, s *Selection)
		}{
			{"Greedy", func(w *Worker, s *Selection) { w.Least(s, p, 0) }},
			{"Least", func(w *Worker, s *Selection) { w.Least(s, p, DefaultSteps) }},
		} {
			b.Run(fmt.Sprintf("%s/units=%d", bb.name, n), func(b *testing.B) {
				var w Worker
				var s Selection
				b.ReportAllocs()
				for b.Loop() {
					bb.solve(&w, &s)
				}
				if !s.Found {
					b.Fatal("nothing found")
				}
				b.ReportMetric(float64(len(s.Units)), "victims")
				b.ReportMetric(float64(s.Steps), "steps")
			})
		}
	}
}
