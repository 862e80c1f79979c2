// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Policies that protect nobody, where victims have a priority lower than or
// equal to their preemptor's, and where it is strictly lower.
func TestWarnings_ProtectsNobody(t *testing.T) {
	for _, test := range []struct {
		name             string
		value            int32
		minimum, seconds string // "-" is absent
		warns, strict    bool
	}{
		{"nothing is written down", 8000, "-", "-", false, false},
		{"no seconds", 8000, "10000", "-", true, true},
		{"zero seconds", 8000, "10000", "0", true, true},
		{"zero seconds alone", 8000, "-", "0", true, true},
		{"far above the value", 8000, "10000", "600", false, false},
		{"value + 2", 8000, "8002", "600", false, false},
		{"value + 1", 8000, "8001", "600", false, true},
		{"value + 1 by default", 8000, "-", "-1", false, true},
		{"the value", 8000, "8000", "-1", true, true},
		{"below the value", 8000, "7999", "600", true, true},
		{"below zero", -10, "-9", "600", false, true},
		{"one below the top", math.MaxInt32 - 1, "2147483647", "1", false, true},
		{"at the top", math.MaxInt32, "2147483647", "1", true, true},
		{"at the top by default", math.MaxInt32, "-", "1", true, true},
		{"at the bottom", math.MinInt32, "-2147483648", "1", true, true},
		{"at the bottom by default", math.MinInt32, "-", "1", false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			annotations := map[string]string{AnnotationAllowPreemption: "false", "example.com/x": ""}
			if test.minimum != "-" {
				annotations[AnnotationMinimum] = test.minimum
			}
			if test.seconds != "-" {
				annotations[AnnotationSeconds] = test.seconds
			}
			var c Classes
			set(t, &c, Config{Name: "a", Value: test.value, Annotations: annotations})
			for strict, warns := range map[bool]bool{false: test.warns, true: test.strict} {
				c.StrictPriority = strict
				got := c.Warnings()
				if !warns {
					require.Empty(t, got)
					continue
				}
				require.Len(t, got, 1)
				require.ErrorIs(t, got[0], errIdle)
			}
		})
	}
}

// Warnings are in one order, whatever that of the classes.
func TestWarnings_Order(t *testing.T) {
	configs := []Config{
		{Name: "c", Annotations: map[string]string{AnnotationMinimum: "5"}},
		{Name: "a", Annotations: map[string]string{
			annotationPrefix + "toleration-second": "1", annotationPrefix: "2", annotationPrefix + "Toleration-Seconds": "3"}},
		{Name: "b", Value: 9, Annotations: map[string]string{
			AnnotationSeconds: "1", AnnotationMinimum: "9", annotationPrefix + "minimum": "11"}},
		{Name: "d", Annotations: map[string]string{
			"preemption-toleration.scheduling.x-k8s.io": "", "toleration-seconds": "", AnnotationSeconds: "-1"}},
	}
	for first := range configs {
		var c Classes
		for i := range configs {
			set(t, &c, configs[(first+i)%len(configs)])
		}
		var got []string
		for _, err := range c.Warnings() {
			got = append(got, err.Error())
		}
		require.Equal(t, []string{
			`toleration: class "a": unknown annotation: "preemption-toleration.scheduling.x-k8s.io/"`,
			`toleration: class "a": unknown annotation: "preemption-toleration.scheduling.x-k8s.io/Toleration-Seconds"`,
			`toleration: class "a": unknown annotation: "preemption-toleration.scheduling.x-k8s.io/toleration-second"`,
			`toleration: class "b": the policy protects nobody: no preemptor of a task of priority 9 is below the minimum 9`,
			`toleration: class "b": unknown annotation: "preemption-toleration.scheduling.x-k8s.io/minimum"`,
			`toleration: class "c": the policy protects nobody: toleration-seconds is 0 or absent`,
		}, got)
	}
}
