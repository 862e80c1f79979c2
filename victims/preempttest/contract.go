package preempttest

import (
	"errors"
	"slices"

	"github.com/go-preempt/preempt/victims"
)

// The contracts. An error of this package wraps the one that was found broken.
var (
	// ErrUnsteady: a question was answered differently when it was asked again.
	ErrUnsteady = errors.New("not the same answer when asked again")
	// ErrWrites: an argument was changed.
	ErrWrites = errors.New("changes what it was given")
	// ErrKeeps: an answer changed when memory did that the function had been
	// given for an earlier one.
	ErrKeeps = errors.New("keeps what it was given")

	// ErrEqual: equal inputs do not compare as 0.
	ErrEqual = errors.New("not 0 for equal inputs")
	// ErrBothWays: a is before b, and b is not after a.
	ErrBothWays = errors.New("not the opposite when asked the other way round")
	// ErrTransitive: a is before b and b before c, or a ties with b and b with
	// c, and that does not hold of a and c.
	ErrTransitive = errors.New("not transitive")

	// ErrPart: a set of victims costs less than a part of it.
	ErrPart = errors.New("a set costs less than a part of it")
	// ErrRefusal: some victims are refused, and a part of them is not.
	ErrRefusal = errors.New("a part is accepted of what is refused")

	// ErrAppend: what was there already is not at the beginning of the answer.
	ErrAppend = errors.New("does not append")
	// ErrElsewhere: what is named is no task or grant of the node.
	ErrElsewhere = errors.New("names what is not on the node")

	// ErrAgain: a task that was not exempt is so later.
	ErrAgain = errors.New("exempt again")
	// ErrEnd: an exemption does not end when it was said to.
	ErrEnd = errors.New("not the end that was said")
)

// cloneTask and cloneAsk return a copy that shares no memory.
func cloneTask(t *victims.Task) victims.Task {
	c := *t
	c.Size, c.Budgets = slices.Clone(t.Size), slices.Clone(t.Budgets)
	return c
}

func cloneAsk(a *victims.Ask) victims.Ask {
	c := *a
	c.Size, c.Budgets = slices.Clone(a.Size), slices.Clone(a.Budgets)
	return c
}
