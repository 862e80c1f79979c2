// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// unfinalize takes the finalizers of a pod away.
func (w *world) unfinalize(name string) {
	_, err := w.client.CoreV1().Pods("default").Patch(context.Background(), name, types.MergePatchType,
		[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	w.report(err)
}

// preemptorDeleted: the place of a pod that is deleted is free for the next one.
func preemptorDeleted(t *testing.T, w *world) {
	w.hold()
	w.addNodes(t, node("n1", "4"))
	w.run(t, fill("n1", "etl", "batch", "mid", "1", 4)...)
	p, address := w.faulty(t, guaranteed("4"), nil)
	w.add(t, pod("web", "prod", "high", "4"))
	eventually(t, "victims terminate", func() bool { return w.running("batch") == 0 })
	w.delete(t, "web")
	w.release()
	w.run(t, pod("next", "batch", "low", "4"))
	require.Equal(t, 1, p.most())
	w.books(t, address)
}

// A meddler is a plugin that deletes a pod while it is being decided, and goes on once the
// scheduler knows that it is gone: in Filter of a node that it looks for, or in PreFilter.
type meddler struct {
	world *world
	pod   string
	when  func(info fwk.NodeInfo) bool // nil: in PreFilter
	knows chan struct{}
	once  sync.Once
}

func (m *meddler) Name() string { return "Meddler" }

func (m *meddler) Filter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	if pod.Name == m.pod && m.when != nil && m.when(info) {
		m.once.Do(m.meddle)
	}
	return nil
}

func (m *meddler) PreFilter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if pod.Name == m.pod && m.when == nil {
		m.once.Do(m.meddle)
	}
	return nil, nil
}

func (m *meddler) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// meddle deletes the pod.
func (m *meddler) meddle() {
	zero := int64(0)
	m.world.report(m.world.client.CoreV1().Pods("default").Delete(context.Background(), m.pod, metav1.DeleteOptions{GracePeriodSeconds: &zero}))
	<-m.knows
}

// option adds a meddler to a scheduler.
func (m *meddler) option() app.Option {
	m.knows = make(chan struct{})
	return app.WithPlugin("Meddler", func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		_, err := h.SharedInformerFactory().Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
			if pod, ok := obj.(*v1.Pod); ok && pod.Name == m.pod {
				close(m.knows)
			}
		}})
		return m, err
	})
}

// preemptorDeletedInside: the event of its end comes before the grant is given. Nobody
// goes for it, and nothing is left of it.
func preemptorDeletedInside(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"))
	w.run(t, fill("n1", "etl", "batch", "mid", "1", 4)...)
	a, address := withDebug(t, guaranteed("4"))
	// PostFilter asks about the node without its victims.
	m := &meddler{world: w, pod: "web", when: func(info fwk.NodeInfo) bool { return len(info.GetPods()) == 0 }}
	w.through(t, newProxy(t, w), a, m.option())
	w.add(t, pod("web", "prod", "high", "4"))
	eventually(t, "web is gone", func() bool { return !w.has("web") })
	w.books(t, address)
	require.Empty(t, w.gonePods())
	w.run(t, pod("next", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, 4, w.evictedOf("batch"))
	w.books(t, address)
}

// refusedDeletedInside: a pod that is gone is not among those that wait.
func refusedDeletedInside(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "8"))
	w.run(t, fill("n1", "b", "teamb", "mid", "1", 4)...)
	a, address := withDebug(t, args{"defaultQueue": "system", "root": args{"queues": []any{
		args{"name": "system"}, args{"name": "teamb", "guaranteed": args{"cpu": "4"}}, args{"name": "prod", "guaranteed": args{"cpu": "8"}}}}})
	m := &meddler{world: w, pod: "web"}
	w.through(t, newProxy(t, w), a, m.option())
	w.add(t, pod("web", "prod", "high", "8"))
	eventually(t, "web is gone", func() bool { return !w.has("web") })
	w.books(t, address)
	require.Empty(t, w.gonePods())
	eventually(t, "nobody is refused", func() bool {
		text, _ := page(t, address, "explain")
		return text == "no pod was refused a place: there is no decision to look at\n"
	})
}

// preemptorRecreated: a pod of a StatefulSet, say, is created anew again and again. Each
// takes over the room that leaves already.
func preemptorRecreated(t *testing.T, w *world) {
	w.hold()
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, append(fill("n1", "etl", "batch", "mid", "1", 4), fill("n2", "xtl", "batch", "mid", "1", 4)...)...)
	p, address := w.faulty(t, guaranteed("4"), nil)
	w.add(t, pod("web", "prod", "high", "4"))
	eventually(t, "victims terminate", func() bool { return w.running("batch") == 4 })
	for range 5 {
		w.delete(t, "web")
		w.add(t, pod("web", "prod", "high", "4"))
		eventually(t, "the new one has the place", func() bool { return w.get(t, "web").Status.NominatedNodeName != "" })
	}
	w.release()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	require.Equal(t, 4, w.evictedOf("batch"))
	require.Equal(t, 1, p.most())
	w.books(t, address)
}

// nodeDeleted: the node of a granted place is deleted, and its pods are there still, for
// nobody collects them. The preemptor gets another place without any other event.
func nodeDeleted(t *testing.T, w *world) {
	w.hold()
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, append(fill("n1", "etl", "batch", "low", "1", 4), fill("n2", "xtl", "batch", "mid", "1", 4)...)...)
	_, address := w.faulty(t, guaranteed("4"), nil)
	w.add(t, pod("web", "prod", "high", "4"))
	eventually(t, "victims terminate", func() bool { return w.get(t, "web").Status.NominatedNodeName == "n1" && w.running("batch") == 4 })
	require.NoError(t, w.client.CoreV1().Nodes().Delete(t.Context(), "n1", metav1.DeleteOptions{}))
	eventually(t, "victims on the other node terminate", func() bool { return w.running("batch") == 0 })
	w.release()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	require.Equal(t, "n2", w.get(t, "web").Spec.NodeName)
	w.books(t, address)
}

// cordoned: a node is cordoned once its victims were told to go, and the pod is tried.
func cordoned(t *testing.T, w *world, patience string) (address string) {
	w.hold()
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, append(fill("n1", "etl", "batch", "low", "1", 4), fill("n2", "xtl", "batch", "mid", "1", 4)...)...)
	_, address = w.faulty(t, guaranteed("4").with("nodePatience", patience), nil)
	w.add(t, pod("web", "prod", "high", "4"))
	eventually(t, "victims terminate", func() bool { return w.get(t, "web").Status.NominatedNodeName == "n1" && w.running("batch") == 4 })
	w.cordon(t, "n1", true)
	w.release() // the end of a victim has the pod tried
	return address
}

// briefCordon: a cordon that is taken back before the pod runs out of patience costs nobody.
func briefCordon(t *testing.T, w *world) {
	before := inFlight(t)
	address := cordoned(t, w, "1h")
	eventually(t, "the pod is tried while the node is cordoned", func() bool { return len(w.gonePods()) == 4 && inFlight(t) > before })
	w.cordon(t, "n1", false)
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	require.Equal(t, "n1", w.get(t, "web").Spec.NodeName)
	require.Equal(t, 4, w.evictedOf("batch"))
	w.books(t, address)
}

// lastingCordon: a node that stays cordoned is given up, though nothing else happens.
func lastingCordon(t *testing.T, w *world) {
	address := cordoned(t, w, "1s")
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	require.Equal(t, "n2", w.get(t, "web").Spec.NodeName)
	require.Equal(t, 8, w.evictedOf("batch"))
	w.books(t, address)
}

// flap: nodes are cordoned and uncordoned all the time. With patience that costs nobody.
func flap(t *testing.T, w *world) {
	for i := range 4 {
		n := fmt.Sprint("n", i)
		w.addNodes(t, node(n, "4"))
		w.run(t, fill(n, "etl-"+n, "batch", "mid", "1", 4)...)
	}
	_, address := w.faulty(t, guaranteed("8").with("nodePatience", "1h"), nil)
	for i := range 4 {
		w.add(t, pod(fmt.Sprint("web-", i), "prod", "high", "2"))
	}
	for i := range 40 {
		n := fmt.Sprint("n", i%4)
		w.cordon(t, n, (i/4)%2 == 0)
	}
	eventually(t, "prod runs", func() bool { return w.running("prod") == 4 })
	w.settle(t)
	require.Equal(t, 8, w.evictedOf("batch"))
	require.Zero(t, w.evictedOf("prod"))
	w.books(t, address)
}

// liveQueues has queues in a ConfigMap, and returns what replaces them.
func (w *world) liveQueues(t *testing.T, text string) (change func(text string)) {
	maps := w.client.CoreV1().ConfigMaps("preempt-system")
	m := queueMap(text)
	m.Namespace = "preempt-system"
	m, err := maps.Create(t.Context(), m, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { w.report(maps.Delete(context.Background(), m.Name, metav1.DeleteOptions{})) })
	return func(text string) {
		m.Data["queues.yaml"] = text
		_, err := maps.Update(t.Context(), m, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
}

// guaranteeGone: a queue loses its guarantee, and its max is below what it was granted. Its
// pod is refused, nobody goes for it again, and its victims come back.
func guaranteeGone(t *testing.T, w *world) {
	w.hold()
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, append(fill("n1", "etl", "batch", "mid", "1", 4), fill("n2", "xtl", "batch", "mid", "1", 4)...)...)
	change := w.liveQueues(t, "queues:\n- {name: system}\n- {name: batch}\n- {name: prod, guaranteed: {cpu: 4}}\n")
	_, address := w.faulty(t, queues(nil).with("queuesConfigMap", "preempt-system/queues"), nil)
	w.controllers()
	w.add(t, pod("web", "prod", "high", "4"))
	eventually(t, "victims terminate", func() bool { return w.running("batch") == 4 })
	change("queues:\n- {name: system}\n- {name: batch, guaranteed: {cpu: 8}}\n- {name: prod, max: {cpu: 2}}\n")
	w.release()
	eventually(t, "batch is back", func() bool { return w.running("batch") == 8 })
	w.settle(t)
	require.Contains(t, refusal(w.get(t, "web")), "max")
	require.Equal(t, 4, w.evictedOf("batch"))
	w.books(t, address)
}

// gangGuarantee: a gang waits, and its queue is given a guarantee.
func gangGuarantee(t *testing.T, w *world) {
	w.addGang(t, "late", 2)
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", pod("etl-0", "batch", "low", "4")), on("n2", pod("etl-1", "batch", "low", "4")))
	change := w.liveQueues(t, "queues:\n- {name: system}\n- {name: batch}\n- {name: prod}\n")
	_, address := w.faulty(t, queues(nil).with("queuesConfigMap", "preempt-system/queues"), nil)
	w.add(t, member("late", pod("web-0", "prod", "mid", "4")), member("late", pod("web-1", "prod", "mid", "4")))
	eventually(t, "the gang is refused", func() bool { return refusal(w.get(t, "web-1")) != "" })
	change("queues:\n- {name: system}\n- {name: batch}\n- {name: prod, guaranteed: {cpu: 8}}\n")
	eventually(t, "prod runs", func() bool { return w.running("prod") == 2 })
	w.settle(t)
	require.Equal(t, 2, w.evictedOf("batch"))
	w.books(t, address)
}
