package victims

import (
	"fmt"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An index is all that a cluster holds. Each part keeps its own lists and sums:
// the tree the usage of queues, nodes what is free, tasks who is in which list,
// waits who waits for whom, the digest what planners read first. What a change
// means to several parts is here: a row that comes or goes, and one that is to
// leave or to stay.
//
// An index knows no versions, and its changes cannot fail once they are checked.
// See history for the one, and index_check.go for the other.
type index struct {
	tree  *queue.Tree
	types int // of the schema; the tables know them, too
	nodeTable
	taskTable
	waitBook
	digest digest
}

// init makes an empty index of the queues of a tree.
func (x *index) init(tree *queue.Tree) {
	x.tree, x.types = tree, tree.Schema().Len()
	x.nodeTable.init(x.types)
	x.taskTable.init(x.types, tree.Len())
}

// made panics for the index of the zero Cluster.
func (x *index) made() {
	// The zero Cluster can be copied into.
	if x.tree == nil {
		panic("victims: the zero Cluster has no queues: see NewCluster")
	}
}

// Schema returns the resource types of the cluster.
func (x *index) Schema() *resources.Schema {
	x.made()
	return x.tree.Schema()
}

// insert adds a row, for a task or for a grant. A task takes the place of a
// grant of the same key.
func (x *index) insert(t *Task) (TaskID, error) {
	x.made()
	// One look-up finds both: tasks and grants share the keys, so that an ask
	// cannot run and wait under one name.
	old, held := x.keys.find(x.tasks, x.keys.hash(t.Key), t.Key)
	var size resources.Vector
	if held {
		if t.State == Granted || x.tasks[old].state != Granted {
			return 0, fmt.Errorf("victims: task %q: %w", t.Key, ErrDuplicate)
		}
		size = x.size(old)
	}
	r, err := x.parse(t, size)
	if err != nil {
		return 0, err
	}
	// The grant makes place for its task: the amounts are counted once, and the
	// row stays, to which plans may point.
	if held {
		return x.replace(old, t, &r), nil
	}
	return x.fill(t, &r), nil
}

// put adds a task, or puts it in the place of the one of its key; see
// [Cluster.SetTask].
func (x *index) put(t *Task) (TaskID, error) {
	x.made()
	if t.State >= Granted {
		return 0, fmt.Errorf("victims: task %q: state %v: %w", t.Key, t.State, ErrState)
	}
	id, ok := x.Lookup(t.Key)
	if !ok {
		return x.insert(t)
	}
	r, err := x.parse(t, x.size(id))
	if err != nil {
		return 0, err
	}
	// An event that says "running" is often older than the mark. Only SetState
	// takes a mark back.
	if was := x.tasks[id].state; was.leaving() && !r.state.leaving() {
		r.state = was
	}
	// Taking the row out forgets who waits for it, so that is noted first.
	wait, place := x.placeOf(id)
	id = x.replace(id, t, &r)
	// Whoever waited for it waits still, if it leaves still.
	if wait != 0 && r.state.leaving() {
		x.waitFor(wait, id, place)
	}
	return id, nil
}

// replace puts a task in the place of the row that has its key, and returns its
// row, which is the same one. Both are checked.
func (x *index) replace(old TaskID, t *Task, r *taskRow) TaskID {
	node := x.tasks[old].node
	set := x.acquireBudgets(t.Budgets) // so that it is not forgotten in between
	// The row is free for a moment, and the next one to be given: so the task
	// gets the row that it had.
	x.delete(old)
	id := x.fill(t, r)
	x.releaseBudgets(set)
	x.leaveNode(node)
	return id
}

// fill adds a row that is checked.
func (x *index) fill(t *Task, r *taskRow) TaskID {
	// The list of the node wants the row's number, and the row its place in the
	// list: first the one, then the other.
	if r.node == noNode {
		r.node = x.newNode(t.NodeName)
	}
	id := x.newRow()
	r.inNode = x.enlist(r.node, id)
	x.setRow(id, t, r)
	x.count(id, +1)
	// A grant has not been scheduled, so the field is free for its number.
	if t.State == Granted {
		x.tasks[id].scheduled = x.addGrant(id)
	}
	return id
}

// delete removes a row that is there. Its node stays; see leaveNode.
func (x *index) delete(id TaskID) {
	r := &x.tasks[id]
	x.count(id, -1)
	if r.state == Granted {
		x.dropGrant(r.scheduled)
	}
	x.stopWaiting(id)
	// Whoever was last in the list has moved to the free place, and must know.
	x.tasks[x.delist(r.node, r.inNode)].inNode = r.inNode
	x.removeRow(id)
}

// newNode adds the row of a node that is not there, and has no capacity.
func (x *index) newNode(name string) NodeID {
	id, grown := x.addRow(name)
	if grown {
		x.digest.newNode(x.types)
		x.digest.stale(id)
	}
	return id
}

// count adds the amounts of a row to its queues and node, or takes them away.
func (x *index) count(id TaskID, sign int64) {
	r := &x.tasks[id]
	x.touch(r.node)
	size := x.size(id)
	// The tree wants usage to be there before it is marked, and marks to go
	// before the usage does.
	if sign > 0 {
		must(x.tree.Add(r.leaf, size))
	}
	// Leaves without anybody to evict are passed over by searches for headroom.
	if r.evictable() {
		x.evictable[r.leaf] += int32(sign)
	}
	x.countRunning(r, sign)
	if r.state.leaving() {
		x.countLeaving(id, sign)
	}
	if sign < 0 {
		must(x.tree.Remove(r.leaf, size))
	}
	x.occupy(r.node, size, sign)
}

// countLeaving adds the amounts of a row to what is leaving, or takes them away.
func (x *index) countLeaving(id TaskID, sign int64) {
	r := &x.tasks[id]
	size := x.size(id)
	if sign > 0 {
		must(x.tree.Mark(r.leaf, size))
	} else {
		must(x.tree.Unmark(r.leaf, size))
	}
	x.occupyComing(r.node, size, -sign)
}

// setState changes the state of a row and what is leaving with it.
func (x *index) setState(id TaskID, s State) {
	r := &x.tasks[id]
	was, evictable := r.state, r.evictable()
	x.countRunning(r, -1)
	r.state = s
	x.countRunning(r, +1)
	switch {
	// Both sides are asked, for a grant that starts comes to be evictable, and
	// one mark may follow another.
	case evictable && !r.evictable():
		x.evictable[r.leaf]--
	case !evictable && r.evictable():
		x.evictable[r.leaf]++
	}
	x.touch(r.node)
	switch {
	case s.leaving() && !was.leaving():
		x.countLeaving(id, +1)
	case !s.leaving() && was.leaving():
		// Who stays after all is no victim any more, whoever waited for it.
		x.countLeaving(id, -1)
		x.stopWaiting(id)
	}
}

// touch notes that the tasks of a node have changed. Its digest is made anew
// when a decision next needs it; see settle.
func (x *index) touch(n NodeID) { x.digest.touch(n) }

// settle makes the digests of all nodes anew that have changed since. Each
// decision calls it before it looks at a digest. For all but the first one after
// a change it costs the look at a flag.
func (x *index) settle() { x.digest.settle(&x.nodeTable, &x.taskTable) }

// copyFrom makes x a copy of y in its own memory.
func (x *index) copyFrom(y *index) {
	if x.tree == nil {
		x.tree = new(queue.Tree)
	}
	x.types = y.types
	x.tree.CopyFrom(y.tree)
	x.nodeTable.copyFrom(&y.nodeTable)
	x.taskTable.copyFrom(&y.taskTable)
	x.waitBook.copyFrom(&y.waitBook)
	x.digest.copyFrom(&y.digest)
}

// must panics if the tree refuses what the cluster has checked: someone
// else has changed the tree.
func must(err error) {
	if err != nil {
		panic("victims: usage of the tree was changed from outside: " + err.Error())
	}
}

// swapOut takes the element at a place out of a list. The last one takes its
// place, and is returned: lists of rows have no order, so that nothing else moves.
func swapOut(list []TaskID, at int32) (_ []TaskID, last TaskID) {
	last = list[len(list)-1]
	list[at] = last
	return list[:len(list)-1], last
}
