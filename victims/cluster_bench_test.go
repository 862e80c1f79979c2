// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/resources"
)

// benchCluster has the leaves a and b, and tasks of a spread over nodes, so many
// on each. They are named task-0 and so on.
func benchCluster(b testing.TB, nodes, tasks int) *Cluster {
	b.Helper()
	c := tableCluster(b)
	for n := range nodes {
		id, err := c.AddNode(&Node{Name: fmt.Sprint("node-", n), Capacity: vec{64, 64}})
		if err != nil {
			b.Fatal(err)
		}
		for i := range tasks {
			if _, err := c.AddTask(&Task{
				Key: fmt.Sprint("task-", n*tasks+i), Application: fmt.Sprint("app-", i%7),
				Queue: 1, Node: id, Size: vec{1, 2}, Scheduled: time.Unix(int64(i), 0),
			}); err != nil {
				b.Fatal(err)
			}
		}
	}
	return c
}

// changes are changes of a cluster that leave it as it was.
func changes(t testing.TB, c *Cluster, tasks int) []struct {
	name string
	do   func()
} {
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	task := &Task{Key: "new", Application: "of its own", Queue: 2, Node: 4, Size: vec{1, 2}, Created: time.Unix(7, 0)}
	ask := &Ask{Key: "ask", Application: "of its own", Queue: 2, Size: vec{4, 8}, PendingSince: time.Unix(7, 0)}
	plan := &Plan{Ask: *ask, Places: []Place{{Node: 3}}}
	for i := range 4 {
		key := fmt.Sprint("task-", i*tasks/4)
		id, ok := c.Lookup(key)
		if !ok {
			t.Fatalf("no %s", key)
		}
		plan.Victims = append(plan.Victims, Victim{Task: id, Key: key})
	}
	d := decided(plan)
	one, other := vec{1, 2}, vec{3, 0}
	put := &Task{Key: "task-1", Queue: 1, Node: 1, Size: one, Application: "app-1", Scheduled: time.Unix(1, 0)}
	node := &Node{Name: "node-5", Capacity: vec{64, 64}}
	var synced []Task
	for id := range c.TasksOn(4) {
		synced = append(synced, c.Task(id))
	}
	return []struct {
		name string
		do   func()
	}{
		{"AddTask+RemoveTask", func() {
			_, err := c.AddTask(task)
			check(err)
			check(c.RemoveTask("new"))
		}},
		{"SetState", func() {
			check(c.SetState("task-1", Releasing))
			check(c.SetState("task-1", Running))
		}},
		{"Resize", func() {
			check(c.Resize("task-1", other))
			check(c.Resize("task-1", one))
		}},
		{"Grant+Drop", func() {
			_, err := c.GrantPlace(ask, 4, time.Time{})
			check(err)
			check(c.Drop("ask"))
		}},
		{"SetTask", func() {
			_, err := c.SetTask(put)
			check(err)
		}},
		{"UpdateNode", func() { check(c.UpdateNode(node)) }},
		{"AddNode+RemoveNode", func() {
			_, err := c.AddNode(&Node{Name: "one more", Capacity: one})
			check(err)
			check(law.ErrOf(c.RemoveNode("one more")))
		}},
		{"SyncNode", func() {
			got, err := c.SyncNode("node-1", synced)
			check(err)
			if len(got.NotTaken) > 0 {
				t.Fatal(got.NotTaken[0].Err)
			}
		}},
		{"Apply+Undo", func() {
			d.Plan.Version = c.Version()
			check(c.Apply(d))
			check(c.Undo())
		}},
	}
}

// TestClusterNoAllocs shows that a warm cluster takes note of changes, and
// shows what is free, without allocating.
func TestClusterNoAllocs(t *testing.T) {
	c := benchCluster(t, 10, 30)
	for _, change := range changes(t, c, 30) {
		if n := testing.AllocsPerRun(100, change.do); n != 0 {
			t.Errorf("%s: %v allocations, want 0", change.name, n)
		}
	}
	dst := make(resources.Vector, 2)
	var task Task
	var known, seen int
	for _, look := range []struct {
		name string
		at   func()
	}{
		{"Free", func() { dst = c.Free(dst, 4) }},
		{"ComingFree", func() { dst = c.ComingFree(dst, 4) }},
		{"Lookup", func() {
			if _, ok := c.Lookup("task-1"); ok {
				known++
			}
		}},
		{"TaskView", func() { task = c.TaskView(5) }},
		{"Key", func() { task.Key = c.Key(5) }},
		{"Tasks", func() {
			for range c.Tasks() {
				seen++
			}
		}},
	} {
		if n := testing.AllocsPerRun(100, look.at); n != 0 {
			t.Errorf("%s: %v allocations, want 0", look.name, n)
		}
	}
	if dst[0] != 34 || task.Key == "" || known == 0 || seen == 0 {
		t.Errorf("coming free %v, task %v, known %d, seen %d", dst, task, known, seen)
	}
}

func BenchmarkCluster(b *testing.B) {
	const nodes, tasks = 1000, 30
	c := benchCluster(b, nodes, tasks)
	for _, change := range changes(b, c, tasks) {
		b.Run(fmt.Sprintf("%s/nodes=%d/tasks=%d", change.name, nodes, tasks), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				change.do()
			}
		})
	}
	b.Run(fmt.Sprintf("Clone/nodes=%d/tasks=%d", nodes, tasks), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if c.Clone().TaskLen() != c.TaskLen() {
				b.Fatal("tasks are missing")
			}
		}
	})
}
