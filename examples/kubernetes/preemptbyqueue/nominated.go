// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
)

// nominations are the places that others than this plugin have promised to pods: another
// scheduler, this one before it was started again, whoever writes the status of a pod. As
// long as such a promise stands it is a grant like those of plans, if there is room once
// those that leave have gone. Else it is as if there was none.
type nominations struct {
	mu sync.Mutex
	of map[string]*v1.Pod // that are nominated and wait, by key

	fresh   atomic.Bool         // of has pods that nobody has looked at
	granted map[string]struct{} // keys of those that hold such a grant; for who holds the lock of the core
}

// note notes what a pod that waits is nominated to, or that it does not wait any more.
func (c *core) note(pod *v1.Pod, waits bool) {
	waits = waits && !isDeleted(pod) && pod.Spec.NodeName == "" && pod.Status.NominatedNodeName != ""
	n := &c.nominations
	n.mu.Lock()
	defer n.mu.Unlock()
	if !waits && len(n.of) == 0 {
		return
	}
	k := key(pod)
	before := n.of[k]
	switch {
	case !waits:
		delete(n.of, k)
		return
	case before == nil && c.granted.has(k):
		return // by a plan
	case n.of == nil:
		n.of = map[string]*v1.Pod{}
	}
	if before == nil || before.Status.NominatedNodeName != pod.Status.NominatedNodeName {
		n.fresh.Store(true)
	}
	n.of[k] = pod
}

// nominated returns the pods that others have nominated, the highest priority first and then
// the oldest.
func (c *core) nominated() []*v1.Pod {
	n := &c.nominations
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fresh.Store(false)
	return slices.SortedFunc(maps.Values(n.of), func(a, b *v1.Pod) int {
		return cmp.Or(cmp.Compare(c.priorityOf(b), c.priorityOf(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(key(a), key(b)))
	})
}

// nominate brings grants to the nominations of others. The nodes are those of the snapshot.
func (c *core) nominate() {
	pods := c.nominated()
	stands := func(k string) bool {
		id, _ := c.cluster.LookupGrant(k)
		return slices.ContainsFunc(pods, func(p *v1.Pod) bool {
			return isKey(k, p) && p.Status.NominatedNodeName == c.cluster.NodeName(c.cluster.NodeOf(id))
		})
	}
	for k := range c.nominations.granted { // in any order: each is by itself
		if !c.granted.has(k) {
			delete(c.nominations.granted, k) // it runs, or got another answer
		} else if !stands(k) {
			delete(c.nominations.granted, k)
			c.drop(k, dropped)
		}
	}
	for _, p := range pods {
		if !c.placed(key(p)) {
			c.honour(p)
		}
	}
}

// honour grants a pod the place that it is nominated to, if there is room.
func (c *core) honour(pod *v1.Pod) {
	to := pod.Status.NominatedNodeName
	node, ok := c.cluster.LookupNode(to)
	ask, err := c.ask(pod)
	if !ok || err != nil || c.cluster.Closed(node) || !isWithin(ask.Size, c.cluster.ComingFree(nil, node)) {
		return
	}
	i := slices.IndexFunc(c.mirror.seats, func(s seat) bool { return s.node.name == to }) // linear, so it is last
	if i < 0 || !mayUse(pod, c.mirror.seats[i].info.Node()) {
		return
	}
	if _, err := c.cluster.GrantPlace(&ask, node, time.Now()); err != nil {
		c.log.Error(err, "Nomination not noted", "pod", ask.Key)
		return
	}
	c.given(ask.Key)
	if c.nominations.granted == nil {
		c.nominations.granted = map[string]struct{}{}
	}
	c.nominations.granted[ask.Key] = struct{}{}
}
