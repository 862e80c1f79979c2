// SPDX-License-Identifier: Apache-2.0

package koordinator_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs/koordinator"
)

const (
	labelPreemptible = "quota.scheduling.koordinator.sh/preemptible"
	labelCanPreempt  = "quota.scheduling.koordinator.sh/can-preempt"
	labelJob         = "pod-group.scheduling.sigs.k8s.io"
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
		{"-", "-", false, "", koordinator.Intent{}},
		{"-", "-", true, "", koordinator.Intent{NonPreemptible: true, MayNotPreempt: true}},
		{"true", "true", false, "", koordinator.Intent{}},
		{"true", "true", true, "", koordinator.Intent{}},
		{"false", "false", false, "", koordinator.Intent{NonPreemptible: true, MayNotPreempt: true}},
		{"false", "false", true, "", koordinator.Intent{NonPreemptible: true, MayNotPreempt: true}},
		{"false", "-", false, "", koordinator.Intent{NonPreemptible: true}},
		{"-", "false", false, "", koordinator.Intent{MayNotPreempt: true}},
		{"true", "-", true, "", koordinator.Intent{MayNotPreempt: true}},
		{"-", "true", true, "", koordinator.Intent{NonPreemptible: true}},
		{"-", "-", false, "PreemptLowerPriority", koordinator.Intent{}},
		{"-", "-", true, "PreemptLowerPriority", koordinator.Intent{NonPreemptible: true, MayNotPreempt: true}},
		{"-", "true", true, "PreemptLowerPriority", koordinator.Intent{NonPreemptible: true}},
		{"-", "-", false, "Never", koordinator.Intent{MayNotPreempt: true}},
		{"-", "true", false, "Never", koordinator.Intent{MayNotPreempt: true}},
		{"true", "true", true, "Never", koordinator.Intent{MayNotPreempt: true}},
	} {
		name := fmt.Sprintf("preemptible=%s can-preempt=%s need=%t policy=%s", test.preemptible, test.canPreempt, test.need, test.policy)
		t.Run(name, func(t *testing.T) {
			labels := map[string]string{"app": "x", labelJob: "j"}
			if test.preemptible != "-" {
				labels[labelPreemptible] = test.preemptible
			}
			if test.canPreempt != "-" {
				labels[labelCanPreempt] = test.canPreempt
			}
			got, err := koordinator.Options{DisableDefaultPreemptiable: test.need, DisableDefaultTriggerPreemption: test.need}.Read(koordinator.Pod{Labels: labels, Policy: test.policy})
			require.NoError(t, err)
			test.want.Job = "j"
			require.Equal(t, test.want, got)
		})
	}
}

func TestLabels_None(t *testing.T) {
	got, err := koordinator.Options{}.Read()
	require.NoError(t, err)
	require.Equal(t, koordinator.Intent{}, got)
}

// TestLabels_Options: either option is for its label only.
func TestLabels_Options(t *testing.T) {
	got, err := koordinator.Options{DisableDefaultPreemptiable: true}.Read()
	require.NoError(t, err)
	require.Equal(t, koordinator.Intent{NonPreemptible: true}, got)

	got, err = koordinator.Options{DisableDefaultTriggerPreemption: true}.Read()
	require.NoError(t, err)
	require.Equal(t, koordinator.Intent{MayNotPreempt: true}, got)
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
		got, err := koordinator.Options{}.Read(koordinator.Pod{Policy: test.policy, Labels: map[string]string{
			labelPreemptible: test.preemptible, labelCanPreempt: test.canPreempt, labelJob: "j",
		}})
		require.ErrorAs(t, err, new(*koordinator.LabelError))
		require.EqualError(t, err, test.want)
		require.Zero(t, got, "nothing is half read")
		var bad *koordinator.LabelError
		require.ErrorAs(t, err, &bad)
	}
}

func ExampleOptions_Read() {
	pods := []koordinator.Pod{
		{Key: "train-0", Labels: map[string]string{"pod-group.scheduling.sigs.k8s.io": "train", "quota.scheduling.koordinator.sh/preemptible": "false"}},
		{Key: "train-1", Labels: map[string]string{"pod-group.scheduling.sigs.k8s.io": "train"}},
	}
	intent, err := koordinator.Options{DisableDefaultTriggerPreemption: true}.Read(pods[0])
	fmt.Printf("%+v %v\n", intent, err)
	_, err = koordinator.Options{}.Read(pods...)
	fmt.Println(err)
	// Output:
	// {Job:train NonPreemptible:true MayNotPreempt:true} <nil>
	// koordinator: quota.scheduling.koordinator.sh/preemptible: members of one job differ: train-0 has "false", train-1 has ""
}
