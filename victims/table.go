package victims

import (
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// taskRow is a task without its size, which is a row of Cluster.sizes: 64
// bytes, and no pointer but the key's.
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
}

type flags uint8

const (
	flagLive flags = 1 << iota
	flagCreated
	flagScheduled
	flagOriginator
	flagOptedOut
	flagRequiredNode
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
// a grant, the task takes its place: the grant is dropped.
//
// Errors are an empty key or one in use, a queue that is no leaf, an unknown
// node, a negative amount, and amounts, times or counts out of range.
func (c *Cluster) AddTask(t *Task) (TaskID, error) {
	if t.State == Granted || t.State > Granted {
		return 0, fmt.Errorf("victims: task %q: state %v: %w", t.Key, t.State, ErrState)
	}
	grant, held := c.grantOf(t.Key)
	if !held {
		id, err := c.insert(t)
		if err == nil {
			c.changed()
		}
		return id, err
	}
	was := c.Task(grant)
	was.Size = resources.Copy(nil, was.Size)
	c.delete(grant)
	id, err := c.insert(t)
	if err != nil {
		if _, undo := c.insert(&was); undo != nil {
			panic("victims: a grant that was there does not fit back: " + undo.Error())
		}
		return 0, err
	}
	c.changed()
	return id, nil
}

// RemoveTask removes a task, in whatever state it is. It does not remove a
// grant; see [Cluster.Drop].
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
// that it is not after all.
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

// Resize changes the size of a task. Errors are those of [Cluster.AddTask].
func (c *Cluster) Resize(key string, size resources.Vector) error {
	id, err := c.taskByKey(key)
	if err != nil {
		return err
	}
	if err := c.checkAmounts(key, size, c.size(id)); err != nil {
		return err
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
	}
}

// Drop takes the grant of an ask back.
func (c *Cluster) Drop(key string) error {
	id, ok := c.grantOf(key)
	if !ok {
		return fmt.Errorf("victims: grant of %q: %w", key, ErrUnknown)
	}
	c.delete(id)
	c.changed()
	return nil
}

// Start turns the grant of an ask into a running task that was scheduled now.
func (c *Cluster) Start(key string, now time.Time) error {
	id, ok := c.grantOf(key)
	if !ok {
		return fmt.Errorf("victims: grant of %q: %w", key, ErrUnknown)
	}
	ns, ok := nanos(now)
	if !ok {
		return fmt.Errorf("victims: start of %q: %v: %w", key, now, ErrRange)
	}
	r := &c.tasks[id]
	r.state = Running
	r.scheduled = ns
	r.flags = r.flags.set(flagScheduled, true)
	c.changed()
	return nil
}

// Lookup returns the row of the task with the given key. Grants are not tasks.
func (c *Cluster) Lookup(key string) (TaskID, bool) {
	id, ok := c.taskIDs[key]
	return id, ok && c.tasks[id].state != Granted
}

// grantOf returns the row of the grant with the given key.
func (c *Cluster) grantOf(key string) (TaskID, bool) {
	id, ok := c.taskIDs[key]
	return id, ok && c.tasks[id].state == Granted
}

func (c *Cluster) taskByKey(key string) (TaskID, error) {
	id, ok := c.Lookup(key)
	if !ok {
		return 0, fmt.Errorf("victims: task %q: %w", key, ErrUnknown)
	}
	return id, nil
}

// Task returns the task, or the granted ask, of a row. Its Size is a view.
func (c *Cluster) Task(id TaskID) Task {
	r := &c.tasks[id]
	t := Task{
		Key: r.key, Application: c.apps.names[r.app], Queue: r.leaf, Node: r.node,
		Size: c.size(id), Priority: r.priority, State: r.state,
		Originator:   r.flags.has(flagOriginator),
		OptedOut:     r.flags.has(flagOptedOut),
		RequiredNode: r.flags.has(flagRequiredNode),
	}
	if r.flags.has(flagCreated) {
		t.Created = time.Unix(0, r.created).UTC()
	}
	if r.flags.has(flagScheduled) {
		t.Scheduled = time.Unix(0, r.scheduled).UTC()
	}
	return t
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

// TaskLen returns the number of tasks and grants.
func (c *Cluster) TaskLen() int { return len(c.taskIDs) }

// insert adds a row, for a task or for a grant.
func (c *Cluster) insert(t *Task) (TaskID, error) {
	r, err := c.parse(t)
	if err != nil {
		return 0, err
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
	r.inNode, r.inLeaf = int32(len(node.tasks)), int32(len(c.leaves[t.Queue]))
	node.tasks = append(node.tasks, id)
	c.leaves[t.Queue] = append(c.leaves[t.Queue], id)
	c.tasks[id] = r
	c.taskIDs[t.Key] = id
	copySize(c.size(id), t.Size)
	c.count(id, +1)
	return id, nil
}

// parse checks a task and returns its row, without its application and lists.
func (c *Cluster) parse(t *Task) (taskRow, error) {
	fail := func(err error) (taskRow, error) {
		return taskRow{}, fmt.Errorf("victims: task %q: %w", t.Key, err)
	}
	if t.Key == "" {
		return fail(ErrEmpty)
	}
	if _, ok := c.taskIDs[t.Key]; ok {
		return fail(ErrDuplicate)
	}
	if err := c.checkLeaf(t.Queue); err != nil {
		return fail(err)
	}
	if t.Node < 0 || int(t.Node) >= len(c.nodes) || !c.nodes[t.Node].live {
		return fail(fmt.Errorf("node %d: %w", t.Node, ErrUnknown))
	}
	if err := c.checkAmounts(t.Key, t.Size, nil); err != nil {
		return taskRow{}, err
	}
	if len(c.taskIDs) == math.MaxInt32 {
		return fail(fmt.Errorf("more than %d tasks: %w", math.MaxInt32, ErrRange))
	}
	r := taskRow{key: t.Key, leaf: t.Queue, node: t.Node, priority: t.Priority, state: t.State, flags: flagLive}
	r.flags = r.flags.set(flagOriginator, t.Originator)
	r.flags = r.flags.set(flagOptedOut, t.OptedOut)
	r.flags = r.flags.set(flagRequiredNode, t.RequiredNode)
	for _, at := range []struct {
		when time.Time
		ns   *int64
		flag flags
	}{{t.Created, &r.created, flagCreated}, {t.Scheduled, &r.scheduled, flagScheduled}} {
		ns, ok := nanos(at.when)
		if !ok && !at.when.IsZero() {
			return fail(fmt.Errorf("time %v: %w", at.when, ErrRange))
		}
		*at.ns, r.flags = ns, r.flags.set(at.flag, ok)
	}
	return r, nil
}

func (c *Cluster) checkLeaf(q queue.ID) error {
	if q < 0 || int(q) >= c.tree.Len() {
		return fmt.Errorf("queue %d: %w", q, ErrUnknown)
	}
	if !c.tree.IsLeaf(q) {
		return fmt.Errorf("queue %s: %w", c.tree.Path(q), ErrQueue)
	}
	return nil
}

// checkAmounts reports a size that is none, or with which, in place of old,
// the usage of the cluster would leave the range of int64.
func (c *Cluster) checkAmounts(key string, size, old resources.Vector) error {
	if err := c.checkSize(size); err != nil {
		return fmt.Errorf("victims: task %q: %w", key, err)
	}
	for i, used := range c.tree.Usage(queue.Root) {
		if at(size, i) > math.MaxInt64-(used-at(old, i)) {
			return fmt.Errorf("victims: task %q: %s %s and %s in use: %w", key,
				c.Schema().Name(i), c.Schema().Amount(i, at(size, i)), c.Schema().Amount(i, used), ErrRange)
		}
	}
	return nil
}

// delete removes a row that is there.
func (c *Cluster) delete(id TaskID) {
	c.count(id, -1)
	r := &c.tasks[id]

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

	c.apps.release(r.app)
	delete(c.taskIDs, r.key)
	c.tasks[id] = taskRow{}
	c.freeTasks = append(c.freeTasks, id)
}

// count adds the amounts of a row to its queues and node, or takes them away.
func (c *Cluster) count(id TaskID, sign int64) {
	r := &c.tasks[id]
	size := c.size(id)
	if sign > 0 {
		must(c.tree.Add(r.leaf, size))
	}
	if r.state.leaving() {
		c.countLeaving(id, sign)
	}
	if sign < 0 {
		must(c.tree.Remove(r.leaf, size))
	}
	used := c.row(c.used, r.node)
	for i, v := range size {
		used[i] += sign * v
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
	leaving := c.row(c.leaving, r.node)
	for i, v := range size {
		leaving[i] += sign * v
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
	was := r.state
	r.state = s
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

// nanos returns t as nanoseconds since 1970, where it is in the range of
// int64: from the year 1678 to 2262. The zero time is not.
func nanos(t time.Time) (int64, bool) {
	const most = math.MaxInt64/int64(time.Second) - 1
	if s := t.Unix(); s < -most || s > most {
		return 0, false
	}
	return t.UnixNano(), true
}
