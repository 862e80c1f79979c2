package main

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/workload"
)

// growth finds by which power of nodes, tasks and queues decisions grow.
func (r *report) growth() {
	section := r.section("growth of a decision, k=4")
	base := workload.W{Nodes: r.small, Tasks: r.tasks, Tree: workload.Tree4x100}

	var list []workload.W
	for _, nodes := range r.growNodes {
		w := base
		w.Nodes = nodes
		list = append(list, w)
	}
	section.add(r.grow(list, "nodes", func(w workload.W) int { return w.Nodes }).atMost(1).headline())

	list = nil
	for _, tasks := range r.growTasks {
		w := base
		w.Tasks = tasks
		list = append(list, w)
	}
	section.add(r.grow(list, "tasks of a node", func(w workload.W) int { return w.Tasks }).atMost(1).headline())

	list = nil
	for _, tree := range [][]int{workload.Tree2x10, workload.Tree4x100, workload.Tree4x1000} {
		w := base
		w.Nodes, w.Tree = r.big, tree
		list = append(list, w)
	}
	section.add(r.grow(list, "queues", func(w workload.W) int { return w.Build().Tree().Len() }).atMost(0.2).headline())
}

// grow measures decisions on workloads that differ in a size.
func (r *report) grow(list []workload.W, what string, sizeOf func(workload.W) int) Row {
	var sizes []float64
	var functions []func()
	for _, w := range list {
		sizes = append(sizes, float64(sizeOf(w)))
		functions = append(functions, w.Subject(w.Build(), 4).Decide)
	}
	return Row{
		Name:   fmt.Sprintf("in %s, from %.0f to %.0f", what, sizes[0], sizes[len(sizes)-1]),
		Figure: r.clock.exponent(sizes, functions), Unit: "(exponent)",
		Remark: fmt.Sprintf("from `%v`", list[0]),
	}
}
