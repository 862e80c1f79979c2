// SPDX-License-Identifier: Apache-2.0

// Package koordinator reads the labels of Koordinator's job-level preemption, has the
// formulas of its elastic quotas, and writes what its victims are told. Package jobs decides:
//
//	planner.ByPriority = true
//	planner.Admit = func(dst resources.Vector, a *victims.Admission) (resources.Vector, bool) {
//		return quotas[a.Queue].Admit(dst, a) // a map of *ElasticQuota
//	}
//
// Read the labels of all members with [Options.Read] and put the [Intent] into the
// [victims.Ask]. Once its plan is applied, label each victim with the text of its
// [Eviction], or delete the victim with PodShouldBeDeletedWhenPreempted.
package koordinator

import (
	"errors"
	"fmt"

	"github.com/go-preempt/preempt/internal/plain"
)

// The labels that are read, with Koordinator's names. See DESIGN.md, Jobs: eviction.
const (
	labelPreemptible = "quota.scheduling.koordinator.sh/preemptible"
	labelCanPreempt  = "quota.scheduling.koordinator.sh/can-preempt"
	labelJob         = "pod-group.scheduling.sigs.k8s.io"
)

// policyName is what errors call the preemption policy.
const policyName = "preemptionPolicy"

// A labelError is a value that means nothing.
type labelError struct {
	Member string // the key of a pod, or ""
	Label  string // the name of a label, or preemptionPolicy
	Text   string // the value as given
	Want   string // what it should have been
}

func (e *labelError) Error() string {
	member := ""
	if e.Member != "" {
		member = "member " + plain.Name(e.Member) + ": "
	}
	return fmt.Sprintf("koordinator: %s%s: bad value %q: want %s", member, e.Label, e.Text, e.Want)
}

// Options are arguments of Koordinator's plugin, with its names and spelling. The zero
// value is its default.
type Options struct {
	// DisableDefaultPreemptiable makes members that do not say non-preemptible.
	DisableDefaultPreemptiable bool `json:"disableDefaultPreemptiable"`
	// DisableDefaultTriggerPreemption keeps members that do not say from preempting.
	DisableDefaultTriggerPreemption bool `json:"disableDefaultTriggerPreemption"`
	// PodShouldBeDeletedWhenPreempted has victims deleted, and not only labelled.
	PodShouldBeDeletedWhenPreempted bool `json:"podShouldBeDeletedWhenPreempted"`
}

// A Pod is a task, or a member of a gang, with its labels.
type Pod struct {
	Key    string // for errors
	Labels map[string]string
	Policy string // preemptionPolicy, or ""
}

// An Intent is what labels say, for the fields of these names in [victims.Ask] and [victims.Task].
type Intent struct {
	Job            string // "" for none; of a gang it is the key of its ask
	NonPreemptible bool
	MayNotPreempt  bool
}

// Read returns what the labels of a pod say, or those of all pods of a job:
//
//	quota.scheduling.koordinator.sh/preemptible  true or false: whether other jobs may stop it
//	quota.scheduling.koordinator.sh/can-preempt  true or false: whether it may preempt, unless its policy is Never
//	pod-group.scheduling.sigs.k8s.io             the job that it is a member of
//
// Other values and unknown policies are errors, those of one pod joined. Pods of a job must mean the same, else the
// error names two.
func (o Options) Read(pods ...Pod) (Intent, error) {
	if len(pods) == 0 {
		pods = []Pod{{}}
	}
	first, err := o.read(&pods[0])
	if err != nil {
		return Intent{}, err
	}
	for i := range pods[1:] {
		other := &pods[1+i]
		intent, err := o.read(other)
		if err != nil {
			return Intent{}, err
		}
		if intent != first {
			return Intent{}, mixed([2]*Pod{&pods[0], other}, [2]Intent{first, intent})
		}
	}
	return first, nil
}

// read reads one pod.
func (o Options) read(m *Pod) (Intent, error) {
	preemptible, err1 := m.flag(labelPreemptible, !o.DisableDefaultPreemptiable)
	canPreempt, err2 := m.flag(labelCanPreempt, !o.DisableDefaultTriggerPreemption)
	var err3 error
	switch m.Policy {
	case "", "Never", "PreemptLowerPriority":
	default:
		err3 = &labelError{m.Key, policyName, m.Policy, "Never, PreemptLowerPriority or nothing"}
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return Intent{}, err
	}
	return Intent{
		Job:            m.Labels[labelJob],
		NonPreemptible: !preemptible,
		MayNotPreempt:  !canPreempt || m.Policy == "Never",
	}, nil
}

// flag reads a label that is true or false, and what it is if absent.
func (m *Pod) flag(label string, absent bool) (bool, error) {
	switch text, ok := m.Labels[label]; {
	case !ok:
		return absent, nil
	case text == "true":
		return true, nil
	case text == "false":
		return false, nil
	default:
		return false, &labelError{m.Key, label, text, "true or false"}
	}
}

// A mixedError names two members of one job, and the first label, or the
// preemption policy, that means one thing for the one and another for the other.
type mixedError struct {
	Label   string    // the name of a label, or preemptionPolicy
	Members [2]string // the first member, and the first that differs from it
	Texts   [2]string // what they say; "" if the label is absent
}

func (e *mixedError) Error() string {
	return fmt.Sprintf("koordinator: %s: members of one job differ: %s has %q, %s has %q", e.Label,
		plain.Name(e.Members[0]), e.Texts[0], plain.Name(e.Members[1]), e.Texts[1])
}

// mixed tells two pods apart by the first thing in which they differ.
func mixed(pods [2]*Pod, intents [2]Intent) error {
	a, b, x, y := pods[0], pods[1], intents[0], intents[1]
	e := &mixedError{Members: [2]string{a.Key, b.Key}}
	switch {
	case x.Job != y.Job:
		e.Label = labelJob
	case x.NonPreemptible != y.NonPreemptible:
		e.Label = labelPreemptible
	case a.Policy != b.Policy && (a.Policy == "Never" || b.Policy == "Never"):
		e.Label, e.Texts = policyName, [2]string{a.Policy, b.Policy}
		return e
	default:
		e.Label = labelCanPreempt
	}
	e.Texts = [2]string{a.Labels[e.Label], b.Labels[e.Label]}
	return e
}
