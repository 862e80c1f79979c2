// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestResize tells stories of pods that are to grow where they run, and wait for room. That
// is alpha: the API server and the scheduler have another feature gate on.
func TestResize(t *testing.T) {
	if testing.Short() {
		t.Skip("another API server")
	}
	w := newWorld(t, "RBAC", "--feature-gates=InPlacePodVerticalScalingSchedulerPreemption=true")
	w.apply(t, "../config/second", "../config/only")
	for _, s := range []struct {
		name string
		tell func(*testing.T, *world)
	}{
		{"a pod grows within what its queue is guaranteed", grows},
		{"a pod does not grow beyond it", growsNot},
		{"a pod does not grow beyond the max", growsOverMax},
	} {
		t.Run(s.name, func(t *testing.T) {
			w.story(t)
			s.tell(t, w)
			require.Zero(t, metric(t, "preempt_by_queue_audit_violations_total"))
			require.Zero(t, metric(t, "preempt_by_queue_drift_total"))
			require.Zero(t, metric(t, "preempt_by_queue_pods_not_mirrored_total"))
		})
	}
}

// kubelet says what a pod has, and why it has not what it asks for, or "".
func (w *world) kubelet(t *testing.T, name, cpu, why string) {
	conditions := `[{"type":"PodResizePending","$patch":"delete"}]`
	if why != "" {
		conditions = fmt.Sprintf(`[{"type":"PodResizePending","status":"True","reason":%q}]`, why)
	}
	has := fmt.Sprintf(`{"cpu":%q,"memory":"128Mi"}`, cpu)
	_, err := w.client.CoreV1().Pods("default").Patch(t.Context(), name, types.StrategicMergePatchType, fmt.Appendf(nil, `{"status":{"conditions":%s,
		"containerStatuses":[{"name":"c","image":"i","imageID":"i","ready":true,"restartCount":0,"state":{"running":{}},
		"allocatedResources":%s,"resources":{"requests":%s}}]}}`, conditions, has, has), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
}

// respec asks for another size of a pod, which no kubelet has seen yet.
func (w *world) respec(t *testing.T, name, from, to string) {
	w.kubelet(t, name, from, "")
	p := w.get(t, name)
	p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse(to)
	_, err := w.client.CoreV1().Pods("default").UpdateResize(t.Context(), name, p, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// resize asks for another size of a pod, for which its node has no room.
func (w *world) resize(t *testing.T, name, from, to string) {
	w.respec(t, name, from, to)
	w.kubelet(t, name, from, v1.PodReasonDeferred)
}

// twoFullNodes has a pod of prod, of a core, on n1, and batch everywhere else. What n2 has
// matters less.
func twoFullNodes(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, append(fill("n1", "etl", "batch", "mid", "1", 3), append(fill("n2", "xtl", "batch", "low", "1", 4), on("n1", pod("web", "prod", "high", "1")))...)...)
}

// grows: those make room that are on its node, as many as are needed, and it is not one of
// them. Once the kubelet has resized it, the books are right.
func grows(t *testing.T, w *world) {
	twoFullNodes(t, w)
	a, address := withDebug(t, queues(map[string]string{"prod": "3"}))
	w.scheduleSecond(t, a)
	w.resize(t, "web", "1", "3")
	eventually(t, "two make room", func() bool { return w.evictedOf("batch") == 2 })
	w.settle(t)
	require.Equal(t, 1, w.running("prod"))
	require.Equal(t, 5, w.running("batch"))
	for _, name := range w.gonePods() {
		require.Contains(t, name, "batch/etl-", "on n1")
	}
	w.kubelet(t, "web", "3", "")
	w.books(t, address)
	require.Len(t, w.gonePods(), 2)
}

// growsNot: its queue is at what it is guaranteed. So nobody goes, until it is guaranteed more.
func growsNot(t *testing.T, w *world) {
	twoFullNodes(t, w)
	stop := w.scheduleSecond(t, queues(map[string]string{"prod": "1"}))
	before := metric(t, "preempt_by_queue_decisions_total", "refused")
	w.resize(t, "web", "1", "3")
	eventually(t, "it is refused", func() bool { return metric(t, "preempt_by_queue_decisions_total", "refused") > before })
	w.settle(t)
	require.Empty(t, w.gonePods())
	stop()
	w.scheduleSecond(t, queues(map[string]string{"prod": "2"}))
	eventually(t, "two make room", func() bool { return w.evictedOf("batch") == 2 })
	w.kubelet(t, "web", "3", "")
}

// growsOverMax: its queue may not use more.
func growsOverMax(t *testing.T, w *world) {
	twoFullNodes(t, w)
	a, address := withDebug(t, args{"defaultQueue": "system", "root": args{"queues": []any{args{"name": "system"}, args{"name": "batch"},
		args{"name": "prod", "guaranteed": args{"cpu": "2"}, "max": args{"cpu": "2"}}}}})
	w.scheduleSecond(t, a)
	before := metric(t, "preempt_by_queue_decisions_total", "refused")
	w.resize(t, "web", "1", "3")
	eventually(t, "it is refused", func() bool { return metric(t, "preempt_by_queue_decisions_total", "refused") > before })
	w.settle(t)
	require.Empty(t, w.gonePods())
	w.respec(t, "web", "1", "1")
	w.books(t, address)
}
