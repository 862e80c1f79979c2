// SPDX-License-Identifier: Apache-2.0

package world

import (
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/victims"
)

// Filter returns the function of a caller that says where an ask may run: on
// nodes that have the labels which it selects. The cluster is one of the world.
// What a points to is the ask in question, and may be another for each decision.
func (w *World) Filter(cluster *victims.Cluster, a *Ask) func(*victims.Question) bool {
	return func(q *victims.Question) bool {
		name := cluster.NodeName(q.Node)
		return slices.ContainsFunc(w.Nodes, func(n Node) bool { return n.Name == name && n.Has(a.Selector) })
	}
}

// Blockers returns the function of a caller that names who must go from a node
// for an ask to run there: tasks and grants that hold one of its ports.
// Likewise for the ask that a points to.
func (w *World) Blockers(cluster *victims.Cluster, a *Ask) func([]victims.TaskID, *victims.Question) []victims.TaskID {
	return func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
		held := func(port string) bool { return slices.Contains(a.Ports, port) }
		for t := range cluster.TasksOn(q.Node) {
			if slices.ContainsFunc(w.ports(cluster.Key(t)), held) {
				dst = append(dst, t)
			}
		}
		return dst
	}
}

// Filter is that of the world, for the ask of the case.
func (c *Case) Filter(cluster *victims.Cluster) func(*victims.Question) bool {
	return c.World.Filter(cluster, &c.Ask)
}

// Blockers is that of the world, for the ask of the case.
func (c *Case) Blockers(cluster *victims.Cluster) func([]victims.TaskID, *victims.Question) []victims.TaskID {
	return c.World.Blockers(cluster, &c.Ask)
}

// SetMinimums tells a cluster how many members jobs need, by name, unless it knows.
func SetMinimums(c *victims.Cluster, minimums map[string]int) {
	for _, job := range slices.Sorted(maps.Keys(minimums)) {
		if c.MinMembers(job) == minimums[job] {
			continue
		}
		if err := c.SetMinMembers(job, minimums[job]); err != nil {
			panic(err) // worlds have no such numbers
		}
	}
}

// SetEveryMinimum tells a cluster how many members each job that has tasks needs.
func SetEveryMinimum(c *victims.Cluster, minimum func(job string) int) {
	minimums := make(map[string]int)
	for id := range c.Tasks() {
		if job := c.Job(id); job != "" {
			minimums[job] = minimum(job)
		}
	}
	SetMinimums(c, minimums)
}

// ports returns the ports that a task or a grant holds.
func (w *World) ports(key string) []string {
	for i := range w.Tasks {
		if w.Tasks[i].Key == key {
			return w.Tasks[i].Ports
		}
	}
	for i := range w.Grants {
		if w.Grants[i].Ask.Key == key {
			return w.Grants[i].Ask.Ports
		}
	}
	return nil
}

// Windows returns a filter that refuses each node up to an instant, or for ever.
func Windows(t *rapid.T, c *victims.Cluster, now time.Time) func(*victims.Question) bool {
	ends := make(map[victims.NodeID]time.Time)
	for id := range c.Nodes() {
		if hours := rapid.IntRange(-2, 3).Draw(t, "window"); hours >= 0 {
			ends[id] = now.Add(time.Duration(hours) * time.Hour)
		}
	}
	return func(q *victims.Question) bool {
		q.Until = ends[q.Node]
		return !q.Until.IsZero() && !q.Now.Before(q.Until)
	}
}

// StaysRefused asks again and again what was decided at some instant: once it is a refusal it is
// one until RetryAt.
func StaysRefused(t *rapid.T, now time.Time, decide func(at time.Time) *victims.Decision) {
	var retry time.Time
	for half := range 8 {
		at := now.Add(time.Duration(half) * 30 * time.Minute)
		d := decide(at)
		early := half > 0 && (retry.IsZero() || at.Before(retry))
		switch {
		case d.Outcome != victims.Refused && early:
			t.Fatalf("%v at %v, before %v", d.Outcome, at, retry)
		case d.Outcome != victims.Refused || !d.Refusal.Proven:
			return
		case !early:
			retry = d.Refusal.RetryAt
		}
	}
}
