// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"slices"
	"time"

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
	asked    int  // how often fits was asked
	out      bool // the node of the grant of the pod is of no use now
	took     bool // it took places over
	searched bool // see searchObstacles

	accepted placing                        // that fits has accepted last
	said     map[victims.NodeID]*fwk.Status // see statusOn

	now       time.Time                 // of the decision about moves
	movers    map[victims.TaskID]*cycle // nil: cannot be begun
	movable   map[int]victims.TaskID    // by class
	questions int                       // about movers
	ofAge     time.Time                 // when the first is of age that is too young to move; zero: none
}

// A placing is a question that fits was asked.
type placing struct {
	version victims.Version // of its cluster
	node    victims.NodeID
	coming  bool
	victims []victims.TaskID
}

// is reports whether a question is this one, of a version of its cluster.
func (q *placing) is(of victims.Version, p *victims.Question) bool {
	return q.version == of && q.node == p.Node && q.coming == p.AfterVictims && slices.Equal(q.victims, p.Victims)
}

// node returns a node of the snapshot.
func (y *cycle) node(n victims.NodeID) (fwk.NodeInfo, error) {
	return y.handle.SnapshotSharedLister().NodeInfos().Get(y.core.cluster.NodeName(n))
}

// mayRun reports whether a pod may ever run on a node: whether the Filter plugins
// called it more than unschedulable.
func (y *cycle) mayRun(n victims.NodeID) bool {
	code := y.statusOn(n).Code()
	return code != fwk.UnschedulableAndUnresolvable && code != fwk.Error
}

// statusOn returns what the Filter plugins say of a node as it is. If PreFilter of this
// plugin kept them from being asked, it asks them, once.
func (y *cycle) statusOn(n victims.NodeID) *fwk.Status {
	status := y.statuses.Get(y.core.cluster.NodeName(n))
	if status.Plugin() != Name || status.Code() != fwk.Unschedulable {
		return status
	}
	if said, ok := y.said[n]; ok {
		return said
	}
	info, err := y.node(n)
	if err != nil {
		return fwk.AsStatus(err)
	}
	status = y.handle.RunFilterPluginsWithNominatedPods(y.ctx, y.state, y.pod, info)
	if y.said == nil {
		y.said = map[victims.NodeID]*fwk.Status{}
	}
	y.said[n] = status
	return status
}

// mayBeBlocked reports whether there can be blockers on any node.
func (y *cycle) mayBeBlocked() bool {
	repelled, err := y.handle.SnapshotSharedLister().NodeInfos().HavePodsWithRequiredAntiAffinityList()
	return err != nil || len(repelled) > 0 || len(util.GetHostPorts(y.pod)) > 0 || len(y.info.GetRequiredAntiAffinityTerms()) > 0
}

// blockers appends to dst the pods that hold a host port of the pod, and those that
// a required anti-affinity to the same node keeps apart from it.
func (y *cycle) blockers(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
	if isSuccessor(q.Ask.Key) {
		return dst // see lets
	}
	ports := util.GetHostPorts(y.pod)
	info, err := y.node(q.Node)
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
		if conflict(portsOf(pi.GetPod()), ports) || y.apart(y.info, pi.GetPod(), info.Node()) || y.apart(pi, y.pod, info.Node()) {
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
// a node. Pods of one node share every domain that its labels name. Those on other nodes
// of a domain are left to the Filter plugins, which refuse the node while they are there.
func (y *cycle) apart(a fwk.PodInfo, b *v1.Pod, node *v1.Node) bool {
	for _, term := range a.GetRequiredAntiAffinityTerms() {
		if _, domain := node.Labels[term.TopologyKey]; domain && term.Matches(b, y.namespaceLabels(b.Namespace)) {
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
func (y *cycle) fits(p *victims.Question) bool {
	if y.accepted.is(p.Cluster.Version(), p) {
		return true
	}
	if !y.try(p) {
		return false
	}
	y.accepted = placing{p.Cluster.Version(), p.Node, p.AfterVictims, append(y.accepted.victims[:0], p.Victims...)}
	return true
}

// try is fits, asked for the first time.
func (y *cycle) try(p *victims.Question) bool {
	info, state, ok := y.without(p)
	return ok && y.filters(state, info)
}

// without returns a node, and the state of the Filter plugins, as they are once the victims
// of a plan have gone, and what leaves the node already if the moment is that. Who has moved
// has arrived.
func (y *cycle) without(p *victims.Question) (info fwk.NodeInfo, state fwk.CycleState, ok bool) {
	info, err := y.node(p.Node)
	if err != nil {
		return nil, nil, false
	}
	info, state = info.Snapshot(), y.state.Clone()
	var gone []string
	if p.AfterVictims {
		gone = goingFrom(p.Cluster, p.Node)
	}
	for _, t := range p.Victims {
		if y.core.cluster.NodeOf(t) == p.Node {
			gone = append(gone, y.core.cluster.Key(t))
		} else if !y.removeElsewhere(state, t) {
			return nil, nil, false
		}
	}
	for _, k := range gone {
		if pi := podOn(info, k); pi != nil && !y.remove(state, pi, info) {
			return nil, nil, false
		}
	}
	return info, state, !y.core.args.Moves || y.arrive(p.Cluster, state, info)
}

// filters asks the Filter plugins about a node as it is.
func (y *cycle) filters(state fwk.CycleState, info fwk.NodeInfo) bool {
	y.asked++
	predicateCalls.Inc()
	return y.handle.RunFilterPluginsWithNominatedPods(y.ctx, state, y.pod, info).IsSuccess()
}

// remove takes a pod off a node, and tells the plugins.
func (y *cycle) remove(state fwk.CycleState, pi fwk.PodInfo, info fwk.NodeInfo) bool {
	return info.RemovePod(log(y.ctx), pi.GetPod()) == nil && y.removed(state, pi, info)
}

// goingFrom returns the keys of what is leaving a node.
func goingFrom(c *victims.Cluster, n victims.NodeID) (keys []string) {
	for t := range c.TasksOn(n) {
		if s := c.State(t); s == victims.Marked || s == victims.Releasing {
			keys = append(keys, c.Key(t))
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
