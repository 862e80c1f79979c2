// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/victims"
)

// PostFilter decides what should happen for a pod that fits nowhere.
func (pl *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, m fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	if !pl.core.ready() {
		pl.wake([]*v1.Pod{pod}, time.Second)
		return nil, fwk.NewStatus(fwk.Unschedulable, "the ConfigMap with the queues is not read yet")
	}
	nodes, err := pl.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	c := pl.core
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sync(nodes)
	ask := c.askOf(info)
	c.cycle = &cycle{ctx: ctx, core: c, handle: pl.handle, state: state, pod: pod, info: info, size: ask.Size, statuses: m}
	defer func() { c.cycle = nil }()
	c.consult()
	now := time.Now()
	c.answerInquiries(pod, &ask, now)
	now = time.Now()
	err = c.decide(&ask, now)
	decideSeconds.Observe(time.Since(now).Seconds())
	if err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	return pl.carryOut(ctx, pod, now)
}

// decide decides an ask, and audits the plan. A grant that is of no use any more is
// dropped, and the ask decided as if it had none.
func (c *core) decide(ask *victims.Ask, now time.Time) error {
	if err := c.planner.Decide(&c.decision, ask, now); err != nil {
		return err
	}
	if _, granted := c.cluster.LookupGrant(ask.Key); granted && !c.useful(ask.Key) {
		c.drop(ask.Key, dropped)
		if err := c.planner.Decide(&c.decision, ask, now); err != nil {
			return err
		}
	}
	c.audit(now)
	return nil
}

// useful reports whether an ask should keep waiting for the place that it was
// granted. It should not if the amounts are there and the scheduler refuses the node
// all the same; if nothing leaves any more; or if the node is out by now.
func (c *core) useful(key string) bool {
	d := &c.decision
	if d.Outcome != victims.Refused || d.Refusal.Reason != victims.InFlight {
		return false
	}
	id, _ := c.cluster.LookupGrant(key)
	return len(d.Refusal.WaitsFor) > 0 && c.cycle.mayRun(c.cluster.NodeOf(id))
}

// waitsFor returns the keys of the victims that a grant waits for.
func (c *core) waitsFor(key string) []string {
	var w victims.Waiting
	if c.cluster.Waiting(&w, key) != nil {
		return nil
	}
	return w.Victims
}

// carryOut does what was decided for a pod.
func (pl *Plugin) carryOut(ctx context.Context, pod *v1.Pod, now time.Time) (*fwk.PostFilterResult, *fwk.Status) {
	c := pl.core
	d := &c.decision
	line := d.Summary(c.cluster)
	if l := log(ctx).V(2); l.Enabled() {
		l.Info("Decided", "pod", klog.KObj(pod), "outcome", d.Outcome, "predicateCalls", c.cycle.asked, "decision", d.Describe(c.cluster))
	}
	c.count(d)
	if d.Outcome == victims.Refused {
		return pl.refuse(pod, line, now)
	}
	if c.args.DryRun {
		c.refused.Store(pod.UID, waiting{pod: pod, size: c.cycle.size})
		return nil, fwk.NewStatus(fwk.Unschedulable, "dry run: "+line)
	}
	e := pl.eviction(pod)
	if err := c.cluster.Apply(d.Plan.Change()); err != nil {
		return nil, fwk.AsStatus(err)
	}
	c.given(d.Plan.Ask.Key)
	if len(e.victims) > 0 {
		go pl.evict(e)
	}
	pl.wake([]*v1.Pod{pod}, pl.patience(d))
	return framework.NewPostFilterResultWithNominatedNode(d.Plan.Place), fwk.NewStatus(fwk.Success, line)
}

// refuse says no. A pod in flight keeps its nomination, and another one loses it.
func (pl *Plugin) refuse(pod *v1.Pod, line string, now time.Time) (*fwk.PostFilterResult, *fwk.Status) {
	r := &pl.core.decision.Refusal
	if r.Reason == victims.InFlight {
		return nil, fwk.NewStatus(fwk.Unschedulable, line)
	}
	w := waiting{pod: pod, size: pl.core.cycle.size}
	w.help.CopyFrom(&r.Help)
	pl.core.refused.Store(pod.UID, w)
	if r.RetryAt.After(now) {
		pl.wake([]*v1.Pod{pod}, r.RetryAt.Sub(now))
	}
	return framework.NewPostFilterResultWithNominatedNode(""), fwk.NewStatus(fwk.Unschedulable, line)
}

// patience is how long a pod waits for its place before it asks again: until all that
// leaves the node should have gone, and the deadline on top. A pod that fits has
// nothing to wait for. The scheduler saw no room a moment ago, and may now.
func (pl *Plugin) patience(d *victims.Decision) time.Duration {
	if d.Outcome == victims.Fits {
		return time.Millisecond
	}
	longest := int64(0)
	if info, err := pl.handle.SnapshotSharedLister().NodeInfos().Get(d.Plan.Place); err == nil {
		for _, pi := range info.GetPods() {
			if s := pi.GetPod().Spec.TerminationGracePeriodSeconds; s != nil {
				longest = max(longest, *s)
			}
		}
	}
	return time.Duration(longest)*time.Second + pl.core.args.GrantDeadline.Duration + time.Second
}

// wake has a pod, or those of a gang, tried again after a while. No event may come
// before.
func (pl *Plugin) wake(pods []*v1.Pod, after time.Duration) {
	again := map[string]*v1.Pod{}
	for _, p := range pods {
		again[name(p)] = p.DeepCopy()
	}
	pl.core.alarms.set(pods[0].UID, after, func() { pl.core.activate(again) })
}

// eviction returns what is to be done for a plan that is not applied yet.
func (pl *Plugin) eviction(pod *v1.Pod) *eviction {
	c := pl.core
	plan := &c.decision.Plan
	e := &eviction{pods: []*v1.Pod{pod.DeepCopy()}, keys: []string{plan.Ask.Key}, note: c.entitlement(&plan.Ask)}
	for i := range plan.Victims {
		e.add(pl.handle, plan.Victims[i].Place, plan.Victims[i].Key)
	}
	return e
}

// entitlement says in words for whom a plan is, and what gives it the right to it.
func (c *core) entitlement(ask *victims.Ask) string {
	schema := c.queues().tree.Schema()
	for i, a := range ask.Size {
		q, ok := c.queues().tree.Governing(ask.Queue, i)
		if a == 0 || !ok {
			continue
		}
		guaranteed, _ := c.queues().tree.Guaranteed(q).Bound(i)
		return fmt.Sprintf("preempted by %s of queue %s, guaranteed %s, had %s", ask.Name, c.queues().tree.Path(q),
			schema.Amount(i, guaranteed), schema.Amount(i, c.queues().tree.Effective(nil, q).At(i)))
	}
	return fmt.Sprintf("preempted by %s of queue %s, by priority", ask.Name, c.queues().tree.Path(ask.Queue))
}
