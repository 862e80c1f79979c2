// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// now is the instant of all decisions in hand-written tests.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fixture is a cluster of one resource type, "slots", that tests fill by hand.
type fixture struct {
	t *testing.T
	c *victims.Cluster
}

func slots(n int64) resources.Limit {
	return resources.Limit{Value: resources.Vector{n}, Defined: 1}
}

func newFixture(t *testing.T, root queue.Config) *fixture {
	t.Helper()
	schema, err := resources.NewSchema("slots")
	require.NoError(t, err)
	root.Name = "root"
	tree, err := queue.NewLenient(schema, root)
	require.NoError(t, err)
	return &fixture{t: t, c: victims.NewCluster(tree)}
}

// giverAndTaker is a root with queues a, without bounds, and b, which is
// guaranteed 100.
func giverAndTaker(t *testing.T) *fixture {
	return newFixture(t, queue.Config{Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(100)}}})
}

func (f *fixture) queue(path string) queue.ID {
	f.t.Helper()
	q, ok := f.c.Tree().Lookup("root." + path)
	require.True(f.t, ok, "queue %s", path)
	return q
}

func (f *fixture) node(name string, capacity int64) {
	f.t.Helper()
	_, err := f.c.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{capacity}})
	require.NoError(f.t, err)
}

// task adds a task of its own application that has run for an hour; change may
// make it another.
func (f *fixture) task(key, path, node string, size int64, change ...func(*victims.Task)) {
	f.t.Helper()
	n, ok := f.c.LookupNode(node)
	require.True(f.t, ok, "node %s", node)
	task := victims.Task{
		Key: key, Application: "app-" + key, Queue: f.queue(path), Node: n, Size: resources.Vector{size},
		Created: now.Add(-time.Hour), Scheduled: now.Add(-time.Hour),
	}
	for _, do := range change {
		do(&task)
	}
	_, err := f.c.AddTask(&task)
	require.NoError(f.t, err)
}

// ask returns an ask that has been pending for an hour.
func (f *fixture) ask(key, path string, size int64) *victims.Ask {
	return &victims.Ask{
		Key: key, Application: "app-" + key, Queue: f.queue(path), Size: resources.Vector{size},
		PendingSince: now.Add(-time.Hour),
	}
}

// decide returns the decision of a planner over the fixture's cluster.
func (f *fixture) decide(p *jobs.Planner, a *victims.Ask) *victims.Decision {
	f.t.Helper()
	p.Cluster = f.c
	var d victims.Decision
	require.NoError(f.t, p.Decide(&d, a, now))
	require.NoError(f.t, d.Count())
	return &d
}

func keysOf(d *victims.Decision) (keys []string) {
	for _, v := range d.Plan.Victims {
		keys = append(keys, v.Key)
	}
	return keys
}

// names returns the keys of tasks.
func (f *fixture) names(ids []victims.TaskID) (keys []string) {
	for _, id := range ids {
		keys = append(keys, f.c.Task(id).Key)
	}
	return keys
}

// startAnyway has a grant run, whatever room there is.
func startAnyway(c *victims.Cluster, key string, now time.Time) error {
	id, _ := c.LookupGrant(key)
	t := c.Task(id)
	t.State, t.Scheduled = victims.Running, now
	_, err := c.SetTask(&t)
	return err
}
