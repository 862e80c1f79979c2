// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// tableCluster returns a cluster of the leaves a and b, which are queues 1 and
// 2, and of the nodes n1 and n2, which are rows 1 and 2. Its tasks are rows 0
// to 3: run and leave of a on n1, one that is gone, and a grant of b on n1.
func tableCluster(t testing.TB) *Cluster {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	schema, err := resources.NewSchema("gpu", "disk")
	must(err)
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}, {Name: "b"}}})
	must(err)
	c := NewCluster(tree)
	for _, name := range []string{"n1", "n2"} {
		_, err := c.AddNode(&Node{Name: name, Capacity: vec{8, 8}})
		must(err)
	}
	must(c.SetBudget("web", Budget{Left: 1}))
	for _, key := range []string{"run", "leave", "gone"} {
		task := &Task{Key: key, Queue: 1, Node: 1, Size: vec{2, 1}}
		if key == "run" {
			task.Budgets = []string{"web"}
		}
		_, err := c.AddTask(task)
		must(err)
	}
	_, err = c.GrantPlace(&Ask{Key: "grant", Queue: 2, Size: vec{1}}, 1, time.Time{})
	must(err)
	must(c.SetState("leave", Marked))
	must(c.RemoveTask("gone"))
	return c
}

// farAway is no count of nanoseconds since 1970.
var farAway = time.Date(3024, 2, 29, 0, 0, 0, 0, time.UTC)

// newTask returns a good task, made bad by edit.
func newTask(edit func(*Task)) *Task {
	t := &Task{Key: "new", Queue: 1, Node: 2, Size: vec{1}}
	edit(t)
	return t
}

func addTask(edit func(*Task)) func(*Cluster) error {
	return func(c *Cluster) error { _, err := c.AddTask(newTask(edit)); return err }
}

func addNode(name string, capacity ...int64) func(*Cluster) error {
	return func(c *Cluster) error { _, err := c.AddNode(&Node{Name: name, Capacity: capacity}); return err }
}

// apply applies a good plan, made bad by edit: n2 for an ask of 1 gpu, and the
// one task that may go.
func apply(edit func(*Plan)) func(*Cluster) error {
	return func(c *Cluster) error {
		p := &Plan{
			Ask: Ask{Key: "ask", Queue: 2, Size: vec{1}}, Places: []Place{{Node: 2}},
			Victims: []Victim{{Task: 0, Key: "run"}}, Version: c.Version(),
		}
		edit(p)
		return c.Apply(decided(p))
	}
}

var clusterErrors = []struct {
	do   func(c *Cluster) error
	is   error
	text string
}{
	{addNode(""), invalid.Empty, `victims: node "": empty name`},
	{addNode("n1"), ErrDuplicate, `victims: node "n1": duplicate key`},
	{addNode("n3", -1), invalid.Amount, `victims: node "n3": capacity gpu -1: bad amount`},
	{addNode("n3", 0, 0, 7), invalid.Amount, `victims: node "n3": capacity 7 of type number 3, and the schema has 2: bad amount`},
	{addNode("n3", 0, math.MaxInt64-15), invalid.Range, `victims: node "n3": capacity of all nodes: disk: out of range`},
	{func(c *Cluster) error { return c.UpdateNode(&Node{Name: "n9"}) }, ErrUnknown, `victims: node "n9": unknown`},
	{func(c *Cluster) error { return c.UpdateNode(&Node{Name: "n2", Capacity: vec{math.MaxInt64}}) }, invalid.Range,
		`victims: node "n2": capacity of all nodes: gpu: out of range`},
	{func(c *Cluster) error { return law.ErrOf(c.RemoveNode("n9")) }, ErrUnknown, `victims: node "n9": unknown`},

	{addTask(func(t *Task) { t.Key = "" }), invalid.Empty, `victims: task "": empty name`},
	{addTask(func(t *Task) { t.Key = "run" }), ErrDuplicate, `victims: task "run": duplicate key`},
	{addTask(func(t *Task) { t.Queue = 0 }), invalid.Queue, `victims: task "new": queue root: not a leaf queue`},
	{addTask(func(t *Task) { t.Queue = 3 }), ErrUnknown, `victims: task "new": queue 3: unknown`},
	{addTask(func(t *Task) { t.Queue = -1 }), ErrUnknown, `victims: task "new": queue -1: unknown`},
	{addTask(func(t *Task) { t.Node = 3 }), ErrUnknown, `victims: task "new": node 3: unknown`},
	{addTask(func(t *Task) { t.Node = 0 }), invalid.Empty, `victims: task "new": it names no node: empty name`},
	{addTask(func(t *Task) { t.Node = -1 }), ErrUnknown, `victims: task "new": node -1: unknown`},
	{addTask(func(t *Task) { t.Size = vec{0, -3} }), invalid.Amount, `victims: task "new": disk -3: bad amount`},
	{addTask(func(t *Task) { t.Size = vec{1, 1, 1} }), invalid.Amount, `victims: task "new": 1 of type number 3, and the schema has 2: bad amount`},
	{addTask(func(t *Task) { t.Size = vec{math.MaxInt64 - 4} }), invalid.Range,
		`victims: task "new": gpu 9223372036854775803 and 5 in use: out of range`},
	{addTask(func(t *Task) { t.Created = farAway }), invalid.Range, `victims: task "new": time 3024-02-29 00:00:00 +0000 UTC: out of range`},
	{addTask(func(t *Task) { t.Scheduled = farAway }), invalid.Range, `victims: task "new": time 3024-02-29 00:00:00 +0000 UTC: out of range`},
	{addTask(func(t *Task) { t.Checkpoint = farAway }), invalid.Range,
		`victims: task "new": checkpoint time 3024-02-29 00:00:00 +0000 UTC: out of range`},
	{addTask(func(t *Task) { t.Cost = -1 }), invalid.Amount, `victims: task "new": cost -1: bad amount`},
	{addTask(func(t *Task) { t.Budgets = []string{"web", ""} }), invalid.Empty, `victims: task "new": budget "": empty name`},
	{addTask(func(t *Task) { t.Budgets = []string{"web", "web"} }), ErrDuplicate, `victims: task "new": budget "web": duplicate key`},
	{addTask(func(t *Task) { t.State = Granted }), ErrState, `victims: task "new": state granted: wrong state`},
	{addTask(func(t *Task) { t.State = 9 }), ErrState, `victims: task "new": state State(9): wrong state`},
	// A task that would take the place of a grant leaves it there.
	{addTask(func(t *Task) { t.Key, t.Node = "grant", 8 }), ErrUnknown, `victims: task "grant": node 8: unknown`},
	{func(c *Cluster) error { return c.RemoveTask("gone") }, ErrUnknown, `victims: task "gone": unknown`},
	{func(c *Cluster) error { return c.RemoveTask("grant") }, ErrUnknown, `victims: task "grant": unknown`},
	{func(c *Cluster) error { return c.SetState("gone", Running) }, ErrUnknown, `victims: task "gone": unknown`},
	{func(c *Cluster) error { return c.SetState("run", Granted) }, ErrState, `victims: task "run": state granted: wrong state`},
	{func(c *Cluster) error { return c.Resize("grant", nil) }, ErrUnknown, `victims: task "grant": unknown`},
	{func(c *Cluster) error { return c.Resize("run", vec{-1}) }, invalid.Amount, `victims: task "run": gpu -1: bad amount`},
	{func(c *Cluster) error { return c.Resize("run", vec{math.MaxInt64 - 2}) }, invalid.Range,
		`victims: task "run": gpu 9223372036854775805 and 5 in use: out of range`},

	{func(c *Cluster) error { return c.SetCost("gone", 1) }, ErrUnknown, `victims: task "gone": unknown`},
	{func(c *Cluster) error { return c.SetCost("run", -2) }, invalid.Amount, `victims: task "run": cost -2: bad amount`},
	{func(c *Cluster) error { return c.SetCheckpoint("gone", farAway) }, ErrUnknown, `victims: task "gone": unknown`},
	{func(c *Cluster) error { return c.SetCheckpoint("run", farAway) }, invalid.Range,
		`victims: task "run": checkpoint time 3024-02-29 00:00:00 +0000 UTC: out of range`},
	{func(c *Cluster) error { return c.SetBudget("", Budget{}) }, invalid.Empty, `victims: budget "": empty name`},
	{func(c *Cluster) error { return c.SetBudget("web", Budget{Left: math.MinInt64}) }, invalid.Range,
		`victims: budget "web": left -9223372036854775808: out of range`},
	{func(c *Cluster) error { return c.RemoveBudget("none") }, ErrUnknown, `victims: budget "none": unknown`},
	{func(c *Cluster) error { return c.RemoveBudget("web") }, ErrState, `victims: budget "web": tasks name it: 1: wrong state`},

	{func(c *Cluster) error { _, err := c.GrantPlace(&Ask{Key: "run", Queue: 1}, 1, time.Time{}); return err }, ErrDuplicate,
		`victims: task "run": duplicate key`},
	{func(c *Cluster) error {
		_, err := c.GrantPlace(&Ask{Key: "grant", Queue: 1}, 1, time.Time{})
		return err
	}, ErrDuplicate,
		`victims: task "grant": duplicate key`},
	{func(c *Cluster) error { _, err := c.GrantPlace(&Ask{Key: "ask", Queue: 1}, 0, time.Time{}); return err }, invalid.Empty,
		`victims: task "ask": it names no node: empty name`},
	{func(c *Cluster) error { return c.Drop("run") }, ErrUnknown, `victims: grant of "run": unknown`},
	{func(c *Cluster) error { _, err := c.Cancel("run"); return err }, ErrUnknown, `victims: cancel of "run": it holds no grant: unknown`},
	{func(c *Cluster) error { return c.Start("run", time.Unix(0, 0)) }, ErrUnknown, `victims: start of "run": it holds no grant: unknown`},
	{func(c *Cluster) error { _, err := c.StartReady(farAway, nil); return err }, invalid.Range,
		`victims: start at 3024-02-29 00:00:00 +0000 UTC: out of range`},
	{func(c *Cluster) error { return c.Start("grant", farAway) }, invalid.Range,
		`victims: start of "grant": 3024-02-29 00:00:00 +0000 UTC: out of range`},
	{func(c *Cluster) error { return c.Start("grant", time.Time{}) }, invalid.Range,
		`victims: start of "grant": 0001-01-01 00:00:00 +0000 UTC: out of range`},

	{func(c *Cluster) error { return c.Undo() }, ErrState, `victims: undo: nothing applied: wrong state`},
	{apply(func(p *Plan) { p.Version.number = 3 }), ErrStale, `victims: plan for "ask" made for version 3, not 10: cluster has changed`},
	{apply(func(p *Plan) { p.Version = Version{} }), ErrState, `victims: plan for "ask": wrong state: the decision has no plan to apply`},
	{apply(func(p *Plan) { p.Version.line = new(line) }), ErrStale, `victims: plan for "ask" made for version 10 of another cluster: cluster has changed`},
	{apply(func(p *Plan) { p.Victims[0].Task = -1 }), ErrUnknown, `victims: plan for "ask": victim "run": row -1: unknown`},
	{apply(func(p *Plan) { p.Victims[0].Task = 4 }), ErrUnknown, `victims: plan for "ask": victim "run": row 4: unknown`},
	{apply(func(p *Plan) { p.Victims = append(p.Victims, Victim{Task: 2, Key: "gone"}) }), ErrUnknown,
		`victims: plan for "ask": victim "gone": row 2: unknown`},
	{apply(func(p *Plan) { p.Victims[0].Key = "leave" }), ErrUnknown, `victims: plan for "ask": victim "leave": row 0 is "run": unknown`},
	{apply(func(p *Plan) { p.Victims = append(p.Victims, Victim{Task: 1, Key: "leave"}) }), ErrState,
		`victims: plan for "ask": victim "leave": state preempting: wrong state`},
	{apply(func(p *Plan) { p.Victims = append(p.Victims, Victim{Task: 3, Key: "grant"}) }), ErrState,
		`victims: plan for "ask": victim "grant": state granted: wrong state`},
	{apply(func(p *Plan) { p.Victims = append(p.Victims, p.Victims[0]) }), ErrDuplicate,
		`victims: plan for "ask": victim "run": duplicate key`},
	{apply(func(p *Plan) { p.Places[0].Node = 3 }), ErrUnknown, `victims: task "ask": node 3: unknown`},
	{apply(func(p *Plan) { p.Places[0].Node = 0 }), invalid.Empty, `victims: task "ask": it names no node: empty name`},
	{apply(func(p *Plan) { p.Ask.Key = "run" }), ErrDuplicate, `victims: task "run": duplicate key`},
	{apply(func(p *Plan) { p.Ask.Key = "" }), invalid.Empty, `victims: task "": empty name`},
	{apply(func(p *Plan) { p.Ask.Queue = 0 }), invalid.Queue, `victims: task "ask": queue root: not a leaf queue`},
	{apply(func(p *Plan) { p.Ask.Size = vec{-1} }), invalid.Amount, `victims: task "ask": gpu -1: bad amount`},
	{apply(func(p *Plan) { p.Ask.PendingSince = farAway }), invalid.Range, `victims: task "ask": time 3024-02-29 00:00:00 +0000 UTC: out of range`},
	// The ask of the grant on n1.
	{apply(func(p *Plan) { p.Ask.Key = "grant" }), ErrState,
		`victims: plan for "grant": grant of "grant": it holds another one, on node "n1": wrong state`},
	{apply(func(p *Plan) { p.Ask.Key, p.Places[0].Node, p.Ask.Size = "grant", 1, vec{1, 1} }), ErrState,
		`victims: plan for "grant": grant of "grant": it holds another one, on node "n1": wrong state`},
	{apply(func(p *Plan) { p.Ask.Key, p.Places[0].Node, p.Ask.Queue = "grant", 1, 1 }), ErrState,
		`victims: plan for "grant": grant of "grant": it holds another one, on node "n1": wrong state`},
}

// TestClusterErrors holds errors to their texts, and to changing nothing.
func TestClusterErrors(t *testing.T) {
	for _, tt := range clusterErrors {
		t.Run(tt.text, func(t *testing.T) {
			c := tableCluster(t)
			before, version := lookAt(c).String(), c.Version()
			err := tt.do(c)
			if err == nil || err.Error() != tt.text || !errors.Is(err, tt.is) {
				t.Fatalf("error %q, want %q, which is %v", err, tt.text, tt.is)
			}
			if after := lookAt(c).String(); after != before || c.Version() != version {
				t.Errorf("an error changed version %v\n%s\nto %v\n%s", version, before, c.Version(), after)
			}
			// What follows works as if nothing had been tried.
			if err := apply(func(*Plan) {})(c); err != nil {
				t.Fatal(err)
			}
			if err := c.Undo(); err != nil {
				t.Fatal(err)
			}
			if after := lookAt(c).String(); after != before || c.Version() != version {
				t.Errorf("undo came back to version %v\n%s\nand not to %v\n%s", c.Version(), after, version, before)
			}
		})
	}
}

// TestDeadNode shows that the row of a node that is gone is no node, until
// another one gets it.
func TestDeadNode(t *testing.T) {
	c := tableCluster(t)
	if err := law.ErrOf(c.RemoveNode("n2")); err != nil {
		t.Fatal(err)
	}
	if err := apply(func(*Plan) {})(c); !errors.Is(err, ErrUnknown) {
		t.Errorf("plan for a dead node: %v", err)
	}
	if err := addTask(func(*Task) {})(c); !errors.Is(err, ErrUnknown) {
		t.Errorf("task on a dead node: %v", err)
	}
	if err := addNode("n3")(c); err != nil {
		t.Fatal(err)
	}
	if err := apply(func(*Plan) {})(c); err != nil {
		t.Errorf("plan for the new node in the row: %v", err)
	}
}

// TestApply follows a plan through the states of its tasks.
func TestApply(t *testing.T) {
	c := tableCluster(t)
	if err := apply(func(*Plan) {})(c); err != nil {
		t.Fatal(err)
	}
	// n1 has 8 of which run and leave, which go, have 2 each and the grant 1.
	check := func(what string, got, want resources.Vector) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("free on n1", c.Free(nil, 1), vec{3, 6})
	check("coming on n1", c.ComingFree(nil, 1), vec{7, 8})
	check("free on n2", c.Free(nil, 2), vec{7, 8})
	check("leaving of a", c.Tree().Leaving(1), vec{4, 2})
	check("usage of b", c.Tree().Usage(2), vec{2, 0})
	if state := c.Task(0).State; state != Marked {
		t.Errorf("the victim is %v, want preempting", state)
	}
	if _, ok := c.Lookup("ask"); ok {
		t.Error("a grant is looked up as a task")
	}
	if err := c.Start("ask", time.Unix(5, 0)); err != nil {
		t.Fatal(err)
	}
	id, _ := c.Lookup("ask")
	if task := c.Task(id); task.State != Running || !task.Scheduled.Equal(time.Unix(5, 0)) || task.Node != 2 {
		t.Errorf("the ask started as %+v", task)
	}
	if err := c.Undo(); !errors.Is(err, ErrState) {
		t.Errorf("undo after another change: %v, want %v", err, ErrState)
	}
}

// TestApplyHeld shows that a plan for an ask that holds its grant leaves the
// grant as it is, before and after undoing.
func TestApplyHeld(t *testing.T) {
	c := tableCluster(t)
	before := lookAt(c).String()
	held := apply(func(p *Plan) { p.Ask.Key, p.Places[0].Node, p.Victims = "grant", 1, nil })
	if err := held(c); err != nil {
		t.Fatal(err)
	}
	if after := lookAt(c).String(); after != before {
		t.Errorf("the grant has changed: from\n%sto\n%s", before, after)
	}
	if err := c.Undo(); err != nil {
		t.Fatal(err)
	}
	if after := lookAt(c).String(); after != before {
		t.Errorf("undo took the grant back: from\n%sto\n%s", before, after)
	}
}

// TestTaskTakesGrant shows that a task takes the place and the row of the grant
// of its key, whatever size and node the grant had.
func TestTaskTakesGrant(t *testing.T) {
	c := tableCluster(t)
	id, err := c.AddTask(&Task{Key: "grant", Queue: 1, Node: 2, Size: c.Task(3).Size})
	if err != nil {
		t.Fatal(err)
	}
	if task := c.Task(id); id != 3 || task.State != Running || task.Node != 2 || !slices.Equal(task.Size, vec{1, 0}) {
		t.Errorf("row %d: %+v", id, task)
	}
	if used := c.Tree().Usage(2); !slices.Equal(used, vec{0, 0}) {
		t.Errorf("the queue of the grant uses %v", used)
	}
	// With the grant of 1 gone there is room for all but the 4 of the others.
	if err := c.RemoveTask("grant"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.GrantPlace(&Ask{Key: "grant", Queue: 2, Size: vec{math.MaxInt64 - 4}}, 1, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AddTask(&Task{Key: "grant", Queue: 2, Node: 1, Size: vec{math.MaxInt64 - 4}}); err != nil {
		t.Errorf("a task as large as its grant: %v", err)
	}
}

// TestRowSizes holds rows to the bytes that their comments promise.
func TestRowSizes(t *testing.T) {
	if got := unsafe.Sizeof(taskRow{}); got != 64 {
		t.Errorf("a task row has %d bytes, want 64", got)
	}
	// The columns add this much if each is in use by some task.
	more, columns := unsafe.Sizeof(askBook{}.waitOf.at(0)), reflect.TypeFor[taskColumns]()
	for i := range columns.NumField() {
		more += columns.Field(i).Type.Elem().Size()
	}
	if more > 80 {
		t.Errorf("the columns have %d bytes a task, want at most 80", more)
	}
}

// TestInterner shows that numbers come back once no one uses them.
func TestInterner(t *testing.T) {
	var in interner
	a, b := in.acquire("a"), in.acquire("b")
	if again := in.acquire("a"); again != a || a == b {
		t.Errorf("a is %d and then %d, b is %d", a, again, b)
	}
	in.release(a)
	if id, ok := in.lookup("a"); !ok || id != a {
		t.Errorf("a is %d, %t, want %d while it is used", id, ok, a)
	}
	var other interner
	other.acquire("before")
	other.copyFrom(&in)
	in.release(a)
	if _, ok := in.lookup("a"); ok {
		t.Error("a is known after its last use")
	}
	if c := in.acquire("c"); c != a || in.name(c) != "c" {
		t.Errorf("c is %d, want %d, which was a's", c, a)
	}
	if id, ok := other.lookup("a"); !ok || other.name(id) != "a" {
		t.Error("the clone has forgotten a")
	}
	// A copy of one that never had a name: 0 is still the empty string's.
	other.copyFrom(new(interner))
	if d := other.acquire("d"); d == 0 || other.name(d) != "d" {
		t.Errorf("d is %d, named %q", d, other.name(d))
	}
}
