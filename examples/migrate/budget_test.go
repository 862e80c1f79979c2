// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/scenario"
)

// Both kinds of disruption budgets have left what the cluster counted, and are
// soft. A task of the document may name them.
func TestMigrate_Budgets(t *testing.T) {
	text, err := os.ReadFile(budgetsFile)
	require.NoError(t, err)
	out, _, err := migrate(sources{manifests: []source{{"b", text}}}, "")
	require.NoError(t, err)
	doc, err := scenario.Parse("doc", out)
	require.NoError(t, err)
	left := make(map[string]int64)
	for _, b := range doc.Budgets {
		require.False(t, b.Hard, b.Name)
		left[b.Name] = b.Left
	}
	require.Equal(t, map[string]int64{"prod/zk": 0, "prod/web": 3, "new": 2}, left)
	require.Equal(t, "Never", doc.Classes[0].PreemptionPolicy)
}

func TestMigrate_BudgetMistakes(t *testing.T) {
	budget := func(fields string) string {
		return `{"kind": "PodDisruptionBudget", "metadata": {"name": "b"}` + fields + `}`
	}
	const missing = `missing: status.disruptionsAllowed, without which nobody knows how many pods there are`
	for _, test := range []struct{ text, want string }{
		{`{"kind": "PodDisruptionBudget"}`, `b: {"kind":"PodDisruptionBudget"}: missing: metadata`},
		{`{"kind": "PodDisruptionBudget", "apiVersion": "policies/v1"}`,
			`b: apiVersion: "policies/v1": bad value: unknown kind: want a PodDisruptionBudget of policy/v1`},
		{budget(``), `b: {"kind":"PodDisruptionBudget","metadata":{"name":"b"}}: ` + missing},
		{budget(`, "spec": {"minAvailable": 1}`),
			`b: {"kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"minAvailable":1}}: ` + missing},
		{budget(`, "spec": {"maxUnavailable": "30%"}`),
			`b: {"kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"maxUnavailable":"30%"}}: ` + missing},
		{budget(`, "spec": {"maxUnavailable": 1, "minAvailable": 1}`), `b: spec.maxUnavailable: 1: bad value: minAvailable is there already`},
		{budget(`, "status": {"disruptionsAllowed": "1"}`),
			`b: status.disruptionsAllowed: "1": wrong kind of value: want a number, found a string`},
		{budget(`, "status": {"disruptionsAllowed": 1}`) + budget(`, "status": {"disruptionsAllowed": 1}`),
			`b (document 2): {"kind":"PodDisruptionBudget","metadata":{"name":"b"},"status":{"disruptionsAllowed":1}}: duplicate: a budget named "b" is there already`},
		{`{"kind": "PodDisruptionBudgetList", "items": [{"kind": "PriorityClass"}]}`,
			`b: items[0]: {"kind":"PriorityClass"}: bad value: unknown kind PriorityClass: want PodDisruptionBudget`},
		{`{"kind": "PodDisruptionBudgetList", "apiVersion": "scheduling.k8s.io/v1"}`,
			`b: apiVersion: "scheduling.k8s.io/v1": bad value: unknown kind: want a PodDisruptionBudgetList of policy/v1`},
	} {
		text, remarks, err := migrate(sources{manifests: []source{{"b", []byte(test.text)}}}, "")
		require.EqualError(t, err, test.want, test.text)
		require.Nil(t, text)
		require.Nil(t, remarks)
	}
}
