// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	apipod "k8s.io/kubernetes/pkg/api/v1/pod"
	upstream "k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/go-preempt/preempt/victims"
)

// An eviction is the part of a plan that is for the API.
type eviction struct {
	pods    []*v1.Pod // the preemptor, or those of a gang or a joint plan, or none if a max was lowered
	keys    []string
	note    string // for events and conditions
	kind    string // of what it is for, as upstream's events and metrics have it
	uid     types.UID
	victims []victim

	mu   sync.Mutex
	over bool // all victims were told to stop, or stay
	kept bool // PreEnqueue has kept a pod
}

// A victim is a pod that is to stop.
type victim struct {
	pod  *v1.Pod
	key  string
	node string
	to   string // the node where its successor has a place, if it moves
}

// add adds a victim, with its pod of the snapshot.
func (e *eviction) add(h fwk.Handle, v victim) {
	info, err := h.SnapshotSharedLister().NodeInfos().Get(v.node)
	if err != nil {
		return
	}
	if pi := podOn(info, v.key); pi != nil {
		v.pod = pi.GetPod()
		e.victims = append(e.victims, v)
	}
}

// addAll adds the victims of a plan.
func (e *eviction) addAll(h fwk.Handle, of []victims.Victim) {
	for i := range of {
		e.add(h, victim{key: of[i].Key, node: of[i].NodeName})
	}
}

// addMarked adds those on a node that were to be told to stop and were not seen leaving.
func (e *eviction) addMarked(h fwk.Handle, c *victims.Cluster, n victims.NodeID) {
	for id := range c.TasksOn(n) {
		if c.State(id) == victims.Marked {
			e.add(h, victim{key: c.Key(id), node: c.NodeName(n)})
		}
	}
}

// preemptor returns the pod that victims stop for, and its scheduler, if there is one.
func (e *eviction) preemptor() (pod runtime.Object, scheduler string) {
	if len(e.pods) == 0 {
		return nil, Name
	}
	return e.pods[0], e.pods[0].Spec.SchedulerName
}

// PreEnqueue keeps a pod from being tried until all of its victims leave: there is no room
// for it yet. The last of them that leaves wakes it, for the scheduler and PreEnqueue know
// of that by the same informer. So what calls for the pod before that is not noted.
func (pl *Plugin) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	e, ok := pl.core.evicting.Load(pod.UID)
	if ok && e.(*eviction).keeps(pl.core) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "the pods that make room for it are being told to stop")
	}
	return nil
}

// keeps reports whether PreEnqueue keeps the pods of an eviction, and notes it.
func (e *eviction) keeps(c *core) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	keeps := !e.over && slices.ContainsFunc(e.victims, func(v victim) bool { return !c.gone(v.key) })
	e.kept = e.kept || keeps
	return keeps
}

// start begins to tell all victims to stop. A group that was kept is tried again after that
// if others of its pods wait, which need not wait for these victims.
func (pl *Plugin) start(e *eviction) {
	c := pl.core
	c.hold(e)
	go func() {
		pl.evict(e)
		if kept := c.release(e); kept && e.kind == string(fwk.PodGroupKeyType) && c.othersWait(e.pods[0]) {
			c.activate(byName(e.pods))
		}
	}()
}

// othersWait reports whether pods of the group of a pod wait that have no place.
func (c *core) othersWait(pod *v1.Pod) bool {
	of, _ := workloadOf(pod)
	if len(of) == 0 {
		return false
	}
	all, err := c.waiting.ByIndex(byWorkload, of[0])
	c.mu.Lock()
	defer c.mu.Unlock()
	return err == nil && slices.ContainsFunc(all, func(o any) bool { return !c.placed(key(o.(*v1.Pod))) })
}

// hold has PreEnqueue keep the pods of an eviction.
func (c *core) hold(e *eviction) {
	for _, p := range e.pods {
		c.evicting.Store(p.UID, e)
	}
}

// release has PreEnqueue keep the pods of an eviction no longer, and reports whether it has
// kept any.
func (c *core) release(e *eviction) (kept bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
	for _, p := range e.pods {
		c.evicting.CompareAndDelete(p.UID, e) // it may have a newer one by now
	}
	return e.kept
}

// wake has its pods tried again after a while. Those of a gang are tried as one.
func (e *eviction) wake(c *core, after time.Duration) {
	if e.kind == string(fwk.PodGroupKeyType) {
		c.wake(e.pods, after)
		return
	}
	for i := range e.pods {
		c.wake(e.pods[i:i+1], after)
	}
}

// evict tells all victims to stop, many at once, and returns those that stay. Their marks
// are taken back and the preemptor loses its grants: it asks again, and those that do leave
// are room already.
func (pl *Plugin) evict(e *eviction) (stay []string) {
	c, begin, result := pl.core, time.Now(), upstream.GoroutineResultSuccess
	ctx := klog.NewContext(context.Background(), c.log)
	var mu sync.Mutex
	var why []error
	again := false
	pl.handle.Parallelizer().Until(ctx, len(e.victims), func(i int) {
		v := e.victims[i]
		silent, err := pl.stop(ctx, e, &v)
		mu.Lock()
		defer mu.Unlock()
		again = again || silent || err != nil
		if err != nil {
			evictionFailures.Inc()
			c.log.Error(err, "Victim not evicted", "victim", klog.KObj(v.pod), "for", e.note)
			stay, why = append(stay, v.key), append(why, err)
		}
	}, Name)
	if len(stay) > 0 {
		result = upstream.GoroutineResultError
		c.mu.Lock()
		for i, k := range stay {
			c.balks(k, why[i], time.Now())
		}
		c.takeBack(stay, e.keys)
		c.mu.Unlock()
	}
	if len(e.pods) == 0 {
		return stay
	}
	upstream.PreemptionExecutionDuration.WithLabelValues(e.kind, result).Observe(time.Since(begin).Seconds())
	upstream.PreemptionGoroutinesDuration.WithLabelValues(result).Observe(time.Since(begin).Seconds())
	upstream.PreemptionGoroutinesExecutionTotal.WithLabelValues(result).Inc()
	if again {
		e.wake(c, time.Second)
	}
	return stay
}

// stop tells one victim to stop. A pod that is being bound is stopped in the memory
// of the scheduler, and no event tells of that: stop is silent then. A pod that has
// gone by itself is no error, and neither is an answer that was lost.
//
// The event begins as those of DefaultPreemption do, for those who look for that.
func (pl *Plugin) stop(ctx context.Context, e *eviction, v *victim) (silent bool, err error) {
	pod, note := v.pod, e.noteOn(v)
	if waiting := pl.handle.GetWaitingPod(pod.UID); waiting != nil && waiting.Preempt(Name, note) {
		silent = true
	} else if binding := pl.handle.GetPodInPreBind(pod.UID); binding != nil && binding.CancelPod(note) {
		silent = true
	}
	if !silent {
		err = pl.delete(ctx, e, v)
		if err != nil && pl.stays(ctx, pod) {
			return false, err
		}
		if err != nil {
			return true, nil
		}
	}
	preemptor, _ := e.preemptor()
	pl.handle.EventRecorder().Eventf(pod, preemptor, v1.EventTypeNormal, "Preempted", "Preempting",
		"Preempted by %s %s on node %s: %s", e.kind, e.uid, v.node, note)
	return silent, nil
}

// stays reports whether a pod that the API would not delete is there and not leaving.
// The error alone does not say: a conflict may be that another pod has the name by now,
// or that a webhook says no, and a pod may be deleted though the answer was lost.
func (pl *Plugin) stays(ctx context.Context, pod *v1.Pod) bool {
	now, err := pl.handle.ClientSet().CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	if err != nil {
		return !apierrors.IsNotFound(err)
	}
	return now.UID == pod.UID && !isDeleted(now)
}

// delete notes on a pod why it goes, and deletes it. Both are about this pod, and not
// about another one that has its name by now.
func (pl *Plugin) delete(ctx context.Context, e *eviction, v *victim) error {
	client, pod := pl.handle.ClientSet(), v.pod
	status := pod.Status.DeepCopy()
	_, scheduler := e.preemptor()
	changed := apipod.UpdatePodCondition(status, &v1.PodCondition{
		Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler,
		ObservedGeneration: apipod.CalculatePodConditionObservedGeneration(&pod.Status, pod.Generation, v1.DisruptionTarget),
		Message:            fmt.Sprintf("%s: %s", scheduler, e.noteOn(v)),
	})
	uid := pod.UID
	if changed {
		_, condition := apipod.GetPodCondition(status, v1.DisruptionTarget)
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"uid": uid}, // of another pod: a conflict
			"status":   map[string]any{"conditions": []*v1.PodCondition{condition}},
		})
		if err != nil {
			return err
		}
		if _, err := client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
			return err
		}
	}
	return client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
}

// A balk is that the API does not delete a victim.
type balk struct {
	times int       // in a row
	until time.Time // for how long no plan takes it
}

const (
	// firstBalk is for how long a victim is spared first. It is longer than it takes
	// until the preemptor asks again, which then gets another place if there is one.
	firstBalk = 2 * time.Second
	longBalk  = time.Minute
	// patientTries is how often an API that is merely busy is asked again at once.
	patientTries = 3
	// balkMemory is for how long it is known how often a victim was refused.
	balkMemory = 10 * time.Minute
)

// balks notes that the API did not delete a victim. Plans spare it for a while, twice
// as long each time: otherwise a victim that is refused for good would be the cheapest
// one forever. An API that is merely busy may try a few times first.
func (c *core) balks(key string, err error, now time.Time) {
	if c.balked == nil {
		c.balked = map[string]balk{}
	}
	b := c.balked[key]
	b.times++
	pause := firstBalk << min(b.times-1, 6)
	if !isLasting(err) {
		pause = 0
		if n := b.times - patientTries; n >= 0 {
			pause = firstBalk << min(n, 6)
		}
	}
	b.until = now.Add(min(pause, longBalk))
	c.balked[key] = b
}

// isLasting reports whether asking again at once is of no use: the API has understood,
// and says no.
func isLasting(err error) bool {
	var s apierrors.APIStatus
	if !errors.As(err, &s) {
		return false
	}
	code := s.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError &&
		code != http.StatusTooManyRequests && code != http.StatusRequestTimeout
}

// exempt protects the pods of a priority class that tolerates the preemptor, and those
// that the API does not delete. The tag of a task is the number of its class.
func (c *core) exempt(e *victims.Question) (until time.Time, exempt bool) {
	class := c.lookup.class(e.Cluster.Tag(e.Task))
	until, exempt = class.Policy.Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
	if len(c.balked) == 0 || exempt && until.IsZero() {
		return until, exempt
	}
	if b := c.balked[e.Cluster.Key(e.Task)]; b.until.After(e.Now) && b.until.After(until) {
		return b.until, true
	}
	return until, exempt
}
