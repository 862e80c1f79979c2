package victims

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// taskRow is a task without its size, which is a row of Cluster.sizes: 64
// bytes, and no pointer but the key's. What few clusters use is in the columns
// of [taskColumns].
type taskRow struct {
	key       string
	created   int64 // nanoseconds since 1970, if flagCreated is set
	scheduled int64 // nanoseconds since 1970, if flagScheduled is set; of a grant, its number in the order of giving
	leaf      queue.ID
	node      NodeID
	app       int32
	priority  int32
	inNode    int32 // its index in nodeRow.tasks
	inLeaf    int32 // its index in Cluster.leaves[leaf]
	state     State
	flags     flags
	job       int32
}

// taskColumns are the fields of tasks that have no memory until they are used.
type taskColumns struct {
	names      column[string]
	tags       column[uint64]
	costs      column[int64]
	checkpoint column[int64] // nanoseconds since 1970, if flagCheckpoint is set
	budgetSet  column[int32]
	inJob      column[int32] // its index in Cluster.members[job]
	waitOf     column[int32] // of a victim, the row of Cluster.waits of the grants that wait for it
}

type flags uint8

const (
	flagLive flags = 1 << iota
	flagCreated
	flagScheduled
	flagOriginator
	flagOptedOut
	flagRequiredNode
	flagNonPreemptible
	flagCheckpoint
)

func (f flags) has(g flags) bool { return f&g != 0 }

// set returns f with g set if on is.
func (f flags) set(g flags, on bool) flags {
	if on {
		return f | g
	}
	return f &^ g
}

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

// put is SetTask without noting a change.
func (c *Cluster) put(t *Task) (TaskID, error) {
	c.made()
	if t.State >= Granted {
		return 0, fmt.Errorf("victims: task %q: state %v: %w", t.Key, t.State, ErrState)
	}
	id, ok := c.Lookup(t.Key)
	if !ok {
		return c.insert(t)
	}
	r, err := c.parse(t, c.size(id))
	if err != nil {
		return 0, err
	}
	if was := c.tasks[id].state; was.leaving() && !r.state.leaving() {
		r.state = was
	}
	wait := c.waitOf.at(int(id))
	place := -1
	if wait != 0 && r.state.leaving() {
		place = slices.Index(c.waits[wait].victims, id)
	}
	id = c.replace(id, t, &r)
	if place >= 0 {
		c.waits[wait].victims = slices.Insert(c.waits[wait].victims, place, id)
		c.waitOf.set(int(id), cap(c.tasks), wait)
	}
	return id, nil
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

// fewTasks is how many tasks a node has room for at once.
const fewTasks = 16

// costOf returns the own cost of a task.
func (c *Cluster) costOf(id TaskID) int64 { return c.costs.at(int(id)) }

// insert adds a row, for a task or for a grant. A task takes the place of a
// grant of the same key.
func (c *Cluster) insert(t *Task) (TaskID, error) {
	c.made()
	old, held := c.keys.find(c.tasks, c.keys.hash(t.Key), t.Key)
	var size resources.Vector
	if held {
		if t.State == Granted || c.tasks[old].state != Granted {
			return 0, fmt.Errorf("victims: task %q: %w", t.Key, ErrDuplicate)
		}
		size = c.size(old)
	}
	r, err := c.parse(t, size)
	if err != nil {
		return 0, err
	}
	if held {
		return c.replace(old, t, &r), nil
	}
	return c.fill(t, &r), nil
}

// replace puts a task in the place of the row that has its key, and returns its
// row, which is the same one. Both are checked.
func (c *Cluster) replace(old TaskID, t *Task, r *taskRow) TaskID {
	node := c.tasks[old].node
	set := c.acquireBudgets(t.Budgets) // so that it is not forgotten in between
	c.delete(old)
	id := c.fill(t, r)
	c.releaseBudgets(set)
	c.leaveNode(node)
	return id
}

// fill adds a row that is checked.
func (c *Cluster) fill(t *Task, r *taskRow) TaskID {
	if r.node == noNode {
		r.node = c.addRow(t.NodeName)
	}
	id := TaskID(len(c.tasks))
	if last := len(c.freeTasks) - 1; last >= 0 {
		id, c.freeTasks = c.freeTasks[last], c.freeTasks[:last]
	} else {
		c.tasks = append(c.tasks, taskRow{})
		for range c.types {
			c.sizes = append(c.sizes, 0)
		}
	}
	node := &c.nodes[r.node]
	r.app = c.apps.acquire(t.Application)
	r.job = c.jobs.acquire(t.Job)
	r.inNode, r.inLeaf = int32(len(node.tasks)), int32(len(c.leaves[t.Queue]))
	if node.tasks == nil {
		node.tasks = make([]TaskID, 0, fewTasks)
	}
	node.tasks = append(node.tasks, id)
	c.leaves[t.Queue] = append(c.leaves[t.Queue], id)
	c.tasks[id] = *r
	c.setColumns(id, t)
	c.join(id)
	c.keys.add(c.keys.hash(t.Key), id)
	copySize(c.size(id), t.Size)
	c.count(id, +1)
	if t.State == Granted {
		c.noteGrant(id)
	}
	return id
}

// delete removes a row that is there.
func (c *Cluster) delete(id TaskID) {
	r := &c.tasks[id]
	c.count(id, -1)
	if r.state == Granted {
		c.forgetGrant(id)
	}
	c.unwait(id)

	// The last row of each list takes the place of this one.
	list := c.nodes[r.node].tasks
	last := list[len(list)-1]
	list[r.inNode] = last
	c.tasks[last].inNode = r.inNode
	c.nodes[r.node].tasks = list[:len(list)-1]

	list = c.leaves[r.leaf]
	last = list[len(list)-1]
	list[r.inLeaf] = last
	c.tasks[last].inLeaf = r.inLeaf
	c.leaves[r.leaf] = list[:len(list)-1]

	c.leave(id)
	c.releaseBudgets(c.budgetSet.at(int(id)))
	c.clearColumns(id)
	c.apps.release(r.app)
	c.jobs.release(r.job)
	c.keys.remove(c.keys.hash(r.key), id)
	c.tasks[id] = taskRow{}
	c.freeTasks = append(c.freeTasks, id)
}

// setColumns sets what few tasks have. The checkpoint is in range.
func (c *Cluster) setColumns(id TaskID, t *Task) {
	row, room := int(id), cap(c.tasks)
	c.names.set(row, room, t.Name)
	c.tags.set(row, room, t.Tag)
	c.costs.set(row, room, t.Cost)
	c.budgetSet.set(row, room, c.acquireBudgets(t.Budgets))
	if ns, ok := nanos(t.Checkpoint); ok {
		c.checkpoint.set(row, room, ns)
	}
}

// clearColumns takes back what setColumns has set, and forgets the names.
func (c *Cluster) clearColumns(id TaskID) {
	row, room := int(id), cap(c.tasks)
	c.names.set(row, room, "")
	c.tags.set(row, room, 0)
	c.costs.set(row, room, 0)
	c.budgetSet.set(row, room, 0)
	c.checkpoint.set(row, room, 0)
	c.inJob.set(row, room, 0)
}

// size returns the amounts of a row.
func (c *Cluster) size(id TaskID) resources.Vector {
	i := int(id) * c.types
	return c.sizes[i : i+c.types : i+c.types]
}

// copySize sets dst, a row, to size, which may be shorter or longer.
func copySize(dst, size resources.Vector) {
	clear(dst[copy(dst, size):])
}
