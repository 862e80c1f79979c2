package victims

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// taskRow is a task without its size, which is a row of Cluster.sizes: 64
// bytes, and no pointer but the key's. What few clusters use is in the columns
// of [taskColumns].
type taskRow struct {
	key       string
	created   int64 // nanoseconds since 1970, where flagCreated is set
	scheduled int64 // nanoseconds since 1970, where flagScheduled is set; of a grant, its number in the order of giving
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
	checkpoint column[int64] // nanoseconds since 1970, where flagCheckpoint is set
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

// set returns f with g set where on is.
func (f flags) set(g flags, on bool) flags {
	if on {
		return f | g
	}
	return f &^ g
}

// AddTask adds a task and returns its row. Where an ask of the same key holds
// a grant, the task takes its place: the grant is dropped. Whether there is
// room is not asked: a cluster is told what is, and a node may be
// over-committed. The task is copied.
//
// Errors are an empty key or one in use, a queue that is no leaf, an unknown
// node, a negative amount or cost, a budget that is unknown or named twice, and
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

// RemoveTask removes a task, in whatever state it is. It does not remove a
// grant; see [Cluster.Drop]. Without a task the error wraps ErrUnknown.
func (c *Cluster) RemoveTask(key string) error {
	id, err := c.taskByKey(key)
	if err != nil {
		return err
	}
	c.delete(id)
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
	hash := c.keys.hash(t.Key)
	grant, held := c.keys.find(c.tasks, hash, t.Key)
	var old *taskRow
	if held {
		old = &c.tasks[grant]
	}
	r, err := c.parse(t, old)
	if err != nil {
		return 0, err
	}
	if held {
		c.delete(grant)
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
	node := &c.nodes[t.Node]
	r.app = c.apps.acquire(t.Application)
	r.job = c.jobs.acquire(t.Job)
	r.inNode, r.inLeaf = int32(len(node.tasks)), int32(len(c.leaves[t.Queue]))
	if node.tasks == nil {
		node.tasks = make([]TaskID, 0, fewTasks)
	}
	node.tasks = append(node.tasks, id)
	c.leaves[t.Queue] = append(c.leaves[t.Queue], id)
	c.tasks[id] = r
	c.setColumns(id, t)
	c.join(id)
	c.keys.add(hash, id)
	copySize(c.size(id), t.Size)
	c.count(id, +1)
	if t.State == Granted {
		c.noteGrant(id)
	}
	return id, nil
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
