// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// historySteps is how long a random history is.
const historySteps = 40_000

// chronicle is a cluster under random asks, ends and changes of configuration,
// with a controller that recreates every victim as a new ask at once.
type chronicle struct {
	t       *testing.T
	random  *rand.Rand
	cluster *victims.Cluster
	planner jobs.Planner
	auditor victims.Auditor
	now     time.Time
	leaves  []queue.ID
	pending []victims.Ask
	running []string // keys of tasks that run
	leaving []string // keys of victims that have not gone
	granted []string // keys of asks that hold a place
	names   int
	counts  map[string]int
}

// A long random history: every plan is lawful and makes Φ, the sum of min(e, g)
// over queues and guaranteed types, strictly larger; nothing else that the
// planner does makes it smaller. Tasks are in gangs and budgets, have costs of
// their own, hold ports and select nodes.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			c := newChronicle(t, seed)
			for range historySteps {
				c.now = c.now.Add(time.Duration(c.random.Int64N(int64(time.Minute))))
				c.step()
			}
			t.Log(c.counts)
			// A history in which little happens shows little.
			for _, what := range []string{"plan", "refused", "fits", "waits", "required plan", "bounds changed", "state changed",
				"gang stopped", "overrun", "blocked", "own cost"} {
				require.Greater(t, c.counts[what], 30, "steps of kind %q", what)
			}
		})
	}
}

func newChronicle(t *testing.T, seed uint64) *chronicle {
	schema, err := resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	limit := func(cpu, gpu int64) resources.Limit {
		return resources.Limit{Value: resources.Vector{cpu, gpu}, Defined: 3}
	}
	leaf := func(name string, g resources.Limit, properties map[string]string) queue.Config {
		return queue.Config{Name: name, Guaranteed: g, Properties: properties}
	}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "p", Guaranteed: limit(30, 6), Max: limit(60, 12), Children: []queue.Config{
			leaf("a", limit(15, 3), nil), leaf("b", limit(15, 3), nil), leaf("c", resources.Limit{}, nil),
		}},
		{Name: "q", Properties: map[string]string{"priority.offset": "-1"}, Children: []queue.Config{
			leaf("d", limit(20, 4), nil), leaf("e", resources.Limit{}, map[string]string{"preemption.policy": "disabled"}),
			leaf("f", resources.Limit{}, nil),
		}},
		leaf("g", limit(10, 2), map[string]string{"preemption.policy": "fence"}),
	}})
	require.NoError(t, err)
	c := &chronicle{
		t: t, random: rand.New(rand.NewPCG(seed, 7)), cluster: victims.NewCluster(tree),
		now: now, counts: make(map[string]int),
	}
	c.planner.Cluster, c.auditor.Cluster = c.cluster, c.cluster
	for job := range 12 {
		require.NoError(t, c.cluster.SetMinMembers(fmt.Sprint("job", job), 2))
	}
	c.planner.Filter = func(q *victims.Question) bool { return tag(q.Member.Class).selects(q.Node) }
	c.planner.Blockers = c.blockers
	c.auditor.Filter, c.auditor.Blockers = c.planner.Filter, c.planner.Blockers
	c.changeBudgets()
	for q := range tree.Leaves(queue.Root) {
		c.leaves = append(c.leaves, q)
	}
	for i := range 6 {
		_, err := c.cluster.AddNode(&victims.Node{Name: fmt.Sprint("n", i), Capacity: resources.Vector{20, 4}})
		require.NoError(t, err)
	}
	return c
}

// A tag says which port an ask holds, or 0, and which nodes it selects.
type tag uint64

func (t tag) port() int { return int(t % 4) }

func (t tag) selects(n victims.NodeID) bool { return t/4 == 0 || int(t/4)%2 == int(n)%2 }

// drawTag returns a tag, 0 for most.
func (c *chronicle) drawTag() uint64 {
	var t uint64
	if c.random.IntN(3) == 0 {
		t = 1 + c.random.Uint64N(3)
	}
	if c.random.IntN(8) == 0 {
		t += 4 * (1 + c.random.Uint64N(2))
	}
	return t
}

// blockers appends who holds the port of an ask on a node.
func (c *chronicle) blockers(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
	port := tag(q.Ask.Tag).port()
	if port == 0 {
		return dst
	}
	for id := range c.cluster.TasksOn(q.Node) {
		if tag(c.cluster.Task(id).Tag).port() == port {
			dst = append(dst, id)
		}
	}
	return dst
}

// changeBudgets sets what is left of a soft and of a hard budget.
func (c *chronicle) changeBudgets() {
	for _, name := range []string{"soft", "hard"} {
		require.NoError(c.t, c.cluster.SetBudget(name, victims.Budget{Left: c.random.Int64N(3), Hard: name == "hard"}))
	}
}

func (c *chronicle) step() {
	switch n := c.random.IntN(100); {
	case n < 30:
		c.arrive()
	case n < 70:
		c.decide()
	case n < 80:
		c.depart(&c.leaving)
	case n < 90:
		c.start()
	case n < 96:
		c.depart(&c.running)
	case n < 98:
		c.changeState()
	default:
		c.changeBounds()
	}
}

// arrive adds an ask, unless many are pending.
func (c *chronicle) arrive() {
	if len(c.pending) > 20 {
		return
	}
	c.names++
	ask := victims.Ask{
		Key: fmt.Sprint("k", c.names), Application: fmt.Sprint("app", c.random.IntN(30)),
		Queue:    c.leaves[c.random.IntN(len(c.leaves))],
		Size:     resources.Vector{1 + c.random.Int64N(6), max(c.random.Int64N(4)-1, 0)},
		Priority: c.random.Int32N(3), PendingSince: c.now.Add(-time.Hour),
		Originator: c.random.IntN(10) == 0, OptedOut: c.random.IntN(10) == 0,
		Cost: c.random.Int64N(3), Tag: c.drawTag(),
	}
	ask.Class = int(ask.Tag)
	if c.random.IntN(4) == 0 {
		ask.Job = fmt.Sprint("job", c.random.IntN(12))
	}
	if c.random.IntN(2) == 0 {
		ask.Budgets = []string{[]string{"soft", "soft", "hard"}[c.random.IntN(3)]}
	}
	if c.random.IntN(10) == 0 {
		ask.RequiredNode = fmt.Sprint("n", c.random.IntN(6))
	}
	c.pending = append(c.pending, ask)
}

// decide decides a pending ask, and carries the plan out, at once or slowly.
func (c *chronicle) decide() {
	if len(c.pending) == 0 {
		return
	}
	i := c.random.IntN(len(c.pending))
	ask := c.pending[i]
	var d victims.Decision
	require.NoError(c.t, c.planner.Decide(&d, &ask, c.now))
	if ask.RequiredNode != "" && d.Outcome == victims.Preempts {
		c.counts["required plan"]++
	} else {
		c.counts[d.Outcome.String()]++
	}
	if d.Outcome == victims.Refused {
		if c.random.IntN(2) == 0 {
			c.pending = append(c.pending[:i], c.pending[i+1:]...)
		}
		return
	}
	c.count(&d)
	violations := c.auditor.Audit(nil, &d, c.now)
	require.Empty(c.t, violations, "of the plan\n%s%s", d.String(), c.cluster.Tree())

	// What comes back comes back as it was, as new asks.
	var back []victims.Ask
	for _, v := range d.Plan.Victims {
		task := c.cluster.Task(v.Task)
		c.names++
		back = append(back, victims.Ask{
			Key: fmt.Sprint("k", c.names), Application: task.Application, Queue: task.Queue,
			Size: append(resources.Vector(nil), task.Size...), Priority: task.Priority,
			PendingSince: c.now.Add(-time.Hour), Originator: task.Originator, OptedOut: task.OptedOut,
			Job: task.Job, Cost: task.Cost, Budgets: slices.Clone(task.Budgets), Tag: task.Tag, Class: int(task.Tag),
		})
	}
	before := c.potential()
	require.NoError(c.t, c.cluster.Apply(&d))
	after := c.potential()
	switch {
	case d.Outcome == victims.Preempts && ask.RequiredNode == "":
		require.Greater(c.t, after, before, "Φ after\n%s", d.String())
	case d.Outcome != victims.Preempts:
		require.GreaterOrEqual(c.t, after, before)
	}
	c.pending = append(append(c.pending[:i], c.pending[i+1:]...), back...)
	c.granted = append(c.granted, ask.Key)
	for _, v := range d.Plan.Victims {
		c.leaving = append(c.leaving, v.Key)
		c.forget(&c.running, v.Key)
	}
}

// count counts what a plan shows.
func (c *chronicle) count(d *victims.Decision) {
	cost := &d.Plan.Cost
	for what, shown := range map[string]bool{
		"gang stopped": cost.Jobs > 0,
		"overrun":      cost.Overrun > 0,
		"own cost":     cost.Own.String() != "0",
		"blocked":      slices.ContainsFunc(d.Plan.Victims, func(v victims.Victim) bool { return v.Blocks }),
	} {
		if shown {
			c.counts[what]++
		}
	}
}

// start starts a granted ask once nothing on its node is leaving.
func (c *chronicle) start() {
	if len(c.granted) == 0 {
		return
	}
	key := c.granted[c.random.IntN(len(c.granted))]
	id, ok := c.cluster.LookupGrant(key)
	require.True(c.t, ok)
	node := c.cluster.Task(id).Node
	for _, leaving := range resources.Sub(nil, c.cluster.ComingFree(nil, node), c.cluster.Free(nil, node)) {
		if leaving > 0 {
			return // not before the victims there have gone
		}
	}
	before := c.potential()
	require.NoError(c.t, startAnyway(c.cluster, key, c.now))
	require.Equal(c.t, before, c.potential())
	c.forget(&c.granted, key)
	c.running = append(c.running, key)
}

// depart removes one of some tasks.
func (c *chronicle) depart(keys *[]string) {
	if len(*keys) == 0 {
		return
	}
	key := (*keys)[c.random.IntN(len(*keys))]
	require.NoError(c.t, c.cluster.RemoveTask(key))
	c.forget(keys, key)
}

// changeState lets a running task end by itself, or drains a node for a while.
func (c *chronicle) changeState() {
	c.counts["state changed"]++
	c.changeBudgets()
	if len(c.running) > 0 && c.random.IntN(2) == 0 {
		key := c.running[c.random.IntN(len(c.running))]
		require.NoError(c.t, c.cluster.SetState(key, victims.Releasing))
		c.forget(&c.running, key)
		c.leaving = append(c.leaving, key)
		return
	}
	require.NoError(c.t, c.cluster.UpdateNode(&victims.Node{
		Name: fmt.Sprint("n", c.random.IntN(6)), Capacity: resources.Vector{18 + c.random.Int64N(6), 4 + c.random.Int64N(2)},
		Unschedulable: c.random.IntN(8) == 0,
	}))
}

// changeBounds gives a queue another guarantee or max; some are refused.
func (c *chronicle) changeBounds() {
	q := queue.ID(1 + c.random.IntN(c.cluster.Tree().Len()-1)) // not the root, which nothing is outside of
	l := resources.Limit{
		Value:   resources.Vector{5 + c.random.Int64N(40), 1 + c.random.Int64N(8)},
		Defined: resources.Mask(c.random.IntN(4)),
	}
	set := c.cluster.SetGuaranteed
	if c.random.IntN(3) == 0 {
		set = c.cluster.SetMax
		l.Value = resources.Vector{50 + c.random.Int64N(60), 10 + c.random.Int64N(12)}
	}
	if err := set(q, l); err == nil {
		c.counts["bounds changed"]++
	}
}

func (c *chronicle) forget(keys *[]string, key string) {
	for i, k := range *keys {
		if k == key {
			*keys = append((*keys)[:i], (*keys)[i+1:]...)
			return
		}
	}
}

// potential is Φ, from the tree's usage.
func (c *chronicle) potential() (phi int64) {
	tree := c.cluster.Tree()
	for q := range queue.ID(tree.Len()) {
		e := tree.Effective(nil, q)
		g := tree.Guaranteed(q)
		for i := range g.Defined.All() {
			bound, _ := g.Bound(i)
			phi += min(e[i], bound)
		}
	}
	return phi
}
