// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/queue"
)

// PreFilter keeps a pod back that would take a queue over its max. That is for
// preemption to resolve: its own queue may have pods that matter less.
func (pl *Plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	c := pl.core
	if c.rehearsing.Load() {
		return nil, nil
	}
	if !c.schedules.Load() {
		c.schedules.Store(true)
	}
	inGroup := state.IsPodGroupSchedulingCycle() // in which the snapshot has pods that are there for a try
	if !inGroup {
		c.inherit(pod)
	}
	holds := c.queues().maxes && !c.args.DryRun
	if !holds && (inGroup || !c.changing.Load() && !c.nominations.fresh.Load()) {
		if !inGroup {
			c.catchUp(nodes, catchUpChanged)
		}
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sync(nodes) // a change of the queues may wait for pods to be gone, and Filter for grants
	if !holds {
		return nil, nil
	}
	if q, i, over := c.overMax(pod); over {
		return nil, fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf("queue %s is at its max of %s", c.queues().tree.Path(q), c.queues().tree.Schema().Name(i)))
	}
	return nil, nil
}

// PreFilterExtensions has nothing: what PreFilter says does not depend on a node.
func (pl *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// overMax returns the first queue that a pod would take over its max, with what
// runs, leaves or is granted now, but for a grant of its own.
func (c *core) overMax(pod *v1.Pod) (q queue.ID, i int, over bool) {
	ask, err := c.ask(pod)
	if err != nil {
		return 0, 0, false
	}
	_, granted := c.cluster.LookupGrant(ask.Key)
	for q := range c.queues().tree.Ancestors(ask.Queue) {
		limit, used := c.queues().tree.Max(q), c.queues().tree.Usage(q)
		for i, a := range ask.Size {
			bound, ok := limit.Bound(i)
			if granted || pod.Spec.NodeName != "" {
				a = 0 // it is in used
			}
			if ok && ask.Size[i] > 0 && a > bound-used.At(i) {
				return q, i, true
			}
		}
	}
	return 0, 0, false
}

// Filter keeps pods from room that was granted to others.
func (pl *Plugin) Filter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	held := pl.core.granted.on(info.Node().Name)
	if len(held) == 0 || pl.core.args.DryRun {
		return nil
	}
	pi, err := framework.NewPodInfo(pod)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if !pl.core.admits(held, pod, info, pl.core.sizeOf(nil, pi)) {
		return fwk.NewStatus(fwk.Unschedulable, "node has room only for pods that it was granted to")
	}
	return nil
}

// Reserve ends the grant of a pod that is being bound: from now on the snapshot has
// the pod itself. Pods of a gang are reserved for a try, too. Their grants end when
// the snapshot has them.
func (pl *Plugin) Reserve(_ context.Context, state fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	c := pl.core
	if state.IsPodGroupSchedulingCycle() || c.rehearsing.Load() {
		return nil
	}
	c.alarms.stop(pod.UID)
	c.refused.Delete(pod.UID)
	if !c.granted.has(key(pod)) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key(pod), started)
	return nil
}

// Unreserve has nothing to do: a pod that could not be bound asks again.
func (pl *Plugin) Unreserve(context.Context, fwk.CycleState, *v1.Pod, string) {}

// SignPod says what Filter and PreFilter look at: the queue of a pod and its
// amounts, which other plugins sign, and a grant, which is of one pod only.
func (pl *Plugin) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	if pl.core.granted.has(key(pod)) {
		return nil, fwk.NewStatus(fwk.Unschedulable, "the pod holds a grant")
	}
	return []fwk.SignFragment{{Key: Name + ".Queue()", Value: pl.core.queueOf(pod)}}, nil
}
