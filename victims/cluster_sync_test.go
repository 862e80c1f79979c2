// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"errors"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// SetTask puts a task, which is there already more often than not.
func (x *clusterMachine) SetTask(t *rapid.T) {
	task := x.drawTask(t)
	id, err := x.c.SetTask(&task)
	if x.judge(t, err, strconv.Quote(task.Key), x.badPut(&task)) {
		x.put(t, task, id)
	}
}

// badPut returns what is wrong with a task that may be there already.
func (x *clusterMachine) badPut(task *Task) []error {
	if task.State >= Granted {
		return []error{ErrState}
	}
	return slices.DeleteFunc(x.m.badTask(task), func(err error) bool {
		_, known := x.m.tasks[task.Key]
		return known && err == ErrDuplicate && len(x.m.badBudgets(task.Budgets)) == 0
	})
}

// put notes a task that was put into a row.
func (x *clusterMachine) put(t *rapid.T, task Task, id TaskID) {
	was, known := x.m.tasks[task.Key]
	if known && id != x.tasks[task.Key] {
		t.Fatalf("task %q moved from row %d to %d", task.Key, x.tasks[task.Key], id)
	}
	if known && was.State.leaving() && task.State == Running {
		task.State = was.State
	}
	if known && was.State != Granted && was.SparedUntil.After(task.SparedUntil) {
		task.SparedUntil = was.SparedUntil
	}
	x.final()
	x.tasks[task.Key] = id
	x.m.putTask(task)
	x.m.ungive(task.Key)
	x.m.settleRows(x.c)
}

// SyncNode says what runs on a node, which may be one that nobody has heard of.
func (x *clusterMachine) SyncNode(t *rapid.T) {
	name := rapid.SampledFrom(nodeNames).Draw(t, "node")
	tasks := make([]Task, between(t, "tasks", 0, 4))
	for i := range tasks {
		tasks[i] = x.drawTask(t)
	}
	var wrong []error
	if name == "" {
		wrong = []error{invalid.Empty}
	}
	granted := func(key string) bool {
		task, ok := x.m.tasks[key]
		return ok && task.State == Granted
	}
	var started []string
	for _, task := range tasks {
		if granted(task.Key) && !slices.Contains(started, task.Key) {
			started = append(started, task.Key)
		}
	}
	synced, err := x.c.SyncNode(name, tasks)
	if !x.judge(t, err, strconv.Quote(name), wrong) {
		return
	}
	x.final()
	delete(x.m.unknown, name)
	listed := map[string]bool{}
	for _, task := range tasks {
		listed[task.Key] = true
	}
	for key, task := range x.m.tasks {
		if task.node == name && task.State != Granted && !listed[key] {
			x.removed(key)
		}
	}
	x.syncModel(t, name, tasks, synced.NotTaken)
	started = slices.DeleteFunc(started, granted)
	slices.Sort(started)
	if got := slices.Sorted(slices.Values(synced.Started)); !slices.Equal(started, got) {
		t.Fatalf("started: %q, want %q", got, started)
	}
}

// rowsOf are numbers of nodes in a picture.
var rowsOf = regexp.MustCompile(`node [0-9]+ `)

// Sync says what there is in one call, and by the verbs for each, of two clones: they are alike.
func (x *clusterMachine) Sync(t *rapid.T) {
	l := Listing{
		Budgets:  map[string]Budget{"web": {Left: 1}, "db": {Hard: true}},
		Minimums: map[string]int{"a": 2, "b": 0},
	}
	names := []string{"n1", "n2", "n3", "n4"}
	inList := map[string]bool{}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, -1, rapid.ID[string]).Draw(t, "nodes") {
		n := drawNode(t)
		n.Name, n.Capacity = name, resources.Vector{int64(between(t, "capacity", 0, 9))}
		l.Nodes, inList[name] = append(l.Nodes, n), true
	}
	listed := map[string]bool{}
	for range between(t, "tasks", 0, 5) {
		task := x.drawTask(t)
		task.NodeName, task.Size = rapid.SampledFrom(names).Draw(t, "node"), resources.Vector{1}
		if len(x.badPut(&task)) == 0 && !listed[task.Key] {
			l.Tasks, listed[task.Key] = append(l.Tasks, task), true
		}
	}
	one, each := x.c.Clone(), x.c.Clone()
	synced, err := one.Sync(l)
	if err != nil {
		t.Fatal(err)
	}
	if len(synced.NotTaken) > 0 {
		return // grants are very large
	}
	check := func(err error) {
		if err != nil && !errors.Is(err, ErrUnknown) {
			t.Fatal(err)
		}
	}
	var removed, started []string
	for id := range each.Tasks() {
		if task := each.TaskView(id); task.State != Granted && !listed[task.Key] {
			removed = append(removed, task.Key)
		}
	}
	slices.Sort(removed)
	for _, key := range removed {
		check(each.RemoveTask(key))
	}
	for _, name := range names {
		check(each.UpdateNode(&Node{Name: name}))
		if id, ok := each.LookupNode(name); ok { // nothing is unknown
			var tasks []Task
			for task := range each.TasksOn(id) {
				if each.State(task) != Granted {
					tasks = append(tasks, each.Task(task))
				}
			}
			check(law.ErrOf(each.SyncNode(name, tasks)))
		}
	}
	for i := range l.Nodes {
		if _, err := each.AddNode(&l.Nodes[i]); err != nil {
			check(each.UpdateNode(&l.Nodes[i]))
		}
	}
	for i := range l.Tasks {
		if _, held := each.LookupGrant(l.Tasks[i].Key); held {
			started = append(started, l.Tasks[i].Key)
		}
		check(law.ErrOf(each.SetTask(&l.Tasks[i])))
	}
	orphans := 0
	for _, name := range names {
		if !inList[name] {
			gone, err := each.RemoveNode(name)
			check(err)
			orphans += len(gone)
		}
	}
	for _, name := range budgetNames[:3] {
		if _, ok := l.Budgets[name]; !ok {
			check(each.SetBudget(name, Budget{})) // or it is only named, which see below
		}
	}
	for name, b := range l.Budgets {
		check(each.SetBudget(name, b))
	}
	for job := range x.m.minimums {
		check(each.SetMinMembers(job, 0))
	}
	for job, n := range l.Minimums {
		check(each.SetMinMembers(job, n))
	}
	picture := func(c *Cluster) string {
		p := lookAt(c)
		p.budgets = slices.DeleteFunc(p.budgets, func(s string) bool { return strings.HasPrefix(s, "api{0 false}") })
		return rowsOf.ReplaceAllString(p.String(), "node ")
	}
	if a, b := picture(one), picture(each); a != b {
		t.Fatalf("%+v\nin one call\n%s\neach by itself\n%s", l, a, b)
	}
	if !slices.Equal(removed, synced.Removed) || !slices.Equal(started, synced.Started) || orphans != len(synced.Orphans) {
		t.Fatalf("%+v, want removed %q, started %q, %d orphans", synced, removed, started, orphans)
	}
	for _, job := range taskKeys {
		if a, b := one.MinMembers(job), each.MinMembers(job); a != b {
			t.Fatalf("job %q needs %d members, each by itself %d", job, a, b)
		}
	}
	checkLists(t, one)
}

// syncModel puts task after task, and holds the cluster to what it did not take.
func (x *clusterMachine) syncModel(t *rapid.T, name string, tasks []Task, not []NotTaken) {
	taken := map[string]bool{}
	var refusedSizes []resources.Vector
	for i, task := range tasks {
		task.NodeName = name
		wrong := x.badPut(&task)
		if taken[task.Key] && len(wrong) == 0 {
			wrong = append(wrong, ErrDuplicate)
		}
		refused := len(not) > 0 && not[0].Index == i
		if refused != (len(wrong) > 0) {
			t.Fatalf("task %d, %q, is refused: %t, and wrong with it is %v", i, task.Key, refused, wrong)
		}
		if !refused {
			id, _ := x.c.Lookup(task.Key)
			x.put(t, task, id)
			taken[task.Key] = true
			continue
		}
		if err := not[0].Err; !slices.ContainsFunc(append(wrong, ErrDuplicate), func(w error) bool { return errors.Is(err, w) }) {
			t.Fatalf("task %d, %q: %v, want one of %v", i, task.Key, err, wrong)
		}
		not = not[1:]
		if was := x.m.tasks[task.Key]; was.node == name && was.State != Granted && !taken[task.Key] {
			x.removed(task.Key)
		}
		refusedSizes = append(refusedSizes, task.Size)
	}
	x.distrust(name, refusedSizes)
}

// distrust adds up what tasks use on a node that were not taken.
func (x *clusterMachine) distrust(name string, sizes []resources.Vector) {
	delete(x.m.blind, name)
	sum := make(resources.Vector, x.m.types())
	for _, size := range sizes {
		if len(x.m.badSize(size)) > 0 || x.m.tooMuchWith(sum, size) {
			x.m.blind[name] = true
			continue
		}
		for i := range sum {
			sum[i] += size.At(i)
		}
	}
	if !resources.IsZero(sum) {
		x.m.unknown[name] = sum
	}
}

// tooMuchWith reports whether two sizes take all that is used out of range.
func (m *clusterModel) tooMuchWith(a, b resources.Vector) bool {
	for i := range m.types() {
		sum := m.sum(i, func(modelTask) bool { return true })
		for _, v := range m.unknown {
			sum.Add(sum, big.NewInt(v.At(i)))
		}
		sum.Add(sum, big.NewInt(a.At(i)))
		if !sum.Add(sum, big.NewInt(b.At(i))).IsInt64() {
			return true
		}
	}
	return false
}

// SetTree puts other queues in place of those there: in another order, with one
// more, or with one less, which may have tasks. So it does with types.
func (x *clusterMachine) SetTree(t *rapid.T) {
	a, b, c, d, e := queue.Config{Name: "a"}, queue.Config{Name: "b"}, queue.Config{Name: "c"}, queue.Config{Name: "d"}, queue.Config{Name: "e"}
	inside := rapid.SampledFrom([][]queue.Config{{c, d}, {d, c}, {c, d, e}, {d, e, c}, {c}}).Draw(t, "inside")
	a.Children = inside
	top := rapid.SampledFrom([][]queue.Config{{a, b}, {b, a}, {a, e, b}}).Draw(t, "top")
	types := rapid.SampledFrom([][]string{{"gpu", "disk"}, {"disk", "gpu"}, {"disk", "net", "gpu"}, {"net", "gpu", "disk"}}).Draw(t, "types")
	schema, err := resources.NewSchema(types...)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: top})
	if err != nil {
		t.Fatal(err)
	}
	old, shape := x.m.tree, tree.Clone()
	to := map[string]queue.ID{}
	var wrong []error
	for key, task := range x.m.tasks {
		q, ok := shape.Lookup(old.Path(task.Queue))
		if !ok {
			wrong = append(wrong, invalid.Queue)
		}
		to[key] = q
	}
	for i := range old.Schema().Len() {
		if _, ok := schema.Index(old.Schema().Name(i)); !ok {
			wrong = append(wrong, queue.ErrConfig)
		}
	}
	if !x.judge(t, x.c.SetTree(tree), "new tree", wrong) {
		return
	}
	x.final()
	x.m.tree, x.m.guaranteed, x.m.max = shape, map[queue.ID]resources.Limit{}, map[queue.ID]resources.Limit{}
	for key, task := range x.m.tasks {
		task.Queue = to[key]
		x.m.tasks[key] = task
	}
	x.m.retype(old.Schema())
}

// retype gives all amounts, which are of another schema, the types of the tree.
func (m *clusterModel) retype(from *resources.Schema) {
	in := func(v resources.Vector) resources.Vector {
		to := make(resources.Vector, m.types())
		for i := range from.Len() {
			at, _ := m.tree.Schema().Index(from.Name(i))
			to[at] = v.At(i)
		}
		return to
	}
	for key, task := range m.tasks {
		task.Size = in(task.Size)
		m.tasks[key] = task
	}
	for name, n := range m.nodes {
		n.Capacity = in(n.Capacity)
		m.nodes[name] = n
	}
	for name, v := range m.unknown {
		m.unknown[name] = in(v)
	}
}
