// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// What a list passes over would be refused, and what it yields is what a list answers that is
// always asked for everything.

func TestPending_Asks(t *testing.T) { law.CheckMany(t, 1000, asksHold) }
func TestPending_Jobs(t *testing.T) { law.CheckMany(t, 1000, jobsHold) }

func FuzzPending_Asks(f *testing.F) { f.Fuzz(rapid.MakeFuzz(asksHold)) }
func FuzzPending_Jobs(f *testing.F) { f.Fuzz(rapid.MakeFuzz(jobsHold)) }

// asksHold has asks wait, some of them with members.
func asksHold(t *rapid.T) {
	w := world.Workloads(world.Small.With(world.WithBudgets|world.WithOwnLeaf)).Draw(t, "workload")
	h := newWait(t, &w.World, w.Options.Now)
	h.rules.WithinQueue = world.OwnLeaves[w.Options.OwnLeaf]
	h.rules.RetryInterval = time.Duration(h.below("interval", 2)) * time.Hour
	world.SetMinimums(h.c, w.Options.Minimums)
	var asks []victims.Ask
	for i := range w.Asks {
		ask, err := world.AskOf(h.c, &w.Asks[i])
		require.NoError(t, err)
		if i > 0 && h.below("as another", 3) > 0 {
			key := ask.Key
			ask = asks[h.below("as", i)]
			ask.Key = key
			ask.Members = slices.Clone(ask.Members)
		} else if h.below("gang", 3) == 0 && ask.RequiredNode == "" {
			ask.Members, ask.MinMembers = make([]victims.Member, 1+h.below("members", 3)), h.below("minimum", 2)
		}
		for m := range ask.Members {
			ask.Members[m].Key = fmt.Sprint(ask.Key, "-", m)
		}
		ask.Application, ask.Class = h.application(), h.below("class", 2)
		asks = append(asks, ask)
		h.names = append(h.names, ask.Key)
	}
	h.holds(asks)
}

func jobsHold(t *rapid.T) {
	k := world.JobCases(world.Small).Draw(t, "case")
	h := newWait(t, &k.World, k.Options.Now)
	h.rules.WithinQueue = world.OwnLeaves[k.Options.OwnLeaf]
	world.SetMinimums(h.c, k.Minimums)
	leaf, ok := h.c.Tree().Lookup(k.Job.Queue)
	require.True(t, ok)
	var all []victims.Ask
	for n := range 2 + h.below("jobs", 3) {
		job := victims.Ask{
			Key: fmt.Sprint(k.Job.Name, "-", n), Application: h.application(), Queue: leaf, Priority: k.Job.Priority, NonPreemptible: k.Job.NonPreemptible,
			MinMembers: k.Job.MinMembers, MayNotPreempt: k.Job.MayNot, DomainDepth: k.Job.Domain, PendingSince: k.Job.PendingSince, LastAttempt: k.Job.LastAttempt,
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
		case 3:
			job.DomainDepth = 1 - min(job.DomainDepth, 1)
		}
		h.names = append(h.names, job.Key, job.Key)
		all = append(all, job)
	}
	h.holds(all)
}

// A wait is what happens to a cluster while asks wait.
type wait struct {
	*rapid.T
	w     *world.World
	c     *victims.Cluster
	rules victims.Options
	now   time.Time
	order bool            // by priority
	held  map[string]bool // asks on hold
	names []string        // that a node may be reserved for
	done  []string
}

func newWait(t *rapid.T, w *world.World, now time.Time) *wait {
	c, err := world.Build(w)
	require.NoError(t, err)
	h := &wait{T: t, w: w, c: c, now: now, names: []string{"", "nobody"}, held: make(map[string]bool), order: rapid.Bool().Draw(t, "order")}
	if h.below("filter", 2) == 1 {
		h.rules.Filter = func(q *victims.Question) bool { return (q.Member.Class+int(q.Node))%3 > 0 }
	}
	return h
}

// pending returns a list for a cluster, of the asks of another one or given.
func (h *wait) pending(c *victims.Cluster, asks ...victims.Ask) *jobs.Pending {
	p := &jobs.Pending{
		Planner: &jobs.Planner{Cluster: c, Options: h.rules},
		Hold:    func(a *victims.Ask) bool { return h.held[a.Key] },
	}
	if h.order {
		p.Order = func(a, b *victims.Ask) int { return cmp.Compare(b.Priority, a.Priority) }
	}
	for _, a := range asks {
		p.Add(a)
	}
	return p
}

// all returns copies of what waits.
func all(p *jobs.Pending) (asks []victims.Ask) {
	for a := range p.All() {
		asks = append(asks, *a)
	}
	return asks
}

// holds lets asks wait for some passes, between which something happens.
func (h *wait) holds(asks []victims.Ask) {
	list := h.pending(h.c, asks...)
	for range 4 {
		before := all(list)
		fresh := h.c.Clone()
		twin := h.pass(fresh, h.pending(fresh, before...), nil)
		got := h.pass(h.c, list, before)
		if fmt.Sprint(got) != fmt.Sprint(twin) {
			h.Fatalf("%q, and a list that is new says %q; after %q\n%v", got, twin, h.done, h.w)
		}
		for range h.below("happenings", 4) {
			h.next()
		}
	}
}

// pass goes over a list, and carries plans out. What it passes over of some asks it decides, and
// wants a refusal, if it is not on hold and holds no places.
func (h *wait) pass(c *victims.Cluster, list *jobs.Pending, over []victims.Ask) (told []string) {
	refused := func(a *victims.Ask) {
		if h.held[a.Key] || waits(c, a) {
			return
		}
		text, d := h.decideOne(c, a)
		if d.Outcome != victims.Refused && len(d.Plan.Places) > 0 {
			h.Fatalf("%s is passed over: %s; after %q\n%v", a.Key, text, h.done, h.w)
		}
	}
	for d, err := range list.Decide(h.now) {
		for require.NoError(h, err); len(over) > 0 && over[0].Key != d.Plan.Ask.Key; over = over[1:] {
			refused(&over[0])
		}
		over = over[min(1, len(over)):]
		if h.held[d.Plan.Ask.Key] || waits(c, &d.Plan.Ask) {
			h.Fatalf("%s is yielded", d.Plan.Ask.Key)
		}
		if text := d.Summary(); d.Outcome != victims.Refused && len(d.Plan.Places) > 0 {
			told = append(told, text)
			require.NoError(h, c.Apply(d))
		}
	}
	for i := range over {
		refused(&over[i])
	}
	return told
}

// waits reports whether an ask runs, or holds all that it needs.
func waits(c *victims.Cluster, a *victims.Ask) bool {
	keys := []string{a.Key}
	if len(a.Members) > 0 {
		keys = nil
		for i := range a.Members {
			keys = append(keys, a.Members[i].Key)
		}
	}
	runs, held := 0, 0
	for _, key := range keys {
		if _, ok := c.LookupGrant(key); ok {
			held++
		} else if id, ok := c.Lookup(key); ok && (c.State(id) == victims.Running || len(a.Members) == 0) {
			runs++
		}
	}
	need := len(keys)
	if a.MinMembers > 0 {
		need = a.MinMembers
	}
	return runs == len(keys) || held > 0 && held+runs >= need
}

// decideOne decides an ask by a planner of its own.
func (h *wait) decideOne(c *victims.Cluster, a *victims.Ask) (string, *victims.Decision) {
	var d victims.Decision
	require.NoError(h, (&jobs.Planner{Cluster: c, Options: h.rules}).Decide(&d, a, h.now))
	return d.Summary(), &d
}

func (h *wait) below(label string, n int) int { return rapid.IntRange(0, n-1).Draw(h.T, label) }

// application draws one of its own, or one that runs.
func (h *wait) application() string {
	names := []string{"new", ""}
	for id := range h.c.Tasks() {
		names = append(names, h.c.Task(id).Application)
	}
	return names[h.below("application", len(names))]
}

func (h *wait) size() resources.Vector {
	v := make(resources.Vector, h.c.Schema().Len())
	for i := range v {
		v[i] = int64(h.below("amount", 6))
	}
	return v
}

// next lets something happen. An error is that of a max below a guarantee, and the like.
func (h *wait) next() {
	happenings := []struct {
		what string
		do   func() error
	}{
		{"goes", h.goes}, {"comes", h.comes}, {"a node", h.node}, {"reserved", h.reserved}, {"reserved", h.reserved}, {"a bound", h.bound},
		{"time", h.time}, {"start", h.start}, {"drop", h.drop}, {"hold", h.hold},
	}
	x := happenings[h.below("kind", len(happenings))]
	if x.do() == nil {
		h.done = append(h.done, x.what)
	}
}

func (h *wait) goes() error {
	for _, id := range slices.Collect(h.c.Tasks()) {
		if h.c.State(id) != victims.Granted && h.below("this", 3) == 0 {
			return h.c.RemoveTask(h.c.Key(id))
		}
	}
	return nil
}

func (h *wait) comes() error {
	leaves, nodes := slices.Collect(h.c.Tree().Leaves(queue.Root)), slices.Collect(h.c.Nodes())
	_, err := h.c.AddTask(&victims.Task{
		Key: fmt.Sprint("later", len(h.done)), Queue: leaves[h.below("leaf", len(leaves))], Node: nodes[h.below("node", len(nodes))],
		Application: h.application(), Size: h.size(), Priority: int32(h.below("priority", 5)) - 2, Scheduled: h.now,
	})
	return err
}

func (h *wait) aNode() victims.Node {
	nodes := slices.Collect(h.c.Nodes())
	return h.c.Node(nodes[h.below("node", len(nodes))])
}

func (h *wait) node() error {
	n := h.aNode()
	n.Capacity, n.Unschedulable = h.size(), false
	return h.c.UpdateNode(&n)
}

func (h *wait) reserved() error {
	n := h.aNode()
	n.ReservedFor = h.names[h.below("for", len(h.names))]
	return h.c.UpdateNode(&n)
}

func (h *wait) bound() error {
	q := queue.ID(h.below("queue", h.c.Tree().Len()))
	l := resources.Limit{Value: h.size(), Defined: resources.Mask(h.below("types", 1<<h.c.Schema().Len()))}
	if h.below("max", 2) == 0 {
		return h.c.SetMax(q, l)
	}
	return h.c.SetGuaranteed(q, l)
}

func (h *wait) time() error {
	h.now = h.now.Add(time.Duration(1+h.below("time", 200)) * time.Minute)
	return nil
}

func (h *wait) start() error {
	_, err := h.c.StartReady(h.now, nil)
	return err
}

// drop gives up the grants on a node, as if it had died.
func (h *wait) drop() error {
	_, err := h.c.DropOn(h.aNode().Name)
	return err
}

func (h *wait) hold() error {
	name := h.names[h.below("hold", len(h.names))]
	h.held[name] = !h.held[name]
	return nil
}
