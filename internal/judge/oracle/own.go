// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// untouched are the refusals that the option of the own leaf changes nothing of.
var untouched = []string{"may-not-preempt", "too-early", "too-soon", "in-flight", "unknown-node"}

// mayTakeOwn reports whether the option of the own leaf is on and means
// anything: an ask that requires its node takes of its own leaf anyway.
func (j *judge) mayTakeOwn() bool { return j.o.OwnLeaf != "" && j.ask.RequiredNode == "" }

// owns reports whether the option is about the tasks of a leaf: of the ask's own, or of all
// inside the starving queue.
func (j *judge) owns(leaf string) bool {
	return leaf == j.ask.Queue || j.o.OwnLeaf == world.Branch && j.insideStarving(leaf)
}

// again returns the judge of the second decision, in which the tasks of the own
// leaf are candidates too.
func (j *judge) again() *judge {
	second := *j
	second.own = true
	return &second
}

// takesOwn reports whether somebody of the own leaf, or branch, is among the victims.
func (j *judge) takesOwn(victims []*world.Task) bool {
	return slices.ContainsFunc(victims, func(t *world.Task) bool { return j.owns(t.Queue) })
}

// decided returns the cheapest plan of the whole decision: the first, or with
// the option of the own leaf the second. It asks for no precondition that is a
// matter of time.
func (j *judge) decided() (best Cost, ok bool) {
	reason, _ := j.precondition()
	if reason == "" {
		best, ok = j.best()
	}
	if !ok && j.mayTakeOwn() && !slices.Contains(untouched, reason) {
		best, ok = j.again().best()
	}
	return best, ok
}
