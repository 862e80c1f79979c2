// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// fixture is a cluster of the types slots and disks that tests fill by hand. It
// has a node n1 of 100 slots and 100 disks.
type fixture struct {
	t testing.TB
	c *victims.Cluster
	e quota.Enforcer
}

// slots bounds slots alone, both bounds both types.
func slots(n int64) resources.Limit {
	return resources.Limit{Value: resources.Vector{n}, Defined: 1}
}

func both(slots, disks int64) resources.Limit {
	return resources.Limit{Value: resources.Vector{slots, disks}, Defined: 3}
}

// inner and leaf describe queues; a guarantee may follow.
func inner(name string, children ...queue.Config) queue.Config {
	return queue.Config{Name: name, Children: children}
}

func leaf(name string, guaranteed ...resources.Limit) queue.Config {
	c := queue.Config{Name: name}
	for _, g := range guaranteed {
		c.Guaranteed = g
	}
	return c
}

func newFixture(t testing.TB, children ...queue.Config) *fixture {
	t.Helper()
	schema, err := resources.NewSchema("slots", "disks")
	require.NoError(t, err)
	tree, err := queue.NewLenient(schema, inner("root", children...))
	require.NoError(t, err)
	f := &fixture{t: t, c: victims.NewCluster(tree)}
	f.e.Cluster = f.c
	f.node("n1")
	return f
}

func (f *fixture) node(name string) victims.NodeID {
	f.t.Helper()
	id, err := f.c.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{100, 100}})
	require.NoError(f.t, err)
	return id
}

func (f *fixture) queue(path string) queue.ID {
	f.t.Helper()
	q, ok := f.c.Tree().Lookup("root." + path)
	require.True(f.t, ok, "queue %s", path)
	return q
}

// task adds a task of slots that was created an hour ago; change may make it
// another.
func (f *fixture) task(key, path string, size int64, change ...func(*victims.Task)) {
	f.t.Helper()
	task := victims.Task{
		Key: key, Application: "app-" + key, Queue: f.queue(path), Node: 1, Size: resources.Vector{size},
		Created: now.Add(-time.Hour), Scheduled: now.Add(-time.Hour),
	}
	for _, do := range change {
		do(&task)
	}
	_, err := f.c.AddTask(&task)
	require.NoError(f.t, err)
}

// grant gives an ask a place on n1.
func (f *fixture) grant(key, path string, size int64) {
	f.t.Helper()
	_, err := f.c.GrantPlace(&victims.Ask{Key: key, Queue: f.queue(path), Size: resources.Vector{size}}, 1, time.Time{})
	require.NoError(f.t, err)
}

// Changes of tasks.
func age(d time.Duration) func(*victims.Task) {
	return func(t *victims.Task) { t.Created = now.Add(-d) }
}

func ran(d time.Duration) func(*victims.Task) {
	return func(t *victims.Task) { t.Scheduled = now.Add(-d) }
}

func priority(p int32) func(*victims.Task) { return func(t *victims.Task) { t.Priority = p } }

func withDisks(n int64) func(*victims.Task) {
	return func(t *victims.Task) { t.Size = resources.Vector{t.Size[0], n} }
}

func job(name string) func(*victims.Task) { return func(t *victims.Task) { t.Job = name } }

func originator(t *victims.Task)   { t.Originator = true }
func optedOut(t *victims.Task)     { t.OptedOut = true }
func requiredNode(t *victims.Task) { t.RequiredNode = true }
func leaving(t *victims.Task)      { t.State = victims.Marked }
func unknownAge(t *victims.Task)   { t.Created = time.Time{} }
func noSlots(t *victims.Task)      { t.Size[0] = 0 }

// enforce enforces a max of a queue, and audits the outcome.
func (f *fixture) enforce(path string, most resources.Limit) *victims.Decision {
	f.t.Helper()
	o := new(victims.Decision)
	require.NoError(f.t, f.c.SetMax(f.queue(path), most))
	require.NoError(f.t, f.e.Enforce(o, f.queue(path), now))
	a := victims.Auditor{Cluster: f.c, Options: f.e.Options}
	require.Empty(f.t, a.Audit(nil, o, o.Plan.At))
	return o
}

// parts returns the parts of the first round by queue, below the enforced one.
func (f *fixture) parts(o *victims.Decision) map[string]int64 {
	all := make(map[string]int64)
	for _, p := range o.Enforcement.Parts {
		if p.Amount != nil {
			all[p.Queue] = p.Amount[0]
		}
	}
	return all
}

// exactly is what a test says if no leaf may free more than it is asked for.
const exactly = 1

// obstacles returns what keeps the rest, without what texts tell of queues.
func obstacles(o *victims.Decision) (all []victims.Obstacle) {
	for _, x := range o.Enforcement.Obstacles {
		all = append(all, victims.Obstacle{Type: x.Type, Rule: x.Rule, Amount: x.Amount, Queue: x.Queue})
	}
	return all
}
