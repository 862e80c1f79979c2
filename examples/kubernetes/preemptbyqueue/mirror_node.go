// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/victims"
)

// syncNode brings a node and its tasks to the snapshot.
func (c *core) syncNode(n *mirrored, info fwk.NodeInfo, now time.Time) {
	n.generation, n.overdue = info.GetGeneration(), time.Time{}
	allocatable := info.GetAllocatable()
	node := victims.Node{Name: n.name, Capacity: appendAmounts(nil, c.queues().tree.Schema(), allocatable, int64(allocatable.GetAllowedPodNumber()))}
	err := c.cluster.UpdateNode(&node)
	if errors.Is(err, victims.ErrUnknown) {
		_, err = c.cluster.AddNode(&node)
	}
	if err != nil {
		c.log.Error(err, "Node not mirrored", "node", n.name)
		return
	}
	evicts := n.evicts
	n.evicts = false
	tasks := c.tasksOf(n, info, now)
	for i := range tasks {
		c.setMinimum(tasks[i].Job)
	}
	synced, err := c.cluster.SyncNode(n.name, tasks)
	if err != nil {
		c.log.Error(err, "Node not mirrored", "node", n.name)
	}
	for _, k := range synced.Started {
		c.ended(k, started)
	}
	for _, t := range synced.NotTaken {
		notTaken.Inc()
		c.log.Error(t.Err, "Pod not mirrored: what it uses is closed to plans", "pod", tasks[t.Index].Key)
	}
	for i := range tasks {
		if t := &tasks[i]; t.State == victims.Running && (t.RequiredNode || evicts && c.releases(t.Key)) {
			c.unmark(t.Key)
		}
	}
}

// releases reports whether the cluster has a task that leaves by itself.
func (c *core) releases(key string) bool {
	id, ok := c.cluster.Lookup(key)
	return ok && c.cluster.State(id) == victims.Releasing
}

// unmark takes the mark of a task that was told to leave back. It stays, and does not move.
func (c *core) unmark(key string) {
	if id, ok := c.cluster.Lookup(key); ok && c.cluster.State(id) != victims.Running {
		if err := c.cluster.SetState(key, victims.Running); err != nil {
			c.log.Error(err, "Mark not taken back", "pod", key)
		}
		c.drop(successor(key), dropped)
	}
}

// tasksOf returns the pods of a node as tasks, in memory that the next call uses.
func (c *core) tasksOf(n *mirrored, info fwk.NodeInfo, now time.Time) []victims.Task {
	m, types := &c.mirror, c.queues().tree.Schema().Len()
	pods := info.GetPods()
	m.tasks, m.sizes, m.budgets = m.tasks[:0], m.sizes[:0], m.budgets[:0]
	for _, pi := range pods {
		pod := pi.GetPod()
		m.sizes = c.sizeOf(m.sizes, pi)
		from := len(m.budgets)
		m.budgets = c.lookup.budgetsOf(m.budgets, pod)
		tag, class := c.lookup.classOf(pod)
		t := victims.Task{
			Key: key(pod), Name: name(pod), Tag: tag, Application: application(pod),
			Queue: c.queueOf(pod), Priority: c.priorityOf(pod), Created: pod.CreationTimestamp.Time, Scheduled: scheduled(pod),
			Checkpoint: checkpoint(pod), Cost: cost(pod),
			OptedOut: optedOut(pod) || class.OptedOut, RequiredNode: ofNode(pod), Job: c.unit(pod),
			Budgets: m.budgets[from:len(m.budgets):len(m.budgets)],
		}
		if t.Movable = c.isMovable(pod); t.Movable {
			t.Class, m.movable = moverClass(t.Key), true
		}
		c.leaving(&t, n, pod, now)
		m.tasks = append(m.tasks, t)
	}
	for i := range m.tasks { // sizes has its final place only now
		m.tasks[i].Size = m.sizes[i*types : (i+1)*types : (i+1)*types]
	}
	return m.tasks
}

// leaving notes whether a pod leaves, or is about to, for a disruption budget has let it go.
// If it was to be gone long ago, something keeps it, such as a finalizer: it counts as
// running then, and as nobody's victim.
func (c *core) leaving(t *victims.Task, n *mirrored, pod *v1.Pod, now time.Time) {
	since, leaves := c.lookup.evicted[t.Name]
	if pod.DeletionTimestamp != nil {
		since, leaves = pod.DeletionTimestamp.Time, true // when its grace period ends
	}
	if !leaves {
		return
	}
	overdue := since.Add(c.args.GrantDeadline.Duration)
	if !now.Before(overdue) {
		t.RequiredNode = t.RequiredNode || pod.DeletionTimestamp != nil
		return
	}
	t.State = victims.Releasing
	n.evicts = n.evicts || pod.DeletionTimestamp == nil
	if n.overdue.IsZero() || overdue.Before(n.overdue) {
		n.overdue = overdue
	}
	c.mirror.expect(overdue)
}
