// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

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
