// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A trial is a random world and a quota to enforce in it.
type trial struct {
	World    world.World
	Queue    string
	Max      world.Amounts
	Exact    bool
	Order    quota.Order
	Busy     []string // queues that are being enforced already
	Budget   int64
	Minimums map[string]int
}

func (c *trial) String() string {
	return fmt.Sprintf("%v\nenforce %s max %v exact %t order %q busy %v steps %d minimums %v budgets %v",
		&c.World, c.Queue, c.Max, c.Exact, c.Order, c.Busy, c.Budget, c.Minimums, c.World.Budgets)
}

// trials returns random trials in worlds of a shape. Guarantees are drawn by
// package world around what is used, and so is the max here.
func trials(s world.Shape) *rapid.Generator[*trial] {
	return rapid.Custom(func(t *rapid.T) *trial {
		c := &trial{World: world.Cases(s).Draw(t, "case").World, Minimums: make(map[string]int)}
		for i := range c.World.Tasks {
			task := &c.World.Tasks[i]
			// Ages in seconds, so that some are the same; of some they are not
			// known.
			task.Created = world.Epoch.Add(-time.Duration(below(t, "age", 6)) * time.Second)
			if chance(t, "unknown age", 1) {
				task.Created = time.Time{}
			}
			if chance(t, "job", 4) {
				task.Job = of(t, "job", "j1", "j2")
			}
		}
		c.Minimums["j1"] = below(t, "minimum", 5)
		c.drawBudgets(t)
		c.drawQuota(t)
		c.Exact = of(t, "overshoot", false, false, true)
		c.Order = of(t, "order", quota.YoungestFirst, quota.YoungestFirst, quota.ClosestMatch, quota.Pack, quota.Fewest, quota.FewestOfAll)
		c.Budget = of[int64](t, "budget", 0, 0, 0, 1, 100_000)
		for _, q := range c.World.Queues() {
			if chance(t, "busy", 1) {
				c.Busy = append(c.Busy, q.Path)
			}
		}
		return c
	})
}

// drawBudgets draws two budgets, mostly hard ones with little left, and who names
// them.
func (c *trial) drawBudgets(t *rapid.T) {
	c.World.Budgets = map[string]world.Budget{}
	if !chance(t, "budgets", 8) {
		return
	}
	for _, name := range []string{"b1", "b2"} {
		c.World.Budgets[name] = world.Budget{Left: int64(below(t, "left", 5)) - 1, Hard: below(t, "soft", 4) > 0}
		for i := range c.World.Tasks {
			if task := &c.World.Tasks[i]; chance(t, "in budget", 5) {
				task.Budgets = append(task.Budgets, name)
			}
		}
	}
}

// slowGang is a job with a minimum, as the design words it.
type slowGang struct {
	spare, running int
	whole          bool // all that run are in one leaf below the queue, which is not busy
}

// gang returns the gang of a job, and whether the job has a minimum.
func (c *trial) gang(job string) (g slowGang, ok bool) {
	if c.Minimums[job] <= 0 || job == "" {
		return g, false
	}
	where := ""
	g.whole = true
	for _, t := range c.World.Tasks {
		if t.Job != job || t.State != world.Running {
			continue
		}
		g.running++
		g.whole = g.whole && !t.RequiredNode && (where == "" || where == t.Queue) && world.Inside(t.Queue, c.Queue) && !c.isBusy(t.Queue)
		where = t.Queue
	}
	g.spare = max(g.running-c.Minimums[job], 0)
	return g, true
}

// isBusy reports whether a queue is, or is below, one below the trial's that is
// being enforced already.
func (c *trial) isBusy(path string) bool {
	return slices.ContainsFunc(c.Busy, func(b string) bool {
		return b != c.Queue && world.Inside(b, c.Queue) && world.Inside(path, b)
	})
}

// drawQuota draws a queue, mostly one with usage, and a max below that.
func (c *trial) drawQuota(t *rapid.T) {
	usage := c.World.Usage(true)
	places := c.World.Queues()
	used := slices.DeleteFunc(slices.Clone(places), func(q world.Place) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Values(usage[q.Path])), func(v int64) bool { return v > 0 })
	})
	if len(used) > 0 && !chance(t, "any queue", 1) {
		places = used
	}
	q := of(t, "queue", places...)
	c.Queue, c.Max = q.Path, make(world.Amounts)
	for i, name := range c.World.Types {
		if i > 0 && chance(t, "unbounded", 5) {
			continue
		}
		now := usage[q.Path][name]
		c.Max[name] = max(now-now/8*int64(below(t, "eighths", 9))-int64(below(t, "less", 8)), q.Guaranteed[name], 0)
	}
}

// below draws a number in [0, n), mostly a small one.
func below(t *rapid.T, label string, n int) int { return rapid.IntRange(0, n-1).Draw(t, label) }

// chance is true in n of 16 draws, and shrinks to false.
func chance(t *rapid.T, label string, n int) bool { return below(t, label, 16) >= 16-n }

func of[T any](t *rapid.T, label string, list ...T) T { return list[below(t, label, len(list))] }

// build makes the cluster of a trial, with its max.
func (c *trial) build(t require.TestingT) *victims.Cluster {
	cluster, err := world.Build(&c.World)
	require.NoError(t, err)
	world.SetMinimums(cluster, c.Minimums)
	q, ok := cluster.Tree().Lookup(c.Queue)
	require.True(t, ok)
	require.NoError(t, cluster.SetMax(q, c.limit(c.Max)))
	return cluster
}

// limit returns bounds of the trial's types.
func (c *trial) limit(a world.Amounts) resources.Limit {
	l := resources.Limit{Value: make(resources.Vector, len(c.World.Types))}
	for i, name := range c.World.Types {
		if v, ok := a[name]; ok {
			l.Value[i], l.Defined = v, l.Defined|1<<i
		}
	}
	return l
}

func (c *trial) busy(tree *queue.Tree) func(queue.ID) bool {
	return func(q queue.ID) bool { return slices.Contains(c.Busy, tree.Path(q)) }
}

func (c *trial) enforcer(cluster *victims.Cluster) *quota.Enforcer {
	return &quota.Enforcer{
		Cluster: cluster, Order: c.Order,
		Options: victims.Options{NeverOvershoot: c.Exact, Enforced: c.busy(cluster.Tree()), Steps: c.Budget},
	}
}

func (c *trial) auditor(cluster *victims.Cluster) *victims.Auditor {
	e := c.enforcer(cluster)
	return &victims.Auditor{Cluster: cluster, Options: e.Options}
}

// enforce enforces the quota of a trial.
func (c *trial) enforce(t require.TestingT, cluster *victims.Cluster) *victims.Decision {
	q, ok := cluster.Tree().Lookup(c.Queue)
	require.True(t, ok)
	o := new(victims.Decision)
	require.NoError(t, c.enforcer(cluster).Enforce(o, q, world.Epoch))
	return o
}

// keys returns the keys of victims.
func keys(o *victims.Decision) []string {
	all := []string{}
	for _, v := range o.Plan.Victims {
		all = append(all, v.Key)
	}
	return all
}

// seedFuzz adds inputs that make whole worlds; of shorter ones too few draws
// can be made.
func seedFuzz(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
}
