// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// replica makes a pod of the ReplicaSet of a Deployment.
func replica(i int) *v1.Pod {
	controls := true
	p := pod(fmt.Sprint("web-", i), "prod", "high", "2")
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: &controls}}
	return p
}

// deploy fills two nodes with small pods and a large one. Then three pods of a Deployment
// wait that fit nowhere, before there is a scheduler.
func deploy(t *testing.T, w *world) (replicas []*v1.Pod) {
	w.addNodes(t, node("n1", "8"), node("n2", "8"))
	w.run(t, append(fill("n1", "etl", "batch", "low", "2", 4), on("n2", pod("big", "batch", "low", "8")))...)
	for i := range 3 {
		replicas = append(replicas, replica(i))
	}
	w.add(t, replicas...)
	return replicas
}

// nominated waits until pods are told of a place on a node.
func (w *world) nominated(t *testing.T, n string, pods ...*v1.Pod) {
	t.Helper()
	for _, p := range pods {
		eventually(t, p.Name+" is nominated", func() bool { return w.get(t, p.Name).Status.NominatedNodeName == n })
	}
}

// deployment: each pod by itself would stop a pod of its own size. Together they stop the
// large one, and each of them is told of its place while it is leaving. Another scheduler
// goes on from there.
func deployment(t *testing.T, w *world) {
	replicas := deploy(t, w)
	w.hold()
	a := queues(map[string]string{"prod": "8"})
	stop := w.schedule(t, a)
	w.nominated(t, "n2", replicas...)
	stop()
	w.schedule(t, a)
	w.release()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 3 })
	w.settle(t)
	require.Equal(t, []string{"batch/big"}, w.gonePods())
	require.True(t, w.event(t, "Preempted", "of queue root.prod, guaranteed 8"))
}

// singles: the same pods without a controller are decided one by one.
func singles(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "8"), node("n2", "8"))
	w.run(t, append(fill("n1", "etl", "batch", "low", "2", 4), on("n2", pod("big", "batch", "low", "8")))...)
	for i := range 3 {
		p := replica(i)
		p.OwnerReferences = nil
		w.add(t, p)
	}
	w.schedule(t, queues(map[string]string{"prod": "8"}))
	eventually(t, "prod runs", func() bool { return w.running("prod") == 3 })
	w.settle(t)
	require.Len(t, w.gonePods(), 3)
	require.NotContains(t, w.gonePods(), "batch/big")
}

// deploymentOverGuarantee: prod is guaranteed 4. Two of the pods get it, and the third one
// what is left of the room, for which nobody else stops.
func deploymentOverGuarantee(t *testing.T, w *world) {
	deploy(t, w)
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	eventually(t, "prod runs", func() bool { return w.running("prod") == 3 })
	w.settle(t)
	require.Equal(t, []string{"batch/big"}, w.gonePods())
}

// sharedVictimStays: the API does not delete the victim that three pods share. All three
// places are given back, and others stop for them.
func sharedVictimStays(t *testing.T, w *world) {
	deploy(t, w)
	p, address := w.faulty(t, guaranteed("8"), func(rw http.ResponseWriter, _ *http.Request, pod string, _ int) bool {
		return pod == "big" && answer(rw, http.StatusForbidden)
	})
	eventually(t, "prod runs", func() bool { return w.running("prod") == 3 })
	w.settle(t)
	require.Equal(t, 3, w.evictedOf("batch"))
	require.NotContains(t, w.gonePods(), "batch/big")
	require.Positive(t, p.tried("big"))
	w.books(t, address)
}

// replicaDeleted: one of the pods is deleted while the victim that they share is leaving.
// The others keep their places, and its successor gets what it had.
func replicaDeleted(t *testing.T, w *world) {
	replicas := deploy(t, w)
	w.hold()
	p, address := w.faulty(t, guaranteed("8"), nil)
	w.nominated(t, "n2", replicas...)
	w.delete(t, "web-1")
	w.add(t, replica(3))
	w.nominated(t, "n2", replica(3))
	w.release()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 3 })
	w.settle(t)
	require.Equal(t, []string{"batch/big"}, w.gonePods())
	require.Equal(t, 1, p.most())
	w.books(t, address)
}
