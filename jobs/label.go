package jobs

import (
	"errors"
	"fmt"
)

// The labels of Koordinator's job-level preemption, with its names, so that a
// scheduler that works with them can go on. (Design, section 8.)
const (
	// LabelPreemptible says, "true" or "false", whether a member may be a
	// victim of other jobs. All members of a job say the same.
	LabelPreemptible = "quota.scheduling.koordinator.sh/preemptible"
	// LabelCanPreempt says, "true" or "false", whether a member may preempt.
	LabelCanPreempt = "quota.scheduling.koordinator.sh/can-preempt"
	// LabelJob names the job that a task is a member of.
	LabelJob = "pod-group.scheduling.sigs.k8s.io"
	// LabelSoftEviction is put on a victim to say that it is preempted, and by
	// whom; see [Eviction].
	LabelSoftEviction = "scheduling.koordinator.sh/soft-eviction"
)

// PreemptionNever and PreemptLowerPriority are the preemption policies of
// Kubernetes. None is as good as PreemptLowerPriority.
const (
	PreemptionNever      = "Never"
	PreemptLowerPriority = "PreemptLowerPriority"
)

// ErrLabel is the kind of problem with the value of a label, or with a
// preemption policy. It comes wrapped in a [*LabelError].
var ErrLabel = errors.New("bad value")

// A LabelError is a value that means nothing.
type LabelError struct {
	Label string // the name of a label, or preemptionPolicy
	Text  string // the value as given
	Want  string // what it should have been
}

func (e *LabelError) Error() string {
	return fmt.Sprintf("jobs: %s: %v %q: want %s", e.Label, ErrLabel, e.Text, e.Want)
}

// Unwrap returns [ErrLabel].
func (e *LabelError) Unwrap() error { return ErrLabel }

// LabelOptions says what silence means. The zero value is the default.
type LabelOptions struct {
	// NeedPreemptible makes members non-preemptible that do not say what they
	// are. By default they are preemptible.
	NeedPreemptible bool
	// NeedCanPreempt keeps members from preempting that do not say that they
	// can. By default they may.
	NeedCanPreempt bool
}

// Intent is what the labels of a member say.
type Intent struct {
	Job         string // "" for none
	Preemptible bool
	MayPreempt  bool
}

// Parse reads the labels and the preemption policy of a member. Labels other
// than the three that members carry are ignored.
//
// A member may preempt where LabelCanPreempt does not say "false", or with
// NeedCanPreempt where it says "true", and the policy is not Never: the one
// never overrules the other's no.
//
// Values other than "true" and "false" exactly, and policies that there are not,
// are errors, each a [*LabelError]. All are reported at once, joined in the
// order of the constants, and the intent is then the zero Intent.
func (o LabelOptions) Parse(labels map[string]string, policy string) (Intent, error) {
	preemptible, err1 := flag(labels, LabelPreemptible, !o.NeedPreemptible)
	canPreempt, err2 := flag(labels, LabelCanPreempt, !o.NeedCanPreempt)
	var err3 error
	switch policy {
	case "", PreemptionNever, PreemptLowerPriority:
	default:
		err3 = &LabelError{"preemptionPolicy", policy, "Never, PreemptLowerPriority or nothing"}
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return Intent{}, err
	}
	return Intent{
		Job:         labels[LabelJob],
		Preemptible: preemptible,
		MayPreempt:  canPreempt && policy != PreemptionNever,
	}, nil
}

// flag reads a label that is true or false, and what it is if absent.
func flag(labels map[string]string, label string, absent bool) (bool, error) {
	switch text, ok := labels[label]; {
	case !ok:
		return absent, nil
	case text == "true":
		return true, nil
	case text == "false":
		return false, nil
	default:
		return false, &LabelError{label, text, "true or false"}
	}
}
