// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// A world is a cluster as a programmer keeps it who has no library: nodes, tasks and
// sums of usage. The rules of others read it, and try things out on it. The same
// cluster is told to the library, and nothing of the library is used here.
type world struct {
	now     int64 // seconds
	unit    int64 // of the first type, in which what is lost is counted: a GPU, or a core
	nodes   []node
	queues  []row // in preorder: a parent comes before its children
	tasks   []task
	budgets []budget
	gangs   []gang
}

type node struct {
	pool  int // what selectors look at
	free  []int64
	tasks []int // rows of those that run, in the order in which they started
}

// A row is a queue.
type row struct {
	name       string
	parent     int // -1: none
	guaranteed []int64
	fence      bool // its tasks take nothing from outside
	usage      []int64
}

// undefined is a guarantee that is not there.
const undefined = -1

// A task runs on a node.
type task struct {
	key, app  string
	queue     int
	node      int
	gang      int // -1: none
	budget    int // -1: none
	size      []int64
	priority  int32
	optedOut  bool
	cost      int64
	scheduled int64
	saved     int64 // when its last checkpoint was; 0: none
	gone      bool
	of        *work
	member    int // its place in of
}

// lost is the work that would be lost if the task stopped now, in seconds.
func (t *task) lost(now int64) int64 { return now - max(t.scheduled, t.saved) }

// A budget says how many tasks of a service have to run, like a PodDisruptionBudget
// with minAvailable.
type budget struct {
	name    string
	floor   int
	running int
}

func (b *budget) left() int { return max(0, b.running-b.floor) }

// A gang is a job that needs some of its members.
type gang struct {
	name    string
	minimum int
	members []int // rows of those that run
}

// running returns how many members have not been stopped.
func (w *world) running(g int) (n int) {
	for _, m := range w.gangs[g].members {
		if !w.tasks[m].gone {
			n++
		}
	}
	return n
}

// stop takes a task out, on trial: resume brings it back.
func (w *world) stop(t int) { w.turn(t, true) }

// resume brings back a task that was stopped on trial.
func (w *world) resume(t int) { w.turn(t, false) }

func (w *world) turn(t int, gone bool) {
	x := &w.tasks[t]
	if x.gone == gone {
		panic("worth: " + x.key + " stops or starts twice") // a mistake of a rule
	}
	x.gone = gone
	sign := int64(1)
	if gone {
		sign = -1
	}
	w.use(x.queue, x.node, x.size, sign)
	if x.budget >= 0 {
		w.budgets[x.budget].running += int(sign)
	}
}

// use counts an amount in a queue and those above it, and on a node, or takes it off.
func (w *world) use(queue, node int, size []int64, sign int64) {
	for q := queue; q >= 0; q = w.queues[q].parent {
		for i, s := range size {
			w.queues[q].usage[i] += sign * s
		}
	}
	for i, s := range size {
		w.nodes[node].free[i] -= sign * s
	}
}

// add enters a task that starts.
func (w *world) add(t task) int {
	id := len(w.tasks)
	w.tasks = append(w.tasks, t)
	w.use(t.queue, t.node, t.size, +1)
	w.nodes[t.node].tasks = append(w.nodes[t.node].tasks, id)
	if t.budget >= 0 {
		w.budgets[t.budget].running++
	}
	if t.gang >= 0 {
		w.gangs[t.gang].members = append(w.gangs[t.gang].members, id)
	}
	return id
}

// remove takes a task out for good.
func (w *world) remove(t int) {
	w.stop(t)
	x := &w.tasks[t]
	not := func(other int) bool { return other == t }
	w.nodes[x.node].tasks = slices.DeleteFunc(w.nodes[x.node].tasks, not)
	if x.gang >= 0 {
		w.gangs[x.gang].members = slices.DeleteFunc(w.gangs[x.gang].members, not)
	}
}

// may reports whether the selector of what is asked for lets it run on a node.
func (w *world) may(a *work, node int) bool { return a.pool == 0 || w.nodes[node].pool == a.pool }

// fits reports whether a node has room.
func (w *world) fits(node int, size []int64) bool {
	for i, s := range size {
		if s > w.nodes[node].free[i] {
			return false
		}
	}
	return true
}

// helps reports whether a task has some of what a node lacks for a size.
func (w *world) helps(t, node int, size []int64) bool {
	for i, s := range size {
		if s > w.nodes[node].free[i] && w.tasks[t].size[i] > 0 {
			return true
		}
	}
	return false
}

// under reports whether the queue is under its guarantee, as law 4 has it: in each type
// that is wanted the nearest queue upwards that guarantees it is under, and some type is
// guaranteed.
func (w *world) under(leaf int, size []int64) bool {
	some := false
	for i, s := range size {
		for q := leaf; q >= 0 && s > 0; q = w.queues[q].parent {
			if g := w.queues[q].guaranteed[i]; g != undefined {
				if w.queues[q].usage[i] >= g {
					return false
				}
				some = true
				break
			}
		}
	}
	return some
}

// inside reports whether a queue is another one or below it.
func (w *world) inside(q, above int) bool {
	for ; q >= 0; q = w.queues[q].parent {
		if q == above {
			return true
		}
	}
	return false
}

// reach returns the queue below which tasks of a leaf find victims: the nearest fence,
// or the root.
func (w *world) reach(leaf int) int {
	q := leaf
	for w.queues[q].parent >= 0 && !w.queues[q].fence {
		q = w.queues[q].parent
	}
	return q
}

// A work is something that wants to run: a task, or a gang whose members start together.
type work struct {
	name, app string
	leaf      int
	priority  int32
	sizes     [][]int64 // of the members; one for a task
	minimum   int       // of a gang, as long as it runs; 0: a task by itself
	pool      int
	budget    int // -1: none
	optedOut  bool
	cost      int64
	saves     bool  // writes checkpoints
	arrives   int64 // seconds
	left      int64 // seconds of work

	gang     int // -1: none
	rows     []int
	since    int64 // when it began to run
	run      int   // how often it has begun
	attempts int   // since it waits
	counted  bool  // that it has no plan, since it waits
}

// An answer is a place for each member, and the tasks that have to stop.
type answer struct {
	places  []int // nodes
	victims []int // rows
}

// A rule is how somebody finds victims. It may try things out on the world and must take
// all of it back.
type rule struct {
	name string
	plan func(w *world, a *work) (answer, bool, error)
}

// A finder finds a place for one task: a node, and who has to stop there.
type finder func(w *world, a *work, size []int64) (node int, victims []int, ok bool)

// oneByOne asks about a task, or about the members of a gang one after another, each
// beside those before it. If one finds no place there is no plan. A scheduler that has no
// idea of gangs would have stopped the victims of the first ones by then: that is not held
// against it.
func (find finder) oneByOne(w *world, a *work) (answer, bool, error) {
	var got answer
	ok := true
	for _, size := range a.sizes {
		node, victims, found := find(w, a, size)
		if ok = found; !ok {
			break
		}
		for _, t := range victims {
			w.stop(t)
		}
		w.use(a.leaf, node, size, +1)
		got.places, got.victims = append(got.places, node), append(got.victims, victims...)
	}
	for i, node := range got.places {
		w.use(a.leaf, node, a.sizes[i], -1)
	}
	for _, t := range got.victims {
		w.resume(t)
	}
	return got, ok, nil
}

// room returns the first node that has room for a size and that the selector allows.
func (w *world) room(a *work, size []int64) (node int, ok bool) {
	for n := range w.nodes {
		if w.may(a, n) && w.fits(n, size) {
			return n, true
		}
	}
	return 0, false
}
