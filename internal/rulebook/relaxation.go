// SPDX-License-Identifier: Apache-2.0

package rulebook

// A Relaxation is a row of the table of what can be relaxed alone, to see whether it stood in the
// way. Text says what would have to be otherwise, with a %s for what it is about. The conditional
// is meant: the plan would then exist, but nobody says that the rule ought to go.
type Relaxation struct {
	Word     string // stable
	Subject  Subject
	Text     string
	Obstacle string // a reason at the gate that counts no more
	Property string // of a queue, which makes the rule
	Free     string // a value with which it keeps nobody
}

// A Subject is what a rule that can be relaxed is about.
type Subject uint8

const (
	OfAsk Subject = iota
	OfQueue
	OfNode
	OfTask
	OfBudget
)

// The words of what can be relaxed, beside caps.
const (
	RelaxMayNot        = "may-not-preempt"  // the ask must not preempt others
	RelaxDelay         = "delay"            // the preemption delay of its queue
	RelaxInterval      = "interval"         // the interval between attempts
	RelaxUngoverned    = "not-guaranteed"   // no type of the ask is governed (law 4)
	RelaxTrigger       = "over-guarantee"   // the queue is not under its guarantee (law 4)
	RelaxInside        = "inside"           // nothing inside the starving queue (storm freedom)
	RelaxMax           = "max"              // the max of the queue, in every type
	RelaxFence         = "fence"            // the preemption policy of the queue is fence, not default (law 7)
	RelaxDisabled      = "disabled"         // the preemption policy of the queue is disabled, not default
	RelaxGuarantee     = "guarantee"        // the guarantee of the queue, in every type (law 2)
	RelaxBudget        = "budget"           // the hard budget of the name
	RelaxUnschedulable = "unschedulable"    // the node takes no new tasks
	RelaxReservation   = "reservation"      // the node is reserved for another
	RelaxApplication   = "same-application" // the task is of the ask's application (law 3)
	RelaxPriority      = "priority"         // the effective priority of the task (law 6)
	RelaxExemption     = "exempt"           // the caller exempts the task
	RelaxRequiredNode  = "required-node"    // the task can run on its node only
)

// relaxations are in the order in which they are tried and told.
var relaxations = [...]Relaxation{
	{RelaxMayNot, OfAsk, "if it might preempt others", MayNotPreempt, "", ""},
	{RelaxDelay, OfAsk, "without the preemption delay of its queue", TooEarly, "", ""},
	{RelaxInterval, OfAsk, "without the interval between attempts", TooSoon, "", ""},
	{RelaxUngoverned, OfAsk, "if it needed no guarantee", NotGuaranteed, "", ""},
	{RelaxTrigger, OfQueue, "if %s were under its guarantee", OverGuarantee, "", ""},
	// Here are the caps.
	{RelaxInside, OfAsk, "if it might take from inside the starving queue", HeadroomInside, "", ""},
	{RelaxMax, OfQueue, "without the max of %s", OverMax, "", ""},
	{RelaxFence, OfQueue, "without the fence of %s", "", "preemption.policy", "default"},
	{RelaxDisabled, OfQueue, "if preemption were not disabled in %s", "", "preemption.policy", "default"},
	{RelaxGuarantee, OfQueue, "without the guarantee of %s", "", "", ""},
	{RelaxBudget, OfBudget, "if the budget %s had more left", "", "", ""},
	{RelaxUnschedulable, OfNode, "if %s were schedulable", "", "", ""},
	{RelaxReservation, OfNode, "if %s were not reserved", "", "", ""},
	{RelaxApplication, OfTask, "if %s were of another application", "", "", ""},
	{RelaxPriority, OfTask, "if %s were low enough in effective priority", "", "", ""},
	{RelaxExemption, OfTask, "if %s were not exempt", "", "", ""},
	{RelaxRequiredNode, OfTask, "if %s were not bound to its node", "", "", ""},
}

// Relaxations returns all of them, in the order in which they are tried and told.
func Relaxations() (all []Relaxation) {
	for _, x := range relaxations {
		if x.Word == RelaxInside {
			for i := range capTable {
				all = append(all, relaxationOf(Cap(i)))
			}
		}
		all = append(all, x)
	}
	return all
}

func relaxationOf(c Cap) Relaxation {
	return Relaxation{Word: capTable[c].Word, Text: "without the cap on " + capTable[c].Noun + "s"}
}

// RelaxationOf returns the row of a word; of none, the zero row.
func RelaxationOf(word string) Relaxation {
	for i := range relaxations {
		if relaxations[i].Word == word {
			return relaxations[i]
		}
	}
	if c, capped := CapOf(word); capped {
		return relaxationOf(c)
	}
	return Relaxation{}
}
