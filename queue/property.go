package queue

import (
	"errors"
	"fmt"
	"time"
)

// The property names of a queue, as YuniKorn's configuration spells them. YuniKorn
// has no fair weight.
//
// A bad value counts as unset; a bad preemption delay counts as
// [DefaultPreemptionDelay]. Both are among [Tree.Warnings]. So is an unknown name
// that begins like one of these.
const (
	PropertyPreemptionPolicy     = "preemption.policy"      // default, fence or disabled
	PropertyPreemptionDelay      = "preemption.delay"       // a Go duration, 0 or above
	PropertyPriorityPolicy       = "priority.policy"        // default or fence
	PropertyPriorityOffset       = "priority.offset"        // an int32
	PropertyQuotaPreemptionDelay = "quota.preemption.delay" // a Go duration or bare seconds; 0 is off
	PropertyFairWeight           = "fair.weight"            // an integer from 1 to 2147483647
)

// DefaultPreemptionDelay is the preemption delay of a leaf if no queue of its
// path sets one, or if the nearest one that does sets a bad value.
const DefaultPreemptionDelay = 30 * time.Second

// A PreemptionPolicy says what preemption may look at across a queue.
type PreemptionPolicy uint8

const (
	// PreemptionDefault lets the asks of a queue look out, and those of others
	// look in.
	PreemptionDefault PreemptionPolicy = iota
	// PreemptionFence keeps asks from below the queue from looking out of it.
	PreemptionFence
	// PreemptionDisabled protects the tasks of the queue, and of those below
	// it until one sets a policy of its own.
	PreemptionDisabled
)

// String returns the policy as [PropertyPreemptionPolicy] spells it.
func (p PreemptionPolicy) String() string {
	switch p {
	case PreemptionDefault:
		return "default"
	case PreemptionFence:
		return "fence"
	case PreemptionDisabled:
		return "disabled"
	}
	return fmt.Sprintf("PreemptionPolicy(%d)", uint8(p))
}

// A PriorityPolicy says what a queue does to the priorities of the tasks below it.
type PriorityPolicy uint8

const (
	// PriorityDefault adds the queue's offset.
	PriorityDefault PriorityPolicy = iota
	// PriorityFence replaces the priority by the queue's offset.
	PriorityFence
)

// String returns the policy as [PropertyPriorityPolicy] spells it.
func (p PriorityPolicy) String() string {
	switch p {
	case PriorityDefault:
		return "default"
	case PriorityFence:
		return "fence"
	}
	return fmt.Sprintf("PriorityPolicy(%d)", uint8(p))
}

// ErrProperty is what a warning about a property value wraps.
var ErrProperty = errors.New("bad property")

// PreemptionPolicy returns the queue's own policy. The root's is always the
// default: a preemption policy on the root has no effect. Whether the tasks of
// a queue are protected is a question for [Tree.Disabled].
func (t *Tree) PreemptionPolicy(q ID) PreemptionPolicy { return t.policies[t.known(q)].preemption }

// Disabled reports whether the tasks of q are protected from preemption: its
// nearest queue upwards with a preemption policy of its own has
// [PreemptionDisabled]. Asks of q may preempt all the same.
func (t *Tree) Disabled(q ID) bool { return t.policies[t.known(q)].disabled }

// PreemptionDelay returns how long an ask of leaf q must be pending before it
// may preempt. The nearest queue from q upwards that sets a delay decides. 0
// means no delay. A value there that is bad or negative means
// [DefaultPreemptionDelay], and not what a queue further up says.
func (t *Tree) PreemptionDelay(q ID) time.Duration { return t.policies[t.known(q)].delay }

// PriorityPolicy returns the queue's own policy; it is not inherited.
func (t *Tree) PriorityPolicy(q ID) PriorityPolicy { return t.policies[t.known(q)].priority }

// PriorityOffset returns the queue's own offset; it is not inherited.
func (t *Tree) PriorityOffset(q ID) int32 { return t.policies[t.known(q)].offset }

// QuotaPreemptionDelay returns how long after its max was lowered the queue's
// quota is enforced by preemption. 0 means never. It is not inherited.
func (t *Tree) QuotaPreemptionDelay(q ID) time.Duration {
	return t.policies[t.known(q)].quotaPreemption
}

// FairWeight returns the weight of q among its siblings when [FairShares] are
// dealt: 1 if the queue sets none. It is not inherited, and the root's plays no
// part.
func (t *Tree) FairWeight(q ID) int32 { return t.policies[t.known(q)].weight }

// Dynamic reports whether the queue was marked as created at run time.
func (t *Tree) Dynamic(q ID) bool { return t.policies[t.known(q)].dynamic }
