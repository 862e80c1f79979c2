// SPDX-License-Identifier: Apache-2.0

package koordinator_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs/koordinator"
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
	const fixed, can, group = labelPreemptible, labelCanPreempt, labelJob
	for _, test := range []struct {
		name    string
		options koordinator.Options
		members []koordinator.Pod
		want    koordinator.Intent
		err     string
	}{
		{name: "nobody", want: koordinator.Intent{}},
		{
			name:    "one",
			members: []koordinator.Pod{{Key: "a", Labels: labels(group, "j", fixed, "false")}},
			want:    koordinator.Intent{Job: "j", NonPreemptible: true},
		},
		{
			name:    "silence and its meaning",
			members: []koordinator.Pod{{Key: "a"}, {Key: "b", Labels: labels(fixed, "true", can, "true"), Policy: "PreemptLowerPriority"}},
			want:    koordinator.Intent{},
		},
		{
			name:    "two ways to say no",
			members: []koordinator.Pod{{Key: "a", Policy: "Never"}, {Key: "b", Labels: labels(can, "false")}},
			want:    koordinator.Intent{MayNotPreempt: true},
		},
		{
			name:    "silence means no",
			options: koordinator.Options{DisableDefaultPreemptiable: true},
			members: []koordinator.Pod{{Key: "a"}, {Key: "b", Labels: labels(fixed, "false")}},
			want:    koordinator.Intent{NonPreemptible: true},
		},
		{
			name:    "preemptible",
			members: []koordinator.Pod{{Key: "a"}, {Key: "b", Labels: labels(fixed, "true")}, {Key: "c", Labels: labels(fixed, "false")}},
			err:     `koordinator: quota.scheduling.koordinator.sh/preemptible: members of one job differ: a has "", c has "false"`,
		},
		{
			name:    "can preempt",
			members: []koordinator.Pod{{Key: "a", Labels: labels(can, "true")}, {Key: "b", Labels: labels(can, "false")}},
			err:     `koordinator: quota.scheduling.koordinator.sh/can-preempt: members of one job differ: a has "true", b has "false"`,
		},
		{
			name:    "policy",
			members: []koordinator.Pod{{Key: "a"}, {Key: "b", Policy: "Never"}},
			err:     `koordinator: preemptionPolicy: members of one job differ: a has "", b has "Never"`,
		},
		{
			name:    "another job, before all else",
			members: []koordinator.Pod{{Key: "a", Labels: labels(group, "j")}, {Key: "b c", Labels: labels(group, "k", fixed, "false")}},
			err:     `koordinator: pod-group.scheduling.sigs.k8s.io: members of one job differ: a has "j", "b c" has "k"`,
		},
		{
			name:    "a bad value",
			members: []koordinator.Pod{{Key: "a"}, {Key: "b", Labels: labels(fixed, "no")}},
			err:     `koordinator: member b: quota.scheduling.koordinator.sh/preemptible: bad value "no": want true or false`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.options.Read(test.members...)
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
	_, err := koordinator.Options{}.Read(koordinator.Pod{Key: "a"}, koordinator.Pod{Key: "b", Labels: labels(labelPreemptible, "false")})
	require.ErrorAs(t, err, new(*koordinator.MixedError))
	var mixed *koordinator.MixedError
	require.ErrorAs(t, err, &mixed)
	require.Equal(t, [2]string{"a", "b"}, mixed.Members)

	_, err = koordinator.Options{}.Read(koordinator.Pod{Key: "a", Labels: labels(labelPreemptible, "?")})
	require.ErrorAs(t, err, new(*koordinator.LabelError))
}

// The options are read from the arguments of Koordinator's plugin as they stand.
func TestLabels_Arguments(t *testing.T) {
	var o koordinator.Options
	require.NoError(t, json.Unmarshal([]byte(`{
		"disableDefaultPreemptiable": true,
		"disableDefaultTriggerPreemption": true,
		"podShouldBeDeletedWhenPreempted": true
	}`), &o))
	require.Equal(t, koordinator.Options{
		DisableDefaultPreemptiable: true, DisableDefaultTriggerPreemption: true, PodShouldBeDeletedWhenPreempted: true,
	}, o)
}
