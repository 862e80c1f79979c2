// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// PostFilter decides what should happen for a pod that fits nowhere.
func (pl *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, m fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	upstream.PreemptionAttempts.Inc()
	if !pl.core.ready() {
		pl.core.wake([]*v1.Pod{pod}, time.Second)
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
	y := &cycle{ctx: ctx, core: c, handle: pl.handle, state: state, pod: pod, info: info, size: ask.Size, statuses: m}
	if resizing(pod) {
		return pl.grow(y, &ask)
	}
	return pl.attempt(y, &ask)
}

// attempt decides an ask in the cycle of its pod, and does what was decided.
func (pl *Plugin) attempt(y *cycle, ask *victims.Ask) (*fwk.PostFilterResult, *fwk.Status) {
	c := pl.core
	c.cycle = y
	defer func() { c.cycle = nil }()
	c.consult()
	now := time.Now()
	err := c.decide(ask, now)
	var w *workload
	if err == nil && !c.move(ask, now) {
		w = pl.together(now)
	}
	decideSeconds.Observe(time.Since(now).Seconds())
	c.answerInquiries(y.pod, ask, now) // with the blockers that the decision has found
	if err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	if w != nil {
		return w.carryOut(now)
	}
	return pl.carryOut(y.ctx, y.pod, now)
}

// decide decides an ask. A grant that is of no use any more is dropped, and the ask decided
// as if it had none. If there is no plan, it may take the place of a lower priority over,
// or pods that Filter plugins refuse a node for may have to go.
func (c *core) decide(ask *victims.Ask, now time.Time) error {
	if err := c.planner.Decide(&c.decision, ask, now); err != nil {
		return err
	}
	if _, granted := c.cluster.LookupGrant(ask.Key); granted && !c.useful(ask.Key, now) {
		c.drop(ask.Key, dropped)
		if err := c.planner.Decide(&c.decision, ask, now); err != nil {
			return err
		}
	}
	if err := c.takeOver(ask, now); err != nil {
		return err
	}
	return c.search(ask, now)
}

// search looks for a plan with those that Filter plugins refuse nodes for, if there is none
// without, and audits what was decided.
func (c *core) search(ask *victims.Ask, now time.Time) error {
	// A search for what other Filter plugins complain about costs questions to them for
	// many nodes. So it comes only if there is no plan without.
	search, err := c.searchObstacles(ask, now)
	if search && err == nil {
		err = c.planner.Decide(&c.decision, ask, now)
	}
	if err != nil {
		return err
	}
	c.audit(now)
	return nil
}

// useful reports whether an ask should keep waiting for the place that it was
// granted. It should not if the amounts are there and the scheduler refuses the node
// all the same; if nothing leaves any more; or if the node has been out for a while.
// Somebody who cordons a node may change their mind, and another place costs evictions.
func (c *core) useful(key string, now time.Time) bool {
	d := &c.decision
	if d.Outcome != victims.Refused || d.Refusal.Reason != victims.InFlight {
		return false
	}
	id, _ := c.cluster.LookupGrant(key)
	if !c.cycle.mayRun(c.cluster.NodeOf(id)) {
		c.cycle.out = true
		return c.granted.outFor(key, now) < c.args.NodePatience.Duration
	}
	c.granted.back(c.cluster.NodeName(c.cluster.NodeOf(id)))
	return len(d.Refusal.WaitsFor) > 0
}

// waitsFor returns the keys of the victims that a grant waits for.
func (c *core) waitsFor(key string) []string {
	g, ok := c.cluster.Grant(key)
	if id, held := c.cluster.LookupGrant(key); held && !ok {
		g, _ = c.cluster.Grant(c.cluster.Job(id)) // of which it is a member
	}
	return g.Leaving
}

// carryOut does what was decided for a pod.
func (pl *Plugin) carryOut(ctx context.Context, pod *v1.Pod, now time.Time) (*fwk.PostFilterResult, *fwk.Status) {
	c := pl.core
	d := &c.decision
	line := d.Summary()
	if l := log(ctx).V(2); l.Enabled() {
		_ = d.Count() // the cluster is as it was
		l.Info("Decided", "pod", klog.KObj(pod), "outcome", d.Outcome, "predicateCalls", c.cycle.asked, "moves", len(d.Plan.Moves), "decision", d.String())
	}
	c.countDecision(d.Outcome, d.Refusal.Reason, c.queueOf(pod))
	if d.Outcome == victims.Refused {
		return pl.refuse(pod, &d.Refusal, line, now)
	}
	countPlan(d.Outcome, d.Plan.Proof, d.Plan.Victims)
	if c.args.DryRun {
		c.noteRefused(pod, waiting{pod: pod, size: c.cycle.size})
		return nil, fwk.NewStatus(fwk.Unschedulable, "dry run: "+line)
	}
	e := pl.eviction(pod)
	e.addMovers(c.cycle)
	if c.cycle.took { // whoever was to tell them may fail
		e.addMarked(pl.handle, c.cluster, d.Plan.Places[0].Node)
	}
	if err := c.cluster.Apply(d); err != nil {
		return nil, fwk.AsStatus(err)
	}
	c.promiseMoves(now)
	of := slices.Clone(d.Plan.Victims)
	for _, m := range d.Plan.Moves {
		of = append(of, victims.Victim{Key: m.Key})
	}
	if !c.promise(e, of, now) {
		return nil, fwk.NewStatus(fwk.Unschedulable, "the pod was deleted meanwhile")
	}
	if len(e.victims) > 0 {
		upstream.PreemptionVictims.Observe(float64(len(e.victims)))
		pl.start(e)
	}
	c.wake([]*v1.Pod{pod}, pl.patience(d.Outcome, d.Plan.Places[0].NodeName))
	return framework.NewPostFilterResultWithNominatedNode(d.Plan.Places[0].NodeName), fwk.NewStatus(fwk.Success, line)
}

// promise tells Filter of the grants of a plan that was applied, and notes its victims. If
// one of its pods was deleted within this cycle, it takes all back, and nobody stops.
func (c *core) promise(e *eviction, of []victims.Victim, now time.Time) bool {
	for _, k := range e.keys {
		c.given(k)
	}
	marked := c.mark(of, now)
	if slices.ContainsFunc(e.keys, c.gone) {
		c.takeBack(marked, e.keys)
		return false
	}
	return true
}

// refuse says no. A pod in flight keeps its place, and another one loses its nomination.
func (pl *Plugin) refuse(pod *v1.Pod, r *victims.Refusal, line string, now time.Time) (*fwk.PostFilterResult, *fwk.Status) {
	c, place := pl.core, ""
	if r.Reason == victims.InFlight {
		if c.cycle.out {
			c.wake([]*v1.Pod{pod}, c.args.NodePatience.Duration)
		}
		if id, ok := c.cluster.LookupGrant(key(pod)); ok { // the scheduler may not know of it: see together
			place = c.cluster.NodeName(c.cluster.NodeOf(id))
		}
		return framework.NewPostFilterResultWithNominatedNode(place), fwk.NewStatus(fwk.Unschedulable, line)
	}
	w := waiting{pod: pod, size: c.cycle.size}
	w.help.CopyFrom(&r.Help)
	c.noteRefused(pod, w)
	if r.RetryAt.After(now) {
		c.wake([]*v1.Pod{pod}, r.RetryAt.Sub(now))
	}
	return framework.NewPostFilterResultWithNominatedNode(""), fwk.NewStatus(fwk.Unschedulable, line)
}

// patience is how long a pod waits for its place before it asks again: until all that
// leaves the node should have gone, and the deadline on top. A pod that fits has
// nothing to wait for. The scheduler saw no room a moment ago, and may now.
func (pl *Plugin) patience(o victims.Outcome, place string) time.Duration {
	if o == victims.Fits {
		return time.Millisecond
	}
	longest := int64(0)
	if info, err := pl.handle.SnapshotSharedLister().NodeInfos().Get(place); err == nil {
		for _, pi := range info.GetPods() {
			if s := pi.GetPod().Spec.TerminationGracePeriodSeconds; s != nil {
				longest = max(longest, *s)
			}
		}
	}
	return time.Duration(longest)*time.Second + pl.core.args.GrantDeadline.Duration + time.Second
}

// byName returns copies of some pods, by their names.
func byName(pods []*v1.Pod) map[string]*v1.Pod {
	all := map[string]*v1.Pod{}
	for _, p := range pods {
		all[name(p)] = p.DeepCopy()
	}
	return all
}

// wake has a pod, or those of a gang, tried again after a while. No event may come
// before.
func (c *core) wake(pods []*v1.Pod, after time.Duration) {
	again := byName(pods)
	c.alarms.set(pods[0].UID, after, func() { c.activate(again) })
}

// eviction returns what is to be done for a plan that is not applied yet.
func (pl *Plugin) eviction(pod *v1.Pod) *eviction {
	c := pl.core
	plan := &c.decision.Plan
	e := &eviction{pods: []*v1.Pod{pod.DeepCopy()}, keys: []string{plan.Ask.Key}, note: c.entitlement(&plan.Ask),
		kind: string(fwk.PodKeyType), uid: pod.UID}
	if c.gang != nil {
		e.kind, e.uid = string(fwk.PodGroupKeyType), c.gang.uid
	}
	e.addAll(pl.handle, plan.Victims)
	return e
}

// entitlement says in words for whom a plan is, and what gives it the right to it.
func (c *core) entitlement(ask *victims.Ask) string {
	schema := c.queues().tree.Schema()
	for i, a := range ask.Size {
		q, ok := c.queues().tree.Governing(ask.Queue, i)
		if a == 0 || !ok || !c.counting().Has(i) {
			continue
		}
		guaranteed, _ := c.queues().tree.Guaranteed(q).Bound(i)
		return fmt.Sprintf("preempted by %s of queue %s, guaranteed %s, had %s", ask.Name, c.queues().tree.Path(q),
			resources.FormatQuantity(schema.Name(i), guaranteed),
			resources.FormatQuantity(schema.Name(i), c.queues().tree.Effective(nil, q).At(i)))
	}
	return fmt.Sprintf("preempted by %s of queue %s, by priority", ask.Name, c.queues().tree.Path(ask.Queue))
}
