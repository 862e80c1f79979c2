// SPDX-License-Identifier: Apache-2.0

package koordinator_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs/koordinator"
)

// TestLabels has every value of either label, with silence as "-", against
// every option and policy.
func TestLabels(t *testing.T) {
	for _, test := range []struct {
		preemptible, canPreempt string
		need                    bool // what is not said is a no
		policy                  string
		want                    koordinator.Intent
	}{
		{"-", "-", false, "", koordinator.Intent{Preemptible: true, MayPreempt: true}},
		{"-", "-", true, "", koordinator.Intent{}},
		{"true", "true", false, "", koordinator.Intent{Preemptible: true, MayPreempt: true}},
		{"true", "true", true, "", koordinator.Intent{Preemptible: true, MayPreempt: true}},
		{"false", "false", false, "", koordinator.Intent{}},
		{"false", "false", true, "", koordinator.Intent{}},
		{"false", "-", false, "", koordinator.Intent{MayPreempt: true}},
		{"-", "false", false, "", koordinator.Intent{Preemptible: true}},
		{"true", "-", true, "", koordinator.Intent{Preemptible: true}},
		{"-", "true", true, "", koordinator.Intent{MayPreempt: true}},
		{"-", "-", false, "PreemptLowerPriority", koordinator.Intent{Preemptible: true, MayPreempt: true}},
		{"-", "-", true, "PreemptLowerPriority", koordinator.Intent{}},
		{"-", "true", true, "PreemptLowerPriority", koordinator.Intent{MayPreempt: true}},
		{"-", "-", false, "Never", koordinator.Intent{Preemptible: true}},
		{"-", "true", false, "Never", koordinator.Intent{Preemptible: true}},
		{"true", "true", true, "Never", koordinator.Intent{Preemptible: true}},
	} {
		name := fmt.Sprintf("preemptible=%s can-preempt=%s need=%t policy=%s", test.preemptible, test.canPreempt, test.need, test.policy)
		t.Run(name, func(t *testing.T) {
			labels := map[string]string{"app": "x", "pod-group.scheduling.sigs.k8s.io": "j"}
			if test.preemptible != "-" {
				labels["quota.scheduling.koordinator.sh/preemptible"] = test.preemptible
			}
			if test.canPreempt != "-" {
				labels["quota.scheduling.koordinator.sh/can-preempt"] = test.canPreempt
			}
			got, err := koordinator.Options{DisableDefaultPreemptiable: test.need, DisableDefaultTriggerPreemption: test.need}.Parse(labels, test.policy)
			require.NoError(t, err)
			test.want.Job = "j"
			require.Equal(t, test.want, got)
		})
	}
}

func TestLabels_None(t *testing.T) {
	got, err := koordinator.Options{}.Parse(nil, "")
	require.NoError(t, err)
	require.Equal(t, koordinator.Intent{Preemptible: true, MayPreempt: true}, got)
}

// TestLabels_Options: either option is for its label only.
func TestLabels_Options(t *testing.T) {
	got, err := koordinator.Options{DisableDefaultPreemptiable: true}.Parse(nil, "")
	require.NoError(t, err)
	require.Equal(t, koordinator.Intent{MayPreempt: true}, got)

	got, err = koordinator.Options{DisableDefaultTriggerPreemption: true}.Parse(nil, "")
	require.NoError(t, err)
	require.Equal(t, koordinator.Intent{Preemptible: true}, got)
}

func TestLabels_Mistakes(t *testing.T) {
	for _, test := range []struct {
		preemptible, canPreempt, policy string
		want                            string
	}{
		{"True", "true", "", `koordinator: quota.scheduling.koordinator.sh/preemptible: bad value "True": want true or false`},
		{"", "true", "", `koordinator: quota.scheduling.koordinator.sh/preemptible: bad value "": want true or false`},
		{"true", "1", "", `koordinator: quota.scheduling.koordinator.sh/can-preempt: bad value "1": want true or false`},
		{"true", "true", "never", `koordinator: preemptionPolicy: bad value "never": want Never, PreemptLowerPriority or nothing`},
		{
			"yes", " false", "N\n", `koordinator: quota.scheduling.koordinator.sh/preemptible: bad value "yes": want true or false` + "\n" +
				`koordinator: quota.scheduling.koordinator.sh/can-preempt: bad value " false": want true or false` + "\n" +
				`koordinator: preemptionPolicy: bad value "N\n": want Never, PreemptLowerPriority or nothing`,
		},
	} {
		got, err := koordinator.Options{}.Parse(map[string]string{
			koordinator.LabelPreemptible: test.preemptible, koordinator.LabelCanPreempt: test.canPreempt, koordinator.LabelJob: "j",
		}, test.policy)
		require.ErrorAs(t, err, new(*koordinator.LabelError))
		require.EqualError(t, err, test.want)
		require.Zero(t, got, "nothing is half read")
		var bad *koordinator.LabelError
		require.ErrorAs(t, err, &bad)
	}
}

func ExampleOptions_Parse() {
	labels := map[string]string{
		koordinator.LabelJob:         "train",
		koordinator.LabelPreemptible: "false",
	}
	fmt.Println(koordinator.Options{}.Parse(labels, ""))
	fmt.Println(koordinator.Options{DisableDefaultTriggerPreemption: true}.Parse(labels, ""))
	labels[koordinator.LabelCanPreempt] = "maybe"
	fmt.Println(koordinator.Options{}.Parse(labels, ""))
	// Output:
	// {train false true} <nil>
	// {train false false} <nil>
	// { false false} koordinator: quota.scheduling.koordinator.sh/can-preempt: bad value "maybe": want true or false
}
