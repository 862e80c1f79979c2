// SPDX-License-Identifier: Apache-2.0

package koordinator_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/jobs/koordinator"
)

// drawPod draws the labels of a member: known ones with good and bad values,
// others that mean nothing here, and a policy.
func drawPod(t *rapid.T, key string) koordinator.Pod {
	m := koordinator.Pod{Key: key, Labels: map[string]string{}}
	for _, label := range []string{labelPreemptible, labelCanPreempt} {
		text := rapid.SampledFrom([]string{"-", "-", "true", "true", "false", "TRUE", "1", ""}).Draw(t, label)
		if text != "-" {
			m.Labels[label] = text
		}
	}
	if name := rapid.SampledFrom([]string{"", "j", "k"}).Draw(t, "job"); name != "" {
		m.Labels[labelJob] = name
	}
	m.Labels["app"] = rapid.SampledFrom([]string{"true", "false", "x"}).Draw(t, "other")
	m.Policy = rapid.SampledFrom([]string{"", "", "Never", "PreemptLowerPriority", "never", "Always"}).Draw(t, "policy")
	return m
}

// What labels say, said otherwise: silence is replaced by what it means, and then
// there are two words to read. What is no word of a label is an error about that
// label, and all errors are told.
func TestLabels_Twin(t *testing.T) { rapid.Check(t, labelsAreTwin) }

func FuzzLabels(f *testing.F) {
	seedBytes(f)
	f.Fuzz(rapid.MakeFuzz(labelsAreTwin))
}

func labelsAreTwin(t *rapid.T) {
	m := drawPod(t, "")
	o := koordinator.Options{
		DisableDefaultPreemptiable:      rapid.Bool().Draw(t, "silence is non-preemptible"),
		DisableDefaultTriggerPreemption: rapid.Bool().Draw(t, "silence must not preempt"),
		PodShouldBeDeletedWhenPreempted: rapid.Bool().Draw(t, "deleted"),
	}
	said := func(label string, silence bool) string {
		if text, ok := m.Labels[label]; ok {
			return text
		}
		return fmt.Sprint(silence)
	}
	words := map[string]string{
		labelPreemptible: said(labelPreemptible, !o.DisableDefaultPreemptiable),
		labelCanPreempt:  said(labelCanPreempt, !o.DisableDefaultTriggerPreemption),
	}
	wrong := map[string]string{}
	for label, text := range words {
		if text != "true" && text != "false" {
			wrong[label] = text
		}
	}
	if m.Policy != "" && m.Policy != "Never" && m.Policy != "PreemptLowerPriority" {
		wrong["preemptionPolicy"] = m.Policy
	}

	got, err := o.Read(m)
	if len(wrong) > 0 {
		require.ErrorAs(t, err, new(*koordinator.LabelError))
		require.Zero(t, got)
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			var at *koordinator.LabelError
			require.True(t, errors.As(e, &at))
			require.Equal(t, wrong[at.Label], at.Text)
			delete(wrong, at.Label)
		}
		require.Empty(t, wrong, "not told")
		return
	}
	require.NoError(t, err)
	require.Equal(t, koordinator.Intent{
		Job: m.Labels[labelJob], NonPreemptible: words[labelPreemptible] == "false",
		MayNotPreempt: words[labelCanPreempt] == "false" || m.Policy == "Never",
	}, got)
}

// Members of a job must mean the same. In which order they come decides at most
// which two are named; if all agree it is what any of them says alone.
func TestLabels_JobTwin(t *testing.T) { rapid.Check(t, jobLabelsAgree) }

func FuzzLabels_Job(f *testing.F) {
	seedBytes(f)
	f.Fuzz(rapid.MakeFuzz(jobLabelsAgree))
}

func jobLabelsAgree(t *rapid.T) {
	var o koordinator.Options
	var members []koordinator.Pod
	for i := range rapid.IntRange(1, 3).Draw(t, "members") {
		m := drawPod(t, fmt.Sprint("m", i))
		for _, label := range []string{labelPreemptible, labelCanPreempt} { // good ones, mostly
			if text, ok := m.Labels[label]; ok && text != "true" && rapid.IntRange(0, 3).Draw(t, "good") > 0 {
				m.Labels[label] = "true"
			}
		}
		members = append(members, m)
	}
	meanings := map[koordinator.Intent]bool{}
	bad := false
	for _, m := range members {
		intent, err := o.Read(m)
		bad = bad || err != nil
		meanings[intent] = true
	}
	got, err := o.Read(members...)
	shuffled, err2 := o.Read(rapid.Permutation(members).Draw(t, "order")...)
	require.Equal(t, got, shuffled)
	require.Equal(t, err == nil, err2 == nil)
	switch {
	case bad: // of whom is told depends on who comes first
		require.Error(t, err)
	case len(meanings) > 1:
		var mixed *koordinator.MixedError
		require.ErrorAs(t, err, new(*koordinator.MixedError))
		require.True(t, errors.As(err, &mixed))
		require.Equal(t, "m0", mixed.Members[0])
		require.NotEqual(t, mixed.Members[0], mixed.Members[1])
	default:
		require.NoError(t, err)
		require.True(t, meanings[got])
	}
}
