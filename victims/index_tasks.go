// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// taskTable is the tasks of a cluster and its grants, row by row, with the names
// that they share and the lists that they are in. A row knows its place in each
// list, so that leaving one costs no search.
type taskTable struct {
	types     int
	tasks     []taskRow
	sizes     []int64 // a block of one amount per task and type
	freeTasks []TaskID
	keys      keyIndex
	leaves    [][]TaskID // the rows of each queue; see taskRow.inLeaf
	evictable []int32    // how many of them may be victims of some ask
	apps      interner
	homes     []queue.ID // by number of an application: the leaf that all its tasks are in, or noLeaf
	jobs      interner
	members   [][]TaskID // the rows of each job, by its number
	running   []int32    // how many of them run and are not leaving
	minimumBook
	budgetBook
	taskColumns
	lastRefused uint64 // no task is refused after that; see toldAt
}

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
	preempted  column[int32] // how often before
	classes    column[int]
	checkpoint column[int64] // nanoseconds since 1970, if flagCheckpoint is set
	budgetSet  column[int32]
	inJob      column[int32]  // its index in Cluster.members[job]
	told       column[uint64] // when a victim was marked, if that is known; see toldAt
	refused    column[uint64] // until when it does not stop, likewise
}

func (c *taskColumns) copyFrom(d *taskColumns) {
	c.names, c.tags, c.costs = reuse(c.names, d.names), reuse(c.tags, d.tags), reuse(c.costs, d.costs)
	c.classes, c.refused = reuse(c.classes, d.classes), reuse(c.refused, d.refused)
	c.checkpoint, c.budgetSet, c.inJob = reuse(c.checkpoint, d.checkpoint), reuse(c.budgetSet, d.budgetSet), reuse(c.inJob, d.inJob)
	c.told, c.preempted = reuse(c.told, d.told), reuse(c.preempted, d.preempted)
}

// Flags are two bytes, so that a row stays within a cache line.
type flags uint16

const (
	flagLive flags = 1 << iota
	flagCreated
	flagScheduled
	flagOriginator
	flagOptedOut
	flagRequiredNode
	flagNonPreemptible
	flagCheckpoint
	flagMovable
)

func (f flags) has(g flags) bool { return f&g != 0 }

// set returns f with g set if on is.
func (f flags) set(g flags, on bool) flags {
	if on {
		return f | g
	}
	return f &^ g
}

func (x *taskTable) init(types, queues int) {
	x.types, x.keys = types, newKeyIndex()
	x.leaves, x.evictable = make([][]TaskID, queues), make([]int32, queues)
}

// newRow returns a row that is free, or a new one.
func (x *taskTable) newRow() TaskID {
	if id, ok := pop(&x.freeTasks); ok {
		return id
	}
	x.tasks = append(x.tasks, taskRow{})
	x.sizes = rows.More(x.sizes, x.types)
	return TaskID(len(x.tasks) - 1)
}

// setRow sets a row that is free to a task. R is checked, and lacks what the
// table gives it.
func (x *taskTable) setRow(id TaskID, t *Task, r *taskRow) {
	// Names are numbers from here on: laws compare applications and jobs for
	// every candidate.
	r.app = x.apps.acquire(t.Application)
	x.house(r.app, t.Queue)
	r.job = x.jobs.acquire(t.Job)
	r.inLeaf = int32(len(x.leaves[t.Queue]))
	x.leaves[t.Queue] = append(x.leaves[t.Queue], id)
	x.tasks[id] = *r
	// Columns before lists: a job's list of members writes into one.
	x.setColumns(id, t)
	x.join(id)
	x.keys.add(x.keys.hash(t.Key), id)
	copySize(x.size(id), t.Size)
}

// noLeaf is the home of an application that has, or had, tasks in several leaves.
const noLeaf queue.ID = -1

// house takes note of the leaf of a task of an application, which counts as used by
// it.
func (x *taskTable) house(app int32, leaf queue.ID) {
	for int(app) >= len(x.homes) {
		x.homes = append(x.homes, noLeaf)
	}
	switch {
	case app == 0:
	case x.apps.uses[app] == 1:
		x.homes[app] = leaf
	// It stays so until all of its tasks have gone: to know better, they would have to
	// be counted by leaf.
	case x.homes[app] != leaf:
		x.homes[app] = noLeaf
	}
}

// removeRow frees a row. Its size stays: the next task of the row replaces it.
func (x *taskTable) removeRow(id TaskID) {
	r := &x.tasks[id]
	var moved TaskID
	x.leaves[r.leaf], moved = swapOut(x.leaves[r.leaf], r.inLeaf)
	x.tasks[moved].inLeaf = r.inLeaf
	// The job's list before its name, which is known by the row.
	x.leave(id)
	x.releaseBudgets(x.budgetSet.at(int(id)))
	x.setColumns(id, &Task{})
	// The key goes last, for until then errors name it.
	x.apps.release(r.app)
	x.releaseJob(r.job)
	x.keys.remove(x.keys.hash(r.key), id)
	x.tasks[id] = taskRow{}
	x.freeTasks = append(x.freeTasks, id)
}

// evictable reports whether a task may be a victim of some ask at all.
func (r *taskRow) evictable() bool {
	return r.state == Running && !r.flags.has(flagRequiredNode)
}

// newest returns the instant from which the work of a task is lost if it is
// stopped: when it was scheduled, or its last checkpoint if that is later. It
// is MaxInt64 if the task was not scheduled yet: that one loses no work, like
// one scheduled in the future.
//
// It is what work counts from, and what digests sort by: one definition serves
// both.
func (x *taskTable) newest(id TaskID) int64 {
	r := &x.tasks[id]
	switch {
	case !r.flags.has(flagScheduled):
		return math.MaxInt64
	case r.flags.has(flagCheckpoint):
		return max(r.scheduled, x.checkpoint.at(int(id)))
	}
	return r.scheduled
}

// lost returns the running time that stopping a task at an instant throws away,
// both in nanoseconds. The difference of two int64 fits uint64, wherever zero
// lies.
func (x *taskTable) lost(id TaskID, now int64) uint64 {
	since := x.newest(id)
	if since > now || !x.tasks[id].flags.has(flagScheduled) {
		return 0
	}
	// Unsigned, since the difference of instants three centuries apart does not
	// fit an int64.
	return uint64(now) - uint64(since)
}

// costOf returns the own cost of a task.
func (x *taskTable) costOf(id TaskID) int64 { return x.costs.at(int(id)) }

// budgetsOf returns the rows of the budgets that a task names, none for most.
func (x *taskTable) budgetsOf(id TaskID) []int32 { return x.rowsOf(x.budgetSet.at(int(id))) }

// spend takes a victim off its budgets, or gives it back.
func (x *taskTable) spend(id TaskID, n int64) { x.takeFrom(x.budgetSet.at(int(id)), n) }

// setColumns sets what few tasks have: those of no task for a row that is freed. Only
// columns in use have memory, so that zeros cost nothing. The checkpoint is in range.
func (x *taskTable) setColumns(id TaskID, t *Task) {
	row, room := int(id), cap(x.tasks)
	x.names.set(row, room, t.Name)
	x.tags.set(row, room, t.Tag)
	x.costs.set(row, room, t.Cost)
	x.preempted.set(row, room, int32(t.Preemptions))
	x.classes.set(row, room, t.Class)
	x.budgetSet.set(row, room, x.acquireBudgets(t.Budgets))
	// The flag tells the zero value from a checkpoint at the epoch.
	ns, _ := rulebook.Nanos(t.Checkpoint)
	x.checkpoint.set(row, room, ns)
	x.told.set(row, room, 0)
	x.refuse(id, toldAt(t.SparedUntil))
}

// refuse notes until when nobody takes a task.
func (x *taskTable) refuse(id TaskID, until uint64) {
	x.refused.set(int(id), cap(x.tasks), until)
	x.lastRefused = max(x.lastRefused, until)
}

// toldAt returns an instant in range as the column has it, 0 for the zero time.
func toldAt(at time.Time) uint64 {
	if at.IsZero() {
		return 0
	}
	ns, _ := rulebook.Nanos(at)
	return uint64(ns) + 1<<63
}

// instantOf returns the instant that toldAt made a number of.
func instantOf(told uint64) time.Time {
	if told == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(told-1<<63)).UTC()
}

// toldOf returns when a task was marked, the zero time if that is not known.
func (x *taskTable) toldOf(id TaskID) time.Time { return instantOf(x.told.at(int(id))) }

// size returns the amounts of a row.
func (x *taskTable) size(id TaskID) resources.Vector {
	return rows.At(x.sizes, int(id), x.types)
}

// copySize sets dst, a row, to size, which may be shorter or longer.
func copySize(dst, size resources.Vector) {
	clear(dst[copy(dst, size):])
}

// copyFrom makes x a copy of y in its own memory.
func (x *taskTable) copyFrom(y *taskTable) {
	x.types = y.types
	x.tasks, x.sizes = reuse(x.tasks, y.tasks), reuse(x.sizes, y.sizes)
	x.freeTasks = reuse(x.freeTasks, y.freeTasks)
	x.keys.copyFrom(&y.keys)
	x.leaves = reuseLists(x.leaves, y.leaves)
	x.evictable = reuse(x.evictable, y.evictable)
	x.apps.copyFrom(&y.apps)
	x.homes = reuse(x.homes, y.homes)
	x.jobs.copyFrom(&y.jobs)
	x.members, x.running = reuseLists(x.members, y.members), reuse(x.running, y.running)
	x.minimumBook.copyFrom(&y.minimumBook)
	x.budgetBook.copyFrom(&y.budgetBook)
	x.taskColumns.copyFrom(&y.taskColumns)
	x.lastRefused = y.lastRefused
}

// membersOf returns the tasks and grants of a job by its number, in an order
// that depends on the history of additions and removals. The number 0 is that
// of no job, which has no members.
func (x *taskTable) membersOf(job int32) []TaskID {
	if int(job) >= len(x.members) {
		return nil
	}
	return x.members[job]
}

// JobTasks yields the tasks and grants of a job, in no stable order.
func (x *taskTable) JobTasks(job string) iter.Seq[TaskID] {
	number, _ := x.jobs.lookup(job)
	return slices.Values(x.membersOf(number))
}

// A minimumBook knows how many members each job needs, by its number.
type minimumBook struct {
	minimums []jobMinimum
	gangs    int // how many jobs need any
}

// A jobMinimum is how many members a job needs. If it was set it uses the job's name; else it
// goes with the last task of the job.
type jobMinimum struct {
	members int32
	set     bool
}

// minimumOf returns how many members a job needs.
func (x *minimumBook) minimumOf(job int32) int32 {
	if int(job) >= len(x.minimums) {
		return 0
	}
	return x.minimums[job].members
}

// noteMinimum replaces the minimum of a job.
func (x *minimumBook) noteMinimum(job int32, m jobMinimum) {
	x.minimums = rows.More(x.minimums, max(0, int(job)+1-len(x.minimums)))
	if x.minimums[job].members > 0 {
		x.gangs--
	}
	if m.members > 0 {
		x.gangs++
	}
	x.minimums[job] = m
}

func (x *minimumBook) copyFrom(y *minimumBook) {
	x.minimums, x.gangs = reuse(x.minimums, y.minimums), y.gangs
}

// keepMinimums forgets the minimums that were set and are not listed.
func (x *taskTable) keepMinimums(listed map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(x.jobs.ids)) {
		job := x.jobs.ids[name]
		if _, ok := listed[name]; !ok && int(job) < len(x.minimums) && x.minimums[job].set {
			x.setMinimum(name, 0)
		}
	}
}

// setMinimum sets the minimum of a job; with 0 it has none.
func (x *taskTable) setMinimum(name string, members int32) {
	job := x.jobs.acquire(name)
	x.enter(job)
	m := jobMinimum{members, members > 0}
	if m.set {
		x.jobs.acquire(name) // this use stays
	}
	if int(job) < len(x.minimums) && x.minimums[job].set {
		x.jobs.release(job)
	}
	x.noteMinimum(job, m)
	x.releaseJob(job)
}

// releaseJob takes a use of the number of a job back. With the last one its minimum goes.
func (x *taskTable) releaseJob(job int32) {
	x.jobs.release(job)
	if int(job) < len(x.minimums) && x.jobs.uses[job] == 0 {
		x.noteMinimum(job, jobMinimum{})
	}
}

// MinMembers returns how many members a job needs, 0 if each goes by itself.
func (x *taskTable) MinMembers(job string) int {
	number, _ := x.jobs.lookup(job)
	return int(x.minimumOf(number))
}

// JobLen returns how many tasks and grants a job has, leaving ones included.
func (x *taskTable) JobLen(job string) int {
	number, _ := x.jobs.lookup(job)
	return len(x.membersOf(number))
}

// join makes a row a member of its job.
func (x *taskTable) join(id TaskID) {
	job := x.tasks[id].job
	if job == 0 {
		return
	}
	x.enter(job)
	x.inJob.set(int(id), cap(x.tasks), int32(len(x.members[job])))
	x.members[job] = append(x.members[job], id)
}

// enter makes room for a job in the lists by number.
func (x *taskTable) enter(job int32) {
	// Numbers of jobs are small and used again, so the list stays as long as
	// the most jobs at once.
	for int(job) >= len(x.members) {
		x.members, x.running = append(x.members, nil), append(x.running, 0)
	}
}

// countRunning counts a row that runs among the members of its job that do, or no more.
// Bounds ask how many there are of every gang that they meet, and to look at its members
// takes longer than all else that they do.
func (x *taskTable) countRunning(r *taskRow, sign int64) {
	if r.job != 0 && r.state == Running {
		x.running[r.job] += int32(sign)
	}
}

// leave takes a row out of its job. The last member takes its place.
func (x *taskTable) leave(id TaskID) {
	job := x.tasks[id].job
	if job == 0 {
		return
	}
	// Places in these lists are a column: most clusters have no jobs.
	at := x.inJob.at(int(id))
	list, moved := swapOut(x.members[job], at)
	x.inJob.set(int(moved), cap(x.tasks), at)
	x.members[job] = list
}

// A move says where queues and types of one tree are in another one, by name.
type move struct {
	queues []queue.ID // where each queue is in the new tree; noLeaf if nowhere
	types  []int      // where each type is in the new schema
	to     *queue.Tree
}

// newMove returns the move from one tree to another. The cost is linear in queues and
// types.
func newMove(from, to *queue.Tree) (*move, error) {
	m := &move{to: to, queues: slices.Repeat([]queue.ID{noLeaf}, from.Len())}
	var problems []error
	for i := range from.Schema().Len() {
		name := from.Schema().Name(i)
		i, ok := to.Schema().Index(name)
		if !ok {
			problems = append(problems, fmt.Errorf("victims: new tree: %w: no type %q", queue.ErrConfig, name))
		}
		m.types = append(m.types, i)
	}
	for q := range queue.ID(from.Len()) {
		if there, ok := to.Lookup(from.Path(q)); ok {
			m.queues[q] = there
		}
	}
	return m, errors.Join(problems...)
}

// leaf returns the leaf that has the path of a leaf in the new tree, if there is one.
func (m *move) leaf(q queue.ID) (queue.ID, bool) {
	to := m.queues[q]
	return max(to, 0), to != noLeaf && m.to.IsLeaf(to)
}

// vector sets dst to v in the types of the new tree, and returns it.
func (m *move) vector(dst, v resources.Vector) resources.Vector {
	dst = rows.Zeros(dst, m.to.Schema().Len())
	for i, at := range m.types {
		dst[at] = v.At(i)
	}
	return dst
}

// moveTo returns the move to a tree, into which it has brought the usage.
func (x *index) moveTo(own *queue.Tree) (*move, error) {
	// Usage that no task stands for would never leave again.
	if used := own.Usage(queue.Root); !resources.IsZero(used) {
		return nil, fmt.Errorf("victims: new tree: usage %v of tasks that the cluster does not know: %w", used, ErrState)
	}
	// Everything that may fail is asked before anything moves.
	m, err := newMove(x.tree, own)
	if err != nil {
		return nil, err
	}
	if err := x.checkHomes(m); err != nil {
		return nil, err
	}
	// Only the new tree is written here. If anything failed before, it is
	// thrown away and the old one was never touched.
	var amounts resources.Vector
	for q := range x.tree.Leaves(queue.Root) {
		if to, ok := m.leaf(q); ok {
			amounts = m.vector(amounts, x.tree.Usage(q))
			must(own.Add(to, amounts))
			amounts = m.vector(amounts, x.tree.Leaving(q))
			must(own.Mark(to, amounts))
		}
	}
	return m, nil
}

// moveInto makes a tree the one of the index, with all rows moved. It cannot fail
// any more.
func (x *index) moveInto(own *queue.Tree, m *move) {
	types := own.Schema().Len()
	x.moveLeaves(m, own.Len())
	x.taskTable.moveTypes(m, types)
	x.nodeTable.moveTypes(m, types)
	x.tree, x.types = own, types
	// Lanes hold leaves and sizes, all of which are others now.
	x.digest.reset(len(x.nodes), types)
}

// checkHomes reports the leaves that are gone, with the tasks that they have.
func (x *index) checkHomes(m *move) error {
	var problems []error
	// All of them, and not the first: whoever changes a tree wants to know what
	// to move away.
	for q := range x.tree.Leaves(queue.Root) {
		if _, ok := m.leaf(q); ok || len(x.leaves[q]) == 0 {
			continue
		}
		var keys []string
		for _, id := range x.leaves[q] {
			keys = append(keys, fmt.Sprintf("%q", x.tasks[id].key))
		}
		// The order of the list depends on history, and a message must not.
		slices.Sort(keys)
		problems = append(problems, fmt.Errorf("victims: new tree: queue %s: %w: it has %s", x.tree.Path(q), invalid.Queue, strings.Join(keys, ", ")))
	}
	return errors.Join(problems...)
}

// moveLeaves takes the tasks of each leaf to where it is in the new tree.
func (x *taskTable) moveLeaves(m *move, queues int) {
	// New lists, since queues have other numbers; the rows in them are the same
	// slices.
	leaves, evictable := make([][]TaskID, queues), make([]int32, queues)
	for q := range x.leaves {
		to, ok := m.leaf(queue.ID(q))
		if !ok {
			continue // it has no tasks
		}
		leaves[to], evictable[to] = x.leaves[q], x.evictable[q]
		for _, id := range leaves[to] {
			x.tasks[id].leaf = to
		}
	}
	x.leaves, x.evictable = leaves, evictable
	for app, home := range x.homes {
		// A leaf that is gone has no tasks, so nobody asks for the home.
		if x.homes[app] = noLeaf; home != noLeaf {
			if to, ok := m.leaf(home); ok {
				x.homes[app] = to
			}
		}
	}
}

// moveTypes gives all amounts the types of the new tree.
func (x *taskTable) moveTypes(m *move, types int) {
	x.sizes = moved(m, x.sizes, x.types)
	x.types = types
}

// moveTypes gives all amounts the types of the new tree.
func (x *nodeTable) moveTypes(m *move, types int) {
	// Amounts of a type that the new tree has not are forgotten, and newMove
	// has made sure that nobody uses any.
	for _, block := range []*[]int64{&x.capacity, &x.present, &x.coming, &x.total, &x.hidden, &x.unknown} {
		*block = moved(m, *block, x.types)
	}
	for i := range x.nodes {
		if n := &x.nodes[i]; n.unknown != nil {
			n.unknown = moved(m, n.unknown, x.types)
		}
	}
	x.types = types
}

// moved returns a block of rows of so many types in the types of the new tree.
func moved(m *move, block []int64, types int) []int64 {
	var row resources.Vector
	var dst []int64
	for ; len(block) > 0; block = block[types:] {
		row = m.vector(row, block[:types])
		// As large as it will be, and only now: without a row nothing says how
		// long rows are to be.
		if dst == nil {
			dst = make([]int64, 0, len(block)/types*len(row))
		}
		dst = append(dst, row...)
	}
	return dst
}
