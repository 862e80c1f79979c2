// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-preempt/preempt/toleration"
)

// addClasses creates the priority classes of all stories.
func (w *world) addClasses(t *testing.T) {
	never := v1.PreemptNever
	annotated := func(notes ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(notes); i += 2 {
			m[notes[i]] = notes[i+1]
		}
		return m
	}
	for _, c := range []schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "low"}, Value: 0},
		{ObjectMeta: metav1.ObjectMeta{Name: "mid"}, Value: 10},
		{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 100},
		{ObjectMeta: metav1.ObjectMeta{Name: "polite"}, Value: 100, PreemptionPolicy: &never},
		{ObjectMeta: metav1.ObjectMeta{Name: "spared", Annotations: annotated(toleration.AnnotationAllowPreemption, "false")}},
		{ObjectMeta: metav1.ObjectMeta{Name: "tolerant", Annotations: annotated(
			toleration.AnnotationMinimum, "1000", toleration.AnnotationSeconds, "-1")}},
		{ObjectMeta: metav1.ObjectMeta{Name: "brief", Annotations: annotated(
			toleration.AnnotationMinimum, "1000", toleration.AnnotationSeconds, "3")}},
	} {
		_, err := w.client.SchedulingV1().PriorityClasses().Create(t.Context(), &c, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

// optedOut gives a pod the annotation that asks to be spared.
func optedOut(p *v1.Pod) *v1.Pod {
	p.Annotations = map[string]string{toleration.AnnotationAllowPreemption: "false"}
	return p
}

// tolerance: a pod of the lowest priority tolerates who asks, for ever. The one of
// higher priority goes, and then nobody else.
func tolerance(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"))
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	w.run(t, pod("etl-0", "batch", "tolerant", "2"), pod("etl-1", "batch", "mid", "2"))
	w.run(t, pod("web-0", "prod", "high", "2"))
	w.settle(t)
	require.Equal(t, []string{"batch/etl-1"}, w.gonePods())
	w.add(t, pod("web-1", "prod", "high", "2"))
	w.settle(t)
	require.Equal(t, []string{"batch/etl-1"}, w.gonePods())
	require.NotEmpty(t, refusal(w.get(t, "web-1")))
}

// briefTolerance: the toleration ends, and nothing else happens. The pod that waits is
// tried again then.
func briefTolerance(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"))
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	w.run(t, pod("etl", "batch", "brief", "4"))
	w.run(t, pod("web", "prod", "high", "4"))
	require.Equal(t, []string{"batch/etl"}, w.gonePods())
}

// spared: who opted out goes last, whether the pod says so or its class.
func spared(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "6"))
	w.run(t, on("n1", optedOut(pod("pod-out", "batch", "low", "2"))), on("n1", pod("class-out", "batch", "spared", "2")),
		on("n1", pod("etl", "batch", "mid", "2")))
	w.schedule(t, queues(map[string]string{"prod": "6"}))
	w.run(t, pod("web-0", "prod", "high", "2"))
	w.settle(t)
	require.Equal(t, []string{"batch/etl"}, w.gonePods())
	w.run(t, pod("web-1", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, []string{"batch/class-out", "batch/etl", "batch/pod-out"}, w.gonePods())
}

// politePod: a class that must not preempt takes nothing, and gets room that comes up.
func politePod(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"))
	w.run(t, on("n1", pod("etl", "batch", "low", "4")))
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	w.add(t, pod("web", "prod", "polite", "4"))
	w.settle(t)
	require.Contains(t, refusal(w.get(t, "web")), "may-not-preempt")
	require.Empty(t, w.gonePods())
	w.addNodes(t, node("n2", "4"))
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	require.Empty(t, w.gonePods())
}

// budgetGrows: nobody wakes a pod for a disruption budget with more left, but the
// plugin does.
func budgetGrows(t *testing.T, w *world) {
	addBudget(t, w)
	w.addNodes(t, node("n1", "4"))
	w.run(t, on("n1", labelled("app", "db", pod("db", "batch", "low", "4"))))
	w.schedule(t, queues(map[string]string{"prod": "4"}).with("disruptionBudgets", "Hard"))
	w.add(t, pod("web", "prod", "high", "2"))
	w.settle(t)
	require.Empty(t, w.gonePods())
	budgets := w.client.PolicyV1().PodDisruptionBudgets("default")
	b, err := budgets.Get(t.Context(), "db", metav1.GetOptions{})
	require.NoError(t, err)
	b.Status.DisruptionsAllowed = 1
	_, err = budgets.UpdateStatus(t.Context(), b, metav1.UpdateOptions{})
	require.NoError(t, err)
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	require.Equal(t, []string{"batch/db"}, w.gonePods())
}

// othersGrow: teamb has its guarantee and no more, and then a pod on another node. Now
// it can give, on the node that the pod asks for.
func othersGrow(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "8"), node("n2", "4"))
	w.run(t, on("n1", pod("b-0", "teamb", "low", "4")), on("n1", pod("b-1", "teamb", "low", "4")))
	w.schedule(t, queues(map[string]string{"prod": "8", "teamb": "8"}))
	web := pod("web", "prod", "high", "4")
	web.Spec.NodeSelector = map[string]string{v1.LabelHostname: "n1"}
	w.add(t, web)
	w.settle(t)
	require.Empty(t, w.gonePods())
	w.add(t, on("n2", pod("b-2", "teamb", "low", "4")))
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	require.Len(t, w.gonePods(), 1)
	require.Equal(t, 2, w.running("teamb"))
}

// batching: pods that are alike and fill a node each are placed by one look at the
// nodes. A Filter plugin that does not sign pods would end that.
func batching(t *testing.T, w *world) {
	for i := range 40 {
		w.addNodes(t, node(fmt.Sprintf("n%02d", i), "4"))
	}
	// Spread by default is a reason not to sign any pod.
	w.scheduleProfiles(t, queues(map[string]string{"prod": "8"}).profiles(t, "default-scheduler")+
		"  - name: PodTopologySpread\n    args: {defaultingType: List}\n")
	before := hints(t)
	made := 0
	eventually(t, "a hint of the pod before is used", func() bool { // they have to follow each other quickly
		for range 4 {
			if made < 40 {
				w.add(t, pod(fmt.Sprint("etl-", made), "batch", "mid", "4"))
				made++
			}
		}
		return hints(t) > before
	})
	w.settle(t)
	require.Equal(t, made, w.running("batch"))
}

// hints returns how often the scheduler placed a pod by what it knew of the one before.
func hints(t *testing.T) float64 { return metric(t, "scheduler_batch_attempts_total", "hint_used") }
