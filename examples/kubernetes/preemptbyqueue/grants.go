package preemptbyqueue

import (
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/resources"
)

// grants are the places that are given to pods that do not run yet. They never
// change: a change makes new ones.
type grants struct {
	byNode map[string][]grant
	keys   map[string]bool
}

// A grant is room on a node for one pod.
type grant struct {
	key  string
	size resources.Vector
}

func (g *grants) has(key string) bool { return g.keys[key] }

// publish tells Filter which grants there are.
func (c *core) publish() {
	g := &grants{byNode: map[string][]grant{}, keys: map[string]bool{}}
	for id := range c.cluster.Grants() {
		t := c.cluster.Task(id)
		node := c.cluster.NodeName(t.Node)
		g.byNode[node] = append(g.byNode[node], grant{t.Key, t.Size})
		g.keys[t.Key] = true
	}
	c.granted.Store(g)
	grantsNow.Set(float64(len(g.keys)))
}

// admits reports whether a pod leaves enough of a node to those that were granted
// room there. What is about to leave counts as room, for the grants wait for it;
// whether the pod fits right now is for other plugins to say.
//
// Nominated pods of no lower priority may be among the pods of the node already:
// they are not counted twice.
func (c *core) admits(held []grant, pod *v1.Pod, info fwk.NodeInfo, size resources.Vector) bool {
	schema := c.queues().tree.Schema()
	room := appendAmounts(nil, schema, info.GetAllocatable(), int64(info.GetAllocatable().GetAllowedPodNumber()))
	for _, g := range held {
		if !isKey(g.key, pod) && !isOn(g.key, info) {
			room = resources.Sub(room, room, g.size)
		}
	}
	var scratch resources.Vector
	for _, pi := range info.GetPods() {
		if p := pi.GetPod(); p.DeletionTimestamp == nil {
			scratch = c.sizeOf(scratch[:0], pi)
			room = resources.Sub(room, room, scratch)
		}
	}
	for i, a := range size {
		if a > 0 && a > room[i] {
			return false
		}
	}
	return true
}

// isOn reports whether a pod is on a node.
func isOn(key string, info fwk.NodeInfo) bool {
	for _, pi := range info.GetPods() {
		if isKey(key, pi.GetPod()) {
			return true
		}
	}
	return false
}
