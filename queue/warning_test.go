// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What New accepts in a strict tree and warns of, because it does not do what it
// seems to do.
func TestWarnings_Fences(t *testing.T) {
	const policy, fence, delay = propertyPreemptionPolicy, "fence", propertyQuotaPreemptionDelay
	const never = `queue: root.a: can never preempt inside itself: preemption.policy is fence, and no queue below has a guarantee`
	fenced := func(guaranteed string, children ...Config) Config {
		return node("root", "", "", with(node("a", guaranteed, "", children...), policy, fence))
	}
	for _, test := range []struct {
		name string
		root Config
		want []string
	}{
		{"a delay and a fence", node("root", "", "", with(node("a", "", ""), policy, fence, delay, "5m")),
			[]string{`queue: root.a: no effect: the preemption.policy fence, when the max is enforced (quota.preemption.delay 5m0s)`}},
		{"a delay that is off", node("root", "", "", with(node("a", "", ""), policy, fence, delay, "0")), nil},
		{"a delay below a fence", node("root", "", "", with(node("a", "", "", with(node("x", "", ""), delay, "5m")), policy, fence)), nil},
		{"a delay and protection", node("root", "", "", with(node("a", "", ""), policy, "disabled", delay, "5m")), nil},

		{"leaves without a guarantee", fenced("gpu=2", node("x", "", ""), node("y", "", "")), []string{never}},
		{"a guarantee of nothing below", fenced("gpu=2", node("x", "gpu=0", ""), node("y", "", "")), []string{never}},
		{"a guarantee of a leaf", fenced("gpu=2", node("x", "", ""), node("y", "gpu=1", "")), nil},
		{"a guarantee of another type", fenced("gpu=2", node("x", "disk=1", ""), node("y", "", "")), nil},
		{"a guarantee of a branch below", fenced("gpu=2", node("m", "gpu=1", "", node("x", "", "")), node("y", "", "")), nil},
		{"a fence without a guarantee", fenced("", node("x", "", ""), node("y", "", "")), nil},
		{"a fence that is guaranteed nothing", fenced("gpu=0", node("x", "", ""), node("y", "", "")), nil},
		{"a leaf", fenced("gpu=2"), nil},
		{"the root", with(node("root", "gpu=2", "", node("a", "", "")), policy, fence, delay, "5m"), nil},

		{"in tree order, with others", node("root", "", "",
			with(node("a", "gpu=2", "", with(node("x", "", ""), "priority.offset", "high")), policy, fence),
			with(node("b", "", ""), policy, "fenced")),
			[]string{never,
				`queue: root.a.x: bad property: priority.offset "high": want a 32-bit integer`,
				`queue: root.b: bad property: preemption.policy "fenced": want default, fence or disabled`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, texts(mustNew(t, test.root, lenient).Warnings()...))
		})
	}
	require.ErrorIs(t, mustNew(t, fenced("gpu=2", node("x", "", "")), lenient).Warnings()[0], errNeverPreempts)
}
