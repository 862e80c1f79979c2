// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptbyqueue"
)

// The queues of these stories: batch may use so much, and gives back a second after that
// was lowered.
func batchOf(max string) string {
	return "queues:\n- {name: system}\n- {name: prod}\n- {name: batch, max: {cpu: " + max + "}, properties: {quota.preemption.delay: 1s}}\n"
}

// batchRuns has batch run six pods of a core, at priorities 0 and 10.
func batchRuns(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "8"))
	for i := range 6 {
		w.run(t, pod(fmt.Sprint("etl-", i), "batch", []string{"low", "mid"}[i%2], "1"))
	}
}

// maxLowered: nobody waits, and a queue gives back what it uses beyond its max. The pods
// that matter least go, and their events say why.
func maxLowered(t *testing.T, w *world) {
	change := w.liveQueues(t, batchOf("6"))
	p, address := w.faulty(t, queues(nil).with("queuesConfigMap", "preempt-system/queues"), nil)
	batchRuns(t, w)
	change(batchOf("4"))
	eventually(t, "batch is within its max", func() bool { return w.running("batch") == 4 })
	w.settle(t)
	gone := w.gonePods()
	require.Len(t, gone, 2)
	require.Subset(t, []string{"batch/etl-0", "batch/etl-2", "batch/etl-4"}, gone)
	require.Equal(t, 1, p.most())
	require.True(t, w.event(t, "Preempted", "queue root.batch is over its max: used cpu=6"))
	w.add(t, pod("etl-6", "batch", "low", "1"))
	eventually(t, "a new pod is refused", func() bool { return refusal(w.get(t, "etl-6")) != "" })
	require.Equal(t, 4, w.running("batch"))
	w.books(t, address)
}

// maxRefused: the API does not delete who should go. After the delay the queue is asked
// again.
func maxRefused(t *testing.T, w *world) {
	change := w.liveQueues(t, batchOf("6"))
	p, address := w.faulty(t, queues(nil).with("queuesConfigMap", "preempt-system/queues"), func(w http.ResponseWriter, _ *http.Request, _ string, try int) bool {
		return try <= 2 && answer(w, http.StatusForbidden)
	})
	batchRuns(t, w)
	change(batchOf("5"))
	eventually(t, "batch is within its max", func() bool { return w.running("batch") == 5 })
	w.settle(t)
	require.Len(t, w.gonePods(), 1)
	require.Equal(t, 1, p.most())
	w.books(t, address)
}

// guaranteeLowered: what a queue was guaranteed protects its pods until that is lowered.
// Then those who wait for what they are guaranteed take it.
func guaranteeLowered(t *testing.T, w *world) {
	of := func(batch string) string {
		return "queues:\n- {name: system}\n- {name: batch, guaranteed: {cpu: " + batch + "}}\n- {name: prod, guaranteed: {cpu: 4}}\n"
	}
	w.addNodes(t, node("n1", "4"))
	w.run(t, fill("n1", "etl", "batch", "mid", "1", 4)...)
	change := w.liveQueues(t, of("4"))
	_, address := w.faulty(t, queues(nil).with("queuesConfigMap", "preempt-system/queues"), nil)
	w.add(t, pod("web", "prod", "mid", "2"))
	w.settle(t)
	require.Empty(t, w.gonePods())
	change(of("2"))
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	require.Equal(t, 2, w.evictedOf("batch"))
	w.books(t, address)
}

// stopCost: of pods that are alike the one goes that loses least, by the annotations that
// they have by then.
func stopCost(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"), node("n2", "4"), node("n3", "4"))
	w.schedule(t, queues(map[string]string{"prod": "8"}))
	for i := range 3 {
		p := pod(fmt.Sprint("etl-", i), "batch", "mid", "4")
		p.Spec.NodeSelector = map[string]string{v1.LabelHostname: fmt.Sprint("n", i+1)}
		w.run(t, p)
	}
	annotate := func(pod, name, value string) {
		_, err := w.client.CoreV1().Pods("default").Patch(t.Context(), pod, types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, name, value), metav1.PatchOptions{})
		require.NoError(t, err)
	}
	annotate("etl-0", preemptbyqueue.AnnotationCost, "5")
	placed := w.get(t, "etl-1")
	eventually(t, "etl-1 has done more than etl-2 has since its checkpoint", func() bool {
		return time.Since(placed.Status.Conditions[0].LastTransitionTime.Time) > 3*time.Second
	})
	annotate("etl-2", preemptbyqueue.AnnotationCheckpoint, time.Now().UTC().Format(time.RFC3339))
	w.run(t, pod("web-0", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, []string{"batch/etl-2"}, w.gonePods())
	w.run(t, pod("web-1", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, []string{"batch/etl-1", "batch/etl-2"}, w.gonePods())
}
