// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptqueues"
)

// TestTruth tells of pods that are not what their spec says: with queues that are objects,
// and without queues. RBAC is on: the scheduler has the rights of config/second.
func TestTruth(t *testing.T) {
	tellOfQueues(t, []tale{
		{"queues that are objects", truthOfObjects},
		{"without queues", truthWithoutQueues},
	})
}

// truthOfObjects: Ann has what production is guaranteed. teamb is guaranteed memory, of which
// there is plenty, and so it is no reason to keep a core.
func truthOfObjects(t *testing.T, w *world) {
	for name, spec := range map[string]string{"batch": "{}", "teamb": "{guaranteed: {memory: 64Gi}}",
		"prod": "{namespaces: [default], guaranteed: {cpu: 32}}"} { // in any order: they are beside each other
		require.NoError(t, w.queueAs(t, w.config, "preempt-system/"+name, spec))
	}
	require.NoError(t, w.queueAs(t, ann(w), "default/web", "{parent: prod, guaranteed: {cpu: 32}}"))
	w.tellTruth(t, "objects", "batch", "teamb", "prod.web", args{"defaultQueue": "system", "queuesNamespace": "preempt-system",
		"scarce": []string{"cpu"}, "root": args{"queues": []any{args{"name": "system"}}}}, func() {
		for _, name := range []string{"preempt-system/batch", "preempt-system/teamb", "preempt-system/prod", "default/web"} {
			w.inForce(t, name, preemptqueues.ReasonAsSpecified)
		}
	})
}

// truthWithoutQueues: priority alone decides. All pods together are guaranteed more memory
// than there is, and who needs none of it takes none of it away.
func truthWithoutQueues(t *testing.T, w *world) {
	w.tellTruth(t, "plain", "", "", "", args{"scarce": "auto", "root": args{"guaranteed": args{"memory": "1Ti"}}}, func() {})
}

// tellTruth has pods ask in pools of nodes. In each of these what a pod says of itself would
// have another one stop, or none.
func (w *world) tellTruth(t *testing.T, group, batch, teamb, prod string, a args, ready func()) {
	w.addNodes(t, pool("priority", node("n1", "4")), pool("priority", node("n2", "4")), pool("shrinks", node("n3", "4")),
		pool("infeasible", node("n4", "4")), pool("static", node("n5", "4")), pool("static", node("n6", "4")),
		pool("nominated", node("n7", "4")), pool("nominated", node("n8", "4")), pool("scarce", node("n9", "4")))
	// A group has a higher priority than its pod.
	_, err := w.client.SchedulingV1beta1().PodGroups("default").Create(t.Context(), &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: group},
		Spec: schedulingv1beta1.PodGroupSpec{PriorityClassName: "high",
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	static := on("n5", pod("static", batch, "low", "4"))
	static.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "hash"}
	w.run(t, member(group, on("n1", pod("grouped", batch, "low", "4"))), on("n2", pod("single", batch, "mid", "4")),
		on("n3", pod("shrinks", batch, "mid", "3")), on("n3", pod("small", batch, "low", "1")), on("n4", pod("grows", batch, "mid", "1")), on("n4", pod("tiny", batch, "low", "1")),
		static, on("n6", pod("other", batch, "mid", "4")),
		on("n7", pod("leaves", batch, "low", "4")), on("n8", pod("stays", batch, "mid", "4")), on("n9", pod("hog", teamb, "low", "4")))
	w.respec(t, "shrinks", "3", "1")
	w.respec(t, "grows", "1", "4")
	w.kubelet(t, "grows", "1", v1.PodReasonInfeasible)
	// Another scheduler waits for n7, and its pod has that place.
	w.hold()
	require.NoError(t, w.client.CoreV1().Pods("default").Delete(t.Context(), "leaves", metav1.DeleteOptions{}))
	first := inPool("nominated", pod("first", prod, "high", "4"))
	first.Spec.SchedulerName = "other"
	w.add(t, first)
	_, err = w.client.CoreV1().Pods("default").Patch(t.Context(), "first", types.MergePatchType,
		[]byte(`{"status":{"nominatedNodeName":"n7"}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)

	w.scheduleSecond(t, a)
	ready()
	without := inPool("scarce", pod("for-scarce", prod, "high", "4"))
	delete(without.Spec.Containers[0].Resources.Requests, v1.ResourceMemory)
	w.add(t, inPool("priority", pod("for-priority", prod, "high", "4")), inPool("shrinks", pod("for-shrinks", prod, "high", "3")),
		inPool("infeasible", pod("for-infeasible", prod, "high", "3")), inPool("static", pod("for-static", prod, "high", "4")),
		inPool("nominated", pod("for-nominated", prod, "high", "4")), without)
	asks := []string{"for-priority", "for-shrinks", "for-infeasible", "for-static", "for-nominated", "for-scarce"}
	places := map[string]string{}
	eventually(t, "each has a place", func() bool {
		for _, name := range asks {
			p := w.get(t, name)
			places[name] = cmp.Or(p.Spec.NodeName, p.Status.NominatedNodeName)
		}
		return !slices.Contains(slices.Collect(maps.Values(places)), "")
	})
	require.Equal(t, map[string]string{"for-priority": "n2", "for-shrinks": "n3", "for-infeasible": "n4", "for-static": "n6",
		"for-nominated": "n8", "for-scarce": "n9"}, places)
	w.release()
	eventually(t, "what leaves is gone", func() bool { return !w.has("leaves") })
	require.NoError(t, w.client.CoreV1().Pods("default").Bind(t.Context(), &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: "first"}, Target: v1.ObjectReference{Kind: "Node", Name: "n7"}}, metav1.CreateOptions{}))
	w.settle(t)
	var gone []string
	for _, p := range []string{"hog", "leaves", "other", "shrinks", "single", "stays", "tiny"} {
		queue := batch
		if p == "hog" {
			queue = teamb
		}
		gone = append(gone, queue+"/"+p)
	}
	require.ElementsMatch(t, gone, w.gonePods())
	for _, name := range asks {
		require.Equal(t, places[name], w.get(t, name).Spec.NodeName, name)
	}
}

// pool has a node be of a pool, and inPool a pod run there only.
func pool(name string, n *v1.Node) *v1.Node {
	n.Labels["pool"] = name
	return n
}

func inPool(name string, p *v1.Pod) *v1.Pod {
	p.Spec.NodeSelector = map[string]string{"pool": name}
	return p
}
