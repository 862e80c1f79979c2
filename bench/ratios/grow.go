// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/judge/workload"
)

// growth finds by which power of nodes, tasks, queues, types, the ask and shapes
// decisions grow.
func (r *report) growth() {
	section := r.section("growth of a decision, k=4")
	base := workload.W{Nodes: r.small, Tasks: r.tasks, Tree: workload.Tree4x100}
	var nodes, tasks, queues, units, types, shapes curve
	for _, n := range r.growNodes {
		w := base
		w.Nodes = n
		nodes.add(float64(n), w, w.Subject(w.Build(), 4))
	}
	for _, n := range r.growTasks {
		w := base
		w.Tasks = n
		tasks.add(float64(n), w, w.Subject(w.Build(), 4))
	}
	for _, tree := range [][]int{workload.Tree2x10, workload.Tree4x100, workload.Tree4x1000} {
		w := base
		w.Nodes, w.Tree = r.big, tree
		c := w.Build()
		queues.add(float64(c.Tree().Len()), w, w.Subject(c, 4))
	}
	c := base.Build()
	for _, k := range []int64{1, 2, 4, 8, 16} {
		units.add(float64(k), base, base.Subject(c, k))
	}
	for _, n := range []int{4, 8, 16, 32} {
		h := workload.Hard{Nodes: r.small, Tasks: r.tasks, Shapes: 10, Types: n}
		types.add(float64(n), h, h.Subject(h.Build(), 4))
	}
	for _, n := range []int{3, 10, 30, 100} {
		h := workload.Hard{Nodes: r.small, Tasks: r.tasks, Shapes: n}
		shapes.add(float64(n), h, h.Subject(h.Build(), 4))
	}
	section.add(r.grow("nodes", &nodes).atMost(1))
	section.add(r.grow("tasks of a node", &tasks).atMost(1))
	section.add(r.grow("queues", &queues).atMost(0.2))
	section.add(r.grow("units asked for", &units))
	section.add(r.grow("types", &types))
	section.add(r.grow("shapes of tasks", &shapes))
}

// A curve is a decision on loads that differ in a size.
type curve struct {
	sizes     []float64
	functions []func()
	from      string // the first load
}

func (c *curve) add(size float64, load fmt.Stringer, s *workload.Subject) {
	if len(c.sizes) == 0 {
		c.from = load.String()
	}
	c.sizes, c.functions = append(c.sizes, size), append(c.functions, s.Decide)
}

// grow measures a curve.
func (r *report) grow(what string, c *curve) Row {
	return Row{
		Name:   fmt.Sprintf("in %s, from %.0f to %.0f", what, c.sizes[0], c.sizes[len(c.sizes)-1]),
		Figure: r.clock.exponent(c.sizes, c.functions), Unit: "(exponent)",
		Remark: fmt.Sprintf("from `%s`", c.from),
	}
}
