// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"iter"

	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/trees"
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
// See history for the one, and index_callers.go for the other.
type index struct {
	tree  *queue.Tree
	types int // of the schema; the tables know them, too
	nodeTable
	taskTable
	askBook
	digest  digest
	journal journal
}

// init makes an empty index of the queues of a tree.
func (x *index) init(tree *queue.Tree) {
	x.tree, x.types = tree, tree.Schema().Len()
	x.nodeTable.init(x.types)
	x.taskTable.init(x.types, tree.Len())
	x.digest.reset(len(x.nodes), x.types)
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
	// An event that says "running" is often older than the mark. Only SetState and Cancel
	// take a mark back.
	if was := x.tasks[id].state; was.leaving() && !r.state.leaving() {
		r.state = was
	}
	// Taking the row out forgets who waits for it, and since when, so that is noted first.
	wait, place := x.placeOf(id)
	var v waitVictim
	if wait != 0 {
		v = x.waits[wait].victims[place]
	}
	told, refused := x.told.at(int(id)), x.refused.at(int(id))
	id = x.replace(id, t, &r)
	x.refuse(id, max(refused, x.refused.at(int(id))))
	if r.state == Marked {
		x.told.set(int(id), cap(x.tasks), told)
	}
	if wait != 0 {
		x.waitFor(wait, v, place)
	}
	return id, nil
}

// replace puts a task in the place of the row that has its key, and returns its
// row, which is the same one. Both are checked.
func (x *index) replace(old TaskID, t *Task, r *taskRow) TaskID {
	node := x.tasks[old].node
	// So that they are not forgotten in between.
	set, job := x.acquireBudgets(t.Budgets), x.jobs.acquire(t.Job)
	// The row is free for a moment, and the next one to be given: so the task
	// gets the row that it had.
	x.delete(old)
	id := x.fill(t, r)
	x.releaseBudgets(set)
	x.releaseJob(job)
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

// remove removes a row that is there, and its node if that was only there for it.
func (x *index) remove(id TaskID) {
	node := x.tasks[id].node
	x.delete(id)
	x.leaveNode(node)
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
	x.digest.touch(r.node)
	x.journal.node(r.node)
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
	leaving := r.state.leaving()
	if leaving && sign > 0 {
		must(x.tree.Mark(r.leaf, size))
	}
	if leaving && sign < 0 {
		must(x.tree.Unmark(r.leaf, size))
	}
	if sign < 0 {
		must(x.tree.Remove(r.leaf, size))
	}
	x.occupy(r.node, size, sign)
	if leaving {
		x.occupyOf(x.coming, r.node, size, -sign)
	}
}

// setState changes the state of a row and what is leaving with it.
func (x *index) setState(id TaskID, s State) {
	x.count(id, -1)
	x.tasks[id].state = s
	x.count(id, +1)
	if s != Marked {
		x.told.set(int(id), cap(x.tasks), 0)
	}
}

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
	trees.CopyFrom(x.tree, y.tree)
	x.nodeTable.copyFrom(&y.nodeTable)
	x.taskTable.copyFrom(&y.taskTable)
	x.askBook.copyFrom(&y.askBook)
	x.digest.copyFrom(&y.digest)
	x.journal.copyFrom(&y.journal)
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

// keepOnly removes the tasks of a node whose keys are not listed, and returns their keys, sorted.
func (x *index) keepOnly(id NodeID, listed map[string]bool) (removed []string) {
	// From the end, since the last one takes the place of one that is removed.
	for i := len(x.nodes[id].tasks) - 1; i >= 0; i-- {
		row := x.nodes[id].tasks[i]
		if _, ok := listed[x.tasks[row].key]; !ok && x.tasks[row].state != Granted {
			removed = append(removed, x.tasks[row].key)
			x.delete(row)
		}
	}
	slices.Sort(removed)
	return removed
}

// syncTask puts a task on its node, unless one of its key was just put there. A task that
// cannot be put is not there.
func (x *index) syncTask(t *Task, done bool) error {
	if done {
		return fmt.Errorf("victims: task %q: %w", t.Key, ErrDuplicate)
	}
	_, err := x.put(t)
	// What could not be put as it should be is not as it was either. Its usage is
	// unknown from now on.
	if row, there := x.Lookup(t.Key); err != nil && there && x.tasks[row].node == t.Node {
		x.delete(row)
	}
	return err
}

// distrust notes what is used on a node by tasks that were not taken, and whether
// that is known.
func (x *index) distrust(id NodeID, tasks []Task, not []NotTaken) {
	n := &x.nodes[id]
	var sum resources.Vector
	blind := false
	for _, n := range not {
		size := tasks[n.Index].Size
		// What it uses cannot be said in amounts. A node of which so much is
		// unknown takes nothing: it is closed.
		if x.checkSize(size) != nil || x.overflows(sum, size) {
			blind = true
			continue
		}
		// Nothing is used by it, whatever was wrong with it.
		if resources.IsZero(size) {
			continue
		}
		if sum == nil {
			sum = make(resources.Vector, x.types)
		}
		for t := range sum {
			sum[t] += size.At(t)
		}
	}
	x.setUnknown(id, sum)
	// A node may become blind, or see again, and in both cases may be absent:
	// then it is closed anyway.
	if blind != n.blind {
		n.blind = blind
		if !n.absent {
			x.show(id, !blind)
		}
	}
}

// overflows reports whether two sizes, together with all that is used, leave the
// range of int64.
func (x *index) overflows(a, b resources.Vector) bool {
	for t, used := range x.tree.Usage(queue.Root) {
		// Usage and unknown usage are subtracted from each other's rest later,
		// so both must fit together.
		left := math.MaxInt64 - used - x.unknown[t]
		if a.At(t) > left || b.At(t) > left-a.At(t) {
			return true
		}
	}
	return false
}

// A closed node takes nothing: it is not in node order, its capacity is not part
// of the cluster's, and no ask can require it. Its tasks are counted in their
// queues all the same, and may go for headroom. DESIGN.md, Changes.

func (n *nodeRow) closed() bool { return n.absent || n.blind }

func (n *nodeRow) isOpen() bool {
	return !n.closed() && !n.unschedulable && n.reservedFor == ""
}

// Closed reports whether a node takes nothing: it was removed before its tasks, named by tasks and not added,
// or [Cluster.SyncNode] met a bad size.
func (x *nodeTable) Closed(id NodeID) bool { return x.nodeOf(id).closed() }

// ClosedNodes appends the closed nodes to dst, in the order of their IDs.
func (x *nodeTable) ClosedNodes(dst []NodeID) []NodeID {
	// Mostly there is none, and then no node is looked at.
	if !x.hasClosed() {
		return dst
	}
	for id := range x.nodes {
		if n := &x.nodes[id]; n.live && n.closed() {
			dst = append(dst, NodeID(id))
		}
	}
	return dst
}

// UnknownNodes yields, sorted, nodes that tasks are on and the cluster lacks: perhaps misspelt. Their tasks count in
// queues.
func (x *nodeTable) UnknownNodes() iter.Seq[string] {
	return func(yield func(string) bool) {
		var names []string
		for _, id := range x.ClosedNodes(nil) {
			if n := &x.nodes[id]; n.absent {
				names = append(names, n.name)
			}
		}
		slices.Sort(names)
		slices.Values(names)(yield)
	}
}

// UnknownUsage sets dst to what the tasks of a node use that [Cluster.SyncNode] could not
// take, and returns it.
func (x *nodeTable) UnknownUsage(dst resources.Vector, id NodeID) resources.Vector {
	dst = append(dst[:0], x.row(x.capacity, id)...) // for its length
	clear(dst)
	copy(dst, x.nodeOf(id).unknown)
	return dst
}

// show puts a node that is not closed any more back in its place in node order, or takes one that
// is about to be closed out of what planners see. It notes that there are other nodes now.
//
// Its capacity moves from or to the hidden sum, for the range of all capacities is
// checked over both.
func (x *index) show(id NodeID, shown bool) {
	at, sign := x.orderIndex(id), int64(1)
	if shown {
		x.order = slices.Insert(x.order, at, id)
	} else {
		x.order, sign = slices.Delete(x.order, at, at+1), -1
	}
	x.open[id] = shown && x.nodes[id].isOpen()
	for t, v := range x.row(x.capacity, id) {
		x.total[t] += sign * v
		x.hidden[t] -= sign * v
	}
	x.journal.all()
}

// orderIndex returns where in node order a node is, or belongs.
func (x *nodeTable) orderIndex(id NodeID) int {
	// Numbers grow with the order of adding and are never given twice, so a
	// node that opens again is where it was.
	i, _ := slices.BinarySearchFunc(x.order, x.nodes[id].seq, func(n NodeID, seq uint64) int {
		return cmp.Compare(x.nodes[n].seq, seq)
	})
	return i
}

// leaveNode forgets a node that is not there once nothing is left on it.
func (x *nodeTable) leaveNode(id NodeID) {
	n := &x.nodes[id]
	// What is still there needs the row: tasks name it, and unknown usage
	// belongs to tasks that may come back.
	if !n.absent || len(n.tasks) > 0 || n.blind || n.unknown != nil {
		return
	}
	delete(x.nodeIDs, n.name)
	*n = nodeRow{tasks: n.tasks}
	x.freeNodes = append(x.freeNodes, id)
}

// setUnknown replaces the unknown usage of a node. The new one is kept, and nil
// if there is none.
func (x *nodeTable) setUnknown(id NodeID, v resources.Vector) {
	n := &x.nodes[id]
	present, coming := x.row(x.present, id), x.row(x.coming, id)
	for t := range present {
		// Nobody may plan into what is used by tasks that could not be told.
		more := v.At(t) - n.unknown.At(t)
		x.unknown[t] += more
		present[t] -= more
		coming[t] -= more
	}
	n.unknown = v
}

// pop takes the last one of some free rows, and reports whether there was any. It is the
// likeliest to be in a cache; and who takes changes back in the opposite order finds the
// same rows again.
func pop[E any](free *[]E) (row E, ok bool) {
	last := len(*free) - 1
	if last < 0 {
		return row, false
	}
	row, *free = (*free)[last], (*free)[:last]
	return row, true
}

// What copies of an index share: they are made in memory that is there already.

// reuse returns a copy of from in the memory of dst.
func reuse[S ~[]E, E any](dst, from S) S { return append(dst[:0], from...) }

// resized returns list with n elements, which keep what they had at any time.
func resized[E any](list []E, n int) []E {
	list = list[:min(n, cap(list))]
	return append(list, make([]E, n-len(list))...)
}

// reuseLists returns a copy of lists in the memory of dst.
func reuseLists[E any](dst, from [][]E) [][]E {
	dst = resized(dst, len(from))
	for i := range dst {
		dst[i] = reuse(dst[i], from[i])
	}
	return dst
}

// reuseMap returns a copy of from in the memory of dst.
func reuseMap[M ~map[K]V, K comparable, V any](dst, from M) M {
	if dst == nil {
		return maps.Clone(from)
	}
	clear(dst)
	maps.Copy(dst, from)
	return dst
}
