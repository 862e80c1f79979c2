// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"slices"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics/legacyregistry"
)

// metric returns the sum of a counter or gauge: of those with a label of each of the
// given values.
func metric(t *testing.T, name string, values ...string) (sum float64) {
	families, err := legacyregistry.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			has := func(value string) bool {
				return slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetValue() == value })
			}
			if !slices.ContainsFunc(values, func(v string) bool { return !has(v) }) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

// dryRun decides and tells, and nobody goes.
func dryRun(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"))
	w.run(t, on("n1", pod("etl", "batch", "mid", "4")))
	w.schedule(t, queues(map[string]string{"prod": "4"}).with("dryRun", true))
	w.add(t, pod("web", "prod", "high", "4"))
	w.settle(t)
	require.Empty(t, w.gonePods())
	require.Equal(t, 1, w.running("batch"))
	require.Contains(t, refusal(w.get(t, "web")), "dry run: ")
}

// restart: the new scheduler knows nothing of grants, and sees who terminates.
func restart(t *testing.T, w *world) {
	w.hold()
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", pod("etl-0", "batch", "mid", "4")), on("n2", pod("etl-1", "batch", "mid", "4")))
	a := queues(map[string]string{"prod": "4"})
	stop := w.schedule(t, a)
	w.add(t, pod("web", "prod", "high", "4"))
	eventually(t, "a victim terminates", func() bool { return w.running("batch") == 1 })
	stop()
	w.schedule(t, a)
	eventually(t, "the place is granted again", func() bool { return metric(t, "preempt_by_queue_grants") == 1 })
	w.release()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	require.Len(t, w.gonePods(), 1)
}

// finalizer: a victim that never goes counts as running after the deadline, and the
// pod gets another place.
func finalizer(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	stuck := on("n1", pod("stuck", "batch", "low", "4"))
	stuck.Finalizers = []string{"go-preempt.github.io/never"}
	zero := int64(0)
	stuck.Spec.TerminationGracePeriodSeconds = &zero
	w.run(t, stuck, on("n2", pod("etl", "batch", "mid", "4")))
	t.Cleanup(func() {
		_, err := w.client.CoreV1().Pods("default").Patch(context.Background(), "stuck", types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		w.report(err)
	})
	w.schedule(t, queues(map[string]string{"prod": "4"}).with("grantDeadline", "2s"))
	w.add(t, pod("web", "prod", "high", "4"))
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	require.Equal(t, "n2", w.get(t, "web").Spec.NodeName)
	require.NotNil(t, w.get(t, "stuck").DeletionTimestamp)
}

// refusedEviction: what the API does not delete is running again, and the pod gets
// its place once the API lets it.
func refusedEviction(t *testing.T, w *world) {
	policies := w.client.AdmissionregistrationV1()
	fail := admissionv1.Fail
	_, err := policies.ValidatingAdmissionPolicies().Create(t.Context(), &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "keep"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Delete},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: "oldObject.metadata.name != 'kept'"}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = policies.ValidatingAdmissionPolicyBindings().Create(t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "keep"},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "keep", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	free := func() {
		policies.ValidatingAdmissionPolicyBindings().Delete(t.Context(), "keep", metav1.DeleteOptions{})
		policies.ValidatingAdmissionPolicies().Delete(t.Context(), "keep", metav1.DeleteOptions{})
	}
	w.addNodes(t, node("n1", "4"))
	w.run(t, on("n1", pod("kept", "batch", "low", "4")))
	eventually(t, "the policy is in force", func() bool {
		return w.client.CoreV1().Pods("default").Delete(t.Context(), "kept", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}) != nil
	})
	before := metric(t, "preempt_by_queue_eviction_failures_total")
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	w.add(t, pod("web", "prod", "high", "4"))
	eventually(t, "an eviction is refused", func() bool { return metric(t, "preempt_by_queue_eviction_failures_total") > before })
	require.Equal(t, 1, w.running("batch"))
	free()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	require.Equal(t, []string{"batch/kept"}, w.gonePods())
}

// daemonSet: a pod of a DaemonSet can run on its node only. No guarantee protects
// from it there, and a higher priority does.
func daemonSet(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", pod("web", "prod", "low", "4")))
	agent := pod("agent", "system", "high", "1")
	yes := true
	agent.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "1", Controller: &yes}}
	agent.Spec.Affinity = requireNode("n1")
	w.schedule(t, queues(map[string]string{"prod": "8"}))
	w.run(t, agent)
	w.settle(t)
	require.Equal(t, []string{"prod/web"}, w.gonePods())
	require.Equal(t, "n1", w.get(t, "agent").Spec.NodeName)
}

// twoProfiles: pods of both see the grants of the other.
func twoProfiles(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "8"))
	w.run(t, on("n1", pod("etl-0", "batch", "mid", "4")), on("n1", pod("etl-1", "batch", "mid", "4")))
	w.scheduleProfiles(t, queues(map[string]string{"prod": "8"}).profiles(t, "one", "two"))
	one, two := pod("web-0", "prod", "high", "4"), pod("web-1", "prod", "high", "4")
	one.Spec.SchedulerName, two.Spec.SchedulerName = "one", "two"
	w.run(t, one, two)
	w.settle(t)
	require.Equal(t, []string{"batch/etl-0", "batch/etl-1"}, w.gonePods())
}

// keptPlace: a pod of higher priority, of a queue without a guarantee, comes while the
// victim terminates. The room is not for it.
func keptPlace(t *testing.T, w *world) {
	w.hold()
	w.addNodes(t, node("n1", "4"))
	w.run(t, on("n1", pod("etl", "batch", "low", "4")))
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	w.add(t, pod("web", "prod", "mid", "4"))
	eventually(t, "the victim terminates", func() bool { return w.get(t, "etl").DeletionTimestamp != nil })
	w.add(t, pod("pushy", "batch", "high", "4"))
	eventually(t, "the other pod is refused", func() bool { return refusal(w.get(t, "pushy")) != "" })
	w.release()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	require.Equal(t, []string{"batch/etl"}, w.gonePods())
	require.Empty(t, w.get(t, "pushy").Spec.NodeName)
}

// takenPlace: in a cluster without queues a pod of higher priority takes the leaving room
// over, and no other pod stops for it. The pod that was to have it asks again, and loses
// its nomination. One of equal priority takes nothing over.
func takenPlace(t *testing.T, w *world) {
	w.hold()
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", pod("etl", "", "low", "4")), on("n2", pod("sql", "", "high", "4")))
	w.schedule(t, args{"ownLeaf": "met"})
	w.add(t, pod("web", "", "mid", "4"))
	eventually(t, "the victim terminates", func() bool { return w.get(t, "etl").DeletionTimestamp != nil })
	w.add(t, pod("equal", "", "mid", "4"))
	eventually(t, "the equal pod is refused", func() bool { return refusal(w.get(t, "equal")) != "" })
	require.Equal(t, "n1", w.get(t, "web").Status.NominatedNodeName)
	w.add(t, pod("urgent", "", "high", "4"))
	eventually(t, "the place is taken over", func() bool {
		return w.get(t, "urgent").Status.NominatedNodeName == "n1" && w.get(t, "web").Status.NominatedNodeName == ""
	})
	w.release()
	eventually(t, "urgent runs", func() bool { return w.get(t, "urgent").Spec.NodeName == "n1" })
	w.settle(t)
	require.Equal(t, []string{"/etl"}, w.gonePods())
	w.addNodes(t, node("n3", "8"))
	eventually(t, "the others run", func() bool {
		return w.get(t, "web").Spec.NodeName == "n3" && w.get(t, "equal").Spec.NodeName == "n3"
	})
}

// usedPlace: what is free already of a place that is waited for goes to a pod of higher
// priority that fits there, and then the other one asks again.
func usedPlace(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"), node("n2", "2"))
	w.run(t, on("n1", pod("etl", "", "low", "2")), on("n2", pod("sql", "", "low", "2")))
	w.schedule(t, args{"ownLeaf": "met"})
	w.hold()
	w.add(t, pod("web", "", "mid", "4"))
	eventually(t, "the victim terminates", func() bool { return w.get(t, "etl").DeletionTimestamp != nil })
	w.run(t, pod("urgent", "", "high", "2"))
	require.Equal(t, "n1", w.get(t, "urgent").Spec.NodeName)
	w.release()
	w.settle(t)
	require.Equal(t, []string{"/etl"}, w.gonePods())
	require.Empty(t, w.get(t, "web").Spec.NodeName)
}

// configMap: the queues change while a grant is out, which stays, and so do all pods.
// A change that is wrong changes nothing, and an event says what is wrong.
func configMap(t *testing.T, w *world) {
	w.hold()
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", pod("etl-0", "batch", "mid", "4")), on("n2", pod("etl-1", "batch", "mid", "4")))
	maps := w.client.CoreV1().ConfigMaps("default")
	m, err := maps.Create(t.Context(), queueMap(`
queues:
- {name: system}
- {name: batch}
- {name: prod, guaranteed: {cpu: 4}}
`), metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { w.report(maps.Delete(context.Background(), m.Name, metav1.DeleteOptions{})) })
	w.schedule(t, queues(nil).with("queuesConfigMap", "default/queues"))
	w.add(t, pod("web-0", "prod", "high", "4"))
	eventually(t, "a victim terminates", func() bool { return w.running("batch") == 1 })
	w.add(t, pod("web-1", "prod", "high", "4"))
	eventually(t, "web-1 is refused", func() bool { return refusal(w.get(t, "web-1")) != "" })

	m.Data["queues.yaml"] = "queues:\n- {name: prod, guarantee: {cpu: 4}}\n"
	m, err = maps.Update(t.Context(), m, metav1.UpdateOptions{})
	require.NoError(t, err)
	eventually(t, "an event says what is wrong", func() bool { return w.event(t, "QueuesRefused", "guarantee") })

	m.Data["queues.yaml"] = "queues:\n- {name: batch}\n- name: prod\n  guaranteed: {cpu: 8}\n- {name: system}\n"
	_, err = maps.Update(t.Context(), m, metav1.UpdateOptions{})
	require.NoError(t, err)
	eventually(t, "another victim terminates", func() bool { return w.running("batch") == 0 })
	require.Empty(t, w.gonePods())
	w.release()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 2 })
	require.True(t, w.event(t, "QueuesChanged", ""))
	require.Equal(t, []string{"batch/etl-0", "batch/etl-1"}, w.gonePods())
}

// queueMap makes a ConfigMap with queues.
func queueMap(text string) *v1.ConfigMap {
	return &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "queues"}, Data: map[string]string{"queues.yaml": text}}
}
