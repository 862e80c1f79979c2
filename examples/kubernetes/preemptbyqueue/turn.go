// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/victims"
)

// inTurn gives the pods that the minimum of a gang lacks places one after another, as
// PostFilter does for single pods. So it knows of all that Filter plugins complain about,
// while the plan for all of them knows amounts. If one gets none, or the scheduler does
// not accept the places, nobody goes, and the gang is refused for the reason given.
func (g *gang) inTurn(ctx context.Context, try fwk.PodGroupSchedulingFunc, why string) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	c := g.plugin.core
	e := &eviction{kind: string(fwk.PodGroupKeyType), uid: g.uid}
	of, err := g.planInTurn(ctx, e)
	if err != nil {
		why = err.Error()
	} else if len(e.keys) == g.missing() {
		if _, status := g.rehearse(ctx, try, nil); status.IsSuccess() { // the victims are marked, and leave
			return g.told(e, of, "pod by pod")
		}
	}
	for range e.keys {
		if err := c.cluster.Undo(); err != nil {
			c.log.Error(err, "Plan for a group not taken back", "podGroup", g.job.Key)
		}
	}
	return nil, fwk.NewStatus(fwk.Unschedulable, why)
}

// planInTurn applies a plan for each pod that the minimum lacks, and returns the victims.
// Each pod is decided in a snapshot that has those before it and not their victims.
func (g *gang) planInTurn(ctx context.Context, e *eviction) (of []victims.Victim, err error) {
	c, snapshot := g.plugin.core, g.plugin.handle.MutableSnapshotSharedLister()
	if err := snapshot.StartMutations(); err != nil {
		return nil, err
	}
	defer snapshot.EndMutations()
	defer func(y *cycle) { c.cycle = y }(c.cycle)
	for i := range g.job.Members {
		pod := g.pods[g.job.Members[i].Key]
		if pod == nil || len(e.keys) == g.missing() {
			continue
		}
		y, err := g.plugin.begin(ctx, pod)
		if err != nil {
			return nil, err
		}
		ask := c.askOf(y.info)
		ask.Priority, y.size = g.job.Priority, ask.Size
		c.cycle = y
		c.consult()
		found, err := y.choose(&ask)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		plan := &c.decision.Plan
		defer y.unreserve(plan.Places[0].NodeName)
		if len(e.keys) == 0 {
			e.note = c.entitlement(&ask)
		}
		if err := c.cluster.Apply(&c.decision); err != nil {
			return nil, err
		}
		e.keys, e.pods, of = append(e.keys, ask.Key), append(e.pods, pod.DeepCopy()), append(of, plan.Victims...)
		if err := g.play(snapshot, e, pod, plan); err != nil {
			return nil, err
		}
	}
	return of, nil
}

// mostChoices bounds how many places are tried for a pod of a gang until Reserve plugins
// accept one.
const mostChoices = 16

// choose decides an ask in the cycle of its pod, and has Reserve plugins note the place, so
// that Filter plugins know of it when the pods after it are tried. If one refuses, the next
// best place is tried. It reports false if there is no plan.
func (y *cycle) choose(ask *victims.Ask) (found bool, err error) {
	c := y.core
	for range mostChoices {
		now := time.Now()
		if err := c.planner.Decide(&c.decision, ask, now); err != nil {
			return false, err
		}
		if err := c.search(ask, now); err != nil || c.decision.Outcome == victims.Refused {
			return false, err
		}
		plan := &c.decision.Plan
		status := y.reserve(plan.Places[0].NodeName)
		if status.IsSuccess() {
			return true, nil
		}
		y.unreserve(plan.Places[0].NodeName) // some have accepted it
		if y.said == nil {
			y.said = map[victims.NodeID]*fwk.Status{}
		}
		y.said[plan.Places[0].Node] = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, status.Reasons()...)
	}
	return false, nil
}

// reserve has the Reserve plugins note a place for the pod for a try, and unreserve has them
// forget it.
func (y *cycle) reserve(place string) *fwk.Status {
	y.core.rehearsing.Store(true)
	defer y.core.rehearsing.Store(false)
	return y.handle.RunReservePluginsReserve(y.ctx, y.state, y.pod, place)
}

func (y *cycle) unreserve(place string) {
	y.handle.RunReservePluginsUnreserve(y.ctx, y.state, y.pod, place)
}

// play carries a plan out in the scheduler's snapshot, and notes its victims.
func (g *gang) play(snapshot fwk.MutableSnapshotSharedLister, e *eviction, pod *v1.Pod, plan *victims.Plan) error {
	c, already := g.plugin.core, len(e.victims)
	e.addAll(g.plugin.handle, plan.Victims)
	for _, v := range e.victims[already:] {
		if err := snapshot.RemovePod(c.log, v.pod, v.node); err != nil {
			return err
		}
	}
	placed := pod.DeepCopy()
	placed.Spec.NodeName = plan.Places[0].NodeName
	info, err := framework.NewPodInfo(placed)
	if err != nil {
		return err
	}
	return snapshot.AddPod(info, plan.Places[0].NodeName)
}

// missing returns how many pods the minimum of a gang lacks. A basic group has no minimum.
func (g *gang) missing() int { return g.job.MinMembers - (len(g.job.Members) - len(g.pods)) }

// singly decides what should happen for each of some pods by itself, as PostFilter does
// for a pod that is in no group. Each gets what it is entitled to after those before it.
// If the group is bound to a domain, none gets anything: single pods know nothing of it.
func (g *gang) singly(ctx context.Context, pods []*v1.Pod) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	if g.bound {
		return nil, fwk.NewStatus(fwk.Unschedulable, "no preemption beyond the minimum of a group that is bound to a domain")
	}
	var refused *fwk.Status
	for _, pod := range pods {
		y, err := g.plugin.begin(ctx, pod)
		if err != nil {
			return nil, fwk.AsStatus(err)
		}
		ask := g.plugin.core.askOf(y.info)
		ask.Priority, y.size = g.job.Priority, ask.Size
		if _, status := g.plugin.attempt(y, &ask); !status.IsSuccess() && refused == nil {
			refused = status
		}
	}
	r := g.nominations()
	if len(r.NominatingInfos) > 0 {
		return r, nil
	}
	return r, refused
}

// begin returns the cycle of a pod for which the scheduler begins none: the PreFilter
// plugins have run, and the Filter plugins are asked when an answer is needed.
func (pl *Plugin) begin(ctx context.Context, pod *v1.Pod) (*cycle, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil, err
	}
	runner, ok := pl.handle.(framework.Framework)
	if !ok {
		return nil, fmt.Errorf("%s: the handle is a %T, which runs no PreFilter plugins", Name, pl.handle)
	}
	c, later := pl.core, fwk.NewStatus(fwk.Unschedulable).WithPlugin(Name) // see statusOn
	said := framework.NewNodeToStatus(map[string]*fwk.Status{}, later)
	state := framework.NewCycleState()
	c.rehearsing.Store(true)
	only, status, _ := runner.RunPreFilterPlugins(ctx, state, pod)
	c.rehearsing.Store(false)
	if !status.IsSuccess() {
		said.SetAbsentNodesStatus(status)
	} else if !only.AllNodes() {
		said.SetAbsentNodesStatus(fwk.NewStatus(fwk.UnschedulableAndUnresolvable))
		for n := range only.NodeNames { // in any order: each is by itself
			said.Set(n, later)
		}
	}
	return &cycle{ctx: ctx, core: c, handle: pl.handle, state: state, pod: pod, info: info, statuses: said}, nil
}
