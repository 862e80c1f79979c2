// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"time"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// patrolEvery is how far apart patrols are at least.
const patrolEvery = 100 * time.Millisecond

// patrol compares one node of the mirror with the snapshot, all its pods: after a sync
// the next node, but not after each if they are many. A mirror that follows generations
// never differs, unless somebody has made a mistake. Then it is told of, and the node
// mirrored once more.
func (c *core) patrol(now time.Time) {
	m := &c.mirror
	if len(m.seats) == 0 || now.Sub(m.patrolled) < patrolEvery {
		return
	}
	m.patrolled = now
	m.beat = (m.beat + 1) % len(m.seats)
	n, info := m.seats[m.beat].node, m.seats[m.beat].info
	if wrong := c.drift(n.name, info); wrong > 0 {
		driftTotal.Add(float64(wrong))
		c.log.Error(nil, "Node differs from the scheduler's", "node", n.name, "pods", wrong)
		c.syncNode(n, info, now)
	}
}

// drift counts the pods of a node that the cluster has not, or has otherwise, and
// those that it has too many. A node with unknown usage is known to differ.
func (c *core) drift(node string, info fwk.NodeInfo) (wrong int) {
	id, ok := c.cluster.LookupNode(node)
	if !ok || c.cluster.Closed(id) || !resources.IsZero(c.cluster.UnknownUsage(nil, id)) {
		return 0
	}
	var size resources.Vector
	right := 0
	for _, pi := range info.GetPods() {
		t, ok := c.cluster.Lookup(key(pi.GetPod()))
		size = c.sizeOf(size[:0], pi)
		if ok && c.cluster.NodeOf(t) == id && resources.Equal(c.cluster.TaskView(t).Size, size) {
			right++
		} else {
			wrong++
		}
	}
	for t := range c.cluster.TasksOn(id) {
		if c.cluster.State(t) != victims.Granted {
			right--
		}
	}
	return wrong + max(0, -right)
}
