package jobs_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
)

// labels returns labels from pairs of a name and a text.
func labels(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

func TestLabels_Job(t *testing.T) {
	const fixed, can, group = jobs.LabelPreemptible, jobs.LabelCanPreempt, jobs.LabelJob
	for _, test := range []struct {
		name    string
		options jobs.LabelOptions
		members []jobs.Labelled
		want    jobs.Intent
		err     string
	}{
		{name: "nobody", want: jobs.Intent{Preemptible: true, MayPreempt: true}},
		{
			name:    "one",
			members: []jobs.Labelled{{Key: "a", Labels: labels(group, "j", fixed, "false")}},
			want:    jobs.Intent{Job: "j", MayPreempt: true},
		},
		{
			name:    "silence and its meaning",
			members: []jobs.Labelled{{Key: "a"}, {Key: "b", Labels: labels(fixed, "true", can, "true"), Policy: jobs.PreemptLowerPriority}},
			want:    jobs.Intent{Preemptible: true, MayPreempt: true},
		},
		{
			name:    "two ways to say no",
			members: []jobs.Labelled{{Key: "a", Policy: jobs.PreemptionNever}, {Key: "b", Labels: labels(can, "false")}},
			want:    jobs.Intent{Preemptible: true},
		},
		{
			name:    "silence means no",
			options: jobs.LabelOptions{DisableDefaultPreemptiable: true},
			members: []jobs.Labelled{{Key: "a"}, {Key: "b", Labels: labels(fixed, "false")}},
			want:    jobs.Intent{MayPreempt: true},
		},
		{
			name:    "preemptible",
			members: []jobs.Labelled{{Key: "a"}, {Key: "b", Labels: labels(fixed, "true")}, {Key: "c", Labels: labels(fixed, "false")}},
			err:     `jobs: quota.scheduling.koordinator.sh/preemptible: members of one job differ: a has "", c has "false"`,
		},
		{
			name:    "can preempt",
			members: []jobs.Labelled{{Key: "a", Labels: labels(can, "true")}, {Key: "b", Labels: labels(can, "false")}},
			err:     `jobs: quota.scheduling.koordinator.sh/can-preempt: members of one job differ: a has "true", b has "false"`,
		},
		{
			name:    "policy",
			members: []jobs.Labelled{{Key: "a"}, {Key: "b", Policy: jobs.PreemptionNever}},
			err:     `jobs: preemptionPolicy: members of one job differ: a has "", b has "Never"`,
		},
		{
			name:    "another job, before all else",
			members: []jobs.Labelled{{Key: "a", Labels: labels(group, "j")}, {Key: "b c", Labels: labels(group, "k", fixed, "false")}},
			err:     `jobs: pod-group.scheduling.sigs.k8s.io: members of one job differ: a has "j", "b c" has "k"`,
		},
		{
			name:    "a bad value",
			members: []jobs.Labelled{{Key: "a"}, {Key: "b", Labels: labels(fixed, "no")}},
			err:     `jobs: member b: quota.scheduling.koordinator.sh/preemptible: bad value "no": want true or false`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.options.ParseJob(test.members)
			if test.err != "" {
				require.EqualError(t, err, test.err)
				require.Zero(t, got)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

// Kinds of errors are told apart.
func TestLabels_JobErrors(t *testing.T) {
	_, err := jobs.LabelOptions{}.ParseJob([]jobs.Labelled{{Key: "a"}, {Key: "b", Labels: labels(jobs.LabelPreemptible, "false")}})
	require.ErrorIs(t, err, jobs.ErrMixed)
	var mixed *jobs.MixedError
	require.ErrorAs(t, err, &mixed)
	require.Equal(t, [2]string{"a", "b"}, mixed.Members)

	_, err = jobs.LabelOptions{}.ParseJob([]jobs.Labelled{{Key: "a", Labels: labels(jobs.LabelPreemptible, "?")}})
	require.ErrorIs(t, err, jobs.ErrLabel)
}

// The options are read from the arguments of Koordinator's plugin as they stand.
func TestLabels_Arguments(t *testing.T) {
	var o jobs.LabelOptions
	require.NoError(t, json.Unmarshal([]byte(`{
		"disableDefaultPreemptiable": true,
		"disableDefaultTriggerPreemption": true,
		"podShouldBeDeletedWhenPreempted": true
	}`), &o))
	require.Equal(t, jobs.LabelOptions{
		DisableDefaultPreemptiable: true, DisableDefaultTriggerPreemption: true, PodShouldBeDeletedWhenPreempted: true,
	}, o)
	require.Equal(t, jobs.WayDelete, o.Way())
	require.Equal(t, jobs.WayLabel, jobs.LabelOptions{}.Way())
}

func ExampleLabelOptions_ParseJob() {
	_, err := jobs.LabelOptions{}.ParseJob([]jobs.Labelled{
		{Key: "train-0", Labels: map[string]string{jobs.LabelJob: "train", jobs.LabelPreemptible: "false"}},
		{Key: "train-1", Labels: map[string]string{jobs.LabelJob: "train"}},
	})
	fmt.Println(err)
	// Output:
	// jobs: quota.scheduling.koordinator.sh/preemptible: members of one job differ: train-0 has "false", train-1 has ""
}
