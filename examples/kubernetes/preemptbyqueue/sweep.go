// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"maps"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/victims"
)

// sweepEvery is how often grants and marks are held against the API.
const sweepEvery = time.Second

// A deleted pod may still have a finalizer. The scheduler does not try it any more.
func isDeleted(pod *v1.Pod) bool { return pod == nil || pod.DeletionTimestamp != nil }

// watchPods forgets a pod that is deleted before it ran, and drops its grant. It notes what
// others nominate pods to.
func (c *core) watchPods(h fwk.Handle) error {
	informer := h.SharedInformerFactory().Core().V1().Pods()
	c.lister, c.waiting = informer.Lister(), informer.Informer().GetIndexer()
	if err := informer.Informer().AddIndexers(cache.Indexers{byWorkload: workloadOf, byWaiting: waits}); err != nil {
		return err
	}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { c.note(obj.(*v1.Pod), true) },
		UpdateFunc: func(old, now any) {
			c.note(now.(*v1.Pod), true)
			if pod := now.(*v1.Pod); !isDeleted(old.(*v1.Pod)) && isDeleted(pod) && pod.Spec.NodeName == "" {
				c.deleted(pod)
			}
		},
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if pod, ok := obj.(*v1.Pod); ok {
				c.deleted(pod)
			}
		},
	})
	return err
}

// deleted forgets a pod. What is noted about it later is up to whoever notes it: the
// lister does not have the pod any more before this is called.
func (c *core) deleted(pod *v1.Pod) {
	c.refused.Delete(pod.UID)
	c.alarms.stop(pod.UID)
	c.note(pod, false)
	if !c.granted.has(key(pod)) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key(pod), dropped)
}

// pod returns the pod of a key as the informer has it, or nil if it is gone.
func (c *core) pod(key string) *v1.Pod {
	ns, rest, _ := strings.Cut(key, "/")
	name, uid, _ := strings.Cut(rest, "/")
	pod, err := c.lister.Pods(ns).Get(name)
	if err != nil || string(pod.UID) != uid {
		return nil
	}
	return pod
}

// gone reports whether a pod was deleted. Ask after its grant is noted: the event of
// its end may have come before, and then nobody else will drop the grant.
func (c *core) gone(key string) bool { return c.lister != nil && isDeleted(c.pod(key)) }

// noteRefused notes a pod that was refused, unless it is gone or was bound meanwhile.
func (c *core) noteRefused(pod *v1.Pod, w waiting) {
	c.refused.Store(pod.UID, w)
	if c.lister == nil {
		return
	}
	if now := c.pod(key(pod)); isDeleted(now) || now.Spec.NodeName != "" {
		c.refused.Delete(pod.UID)
	}
}

// takeBack takes back the marks of victims that stay, and the grants that waited for them.
func (c *core) takeBack(stay, grants []string) {
	for _, k := range stay {
		delete(c.marked, k)
		if id, ok := c.cluster.Lookup(k); ok && c.cluster.State(id) == victims.Marked {
			c.unmark(k)
		}
	}
	for _, k := range grants {
		c.drop(k, dropped)
	}
}

// watchNodes has the pods tried again whose places went with a node, and notes that a
// node may be of use again.
func (c *core) watchNodes(h fwk.Handle) error {
	informer := h.SharedInformerFactory().Core().V1().Nodes()
	c.nodes = informer.Lister()
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(old, now any) {
			before, after := old.(*v1.Node), now.(*v1.Node)
			if before.Spec.Unschedulable != after.Spec.Unschedulable || len(before.Spec.Taints) != len(after.Spec.Taints) {
				c.granted.back(after.Name)
			}
		},
		DeleteFunc: func(any) { c.sweep(time.Now()) },
	})
	return err
}

// watchGrants holds grants and marks against the API from time to time, until the
// context ends.
func (c *core) watchGrants(ctx context.Context) { every(ctx, sweepEvery, c.sweep) }

// every does something once in each period, until the context ends.
func every(ctx context.Context, period time.Duration, do func(now time.Time)) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			do(now)
		}
	}
}

// sweep ends what nothing else would end: grants of pods that are gone, or do not come in
// the stead of others, and marks of victims that the API has never been seen to delete. It
// has the pods tried again whose places are on nodes that are gone: the first attempt may
// come before the scheduler has forgotten the node, and then the next sweep makes another
// one.
func (c *core) sweep(now time.Time) {
	if again := c.swept(now); len(again) > 0 {
		c.activate(again)
	}
}

// swept is sweep, and returns the pods that are to be tried again.
func (c *core) swept(now time.Time) map[string]*v1.Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	expired, again := c.expireMarks(now), map[string]*v1.Pod{}
	var leaked []string
	for id := range c.cluster.Granted() {
		k := c.cluster.Key(id)
		if isSuccessor(k) {
			if c.isLate(id, now) {
				leaked = append(leaked, k)
			}
			continue
		}
		if c.gone(k) {
			leaked = append(leaked, k)
			continue
		}
		_, err := c.nodes.Get(c.cluster.NodeName(c.cluster.NodeOf(id)))
		if err != nil || expired {
			pod := c.pod(k).DeepCopy()
			again[name(pod)] = pod
		}
	}
	for _, k := range leaked {
		c.log.Info("Grant of a pod that is gone, or has not come, is dropped", "pod", k)
		c.drop(k, dropped)
	}
	if len(leaked) > 0 {
		maps.Copy(again, c.refusedPods())
	}
	for k, b := range c.balked { // in any order: each is by itself
		if c.gone(k) || now.Sub(b.until) > balkMemory {
			delete(c.balked, k)
		}
	}
	return again
}

// mark notes since when victims are marked, and returns their keys.
func (c *core) mark(of []victims.Victim, now time.Time) (keys []string) {
	if c.marked == nil {
		c.marked = map[string]time.Time{}
	}
	for i := range of {
		c.marked[of[i].Key] = now
		keys = append(keys, of[i].Key)
	}
	return keys
}

// expireMarks takes back the marks of victims that were told to leave long ago, and
// that nobody has seen leaving: the snapshot would have them as Releasing. It reports
// whether there were any.
func (c *core) expireMarks(now time.Time) (expired bool) {
	for k, since := range c.marked { // in any order: each is by itself
		id, ok := c.cluster.Lookup(k)
		switch {
		case !ok || c.cluster.State(id) != victims.Marked:
			delete(c.marked, k)
		case now.Sub(since) >= c.args.GrantDeadline.Duration:
			c.log.Error(nil, "Victim was told to leave and does not", "victim", k, "since", since)
			evictionFailures.Inc()
			delete(c.marked, k)
			c.unmark(k)
			expired = true
		}
	}
	return expired
}
