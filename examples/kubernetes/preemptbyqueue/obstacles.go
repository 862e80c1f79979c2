// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// obstacles finds the pods of a node that Filter plugins refuse the pod of the cycle
// for, whatever the plugin: volumes, spread, a plugin of others. It removes all pods that
// may lawfully go together, asks, and gives back one after another, the costliest first,
// as DefaultPreemption does. Those that it cannot give back are blockers to the planner,
// which weighs them, and adds what amounts take.
type obstacles struct {
	lawful victims.WhatIf
	found  map[victims.NodeID][]victims.TaskID // what blocks a node, for both planner and audit
	tasks  []victims.TaskID                    // memory for those of a node
	free   resources.Vector                    // memory
}

// searchObstacles has planner and audit take what blocks a node from obstacles, until the
// cycle ends. It reports false if they can be no reason for a refusal: it is for who asks,
// or amounts explain what the Filter plugins say of each node.
func (c *core) searchObstacles(ask *victims.Ask, now time.Time) (bool, error) {
	y, d := c.cycle, &c.decision
	if y == nil || d.Outcome != victims.Refused || d.Refusal.Reason != "no-victims" && d.Refusal.Reason != "predicate" {
		return false, nil
	}
	for n := range c.cluster.Nodes() {
		if !y.refusedFor(n) {
			continue
		}
		o := &c.obstacles
		if o.found == nil {
			o.found = map[victims.NodeID][]victims.TaskID{}
		}
		clear(o.found)
		y.searched = true
		c.planner.Blockers, c.auditor.Blockers = y.obstaclesOn, y.obstaclesOn
		o.lawful.Cluster, o.lawful.Options = c.cluster, c.planner.Options
		return true, o.lawful.Open(ask, now)
	}
	return false, nil
}

// obstaclesOn appends to dst what blocks a node: what blockers names, and what only the
// Filter plugins know.
func (y *cycle) obstaclesOn(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
	if isSuccessor(q.Ask.Key) {
		return dst // see lets
	}
	o := &y.core.obstacles
	found, ok := o.found[q.Node]
	if !ok {
		found = y.blockers(nil, q)
		if y.refusedFor(q.Node) {
			found = append(found, y.findObstacles(q.Node)...)
		}
		o.found[q.Node] = found
	}
	return append(dst, found...)
}

// refusedFor reports whether Filter plugins refuse a node for something that the pods
// there may be the reason for, and that amounts do not explain.
func (y *cycle) refusedFor(n victims.NodeID) bool {
	status := y.statusOn(n)
	if status.Code() != fwk.Unschedulable || status.Plugin() == Name {
		return false
	}
	if status.Plugin() != names.NodeResourcesFit {
		return true
	}
	// It may be for a type that queues and plans do not know.
	o := &y.core.obstacles
	o.free = y.core.cluster.ComingFree(o.free, n)
	for i, free := range o.free {
		if y.size[i] > 0 && free < y.size[i] {
			return false
		}
	}
	return true
}

// findObstacles removes and gives back. It returns nil if it cannot help.
func (y *cycle) findObstacles(n victims.NodeID) (found []victims.TaskID) {
	tasks := y.lawfulOn(n)
	info, err := y.node(n)
	if err != nil || len(tasks) == 0 {
		return nil
	}
	info, state := y.core.withAmounts(info), y.state.Clone()
	if info == nil {
		return nil
	}
	pods := make([]fwk.PodInfo, len(tasks))
	for i, t := range tasks {
		pods[i] = podOn(info, y.core.cluster.Key(t))
	}
	gone := slices.Clone(pods)
	for _, k := range goingFrom(y.core.cluster, n) {
		gone = append(gone, podOn(info, k))
	}
	for _, pi := range gone {
		if pi != nil && !y.remove(state, pi, info) {
			return nil
		}
	}
	if !y.filters(state, info) {
		return nil
	}
	for i, pi := range pods {
		if pi == nil {
			continue
		}
		info.AddPodInfo(pi)
		if !y.handle.RunPreFilterExtensionAddPod(y.ctx, state, y.pod, pi, info).IsSuccess() {
			return nil
		}
		if y.filters(state, info) {
			continue
		}
		found = append(found, tasks[i])
		if !y.remove(state, pi, info) {
			return nil
		}
	}
	return found
}

// lawfulOn returns tasks of a node that may lawfully go together, the costliest first.
// Which ones, if not all may, is decided in the opposite order. Members of a job that
// goes as a whole go with those elsewhere, or not at all.
func (y *cycle) lawfulOn(n victims.NodeID) []victims.TaskID {
	c, o := y.core.cluster, &y.core.obstacles
	o.tasks = o.tasks[:0]
	for t := range c.TasksOn(n) {
		if c.State(t) == victims.Running {
			o.tasks = append(o.tasks, t)
		}
	}
	slices.SortFunc(o.tasks, y.cheaper)
	var tasks, set, added []victims.TaskID // set has tasks of any node
	for _, t := range o.tasks {
		together := []victims.TaskID{t}
		if job := c.Job(t); c.MinMembers(job) > 0 {
			together = slices.Collect(c.JobTasks(job))
		}
		added = added[:0]
		for _, t := range together {
			if o.lawful.Preempt(t) {
				added = append(added, t)
			}
		}
		if o.lawful.Lawful() {
			tasks, set = append(tasks, t), append(set, added...)
			continue
		}
		for _, t := range added {
			o.lawful.TakeBack(t)
		}
	}
	for _, t := range set {
		o.lawful.TakeBack(t)
	}
	slices.Reverse(tasks)
	return tasks
}

// cheaper compares tasks by what it costs to stop them alone, roughly.
func (y *cycle) cheaper(a, b victims.TaskID) int {
	c := y.core.cluster
	s, t := c.TaskView(a), c.TaskView(b)
	return cmp.Or(
		cmp.Compare(oneIf(s.OptedOut), oneIf(t.OptedOut)),
		cmp.Compare(oneIf(y.overruns(&s)), oneIf(y.overruns(&t))),
		cmp.Compare(s.Priority, t.Priority),
		t.Scheduled.Compare(s.Scheduled),
		cmp.Compare(s.Key, t.Key),
	)
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// overruns reports whether a task draws on a budget with nothing left.
func (y *cycle) overruns(t *victims.Task) bool {
	return slices.ContainsFunc(t.Budgets, func(name string) bool {
		b, ok := y.core.cluster.Budget(name)
		return ok && b.Left <= 0
	})
}

// withAmounts returns a copy of a node that has plenty of all that queues and plans know,
// or nil if that cannot be made. So what its Filter plugins refuse is something else.
func (c *core) withAmounts(info fwk.NodeInfo) fwk.NodeInfo {
	n, ok := info.(*framework.NodeInfo)
	if !ok {
		return nil
	}
	const plenty = math.MaxInt64 / 2
	n = n.SnapshotConcrete()
	for i := range c.queues().tree.Schema().Len() {
		name := c.queues().tree.Schema().Name(i)
		switch r := n.Allocatable; v1.ResourceName(name) {
		case v1.ResourceCPU:
			r.MilliCPU = plenty
		case v1.ResourceMemory:
			r.Memory = plenty
		case v1.ResourceEphemeralStorage:
			r.EphemeralStorage = plenty
		case v1.ResourcePods:
			r.AllowedPodNumber = math.MaxInt32
		default:
			r.SetScalar(v1.ResourceName(name), plenty)
		}
	}
	return n
}
