// SPDX-License-Identifier: Apache-2.0

package preempt_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The five examples below are the cases with which administrators of YuniKorn
// learn preemption: tasks of one size, one node, and queues that differ.

// A guide is a cluster with one node and a planner.
type guide struct {
	*victims.Cluster
	planner jobs.Planner
	now     time.Time
	asked   int
}

func newGuide(root queue.Config, capacity int64) *guide {
	schema, err := resources.NewSchema("cpu")
	check(err)
	tree, err := queue.NewLenient(schema, root)
	check(err)
	l := &guide{Cluster: victims.NewCluster(tree), now: noon}
	l.planner.Cluster = l.Cluster
	_, err = l.AddNode(&victims.Node{Name: "n1", Capacity: cores(capacity)})
	check(err)
	return l
}

// ask asks n times for that many cores in a queue. Victims go at once, and asks
// with a place start. It prints how the asks ended.
func (l *guide) ask(path string, n int, size int64, priority int32) {
	leaf, _ := l.Tree().Lookup(path)
	l.now = l.now.Add(time.Minute) // longer than any delay
	var fits, plans int
	var why string
	for range n {
		l.asked++
		ask := victims.Ask{
			Key: fmt.Sprint("task-", l.asked), Application: path, Queue: leaf, Size: cores(size), Priority: priority,
			PendingSince: l.now.Add(-time.Minute),
		}
		var d victims.Decision
		check(l.planner.Decide(&d, &ask, l.now))
		switch d.Outcome {
		case victims.Fits:
			fits++
		case victims.Preempts:
			plans++
		default:
			why = d.Refusal.Reason
			continue
		}
		check(l.Apply(&d))
		for _, v := range d.Plan.Victims {
			check(l.RemoveTask(v.Key))
		}
		check(l.Start(ask.Key, l.now))
	}
	fmt.Printf("%s asks %d times: %d fit, %d preempt, %d refused", path, n, fits, plans, n-fits-plans)
	if fits+plans < n {
		fmt.Printf(" (%v)", why)
	}
	fmt.Println()
}

// Two queues share 12 cores, and each is guaranteed 5. The first one has taken 10.
// The second one takes back until it has what it is guaranteed, and not more.
// Then the first one is at no disadvantage either.
func Example_guaranteed() {
	l := newGuide(queue.Config{Name: "root", Children: []queue.Config{
		{Name: "normal", Max: upTo(12), Children: []queue.Config{
			{Name: "queue-1", Guaranteed: upTo(5), Max: upTo(10)},
			{Name: "queue-2", Guaranteed: upTo(5), Max: upTo(10)},
		}},
	}}, 20)
	l.ask("root.normal.queue-1", 10, 1, 0)
	l.ask("root.normal.queue-2", 10, 1, 0)
	l.ask("root.normal.queue-1", 1, 1, 0)
	fmt.Print(l.Tree())
	// Output:
	// root.normal.queue-1 asks 10 times: 10 fit, 0 preempt, 0 refused
	// root.normal.queue-2 asks 10 times: 2 fit, 3 preempt, 5 refused (over-guarantee)
	// root.normal.queue-1 asks 1 times: 0 fit, 0 preempt, 1 refused (over-guarantee)
	// root        used cpu=12
	//   normal    used cpu=12 max cpu=12
	//     queue-1 used cpu=7 guaranteed cpu=5 max cpu=10
	//     queue-2 used cpu=5 guaranteed cpu=5 max cpu=10
}

// The tasks of queue-2 opted out. So queue-1 gives, as long as it has more than
// it is guaranteed.
func Example_optedOut() {
	l := newGuide(queue.Config{Name: "root", Children: []queue.Config{
		{Name: "rt", Max: upTo(16), Children: []queue.Config{
			{Name: "queue-1", Guaranteed: upTo(3), Max: upTo(8)},
			{Name: "queue-2", Guaranteed: upTo(3), Max: upTo(8)},
			{Name: "queue-3", Guaranteed: upTo(3), Max: upTo(8)},
		}},
	}}, 16)
	for i := range 8 {
		for q, name := range []string{"root.rt.queue-1", "root.rt.queue-2"} {
			leaf, _ := l.Tree().Lookup(name)
			_, err := l.AddTask(&victims.Task{
				Key: fmt.Sprint(name, i), Application: name, Queue: leaf, NodeName: "n1", Size: cores(1), OptedOut: q == 1,
				Scheduled: noon.Add(-time.Duration(i) * time.Hour),
			})
			check(err)
		}
	}
	l.ask("root.rt.queue-3", 8, 1, 0)
	fmt.Print(l.Tree())
	// Output:
	// root.rt.queue-3 asks 8 times: 0 fit, 3 preempt, 5 refused (over-guarantee)
	// root        used cpu=16
	//   rt        used cpu=16 max cpu=16
	//     queue-1 used cpu=5 guaranteed cpu=3 max cpu=8
	//     queue-2 used cpu=8 guaranteed cpu=3 max cpu=8
	//     queue-3 used cpu=3 guaranteed cpu=3 max cpu=8
}

// Queues are guaranteed 6 cores each, and offsets raise and lower the priorities
// of their tasks. The lower queue is refused, though it has nothing; the higher
// one gets its guarantee.
func Example_priorityOffsets() {
	offset := func(text string) map[string]string { return map[string]string{"priority.offset": text} }
	l := newGuide(queue.Config{Name: "root", Max: upTo(18), Children: []queue.Config{
		{Name: "high", Guaranteed: upTo(6), Max: upTo(10), Properties: offset("100")},
		{Name: "norm", Guaranteed: upTo(6), Max: upTo(18)},
		{Name: "low", Guaranteed: upTo(6), Max: upTo(10), Properties: offset("-100")},
	}}, 18)
	l.ask("root.norm", 6, 3, 0)
	l.ask("root.low", 2, 3, 0)
	l.ask("root.high", 3, 3, 0)
	fmt.Print(l.Tree())
	// Output:
	// root.norm asks 6 times: 6 fit, 0 preempt, 0 refused
	// root.low asks 2 times: 0 fit, 0 preempt, 2 refused (no-victims)
	// root.high asks 3 times: 0 fit, 2 preempt, 1 refused (over-guarantee)
	// root   used cpu=18 max cpu=18
	//   high used cpu=6 guaranteed cpu=6 max cpu=10
	//   norm used cpu=12 guaranteed cpu=6 max cpu=18
	//   low  used none guaranteed cpu=6 max cpu=10
}

// Fences keep tenants from taking from each other. Queue-2 is fenced in itself, and
// so cannot preempt at all. The system queue is inside the outer fence alone, and
// reaches all tenants.
func Example_fences() {
	fence := map[string]string{"preemption.policy": "fence"}
	l := newGuide(queue.Config{Name: "root", Children: []queue.Config{
		{Name: "rt", Max: upTo(30), Properties: fence, Children: []queue.Config{
			{Name: "ten-a", Guaranteed: upTo(5), Max: upTo(15), Properties: fence, Children: []queue.Config{
				{Name: "queue-1", Guaranteed: upTo(2)},
				{Name: "queue-2", Guaranteed: upTo(2), Properties: fence},
			}},
			{Name: "ten-b", Guaranteed: upTo(10), Max: upTo(15), Properties: fence, Children: []queue.Config{
				{Name: "queue-3", Guaranteed: upTo(10)},
			}},
			{Name: "sys", Guaranteed: upTo(10)},
		}},
	}}, 30)
	l.ask("root.rt.ten-a.queue-1", 15, 1, 0)
	l.ask("root.rt.ten-a.queue-2", 1, 1, 0)
	l.ask("root.rt.ten-b.queue-3", 15, 1, 0)
	l.ask("root.rt.sys", 15, 1, 0)
	fmt.Print(l.Tree())
	// Output:
	// root.rt.ten-a.queue-1 asks 15 times: 15 fit, 0 preempt, 0 refused
	// root.rt.ten-a.queue-2 asks 1 times: 0 fit, 0 preempt, 1 refused (nothing-in-reach)
	// root.rt.ten-b.queue-3 asks 15 times: 15 fit, 0 preempt, 0 refused
	// root.rt.sys asks 15 times: 0 fit, 10 preempt, 5 refused (over-guarantee)
	// root          used cpu=30
	//   rt          used cpu=30 max cpu=30
	//     ten-a     used cpu=10 guaranteed cpu=5 max cpu=15
	//       queue-1 used cpu=10 guaranteed cpu=2
	//       queue-2 used none guaranteed cpu=2
	//     ten-b     used cpu=10 guaranteed cpu=10 max cpu=15
	//       queue-3 used cpu=10 guaranteed cpu=10
	//     sys       used cpu=10 guaranteed cpu=10
}

// A fence around the tenants keeps the slow work of the system out of their reach,
// low as its priority is. Normal takes from low until it has its guarantee.
func Example_sandbox() {
	with := func(name, value string) map[string]string { return map[string]string{name: value} }
	l := newGuide(queue.Config{Name: "root", Max: upTo(1000), Children: []queue.Config{
		{Name: "tenants", Properties: with("preemption.policy", "fence"), Children: []queue.Config{
			{Name: "normal", Guaranteed: upTo(300)},
			{Name: "high", Guaranteed: upTo(300), Properties: with("priority.offset", "1000")},
			{Name: "low", Properties: with("priority.offset", "-1000")},
		}},
		{Name: "system", Children: []queue.Config{
			{Name: "slow", Properties: with("priority.offset", "-9999")},
		}},
	}}, 1000)
	l.ask("root.system.slow", 5, 100, 0)
	l.ask("root.tenants.low", 5, 100, 0)
	l.ask("root.tenants.normal", 5, 100, 0)
	fmt.Print(l.Tree())
	// Output:
	// root.system.slow asks 5 times: 5 fit, 0 preempt, 0 refused
	// root.tenants.low asks 5 times: 5 fit, 0 preempt, 0 refused
	// root.tenants.normal asks 5 times: 0 fit, 3 preempt, 2 refused (over-guarantee)
	// root       used cpu=1000 max cpu=1000
	//   tenants  used cpu=500
	//     normal used cpu=300 guaranteed cpu=300
	//     high   used none guaranteed cpu=300
	//     low    used cpu=200
	//   system   used cpu=500
	//     slow   used cpu=500
}
