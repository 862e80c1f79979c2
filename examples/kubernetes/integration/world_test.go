// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// A world is an API with everything but a scheduler: it plays the kubelets of all
// nodes, and the controllers that create again what was deleted.
type world struct {
	config *rest.Config
	client *kubernetes.Clientset
	pods   cache.Store

	mu      sync.Mutex
	t       *testing.T // the test that it serves now
	held    bool       // pods do not stop yet
	leaving []*v1.Pod  // those that do not
	respawn bool       // pods that were evicted are created again
	made    int
	evicted []string           // queue/name, in the order in which they went
	here    map[types.UID]bool // pods that it was told of, and not yet that they are gone
}

func newWorld(t *testing.T, authorization string, flags ...string) *world {
	config := startAPI(t, authorization, flags...)
	w := &world{config: config, client: kubernetes.NewForConfigOrDie(config), t: t, here: map[types.UID]bool{}}
	w.addClasses(t)
	f := informers.NewSharedInformerFactory(w.client, 0)
	informer := f.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			w.mu.Lock()
			w.here[obj.(*v1.Pod).UID] = true
			w.mu.Unlock()
			w.live(obj.(*v1.Pod))
		},
		UpdateFunc: func(_, obj any) { w.live(obj.(*v1.Pod)) },
		DeleteFunc: func(obj any) {
			if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = last.Obj
			}
			w.gone(obj.(*v1.Pod))
		},
	})
	require.NoError(t, err)
	w.pods = informer.GetStore()
	f.Start(t.Context().Done())
	f.WaitForCacheSync(t.Context().Done())
	return w
}

// live is what a kubelet does: a pod that is bound runs, and one that was deleted
// goes.
func (w *world) live(pod *v1.Pod) {
	switch {
	case pod.Spec.NodeName == "":
	case pod.DeletionTimestamp != nil:
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.held {
			w.leaving = append(w.leaving, pod)
		} else {
			go w.end(pod)
		}
	case pod.Status.Phase == v1.PodPending:
		go func() {
			_, err := w.client.CoreV1().Pods(pod.Namespace).Patch(context.Background(), pod.Name, types.StrategicMergePatchType,
				[]byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{}, "status")
			w.report(err)
		}()
	}
}

// end is what a kubelet does once all containers of a pod have stopped.
func (w *world) end(pod *v1.Pod) {
	zero := int64(0)
	w.report(w.client.CoreV1().Pods(pod.Namespace).Delete(context.Background(), pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &zero, Preconditions: &metav1.Preconditions{UID: &pod.UID}}))
}

// hold keeps pods that were deleted terminating until release is called.
func (w *world) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = true
}

// release lets pods go.
func (w *world) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = false
	for _, pod := range w.leaving {
		go w.end(pod)
	}
	w.leaving = nil
}

// gone notes an eviction, and creates the pod again if controllers do so.
func (w *world) gone(pod *v1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.here, pod.UID)
	if pod.DeletionTimestamp == nil || pod.Spec.NodeName == "" {
		return
	}
	w.evicted = append(w.evicted, pod.Labels[queueLabel]+"/"+pod.Name)
	if !w.respawn {
		return
	}
	w.made++
	again := pod.DeepCopy()
	again.ObjectMeta = metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", pod.Name, w.made), Namespace: pod.Namespace,
		Labels: pod.Labels, Annotations: pod.Annotations, OwnerReferences: pod.OwnerReferences}
	again.Spec.NodeName, again.Status = "", v1.PodStatus{}
	go func() {
		_, err := w.client.CoreV1().Pods(again.Namespace).Create(context.Background(), again, metav1.CreateOptions{})
		w.report(err)
	}()
}

// report tells of an error that is not just a pod gone meanwhile.
func (w *world) report(err error) {
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t.Logf("kubelet or controller: %v", err)
}

// empty reports whether there are no pods, and all that was told of the last ones has been heard: else
// they would be victims of the next test.
func (w *world) empty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all()) == 0 && len(w.here) == 0
}

// all returns all pods.
func (w *world) all() []*v1.Pod {
	var pods []*v1.Pod
	for _, obj := range w.pods.List() {
		pods = append(pods, obj.(*v1.Pod))
	}
	return pods
}

// running counts the pods of a queue that run and were not told to stop.
func (w *world) running(queue string) (n int) {
	for _, p := range w.all() {
		if p.Labels[queueLabel] == queue && p.DeletionTimestamp == nil && p.Status.Phase == v1.PodRunning {
			n++
		}
	}
	return n
}

// settled reports whether nothing is on its way: no pod is leaving, and each pending
// one was refused without a place being nominated for it.
func (w *world) settled() bool {
	for _, p := range w.all() {
		if p.DeletionTimestamp != nil {
			return false
		}
		if p.Spec.NodeName == "" && (refusal(p) == "" || p.Status.NominatedNodeName != "") {
			return false
		}
	}
	return true
}

// refusal returns why a pod was not scheduled, or "" if that was not tried yet.
func refusal(p *v1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

// settle waits until nothing has been on its way for a while.
func (w *world) settle(t *testing.T) {
	t.Helper()
	calm := 0
	eventually(t, "the cluster settles", func() bool {
		if calm++; !w.settled() {
			calm = 0
		}
		return calm == 50
	})
}

// gonePods returns, sorted, the pods that were evicted so far.
func (w *world) gonePods() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := slices.Clone(w.evicted)
	slices.Sort(names)
	return names
}

// evictedOf counts the pods of a queue that were evicted so far.
func (w *world) evictedOf(queue string) (n int) {
	for _, name := range w.gonePods() {
		if strings.HasPrefix(name, queue+"/") {
			n++
		}
	}
	return n
}
