package victims

import (
	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
)

// A Relaxable is a rule that can be relaxed alone to see whether it was the
// one that stood in the way. Its String is a stable word.
type Relaxable uint8

const (
	RelaxMayNot        Relaxable = 1 + iota // the ask must not preempt others
	RelaxDelay                              // the preemption delay of its queue
	RelaxInterval                           // the interval between attempts
	RelaxUngoverned                         // no type of the ask is governed (law 4)
	RelaxTrigger                            // Queue is not under its guarantee (law 4)
	RelaxInside                             // nothing inside the starving queue (storm freedom)
	RelaxMax                                // the max of Queue, in every type
	RelaxFence                              // the preemption policy of Queue is fence, not default (law 7)
	RelaxDisabled                           // the preemption policy of Queue is disabled, not default
	RelaxGuarantee                          // the guarantee of Queue, in every type (law 2)
	RelaxBudget                             // the hard budget of the name Budget
	RelaxUnschedulable                      // Node takes no new tasks
	RelaxReservation                        // Node is reserved for another
	RelaxApplication                        // Task is of the ask's application (law 3)
	RelaxPriority                           // the effective priority of Task (law 6)
	RelaxExemption                          // the caller exempts Task
	RelaxRequiredNode                       // Task can run on its node only

	numRelaxables
)

var relaxableWords = word.Table{Of: "victims.Relaxable", Words: []string{
	RelaxMayNot:        "may-not-preempt",
	RelaxDelay:         "delay",
	RelaxInterval:      "interval",
	RelaxUngoverned:    "not-guaranteed",
	RelaxTrigger:       "over-guarantee",
	RelaxInside:        "inside",
	RelaxMax:           "max",
	RelaxFence:         "fence",
	RelaxDisabled:      "disabled",
	RelaxGuarantee:     "guarantee",
	RelaxBudget:        "budget",
	RelaxUnschedulable: "unschedulable",
	RelaxReservation:   "reservation",
	RelaxApplication:   "same-application",
	RelaxPriority:      "priority",
	RelaxExemption:     "exempt",
	RelaxRequiredNode:  "required-node",
}}

// String returns the stable word for the rule.
func (r Relaxable) String() string { return relaxableWords.Word(uint8(r)) }

// MarshalText returns the stable word for the rule, and nothing for 0. A number that
// has no word is an error.
func (r Relaxable) MarshalText() ([]byte, error) { return relaxableWords.Text(uint8(r)) }

// UnmarshalText sets the rule whose text is given. Any other text is an error
// and changes nothing.
func (r *Relaxable) UnmarshalText(text []byte) error { return word.Set(r, relaxableWords, text) }

// A Relaxation is one rule, and the queue, node or task that it is about if
// it is about one.
type Relaxation struct {
	Rule   Relaxable
	Queue  queue.ID
	Node   NodeID
	Task   TaskID
	Budget string
}

// The methods below ask whether a rule is relaxed. In a decision the zero
// Relaxation relaxes nothing.

func (r Relaxation) rule(rule Relaxable) bool { return r.Rule == rule }

func (r Relaxation) queue(rule Relaxable, q queue.ID) bool { return r.Rule == rule && r.Queue == q }

func (r Relaxation) node(rule Relaxable, n NodeID) bool { return r.Rule == rule && r.Node == n }

func (r Relaxation) budget(name string) bool { return r.Rule == RelaxBudget && r.Budget == name }

func (r Relaxation) task(rule Relaxable, id TaskID) bool { return r.Rule == rule && r.Task == id }

// waives reports whether an obstacle at a queue does not count.
func (r Relaxation) waives(o trigger.Obstacle, q queue.ID) bool {
	switch o {
	case trigger.MayNot:
		return r.rule(RelaxMayNot)
	case trigger.Early:
		return r.rule(RelaxDelay)
	case trigger.Soon:
		return r.rule(RelaxInterval)
	case trigger.OverMax:
		return r.queue(RelaxMax, q)
	case trigger.NotGuaranteed:
		return r.rule(RelaxUngoverned)
	case trigger.OverGuarantee:
		return r.queue(RelaxTrigger, q)
	}
	return r.rule(RelaxInside) // without storm freedom nothing is inside
}

// opens reports whether leaf w, which is outside the fence of asking, would
// be inside without the fence that is relaxed.
func (r Relaxation) opens(t *queue.Tree, asking, w queue.ID) bool {
	if r.Rule != RelaxFence || w == asking || r.Queue != fence.Root(t, asking) {
		return false
	}
	parent, ok := t.Parent(r.Queue)
	return ok && t.Contains(fence.Root(t, parent), w)
}

// enables reports whether leaf w, which is disabled, would not be without the
// policy that is relaxed.
func (r Relaxation) enables(t *queue.Tree, w queue.ID) bool {
	return r.Rule == RelaxDisabled && r.Queue == disabledBy(t, w)
}

// disabledBy returns the queue whose policy disables q: the nearest upwards.
func disabledBy(t *queue.Tree, q queue.ID) queue.ID {
	for a := range t.Up(q) {
		if t.PreemptionPolicy(a) == queue.PreemptionDisabled {
			return a
		}
	}
	return q
}
