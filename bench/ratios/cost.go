package main

import (
	"fmt"
	"runtime"

	"github.com/go-preempt/preempt/internal/workload"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// building measures how long it takes to build a cluster and how large it is.
func (r *report) building() {
	w := workload.W{Nodes: r.big, Tasks: r.tasks, Tree: workload.Tree4x100}
	in := w.Input()
	section := r.section("keeping a cluster")
	// What was built is swept up in a turn of its own.
	nanos := median(r.clock.times(func() { in.Build() }, runtime.GC)[0])
	section.add(Row{Name: fmt.Sprintf("building `%v`", w), Figure: nanos / 1e6, Unit: "ms"}.atMost(60))

	before := heap()
	c := in.Build()
	size := heap() - before
	tasks := len(in.Tasks)
	section.add(Row{
		Name: "memory of a task, key header included, key text not", Figure: float64(size) / float64(tasks), Unit: "bytes",
		Remark: fmt.Sprintf("%.1f MB for %d tasks, all in", float64(size)/1e6, c.TaskLen()),
	}.atMost(160))
	runtime.KeepAlive(in)

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

// changes measures changes of single tasks, in batches of other tasks each time.
func (r *report) changes(section *section, c *victims.Cluster, tasks []victims.Task) {
	from := 0
	each := func(do func(t *victims.Task) error) func() {
		return func() {
			for i := range r.batch {
				must(do(&tasks[(from+i*workload.Stride)%len(tasks)]))
			}
		}
	}
	state := func(s victims.State) func() {
		return each(func(t *victims.Task) error { return c.SetState(t.Key, s) })
	}
	// A turn is one batch: what is removed must be added before it is removed
	// again.
	once := r.clock
	once.turn = 0
	times := once.times(
		each(func(t *victims.Task) error { return c.RemoveTask(t.Key) }),
		each(func(t *victims.Task) error { _, err := c.AddTask(t); return err }),
		state(victims.Releasing),
		state(victims.Running),
		func() { from += r.batch * workload.Stride },
	)
	for i, name := range []string{"removing a task", "adding a task", "marking a task", "taking a mark back"} {
		section.add(Row{Name: name, Figure: median(times[i]) / float64(r.batch) / 1e3, Unit: "µs"}.atMost(1))
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
	measure("audit of a plan", func() { found = auditor.Audit(found[:0], &s.Decision.Plan, workload.Now) })
	measure("plan applied and undone", func() {
		must(c.Apply(&s.Decision.Plan))
		must(c.Undo())
	})
	var e victims.Explanation
	measure("explanation of a plan", func() { must(s.Planner.Explain(&e, &s.Ask, workload.Now)) })
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
		{"Add", func() { dst = resources.Add(dst, x, y) }},
		{"Sub", func() { dst = resources.Sub(dst, x, y) }},
		{"Min", func() { dst = resources.Min(dst, x, y) }},
		{"Max", func() { dst = resources.Max(dst, x, y) }},
		{"Fits", func() { fits = resources.Fits(x, y) }},
	} {
		times := r.clock.times(func() {
			for range calls {
				op.do()
			}
		})
		section.add(Row{Name: op.name, Figure: median(times[0]) / calls, Unit: "ns"}.atMost(5))
	}
}

// fits is where answers go that nobody reads, so that they are not optimized away.
var fits bool
