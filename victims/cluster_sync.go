package victims

import (
	"fmt"
	"math"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A NotTaken is a task that [Cluster.SyncNode] could not take.
type NotTaken struct {
	Index int // in the list of tasks
	Key   string
	Err   error // as AddTask would return it
}

// SyncNode makes the tasks of a node be exactly these, whatever their Node and
// NodeName say. Use it after a restart, or if events may have been missed. Each
// task is put as by [Cluster.SetTask]: marks stay, a task that was on another
// node has moved, one whose key holds a grant starts. Tasks of the node that are
// not listed have gone. Other grants on it stay. A node that is not there is a
// closed one, as for a task that names it.
//
// It does not stop at a task that the cluster cannot take, but returns all of
// them with their reasons. What they use is unknown usage of the node until the
// next sync, so that nothing is planned into it. If the size of one is no amount,
// or too large to be added up, the node is closed until the next sync.
//
// The only error is an empty name of the node (or more nodes than 2147483647), and
// changes nothing. The cost is that of changing each task once.
func (c *Cluster) SyncNode(node string, tasks []Task) ([]NotTaken, error) {
	c.made()
	if node == "" {
		return nil, fmt.Errorf("victims: sync of node %q: %w", node, ErrEmpty)
	}
	id, ok := c.nodeIDs[node]
	if !ok {
		if err := c.checkNodes(); err != nil {
			return nil, fmt.Errorf("victims: sync of node %q: %w", node, err)
		}
		id = c.addRow(node)
	}
	c.setUnknown(id, nil)
	c.keepOnly(id, tasks)
	var not []NotTaken
	done := 0
	for i := range tasks {
		t := tasks[i]
		t.Node, t.NodeName = id, ""
		if err := c.syncTask(&t, done); err != nil {
			not = append(not, NotTaken{Index: i, Key: t.Key, Err: err})
			continue
		}
		done++
	}
	c.distrust(id, tasks, not)
	c.leaveNode(id)
	c.changed()
	return not, nil
}

// keepOnly removes the tasks of a node whose keys are not among those of tasks.
func (c *Cluster) keepOnly(id NodeID, tasks []Task) {
	kept := 0
	for i := range tasks {
		row, ok := c.Lookup(tasks[i].Key)
		if r := row; ok && c.tasks[r].node == id && int(c.tasks[r].inNode) >= kept {
			c.swapOnNode(r, kept)
			kept++
		}
	}
	for i := len(c.nodes[id].tasks) - 1; i >= kept; i-- {
		// The last one takes its place, and was looked at.
		if row := c.nodes[id].tasks[i]; c.tasks[row].state != Granted {
			c.delete(row)
		}
	}
}

// syncTask puts a task on its node, on which the first ones are as they should
// be, and makes it the next of those. A task that cannot be put is not there.
func (c *Cluster) syncTask(t *Task, done int) error {
	row, there := c.Lookup(t.Key)
	there = there && c.tasks[row].node == t.Node
	if there && int(c.tasks[row].inNode) < done {
		return fmt.Errorf("victims: task %q: %w", t.Key, ErrDuplicate)
	}
	id, err := c.put(t)
	if err != nil {
		if there {
			c.delete(row)
		}
		return err
	}
	c.swapOnNode(id, done)
	return nil
}

// swapOnNode swaps a row with the one at a place in the list of its node.
func (c *Cluster) swapOnNode(id TaskID, at int) {
	r := &c.tasks[id]
	list := c.nodes[r.node].tasks
	other := list[at]
	list[r.inNode], list[at] = other, id
	c.tasks[other].inNode, r.inNode = r.inNode, int32(at)
}

// distrust notes what is used on a node by tasks that were not taken, and whether
// that is known.
func (c *Cluster) distrust(id NodeID, tasks []Task, not []NotTaken) {
	n := &c.nodes[id]
	var sum resources.Vector
	blind := false
	for _, x := range not {
		size := tasks[x.Index].Size
		if c.checkSize(size) != nil || c.overflows(sum, size) {
			blind = true
			continue
		}
		if resources.IsZero(size) {
			continue
		}
		if sum == nil {
			sum = make(resources.Vector, c.types)
		}
		for t := range sum {
			sum[t] += size.At(t)
		}
	}
	c.setUnknown(id, sum)
	switch {
	case blind && !n.closed():
		c.hide(id)
	case !blind && n.blind && !n.absent:
		n.blind = false
		c.show(id)
	}
	n.blind = blind
}

// overflows reports whether two sizes, together with all that is used, leave the
// range of int64.
func (c *Cluster) overflows(a, b resources.Vector) bool {
	for t, used := range c.tree.Usage(queue.Root) {
		left := math.MaxInt64 - used - c.unknown[t]
		if a.At(t) > left || b.At(t) > left-a.At(t) {
			return true
		}
	}
	return false
}
