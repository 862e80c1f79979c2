// SPDX-License-Identifier: Apache-2.0

package world

import (
	"maps"
	"slices"

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
