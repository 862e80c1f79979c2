package jobs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
)

// TestLabels has every value of either label, with silence as "-", against
// every option and policy.
func TestLabels(t *testing.T) {
	for _, test := range []struct {
		preemptible, canPreempt string
		need                    bool // what is not said is a no
		policy                  string
		want                    jobs.Intent
	}{
		{"-", "-", false, "", jobs.Intent{Preemptible: true, MayPreempt: true}},
		{"-", "-", true, "", jobs.Intent{}},
		{"true", "true", false, "", jobs.Intent{Preemptible: true, MayPreempt: true}},
		{"true", "true", true, "", jobs.Intent{Preemptible: true, MayPreempt: true}},
		{"false", "false", false, "", jobs.Intent{}},
		{"false", "false", true, "", jobs.Intent{}},
		{"false", "-", false, "", jobs.Intent{MayPreempt: true}},
		{"-", "false", false, "", jobs.Intent{Preemptible: true}},
		{"true", "-", true, "", jobs.Intent{Preemptible: true}},
		{"-", "true", true, "", jobs.Intent{MayPreempt: true}},
		{"-", "-", false, "PreemptLowerPriority", jobs.Intent{Preemptible: true, MayPreempt: true}},
		{"-", "-", true, "PreemptLowerPriority", jobs.Intent{}},
		{"-", "true", true, "PreemptLowerPriority", jobs.Intent{MayPreempt: true}},
		{"-", "-", false, "Never", jobs.Intent{Preemptible: true}},
		{"-", "true", false, "Never", jobs.Intent{Preemptible: true}},
		{"true", "true", true, "Never", jobs.Intent{Preemptible: true}},
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
			got, err := jobs.LabelOptions{DisableDefaultPreemptiable: test.need, DisableDefaultTriggerPreemption: test.need}.Parse(labels, test.policy)
			require.NoError(t, err)
			test.want.Job = "j"
			require.Equal(t, test.want, got)
		})
	}
}

func TestLabels_None(t *testing.T) {
	got, err := jobs.LabelOptions{}.Parse(nil, "")
	require.NoError(t, err)
	require.Equal(t, jobs.Intent{Preemptible: true, MayPreempt: true}, got)
}

// TestLabels_Options: either option is for its label only.
func TestLabels_Options(t *testing.T) {
	got, err := jobs.LabelOptions{DisableDefaultPreemptiable: true}.Parse(nil, "")
	require.NoError(t, err)
	require.Equal(t, jobs.Intent{MayPreempt: true}, got)

	got, err = jobs.LabelOptions{DisableDefaultTriggerPreemption: true}.Parse(nil, "")
	require.NoError(t, err)
	require.Equal(t, jobs.Intent{Preemptible: true}, got)
}

func TestLabels_Mistakes(t *testing.T) {
	for _, test := range []struct {
		preemptible, canPreempt, policy string
		want                            string
	}{
		{"True", "true", "", `jobs: quota.scheduling.koordinator.sh/preemptible: bad value "True": want true or false`},
		{"", "true", "", `jobs: quota.scheduling.koordinator.sh/preemptible: bad value "": want true or false`},
		{"true", "1", "", `jobs: quota.scheduling.koordinator.sh/can-preempt: bad value "1": want true or false`},
		{"true", "true", "never", `jobs: preemptionPolicy: bad value "never": want Never, PreemptLowerPriority or nothing`},
		{
			"yes", " false", "N\n", `jobs: quota.scheduling.koordinator.sh/preemptible: bad value "yes": want true or false` + "\n" +
				`jobs: quota.scheduling.koordinator.sh/can-preempt: bad value " false": want true or false` + "\n" +
				`jobs: preemptionPolicy: bad value "N\n": want Never, PreemptLowerPriority or nothing`,
		},
	} {
		got, err := jobs.LabelOptions{}.Parse(map[string]string{
			jobs.LabelPreemptible: test.preemptible, jobs.LabelCanPreempt: test.canPreempt, jobs.LabelJob: "j",
		}, test.policy)
		require.ErrorIs(t, err, jobs.ErrLabel)
		require.EqualError(t, err, test.want)
		require.Zero(t, got, "nothing is half read")
		var bad *jobs.LabelError
		require.ErrorAs(t, err, &bad)
	}
}

func ExampleLabelOptions_Parse() {
	labels := map[string]string{
		jobs.LabelJob:         "train",
		jobs.LabelPreemptible: "false",
	}
	fmt.Println(jobs.LabelOptions{}.Parse(labels, ""))
	fmt.Println(jobs.LabelOptions{DisableDefaultTriggerPreemption: true}.Parse(labels, ""))
	labels[jobs.LabelCanPreempt] = "maybe"
	fmt.Println(jobs.LabelOptions{}.Parse(labels, ""))
	// Output:
	// {train false true} <nil>
	// {train false false} <nil>
	// { false false} jobs: quota.scheduling.koordinator.sh/can-preempt: bad value "maybe": want true or false
}
