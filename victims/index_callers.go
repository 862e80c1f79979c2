// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// The index as callers see it: what comes into a cluster is checked here, before anything changes,
// and tasks are read.

// parse checks a task, or a grant, that is to be added and returns its ID,
// without its application, job and lists. Old is the amounts that its key has
// already, which make place. Nothing is changed before everything is checked.
func (x *index) parse(t *Task, old resources.Vector) (taskRow, error) {
	r := taskRow{key: t.Key, leaf: t.Queue, priority: t.Priority, state: t.State, flags: flagLive}
	if err := x.parseInto(&r, t, old); err != nil {
		return taskRow{}, fmt.Errorf("victims: task %q: %w", t.Key, err)
	}
	r.flags = r.flags.set(flagOriginator, t.Originator).set(flagOptedOut, t.OptedOut).
		set(flagRequiredNode, t.RequiredNode).set(flagNonPreemptible, t.NonPreemptible).set(flagMovable, t.Movable)
	return r, nil
}

// parseInto sets the node and the times of a row.
func (x *index) parseInto(r *taskRow, t *Task, old resources.Vector) (err error) {
	if r.node, err = x.checkTask(t, old); err != nil {
		return err
	}
	var created, scheduled, saved flags
	if r.created, created, err = stamp(t.Created, flagCreated); err != nil {
		return err
	}
	if r.scheduled, scheduled, err = stamp(t.Scheduled, flagScheduled); err != nil {
		return err
	}
	if _, saved, err = stamp(t.Checkpoint, flagCheckpoint); err != nil {
		return fmt.Errorf("checkpoint %w", err)
	}
	if _, _, err = stamp(t.SparedUntil, 0); err != nil {
		return fmt.Errorf("spared until %w", err)
	}
	r.flags |= created | scheduled | saved
	return nil
}

// checkTask returns the node of a task, and what keeps it from being added, but
// for its times.
func (x *index) checkTask(t *Task, old resources.Vector) (NodeID, error) {
	// The empty key would be found by every ask that forgot its own.
	if t.Key == "" {
		return 0, invalid.Empty
	}
	if err := x.checkLeaf(t.Queue); err != nil {
		return 0, err
	}
	node, err := x.checkNode(t)
	if err != nil {
		return 0, err
	}
	// Rows have 32 bits. Tasks and grants share them, and so do their keys.
	if x.keys.used == math.MaxInt32 {
		return 0, fmt.Errorf("more than %d tasks: %w", math.MaxInt32, invalid.Range)
	}
	if err := x.checkAmounts(t.Size, old); err != nil {
		return 0, err
	}
	return node, checkStop(&Member{Cost: t.Cost, Preemptions: t.Preemptions, Budgets: t.Budgets})
}

// checkNode returns the node of a task, or noNode if it names a node that is not
// there yet: such a task is taken, and its node is made closed, for events of nodes
// and tasks may come in any order. A closed node takes no grant.
func (x *index) checkNode(t *Task) (NodeID, error) {
	// A name goes before a row: whoever gives one has it from an event, and the
	// row is zero then.
	id := t.Node
	if t.NodeName != "" {
		named, ok := x.nodeIDs[t.NodeName]
		if !ok {
			return noNode, x.checkNodes()
		}
		id = named
	}
	if id == noNode {
		return 0, fmt.Errorf("it names no node: %w", invalid.Empty)
	}
	if id < 0 || int(id) >= len(x.nodes) || !x.nodes[id].live {
		return 0, fmt.Errorf("node %d: %w", id, ErrUnknown)
	}
	// What runs there is told and must be taken. A grant is a promise, and a
	// closed node can keep none.
	if n := &x.nodes[id]; t.State == Granted && n.closed() {
		return 0, fmt.Errorf("node %q: it is closed: %w", n.name, ErrRoom)
	}
	return id, nil
}

// checkNodes reports that there is no row left for one more node.
func (x *index) checkNodes() error {
	if len(x.nodes) > math.MaxInt32 && len(x.freeNodes) == 0 {
		return fmt.Errorf("more than %d nodes: %w", math.MaxInt32, invalid.Range)
	}
	return nil
}

// checkStop reports what is wrong with what is said of stopping a task, of which a member has all.
func checkStop(m *Member) error {
	if err := invalid.Cost(m.Cost); err != nil {
		return err
	}
	if m.Preemptions < 0 || m.Preemptions > math.MaxInt32 {
		return fmt.Errorf("preemptions %d: %w", m.Preemptions, invalid.Range)
	}
	return invalid.Budgets(m.Budgets, ErrDuplicate)
}

func (x *index) checkLeaf(q queue.ID) error {
	if q < 0 || int(q) >= x.tree.Len() {
		return fmt.Errorf("queue %d: %w", q, ErrUnknown)
	}
	if !x.tree.IsLeaf(q) {
		return fmt.Errorf("queue %s: %w", x.tree.Path(q), invalid.Queue)
	}
	return nil
}

// checkAmounts reports a size that is none, or with which, in place of old,
// the usage of the cluster would leave the range of int64.
func (x *index) checkAmounts(size, old resources.Vector) error {
	if err := x.checkSize(size); err != nil {
		return err
	}
	// The root uses what all queues use, so that no other sum can leave the
	// range before it does. What nodes use without our knowing is added: free
	// space is worked out from both.
	for i, used := range x.tree.Usage(queue.Root) {
		used += x.unknown[i]
		if size.At(i) > math.MaxInt64-(used-old.At(i)) {
			return fmt.Errorf("%s %s and %s in use: %w",
				x.Schema().Name(i), vectors.Text(x.Schema(), i, size.At(i)), vectors.Text(x.Schema(), i, used), invalid.Range)
		}
	}
	return nil
}

// checkCapacity reports a bad capacity of n, which replaces old in the total.
func (x *index) checkCapacity(n *Node, old resources.Vector) error {
	if err := x.checkSize(n.Capacity); err != nil {
		return fmt.Errorf("victims: node %q: capacity %w", n.Name, err)
	}
	for i, v := range x.total {
		// Closed nodes count, since they may open again at any time and nothing
		// is checked then.
		if rest := v + x.hidden[i] - old.At(i); n.Capacity.At(i) > math.MaxInt64-rest {
			return fmt.Errorf("victims: node %q: capacity of all nodes: %s: %w", n.Name, x.Schema().Name(i), invalid.Range)
		}
	}
	return nil
}

// checkSize reports amounts that are negative or of a type that is none.
func (x *index) checkSize(v resources.Vector) error {
	for i, amount := range v {
		switch {
		// A vector may be longer than the schema if the rest is zero: callers
		// share vectors between schemas.
		case i >= x.types && amount != 0:
			return fmt.Errorf("%d of type number %d, and the schema has %d: %w", amount, i+1, x.types, invalid.Amount)
		case amount < 0:
			return fmt.Errorf("%s %s: %w", x.Schema().Name(i), vectors.Text(x.Schema(), i, amount), invalid.Amount)
		}
	}
	return nil
}

// stamp returns a time as nanoseconds since 1970 with the flag for it, and
// neither for the zero time.
func stamp(t time.Time, f flags) (int64, flags, error) {
	ns, ok := rulebook.Nanos(t)
	switch {
	// Zero in the years of int64 is a time like any other, and only the zero
	// Time is none.
	case ok:
		return ns, f, nil
	case t.IsZero():
		return 0, 0, nil
	}
	return 0, 0, fmt.Errorf("time %v: %w", t, invalid.Range)
}

// checkAsk reports what is wrong with an ask.
func (x *index) checkAsk(ask *Ask, now time.Time) error {
	if ask.Key == "" {
		return invalid.Empty
	}
	if len(ask.Members) > 0 {
		return fmt.Errorf("it has members, which package jobs places: %w", ErrState)
	}
	// A task of the same key runs already. It would be its own victim.
	if _, ok := x.Lookup(ask.Key); ok {
		return fmt.Errorf("%w: a task has it", ErrDuplicate)
	}
	if err := x.checkLeaf(ask.Queue); err != nil {
		return err
	}
	if _, ok := rulebook.Nanos(now); !ok {
		return fmt.Errorf("now %v: %w", now, invalid.Range)
	}
	if _, _, err := stamp(ask.PendingSince, 0); err != nil {
		return err
	}
	m := ask.asMember()
	if err := checkStop(&m); err != nil {
		return err
	}
	// An ask that holds a grant is counted already, and must not count twice.
	return x.checkAmounts(ask.Size, x.grantSize(ask.Key))
}

// grantSize returns the amounts that an ask holds already.
func (x *index) grantSize(key string) resources.Vector {
	if id, ok := x.LookupGrant(key); ok {
		return x.size(id)
	}
	return nil
}

// Methods that only read a cluster may be called by several goroutines at the
// same time, as long as none changes it: those of this file, [Cluster.Node] and
// those beside it, the tree's, [Cluster.Clone], and decisions of planners.

// Lookup returns the ID of the task with a key.
func (x *taskTable) Lookup(key string) (TaskID, bool) {
	id, ok := x.keys.find(x.tasks, x.keys.hash(key), key)
	return id, ok && x.tasks[id].state != Granted
}

// LookupGrant returns the ID of the grant with a key.
func (x *taskTable) LookupGrant(key string) (TaskID, bool) {
	id, ok := x.keys.find(x.tasks, x.keys.hash(key), key)
	return id, ok && x.tasks[id].state == Granted
}

// taskByKey returns the row of a task, or says that there is none.
func (x *taskTable) taskByKey(key string) (TaskID, error) {
	id, ok := x.Lookup(key)
	if !ok {
		return 0, fmt.Errorf("victims: task %q: %w", key, ErrUnknown)
	}
	return id, nil
}

// isRow reports whether a task or grant has a row.
func (x *taskTable) isRow(id TaskID) bool {
	return uint(id) < uint(len(x.tasks)) && x.tasks[id].flags.has(flagLive)
}

// rowOf returns the row of a task or grant. It panics if there is none.
func (x *taskTable) rowOf(id TaskID) *taskRow {
	if !x.isRow(id) {
		panic(unknownRow{"task", int(id)})
	}
	return &x.tasks[id]
}

// unknownRow is what the package panics with for a row that a cluster does not
// have. Made into text late, it leaves the checks small enough to be inlined.
type unknownRow struct {
	what string
	row  int
}

func (e unknownRow) Error() string {
	return fmt.Sprintf("victims: no %s has row %d: it is gone, or of another cluster", e.what, e.row)
}

// Task returns a copy of a task or grant, its times in UTC. It allocates. The cost is linear in grants for a
// task that is leaving.
func (x *index) Task(id TaskID) Task {
	t := x.TaskView(id)
	t.Size = slices.Clone(t.Size)
	t.Budgets = slices.Clone(t.Budgets)
	if !t.State.leaving() {
		return t
	}
	if i := slices.IndexFunc(x.grants, func(g grantRow) bool { return g.mover == t.Key }); i >= 0 {
		t.MovesTo = x.nodes[x.tasks[x.grants[i].task].node].name
	}
	return t
}

// TaskView is [Cluster.Task] without allocating, and without MovesTo; Size and Budgets are views.
func (x *taskTable) TaskView(id TaskID) Task {
	r := x.rowOf(id)
	t := Task{
		Key: r.key, Application: x.apps.name(r.app), Queue: r.leaf, Node: r.node,
		Size: x.size(id), Priority: r.priority, State: r.state,
		Originator:   r.flags.has(flagOriginator),
		OptedOut:     r.flags.has(flagOptedOut),
		RequiredNode: r.flags.has(flagRequiredNode),
		Movable:      r.flags.has(flagMovable),

		Job:            x.jobs.name(r.job),
		NonPreemptible: r.flags.has(flagNonPreemptible),

		Name: x.names.at(int(id)),
		Tag:  x.tags.at(int(id)),
		Cost: x.costs.at(int(id)),

		Preemptions: int(x.preempted.at(int(id))),

		SparedUntil: instantOf(x.refused.at(int(id))),

		Class: x.classes.at(int(id)),

		Budgets: x.namesOf(x.budgetSet.at(int(id))),
	}
	if r.flags.has(flagCreated) {
		t.Created = time.Unix(0, r.created).UTC()
	}
	// A grant has a number in that field instead, and no flag, so that it is
	// never read as an instant.
	t.Scheduled = r.scheduledAt()
	if r.flags.has(flagCheckpoint) {
		t.Checkpoint = time.Unix(0, x.checkpoint.at(int(id))).UTC()
	}
	return t
}

// Key returns the key of a task or grant.
func (x *taskTable) Key(id TaskID) string { return x.rowOf(id).key }

// NodeOf returns the node of a task or grant.
func (x *taskTable) NodeOf(id TaskID) NodeID { return x.rowOf(id).node }

// State returns what a task is doing; for a grant it is [Granted].
func (x *taskTable) State(id TaskID) State { return x.rowOf(id).state }

// Scheduled returns when a task was placed; zero: not yet.
func (x *taskTable) Scheduled(id TaskID) time.Time { return x.rowOf(id).scheduledAt() }

func (r *taskRow) scheduledAt() time.Time {
	if !r.flags.has(flagScheduled) {
		return time.Time{}
	}
	return time.Unix(0, r.scheduled).UTC()
}

// Tag returns the Tag of a task or ask.
func (x *taskTable) Tag(id TaskID) uint64 {
	x.rowOf(id)
	return x.tags.at(int(id))
}

// leafOf returns the leaf of all tasks and grants of an application, and whether it has any. It is the root if
// they are in several, or were while it had some.
func (x *taskTable) leafOf(application string) (leaf queue.ID, ok bool) {
	app, ok := x.apps.lookup(application)
	if !ok || app == 0 {
		return 0, false
	}
	return max(x.homes[app], 0), true
}

// Job returns the gang that a task or grant is a member of, or "".
func (x *taskTable) Job(id TaskID) string { return x.jobs.name(x.rowOf(id).job) }

// Tasks yields all tasks and grants in the order of IDs.
func (x *taskTable) Tasks() iter.Seq[TaskID] {
	return func(yield func(TaskID) bool) {
		for id := range x.tasks {
			if x.tasks[id].flags.has(flagLive) && !yield(TaskID(id)) {
				return
			}
		}
	}
}

// TasksIn yields the tasks and grants of a leaf, in no stable order.
func (x *taskTable) TasksIn(q queue.ID) iter.Seq[TaskID] {
	// One comparison for both ends, which keeps the method small enough to be
	// inlined.
	if uint(q) >= uint(len(x.leaves)) {
		panic(unknownRow{"queue", int(q)})
	}
	return slices.Values(x.leaves[q])
}

// TaskLen returns the number of tasks and grants.
func (x *taskTable) TaskLen() int { return x.keys.used }
