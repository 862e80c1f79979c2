// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptbyqueue"
	"github.com/go-preempt/preempt/toleration"
)

// small makes a pod of a controller that may move.
func small(name, controller string) *v1.Pod {
	controls, grace := true, int64(1)
	p := pod(name, "teamb", "low", "2")
	p.Annotations = map[string]string{preemptbyqueue.AnnotationMovable: "true"}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: controller, UID: types.UID(controller), Controller: &controls}}
	p.Spec.TerminationGracePeriodSeconds = &grace
	return p
}

// fragments has a small pod within the guarantee of teamb on each of two nodes. A large pod
// of prod waits, which needs a whole one. It is refused until the small ones are of age. Then
// s1 moves if it can, for s2 asks to be spared.
func fragments(t *testing.T, w *world, fault func(w http.ResponseWriter, r *http.Request, pod string, try int) bool) (*proxy, string) {
	w.addNodes(t, node("n1", "8"), node("n2", "8"))
	s2 := small("s2", "two")
	s2.Annotations[toleration.AnnotationAllowPreemption] = "false"
	w.run(t, on("n1", small("s1", "one")), on("n2", s2))
	a := queues(map[string]string{"teamb": "4", "prod": "8"}).with("moves", true).with("grantDeadline", "10s")
	p, address := w.faulty(t, a, fault)
	w.add(t, pod("large", "prod", "high", "8"))
	return p, address
}

// atRest requires that each pod that moved was told once, that all run, and that the books
// are those of the API.
func (w *world) atRest(t *testing.T, p *proxy, address string) {
	t.Helper()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	eventually(t, "teamb runs", func() bool { return w.running("teamb") == 2 })
	w.settle(t)
	require.Equal(t, 1, p.most())
	w.books(t, address)
}

// podMoves: a small pod moves, and its controller makes the next one once it has gone, as
// that of a StatefulSet does. Nobody moves again.
func podMoves(t *testing.T, w *world) {
	w.controllers()
	p, address := fragments(t, w, nil)
	w.atRest(t, p, address)
	require.Equal(t, []string{"teamb/s1"}, w.gonePods())
	require.Equal(t, "n1", w.get(t, "large").Spec.NodeName)
	require.Equal(t, "n2", w.get(t, "s1-1").Spec.NodeName)
	require.True(t, w.event(t, "Preempted", "moves to node n2, preempted by default/large of queue root.prod, guaranteed 8"))
}

// podMovesAtOnce: the next pod comes while the one that moves terminates, as in a ReplicaSet.
func podMovesAtOnce(t *testing.T, w *world) {
	w.hold()
	p, address := fragments(t, w, nil)
	eventually(t, "s1 terminates", func() bool { return w.get(t, "s1").DeletionTimestamp != nil })
	w.add(t, small("next", "one"))
	eventually(t, "the next one runs", func() bool { return w.get(t, "next").Spec.NodeName == "n2" })
	require.Empty(t, w.get(t, "large").Spec.NodeName)
	w.release()
	w.atRest(t, p, address)
	require.Equal(t, []string{"teamb/s1"}, w.gonePods())
	require.Equal(t, "n1", w.get(t, "large").Spec.NodeName)
}

// nobodyComes: the controller makes no other pod. The place is kept for a while, and then it
// is free for all.
func nobodyComes(t *testing.T, w *world) {
	p, address := fragments(t, w, nil)
	eventually(t, "s1 has a place on n2", func() bool {
		grants, _ := page(t, address, "grants")
		return strings.Contains(grants, "+ on n2")
	})
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.run(t, pod("etl", "batch", "low", "6"))
	w.settle(t)
	require.Equal(t, []string{"teamb/s1"}, w.gonePods())
	require.Equal(t, 1, p.most())
	w.books(t, address)
}

// moveRefused: the API does not delete the pod that moves. Another one moves.
func moveRefused(t *testing.T, w *world) {
	w.controllers()
	p, address := fragments(t, w, func(rw http.ResponseWriter, _ *http.Request, pod string, _ int) bool {
		return pod == "s1" && answer(rw, http.StatusForbidden)
	})
	w.atRest(t, p, address)
	require.Equal(t, []string{"teamb/s2"}, w.gonePods())
	require.Equal(t, "n2", w.get(t, "large").Spec.NodeName)
	require.Equal(t, "n1", w.get(t, "s2-1").Spec.NodeName)
}
