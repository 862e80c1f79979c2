package main

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/workload"
	"github.com/go-preempt/preempt/victims"
)

// hard compares decisions that are not friendly with a bare pass over all tasks:
// asks that fit few nodes, predicates that refuse, sizes that all differ, gangs,
// budgets, own costs, ports, the own leaf, and all of them at once.
func (r *report) hard() {
	section := r.section("a decision on a hard load, against the floor")
	w := workload.W{Nodes: r.big, Tasks: r.tasks, Tree: workload.Tree4x100}
	c := w.Build()
	floor := workload.NewFloor(c)
	for _, every := range []int{0, 1000, 10, 3} {
		s := w.Subject(c, 4)
		s.Planner.Filter = func(_ *victims.Ask, n victims.NodeID) bool { return every > 0 && int(n)%every == 0 }
		name := "no node passes the filter"
		if every > 0 {
			name = fmt.Sprintf("1 node in %d passes the filter", every)
		}
		section.add(r.judged(floor, nameOf(w, 4)+", "+name, s).atMost(1))
	}
	s := w.Subject(c, 4)
	s.Planner.Predicate = func(*victims.Placing) bool { return false }
	section.add(r.judged(floor, nameOf(w, 4)+", the predicate refuses all", s).atMost(10))

	small, big := r.small, r.big
	for _, h := range []workload.Hard{
		{Nodes: big, Tasks: r.tasks, Shapes: 30},
		{Nodes: big, Tasks: r.tasks, Shapes: 100},
		{Nodes: big, Tasks: r.tasks},
		{Nodes: big, Tasks: r.tasks, Types: 16},
		{Nodes: small, Tasks: r.tasks, Levels: 1},
		{Nodes: small, Tasks: r.tasks, Levels: 3},
		{Nodes: small / 10, Tasks: 10 * r.tasks},
		{Nodes: big, Tasks: r.tasks, OptOuts: 90, Priorities: 20},
		{Nodes: big, Tasks: r.tasks, Gangs: 4},
		{Nodes: big, Tasks: r.tasks, Budgets: 10},
		{Nodes: big, Tasks: r.tasks, OwnCosts: true},
		{Nodes: big, Tasks: r.tasks, Ports: r.tasks + 5},
		{Nodes: big, Tasks: r.tasks, OwnLeaf: true},
		{
			Nodes: big, Tasks: r.tasks, Gangs: 4, Budgets: 10, Ports: r.tasks + 5, Labels: 3,
			OptOuts: 5, Priorities: 5, OwnCosts: true, OwnLeaf: true,
		},
	} {
		c := h.Build()
		for _, k := range []int64{4, 10} {
			row := r.judged(workload.NewFloor(c), fmt.Sprintf("`%v/k=%d`", h, k), h.Subject(c, k)).atMost(30)
			section.add(row)
		}
	}
}

// judged is against for decisions whose proof is part of the remark.
func (r *report) judged(floor *workload.Floor, name string, s *workload.Subject) Row {
	unproven := r.unproven
	row := r.against(floor, name, s)
	r.unproven = unproven
	if s.Decision.Outcome == victims.Preempts {
		row.Remark += fmt.Sprintf(", proof: %v", s.Decision.Plan.Proof)
	}
	return row
}
