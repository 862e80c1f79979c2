package victims

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// AddTask adds a task and returns its row. If an ask of the same key holds
// a grant, the task takes its place: the grant is dropped. Whether there is
// room is not asked: a cluster is told what is, and a node may be
// over-committed. The task is copied.
//
// Errors are an empty key or one in use (see [Cluster.SetTask] for what is
// already there), a queue that is no leaf, an unknown node, a negative amount or cost, a budget that is unknown or named twice, and
// amounts, times or counts out of range.
func (c *Cluster) AddTask(t *Task) (TaskID, error) {
	if t.State >= Granted {
		return 0, fmt.Errorf("victims: task %q: state %v: %w", t.Key, t.State, ErrState)
	}
	id, err := c.insert(t)
	if err == nil {
		c.changed()
	}
	return id, err
}

// SetTask puts a task as it should be, whether the cluster has it or not: new,
// moved, resized, of another queue or priority. Use it for events that say how a
// task is, and not what has changed. A task that is marked to leave stays
// marked, unless its state says how it leaves now; see [Cluster.SetState] for
// taking a mark back. A grant of its key is dropped. Its row stays the same.
//
// Errors are those of [Cluster.AddTask] but for the key in use, and change
// nothing. The cost is that of removing a task and adding it.
func (c *Cluster) SetTask(t *Task) (TaskID, error) {
	id, err := c.put(t)
	if err == nil {
		c.changed()
	}
	return id, err
}

// RemoveTask removes a task, in whatever state it is. It does not remove a
// grant; see [Cluster.Drop]. Without a task the error wraps ErrUnknown.
func (c *Cluster) RemoveTask(key string) error {
	id, err := c.taskByKey(key)
	if err != nil {
		return err
	}
	node := c.tasks[id].node
	c.delete(id)
	c.leaveNode(node)
	c.changed()
	return nil
}

// SetState changes the state of a task, to take note that it is leaving or
// that it is not after all. Without a task the error wraps ErrUnknown; Granted
// is no state of a task, and an error that wraps ErrState.
func (c *Cluster) SetState(key string, s State) error {
	id, err := c.taskByKey(key)
	if err != nil {
		return err
	}
	if s >= Granted {
		return fmt.Errorf("victims: task %q: state %v: %w", key, s, ErrState)
	}
	c.setState(id, s)
	c.changed()
	return nil
}

// Resize changes the size of a task. Errors are a key that no task has, and
// those of [Cluster.AddTask] about amounts.
func (c *Cluster) Resize(key string, size resources.Vector) error {
	id, err := c.taskByKey(key)
	if err != nil {
		return err
	}
	if err := c.checkAmounts(size, c.size(id)); err != nil {
		return fmt.Errorf("victims: task %q: %w", key, err)
	}
	c.count(id, -1)
	copySize(c.size(id), size)
	c.count(id, +1)
	c.changed()
	return nil
}

// SetCost changes the own cost of a task. Without a task the error wraps
// [ErrUnknown]; a negative cost wraps [ErrAmount].
func (c *Cluster) SetCost(key string, cost int64) error {
	id, err := c.taskByKey(key)
	if err != nil {
		return err
	}
	if err := checkCost(cost); err != nil {
		return fmt.Errorf("victims: task %q: %w", key, err)
	}
	c.costs.set(int(id), cap(c.tasks), cost)
	c.touch(c.tasks[id].node)
	c.changed()
	return nil
}

// SetCheckpoint notes when the work of a task was last saved; the zero time
// says that it was not. Without a task the error wraps [ErrUnknown]; a time out
// of range wraps [ErrRange].
func (c *Cluster) SetCheckpoint(key string, at time.Time) error {
	id, err := c.taskByKey(key)
	if err != nil {
		return err
	}
	ns, f, err := stamp(at, flagCheckpoint)
	if err != nil {
		return fmt.Errorf("victims: task %q: checkpoint %w", key, err)
	}
	r := &c.tasks[id]
	r.flags = r.flags&^flagCheckpoint | f
	c.checkpoint.set(int(id), cap(c.tasks), ns)
	c.touch(r.node)
	c.changed()
	return nil
}
