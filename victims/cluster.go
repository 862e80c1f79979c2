// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Cluster indexes queues, nodes and tasks for decisions.
//
// An error changes nothing. A key or name that is not there wraps [ErrUnknown], a bad
// amount [ErrAmount] or [ErrRange], and so does a time that is neither zero nor in the
// years 1678 to 2261. A TaskID, NodeID or [queue.ID] that the cluster does not have
// panics. Views show memory of the cluster: do not change them, nor keep them over a
// change.
//
// One goroutine may change a cluster while no other uses it. Else any number may read it,
// and decide over it with a planner each. The zero Cluster can only be copied into.
type Cluster struct {
	index               // what there is
	history             // which state this is, and the way back
	view    *queue.Tree // shows the tree, of which the cluster is the owner
	// Of the tasks of a node, while it is synced: false for a key that is listed, true
	// for one that is as it should be.
	synced map[string]bool
}

// NewCluster returns a cluster without nodes and tasks. It takes the tree over: the tree
// shows the usage, and is changed by the cluster only. It panics without a tree, and for
// one that has usage or another owner.
func NewCluster(tree *queue.Tree) *Cluster {
	if tree == nil || tree.Len() == 0 {
		panic("victims: NewCluster without a tree: see queue.New")
	}
	if used := tree.Usage(queue.Root); !resources.IsZero(used) {
		panic(fmt.Sprintf("victims: NewCluster with a tree that has usage %v already, of tasks that the cluster does not know", used))
	}
	own, err := trees.Own(tree)
	if err != nil {
		panic("victims: NewCluster with the tree of another cluster: give it a Clone")
	}
	c := &Cluster{history: newHistory(), view: tree}
	c.index.init(own)
	return c
}

// Tree returns the queues with their usage. It shows later changes, and cannot be changed
// ([queue.ErrReadOnly]).
func (c *Cluster) Tree() *queue.Tree {
	c.made()
	return c.view
}

// did gives the cluster another version if a change was made.
func (c *Cluster) did(err error) error {
	if err == nil {
		c.changed()
	}
	return err
}

// SetGuaranteed replaces the guarantee of a queue; see [queue.Tree.SetGuaranteed].
func (c *Cluster) SetGuaranteed(q queue.ID, l resources.Limit) error {
	c.made()
	c.journal.all()
	return c.did(c.tree.SetGuaranteed(q, l))
}

// SetGuarantees sets all guarantees to shares, as one change; see
// [queue.FairShares.SetGuarantees]. The shares come from another tree of the same queues.
func (c *Cluster) SetGuarantees(shares *queue.FairShares) error {
	c.made()
	c.journal.all()
	return c.did(shares.SetGuarantees(c.tree))
}

// SetMax replaces the max of a queue; see [queue.Tree.SetMax].
func (c *Cluster) SetMax(q queue.ID, l resources.Limit) error {
	c.made()
	c.journal.all()
	return c.did(c.tree.SetMax(q, l))
}

// SetTree replaces the queues by another tree, which the cluster takes over: if queues
// come or go, or policies, delays or types change. Queues and types of the same path and
// name are the same. Rows, marks, grants and budgets stay. Look up the queue IDs of kept asks and tasks
// again.
//
// Errors are used leaves that are no leaves any more ([ErrQueue]), a type that the
// tree lacks ([queue.ErrConfig]), usage in the tree ([ErrState]), and a tree of another
// cluster ([queue.ErrReadOnly]). The cost is linear in tasks, nodes and queues.
func (c *Cluster) SetTree(tree *queue.Tree) error {
	c.made()
	if tree == nil || tree.Len() == 0 {
		panic("victims: SetTree without a tree: see queue.New")
	}
	own, err := trees.Own(tree)
	if err != nil {
		return fmt.Errorf("victims: new tree: %w", err)
	}
	m, err := c.moveTo(own)
	if err != nil {
		*tree = *own // it stays the caller's
		return err
	}
	c.moveInto(own, m)
	trees.Show(c.tree, c.view)
	c.journal.all()
	c.changed()
	return nil
}

// SetBudget adds or replaces a budget; tasks that name it keep it. Errors are an empty
// name, and a Left below -4611686018427387904.
func (c *Cluster) SetBudget(name string, b Budget) error {
	c.made()
	if name == "" {
		return fmt.Errorf("victims: budget %q: %w", name, ErrEmpty)
	}
	if b.Left < leastLeft {
		return fmt.Errorf("victims: budget %q: left %d: %w", name, b.Left, ErrRange)
	}
	row, ok := c.findBudget(name)
	if !ok {
		row = c.addBudget(name)
	}
	c.budgets[row].left, c.budgets[row].hard = b.Left, b.Hard
	c.journal.all()
	c.changed()
	return nil
}

// RemoveBudget removes a budget. If tasks or grants name it, the error wraps [ErrState].
func (c *Cluster) RemoveBudget(name string) error {
	row, ok := c.findBudget(name)
	if !ok {
		return fmt.Errorf("victims: budget %q: %w", name, ErrUnknown)
	}
	if n := c.budgets[row].uses; n > 0 {
		return fmt.Errorf("victims: budget %q: tasks name it: %d: %w", name, n, ErrState)
	}
	c.removeBudget(row)
	c.journal.all()
	c.changed()
	return nil
}

// SetMinMembers says how many members a running job needs. Members above it go one by one;
// below it the whole job goes. 0, as of every job that nobody set, lets each go by itself. The
// number stays until it is set anew, also while the job has no tasks. Errors are an empty name,
// and a number below 0 or above 2147483647.
func (c *Cluster) SetMinMembers(job string, members int) error {
	c.made()
	switch {
	case job == "":
		return fmt.Errorf("victims: minimum of job %q: %w", job, ErrEmpty)
	case members < 0 || members > math.MaxInt32:
		return fmt.Errorf("victims: minimum of job %q: %d: %w", job, members, ErrRange)
	}
	c.setMinimum(job, int32(members))
	c.journal.all()
	c.changed()
	return nil
}

// Clone returns an independent copy with the same tree, version and rows, and nothing to
// undo. Until either changes, a plan for one applies to the other; see DESIGN.md,
// Identity.
func (c *Cluster) Clone() *Cluster {
	d := new(Cluster)
	d.CopyFrom(c)
	return d
}

// CopyFrom is [Cluster.Clone] into the memory of c: once warm it allocates nothing.
func (c *Cluster) CopyFrom(from *Cluster) {
	from.made()
	if c == from {
		return
	}
	c.index.copyFrom(&from.index)
	c.history.follow(&from.history)
	if c.view == nil {
		c.view = new(queue.Tree)
	}
	trees.Show(c.tree, c.view)
}

// The kinds of errors of this package. Errors wrap one of them, and name the thing and
// its value.
var (
	ErrDuplicate = errors.New("duplicate key")       // a name that is taken, of an ask by a job too; a victim named twice
	ErrUnknown   = errors.New("unknown")             // no task, grant, node or queue has the name or number
	ErrEmpty     = errors.New("empty name")          // a task, ask or node without a name, a task without a node
	ErrAmount    = errors.New("bad amount")          // -1, 1 of a type that the schema does not have
	ErrRange     = errors.New("out of range")        // a sum above 9223372036854775807, the year 2400
	ErrQueue     = errors.New("not a leaf queue")    // a task of a queue that has children
	ErrState     = errors.New("wrong state")         // a victim that leaves already, a budget in use to remove, nothing to undo
	ErrStale     = errors.New("cluster has changed") // a plan for another version of the cluster, or another cluster
	ErrRoom      = errors.New("no room")             // Start of an ask that has to wait, a grant on a closed node
)

// AddNode adds a node, last in node order, and returns its row. A closed one opens, with
// its tasks. Errors are a name that is empty or taken, a negative capacity, and
// capacities beyond int64.
func (c *Cluster) AddNode(n *Node) (NodeID, error) {
	c.made()
	if n.Name == "" {
		return 0, fmt.Errorf("victims: node %q: %w", n.Name, ErrEmpty)
	}
	id, there := c.nodeIDs[n.Name]
	if there && !c.nodes[id].absent {
		return 0, fmt.Errorf("victims: node %q: %w", n.Name, ErrDuplicate)
	}
	if err := c.checkCapacity(n, nil); err != nil {
		return 0, err
	}
	if err := c.checkNodes(); err != nil {
		return 0, fmt.Errorf("victims: node %q: %w", n.Name, err)
	}
	if !there {
		id = c.newNode(n.Name)
	}
	c.nodeSeq++
	c.nodes[id].seq = c.nodeSeq
	c.nodes[id].absent = false
	if !c.nodes[id].blind {
		c.show(id)
	}
	c.setNode(id, n)
	c.journal.all()
	c.changed()
	return id, nil
}

// UpdateNode replaces what is known of a node, but for its tasks and place in node order.
// Errors about capacity are those of [Cluster.AddNode].
func (c *Cluster) UpdateNode(n *Node) error {
	id, err := c.nodeByName(n.Name)
	if err != nil {
		return err
	}
	if err := c.checkCapacity(n, c.row(c.capacity, id)); err != nil {
		return err
	}
	c.setNode(id, n)
	c.journal.node(id)
	c.changed()
	return nil
}

// An Orphan is an ask, or a member of a job, whose grant has gone with its node. Decide the ask
// or the job anew: it is planned for who lost a place, and keeps the other grants. Or give it up
// by [Cluster.Drop], if it still holds any.
type Orphan struct {
	Ask    string // the key of the ask, or the name of the job
	Member string // the key of the member; "" for an ask that is none of a job
}

// RemoveNode removes a node. While it has tasks it is closed. Its grants end, those for
// tasks that move there too: it returns whose, in the order in which they were given. Marks of
// victims stay, for they were told. The cost is linear in nodes and grants.
func (c *Cluster) RemoveNode(name string) (orphans []Orphan, err error) {
	id, ok := c.nodeIDs[name]
	if !ok || c.nodes[id].absent && len(c.nodes[id].tasks) > 0 {
		return nil, fmt.Errorf("victims: node %q: %w", name, ErrUnknown)
	}
	orphans = c.endGrants(id)
	n := &c.nodes[id]
	c.setNode(id, &Node{})
	if !n.closed() {
		c.hide(id)
	}
	n.absent = true
	if len(n.tasks) == 0 { // what else there was has gone with it
		n.blind = false
		c.setUnknown(id, nil)
	}
	c.leaveNode(id)
	c.journal.all()
	c.changed()
	return orphans, nil
}

// DropOn ends the grants on a node that is dead and still listed, as [Cluster.RemoveNode] does, and
// nothing else. So that it is not chosen again, make it Unschedulable first. The cost is linear in
// grants.
func (c *Cluster) DropOn(node string) (orphans []Orphan, err error) {
	id, err := c.nodeByName(node)
	if err != nil {
		return nil, err
	}
	if orphans = c.endGrants(id); len(orphans) > 0 {
		c.changed()
	}
	return orphans, nil
}

// endGrants ends the grants on a node, and returns whose they were.
func (c *Cluster) endGrants(node NodeID) (orphans []Orphan) {
	var rows []TaskID
	for i := range c.grants {
		g := &c.grants[i]
		if c.tasks[g.task].node != node {
			continue
		}
		o := Orphan{Ask: c.asks[g.ask].key}
		if !c.alone(g.ask) {
			o.Member = c.tasks[g.task].key
		}
		rows, orphans = append(rows, g.task), append(orphans, o)
	}
	for _, id := range rows {
		c.delete(id)
	}
	return orphans
}

// A NotTaken is a task that [Cluster.SyncNode] could not take.
type NotTaken struct {
	Index int   // in the list of tasks
	Err   error // as AddTask would return it
}

// Synced is what came of a [Cluster.SyncNode].
type Synced struct {
	NotTaken []NotTaken // in the order of the list
	// Started has the keys of the tasks that held grants until then, in the order of
	// the list.
	Started []string
}

// SyncNode makes the tasks of a node exactly these, each as by [Cluster.SetTask]; it
// ignores their Node and NodeName. Use it after a restart, or if you may have missed
// events. Tasks that are not listed are removed; grants stay. An unknown node becomes a
// closed one.
//
// It returns which grants started, and the tasks that the cluster cannot take. Their room
// stays taken until the next sync; if a size is bad, the node is closed. Errors are an
// empty name, and more than 2147483647 nodes. The cost is one change per task.
func (c *Cluster) SyncNode(node string, tasks []Task) (Synced, error) {
	c.made()
	if node == "" {
		return Synced{}, fmt.Errorf("victims: sync of node %q: %w", node, ErrEmpty)
	}
	id, ok := c.nodeIDs[node]
	if !ok {
		if err := c.checkNodes(); err != nil {
			return Synced{}, fmt.Errorf("victims: sync of node %q: %w", node, err)
		}
		id = c.newNode(node)
	}
	c.setUnknown(id, nil)
	if c.synced == nil {
		c.synced = make(map[string]bool)
	}
	for i := range tasks {
		c.synced[tasks[i].Key] = false
	}
	c.keepOnly(id, c.synced)
	var dst Synced
	for i := range tasks {
		t := tasks[i]
		t.Node, t.NodeName = id, ""
		_, granted := c.LookupGrant(t.Key)
		if err := c.syncTask(&t, c.synced[t.Key]); err != nil {
			dst.NotTaken = append(dst.NotTaken, NotTaken{Index: i, Err: err})
			continue
		}
		if c.synced[t.Key] = true; granted {
			dst.Started = append(dst.Started, t.Key)
		}
	}
	clear(c.synced)
	c.distrust(id, tasks, dst.NotTaken)
	c.leaveNode(id)
	c.journal.node(id)
	c.changed()
	return dst, nil
}

// AddTask adds a copy of a task, in place of a grant of its key, and returns its row.
// Room is not asked; a node may be over-committed.
//
// Errors are a key that is empty or in use (see [Cluster.SetTask]), a queue that is no
// leaf, no node or an unknown one, a budget that is unknown or named twice, and values
// out of range.
func (c *Cluster) AddTask(t *Task) (TaskID, error) {
	if t.State >= Granted {
		return 0, fmt.Errorf("victims: task %q: state %v: %w", t.Key, t.State, ErrState)
	}
	id, err := c.insert(t)
	return id, c.did(err)
}

// SetTask makes a task be as given, whether it is new, moved or changed. A mark to leave
// stays unless State is another way to leave (see [Cluster.SetState]). It takes the place
// of a grant of its key. Its row stays. Errors are those of [Cluster.AddTask] but for a
// key in use.
func (c *Cluster) SetTask(t *Task) (TaskID, error) {
	id, err := c.put(t)
	return id, c.did(err)
}

// RemoveTask removes a task in any state.
func (c *Cluster) RemoveTask(key string) error {
	id, err := c.taskByKey(key)
	if err == nil {
		c.remove(id)
	}
	return c.did(err)
}

// edit changes the task of a key.
func (c *Cluster) edit(key string, change func(id TaskID) error) error {
	id, err := c.taskByKey(key)
	if err != nil {
		return err
	}
	if err := change(id); err != nil {
		return fmt.Errorf("victims: task %q: %w", key, err)
	}
	c.changed()
	return nil
}

// SetState changes the state of a task: it is leaving, or it runs after all. [Granted] is
// no state of a task, and wraps [ErrState].
func (c *Cluster) SetState(key string, s State) error {
	return c.edit(key, func(id TaskID) error {
		if s >= Granted {
			return fmt.Errorf("state %v: %w", s, ErrState)
		}
		c.setState(id, s)
		return nil
	})
}

// Resize changes a task's size.
func (c *Cluster) Resize(key string, size resources.Vector) error {
	return c.edit(key, func(id TaskID) error {
		if err := c.checkAmounts(size, c.size(id)); err != nil {
			return err
		}
		c.count(id, -1)
		copySize(c.size(id), size)
		c.count(id, +1)
		return nil
	})
}

// SetCost changes the own cost of a task; a negative one is an error.
func (c *Cluster) SetCost(key string, cost int64) error {
	return c.edit(key, func(id TaskID) error {
		if err := checkCost(cost); err != nil {
			return err
		}
		c.costs.set(int(id), cap(c.tasks), cost)
		c.digest.touch(c.tasks[id].node)
		return nil
	})
}

// SetCheckpoint notes when the work of a task was last saved; zero: never.
func (c *Cluster) SetCheckpoint(key string, at time.Time) error {
	return c.edit(key, func(id TaskID) error {
		ns, f, err := stamp(at, flagCheckpoint)
		if err != nil {
			return fmt.Errorf("checkpoint %w", err)
		}
		r := &c.tasks[id]
		r.flags = r.flags&^flagCheckpoint | f
		c.checkpoint.set(int(id), cap(c.tasks), ns)
		c.digest.touch(r.node)
		return nil
	})
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

// A Grant is what an ask or a job holds until it starts, and what it waits for. See DESIGN.md,
// Waiting grants.
type Grant struct {
	Ask    string    // the key of the ask, or the name of the job
	Places []TaskID  // in the order in which they were given
	Since  time.Time // when it was last planned for; zero: not known
	// Leaving are the keys of the victims of its plan that have not gone, sorted; of a task
	// that moves, the key that it has still.
	Leaving []string
	// Returned are victims of its plan that somebody let run on: it may never be Ready.
	Returned []string
	Ready    bool // Start would succeed now, even if some are leaving still
}

// Grant returns what an ask or a job holds, if it holds anything. The cost is linear in the
// tasks of its nodes.
func (c *Cluster) Grant(ask string) (Grant, bool) {
	row, ok := c.askIDs[ask]
	if !ok {
		return Grant{}, false
	}
	a := &c.asks[row]
	g := Grant{Ask: ask, Ready: c.hindrance(row).kind == ready}
	if a.dated {
		g.Since = time.Unix(0, a.since).UTC()
	}
	for _, number := range a.grants {
		held := c.numbered(number)
		g.Places = append(g.Places, held.task)
		if id, there := c.Lookup(held.mover); there {
			g.Leaving = append(g.Leaving, c.tasks[id].key)
		}
	}
	for v := range c.victimsOf(row) {
		if r := &c.tasks[v.task]; r.state.leaving() {
			g.Leaving = append(g.Leaving, r.key)
		} else {
			g.Returned = append(g.Returned, r.key)
		}
	}
	slices.Sort(g.Leaving)
	slices.Sort(g.Returned)
	return g, true
}

// Grants yields what asks and jobs hold, by their oldest grants.
func (c *Cluster) Grants() iter.Seq[Grant] {
	return func(yield func(Grant) bool) {
		for i := range c.grants {
			if a := &c.asks[c.grants[i].ask]; a.grants[0] == c.grants[i].number {
				if g, _ := c.Grant(a.key); !yield(g) {
					return
				}
			}
		}
	}
}

// Marked yields the keys of the tasks that are [Preempting], and when that was decided
// ([Change.At]); zero if that is not known, as of a task that was set so. The oldest come first,
// equal ones by key. After a restart stop them again. The cost is linear in tasks.
func (c *Cluster) Marked() iter.Seq2[string, time.Time] {
	return func(yield func(string, time.Time) bool) {
		var all []TaskID
		for id := range c.Tasks() {
			if c.tasks[id].state == Preempting {
				all = append(all, id)
			}
		}
		slices.SortFunc(all, func(a, b TaskID) int {
			return cmp.Or(cmp.Compare(c.told.at(int(a)), c.told.at(int(b))), strings.Compare(c.tasks[a].key, c.tasks[b].key))
		})
		for _, id := range all {
			if !yield(c.tasks[id].key, c.toldOf(id)) {
				return
			}
		}
	}
}

// victimsOf yields the victims of the plans for an ask that have not gone.
func (x *askBook) victimsOf(ask int32) iter.Seq[waitVictim] {
	return func(yield func(waitVictim) bool) {
		last := int32(0) // those of one plan follow each other
		for _, number := range x.asks[ask].grants {
			w := x.numbered(number).wait
			if w == 0 || w == last {
				continue
			}
			last = w
			for _, v := range x.waits[w].victims {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// Reserve grants an ask a place that you have found yourself at the instant now. It counts as
// usage from now on. Room is not asked; see [Cluster.Admits]. Errors are those of
// [Cluster.AddTask], an ask that holds a grant already, and one that has the name of a job that
// holds grants.
func (c *Cluster) Reserve(a *Ask, node NodeID, now time.Time) (TaskID, error) {
	since, dated, err := stamp(now, flagScheduled)
	if err != nil {
		return 0, fmt.Errorf("victims: grant for %q: %w", a.Key, err)
	}
	if err := c.checkName(a.Key, false); err != nil {
		return 0, err
	}
	t := a.task(node)
	id, err := c.insert(&t)
	if err != nil {
		return 0, err
	}
	c.joinAsk(id, a.Key, "", 0)
	row := &c.asks[c.grantOf(id).ask]
	row.since, row.dated = since, dated != 0
	c.changed()
	return id, nil
}

// Start turns all grants of an ask or a job into tasks that run, scheduled now: all or none.
// On each node they must fit what is free now, together, without them and without grants that
// were given there later to others; and every max with all of them. Victims that were taken as
// blockers or for an allowance, and tasks that move to its place, must have gone, wherever they
// are; others may be leaving elsewhere still. Of a job as many members as it needs must run or
// hold a grant. To start a member anyhow use [Cluster.SetTask].
//
// An ask that must wait is [ErrRoom], and the error names what for: try again when something
// has left. Blockers and Predicate are not asked. The cost is linear in the tasks of its nodes.
// See DESIGN.md, Grants.
func (c *Cluster) Start(ask string, now time.Time) error {
	row, ok := c.askIDs[ask]
	if !ok {
		return fmt.Errorf("victims: start of %q: it holds no grant: %w", ask, ErrUnknown)
	}
	ns, ok := nanos(now)
	if !ok {
		return fmt.Errorf("victims: start of %q: %v: %w", ask, now, ErrRange)
	}
	if h := c.hindrance(row); h.kind != ready {
		return fmt.Errorf("victims: start of %q: %s: %w", ask, c.describe(row, h), ErrRoom)
	}
	for a := &c.asks[row]; len(a.grants) > 0; {
		c.start(c.numbered(a.grants[0]).task, ns)
	}
	c.changed()
	return nil
}

// start turns a grant into a task that runs.
func (c *Cluster) start(id TaskID, now int64) {
	c.dropGrant(c.tasks[id].scheduled)
	c.setState(id, Running)
	r := &c.tasks[id]
	r.scheduled = now
	r.flags = r.flags.set(flagScheduled, true)
}

// StartReady starts every ask and job that can, the oldest grants first, and returns the keys of
// the tasks that run now. It asks may, if it is not nil, about each of these as it is granted,
// and starts an ask only if all of its may. Whether a node is schedulable does not count.
func (c *Cluster) StartReady(now time.Time, may func(*Task) bool) (started []string, err error) {
	ns, ok := nanos(now)
	if !ok {
		return nil, fmt.Errorf("victims: start at %v: %w", now, ErrRange)
	}
	for i := 0; i < len(c.grants); {
		row := c.grants[i].ask
		if c.asks[row].grants[0] != c.grants[i].number || c.hindrance(row).kind != ready || !c.may(row, may) {
			i++
			continue
		}
		for a := &c.asks[row]; len(a.grants) > 0; {
			id := c.numbered(a.grants[0]).task
			started = append(started, c.tasks[id].key)
			c.start(id, ns)
		}
	}
	if len(started) > 0 {
		c.changed()
	}
	return started, nil
}

// may asks a function about all grants of an ask.
func (c *Cluster) may(ask int32, may func(*Task) bool) bool {
	for _, number := range c.asks[ask].grants {
		if may == nil {
			break
		}
		if t := c.TaskView(c.numbered(number).task); !may(&t) {
			return false
		}
	}
	return true
}

// Drop takes the grants of an ask or a job back, or that of one member. Victims go on leaving.
// Use it if the ask or the member was given up, or if stops cannot be taken back. Places for
// tasks that move stay.
func (c *Cluster) Drop(key string) error {
	if row, ok := c.askIDs[key]; ok {
		c.dropAll(row)
	} else {
		id, ok := c.LookupGrant(key)
		if !ok {
			return fmt.Errorf("victims: grant of %q: %w", key, ErrUnknown)
		}
		c.remove(id)
	}
	c.changed()
	return nil
}

// dropAll takes the grants of an ask back.
func (c *Cluster) dropAll(ask int32) {
	for a := &c.asks[ask]; len(a.grants) > 0; {
		c.remove(c.numbered(a.grants[0]).task)
	}
}

// Cancel takes back what is left of the plans for an ask or a job whose victims were told: its
// grants are dropped, and victims that have not gone run on and are given back to their budgets,
// but those that another ask of the plan, or a grant that others hold, needs. It returns the keys
// of those that run on, sorted. A task that moves runs on as well, and its place is dropped.
//
// Use it if victims do not stop in time, and only if they can still be told to run on. A victim
// that is [Releasing] goes on leaving. If a stop cannot be undone, as of a deleted pod, use
// [Cluster.Drop].
func (c *Cluster) Cancel(ask string) (unmarked []string, err error) {
	row, ok := c.askIDs[ask]
	if !ok {
		return nil, fmt.Errorf("victims: cancel of %q: it holds no grant: %w", ask, ErrUnknown)
	}
	var told []TaskID
	for v := range c.victimsOf(row) {
		if c.tasks[v.task].state != Releasing {
			told = append(told, v.task)
		}
	}
	c.dropAll(row)
	slices.SortFunc(told, func(a, b TaskID) int { return strings.Compare(c.tasks[a].key, c.tasks[b].key) })
	for _, id := range told {
		r := &c.tasks[id]
		if r.state == Preempting {
			if w, _ := c.placeOf(id); w != 0 || c.needed(id) {
				continue // others wait for it
			}
			c.setState(id, Running)
			c.spend(id, -1)
			unmarked = append(unmarked, r.key)
		}
		c.stay(r.key)
	}
	c.changed()
	return unmarked, nil
}

// stay drops the place of a task that does not move after all.
func (c *Cluster) stay(mover string) {
	for i := range c.grants {
		if c.grants[i].mover == mover {
			c.remove(c.grants[i].task)
			return
		}
	}
}

// needed reports whether a grant needs the room that a victim is to leave: on its node, or under
// a max.
func (x *index) needed(id TaskID) bool {
	r := &x.tasks[id]
	wanted := func(t int, in func(*taskRow) bool) bool {
		return slices.ContainsFunc(x.grants, func(g grantRow) bool { return x.size(g.task)[t] > 0 && in(&x.tasks[g.task]) })
	}
	coming := x.row(x.coming, r.node)
	for t, v := range x.size(id) {
		if v == 0 {
			continue
		}
		if v > coming[t] && wanted(t, func(g *taskRow) bool { return g.node == r.node }) {
			return true
		}
		for q := range x.tree.Ancestors(r.leaf) {
			bound, ok := x.tree.Max(q).Bound(t)
			used := x.tree.Usage(q)[t] - x.tree.Leaving(q)[t]
			if ok && v > bound-used && wanted(t, func(g *taskRow) bool { return x.tree.Contains(q, g.leaf) }) {
				return true
			}
		}
	}
	return false
}

// Admits reports whether a task of some size and leaf may be placed on a node now, by
// other means than a plan: it fits what is free and every max above it, without what is
// granted or still leaving. Whether the node is schedulable or reserved does not count. A
// queue that is no leaf, or a closed node, admits nothing. The cost is depth·types.
func (x *index) Admits(size resources.Vector, leaf queue.ID, node NodeID) bool {
	// What is no size or no leaf has no room anywhere: a question is no error.
	if x.nodeOf(node).closed() || x.checkLeaf(leaf) != nil || x.checkSize(size) != nil {
		return false
	}
	for t, v := range size[:min(len(size), x.types)] {
		// Only what is wanted counts: a node that is over-committed in gpus takes a
		// task without any.
		if v == 0 {
			continue
		}
		if v > x.row(x.present, node)[t] {
			return false
		}
		for q := range x.tree.Ancestors(leaf) {
			if bound, ok := x.tree.Max(q).Bound(t); ok && v > bound-x.tree.Usage(q)[t] {
				return false
			}
		}
	}
	return true
}
