// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptqueues"
)

// An objectWorld is an API with PreemptQueues, and what follows them.
type objectWorld struct {
	*objects
	client *fake.FakeDynamicClient
	pods   cache.Indexer
	told   []string
}

func newObjectWorld(t *testing.T, specs ...string) *objectWorld {
	c := coreOf(t, "{defaultQueue: other, queuesNamespace: admin, resources: [cpu], root: {queues: [{name: other}]}}",
		cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}))
	w := &objectWorld{pods: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	c.lister = corelisters.NewPodLister(w.pods)
	w.client = fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{preemptqueues.Resource: "PreemptQueueList"})
	for i, spec := range specs {
		name, spec, _ := strings.Cut(spec, " ")
		ns, name, _ := strings.Cut(name, "/")
		u := &unstructured.Unstructured{}
		require.NoError(t, u.UnmarshalJSON(fmt.Appendf(nil, `{"apiVersion":"go-preempt.github.io/v1alpha1","kind":"PreemptQueue",
			"metadata":{"namespace":%q,"name":%q,"uid":"%d","generation":1},"spec":%s}`, ns, name, i, spec)))
		_, err := w.client.Resource(preemptqueues.Resource).Namespace(ns).Create(t.Context(), u, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	w.objects = &objects{core: c, base: c.queues(), client: w.client.Resource(preemptqueues.Resource), store: cache.NewStore(cache.MetaNamespaceKeyFunc)}
	w.event = func(about *preemptqueues.PreemptQueue, kind, reason, _ string) {
		w.told = append(w.told, about.Namespace+"/"+about.Name+" "+kind+" "+reason)
	}
	w.follow(t)
	return w
}

// follow brings the informer to what the API has, and returns it by name.
func (w *objectWorld) follow(t *testing.T) map[string]*preemptqueues.PreemptQueue {
	all, err := w.client.Resource(preemptqueues.Resource).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	by := map[string]*preemptqueues.PreemptQueue{}
	for i := range all.Items {
		obj, err := typed(&all.Items[i])
		require.NoError(t, err)
		require.NoError(t, w.store.Update(obj))
		by[all.Items[i].GetName()] = obj.(*preemptqueues.PreemptQueue)
	}
	return by
}

// writes counts the statuses that were written so far.
func (w *objectWorld) writes() (n int) {
	for _, a := range w.client.Actions() {
		if a.Matches("update", "preemptqueues") && a.GetSubresource() == "status" {
			n++
		}
	}
	return n
}

func (w *objectWorld) pod(t *testing.T, name, queue, node, refused string) {
	p := newPlainPod(name, 2, 0)
	p.Spec.NodeName, p.Labels = node, map[string]string{"go-preempt.github.io/queue": queue}
	if refused != "" {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Message: refused}}
	}
	require.NoError(t, w.pods.Add(p))
}

// TestObjects: each object is told once what became of it, and again only if that changes.
func TestObjects(t *testing.T) {
	w := newObjectWorld(t, `admin/prod {"namespaces":["web"],"guaranteed":{"cpu":8}}`,
		`web/web {"parent":"prod","guaranteed":{"cpu":"4"}}`, `web/bad {"parent":"nowhere"}`)
	w.pod(t, "runs", "prod.web", "n1", "")
	w.pod(t, "waits", "prod.web", "", strings.Repeat("é", longestReason))
	w.pod(t, "waits-too", "prod.web", "", "no room")
	w.pod(t, "new", "prod.web", "", "")
	require.NoError(t, w.put(t.Context(), time.Now()))
	by := w.follow(t)
	require.ElementsMatch(t, []string{"admin/prod Normal QueueAsSpecified", "web/web Normal QueueAsSpecified", "web/bad Warning QueueRefused"}, w.told)
	_, ok := w.core.cluster.Tree().Lookup("root.prod.web")
	require.True(t, ok, "the planner has the tree")

	web := by["web"].Status
	require.Equal(t, map[string]string{"cpu": "2"}, web.Used)
	require.Equal(t, "50%", web.Share)
	require.Equal(t, int64(2), web.Waiting)
	waiting := meta.FindStatusCondition(web.Conditions, preemptqueues.ConditionWaiting)
	require.Equal(t, metav1.ConditionTrue, waiting.Status)
	require.Equal(t, "ns/waits: "+strings.Repeat("é", longestReason/2)+"…", waiting.Message)
	require.Equal(t, "25%", by["prod"].Status.Share)
	require.Empty(t, by["bad"].Status.Queue)
	require.Equal(t, int64(1), by["bad"].Status.ObservedGeneration)

	wrote := w.writes()
	require.Equal(t, 3, wrote)
	require.NoError(t, w.put(t.Context(), time.Now()))
	w.follow(t)
	require.Equal(t, wrote, w.writes(), "nothing is new")
	w.pod(t, "runs-too", "prod.web", "n1", "")
	require.NoError(t, w.put(t.Context(), time.Now()))
	require.Equal(t, "100%", w.follow(t)["web"].Status.Share)
	require.Equal(t, wrote+2, w.writes())
	require.Len(t, w.told, 3)
}

// TestObjectsConflict: if another replica was faster, that is no error and no event. Other
// failures are tried again.
func TestObjectsConflict(t *testing.T) {
	w := newObjectWorld(t, `admin/a {}`)
	fail := error(apierrors.NewConflict(preemptqueues.Resource.GroupResource(), "a", nil))
	w.client.PrependReactor("update", "preemptqueues", func(clienttesting.Action) (bool, runtime.Object, error) {
		return fail != nil, nil, fail
	})
	require.NoError(t, w.put(t.Context(), time.Now()))
	fail = apierrors.NewForbidden(preemptqueues.Resource.GroupResource(), "a", nil)
	require.Error(t, w.put(t.Context(), time.Now()))
	require.Empty(t, w.told)
	w.look(t.Context(), time.Now())
	require.True(t, w.stale.Load(), "it is tried again")
	fail = nil
	w.look(t.Context(), time.Now())
	require.Len(t, w.told, 1)
	require.False(t, w.stale.Load())
}

// TestObjectsMany: changes do not wait for statuses of thousands.
func TestObjectsMany(t *testing.T) {
	var specs []string
	for i := range statusesAtOnce + 5 {
		specs = append(specs, fmt.Sprintf("admin/q%d {}", i))
	}
	w := newObjectWorld(t, specs...)
	require.NoError(t, w.put(t.Context(), time.Now()))
	require.Equal(t, statusesAtOnce, w.writes())
	require.True(t, w.stale.Swap(false))
	w.follow(t)
	require.NoError(t, w.put(t.Context(), time.Now()))
	require.Equal(t, statusesAtOnce+5, w.writes())
	require.False(t, w.stale.Load())
}

// TestObjectsUpdated: a status that only counts makes no other tree.
func TestObjectsUpdated(t *testing.T) {
	o := &objects{}
	before := &preemptqueues.PreemptQueue{}
	for name, of := range map[string]struct {
		change func(q *preemptqueues.PreemptQueue)
		stale  bool
	}{
		"nothing":    {func(*preemptqueues.PreemptQueue) {}, false},
		"usage":      {func(q *preemptqueues.PreemptQueue) { q.Status.Waiting, q.Status.Share = 3, "1%" }, false},
		"spec":       {func(q *preemptqueues.PreemptQueue) { q.Generation++ }, true},
		"in force":   {func(q *preemptqueues.PreemptQueue) { q.Status.InForce = &preemptqueues.Spec{Parent: "a"} }, true},
		"guaranteed": {func(q *preemptqueues.PreemptQueue) { q.Status.Guaranteed = map[string]string{"cpu": "1"} }, true},
		"place":      {func(q *preemptqueues.PreemptQueue) { q.Status.Queue = "a" }, true},
	} {
		o.stale.Store(false)
		after := before.DeepCopyObject().(*preemptqueues.PreemptQueue)
		of.change(after)
		o.updated(before, after)
		require.Equal(t, of.stale, o.stale.Load(), name)
	}
}
