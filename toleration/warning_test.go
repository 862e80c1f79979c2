// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Policies that protect nobody, whether or not victims must have a lower priority than
// their preemptor.
func TestWarnings_ProtectsNobody(t *testing.T) {
	for _, test := range []struct {
		name             string
		value            int32
		minimum, seconds string // "-" is absent
		warns            bool
	}{
		{"nothing is written down", 8000, "-", "-", false},
		{"no seconds", 8000, "10000", "-", true},
		{"zero seconds", 8000, "10000", "0", true},
		{"zero seconds alone", 8000, "-", "0", true},
		{"far above the value", 8000, "10000", "600", false},
		{"value + 2", 8000, "8002", "600", false},
		{"value + 1", 8000, "8001", "600", false},
		{"value + 1 by default", 8000, "-", "-1", false},
		{"the value", 8000, "8000", "-1", true},
		{"below the value", 8000, "7999", "600", true},
		{"below zero", -10, "-9", "600", false},
		{"one below the top", math.MaxInt32 - 1, "2147483647", "1", false},
		{"at the top", math.MaxInt32, "2147483647", "1", true},
		{"at the top by default", math.MaxInt32, "-", "1", true},
		{"at the bottom", math.MinInt32, "-2147483648", "1", true},
		{"at the bottom by default", math.MinInt32, "-", "1", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			annotations := map[string]string{AnnotationAllowPreemption: "false", "example.com/x": ""}
			if test.minimum != "-" {
				annotations[AnnotationMinimum] = test.minimum
			}
			if test.seconds != "-" {
				annotations[AnnotationSeconds] = test.seconds
			}
			got := parse(t, PriorityClass{Name: "a", Value: test.value, Annotations: annotations}).Warnings
			if !test.warns {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.ErrorIs(t, got[0], errIdle)
		})
	}
}

// Warnings name the class, and are in one order.
func TestWarnings_Order(t *testing.T) {
	for _, test := range []struct {
		class PriorityClass
		want  []string
	}{
		{PriorityClass{Name: "c", Annotations: map[string]string{AnnotationMinimum: "5"}},
			[]string{`toleration: class "c": the policy protects nobody: toleration-seconds is 0 or absent`}},
		{PriorityClass{Name: "a", Annotations: map[string]string{
			annotationPrefix + "toleration-second": "1", annotationPrefix: "2", annotationPrefix + "Toleration-Seconds": "3"}},
			[]string{
				`toleration: class "a": unknown annotation: "preemption-toleration.scheduling.x-k8s.io/"`,
				`toleration: class "a": unknown annotation: "preemption-toleration.scheduling.x-k8s.io/Toleration-Seconds"`,
				`toleration: class "a": unknown annotation: "preemption-toleration.scheduling.x-k8s.io/toleration-second"`,
			}},
		{PriorityClass{Name: "b", Value: 9, Annotations: map[string]string{
			AnnotationSeconds: "1", AnnotationMinimum: "9", annotationPrefix + "minimum": "11"}},
			[]string{
				`toleration: class "b": the policy protects nobody: no preemptor of a task of priority 9 is below the minimum 9`,
				`toleration: class "b": unknown annotation: "preemption-toleration.scheduling.x-k8s.io/minimum"`,
			}},
		{PriorityClass{Name: "d", Annotations: map[string]string{
			"preemption-toleration.scheduling.x-k8s.io": "", "toleration-seconds": "", AnnotationSeconds: "-1"}}, nil},
	} {
		var got []string
		for _, err := range parse(t, test.class).Warnings {
			got = append(got, err.Error())
		}
		require.Equal(t, test.want, got)
	}
}
