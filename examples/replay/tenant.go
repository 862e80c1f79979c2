// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/judge/trace"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// Who the tenants of a replay are: the classes of service, or teams.

// tenants is how many there are, either way.
const tenants = trace.Classes

// This compiles only if there are as many teams as classes.
var _ = [1]struct{}{}[tenants-trace.Teams]

// newCluster returns the cluster of the workload.
func (r *Replay) newCluster() (*victims.Cluster, error) {
	if r.Fair {
		return r.Workload.NewTeams()
	}
	return r.Workload.NewCluster()
}

// tenantOf returns the tenant of a pod.
func (r *Replay) tenantOf(p *trace.Pod) int {
	if r.Fair {
		return p.Team()
	}
	return int(p.QoS)
}

// leafOf returns the leaf of a pod.
func (r *Replay) leafOf(p *trace.Pod) queue.ID {
	if r.Fair {
		return trace.TeamLeaf(p.Team())
	}
	return p.Leaf()
}

// priorityOf returns the priority of a pod. Those of teams are alike: else weights
// would say little.
func (r *Replay) priorityOf(p *trace.Pod) int32 {
	if r.Fair {
		return 0
	}
	return p.QoS.Priority()
}

// tenantName returns the name of a tenant.
func (r *Replay) tenantName(tenant int) string {
	if r.Fair {
		return trace.TeamName(tenant)
	}
	return trace.QoS(tenant).Tenant()
}

// tenantAbout says what a tenant is.
func (r *Replay) tenantAbout(tenant int) string {
	if r.Fair {
		return fmt.Sprintf("weight %d", trace.Weight(tenant))
	}
	return trace.QoS(tenant).About()
}

// claims reports whether anything can be guaranteed to a tenant.
func (r *Replay) claims(tenant int) bool { return r.Fair || trace.QoS(tenant).Guaranteed() }
