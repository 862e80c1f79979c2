// SPDX-License-Identifier: Apache-2.0

package pending_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/pending"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// What a list passes over would be refused, and what it yields is what a list answers that
// is always asked for everything.

func TestAsks_Laws(t *testing.T) { law.CheckMany(t, 1000, asksHold) }
func TestJobs_Laws(t *testing.T) { law.CheckMany(t, 1000, jobsHold) }

func FuzzAsks(f *testing.F) { f.Fuzz(rapid.MakeFuzz(asksHold)) }
func FuzzJobs(f *testing.F) { f.Fuzz(rapid.MakeFuzz(jobsHold)) }

// A node that is reserved for a job by its name is that job's only, whoever is like it.
func TestJobs_ReservedByName(t *testing.T) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "x"}}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	_, err = c.AddNode(&victims.Node{Name: "n", Capacity: resources.Vector{4}, ReservedFor: "b"})
	require.NoError(t, err)
	list := pending.Jobs(&jobs.Planner{Cluster: c})
	for _, name := range []string{"a", "b"} {
		list.Add(victims.Ask{Key: name, Queue: 1, Members: []victims.Member{{Key: name + "0", Size: resources.Vector{2}}}})
	}
	var got []string
	for j, d := range list.All(world.Epoch) {
		got = append(got, fmt.Sprint(j.Key, " ", d.Outcome))
	}
	require.Equal(t, []string{"a refused", "b fits"}, got)
}

func asksHold(t *rapid.T) {
	w := world.Workloads(world.Small.With(world.WithBudgets|world.WithOwnLeaf)).Draw(t, "workload")
	h := newHistory(t, &w.World, w.Options.Now)
	h.rules.WithinQueue = world.OwnLeaves[w.Options.OwnLeaf]
	world.SetMinimums(h.c, w.Options.Minimums)
	var asks []victims.Ask
	for i := range w.Asks {
		ask, err := world.AskOf(h.c, &w.Asks[i])
		require.NoError(t, err)
		if i > 0 && h.below("as another", 3) > 0 {
			key := ask.Key
			ask = asks[h.below("as", i)]
			ask.Key = key
		}
		ask.Application, ask.Class = h.application(), h.below("class", 2)
		asks = append(asks, ask)
		h.names = append(h.names, ask.Key)
	}
	holds(h, asks, kind[victims.Ask, victims.Decision]{
		key: func(a *victims.Ask) string { return a.Key },
		list: func(c *victims.Cluster) *pending.List[victims.Ask, victims.Decision] {
			return pending.Asks(&victims.Planner{Cluster: c, Options: h.rules})
		},
		decide: func(d *victims.Decision, c *victims.Cluster, a *victims.Ask) error {
			return (&victims.Planner{Cluster: c, Options: h.rules}).Decide(d, a, h.now)
		},
		told: func(c *victims.Cluster, d *victims.Decision) (string, victims.Change, bool) {
			return d.Summary(c), d.Plan.Change(), d.Outcome != victims.Refused
		},
	})
}

func jobsHold(t *rapid.T) {
	k := world.JobCases(world.Small).Draw(t, "case")
	h := newHistory(t, &k.World, k.Options.Now)
	h.rules.WithinQueue = world.OwnLeaves[k.Options.OwnLeaf]
	world.SetMinimums(h.c, k.Minimums)
	leaf, ok := h.c.Tree().Lookup(k.Job.Queue)
	require.True(t, ok)
	var all []victims.Ask
	for n := range 2 + h.below("jobs", 3) {
		job := victims.Ask{
			Key: fmt.Sprint(k.Job.Name, "-", n), Application: h.application(), Queue: leaf, Priority: k.Job.Priority, NonPreemptible: k.Job.NonPreemptible,
			MinMembers: k.Job.MinMembers, NeverPreempts: k.Job.MayNot, DomainDepth: k.Job.Domain, PendingSince: k.Job.PendingSince, LastAttempt: k.Job.LastAttempt,
		}
		for i := range k.Job.Members {
			m := &k.Job.Members[i]
			job.Members = append(job.Members, victims.Member{Key: fmt.Sprint(m.Key, "-", n), Size: world.VectorOf(h.c, m.Size), Class: i % 2})
			h.names = append(h.names, job.Members[i].Key)
		}
		switch h.below("unlike", 8) {
		case 0:
			job.Priority++
		case 1:
			job.MinMembers = 1
		case 2:
			job.Members[0].Class++
		}
		h.names = append(h.names, job.Key, job.Key)
		all = append(all, job)
	}
	holds(h, all, kind[victims.Ask, jobs.Decision]{
		key: func(j *victims.Ask) string { return j.Key },
		list: func(c *victims.Cluster) *pending.List[victims.Ask, jobs.Decision] {
			return pending.Jobs(&jobs.Planner{Cluster: c, Options: h.rules})
		},
		decide: func(d *jobs.Decision, c *victims.Cluster, j *victims.Ask) error {
			return (&jobs.Planner{Cluster: c, Options: h.rules}).Decide(d, j, h.now)
		},
		told: func(c *victims.Cluster, d *jobs.Decision) (string, victims.Change, bool) {
			return d.Summary(c), d.Plan.Change(), d.Outcome != victims.Refused && len(d.Plan.Placements)+len(d.Plan.Victims) > 0
		},
	})
}

// A kind is what the laws have to know of the work that waits.
type kind[W, D any] struct {
	key    func(*W) string
	list   func(*victims.Cluster) *pending.List[W, D]
	decide func(*D, *victims.Cluster, *W) error
	told   func(*victims.Cluster, *D) (text string, ch victims.Change, planned bool)
}

// holds lets work wait for some passes, between which something happens.
func holds[W, D any](h *history, work []W, k kind[W, D]) {
	list := k.list(h.c)
	for _, w := range work {
		list.Add(w)
	}
	for range 4 {
		twin := pass(h, h.c.Clone(), k, k.list, work, nil)
		got := pass(h, h.c, k, func(*victims.Cluster) *pending.List[W, D] { return list }, nil, work)
		if fmt.Sprint(got) != fmt.Sprint(twin) {
			h.Fatalf("%q, and a list that is new says %q; after %q\n%v", got, twin, h.done, h.w)
		}
		for range h.below("happenings", 4) {
			h.next()
		}
	}
}

// pass goes over a list, to which it adds some work first, and carries plans out. It
// decides what is passed over of other work, and wants a refusal.
func pass[W, D any](h *history, c *victims.Cluster, k kind[W, D], of func(*victims.Cluster) *pending.List[W, D], add, over []W) (told []string) {
	list := of(c)
	for _, w := range add {
		list.Add(w)
	}
	refused := func(w *W) {
		var d D
		require.NoError(h, k.decide(&d, c, w))
		if text, _, planned := k.told(c, &d); planned {
			h.Fatalf("%s is passed over: %s; after %q\n%v", k.key(w), text, h.done, h.w)
		}
	}
	for w, d := range list.All(h.now) {
		for len(over) > 0 && k.key(&over[0]) != k.key(w) {
			refused(&over[0])
			over = over[1:]
		}
		over = over[min(1, len(over)):]
		if text, ch, planned := k.told(c, d); planned {
			told = append(told, text)
			require.NoError(h, c.Apply(ch))
		}
	}
	require.NoError(h, list.Err())
	for i := range over {
		refused(&over[i])
	}
	return told
}

// A history is what happens to a cluster while work waits.
type history struct {
	*rapid.T
	w     *world.World
	c     *victims.Cluster
	rules victims.Options
	now   time.Time
	names []string // that a node may be reserved for
	done  []string
}

func newHistory(t *rapid.T, w *world.World, now time.Time) *history {
	c, err := world.Build(w)
	require.NoError(t, err)
	h := &history{T: t, w: w, c: c, now: now, names: []string{"", "nobody"}}
	if h.below("filter", 2) == 1 {
		h.rules.Filter = func(q *victims.Question) bool { return (q.Member.Class+int(q.Node))%3 > 0 }
	}
	return h
}

func (h *history) below(label string, n int) int { return rapid.IntRange(0, n-1).Draw(h.T, label) }

// application draws one of its own, or one that runs.
func (h *history) application() string {
	names := []string{"new", ""}
	for id := range h.c.Tasks() {
		names = append(names, h.c.Task(id).Application)
	}
	return names[h.below("application", len(names))]
}

func (h *history) size() resources.Vector {
	v := make(resources.Vector, h.c.Schema().Len())
	for i := range v {
		v[i] = int64(h.below("amount", 6))
	}
	return v
}

// next lets something happen. An error is that of a max below a guarantee, and the like.
func (h *history) next() {
	happenings := []struct {
		what string
		do   func() error
	}{{"goes", h.goes}, {"comes", h.comes}, {"a node", h.node}, {"reserved", h.reserved}, {"reserved", h.reserved}, {"a bound", h.bound}, {"time", h.time}}
	x := happenings[h.below("kind", len(happenings))]
	if x.do() == nil {
		h.done = append(h.done, x.what)
	}
}

func (h *history) goes() error {
	for _, id := range slices.Collect(h.c.Tasks()) {
		if h.c.State(id) != victims.Granted && h.below("this", 3) == 0 {
			return h.c.RemoveTask(h.c.Key(id))
		}
	}
	return nil
}

func (h *history) comes() error {
	leaves, nodes := slices.Collect(h.c.Tree().Leaves(queue.Root)), slices.Collect(h.c.Nodes())
	_, err := h.c.AddTask(&victims.Task{
		Key: fmt.Sprint("later", len(h.done)), Queue: leaves[h.below("leaf", len(leaves))], Node: nodes[h.below("node", len(nodes))],
		Application: h.application(), Size: h.size(), Priority: int32(h.below("priority", 5)) - 2, Scheduled: h.now,
	})
	return err
}

func (h *history) aNode() victims.Node {
	nodes := slices.Collect(h.c.Nodes())
	return h.c.Node(nodes[h.below("node", len(nodes))])
}

func (h *history) node() error {
	n := h.aNode()
	n.Capacity, n.Unschedulable = h.size(), false
	return h.c.UpdateNode(&n)
}

func (h *history) reserved() error {
	n := h.aNode()
	n.ReservedFor = h.names[h.below("for", len(h.names))]
	return h.c.UpdateNode(&n)
}

func (h *history) bound() error {
	q := queue.ID(h.below("queue", h.c.Tree().Len()))
	l := resources.Limit{Value: h.size(), Defined: resources.Mask(h.below("types", 1<<h.c.Schema().Len()))}
	if h.below("max", 2) == 0 {
		return h.c.SetMax(q, l)
	}
	return h.c.SetGuaranteed(q, l)
}

func (h *history) time() error {
	h.now = h.now.Add(time.Duration(1+h.below("time", 200)) * time.Minute)
	return nil
}
