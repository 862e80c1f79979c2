// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A cycle is the scheduling cycle of a pod for which a decision is made. It answers
// what amounts cannot say.
type cycle struct {
	ctx      context.Context
	core     *core
	handle   fwk.Handle
	state    fwk.CycleState
	pod      *v1.Pod
	info     fwk.PodInfo // of the pod
	size     resources.Vector
	statuses fwk.NodeToStatusReader
	asked    int // how often fits was asked

	accepted placing // that fits has accepted last
}

// A placing is a question that fits was asked.
type placing struct {
	node    victims.NodeID
	moment  victims.Moment
	victims []victims.TaskID
}

// is reports whether a question is this one.
func (q *placing) is(p *victims.Placing) bool {
	return q.node == p.Node && q.moment == p.Moment && slices.Equal(q.victims, p.Victims)
}

// node returns a node of the snapshot.
func (y *cycle) node(n victims.NodeID) (fwk.NodeInfo, error) {
	return y.handle.SnapshotSharedLister().NodeInfos().Get(y.core.cluster.NodeName(n))
}

// mayRun reports whether a pod may ever run on a node: whether the Filter plugins
// called it more than unschedulable. If PreFilter of this plugin kept them from
// being asked, it asks them.
func (y *cycle) mayRun(n victims.NodeID) bool {
	status := y.statuses.Get(y.core.cluster.NodeName(n))
	if status.Plugin() == Name && status.Code() == fwk.Unschedulable {
		info, err := y.node(n)
		if err != nil {
			return false
		}
		status = y.handle.RunFilterPluginsWithNominatedPods(y.ctx, y.state, y.pod, info)
	}
	return status.Code() != fwk.UnschedulableAndUnresolvable && status.Code() != fwk.Error
}

// minimum returns how many pods of a PodGroup are of use: all that there are, if it
// can be disrupted only as a whole, and else any number.
func (y *cycle) minimum(job string) int {
	ns, name, _ := strings.Cut(job, "/")
	g, err := y.handle.SnapshotSharedLister().PodGroups().Get(ns, name)
	if err != nil || g.Spec.DisruptionMode == nil || g.Spec.DisruptionMode.All == nil {
		return 0
	}
	return math.MaxInt32
}

// mayBeBlocked reports whether there can be blockers on any node.
func (y *cycle) mayBeBlocked() bool {
	repelled, err := y.handle.SnapshotSharedLister().NodeInfos().HavePodsWithRequiredAntiAffinityList()
	return err != nil || len(repelled) > 0 || len(util.GetHostPorts(y.pod)) > 0 || len(y.info.GetRequiredAntiAffinityTerms()) > 0
}

// blockers appends to dst the pods that hold a host port of the pod, and those that
// a required anti-affinity to the same node keeps apart from it.
func (y *cycle) blockers(dst []victims.TaskID, _ *victims.Ask, n victims.NodeID) []victims.TaskID {
	ports := util.GetHostPorts(y.pod)
	info, err := y.node(n)
	if err != nil {
		return dst
	}
	repelled := info.GetPodsWithRequiredAntiAffinity()
	if len(repelled) == 0 && len(ports) == 0 && len(y.info.GetRequiredAntiAffinityTerms()) == 0 {
		return dst
	}
	if len(repelled) == 0 && len(y.info.GetRequiredAntiAffinityTerms()) == 0 && !conflict(info.GetUsedPorts(), ports) {
		return dst
	}
	for _, pi := range info.GetPods() {
		if conflict(portsOf(pi.GetPod()), ports) || y.apart(y.info, pi.GetPod()) || y.apart(pi, y.pod) {
			if id, ok := y.core.cluster.Lookup(key(pi.GetPod())); ok {
				dst = append(dst, id)
			}
		}
	}
	return dst
}

// conflict reports whether one of some host ports is in use.
func conflict(used fwk.HostPortInfo, ports []v1.ContainerPort) bool {
	for _, p := range ports {
		if used.CheckConflict(p.HostIP, string(p.Protocol), p.HostPort) {
			return true
		}
	}
	return false
}

// portsOf returns the host ports of a pod.
func portsOf(pod *v1.Pod) fwk.HostPortInfo {
	used := fwk.HostPortInfo{}
	for _, p := range util.GetHostPorts(pod) {
		used.Add(p.HostIP, string(p.Protocol), p.HostPort)
	}
	return used
}

// apart reports whether a required anti-affinity of one pod keeps another one off
// its node. Wider topologies are left to the Filter plugins: who must go for them
// may be on another node.
func (y *cycle) apart(a fwk.PodInfo, b *v1.Pod) bool {
	for _, term := range a.GetRequiredAntiAffinityTerms() {
		if term.TopologyKey == v1.LabelHostname && term.Matches(b, y.namespaceLabels(b.Namespace)) {
			return true
		}
	}
	return false
}

func (y *cycle) namespaceLabels(namespace string) labels.Set {
	ns, err := y.core.lookup.namespaces.Get(namespace)
	if err != nil {
		return nil
	}
	return ns.Labels
}

// fits runs the Filter plugins for a node as it will be without the victims, and
// without what leaves it already if the moment is that of their departure.
//
// The audit asks about the plan that the planner has asked about a moment ago. The
// snapshot is the same, and so is the answer.
func (y *cycle) fits(p *victims.Placing) bool {
	if y.accepted.is(p) {
		return true
	}
	y.asked++
	predicateCalls.Inc()
	if !y.try(p) {
		return false
	}
	y.accepted = placing{p.Node, p.Moment, append(y.accepted.victims[:0], p.Victims...)}
	return true
}

// try is fits, asked for the first time.
func (y *cycle) try(p *victims.Placing) bool {
	info, err := y.node(p.Node)
	if err != nil {
		return false
	}
	info, state := info.Snapshot(), y.state.Clone()
	var gone []string
	if p.Moment == victims.Coming {
		gone = y.core.goingFrom(p.Node)
	}
	for _, t := range p.Victims {
		if y.core.cluster.NodeOf(t) == p.Node {
			gone = append(gone, y.core.cluster.Key(t))
		} else if !y.removeElsewhere(state, t) {
			return false
		}
	}
	for _, k := range gone {
		pi := podOn(info, k)
		if pi == nil {
			continue
		}
		if info.RemovePod(log(y.ctx), pi.GetPod()) != nil || !y.removed(state, pi, info) {
			return false
		}
	}
	return y.handle.RunFilterPluginsWithNominatedPods(y.ctx, state, y.pod, info).IsSuccess()
}

// goingFrom returns the keys of what is leaving a node.
func (c *core) goingFrom(n victims.NodeID) (keys []string) {
	for t := range c.cluster.TasksOn(n) {
		if s := c.cluster.State(t); s == victims.Preempting || s == victims.Releasing {
			keys = append(keys, c.cluster.Key(t))
		}
	}
	return keys
}

// removeElsewhere tells the plugins that a victim on another node is gone.
func (y *cycle) removeElsewhere(state fwk.CycleState, t victims.TaskID) bool {
	info, err := y.node(y.core.cluster.NodeOf(t))
	if err != nil {
		return false
	}
	pi := podOn(info, y.core.cluster.Key(t))
	return pi == nil || y.removed(state, pi, info)
}

// removed tells the plugins that a pod is gone from a node.
func (y *cycle) removed(state fwk.CycleState, pi fwk.PodInfo, info fwk.NodeInfo) bool {
	return y.handle.RunPreFilterExtensionRemovePod(y.ctx, state, y.pod, pi, info).IsSuccess()
}

// podOn returns the pod of a key on a node, or nil.
func podOn(info fwk.NodeInfo, key string) fwk.PodInfo {
	for _, pi := range info.GetPods() {
		if isKey(key, pi.GetPod()) {
			return pi
		}
	}
	return nil
}
