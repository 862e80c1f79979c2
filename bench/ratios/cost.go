// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// building measures how long it takes to build a cluster and how large it is.
func (r *report) building() {
	w := workload.W{Nodes: r.big, Tasks: r.tasks, Tree: workload.Tree4x100}
	in := w.Input()
	section := r.section("keeping a cluster")
	// What was built is swept up in a turn of its own.
	nanos := slices.Min(r.clock.times(func() { in.Build() }, runtime.GC)[0])
	section.add(Row{Name: fmt.Sprintf("building `%v`", w), Figure: nanos / 1e6, Unit: "ms"}.atMost(60))

	before := heap()
	c := in.Build()
	size := heap() - before
	tasks := len(in.Tasks)
	section.add(Row{
		Name: "memory of a task, key header included, key text not", Figure: float64(size) / float64(tasks), Unit: "bytes",
		Remark: fmt.Sprintf("%.1f MB for %d tasks, all in", float64(size)/1e6, c.TaskLen()),
	}.atMost(160))

	r.changes(section, c, in.Tasks)
}

// heap returns how much memory is in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers held
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// lag is after how many batches a change is taken back, so that the tasks are
// no longer at hand.
const lag = 10

// changes measures changes of single tasks, in batches of other tasks each time.
// A turn is one batch.
func (r *report) changes(section *section, c *victims.Cluster, tasks []victims.Task) {
	// batches returns a function that makes a change to one batch after another.
	// Those that begin 50 batches apart never meet in time.
	batches := func(from int, do func(t *victims.Task) error) func() {
		at := from * r.batch * workload.Stride
		return func() {
			for range r.batch {
				must(do(&tasks[at%len(tasks)]))
				at += workload.Stride
			}
		}
	}
	state := func(s victims.State) func(t *victims.Task) error {
		return func(t *victims.Task) error { return c.SetState(t.Key, s) }
	}
	add := func(t *victims.Task) error { _, err := c.AddTask(t); return err }
	all := []struct {
		name string
		do   func()
	}{
		{"removing a task", batches(0, func(t *victims.Task) error { return c.RemoveTask(t.Key) })},
		{"adding a task", batches(0, add)},
		{"marking a task", batches(50, state(victims.Releasing))},
		{"taking a mark back", batches(50, state(victims.Running))},
	}
	for range lag {
		all[0].do()
		all[2].do()
	}
	once := r.clock
	once.turn = 0
	for i, times := range once.times(all[0].do, all[1].do, all[2].do, all[3].do) {
		section.add(Row{Name: all[i].name, Figure: slices.Min(times) / float64(r.batch) / 1e3, Unit: "µs"}.atMost(1))
	}
}

// others measures what else there is, without a target.
func (r *report) others() {
	w := workload.W{Nodes: r.big, Tasks: r.tasks, Tree: workload.Tree4x100}
	c := w.Build()
	floor := workload.NewFloor(c)
	section := r.section("what else there is, k=4")
	measure := func(name string, f func()) {
		ratio, nanos := r.clock.ratio(f, floor.Pass)
		section.add(Row{Name: name, Figure: ratio, Unit: floors, Remark: duration(nanos)})
	}
	s := w.Subject(c, 4)
	s.Decide()
	auditor := victims.Auditor{Cluster: c}
	var found []victims.Violation
	measure("audit of a plan", func() { found = auditor.Audit(found[:0], &s.Decision, workload.Now) })
	measure("plan applied and undone", func() {
		must(c.Apply(&s.Decision))
		must(c.Undo())
	})
	x := workload.NewChurn(s)
	measure(fmt.Sprintf("churn: %d tasks end and begin, %d marked and unmarked, one ask", workload.Changes, workload.Marks),
		func() { must(x.Round()) })
	measure("clone", func() { c.Clone() })
}

// vectors measures arithmetic on four types.
func (r *report) vectors() {
	const calls = 1000
	x, y, dst := resources.Vector{1, 2, 3, 4}, resources.Vector{5, 6, 7, 8}, make(resources.Vector, 4)
	section := r.section("arithmetic on vectors of 4 types")
	for _, op := range []struct {
		name string
		do   func()
	}{
		{"Add", func() {
			d := dst
			for range calls {
				d = resources.Add(d, x, y)
			}
		}},
		{"Sub", func() {
			d := dst
			for range calls {
				d = resources.Sub(d, x, y)
			}
		}},
		{"Min", func() {
			d := dst
			for range calls {
				d = resources.Min(d, x, y)
			}
		}},
		{"Max", func() {
			d := dst
			for range calls {
				d = resources.Max(d, x, y)
			}
		}},
		{"Fits", func() {
			for range calls {
				if !resources.Fits(x, y) {
					panic("ratios: a wrong answer")
				}
			}
		}},
	} {
		section.add(Row{Name: op.name, Figure: r.clock.least(op.do) / calls, Unit: "ns"}.atMost(5))
	}
}
