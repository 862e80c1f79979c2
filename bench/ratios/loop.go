// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

// rest measures decisions beside other decisions: one after another, by other
// levels, the first of a cluster, and explained.
func (r *report) rest() {
	section := r.section("decisions beside others, k=4")
	r.loop(section)
	r.levels(section)
	r.first(section)
	r.explain(section)
}

// asks is how many asks a loop decides, and edge how many of them at its beginning
// and end are compared.
const asks, edge = 1000, 50

// loop decides one ask after another. The victims of each go, and it runs.
func (r *report) loop(section *section) {
	var ends, starts []float64
	var whole time.Duration
	for range minRounds {
		w := workload.W{Nodes: r.big, Tasks: r.tasks, Tree: workload.Tree2x10}
		c := w.Build()
		s := w.Subject(c, 4)
		fresh := r.clock.least(s.Decide)
		var times []float64
		begin := time.Now()
		for i := range min(asks, r.big) {
			s.Ask.Key = fmt.Sprint("ask-", i)
			start := time.Now()
			s.Decide()
			times = append(times, float64(time.Since(start)))
			d := &s.Decision
			if d.Outcome == victims.Refused {
				break // the queue has its guarantee
			}
			must(c.Apply(d))
			for _, v := range d.Plan.Victims {
				must(c.RemoveTask(v.Key))
			}
			must(c.Start(s.Ask.Key, workload.Now))
		}
		whole = time.Since(begin)
		n := min(edge, len(times))
		head, tail := mean(times[:n]), mean(times[len(times)-n:])
		ends, starts = append(ends, tail/head), append(starts, head/fresh)
	}
	name := fmt.Sprintf("decide, apply, remove, start: %d asks of one queue: the last %d against the first", asks, edge)
	section.add(Row{Name: name, Figure: median(ends), Unit: "× as long", Remark: duration(float64(whole)) + " for all"}.atMost(2))
	section.add(Row{Name: "the first of them against one that is decided again", Figure: median(starts), Unit: "× as long"}.atMost(2))
}

func mean(list []float64) (sum float64) {
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// levels compares other orders of the levels with the default.
func (r *report) levels(section *section) {
	w := workload.W{Nodes: r.big, Tasks: r.tasks, Tree: workload.Tree4x100}
	h := workload.Hard{Nodes: r.big, Tasks: r.tasks, Shapes: 30}
	c, hc := w.Build(), h.Build()
	backwards := victims.DefaultLevels()
	slices.Reverse(backwards)
	for _, levels := range [][]string{
		{"victims", "opted-out", "priority", "work"}, backwards,
	} {
		for _, load := range []struct {
			name string
			s    [2]*workload.Subject
		}{
			{nameOf(w, 4), [2]*workload.Subject{w.Subject(c, 4), w.Subject(c, 4)}},
			{fmt.Sprintf("`%v/k=4`", h), [2]*workload.Subject{h.Subject(hc, 4), h.Subject(hc, 4)}},
		} {
			load.s[1].Planner.Levels = levels
			ratio, nanos := r.clock.ratio(load.s[1].Decide, load.s[0].Decide)
			section.add(Row{
				Name:   fmt.Sprintf("%s, levels from %v to %v, against the default", load.name, levels[0], levels[len(levels)-1]),
				Figure: ratio, Unit: "× as long", Remark: remark(load.s[1], nanos),
			}.atMost(5))
		}
	}
}

// first measures the first decision of a cluster, which makes its digests.
func (r *report) first(section *section) {
	tasks := max(r.million, r.big*20)
	w := workload.W{Nodes: tasks / 20, Tasks: 20, Tree: workload.Tree4x100}
	in := w.Input()
	least := 0.0
	for range minRounds {
		s := w.Subject(in.Build(), 4)
		start := time.Now()
		s.Decide()
		if took := float64(time.Since(start)); least == 0 || took < least {
			least = took
		}
	}
	section.add(Row{
		Name: fmt.Sprintf("the first decision after %d tasks were added, per task", tasks), Figure: least / float64(tasks), Unit: "ns",
		Remark: duration(least),
	}.atMost(50))
}

// explain measures explanations, and what they allocate on clusters of two sizes.
func (r *report) explain(section *section) {
	var allocated []float64
	for _, nodes := range []int{r.small, r.big} {
		w := workload.W{Nodes: nodes, Tasks: r.tasks, Tree: workload.Tree4x100}
		c := w.Build()
		s := w.Subject(c, 4)
		var e victims.Explanation
		explain := func() { must(s.Planner.Explain(&e, &s.Ask, workload.Now)) }
		if nodes == r.big {
			ratio, nanos := r.clock.ratio(explain, workload.NewFloor(c).Pass)
			section.add(Row{Name: "explanation of a plan", Figure: ratio, Unit: floors, Remark: duration(nanos)}.atMost(30))
		}
		explain()
		allocated = append(allocated, allocations(explain))
	}
	section.add(Row{
		Name: fmt.Sprintf("what an explanation allocates more often with %d nodes more", r.big-r.small), Figure: max(allocated[1]-allocated[0], 0),
	}.atMost(0))
}
