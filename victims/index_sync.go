package victims

import (
	"fmt"
	"math"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// keepOnly removes the tasks of a node whose keys are not among those of tasks.
func (x *index) keepOnly(id NodeID, tasks []Task) {
	// Those to be kept are brought to the front of the list of the node, so
	// that no set of keys is built: places in that list are known.
	kept := 0
	for i := range tasks {
		row, ok := x.Lookup(tasks[i].Key)
		if r := row; ok && x.tasks[r].node == id && int(x.tasks[r].inNode) >= kept {
			x.swapOnNode(r, kept)
			kept++
		}
	}
	// From the end, since the last one takes the place of one that is removed.
	for i := len(x.nodes[id].tasks) - 1; i >= kept; i-- {
		// The last one takes its place, and was looked at.
		if row := x.nodes[id].tasks[i]; x.tasks[row].state != Granted {
			x.delete(row)
		}
	}
}

// syncTask puts a task on its node, on which the first ones are as they should
// be, and makes it the next of those. A task that cannot be put is not there.
func (x *index) syncTask(t *Task, done int) error {
	// What is done stands at the front, so a key that comes twice is found by
	// its place.
	row, there := x.Lookup(t.Key)
	there = there && x.tasks[row].node == t.Node
	if there && int(x.tasks[row].inNode) < done {
		return fmt.Errorf("victims: task %q: %w", t.Key, ErrDuplicate)
	}
	id, err := x.put(t)
	if err != nil {
		// What could not be put as it should be is not as it was either. Its
		// usage is unknown from now on.
		if there {
			x.delete(row)
		}
		return err
	}
	x.swapOnNode(id, done)
	return nil
}

// swapOnNode swaps a row with the one at a place in the list of its node.
func (x *index) swapOnNode(id TaskID, at int) {
	r := &x.tasks[id]
	list := x.nodes[r.node].tasks
	other := list[at]
	list[r.inNode], list[at] = other, id
	x.tasks[other].inNode, r.inNode = r.inNode, int32(at)
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
	switch {
	case blind && !n.closed():
		x.hide(id)
	case !blind && n.blind && !n.absent:
		n.blind = false
		x.show(id)
	}
	n.blind = blind
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
