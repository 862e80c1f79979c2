// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	apipod "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"github.com/go-preempt/preempt/victims"
)

// An eviction is the part of a plan that is for the API.
type eviction struct {
	pods    []*v1.Pod // the preemptor, or those of a gang
	keys    []string
	note    string // for events and conditions
	victims []victim
}

// A victim is a pod that is to stop.
type victim struct {
	pod *v1.Pod
	key string
}

// add adds a pod of the snapshot to the victims.
func (e *eviction) add(h fwk.Handle, node, key string) {
	info, err := h.SnapshotSharedLister().NodeInfos().Get(node)
	if err != nil {
		return
	}
	if pi := podOn(info, key); pi != nil {
		e.victims = append(e.victims, victim{pi.GetPod(), key})
	}
}

// evict tells all victims to stop, many at once. If some of them stay, their marks
// are taken back and the preemptor loses its grants: it asks again, and those that do leave
// are room already.
func (pl *Plugin) evict(e *eviction) {
	c := pl.core
	ctx := klog.NewContext(context.Background(), c.log)
	var mu sync.Mutex
	var stay []string
	again := false
	pl.handle.Parallelizer().Until(ctx, len(e.victims), func(i int) {
		v := e.victims[i]
		silent, err := pl.stop(ctx, e, v.pod)
		mu.Lock()
		defer mu.Unlock()
		again = again || silent || err != nil
		if err != nil {
			evictionFailures.Inc()
			c.log.Error(err, "Victim not evicted", "victim", klog.KObj(v.pod), "pod", klog.KObj(e.pods[0]))
			stay = append(stay, v.key)
		}
	}, Name)
	if len(stay) > 0 {
		c.mu.Lock()
		for _, k := range stay {
			if id, ok := c.cluster.Lookup(k); ok && c.cluster.State(id) == victims.Preempting {
				c.unmark(k)
			}
		}
		for _, k := range e.keys {
			c.drop(k, dropped)
		}
		c.mu.Unlock()
	}
	if again {
		pl.wake(e.pods, time.Second)
	}
}

// stop tells one victim to stop. A pod that is being bound is stopped in the memory
// of the scheduler, and no event tells of that: stop is silent then. A pod that has
// gone by itself is no error.
func (pl *Plugin) stop(ctx context.Context, e *eviction, pod *v1.Pod) (silent bool, err error) {
	if waiting := pl.handle.GetWaitingPod(pod.UID); waiting != nil && waiting.Preempt(Name, e.note) {
		silent = true
	} else if binding := pl.handle.GetPodInPreBind(pod.UID); binding != nil && binding.CancelPod(e.note) {
		silent = true
	}
	if !silent {
		err = pl.delete(ctx, e, pod)
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // another pod has its name by now
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	pl.handle.EventRecorder().Eventf(pod, e.pods[0], v1.EventTypeNormal, "Preempted", "Preempting", "%s", e.note)
	return silent, nil
}

// delete notes on a pod why it goes, and deletes it.
func (pl *Plugin) delete(ctx context.Context, e *eviction, pod *v1.Pod) error {
	client := pl.handle.ClientSet()
	status := pod.Status.DeepCopy()
	changed := apipod.UpdatePodCondition(status, &v1.PodCondition{
		Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler,
		ObservedGeneration: apipod.CalculatePodConditionObservedGeneration(&pod.Status, pod.Generation, v1.DisruptionTarget),
		Message:            fmt.Sprintf("%s: %s", e.pods[0].Spec.SchedulerName, e.note),
	})
	if changed {
		if err := util.PatchPodStatus(ctx, client, pod.Name, pod.Namespace, &pod.Status, status); err != nil {
			return err
		}
	}
	uid := pod.UID
	return client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
}
