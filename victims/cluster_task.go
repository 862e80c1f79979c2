package victims

import (
	"fmt"
	"iter"
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
	created   int64 // nanoseconds since 1970, where flagCreated is set
	scheduled int64 // nanoseconds since 1970, where flagScheduled is set
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

// Grant gives an ask a place on a node: its amounts count as usage of its
// queue and of the node from now on. The planner grants what it plans through
// [Cluster.Apply]; Grant is for callers that have placed an ask themselves.
// It checks no room. Errors are those of [Cluster.AddTask].
func (c *Cluster) Grant(a *Ask, node NodeID) (TaskID, error) {
	t := a.task(node)
	id, err := c.insert(&t)
	if err == nil {
		c.changed()
	}
	return id, err
}

// task returns the ask as a granted task on a node.
func (a *Ask) task(node NodeID) Task {
	return Task{
		Key: a.Key, Application: a.Application, Queue: a.Queue, Node: node,
		Size: a.Size, Priority: a.Priority, Created: a.PendingSince, State: Granted,
		Originator: a.Originator, OptedOut: a.OptedOut, RequiredNode: a.RequiredNode != "",
		Job: a.Job, NonPreemptible: a.NonPreemptible,
		Name: a.Name, Tag: a.Tag, Cost: a.Cost, Budgets: a.Budgets,
	}
}

// Drop takes the grant of an ask back. Without one the error wraps ErrUnknown.
func (c *Cluster) Drop(key string) error {
	id, ok := c.LookupGrant(key)
	if !ok {
		return fmt.Errorf("victims: grant of %q: %w", key, ErrUnknown)
	}
	c.delete(id)
	c.changed()
	return nil
}

// Start turns the grant of an ask into a running task that was scheduled now.
// It checks no room: the caller has waited for the victims, or asks
// [Planner.Decide] whether it fits. Without a grant the error wraps ErrUnknown.
func (c *Cluster) Start(key string, now time.Time) error {
	id, ok := c.LookupGrant(key)
	if !ok {
		return fmt.Errorf("victims: grant of %q: %w", key, ErrUnknown)
	}
	ns, ok := nanos(now)
	if !ok {
		return fmt.Errorf("victims: start of %q: %v: %w", key, now, ErrRange)
	}
	c.setState(id, Running)
	r := &c.tasks[id]
	r.scheduled = ns
	r.flags = r.flags.set(flagScheduled, true)
	c.changed()
	return nil
}

// Lookup returns the row of the task with the given key. Grants are not tasks.
func (c *Cluster) Lookup(key string) (TaskID, bool) {
	id, ok := c.keys.find(c.tasks, c.keys.hash(key), key)
	return id, ok && c.tasks[id].state != Granted
}

// LookupGrant returns the row of the grant that the ask with the given key
// holds.
func (c *Cluster) LookupGrant(key string) (TaskID, bool) {
	id, ok := c.keys.find(c.tasks, c.keys.hash(key), key)
	return id, ok && c.tasks[id].state == Granted
}

func (c *Cluster) taskByKey(key string) (TaskID, error) {
	id, ok := c.Lookup(key)
	if !ok {
		return 0, fmt.Errorf("victims: task %q: %w", key, ErrUnknown)
	}
	return id, nil
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
	c.digest.gauges[c.tasks[id].node].fresh = false
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
	c.digest.gauges[r.node].fresh = false
	c.changed()
	return nil
}

// Task returns the task, or the granted ask, of a row. Its Size is a view, and
// its times are in UTC.
func (c *Cluster) Task(id TaskID) Task {
	t := Task{Size: c.size(id)}
	c.readTask(&t, id)
	return t
}

// ReadTask sets dst to the task, or the granted ask, of a row, as [Cluster.Task]
// returns it. Size and Budgets are copies in the memory of dst, so that to read
// many tasks into the same dst allocates nothing once it is warm.
func (c *Cluster) ReadTask(dst *Task, id TaskID) {
	dst.Size = append(dst.Size[:0], c.size(id)...)
	dst.Budgets = dst.Budgets[:0]
	c.readTask(dst, id)
}

// readTask sets all of dst but its size, and appends to its budgets.
func (c *Cluster) readTask(dst *Task, id TaskID) {
	r := &c.tasks[id]
	*dst = Task{
		Key: r.key, Application: c.apps.name(r.app), Queue: r.leaf, Node: r.node,
		Size: dst.Size, Priority: r.priority, State: r.state,
		Originator:   r.flags.has(flagOriginator),
		OptedOut:     r.flags.has(flagOptedOut),
		RequiredNode: r.flags.has(flagRequiredNode),

		Job:            c.jobs.name(r.job),
		NonPreemptible: r.flags.has(flagNonPreemptible),

		Name:    c.names.at(int(id)),
		Tag:     c.tags.at(int(id)),
		Cost:    c.costs.at(int(id)),
		Budgets: dst.Budgets,
	}
	for _, row := range c.budgetsOf(id) {
		dst.Budgets = append(dst.Budgets, c.budgets[row].name)
	}
	if r.flags.has(flagCreated) {
		dst.Created = time.Unix(0, r.created).UTC()
	}
	if r.flags.has(flagScheduled) {
		dst.Scheduled = time.Unix(0, r.scheduled).UTC()
	}
	if r.flags.has(flagCheckpoint) {
		dst.Checkpoint = time.Unix(0, c.checkpoint.at(int(id))).UTC()
	}
}

// Tasks yields the tasks and grants of the cluster in the order of their rows,
// which depends on the history of additions and removals.
func (c *Cluster) Tasks() iter.Seq[TaskID] {
	return func(yield func(TaskID) bool) {
		for id := range c.tasks {
			if c.tasks[id].flags.has(flagLive) && !yield(TaskID(id)) {
				return
			}
		}
	}
}

// TasksOn yields the tasks and grants of a node. Their order depends on the
// history of additions and removals.
func (c *Cluster) TasksOn(id NodeID) iter.Seq[TaskID] { return slices.Values(c.nodes[id].tasks) }

// TasksIn yields the tasks and grants of a queue, which has some only where it
// is a leaf. Their order depends on the history of additions and removals.
func (c *Cluster) TasksIn(q queue.ID) iter.Seq[TaskID] { return slices.Values(c.leaves[q]) }

// TaskLen returns the number of tasks and grants.
func (c *Cluster) TaskLen() int { return c.keys.used }

// fewTasks is how many tasks a node has room for at once.
const fewTasks = 16

// insert adds a row, for a task or for a grant. A task takes the place of a
// grant of the same key.
func (c *Cluster) insert(t *Task) (TaskID, error) {
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
	return id, nil
}

// delete removes a row that is there.
func (c *Cluster) delete(id TaskID) {
	r := &c.tasks[id]
	c.count(id, -1)

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

// count adds the amounts of a row to its queues and node, or takes them away.
func (c *Cluster) count(id TaskID, sign int64) {
	r := &c.tasks[id]
	c.digest.gauges[r.node].fresh = false
	size := c.size(id)
	if sign > 0 {
		must(c.tree.Add(r.leaf, size))
	}
	if r.evictable() {
		c.evictable[r.leaf] += int32(sign)
	}
	if r.state.leaving() {
		c.countLeaving(id, sign)
	}
	if sign < 0 {
		must(c.tree.Remove(r.leaf, size))
	}
	present, coming := c.row(c.present, r.node), c.row(c.coming, r.node)
	for i, v := range size {
		present[i] -= sign * v
		coming[i] -= sign * v
	}
}

// countLeaving adds the amounts of a row to what is leaving, or takes them away.
func (c *Cluster) countLeaving(id TaskID, sign int64) {
	r := &c.tasks[id]
	size := c.size(id)
	if sign > 0 {
		must(c.tree.Mark(r.leaf, size))
	} else {
		must(c.tree.Unmark(r.leaf, size))
	}
	coming := c.row(c.coming, r.node)
	for i, v := range size {
		coming[i] += sign * v
	}
}

// must panics where the tree refuses what the cluster has checked: someone
// else has changed the tree.
func must(err error) {
	if err != nil {
		panic("victims: usage of the tree was changed from outside: " + err.Error())
	}
}

// setState changes the state of a row and what is leaving with it.
func (c *Cluster) setState(id TaskID, s State) {
	r := &c.tasks[id]
	was, evictable := r.state, r.evictable()
	r.state = s
	switch {
	case evictable && !r.evictable():
		c.evictable[r.leaf]--
	case !evictable && r.evictable():
		c.evictable[r.leaf]++
	}
	c.digest.gauges[r.node].fresh = false
	switch {
	case s.leaving() && !was.leaving():
		c.countLeaving(id, +1)
	case !s.leaving() && was.leaving():
		c.countLeaving(id, -1)
	}
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
