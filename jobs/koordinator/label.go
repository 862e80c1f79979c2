// SPDX-License-Identifier: Apache-2.0

// Package koordinator reads the labels of Koordinator's job-level preemption, has the
// formulas of its elastic quotas, and writes what its victims are told. Package jobs decides:
//
//	planner.ByPriority = true
//	planner.Admit = func(dst resources.Vector, a *victims.Admission) (resources.Vector, bool) {
//		return quotas[a.Queue].Admit(dst, a) // a map of *ElasticQuota
//	}
//
// Read the labels of all members with [Options.ParseJob] and put the [Intent] into the
// [victims.Ask]. Once its plan is applied, delete each victim, or put the text of its
// [Eviction] into [LabelSoftEviction], as [Options.Way] says.
package koordinator

import (
	"errors"
	"fmt"

	"github.com/go-preempt/preempt/internal/plain"
)

// The labels, with Koordinator's names. See DESIGN.md, Jobs: eviction.
const (
	// LabelPreemptible says, "true" or "false", whether a member may be a
	// victim of other jobs. All members of a job say the same.
	LabelPreemptible = "quota.scheduling.koordinator.sh/preemptible"
	// LabelCanPreempt says, "true" or "false", whether a member may preempt.
	LabelCanPreempt = "quota.scheduling.koordinator.sh/can-preempt"
	// LabelJob names the job that a task is a member of.
	LabelJob = "pod-group.scheduling.sigs.k8s.io"
	// LabelSoftEviction tells a victim who preempts it; see [Eviction].
	LabelSoftEviction = "scheduling.koordinator.sh/soft-eviction"
)

// policyName is what errors call the preemption policy.
const policyName = "preemptionPolicy"

// A labelError is a value that means nothing.
type labelError struct {
	Member string // its key, if [Options.ParseJob] found the value
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

// Way returns how victims are stopped: "delete", or "label" if the task's owner stops it.
func (o Options) Way() string {
	if o.PodShouldBeDeletedWhenPreempted {
		return "delete"
	}
	return "label"
}

// Intent is what the labels of a member say.
type Intent struct {
	Job         string // "" for none
	Preemptible bool
	MayPreempt  bool
}

// Parse reads the labels and the preemption policy of a member. A member may preempt if its policy is not Never
// and LabelCanPreempt is not "false", or with DisableDefaultTriggerPreemption is "true".
//
// Values other than exactly "true" and "false", and unknown policies, are errors, joined in the order of the
// constants; the Intent is zero then.
func (o Options) Parse(labels map[string]string, policy string) (Intent, error) {
	return o.parse(&Labelled{Labels: labels, Policy: policy})
}

// parse is Parse for a member, whose key errors give.
func (o Options) parse(m *Labelled) (Intent, error) {
	preemptible, err1 := m.flag(LabelPreemptible, !o.DisableDefaultPreemptiable)
	canPreempt, err2 := m.flag(LabelCanPreempt, !o.DisableDefaultTriggerPreemption)
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
		Job:         m.Labels[LabelJob],
		Preemptible: preemptible,
		MayPreempt:  canPreempt && m.Policy != "Never",
	}, nil
}

// flag reads a label that is true or false, and what it is if absent.
func (m *Labelled) flag(label string, absent bool) (bool, error) {
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

// A Labelled is a member with its labels, as its pod carries them.
type Labelled struct {
	Key    string
	Labels map[string]string
	Policy string // preemptionPolicy, or ""
}

// ParseJob is [Options.Parse] for all members of a job, which must mean the same. The error of a difference
// names two.
func (o Options) ParseJob(members []Labelled) (Intent, error) {
	if len(members) == 0 {
		return o.Parse(nil, "")
	}
	first, err := o.parse(&members[0])
	if err != nil {
		return Intent{}, err
	}
	for i := range members[1:] {
		other := &members[1+i]
		intent, err := o.parse(other)
		if err != nil {
			return Intent{}, err
		}
		if intent != first {
			return Intent{}, mixed([2]*Labelled{&members[0], other}, [2]Intent{first, intent})
		}
	}
	return first, nil
}

// mixed tells two members apart by the first thing in which they differ.
func mixed(members [2]*Labelled, intents [2]Intent) error {
	a, b, x, y := members[0], members[1], intents[0], intents[1]
	e := &mixedError{Members: [2]string{a.Key, b.Key}}
	switch {
	case x.Job != y.Job:
		e.Label = LabelJob
	case x.Preemptible != y.Preemptible:
		e.Label = LabelPreemptible
	case a.Policy != b.Policy && (a.Policy == "Never" || b.Policy == "Never"):
		e.Label, e.Texts = policyName, [2]string{a.Policy, b.Policy}
		return e
	default:
		e.Label = LabelCanPreempt
	}
	e.Texts = [2]string{a.Labels[e.Label], b.Labels[e.Label]}
	return e
}
