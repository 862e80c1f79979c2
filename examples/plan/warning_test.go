// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is doubtful in the priority classes is told in front, as what is doubtful
// in the queues, and not in result documents.
func TestRun_ClassWarnings(t *testing.T) {
	const text = `{
  "name": "doubtful",
  "queues": {"name": "root", "properties": {"preemption.policy": "fenced"}},
  "priorityClasses": [{"name": "idle", "value": 7, "annotations": {
    "preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority": "9",
    "preemption-toleration.scheduling.x-k8s.io/second\u001bs": "5"}}]}`
	out := call(text, "-")
	require.Equal(t, decided, out.status, out.stderr)
	require.Contains(t, out.stdout, `doubtful
warning: queue: root: bad property: preemption.policy "fenced": want default, fence or disabled
warning: toleration: class "idle": the policy protects nobody: toleration-seconds is 0 or absent
warning: toleration: class "idle": unknown annotation: "preemption-toleration.scheduling.x-k8s.io/second\x1bs"
`)
	asJSON := call(text, "-json", "-")
	require.Equal(t, outputs{decided, "{\"name\":\"doubtful\",\"results\":[]}\n", ""}, asJSON)
}
