// SPDX-License-Identifier: Apache-2.0

package preempttest

import (
	"errors"
	"slices"

	"github.com/go-preempt/preempt/victims"
)

// The contracts. An error of this package wraps the one that was found broken.
var (
	// errUnsteady: a question was answered differently when it was asked again.
	errUnsteady = errors.New("not the same answer when asked again")
	// errWrites: an argument was changed.
	errWrites = errors.New("changes what it was given")
	// errKeeps: an answer changed when memory did that the function had been
	// given for an earlier one.
	errKeeps = errors.New("keeps what it was given")

	// errEqual: equal inputs do not compare as 0.
	errEqual = errors.New("not 0 for equal inputs")
	// errBothWays: a is before b, and b is not after a.
	errBothWays = errors.New("not the opposite when asked the other way round")
	// errTransitive: a is before b and b before c, or a ties with b and b with
	// c, and that does not hold of a and c.
	errTransitive = errors.New("not transitive")

	// errPart: a set of victims costs less than a part of it.
	errPart = errors.New("a set costs less than a part of it")
	// errRefusal: some victims are refused, and a part of them is not.
	errRefusal = errors.New("a part is accepted of what is refused")

	// errAppend: what was there already is not at the beginning of the answer.
	errAppend = errors.New("does not append")
	// errElsewhere: what is named is no task or grant of the node.
	errElsewhere = errors.New("names what is not on the node")

	// errAgain: a task that was not exempt is so later.
	errAgain = errors.New("exempt again")
	// errEnd: an exemption does not end when it was said to.
	errEnd = errors.New("not the end that was said")
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
