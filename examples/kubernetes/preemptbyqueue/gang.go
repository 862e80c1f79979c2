// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"fmt"
	"reflect"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/go-preempt/preempt/victims"
)

// A gang is a PodGroup for which a decision is made.
type gang struct {
	plugin *Plugin
	job    victims.Ask
	uid    types.UID
	pods   map[string]*v1.Pod // that have no node, by key
	bound  bool               // to a domain that all its pods share
	says   bool               // what its priority is; else its pods have their own
}

// PodGroupPostFilter decides what should happen for a PodGroup of which too few pods
// fit. It is one decision for all of them, by the laws that single pods have: places for
// the minimum, or nobody goes. Once the minimum runs, each other pod is decided singly.
func (pl *Plugin) PodGroupPostFilter(ctx context.Context, _ fwk.PodGroupCycleState, group fwk.PodGroupInfo, try fwk.PodGroupSchedulingFunc) (result *fwk.PodGroupPostFilterResult, status *fwk.Status) {
	defer func() { upstream.WorkloadPreemptionAttempts.WithLabelValues(status.Code().String()).Inc() }()
	c := pl.core
	nodes, err := pl.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	if group.GetPodGroup() == nil || !c.ready() {
		return nil, fwk.NewStatus(fwk.Unschedulable, "no preemption for composite pod groups, and none before the queues are known")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sync(nodes)
	g, err := pl.gang(group)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	c.gang = g
	defer func() { c.gang = nil }()
	if g.missing() <= 0 {
		return g.singly(ctx, group.GetUnscheduledPods())
	}
	c.cycle = &cycle{ctx: ctx, core: c, handle: pl.handle}
	defer func() { c.cycle = nil }()
	now := time.Now()
	if err := c.decideGang(now); err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	if g.says {
		c.auditGang(now)
	}
	d := &c.jobDecision
	line := d.Summary()
	if l := log(ctx).V(2); l.Enabled() {
		_ = d.Count() // the cluster is as it was
		l.Info("Decided", "podGroup", g.job.Key, "outcome", d.Outcome, "decision", d.String())
	}
	c.countDecision(d.Outcome, d.Refusal.Reason, g.job.Queue)
	if d.Outcome != victims.Refused {
		countPlan(d.Outcome, d.Plan.Proof, d.Plan.Victims)
	}
	switch {
	case d.Outcome == victims.Refused && d.Refusal.Reason == victims.InFlight,
		d.Outcome != victims.Refused && len(d.Plan.Places) == 0: // the minimum has places already
		return g.nominations(), fwk.NewStatus(fwk.Success, g.toldBefore(line))
	case d.Outcome == victims.Refused:
		g.refuse(now)
		return nil, fwk.NewStatus(fwk.Unschedulable, line)
	case c.args.DryRun:
		return nil, fwk.NewStatus(fwk.Unschedulable, "dry run: "+line)
	}
	return g.carryOut(ctx, try, line)
}

// gang returns a PodGroup as a job.
func (pl *Plugin) gang(group fwk.PodGroupInfo) (*gang, error) {
	c, spec := pl.core, group.GetPodGroup().Spec
	g := &gang{plugin: pl, uid: group.GetPodGroup().UID, pods: map[string]*v1.Pod{}, bound: spec.SchedulingConstraints != nil}
	g.job = victims.Ask{Key: group.GetNamespace() + "/" + group.GetName()}
	switch {
	case spec.SchedulingPolicy.Gang != nil:
		g.job.MinMembers = int(spec.SchedulingPolicy.Gang.MinCount)
	case g.bound: // the first pod of a basic group chooses the domain
		g.job.MinMembers = 1
	}
	for id := range c.cluster.JobTasks(g.job.Key) {
		if c.cluster.State(id) == victims.Running {
			g.job.Members = append(g.job.Members, victims.Member{Key: c.cluster.Key(id), Size: c.cluster.Task(id).Size})
		}
	}
	for _, pod := range group.GetUnscheduledPods() {
		ask, err := c.ask(pod)
		if err != nil {
			return nil, err
		}
		g.job.Queue, g.job.Application = ask.Queue, ask.Application
		g.job.MayNotPreempt, g.says = g.job.MayNotPreempt || ask.MayNotPreempt, c.groupPriority(pod) != nil
		if len(g.pods) == 0 || ask.Priority > g.job.Priority {
			g.job.Priority = ask.Priority
		}
		if len(g.pods) == 0 || ask.PendingSince.Before(g.job.PendingSince) {
			g.job.PendingSince = ask.PendingSince
		}
		g.job.Members = append(g.job.Members, victims.Member{
			Key: ask.Key, Name: ask.Name, Size: ask.Size, OptedOut: ask.OptedOut, Class: g.class(pod)})
		g.pods[ask.Key] = pod
		c.refused.Delete(pod.UID)
	}
	return g, nil
}

// class returns the index of the first member that may run on the same nodes as a pod.
func (g *gang) class(pod *v1.Pod) int {
	for i := range g.job.Members {
		p := g.pods[g.job.Members[i].Key]
		if p != nil && reflect.DeepEqual(p.Spec.NodeSelector, pod.Spec.NodeSelector) &&
			reflect.DeepEqual(p.Spec.Affinity, pod.Spec.Affinity) && reflect.DeepEqual(p.Spec.Tolerations, pod.Spec.Tolerations) {
			return i
		}
	}
	return len(g.job.Members)
}

// mayRun reports whether the members of a class may ever run on a node. Other Filter
// plugins are asked about the plan as a whole.
func (g *gang) mayRun(q *victims.Question) bool {
	info, err := g.plugin.core.cycle.node(q.Node)
	pod := g.pods[g.job.Members[q.Member.Class].Key]
	if err != nil || pod == nil {
		return err == nil
	}
	return mayUse(pod, info.Node())
}

// refuse notes for the pods of a gang that was refused what would help it, and has it
// tried again when time alone may.
func (g *gang) refuse(now time.Time) {
	c, r := g.plugin.core, &g.plugin.core.jobDecision.Refusal
	var pods []*v1.Pod
	for i := range g.job.Members {
		m := &g.job.Members[i]
		pod := g.pods[m.Key]
		if pod == nil {
			continue // it has its place
		}
		w := waiting{pod: pod, size: m.Size}
		w.help.CopyFrom(&r.Help)
		c.noteRefused(pod, w)
		pods = append(pods, pod)
	}
	if r.RetryAt.After(now) && len(pods) > 0 {
		c.wake(pods, r.RetryAt.Sub(now))
	}
}

// decideGang decides the gang of the cycle. Grants that wait for nobody any more are
// dropped, and the gang decided as if it had none.
func (c *core) decideGang(now time.Time) error {
	job := &c.gang.job
	if err := c.jobPlanner.Decide(&c.jobDecision, job, now); err != nil {
		return err
	}
	held := false
	for k := range c.gang.pods { // in any order: one that waits is enough
		held = held || c.granted.has(k)
		if len(c.waitsFor(k)) > 0 {
			return nil
		}
	}
	if !held {
		return nil
	}
	for k := range c.gang.pods { // in any order: all of them go
		c.drop(k, dropped)
	}
	return c.jobPlanner.Decide(&c.jobDecision, job, now)
}

// nominations returns the places that the pods hold.
func (g *gang) nominations() *fwk.PodGroupPostFilterResult {
	r := &fwk.PodGroupPostFilterResult{NominatingInfos: map[types.NamespacedName]*fwk.NominatingInfo{}}
	cluster := g.plugin.core.cluster
	for k, p := range g.pods {
		if id, ok := cluster.LookupGrant(k); ok {
			r.NominatingInfos[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] =
				framework.NewPostFilterResultWithNominatedNode(cluster.NodeName(cluster.NodeOf(id))).NominatingInfo
		}
	}
	return r
}

// carryOut has the scheduler place the gang in its snapshot without the victims. If
// it can, the gang is granted the places that the scheduler found.
func (g *gang) carryOut(ctx context.Context, try fwk.PodGroupSchedulingFunc, line string) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	c, plan := g.plugin.core, &g.plugin.core.jobDecision.Plan
	places, status := g.rehearse(ctx, try, plan.Victims)
	if !status.IsSuccess() {
		return g.inTurn(ctx, try, "the plan for the group is refused: "+status.Message())
	}
	c.settle(places, time.Now())
	e := g.eviction()
	if err := c.cluster.Apply(&c.jobDecision); err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	c.setMinimum(plan.Ask.Key)
	return g.told(e, plan.Victims, line)
}

// told tells of grants that the cluster has, and has the victims evicted. The condition begins
// as that of DefaultPreemption does, for those who look for that.
func (g *gang) told(e *eviction, of []victims.Victim, line string) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	c := g.plugin.core
	if !c.promise(e, of, time.Now()) {
		e.wake(c, time.Second)
		return nil, fwk.NewStatus(fwk.Unschedulable, "a pod of the group was deleted meanwhile")
	}
	if len(e.victims) > 0 {
		upstream.WorkloadPreemptionVictims.Observe(float64(len(e.victims)))
		g.plugin.start(e)
	}
	e.wake(c, c.args.GrantDeadline.Duration+time.Minute)
	line = fmt.Sprintf("pod group preemption: found a placement for podgroup, preempting %d victims: %s", len(e.victims), line)
	for _, k := range e.keys {
		c.granted.tell(k, line)
	}
	return g.nominations(), fwk.NewStatus(fwk.Success, line)
}

// toldBefore returns what the group was told when it got the places that it waits for, or else
// a line. So its condition stays.
func (g *gang) toldBefore(line string) string {
	for i := range g.job.Members {
		if before := g.plugin.core.granted.told(g.job.Members[i].Key); before != "" {
			return before
		}
	}
	return line
}

// rehearse returns where the scheduler places the pods once victims, and all that leaves
// already, are gone. Its snapshot is restored afterwards.
func (g *gang) rehearse(ctx context.Context, try fwk.PodGroupSchedulingFunc, of []victims.Victim) (map[string]string, *fwk.Status) {
	c := g.plugin.core
	gone := map[string][]string{} // by node
	for _, s := range c.mirror.seats {
		if id, ok := c.cluster.LookupNode(s.node.name); ok {
			gone[s.node.name] = goingFrom(c.cluster, id)
		}
	}
	for i := range of {
		v := &of[i]
		gone[v.NodeName] = append(gone[v.NodeName], v.Key)
	}
	snapshot := g.plugin.handle.MutableSnapshotSharedLister()
	if err := snapshot.StartMutations(); err != nil {
		return nil, fwk.AsStatus(err)
	}
	defer snapshot.EndMutations()
	for node, keys := range gone { // in any order: all of them go
		info, err := snapshot.NodeInfos().Get(node)
		if err != nil {
			return nil, fwk.AsStatus(err)
		}
		for _, k := range keys {
			if pi := podOn(info, k); pi != nil {
				if err := snapshot.RemovePod(c.log, pi.GetPod(), node); err != nil {
					return nil, fwk.AsStatus(err)
				}
			}
		}
	}
	c.rehearsing.Store(true)
	defer c.rehearsing.Store(false)
	assigned, status := try(ctx)
	places := map[string]string{}
	if status.IsSuccess() {
		for _, a := range assigned.ProposedAssignments {
			places[key(a.GetPod())] = a.GetNodeName()
		}
	}
	return places, status
}

// eviction returns what is to be done for a plan that is not applied yet.
func (g *gang) eviction() *eviction {
	c := g.plugin.core
	plan := &c.jobDecision.Plan
	first := plan.Ask.MemberAsk(plan.Places[0].Member)
	e := &eviction{note: c.entitlement(&first), kind: string(fwk.PodGroupKeyType), uid: g.uid}
	for _, at := range plan.Places {
		e.pods = append(e.pods, g.pods[at.Key].DeepCopy())
		e.keys = append(e.keys, at.Key)
	}
	e.addAll(g.plugin.handle, plan.Victims)
	return e
}
