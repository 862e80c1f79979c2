package preemptbyqueue

import (
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/resources"
)

// grants are the places that are given to pods that do not run yet. They never
// change: a change makes new ones.
type grants struct {
	byNode map[string][]grant
	since  map[string]time.Time // by key
}

// A grant is room on a node for one pod.
type grant struct {
	key  string
	size resources.Vector
}

func (g *grants) has(key string) bool {
	_, ok := g.since[key]
	return ok
}

// The ends of a grant.
const (
	started = "started"
	dropped = "dropped"
)

// drop takes a grant back, if there is one, because of how it ended.
func (c *core) drop(key, end string) {
	if err := c.cluster.Drop(key); err == nil {
		c.ended(key, end)
		c.publish()
	}
}

// ended notes how long a grant lasted.
func (c *core) ended(key, end string) {
	if since, ok := c.granted.Load().since[key]; ok {
		grantSeconds.WithLabelValues(end).Observe(time.Since(since).Seconds())
	}
}

// publish tells Filter which grants there are.
func (c *core) publish() {
	before, oldest := c.granted.Load(), time.Time{}
	g := &grants{byNode: map[string][]grant{}, since: map[string]time.Time{}}
	for id := range c.cluster.Grants() { // in the order in which they were given
		t := c.cluster.Task(id)
		node := c.cluster.NodeName(t.Node)
		g.byNode[node] = append(g.byNode[node], grant{t.Key, t.Size})
		since := time.Now()
		if before != nil && before.has(t.Key) {
			since = before.since[t.Key]
		}
		g.since[t.Key] = since
		if oldest.IsZero() {
			oldest = since
		}
	}
	c.granted.Store(g)
	grantsNow.Set(float64(len(g.since)))
	oldestGrant.Set(0)
	if !oldest.IsZero() {
		oldestGrant.Set(float64(oldest.UnixMilli()) / 1000)
	}
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
