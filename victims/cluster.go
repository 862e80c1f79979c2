// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Cluster indexes queues, nodes and tasks for decisions.
//
// An error changes nothing. An unknown key or name wraps [ErrUnknown], a bad amount, and a time outside of 1678 to 2261
// that is not zero, [ErrInvalid]. An unknown ID panics. Do not change views, nor keep
// them over a change.
//
// One goroutine may change a cluster while no other uses it. Else any number may read it, and decide with a
// planner each. The zero Cluster can only be copied into.
type Cluster struct {
	index               // what there is
	history             // which state this is, and the way back
	view    *queue.Tree // shows the tree, of which the cluster is the owner
	// Of the tasks of a node, while it is synced: false for a key that is listed, true
	// for one that is as it should be.
	synced map[string]bool
	places []changePlace // of the decision that is applied
}

// NewCluster returns a cluster without nodes and tasks. It takes the tree over: only the cluster changes it. It
// panics without a tree, and for one that has usage or another owner.
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

// Tree returns the queues with their usage. It shows later changes, and is read-only (queue.ErrReadOnly).
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

// SetGuarantees sets all guarantees to shares as one change; see [queue.FairShares.SetGuarantees].
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

// SetTree replaces the queues by another tree, which the cluster takes over. Queues and types of the same path
// and name are the same; all else stays. Look up the queue IDs of kept asks and tasks again.
//
// Errors are used leaves that are none now (ErrInvalid), a type that the tree lacks (queue.ErrConfig), usage in it
// (ErrState), and a tree of another cluster (queue.ErrReadOnly). The cost is linear in tasks, nodes and queues.
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

// SetBudget adds or replaces a budget, before or after tasks name it. If your number still counts marked tasks as
// running, take what they draw off Left. Errors are an empty name, and a Left below -2^62.
func (c *Cluster) SetBudget(name string, b Budget) error {
	c.made()
	if err := checkBudget(name, b); err != nil {
		return err
	}
	c.setBudget(name, b)
	c.journal.all()
	c.changed()
	return nil
}

func checkBudget(name string, b Budget) error {
	switch {
	case name == "":
		return fmt.Errorf("victims: budget %q: %w", name, invalid.Empty)
	case b.Left < leastLeft:
		return fmt.Errorf("victims: budget %q: left %d: %w", name, b.Left, invalid.Range)
	}
	return nil
}

// RemoveBudget removes a budget that no task or grant names; else the error wraps ErrState.
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

// SetMinMembers says how many members a running job needs. Members above it go one by one, below it the whole job. 0,
// the default, lets each go by itself. The number stays, also without tasks. Errors are an empty name, and a number out
// of range.
func (c *Cluster) SetMinMembers(job string, members int) error {
	c.made()
	if err := checkMinimum(job, members); err != nil {
		return err
	}
	c.setMinimum(job, int32(members))
	c.journal.all()
	c.changed()
	return nil
}

func checkMinimum(job string, members int) error {
	switch {
	case job == "":
		return fmt.Errorf("victims: minimum of job %q: %w", job, invalid.Empty)
	case members < 0 || members > math.MaxInt32:
		return fmt.Errorf("victims: minimum of job %q: %d: %w", job, members, invalid.Range)
	}
	return nil
}

// Clone returns an independent copy with the same tree, version and IDs, and nothing to undo. Until either
// changes, plans for one apply to the other.
func (c *Cluster) Clone() *Cluster {
	d := new(Cluster)
	d.CopyFrom(c)
	return d
}

// CopyFrom is [Cluster.Clone] into the memory of c.
func (c *Cluster) CopyFrom(from *Cluster) {
	from.made()
	if c == from {
		return
	}
	other := c.version != from.version
	c.index.copyFrom(&from.index)
	c.history.follow(&from.history)
	c.journal.copied = from.seen()
	if other { // than refusals of before have seen
		c.journal.all()
	}
	if c.view == nil {
		c.view = new(queue.Tree)
	}
	trees.Show(c.tree, c.view)
}

// The kinds of errors of this package. Errors wrap one of them, and name the thing and
// its value.
var (
	ErrInvalid   = invalid.Err                       // an empty name, -1, the year 2400, a queue with children: a bug of the caller
	ErrDuplicate = errors.New("duplicate key")       // a name that is taken, a victim named twice
	ErrUnknown   = errors.New("unknown")             // no task, grant, node or queue has the name or number
	ErrState     = errors.New("wrong state")         // a victim that leaves, a budget in use to remove, nothing to undo
	ErrStale     = errors.New("cluster has changed") // a plan for another version or cluster
	ErrRoom      = errors.New("no room")             // Start must wait, a grant on a closed node
)

// AddNode adds a node, last in node order, and returns its ID. A closed one opens, with its tasks. Errors are
// a name that is empty or taken, a negative capacity, and capacities beyond int64.
func (c *Cluster) AddNode(n *Node) (NodeID, error) {
	c.made()
	if n.Name == "" {
		return 0, fmt.Errorf("victims: node %q: %w", n.Name, invalid.Empty)
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
	id = c.nodeRowOf(n.Name)
	c.openNode(id)
	c.setNode(id, n)
	c.journal.all()
	c.changed()
	return id, nil
}

// nodeRowOf returns the row of the node with a name. A new one is absent.
func (c *Cluster) nodeRowOf(name string) NodeID {
	id, known := c.nodeIDs[name]
	if !known {
		id = c.newNode(name)
	}
	return id
}

// openNode makes a node that was absent one that is there, last in node order.
func (c *Cluster) openNode(id NodeID) {
	c.nodeSeq++
	c.nodes[id].seq = c.nodeSeq
	c.nodes[id].absent = false
	if !c.nodes[id].blind {
		c.show(id, true)
	}
}

// UpdateNode replaces what is known of a node, but for tasks and place in order.
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

// An Orphan is an ask, or a member of a job, whose grant has gone with its node. Decide again, or give up by
// [Cluster.Drop]. Its queues use less: decide other refused asks again, too.
type Orphan struct {
	Ask    string // the key of the ask, or the name of the job
	Member string // its key; "" for a lone ask
}

// RemoveNode removes a node, down or gone; while it has tasks it is closed. Its grants end, those of movers too; it
// returns whose, in the order of giving. Marks of victims stay. The cost is linear in nodes and grants.
func (c *Cluster) RemoveNode(name string) (orphans []Orphan, err error) {
	id, ok := c.nodeIDs[name]
	if !ok || c.nodes[id].absent && len(c.nodes[id].tasks) > 0 {
		return nil, fmt.Errorf("victims: node %q: %w", name, ErrUnknown)
	}
	orphans = c.takeNode(id)
	c.journal.all()
	c.changed()
	return orphans, nil
}

// takeNode takes a node away, and returns whose grants have gone with it.
func (c *Cluster) takeNode(id NodeID) (orphans []Orphan) {
	orphans = c.endGrants(id)
	n := &c.nodes[id]
	c.setNode(id, &Node{})
	if !n.closed() {
		c.show(id, false)
	}
	n.absent = true
	if len(n.tasks) == 0 { // what else there was has gone with it
		n.blind = false
		c.setUnknown(id, nil)
	}
	c.leaveNode(id)
	return orphans
}

// DropOn ends the grants on a dead node that is still listed, as [Cluster.RemoveNode] does. Make it
// Unschedulable first. The cost is linear in grants.
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

// AddTask adds a copy of a task, in place of a grant of its key, and returns its ID. Room is not asked.
//
// Errors are a key that is empty or in use, a queue that is no leaf, no node or an unknown one, a budget
// without a name or named twice, and values out of range.
func (c *Cluster) AddTask(t *Task) (TaskID, error) {
	if t.State >= Granted {
		return 0, fmt.Errorf("victims: task %q: state %v: %w", t.Key, t.State, ErrState)
	}
	id, err := c.insert(t)
	return id, c.did(err)
}

// SetTask makes a task be as given: new, moved or changed. A mark to leave stays unless State is another way to leave.
// It takes the place of a grant of its key. Its ID stays. Errors are those of [Cluster.AddTask] but for a key in use.
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

// SetState changes the state of a task: it is leaving, or runs after all. Granted wraps ErrState.
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
		if err := invalid.Cost(cost); err != nil {
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

// Admits reports whether a task may be placed on a node now, without a plan: it fits what is free and every max
// above. It ignores if the node is schedulable or reserved. A queue that is no leaf, or a closed node, admits
// nothing. The cost is depth·types.
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

// What lists of what there is make of a cluster: of one node, or of all.

// A NotTaken is a task that a sync could not take.
type NotTaken struct {
	Index int   // in the list of tasks
	Err   error // as SetTask would return it
}

// Synced is what came of [Cluster.Sync] or [Cluster.SyncNode].
type Synced struct {
	NotTaken []NotTaken // in the order of the list
	// Started has the keys of tasks that held grants, in the order of the list.
	Started []string
	// Removed has the keys of tasks that were not listed, sorted.
	Removed []string
	// Orphans are those whose grants have gone with nodes, node by node.
	Orphans []Orphan
}

// SyncNode makes the tasks of a node exactly these, each as by [Cluster.SetTask]; it ignores their Node and NodeName.
// Others are removed; grants stay. An unknown node becomes a closed one. The room of tasks that it cannot take stays
// taken until the next sync; if a size is bad, the node is closed. An empty name is an error. The cost is one change
// per task.
func (c *Cluster) SyncNode(node string, tasks []Task) (Synced, error) {
	c.made()
	if node == "" {
		return Synced{}, fmt.Errorf("victims: sync of node %q: %w", node, invalid.Empty)
	}
	if _, known := c.nodeIDs[node]; !known {
		if err := c.checkNodes(); err != nil {
			return Synced{}, fmt.Errorf("victims: sync of node %q: %w", node, err)
		}
	}
	id := c.nodeRowOf(node)
	c.setUnknown(id, nil)
	if c.synced == nil {
		c.synced = make(map[string]bool)
	}
	for i := range tasks {
		c.synced[tasks[i].Key] = false
	}
	var dst Synced
	dst.Removed = c.keepOnly(id, c.synced)
	for i := range tasks {
		t := tasks[i]
		t.Node, t.NodeName = id, ""
		c.syncListed(&dst, i, &t, c.synced)
	}
	clear(c.synced)
	c.distrust(id, tasks, dst.NotTaken)
	c.leaveNode(id)
	c.journal.node(id)
	c.changed()
	return dst, nil
}

// syncListed puts a task of a list, unless it was done already, and notes what came of it.
func (c *Cluster) syncListed(dst *Synced, i int, t *Task, done map[string]bool) (ok bool) {
	_, granted := c.LookupGrant(t.Key)
	if err := c.syncTask(t, done[t.Key]); err != nil {
		dst.NotTaken = append(dst.NotTaken, NotTaken{Index: i, Err: err})
		return false
	}
	if done[t.Key] = true; granted {
		dst.Started = append(dst.Started, t.Key)
	}
	return true
}

// A Listing is all that there is, in any order. Tasks may name unknown nodes and budgets.
type Listing struct {
	Nodes    []Node            // known ones keep their place in node order, others come last
	Tasks    []Task            // without grants
	Budgets  map[string]Budget // nil: they stay as they are
	Minimums map[string]int    // by job; nil: they stay as they are
}

// Sync makes a cluster be as listed, as one change: for a resync, or after [Load]. What is not listed goes:
// tasks, nodes as by [Cluster.RemoveNode], budgets and minimums. Marks, minimums from grants, and grants on
// other nodes stay.
//
// Errors are those of nodes, budgets and minimums. The cost is one change per task, node and budget.
func (c *Cluster) Sync(l Listing) (Synced, error) {
	c.made()
	if err := c.checkListing(&l); err != nil {
		return Synced{}, err
	}
	dst := Synced{Removed: c.keepTasks(l.Tasks)}
	listed := c.syncNodes(l.Nodes)
	c.syncTasks(&dst, l.Tasks)
	for n := range c.nodes {
		if id := NodeID(n); c.nodes[n].live && !c.nodes[n].absent && !listed[id] {
			dst.Orphans = append(dst.Orphans, c.takeNode(id)...)
		}
	}
	if l.Budgets != nil {
		c.keepBudgets(l.Budgets)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Budgets)) {
		c.setBudget(name, l.Budgets[name])
	}
	if l.Minimums != nil {
		c.keepMinimums(l.Minimums)
	}
	for _, job := range slices.Sorted(maps.Keys(l.Minimums)) {
		c.setMinimum(job, int32(l.Minimums[job]))
	}
	c.journal.all()
	c.changed()
	return dst, nil
}

// checkListing reports what is wrong with a listing but for its tasks.
func (c *Cluster) checkListing(l *Listing) error {
	seen := make(map[string]bool, len(l.Nodes))
	sum := make(resources.Vector, c.types)
	for i := range l.Nodes {
		n := &l.Nodes[i]
		switch {
		case n.Name == "":
			return fmt.Errorf("victims: node %q: %w", n.Name, invalid.Empty)
		case seen[n.Name]:
			return fmt.Errorf("victims: node %q: %w", n.Name, ErrDuplicate)
		}
		seen[n.Name] = true
		if err := c.checkSize(n.Capacity); err != nil {
			return fmt.Errorf("victims: node %q: capacity %w", n.Name, err)
		}
		for t := range sum {
			if sum[t] += n.Capacity.At(t); sum[t] < 0 {
				return fmt.Errorf("victims: node %q: capacity of all nodes: %s: %w", n.Name, c.Schema().Name(t), invalid.Range)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Budgets)) {
		if err := checkBudget(name, l.Budgets[name]); err != nil {
			return err
		}
	}
	for _, job := range slices.Sorted(maps.Keys(l.Minimums)) {
		if err := checkMinimum(job, l.Minimums[job]); err != nil {
			return err
		}
	}
	return nil
}

// keepTasks removes the tasks that are not listed, and returns their keys, sorted.
func (c *Cluster) keepTasks(tasks []Task) (removed []string) {
	listed := make(map[string]bool, len(tasks))
	for i := range tasks {
		listed[tasks[i].Key] = true
	}
	for id := range c.Tasks() {
		if r := &c.tasks[id]; r.state != Granted && !listed[r.key] {
			removed = append(removed, r.key)
		}
	}
	slices.Sort(removed)
	for _, key := range removed {
		id, _ := c.Lookup(key)
		c.remove(id)
	}
	return removed
}

// syncNodes makes nodes be as listed, and returns which these are.
func (c *Cluster) syncNodes(nodes []Node) (listed map[NodeID]bool) {
	listed = make(map[NodeID]bool, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		id := c.nodeRowOf(n.Name)
		if c.nodes[id].absent {
			c.openNode(id)
		}
		c.setNode(id, n)
		listed[id] = true
	}
	return listed
}

// syncTasks puts tasks on their nodes. What was unknown of nodes is known then, but for tasks
// that could not be put.
func (c *Cluster) syncTasks(dst *Synced, tasks []Task) {
	for n := range c.nodes {
		if c.nodes[n].live {
			c.distrust(NodeID(n), nil, nil)
		}
	}
	done := make(map[string]bool, len(tasks))
	not := map[NodeID][]NotTaken{}
	for i := range tasks {
		t := tasks[i]
		if t.NodeName != "" {
			t.Node, t.NodeName = c.nodeRowOf(t.NodeName), ""
		}
		if c.syncListed(dst, i, &t, done) {
			continue
		}
		if id, there := c.Lookup(t.Key); there && !done[t.Key] {
			c.delete(id) // it is not where it was either
		}
		if 0 < t.Node && int(t.Node) < len(c.nodes) && c.nodes[t.Node].live {
			not[t.Node] = append(not[t.Node], dst.NotTaken[len(dst.NotTaken)-1])
			c.distrust(t.Node, tasks, not[t.Node])
		}
	}
	for n := range c.nodes {
		if c.nodes[n].live {
			c.leaveNode(NodeID(n))
		}
	}
}
