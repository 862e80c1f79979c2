// SPDX-License-Identifier: Apache-2.0

package snapshot_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)

// fixture returns a cluster with a leaf under its guarantee, one over it, and a
// node that is full, and an ask that has a plan there.
func fixture(t *testing.T) *snapshot.Scene {
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	two := resources.Limit{Value: resources.Vector{2000}, Defined: 1}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Guaranteed: two, Properties: map[string]string{"preemption.delay": "0s"}},
		{Name: "b", Guaranteed: two},
	}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	node, err := c.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{4000}})
	require.NoError(t, err)
	leaf := func(path string) queue.ID {
		q, ok := tree.Lookup(path)
		require.True(t, ok)
		return q
	}
	for _, key := range []string{"t1", "t2"} {
		_, err := c.AddTask(&victims.Task{Key: key, Queue: leaf("root.b"), Node: node, Size: resources.Vector{2000}})
		require.NoError(t, err)
	}
	return &snapshot.Scene{
		Planner: &jobs.Planner{Cluster: c}, Now: now,
		Asks: []victims.Ask{{Key: "x", Queue: leaf("root.a"), Size: resources.Vector{1000}}},
	}
}

// withJob gives a scene a job of which the task t1 is a member, by its key only.
func withJob(s *snapshot.Scene) *jobs.Planner {
	s.Planner.ByPriority = true
	s.Asks = []victims.Ask{{Key: "j", Queue: 2, Members: []victims.Member{{Key: "t1", Size: resources.Vector{2000}}}}}
	return s.Planner
}

// TestTake_Unsaid has a scene for each thing that a document cannot say. It is
// told in the note, too.
func TestTake_Unsaid(t *testing.T) {
	for _, test := range []struct {
		what, of string
		change   func(s *snapshot.Scene, c *victims.Cluster) error
	}{
		{"compare", "", func(s *snapshot.Scene, _ *victims.Cluster) error {
			s.Planner.Compare = func(a, b *victims.Cost) int { return a.Compare(b) }
			return nil
		}},
		{"predicate", "", func(s *snapshot.Scene, _ *victims.Cluster) error {
			s.Planner.Predicate = func(*victims.Question) bool { return true }
			return nil
		}},
		{"filter", "", func(s *snapshot.Scene, _ *victims.Cluster) error {
			s.Planner.Filter = func(q *victims.Question) bool { q.Until = now.Add(time.Hour); return false }
			return nil
		}},
		{"budget", "", func(s *snapshot.Scene, _ *victims.Cluster) error {
			s.Planner.Steps = 7
			return nil
		}},
		{"interval", "x", func(s *snapshot.Scene, _ *victims.Cluster) error {
			s.Planner.RetryInterval, s.Asks[0].LastAttempt = time.Minute, now.Add(-time.Second)
			return nil
		}},
		{"pending", "x", func(s *snapshot.Scene, _ *victims.Cluster) error {
			s.Asks[0].PendingSince = now.Add(time.Second)
			return nil
		}},
		{"admit", "x", func(s *snapshot.Scene, _ *victims.Cluster) error {
			s.Planner.Admit = new(koordinator.ElasticQuota).Admit
			return nil
		}},
		{"exempt", "t1", func(s *snapshot.Scene, c *victims.Cluster) error {
			s.Planner.Exempt = func(e *victims.Question) (time.Time, bool) {
				return now.Add(time.Hour), c.Key(e.Task) == "t1" // which was never scheduled
			}
			return nil
		}},
		{"job", "t1", func(s *snapshot.Scene, c *victims.Cluster) error {
			withJob(s)
			return nil
		}},
		{"admit", "j", func(s *snapshot.Scene, c *victims.Cluster) error {
			withJob(s).Admit = new(koordinator.ElasticQuota).Admit
			s.Asks[0].Members[0].Key = "new"
			return nil
		}},
		{"waiting", "root", func(s *snapshot.Scene, c *victims.Cluster) error {
			withJob(s)
			s.Asks[0].Members[0].Key = "new"
			s.Quotas = map[string]*koordinator.ElasticQuota{"root": {Waiting: resources.Vector{1}}, "root.b": {Waiting: resources.Vector{2}}}
			return nil
		}},
		{"scarce", "", func(s *snapshot.Scene, c *victims.Cluster) error {
			s.Planner.Scarce = new(resources.Mask(0))
			return nil
		}},
		{"enforced", "root", func(s *snapshot.Scene, c *victims.Cluster) error {
			s.Enforcer = &quota.Enforcer{Cluster: c, Options: victims.Options{Enforced: func(queue.ID) bool { return true }}}
			s.Enforce = []queue.ID{queue.Root}
			return nil
		}},
		{"compare", "root.b", func(s *snapshot.Scene, c *victims.Cluster) error {
			s.Enforcer = &quota.Enforcer{Cluster: c, CompareTasks: func(a, b *victims.Task) int { return 0 }}
			s.Enforce = []queue.ID{2}
			return nil
		}},
		{"required-node", "x", func(s *snapshot.Scene, _ *victims.Cluster) error {
			s.Asks[0].RequiredNode = "n9"
			return nil
		}},
		{"closed", "n9", func(_ *snapshot.Scene, c *victims.Cluster) error {
			_, err := c.SetTask(&victims.Task{Key: "t9", Queue: 2, NodeName: "n9", Size: resources.Vector{1}})
			return err
		}},
		{"usage", "n1", func(_ *snapshot.Scene, c *victims.Cluster) error {
			_, err := c.SyncNode("n1", []victims.Task{{Key: "t9", Queue: 0, Size: resources.Vector{5000}}})
			return err
		}},
	} {
		t.Run(test.what, func(t *testing.T) {
			s := fixture(t)
			s.Note = "from a user"
			require.NoError(t, test.change(s, s.Planner.Cluster))
			shot, _ := run(t, s)
			require.Len(t, shot.Unsaid, 1)
			about := test.what + ": "
			if test.of != "" {
				about = fmt.Sprintf("%s of %q: ", test.what, test.of)
			}
			require.True(t, strings.HasPrefix(shot.Unsaid[0], about), shot.Unsaid[0])
			require.Contains(t, string(shot.Text), `"name": "snapshot"`)
			said, err := json.Marshal("from a user\nnot said: " + shot.Unsaid[0])
			require.NoError(t, err)
			require.Contains(t, string(shot.Text), string(said))
		})
	}
}

// TestTake_Closed: tasks of a node that is gone may still make room under a max.
func TestTake_Closed(t *testing.T) {
	s := fixture(t)
	c := s.Planner.Cluster
	require.NoError(t, law.ErrOf(c.RemoveNode("n1")))
	_, err := c.AddNode(&victims.Node{Name: "n2", Capacity: resources.Vector{4000}})
	require.NoError(t, err)
	require.NoError(t, c.SetMax(queue.Root, resources.Limit{Value: resources.Vector{4000}, Defined: 1}))
	_, got := run(t, s)
	require.Equal(t, victims.Preempts, got.Steps[0].Outcome)
	require.Equal(t, decide(t, s), got.Steps[0].String())
}

// TestTake_Exempt: exemptions are written as tolerations, and end when they do.
func TestTake_Exempt(t *testing.T) {
	s := fixture(t)
	leaf := s.Asks[0].Queue + 1
	for _, key := range []string{"t1", "t2"} {
		_, err := s.Planner.Cluster.SetTask(&victims.Task{
			Key: key, Queue: leaf, Node: 1, Size: resources.Vector{2000}, Scheduled: now.Add(-time.Minute),
		})
		require.NoError(t, err)
	}
	s.Planner.Exempt = func(e *victims.Question) (time.Time, bool) {
		if e.Cluster.Key(e.Task) == "t2" {
			return time.Time{}, true // for ever
		}
		return e.Cluster.Scheduled(e.Task).Add(10 * time.Minute), true
	}
	shot, got := run(t, s)
	require.Empty(t, shot.Unsaid)
	require.Equal(t, now.Add(9*time.Minute), got.Steps[0].Refusal.RetryAt)
	require.Equal(t, decide(t, s), got.Steps[0].String())

	s.Asks[0].Priority = math.MaxInt32 // whom no toleration holds off
	shot, _ = run(t, s)
	require.Len(t, shot.Unsaid, 2)
}

// TestTake_OwnApplication: two tasks without an application have nothing in
// common, and neither has the ask with them.
func TestTake_OwnApplication(t *testing.T) {
	s := fixture(t)
	s.Asks[0].Key = "t1'" // the name that t1 would get if it were free
	s.Asks = append(s.Asks, s.Asks[0])
	s.Asks[1].Key, s.Asks[1].Application = "y", "t1"
	shot, got := run(t, s)
	require.Empty(t, shot.Unsaid)
	apps := make(map[string]bool)
	for id := range got.Before.Tasks() {
		apps[got.Before.Task(id).Application] = true
	}
	for _, step := range got.Steps {
		apps[step.Plan.Ask.Application] = true
	}
	require.Len(t, apps, 4)
}

func TestTake_NotUTF8(t *testing.T) {
	s := fixture(t)
	s.Asks[0].Key = "x\xff"
	_, _, err := snapshot.Take(s)
	require.EqualError(t, err, `snapshot: name "x\xff": not valid UTF-8`)
}

// TestTake_Empty: nothing but the root is a document, too.
func TestTake_Empty(t *testing.T) {
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root"})
	require.NoError(t, err)
	_, got := run(t, &snapshot.Scene{Planner: &jobs.Planner{Cluster: victims.NewCluster(tree)}, Now: now})
	require.Empty(t, got.Steps)
	require.Zero(t, got.Before.TaskLen())
	require.Panics(t, func() { snapshot.Take(&snapshot.Scene{}) })
	s := fixture(t)
	s.Enforce, s.Enforcer = []queue.ID{queue.Root}, &quota.Enforcer{Cluster: s.Planner.Cluster.Clone()}
	require.PanicsWithValue(t, "snapshot: Take of quotas without an enforcer of the same cluster", func() { snapshot.Take(s) })
}

// TestRead_Strict: a mistake in a document gives its place.
func TestRead_Strict(t *testing.T) {
	_, err := snapshot.Read("report.json", []byte(`{"name": "x", "queues": {"name": "root"}, "nodez": []}`))
	require.ErrorContains(t, err, "report.json: nodez")
}

// TestTake_Mixed: asks and gangs stand in their order, and a lone ask that goes by priority is a job of one member.
func TestTake_Mixed(t *testing.T) {
	s := fixture(t)
	s.Planner.ByPriority = true
	for i := range s.Asks {
		s.Asks[i].Priority = 1
	}
	gang := s.Asks[0]
	gang.Key, gang.Size, gang.Members = "g", resources.Vector{2000}, []victims.Member{{Key: "g1"}, {Key: "g2"}}
	required := s.Asks[0]
	required.Key, required.RequiredNode = "daemon", "n1"
	s.Asks = append(s.Asks, gang, required)
	shot, got := run(t, s)
	require.Empty(t, shot.Unsaid)
	require.Len(t, got.Steps, 3)
	for i, outcome := range []victims.Outcome{victims.Preempts, victims.Refused, victims.Preempts} {
		var d victims.Decision
		require.NoError(t, s.Planner.Decide(&d, &s.Asks[i], s.Now))
		require.NoError(t, d.Count())
		require.Equal(t, outcome, d.Outcome, d)
		require.Equal(t, d.String(), got.Steps[i].String())
	}
}
