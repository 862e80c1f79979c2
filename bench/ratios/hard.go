// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

// hard compares decisions that are not friendly with a bare pass over all tasks:
// asks that fit few nodes, predicates that refuse, sizes that all differ, gangs,
// budgets, own costs, ports, the own leaf, and all of them at once.
func (r *report) hard() {
	section := r.section("a decision on a hard load, against the floor")
	r.refusing(section)
	for _, load := range r.hardLoads() {
		c := load.Build()
		floor := workload.NewFloor(c)
		for _, k := range load.ks {
			row := r.judged(floor, fmt.Sprintf("`%v/k=%d`", load.Hard, k), load.Subject(c, k))
			target := load.target
			if target == 0 {
				// Any load: so many times the floor, or 50 ms if that is more.
				target = max(lineFloors, lineNanos/r.floor)
			}
			section.add(row.atMost(target))
		}
	}
}

// A hardLoad is a load with the asks that are measured and their target; 0 is that
// of any load.
type hardLoad struct {
	workload.Hard
	target float64
	ks     []int64
}

func (r *report) hardLoads() (all []hardLoad) {
	add := func(target float64, h workload.Hard, ks ...int64) {
		if h.Nodes == 0 {
			h.Nodes, h.Tasks = r.big, r.tasks
		}
		all = append(all, hardLoad{h, target, ks})
	}
	add(5, workload.Hard{Shapes: 30}, 4, 10)
	add(5, workload.Hard{Shapes: 100}, 4, 10)
	add(15, workload.Hard{}, 4, 10, 20)
	for _, types := range []int{8, 16, 32} {
		add(0, workload.Hard{Types: types}, 4, 10)
	}
	for levels := 1; levels <= 3; levels++ {
		add(0, workload.Hard{Shapes: 3, Levels: levels}, 4)
		add(0, workload.Hard{Levels: levels}, 4, 10)
	}
	// As many tasks on fewer nodes, down to a single one.
	for few := 50; few <= r.big; few *= 10 {
		add(15, workload.Hard{Nodes: r.big / few, Tasks: r.tasks * few}, 10)
	}
	add(15, workload.Hard{Nodes: 1, Tasks: r.small * r.tasks}, 10)
	add(0, workload.Hard{Nodes: r.small / 5, Tasks: 100}, 10, 40, 70)
	add(0, workload.Hard{OptOuts: 90, Priorities: 20}, 4, 10)
	add(0, workload.Hard{Gangs: 4}, 4, 10)
	add(15, workload.Hard{Budgets: 10}, 4, 10)
	add(0, workload.Hard{OwnCosts: true}, 4, 10)
	add(15, workload.Hard{Ports: r.tasks + 5}, 4, 10)
	add(15, workload.Hard{OwnLeaf: true}, 4, 10)
	add(0, workload.Hard{
		Gangs: 4, Budgets: 10, Ports: r.tasks + 5, Labels: 3,
		OptOuts: 5, Priorities: 5, OwnCosts: true, OwnLeaf: true,
	}, 4, 10)
	return all
}

// refusing measures filters and predicates of the caller's.
func (r *report) refusing(section *section) {
	w := workload.W{Nodes: r.big, Tasks: r.tasks, Tree: workload.Tree4x100}
	c := w.Build()
	floor := workload.NewFloor(c)
	for _, every := range []int{0, 1000, 10, 3} {
		s := w.Subject(c, 4)
		s.Planner.Filter = func(q *victims.Question) bool { return every > 0 && int(q.Node-1)%every == 0 }
		name := "no node passes the filter"
		if every > 0 {
			name = fmt.Sprintf("1 node in %d passes the filter", every)
		}
		section.add(r.judged(floor, nameOf(w, 4)+", "+name, s).atMost(1))
	}
	for _, every := range []int{0, 1000} {
		s := w.Subject(c, 4)
		questions := 0
		s.Planner.Predicate = func(p *victims.Question) bool {
			questions++
			return every > 0 && int(p.Node-1)%every == every-1
		}
		name := "the predicate refuses all"
		if every > 0 {
			name = fmt.Sprintf("the predicate refuses all but 1 node in %d", every)
		}
		section.add(r.judged(floor, nameOf(w, 4)+", "+name, s).atMost(lineFloors))
		questions = 0
		s.Decide()
		section.add(Row{Name: "questions of it per node", Figure: float64(questions) / float64(r.big)}.atMost(2))
	}
}

// judged is against for loads that nobody promises a proof for.
func (r *report) judged(floor *workload.Floor, name string, s *workload.Subject) Row {
	unproven := r.unproven
	row := r.against(floor, name, s)
	r.unproven = unproven
	return row
}
