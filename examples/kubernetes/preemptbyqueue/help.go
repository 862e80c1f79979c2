// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A waiting pod was refused a place.
type waiting struct {
	pod  *v1.Pod
	size resources.Vector
	help victims.Help // what has to happen before another attempt is worth it
}

// news is what has happened that may help pods that were refused, and that no other
// plugin wakes them for: more to take, budgets with more left, other classes and
// namespaces. It is gathered for a while, for much of it comes in crowds.
type news struct {
	mu      sync.Mutex
	more    map[queue.ID]bool // leaves that use more
	budgets map[string]bool   // with more left
	others  bool              // classes and namespaces
	due     bool              // somebody will look at it
}

// newsDelay is how long news is gathered.
const newsDelay = time.Second

// watchNews follows what may help.
func (c *core) watchNews(h fwk.Handle) error {
	f := h.SharedInformerFactory()
	others := func(any) { c.tellNews(func(n *news) { n.others = true }) }
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandlerFuncs{
		f.Core().V1().Pods().Informer(): {
			AddFunc:    func(obj any) { c.assigned(nil, obj.(*v1.Pod)) },
			UpdateFunc: func(old, now any) { c.assigned(old.(*v1.Pod), now.(*v1.Pod)) },
		},
		f.Policy().V1().PodDisruptionBudgets().Informer(): {
			UpdateFunc: func(old, now any) { c.spared(old.(*policyv1.PodDisruptionBudget), now.(*policyv1.PodDisruptionBudget)) },
			DeleteFunc: others,
		},
		f.Scheduling().V1().PriorityClasses().Informer(): {AddFunc: others, DeleteFunc: others, UpdateFunc: func(_, now any) { others(now) }},
		f.Core().V1().Namespaces().Informer(): {UpdateFunc: func(old, now any) {
			if c.lookup.matters(old, now) {
				others(now)
			}
		}},
	} { // in any order: they do not know of each other
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	return nil
}

// assigned tells that a leaf uses more if a pod was bound.
func (c *core) assigned(old, now *v1.Pod) {
	if now.Spec.NodeName == "" || old != nil && old.Spec.NodeName != "" {
		return
	}
	c.refused.Delete(now.UID)
	c.tellNews(func(n *news) { n.more[c.queueOf(now)] = true })
}

// spared tells that a budget has more left.
func (c *core) spared(old, now *policyv1.PodDisruptionBudget) {
	if now.Status.DisruptionsAllowed > old.Status.DisruptionsAllowed || now.Generation != old.Generation {
		c.tellNews(func(n *news) { n.budgets[now.Namespace+"/"+now.Name] = true })
	}
}

// tellNews adds to the news, and has it looked at soon. While nobody waits there is none.
func (c *core) tellNews(add func(*news)) {
	waits := false
	c.refused.Range(func(any, any) bool { waits = true; return false })
	if !waits {
		return
	}
	n := &c.news
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.more == nil {
		n.more, n.budgets = map[queue.ID]bool{}, map[string]bool{}
	}
	add(n)
	if !n.due {
		n.due = true
		time.AfterFunc(newsDelay, c.spread)
	}
}

// forget makes news old.
func (n *news) forget() {
	clear(n.more)
	clear(n.budgets)
	n.others = false
}

// spread has the pods tried again that the news may help.
func (c *core) spread() {
	c.mu.Lock()
	n := &c.news
	n.mu.Lock()
	pods := map[string]*v1.Pod{}
	c.refused.Range(func(_, w any) bool {
		if w := w.(waiting); c.helps(n, &w.help) {
			pods[name(w.pod)] = w.pod
		}
		return true
	})
	n.forget()
	n.due = false
	n.mu.Unlock()
	c.mu.Unlock()
	if len(pods) > 0 {
		c.activate(pods)
	}
}

// helps reports whether news is among what would help.
func (c *core) helps(n *news, h *victims.Help) bool {
	if n.others && (h.Priorities || h.Labels || h.Policies) {
		return true
	}
	for leaf := range n.more { // in any order: one is enough
		if h.IfMore(c.cluster, leaf) {
			return true
		}
	}
	for name := range n.budgets { // in any order: one is enough
		if h.IfBudget(name) {
			return true
		}
	}
	return false
}

// EventsToRegister says what may help a pod that PreFilter or Filter kept away: the
// end of a pod that ran, or that was granted the room, and more room.
func (pl *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete}, QueueingHintFn: pl.afterEnd},
		{Event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.UpdatePodScaleDown}},
		{Event: fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Delete}},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAllocatable}, QueueingHintFn: pl.afterNode},
	}, nil
}

// afterEnd says whether the end of a pod is worth an attempt for another one. It is
// called with the scheduling queue locked, and does not wait for a decision to end. What
// helps others to move is not known.
func (pl *Plugin) afterEnd(_ klog.Logger, pod *v1.Pod, old, _ any) (fwk.QueueingHint, error) {
	gone, ok := old.(*v1.Pod)
	w, refused := pl.core.refused.Load(pod.UID)
	if !ok || !refused || pl.core.args.Moves {
		return fwk.Queue, nil
	}
	c := pl.core
	if !c.mu.TryLock() {
		return fwk.Queue, nil
	}
	defer c.mu.Unlock()
	help := w.(waiting).help
	if node, ok := c.cluster.LookupNode(gone.Spec.NodeName); ok && !help.IfLess(c.cluster, c.queueOf(gone), node) {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

// afterNode says whether a node that is new, or larger, is worth an attempt.
func (pl *Plugin) afterNode(_ klog.Logger, pod *v1.Pod, _, now any) (fwk.QueueingHint, error) {
	node, ok := now.(*v1.Node)
	w, refused := pl.core.refused.Load(pod.UID)
	if !ok || !refused || pl.core.args.Moves {
		return fwk.Queue, nil
	}
	help := w.(waiting).help
	if !help.IfNode(node.Name) {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

// alarms are instants at which pods are to be tried again, one for each pod.
type alarms struct {
	mu     sync.Mutex
	timers map[types.UID]*time.Timer
}

// set rings for a pod after a while, and not when it was to ring before.
func (a *alarms) set(pod types.UID, after time.Duration, ring func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timers == nil {
		a.timers = map[types.UID]*time.Timer{}
	}
	if t := a.timers[pod]; t != nil {
		t.Stop()
	}
	a.timers[pod] = time.AfterFunc(after, func() {
		a.mu.Lock()
		delete(a.timers, pod)
		a.mu.Unlock()
		ring()
	})
}

// stop does not ring for a pod any more.
func (a *alarms) stop(pod types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.timers[pod]; t != nil {
		t.Stop()
		delete(a.timers, pod)
	}
}
