// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A document takes the policy of another one, and keeps its state.
func TestUnder(t *testing.T) {
	const state = `{"name": "state", "strict": true, "types": ["cpu", "zinc"],
	  "queues": {"name": "root", "queues": [{"name": "a", "resources": {"max": {"cpu": "1"}}}]},
	  "priorityClasses": [{"name": "both", "value": 1}, {"name": "own", "value": 2, "preemptionPolicy": "Never", "annotations": {
	    "preemption-toleration.scheduling.x-k8s.io/toleration-seconds": "600"}}],
	  "budgets": {"both": {"left": 1, "hard": true}, "own": {"left": 1, "hard": true}},
	  "nodes": [{"name": "n", "capacity": {"cpu": "4"}}],
	  "tasks": [{"key": "t", "queue": "root.a", "application": "t", "node": "n", "resources": {"cpu": "1"}, "budgets": ["own", "both"], "priorityClass": "own"}],
	  "requests": [{"ask": {"key": "x", "queue": "root.a", "application": "x", "resources": {"cpu": "1"}, "priorityClass": "both"}}],
	  "options": {"fairShares": true, "ownLeaf": "branch"}, "expect": [{"outcome": "fits"}]}`
	const policy = `{"name": "policy", "types": ["tin", "iron", "cpu"],
	  "queues": {"name": "root", "queues": [{"name": "a", "resources": {"max": {"iron": "7"}}}]},
	  "priorityClasses": [{"name": "both", "value": 5}], "budgets": {"both": {"left": 3}}, "options": {"toleration": true}}`
	doc, err := Under(Text{"state.json", []byte(state)}, Text{"policy.json", []byte(policy)}, Text{"other.json", []byte(state)})
	require.NoError(t, err)
	require.Equal(t, "state", doc.Name)
	require.False(t, doc.Strict)
	require.Equal(t, Options{Toleration: true}, doc.Options)
	var types []string
	for i := range doc.Schema.Len() {
		types = append(types, doc.Schema.Name(i))
	}
	require.Equal(t, []string{"cpu", "zinc", "iron", "tin"}, types)
	require.Equal(t, "iron=7", doc.Schema.FormatLimit(doc.Root.Children[0].Max))
	require.Equal(t, int32(5), doc.Requests[0].Ask.Priority, "the class of the policy")
	require.Equal(t, int32(2), doc.Tasks[0].Priority, "that only the state has")
	require.Equal(t, "Never", doc.Classes[1].PreemptionPolicy)
	require.Empty(t, doc.Classes[1].Annotations)
	require.Equal(t, int64(3), doc.Budgets[0].Left)
	require.False(t, doc.Budgets[0].Hard)
	require.Equal(t, "own", doc.Budgets[1].Name)
	require.False(t, doc.Budgets[1].Hard)
	require.Empty(t, doc.Expect)
	run, err := doc.Run()
	require.NoError(t, err)
	require.Equal(t, Outcome("fits"), run.Steps[0].Result.Outcome)

	own, err := Under(Text{"state.json", []byte(state)}, Text{"state.json", []byte(state)}, Text{"other.json", []byte(policy)})
	require.NoError(t, err)
	require.Equal(t, doc.Schema, own.Schema, "either side has the same types")
	require.Equal(t, Options{FairShares: true, OwnLeaf: "branch"}, own.Options)
	require.True(t, own.Budgets[1].Hard)

	_, err = Under(Text{"state.json", []byte(state)}, Text{"policy.json", []byte(`{"name": "p", "queues": {"name": "root"}}`)}, Text{"other.json", []byte(state)})
	require.ErrorIs(t, err, ErrReference)
	require.ErrorContains(t, err, `state.json under the policy of policy.json: tasks[0].queue: "root.a": `)
	_, err = Under(Text{"state.json", []byte(state)}, Text{"policy.json", []byte(`{`)}, Text{"other.json", []byte(state)})
	require.ErrorContains(t, err, "policy.json: ")
}
