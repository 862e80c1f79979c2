// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// addBudget protects the pods with app=db, none of which may be disrupted.
func addBudget(t *testing.T, w *world) {
	budgets := w.client.PolicyV1().PodDisruptionBudgets("default")
	b, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: b.Generation}
	_, err = budgets.UpdateStatus(t.Context(), b, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// softBudget: the pod that the budget protects matters less otherwise. It goes only
// once nobody else can.
func softBudget(t *testing.T, w *world) {
	addBudget(t, w)
	w.addNodes(t, node("n1", "4"))
	w.run(t, on("n1", labelled("app", "db", pod("db", "batch", "low", "2"))), on("n1", pod("etl", "batch", "mid", "2")))
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	w.run(t, pod("web-0", "prod", "high", "2"))
	w.settle(t)
	require.Equal(t, []string{"batch/etl"}, w.gonePods())
	w.run(t, pod("web-1", "prod", "high", "2"))
	w.settle(t)
	require.Equal(t, []string{"batch/db", "batch/etl"}, w.gonePods())
}

// hardBudget: the pod that the budget protects never goes.
func hardBudget(t *testing.T, w *world) {
	addBudget(t, w)
	w.addNodes(t, node("n1", "4"))
	w.run(t, on("n1", labelled("app", "db", pod("db", "batch", "low", "4"))))
	w.schedule(t, queues(map[string]string{"prod": "4"}).with("disruptionBudgets", "Hard"))
	w.add(t, pod("web", "prod", "high", "2"))
	w.settle(t)
	require.Empty(t, w.gonePods())
	require.NotEmpty(t, refusal(w.get(t, "web")))
}
