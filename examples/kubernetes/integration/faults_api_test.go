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
)

// refusedForGood: the cheapest victim is never deleted. Another node would do, and has to.
func refusedForGood(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", pod("kept", "batch", "low", "4")), on("n2", pod("etl", "batch", "mid", "4")))
	p, address := w.faulty(t, guaranteed("4"), func(rw http.ResponseWriter, _ *http.Request, pod string, _ int) bool {
		return pod == "kept" && answer(rw, http.StatusForbidden)
	})
	w.run(t, pod("web", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, []string{"batch/etl"}, w.gonePods())
	require.Equal(t, "n2", w.get(t, "web").Spec.NodeName)
	require.Equal(t, 1, p.tried("kept"))
	w.books(t, address)
}

// busyAPI: an API that answers twice that it cannot is asked again, and each victim is
// deleted once.
func busyAPI(t *testing.T, w *world) {
	for _, code := range []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusGatewayTimeout} {
		t.Run(fmt.Sprint(code), func(t *testing.T) { answersTwice(t, w, code) })
	}
}

// conflict: a webhook, say, answers 409 for a pod that is still there. That is no end of it.
func conflict(t *testing.T, w *world) { answersTwice(t, w, http.StatusConflict) }

// answersTwice: the first two deletes of each pod are answered with a status.
func answersTwice(t *testing.T, w *world, code int) {
	name, batch := fmt.Sprint("n", code), fmt.Sprint("etl-", code)
	w.addNodes(t, node(name, "4"))
	before := w.evictedOf("batch")
	w.run(t, fill(name, batch, "batch", "mid", "1", 4)...)
	p, address := w.faulty(t, guaranteed("16"), func(rw http.ResponseWriter, _ *http.Request, _ string, try int) bool {
		return try <= 2 && answer(rw, code)
	})
	web := pod(fmt.Sprint("web-", code), "prod", "high", "4")
	web.Spec.NodeSelector = map[string]string{v1.LabelHostname: name}
	w.run(t, web)
	w.settle(t)
	require.Equal(t, 4, w.evictedOf("batch")-before)
	require.Equal(t, 1, p.most())
	for i := range 4 {
		require.Equal(t, 3, p.tried(fmt.Sprintf("%s-%d", batch, i)))
	}
	w.books(t, address)
}

// answersLost: the API deletes, and the scheduler is told that it did not.
func answersLost(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, append(fill("n1", "etl", "batch", "mid", "1", 4), fill("n2", "xtl", "batch", "mid", "1", 4)...)...)
	p := newProxy(t, w)
	p.lost = 3
	a, address := withDebug(t, guaranteed("4"))
	w.through(t, p, a)
	w.run(t, pod("web", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, 4, w.evictedOf("batch"))
	require.Equal(t, 1, p.most())
	w.books(t, address)
}

// deleteLost: the API says that it deletes, and does not. The victim is marked and never
// leaves; after the deadline it runs again, and is told once more.
func deleteLost(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"))
	w.run(t, on("n1", pod("etl", "batch", "mid", "4")))
	p, address := w.faulty(t, guaranteed("4").with("grantDeadline", "2s"), func(rw http.ResponseWriter, _ *http.Request, _ string, try int) bool {
		if try == 1 {
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprint(rw, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
		}
		return try == 1
	})
	w.run(t, pod("web", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, []string{"batch/etl"}, w.gonePods())
	require.Equal(t, 1, p.most())
	require.Equal(t, 2, p.tried("etl"))
	w.books(t, address)
}

// restartInside: two of four deletes hang, and the scheduler goes. The next one ends the
// same four.
func restartInside(t *testing.T, w *world) {
	w.hold()
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, append(fill("n1", "etl", "batch", "mid", "1", 4), fill("n2", "xtl", "batch", "mid", "1", 4)...)...)
	p, passed := newProxy(t, w), make(chan struct{}, 2)
	p.fail(func(_ http.ResponseWriter, r *http.Request, _ string, _ int) bool {
		select {
		case passed <- struct{}{}:
			return false
		default:
			<-r.Context().Done()
			return true
		}
	})
	stop := w.through(t, p, guaranteed("4"))
	w.add(t, pod("web", "prod", "high", "4"))
	eventually(t, "two victims terminate", func() bool { return w.running("batch") == 6 })
	eventually(t, "web is nominated", func() bool { return w.get(t, "web").Status.NominatedNodeName != "" })
	p.server.CloseClientConnections()
	stop()
	again, address := w.faulty(t, guaranteed("4"), nil)
	eventually(t, "the others terminate", func() bool { return w.running("batch") == 4 })
	w.release()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	require.Equal(t, 4, w.evictedOf("batch"))
	require.LessOrEqual(t, again.most(), 1)
	w.books(t, address)
}

// lag: the scheduler hears of each event of a pod a second late. Nobody goes in vain.
func lag(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"), node("n2", "4"), node("n3", "4"))
	for i := range 3 {
		w.run(t, fill(fmt.Sprint("n", i+1), fmt.Sprint("etl-", i), "batch", "mid", "1", 4)...)
	}
	p, address := w.faulty(t, guaranteed("8"), nil)
	w.add(t, pod("first", "system", "low", "1000"))
	eventually(t, "the scheduler runs", func() bool { return refusal(w.get(t, "first")) != "" })
	w.controllers()
	p.delay(time.Second)
	for i := range 4 {
		w.add(t, pod(fmt.Sprint("web-", i), "prod", "high", "2"))
	}
	eventually(t, "prod runs", func() bool { return w.running("prod") == 4 })
	p.delay(0)
	w.settle(t)
	require.Equal(t, 8, w.evictedOf("batch"))
	require.Zero(t, w.evictedOf("prod"))
	w.books(t, address)
}

// victimRecreated: a victim ends by itself before its delete arrives, and another pod
// has its name. That one is not touched.
func victimRecreated(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", pod("db-0", "batch", "mid", "4")), on("n2", pod("b", "teamb", "mid", "4")))
	arrived, pass := make(chan struct{}), make(chan struct{})
	_, address := w.faulty(t, queues(map[string]string{"prod": "4", "teamb": "4"}), func(_ http.ResponseWriter, _ *http.Request, _ string, try int) bool {
		if try == 1 {
			close(arrived)
			<-pass
		}
		return false
	})
	w.add(t, pod("web", "prod", "high", "4"))
	<-arrived
	w.delete(t, "db-0")
	again := pod("db-0", "batch", "mid", "4") // which fits nowhere: web has the room
	w.add(t, again)
	close(pass)
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	now := w.get(t, "db-0")
	require.Nil(t, now.DeletionTimestamp)
	for _, c := range now.Status.Conditions {
		require.NotEqual(t, v1.DisruptionTarget, c.Type)
	}
	w.books(t, address)
}

// allStuck: no victim ever goes. After the deadline the pod is refused, and they count as
// running. Once they can go it runs.
func allStuck(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"))
	zero, stuck := int64(0), fill("n1", "stuck", "batch", "low", "1", 4)
	for _, p := range stuck {
		p.Finalizers, p.Spec.TerminationGracePeriodSeconds = []string{"go-preempt.github.io/never"}, &zero
	}
	w.run(t, stuck...)
	free := func() {
		for _, p := range stuck {
			w.unfinalize(p.Name)
		}
	}
	t.Cleanup(free)
	_, address := w.faulty(t, guaranteed("4").with("grantDeadline", "2s"), nil)
	w.add(t, pod("web", "prod", "high", "4"))
	eventually(t, "web has no place any more", func() bool {
		p := w.get(t, "web")
		return w.running("batch") == 0 && refusal(p) != "" && p.Status.NominatedNodeName == ""
	})
	w.books(t, address)
	free()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	w.books(t, address)
}

// many: a whole queue is deleted at once while many pods ask for its room.
func many(t *testing.T, w *world) {
	const nodes, per = 10, 20
	w.hold()
	for i := range nodes {
		n := fmt.Sprint("n", i)
		w.addNodes(t, node(n, fmt.Sprint(per)))
		w.add(t, fill(n, "etl-"+n, "batch", "mid", "1", per)...)
	}
	eventually(t, "all run", func() bool { return w.running("batch") == nodes*per })
	_, address := w.faulty(t, guaranteed(fmt.Sprint(nodes*per)), nil)
	for i := range 2 * nodes {
		w.add(t, pod(fmt.Sprint("web-", i), "prod", "high", fmt.Sprint(per/2)))
	}
	eventually(t, "some have a place", func() bool { return metric(t, "preempt_by_queue_grants") > 0 })
	require.NoError(t, w.client.CoreV1().Pods("default").DeleteCollection(t.Context(), metav1.DeleteOptions{},
		metav1.ListOptions{LabelSelector: queueLabel + "=batch"}))
	w.release()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 2*nodes })
	w.settle(t)
	require.Zero(t, w.evictedOf("prod"))
	w.books(t, address)
}
