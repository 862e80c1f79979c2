// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// TestClusterModel runs random changes, wrong ones among them, on a cluster and
// on its slow twin.
func TestClusterModel(t *testing.T) { rapid.Check(t, clusterFollowsModel) }

func FuzzClusterModel(f *testing.F) {
	seedDraws(f)
	f.Fuzz(rapid.MakeFuzz(clusterFollowsModel))
}

func clusterFollowsModel(t *rapid.T) {
	x := newClusterMachine(t)
	t.Repeat(rapid.StateMachineActions(x))
	for len(x.applied) > 0 {
		x.undo(t)
		x.Check(t)
	}
}

// clusterMachine is a cluster, its slow twin, and what was said of it so far.
// Its exported methods but for Check are the changes. Each draws arguments,
// asks the twin what is wrong with them, and holds the cluster to that.
type clusterMachine struct {
	c       *Cluster
	m       *clusterModel
	version Version
	seen    map[Version]string // the picture of each version
	tasks   map[string]TaskID  // rows given
	applied []appliedPoint

	// Another cluster that was cloned from this one, or the other way round.
	other      *Cluster
	otherSeen  string
	otherState Version
}

// appliedPoint is what undoing a plan comes back to.
type appliedPoint struct {
	m       *clusterModel
	c       *Cluster
	version Version
	tasks   map[string]TaskID
}

func (x *clusterMachine) point() appliedPoint {
	return appliedPoint{x.m.clone(), x.c.Clone(), x.version, maps.Clone(x.tasks)}
}

func newClusterMachine(t *rapid.T) *clusterMachine {
	tree, err := queue.NewLenient(modelSchema(t), queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Children: []queue.Config{{Name: "c"}, {Name: "d"}}},
		{Name: "b"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	x := &clusterMachine{
		c: NewCluster(tree), m: newClusterModel(tree.Clone()),
		seen: map[Version]string{}, tasks: map[string]TaskID{},
	}
	for _, name := range nodeNames[:2] {
		n := Node{Name: name, Capacity: resources.Vector{9, 9}}
		id, err := x.c.AddNode(&n)
		if !x.judge(t, err, name, nil) {
			continue
		}
		x.m.rows[id], x.m.order = name, append(x.m.order, name)
		x.m.putNode(n)
	}
	for _, name := range budgetNames[:3] {
		x.m.budgets[name] = Budget{Left: 2}
		x.judge(t, x.c.SetBudget(name, Budget{Left: 2}), name, nil)
	}
	for i, key := range taskKeys[:5] {
		task := Task{Key: key, Queue: queue.ID(2 + i%3), Node: NodeID(1 + i%2), Size: resources.Vector{int64(i), 1}}
		id, err := x.c.AddTask(&task)
		x.added(t, task, id, err, nil)
	}
	return x
}

func modelSchema(t *rapid.T) *resources.Schema {
	s, err := resources.NewSchema("gpu", "disk")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Check holds all that can be seen of the cluster to the twin, before the first
// change and after each.
func (x *clusterMachine) Check(t *rapid.T) {
	x.m.settleRows(x.c)
	x.m.forget()
	x.m.settleBudgets()
	got, want := lookAt(x.c).String(), x.m.picture().String()
	if got != want {
		t.Fatalf("cluster\n%s\nwant\n%s", got, want)
	}
	if x.c.Version() != x.version {
		t.Fatalf("version %v, want %v", x.c.Version(), x.version)
	}
	if was, ok := x.seen[x.version]; ok && was != got {
		t.Fatalf("version %v is\n%s\nand was\n%s", x.version, got, was)
	}
	x.seen[x.version] = got
	x.checkRows(t)
	if x.other != nil {
		if now := lookAt(x.other).String(); now != x.otherSeen || x.other.Version() != x.otherState {
			t.Fatalf("a clone was\n%s\nand is\n%s", x.otherSeen, now)
		}
		checkLists(t, x.other)
	}
}

// checkRows holds what finds rows to the twin: lookups, counts and lists.
func (x *clusterMachine) checkRows(t *rapid.T) {
	c := x.c
	open := 0
	for name := range x.m.nodes {
		if !x.m.closed(name) {
			open++
		}
	}
	if c.TaskLen() != len(x.m.tasks) || c.NodeLen() != open {
		t.Fatalf("%d tasks and %d nodes, want %d and %d", c.TaskLen(), c.NodeLen(), len(x.m.tasks), open)
	}
	for _, key := range append(taskKeys, "nobody") {
		task, known := x.m.tasks[key]
		isTask := known && task.State != Granted
		if id, ok := c.Lookup(key); ok != isTask || ok && id != x.tasks[key] {
			t.Fatalf("Lookup(%q) = %d, %t, want %d, %t", key, id, ok, x.tasks[key], isTask)
		}
		if known && c.Task(x.tasks[key]).Key != key {
			t.Fatalf("row %d is %q, was given to %q", x.tasks[key], c.Task(x.tasks[key]).Key, key)
		}
	}
	for id, name := range x.m.rows {
		if got, ok := c.LookupNode(name); !ok || got != id {
			t.Fatalf("LookupNode(%q) = %d, %t, want %d", name, got, ok, id)
		}
	}
	apps, jobs := map[string]int32{}, map[string]int32{}
	for _, task := range x.m.tasks {
		apps[task.Application]++
		jobs[task.Job]++
	}
	for job := range x.m.minimums {
		jobs[job]++ // it keeps the name
	}
	checkInterner(t, &c.apps, apps)
	checkInterner(t, &c.jobs, jobs)
	x.checkGetters(t)
	checkLists(t, c)
}

// checkGetters holds what callbacks ask of a row to what Task says, and what
// budgets know of their tasks to the twin.
func (x *clusterMachine) checkGetters(t *rapid.T) {
	c := x.c
	jobs := map[string]int{}
	for id := range c.Tasks() {
		task := c.Task(id)
		if c.Key(id) != task.Key || c.NodeOf(id) != task.Node || c.State(id) != task.State ||
			c.Tag(id) != task.Tag || c.Job(id) != task.Job || c.costOf(id) != task.Cost {
			t.Fatalf("row %d is %v, and %q on %d, %v, %d, %q, %d", id, task,
				c.Key(id), c.NodeOf(id), c.State(id), c.Tag(id), c.Job(id), c.costOf(id))
		}
		if got, want := c.lost(id, leapDay.UnixNano()), rulebook.Lost(task.Scheduled, task.Checkpoint, leapDay); got != want {
			t.Fatalf("row %d loses %d, want %d", id, got, want)
		}
		jobs[task.Job]++
	}
	delete(jobs, "")
	for _, job := range taskKeys {
		n := 0
		for id := range c.JobTasks(job) {
			if n++; c.Job(id) != job {
				t.Fatalf("%q of job %q is a member of %q", c.Key(id), c.Job(id), job)
			}
		}
		if n != jobs[job] || c.JobLen(job) != n {
			t.Fatalf("%d members of job %q, and %d are told, want %d", n, job, c.JobLen(job), jobs[job])
		}
		if got := c.MinMembers(job); got != x.m.minimum(job) {
			t.Fatalf("job %q needs %d members, want %d", job, got, x.m.minimum(job))
		}
	}
	for row := range c.budgets {
		b := &c.budgets[row]
		var uses int32
		for _, task := range x.m.tasks {
			uses += int32(strings.Count(strings.Join(task.Budgets, ","), b.name))
		}
		live := b.name != ""
		if live && b.uses != uses {
			t.Fatalf("%d tasks name %q, want %d", b.uses, b.name, uses)
		}
		if got, ok := c.Budget(b.name); ok != live || ok && got != x.m.budgets[b.name] {
			t.Fatalf("budget %q: %v, %t, want %v", b.name, got, ok, x.m.budgets[b.name])
		}
	}
}

// checkInterner compares an interner with how often each name is used.
func checkInterner(t *rapid.T, in *interner, uses map[string]int32) {
	delete(uses, "")
	for name, n := range uses {
		if id, ok := in.lookup(name); !ok || in.name(id) != name || in.uses[id] != n {
			t.Fatalf("name %q: %d, %t in %v, want %d uses", name, id, ok, in.uses, n)
		}
	}
	if len(in.ids) != len(uses) {
		t.Fatalf("%d names, want %d", len(in.ids), len(uses))
	}
}

// checkLists holds the lists of nodes and leaves to having every row once,
// where the row says.
func checkLists(t *rapid.T, c *Cluster) {
	for id := range c.Tasks() {
		r := &c.tasks[id]
		if on, in := c.nodes[r.node].tasks, c.leaves[r.leaf]; on[r.inNode] != id || in[r.inLeaf] != id {
			t.Fatalf("row %d is not where it should be in %v and %v", id, on, in)
		}
	}
	var on, in int
	for i := range c.nodes {
		on += len(c.nodes[i].tasks)
	}
	for _, leaf := range c.leaves {
		in += len(leaf)
	}
	if want := c.TaskLen(); on != want || in != want {
		t.Fatalf("nodes have %d tasks and leaves %d, want %d", on, in, want)
	}
	gangs := 0
	for job := range c.jobs.names {
		if c.minimumOf(int32(job)) > 0 {
			gangs++
		}
	}
	if c.gangs != gangs {
		t.Fatalf("%d jobs have minimums, and %d are counted", gangs, c.gangs)
	}
	for job, members := range c.members {
		var running int32
		for _, id := range members {
			if c.tasks[id].state == Running {
				running++
			}
		}
		if c.running[job] != running {
			t.Fatalf("%d members of job %q run, and %d are counted", running, c.jobs.name(int32(job)), c.running[job])
		}
	}
}

// judge holds an error to what is wrong with a change, and reports whether the
// change was made. Then it is final for the plans applied before, unless it is
// one of them.
func (x *clusterMachine) judge(t *rapid.T, err error, name string, wrong []error) bool {
	t.Helper()
	if len(wrong) == 0 {
		if err != nil {
			t.Fatalf("unexpected error: %v", err)
		}
		if _, old := x.seen[x.c.Version()]; old {
			t.Fatalf("version %v for the second time", x.c.Version())
		}
		x.version = x.c.Version()
		return true
	}
	if !slices.ContainsFunc(wrong, func(w error) bool { return errors.Is(err, w) }) {
		t.Fatalf("error %v, want one of %v", err, wrong)
	}
	if !strings.Contains(err.Error(), name) {
		t.Fatalf("error %q does not name %s", err, name)
	}
	return false
}

func (x *clusterMachine) final() { x.applied = nil }
