package jobs

import (
	"errors"
	"fmt"

	"github.com/go-preempt/preempt/internal/plain"
)

// ErrMixed is the kind of problem with members of one job whose labels mean
// different things. It comes wrapped in a [*MixedError].
var ErrMixed = errors.New("members of one job differ")

// A MixedError names two members of one job, and the first label, or the
// preemption policy, that means one thing for the one and another for the other.
type MixedError struct {
	Label   string    // the name of a label, or preemptionPolicy
	Members [2]string // the first member, and the first that differs from it
	Texts   [2]string // what they say; "" if the label is absent
}

func (e *MixedError) Error() string {
	return fmt.Sprintf("jobs: %s: %v: %s has %q, %s has %q", e.Label, ErrMixed,
		plain.Name(e.Members[0]), e.Texts[0], plain.Name(e.Members[1]), e.Texts[1])
}

// Unwrap returns [ErrMixed].
func (e *MixedError) Unwrap() error { return ErrMixed }

// A Labelled is a member with its labels, as its pod carries them.
type Labelled struct {
	Key    string
	Labels map[string]string
	Policy string // preemptionPolicy, or ""
}

// ParseJob reads the labels of all members of a job, which must mean the same:
// a job is one thing to its quota and to those that would stop it. Use it instead
// of [LabelOptions.Parse] when the members are known.
//
// What counts is the meaning. A member that says nothing and one that says what
// silence means agree. So do PreemptionNever and a LabelCanPreempt of "false".
//
// An error of Parse names the member. A difference is a [*MixedError]. Without
// members the intent is that of no labels.
func (o LabelOptions) ParseJob(members []Labelled) (Intent, error) {
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
	e := &MixedError{Members: [2]string{a.Key, b.Key}}
	switch {
	case x.Job != y.Job:
		e.Label = LabelJob
	case x.Preemptible != y.Preemptible:
		e.Label = LabelPreemptible
	case a.Policy != b.Policy && (a.Policy == PreemptionNever || b.Policy == PreemptionNever):
		e.Label, e.Texts = policyName, [2]string{a.Policy, b.Policy}
		return e
	default:
		e.Label = LabelCanPreempt
	}
	e.Texts = [2]string{a.Labels[e.Label], b.Labels[e.Label]}
	return e
}
