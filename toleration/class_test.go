// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"errors"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

// set registers classes in which nothing is wrong.
func set(t testing.TB, c *Classes, configs ...Config) {
	t.Helper()
	for _, config := range configs {
		require.NoError(t, c.Set(config))
	}
}

func TestClasses_Lookup(t *testing.T) {
	var c Classes
	set(t, &c,
		Config{Name: "plain", Value: 5},
		Config{Name: "hold", Value: 8000, Annotations: map[string]string{AnnotationMinimum: "10000", AnnotationSeconds: "600"}},
		Config{Name: "spared", Value: -3, Annotations: map[string]string{AnnotationAllowPreemption: "false"}},
		Config{Name: "free", Annotations: map[string]string{AnnotationAllowPreemption: "true"}},
		Config{Name: "meek", Value: 1, PreemptionPolicy: "Never"},
		Config{Name: "bold", Value: 2, PreemptionPolicy: "PreemptLowerPriority"},
	)
	for _, want := range []Class{
		{Name: "plain", Value: 5, Policy: Policy{6, 0}},
		{Name: "hold", Value: 8000, Policy: Policy{10_000, 600}},
		{Name: "spared", Value: -3, Policy: Policy{-2, 0}, OptedOut: true},
		{Name: "free", Policy: Policy{1, 0}},
		{Name: "meek", Value: 1, Policy: Policy{2, 0}, MayNot: true},
		{Name: "bold", Value: 2, Policy: Policy{3, 0}},
		{}, // no class, no policy
	} {
		got, err := c.Lookup(want.Name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, name := range []string{"gold", "Plain", "plain ", " "} {
		got, err := c.Lookup(name)
		require.ErrorIs(t, err, ErrUnknown)
		require.Zero(t, got)
	}
	_, err := c.Lookup("go\nld")
	require.EqualError(t, err, `toleration: class "go\nld": unknown class`)
}

func TestClasses_Zero(t *testing.T) {
	var c Classes
	got, err := c.Lookup("")
	require.NoError(t, err)
	require.Zero(t, got)
	_, err = c.Lookup("x")
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, c.Remove("x"), ErrUnknown)
	require.ErrorIs(t, c.Remove(""), ErrUnknown)
	require.Empty(t, c.Warnings())
}

// A class that is set again is another; what was looked up before stays.
func TestClasses_SetAgain(t *testing.T) {
	var c Classes
	annotations := map[string]string{AnnotationSeconds: "600", annotationPrefix + "second": "1"}
	set(t, &c, Config{Name: "a", Value: 7, Annotations: annotations})
	old, err := c.Lookup("a")
	require.NoError(t, err)

	annotations[AnnotationSeconds] = "not looked at again"
	again, err := c.Lookup("a")
	require.NoError(t, err)
	require.Equal(t, old, again)
	require.Len(t, c.Warnings(), 1)

	set(t, &c, Config{Name: "a", Value: 7})
	again, err = c.Lookup("a")
	require.NoError(t, err)
	require.Equal(t, Class{Name: "a", Value: 7, Policy: Policy{8, 0}}, again)
	require.Equal(t, Policy{8, 600}, old.Policy)
	require.Empty(t, c.Warnings())

	require.NoError(t, c.Remove("a"))
	_, err = c.Lookup("a")
	require.ErrorIs(t, err, ErrUnknown)
	require.EqualError(t, c.Remove("a"), `toleration: class "a": unknown class`)
}

func TestClasses_SetErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		config Config
		kind   error
		want   string
	}{
		{"no name", Config{Value: 1}, errName, `toleration: class "": empty name`},
		{"policy in lower case", Config{Name: "a", PreemptionPolicy: "never"}, errPolicy,
			`toleration: class "a": bad preemption policy: "never": want PreemptLowerPriority or Never`},
		{"minimum", Config{Name: "a", Annotations: map[string]string{AnnotationMinimum: ""}}, errNumber,
			`toleration: class "a": annotation preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority: "": not a whole number`},
		{"seconds", Config{Name: "a", Annotations: map[string]string{AnnotationSeconds: "1e3"}}, errNumber,
			`toleration: class "a": annotation preemption-toleration.scheduling.x-k8s.io/toleration-seconds: "1e3": not a whole number`},
		{"neither true nor false", Config{Name: "a", Annotations: map[string]string{AnnotationAllowPreemption: "False"}}, errBool,
			`toleration: class "a": annotation yunikorn.apache.org/allow-preemption: "False": neither "true" nor "false"`},
		{"empty", Config{Name: "a", Annotations: map[string]string{AnnotationAllowPreemption: ""}}, errBool,
			`toleration: class "a": annotation yunikorn.apache.org/allow-preemption: "": neither "true" nor "false"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c Classes
			set(t, &c, Config{Name: "a", Value: 3, Annotations: map[string]string{AnnotationSeconds: "0"}}, Config{Name: "b", Value: 4})
			before, warnings := maps.Clone(c.byName), c.Warnings()

			err := c.Set(test.config)
			require.EqualError(t, err, test.want)
			require.ErrorIs(t, err, test.kind)
			e, ok := errors.AsType[*Problem](err)
			require.True(t, ok)
			require.Equal(t, test.config.Name, e.Class)

			require.Equal(t, before, c.byName, "something was left behind")
			require.Equal(t, warnings, c.Warnings())
		})
	}
}
