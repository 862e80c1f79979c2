// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

// floors is the unit of ratios to a pass over all tasks.
const floors = "× floor"

// decisions compares decisions with a bare pass over all tasks of the cluster.
func (r *report) decisions() {
	section := r.section("a decision, against a pass over all tasks (the floor)")
	r.friendly(section, r.small, []int64{1, 4, 10})
	r.friendly(section, r.big, []int64{1, 4, 10, 20})
	for _, w := range []workload.W{{NoPods: true}, {SparePods: int64(1000 - r.tasks)}} {
		w.Nodes, w.Tasks, w.Tree = r.big, r.tasks, workload.Tree4x100
		c := w.Build()
		floor := workload.NewFloor(c)
		for _, k := range []int64{1, 4, 10, 20} {
			section.add(r.against(floor, nameOf(w, k), w.Subject(c, k)).atMost(1))
		}
	}
	if r.million > 0 {
		w := workload.W{Nodes: r.million / 20, Tasks: 20, Tree: workload.Tree4x100}
		c := w.Build()
		floor := workload.NewFloor(c)
		for _, k := range []int64{1, 4} {
			section.add(r.against(floor, nameOf(w, k), w.Subject(c, k)).atMost(1))
		}
	}
	section.add(Row{Name: "decisions above of which the levels are not proven", Figure: float64(r.unproven)}.atMost(0))
	section.add(Row{Name: "allocations of any of them, warm", Figure: r.allocs}.atMost(0))
}

// friendly measures the plain workload of a size, and workloads of each kind.
func (r *report) friendly(section *section, nodes int, ks []int64) {
	w := workload.W{Nodes: nodes, Tasks: r.tasks, Tree: workload.Tree4x100}
	c := w.Build()
	floor := workload.NewFloor(c)
	for _, k := range ks {
		section.add(r.against(floor, nameOf(w, k), w.Subject(c, k)).atMost(1))
	}
	s := w.Subject(c, 4)
	s.Planner.StrictPriority = true
	section.add(r.against(floor, nameOf(w, 4)+", all priorities too high", s).atMost(1))
	s = w.Subject(c, 4)
	s.Ask.RequiredNode = fmt.Sprint("n", nodes/2)
	section.add(r.against(floor, nameOf(w, 4)+", required node", s).atMost(1))

	for _, w := range w.Kinds()[1:] {
		c := w.Build()
		target := 1.0
		if w.Mixed || w.MaxSlack > 0 {
			target = 5
		}
		section.add(r.against(workload.NewFloor(c), nameOf(w, 4), w.Subject(c, 4)).atMost(target))
	}
}

// nameOf names a decision.
func nameOf(w workload.W, k int64) string { return fmt.Sprintf("`%v/k=%d`", w, k) }

// against compares a decision with the floor.
func (r *report) against(floor *workload.Floor, name string, s *workload.Subject) Row {
	ratio, nanos := r.clock.ratio(s.Decide, floor.Pass)
	if !s.Proven() && s.Decision.Plan.Proof != victims.ProofLevels {
		r.unproven++
	}
	r.allocs = max(r.allocs, allocations(s.Decide))
	r.floor = nanos / ratio
	return Row{Name: name, Figure: ratio, Unit: floors, Remark: remark(s, nanos), Decision: true}
}

// remark says what was decided, and in what time.
func remark(s *workload.Subject, nanos float64) string {
	text := duration(nanos) + ", "
	d := &s.Decision
	switch {
	case d.Outcome == victims.Refused && d.Refusal.Proven:
		return text + "refused: " + d.Refusal.Reason
	case d.Outcome == victims.Refused:
		return text + "refused: " + d.Refusal.Reason + ", not proven"
	}
	text += counted(len(d.Plan.Victims))
	if p := d.Plan.Proof; p != victims.ProofCost {
		text += ", proof: " + p.String()
	}
	return text
}

// counted writes a number of victims.
func counted(n int) string {
	if n == 1 {
		return "1 victim"
	}
	return fmt.Sprintf("%d victims", n)
}

// tracesAndTwin compares the asks of the production trace, if it is there, and of its
// generated twin, which always is.
func (r *report) tracesAndTwin() {
	section := r.section("a cluster as full as a production trace (1523 nodes)")
	section.add(r.moment("its generated twin", workload.NewTwin()).atMost(5))
	if r.traces == "" {
		return
	}
	moment, err := workload.ReadTrace(r.traces)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ratios: no trace:", err)
		return
	}
	section.add(r.moment("the trace itself", moment).atMost(5))
}

// moment compares the asks of a moment with the floor, each on average.
func (r *report) moment(name string, m *workload.Trace) Row {
	plans := 0
	decide := func() { plans = m.Decide() }
	ratio, nanos := r.clock.ratio(decide, workload.NewFloor(m.Cluster).Pass)
	asks := float64(len(m.Asks))
	return Row{
		Name:   fmt.Sprintf("%s: mean of %d asks, %d tasks", name, len(m.Asks), m.Cluster.TaskLen()),
		Figure: ratio / asks, Unit: floors, Decision: true,
		Remark: fmt.Sprintf("%s, %d plans", duration(nanos/asks), plans),
	}
}

// maps compares with the same decision made naively over maps.
func (r *report) maps() {
	section := r.section("a naive decision over maps, which we wrote ourselves, against ours")
	w := workload.W{Nodes: r.small, Tasks: r.tasks, Tree: workload.Tree4x100}
	c := w.Build()
	m := workload.NewMaps(c)
	for _, k := range []int64{1, 4, 10} {
		s := w.Subject(c, k)
		var plan workload.MapPlan
		ratio, nanos := r.clock.ratio(func() { plan, _ = m.Decide(c.Tree(), &s.Ask) }, s.Decide)
		section.add(Row{
			Name: nameOf(w, k), Figure: ratio, Unit: "× as long",
			Remark: duration(nanos) + ", " + counted(len(plan.Victims)),
		}.atLeast(1000))
	}
}
