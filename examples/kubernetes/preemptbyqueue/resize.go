// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// resizing reports whether a pod runs, is to grow where it is, and waits for room. The
// scheduler tries such a pod with the feature gate InPlacePodVerticalScalingSchedulerPreemption.
func resizing(pod *v1.Pod) bool { return pod.Spec.NodeName != "" && resource.IsPodResizeDeferred(pod) }

// grow decides who makes room for a pod that is to grow where it is. The snapshot has it
// at its new size already, and so has the mirror: nobody else is given that room, and
// there is nothing to grant. For the decision it is as small as it is, and what asks is the
// rest, on its node: the Filter plugins refuse all others. Once the victims have gone,
// the kubelet resizes the pod.
func (pl *Plugin) grow(y *cycle, ask *victims.Ask) (*fwk.PostFilterResult, *fwk.Status) {
	c, k, now := pl.core, ask.Key, time.Now()
	id, ok := c.cluster.Lookup(k)
	if !ok || c.cluster.State(id) != victims.Running {
		return nil, fwk.NewStatus(fwk.Unschedulable, "the pod that is to grow does not run")
	}
	full := c.cluster.Task(id).Size
	small := c.sizeNow(y.pod)
	if err := c.cluster.Resize(k, small); err != nil {
		return nil, fwk.AsStatus(err)
	}
	defer func() {
		if err := c.cluster.Resize(k, full); err != nil {
			c.log.Error(err, "Size of a pod not restored", "pod", k)
		}
	}()
	ask.Key, ask.RequiredNode, ask.Job = k+"/resize", "", ""
	ask.Size = resources.Max(nil, resources.Sub(nil, full, small), make(resources.Vector, len(full)))
	y.size = ask.Size
	c.cycle = y
	defer func() { c.cycle = nil }()
	c.consult()
	if err := c.planner.Decide(&c.decision, ask, now); err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	if err := c.search(ask, now); err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	d := &c.decision
	line := "resize: " + d.Summary()
	c.countDecision(d.Outcome, d.Refusal.Reason, ask.Queue)
	if d.Outcome != victims.Refused {
		countPlan(d.Outcome, d.Plan.Proof, d.Plan.Victims)
	}
	if d.Outcome == victims.Refused && d.Refusal.RetryAt.After(now) {
		c.wake([]*v1.Pod{y.pod}, d.Refusal.RetryAt.Sub(now))
	}
	if d.Outcome != victims.Preempts || c.args.DryRun {
		return nil, fwk.NewStatus(fwk.Unschedulable, line)
	}
	e := pl.eviction(y.pod)
	e.keys = nil // there is no grant to take back
	for i := range d.Plan.Victims {
		if err := c.cluster.SetState(d.Plan.Victims[i].Key, victims.Marked); err != nil {
			c.log.Error(err, "Victim not marked", "pod", d.Plan.Victims[i].Key)
		}
	}
	c.mark(d.Plan.Victims, now)
	go pl.evict(e)
	return nil, fwk.NewStatus(fwk.Unschedulable, line)
}

// sizeNow returns what a pod that is to grow uses now. The scheduler counts a pod whose
// growth is infeasible as what it has.
func (c *core) sizeNow(pod *v1.Pod) resources.Vector {
	as := pod.DeepCopy()
	for i := range as.Status.Conditions {
		if of := &as.Status.Conditions[i]; of.Type == v1.PodResizePending {
			of.Reason = v1.PodReasonInfeasible
		}
	}
	info, _ := framework.NewPodInfo(as) // of a pod that the scheduler has read already
	return c.sizeOf(nil, info)
}
