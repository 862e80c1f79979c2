package victims

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/go-preempt/preempt/queue"
)

// Methods that only read a cluster may be called by several goroutines at the
// same time, as long as none changes it: those of this file, [Cluster.Node] and
// those beside it, the tree's, [Cluster.Clone], and decisions of planners.

// Lookup returns the row of the task with the given key. Grants are not tasks.
func (x *taskTable) Lookup(key string) (TaskID, bool) {
	id, ok := x.keys.find(x.tasks, x.keys.hash(key), key)
	return id, ok && x.tasks[id].state != Granted
}

// LookupGrant returns the row of the grant that the ask with the given key
// holds.
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

// grantByKey returns the row of a grant, or says that there is none.
func (x *taskTable) grantByKey(key string) (TaskID, error) {
	id, ok := x.LookupGrant(key)
	if !ok {
		return 0, fmt.Errorf("victims: grant of %q: %w", key, ErrUnknown)
	}
	return id, nil
}

// rowOf returns the row of a task or grant. It panics if there is none.
func (x *taskTable) rowOf(id TaskID) *taskRow {
	if uint(id) >= uint(len(x.tasks)) || !x.tasks[id].flags.has(flagLive) {
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

// Task returns a copy of the task, or of the granted ask, of a row. Its times
// are in UTC. It allocates; see [Cluster.ReadTask].
func (x *taskTable) Task(id TaskID) Task {
	t := x.TaskView(id)
	t.Size = slices.Clone(t.Size)
	t.Budgets = slices.Clone(t.Budgets)
	return t
}

// ReadTask sets dst to what [Cluster.Task] returns. Size and Budgets are copies
// in the memory of dst, so that to read many tasks into the same dst allocates
// nothing once it is warm.
func (x *taskTable) ReadTask(dst *Task, id TaskID) {
	size, budgets := dst.Size[:0], dst.Budgets[:0]
	*dst = x.TaskView(id)
	dst.Size = append(size, dst.Size...)
	dst.Budgets = append(budgets, dst.Budgets...)
}

// TaskView returns the task, or the granted ask, of a row without allocating.
// Its Size and Budgets are memory of the cluster: they must not be changed, and
// they say something else after the next change. It is for loops over many
// tasks that only look; what is kept, or given back to the cluster, is a
// [Cluster.Task]. If a field or two will do, [Cluster.Key] and its like are
// quicker.
func (x *taskTable) TaskView(id TaskID) Task {
	r := x.rowOf(id)
	t := Task{
		Key: r.key, Application: x.apps.name(r.app), Queue: r.leaf, Node: r.node,
		Size: x.size(id), Priority: r.priority, State: r.state,
		Originator:   r.flags.has(flagOriginator),
		OptedOut:     r.flags.has(flagOptedOut),
		RequiredNode: r.flags.has(flagRequiredNode),

		Job:            x.jobs.name(r.job),
		NonPreemptible: r.flags.has(flagNonPreemptible),

		Name: x.names.at(int(id)),
		Tag:  x.tags.at(int(id)),
		Cost: x.costs.at(int(id)),

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

// Head returns the head of a task or grant.
func (x *taskTable) Head(id TaskID) Head {
	r := x.rowOf(id)
	return Head{
		Size: x.size(id), Created: r.created, Queue: r.leaf, Node: r.node, Priority: r.priority, State: r.state,
		Originator:     r.flags.has(flagOriginator),
		OptedOut:       r.flags.has(flagOptedOut),
		RequiredNode:   r.flags.has(flagRequiredNode),
		NonPreemptible: r.flags.has(flagNonPreemptible),

		HasCreated: r.flags.has(flagCreated), HasJob: r.job != 0, HasBudgets: x.budgetSet.at(int(id)) != 0,
	}
}

// Key returns the key of a task or grant.
func (x *taskTable) Key(id TaskID) string { return x.rowOf(id).key }

// NodeOf returns the node of a task or grant.
func (x *taskTable) NodeOf(id TaskID) NodeID { return x.rowOf(id).node }

// State returns what a task is doing; for a grant it is [Granted].
func (x *taskTable) State(id TaskID) State { return x.rowOf(id).state }

// Scheduled returns when a task was placed, and the zero time for one that was
// not and for a grant.
func (x *taskTable) Scheduled(id TaskID) time.Time { return x.rowOf(id).scheduledAt() }

func (r *taskRow) scheduledAt() time.Time {
	if !r.flags.has(flagScheduled) {
		return time.Time{}
	}
	return time.Unix(0, r.scheduled).UTC()
}

// Tag returns what the caller has put into the Tag of a task or ask.
func (x *taskTable) Tag(id TaskID) uint64 {
	x.rowOf(id)
	return x.tags.at(int(id))
}

// Job returns the gang that a task or grant is a member of, or "".
func (x *taskTable) Job(id TaskID) string { return x.jobs.name(x.rowOf(id).job) }

// Tasks yields the tasks and grants of the cluster in the order of their rows,
// which depends on the history of additions and removals.
func (x *taskTable) Tasks() iter.Seq[TaskID] {
	return func(yield func(TaskID) bool) {
		for id := range x.tasks {
			if x.tasks[id].flags.has(flagLive) && !yield(TaskID(id)) {
				return
			}
		}
	}
}

// TasksIn yields the tasks and grants of a queue, which has some only if it
// is a leaf. Their order depends on the history of additions and removals.
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
