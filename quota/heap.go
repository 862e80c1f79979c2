package quota

// Tasks are put in order by a heap, since as a rule few of many are taken, and
// few of those are given back.

// taskHeap has tasks of which the first in order is on top. An entry repeats
// what decides as a rule, so that most comparisons touch nothing else.
type taskHeap struct {
	entries []heapEntry
	back    bool // the order is reversed: the most valuable comes first
}

// heapEntry is the row of a task, with its order and age, or their complements
// if the order is reversed.
type heapEntry struct {
	order uint64
	age   int64
	row   int32
}

// The two orders of a heap.
const (
	takeFirst = false
	backFirst = true
)

// reset empties the heap for tasks in one of the two orders.
func (h *taskHeap) reset(back bool) { h.back, h.entries = back, h.entries[:0] }

// add puts a task on the heap, which must be made one before it is used.
func (x *walker) add(row int32) {
	e := heapEntry{x.tasks[row].order, x.tasks[row].age, row}
	if x.heap.back {
		e.order, e.age = ^e.order, ^e.age
	}
	x.heap.entries = append(x.heap.entries, e)
}

// heapify makes a heap of what was added. The cost is linear in that.
func (x *walker) heapify() {
	for i := len(x.heap.entries)/2 - 1; i >= 0; i-- {
		x.sink(i)
	}
}

// push puts a task on what is a heap already.
func (x *walker) push(row int32) {
	x.add(row)
	all := x.heap.entries
	for i := len(all) - 1; i > 0; {
		parent := (i - 1) / 2
		if !x.comesBefore(&all[i], &all[parent]) {
			return
		}
		all[i], all[parent] = all[parent], all[i]
		i = parent
	}
}

// pop takes the first in order off the heap, which must not be empty.
func (x *walker) pop() int32 {
	all := x.heap.entries
	first, last := all[0].row, len(all)-1
	all[0] = all[last]
	x.heap.entries = all[:last]
	x.sink(0)
	return first
}

// sink moves an entry down to where it belongs.
func (x *walker) sink(i int) {
	all := x.heap.entries
	for {
		child := 2*i + 1
		if child >= len(all) {
			return
		}
		if child+1 < len(all) && x.comesBefore(&all[child+1], &all[child]) {
			child++
		}
		if !x.comesBefore(&all[child], &all[i]) {
			return
		}
		all[i], all[child] = all[child], all[i]
		i = child
	}
}

// comesBefore reports whether an entry comes before another one on the heap.
func (x *walker) comesBefore(a, b *heapEntry) bool {
	switch {
	case a.order != b.order:
		return a.order < b.order
	case a.age != b.age:
		return a.age < b.age
	case x.heap.back:
		return x.compareAlike(b.row, a.row) < 0
	}
	return x.compareAlike(a.row, b.row) < 0
}
