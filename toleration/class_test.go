// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

// parse reads a class in which nothing is wrong.
func parse(t testing.TB, c PriorityClass) Class {
	t.Helper()
	class, err := Parse(c)
	require.NoError(t, err)
	return class
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		class PriorityClass
		want  Class
	}{
		{PriorityClass{Name: "plain", Value: 5}, Class{Priority: 5, Policy: Policy{6, 0}}},
		{PriorityClass{Name: "hold", Value: 8000, Annotations: map[string]string{AnnotationMinimum: "10000", AnnotationSeconds: "600"}},
			Class{Priority: 8000, Policy: Policy{10_000, 600}}},
		{PriorityClass{Name: "spared", Value: -3, Annotations: map[string]string{AnnotationAllowPreemption: "false"}},
			Class{Priority: -3, Policy: Policy{-2, 0}, OptedOut: true}},
		{PriorityClass{Name: "free", Annotations: map[string]string{AnnotationAllowPreemption: "true"}}, Class{Policy: Policy{1, 0}}},
		{PriorityClass{Name: "meek", Value: 1, PreemptionPolicy: "Never"}, Class{Priority: 1, Policy: Policy{2, 0}, MayNotPreempt: true}},
		{PriorityClass{Name: "bold", Value: 2, PreemptionPolicy: "PreemptLowerPriority"}, Class{Priority: 2, Policy: Policy{3, 0}}},
		{PriorityClass{Name: " "}, Class{Policy: Policy{1, 0}}},
	} {
		before := maps.Clone(test.class.Annotations)
		require.Equal(t, test.want, parse(t, test.class))
		require.Equal(t, before, test.class.Annotations)
	}
}

func TestParse_Errors(t *testing.T) {
	for _, test := range []struct {
		name  string
		class PriorityClass
		kind  error
		want  string
	}{
		{"no name", PriorityClass{Value: 1}, errName, `toleration: class "": empty name`},
		{"policy in lower case", PriorityClass{Name: "a", PreemptionPolicy: "never"}, errPolicy,
			`toleration: class "a": bad preemption policy: "never": want PreemptLowerPriority or Never`},
		{"minimum", PriorityClass{Name: "a", Annotations: map[string]string{AnnotationMinimum: ""}}, errNumber,
			`toleration: class "a": annotation preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority: "": not a whole number`},
		{"seconds", PriorityClass{Name: "a", Annotations: map[string]string{AnnotationSeconds: "1e3"}}, errNumber,
			`toleration: class "a": annotation preemption-toleration.scheduling.x-k8s.io/toleration-seconds: "1e3": not a whole number`},
		{"neither true nor false", PriorityClass{Name: "a", Annotations: map[string]string{AnnotationAllowPreemption: "False"}}, errBool,
			`toleration: class "a": annotation yunikorn.apache.org/allow-preemption: "False": neither "true" nor "false"`},
		{"empty", PriorityClass{Name: "a\n", Annotations: map[string]string{AnnotationAllowPreemption: ""}}, errBool,
			`toleration: class "a\n": annotation yunikorn.apache.org/allow-preemption: "": neither "true" nor "false"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(test.class)
			require.EqualError(t, err, test.want)
			require.ErrorIs(t, err, test.kind)
			require.Zero(t, got)
		})
	}
}
