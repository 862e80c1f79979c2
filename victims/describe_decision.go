package victims

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
)

// decision writes a line that says it all, and what is to be said of a plan or
// a refusal below it.
func (w writer) decision(d *Decision) string {
	ask := fmt.Sprintf("%s (%s, %s)", plain.Name(d.Plan.Ask.Key), plain.Name(d.Plan.Path), w.amounts(d.Plan.Ask.Size))
	node := func() string { return plain.Name(d.Plan.Place) }
	switch d.Outcome {
	case Fits:
		return fmt.Sprintf("%s fits on %s\n", ask, node())
	case Waits:
		return fmt.Sprintf("%s waits on %s for what is leaving already\n", ask, node())
	case 0:
		return "nothing is decided\n"
	// The plan speaks for itself: names and amounts were noted in it when it
	// was made, and hold when its victims have gone.
	case Preempts:
		return fmt.Sprintf("%s runs on %s once these have stopped:\n%s", ask, node(), w.plan(&d.Plan))
	}
	return fmt.Sprintf("%s is %s", ask, w.refusal(d))
}

// plan writes a line for each victim, and what they cost.
func (w writer) plan(p *Plan) string {
	var b strings.Builder
	for i := range p.Victims {
		// The order is that of the plan, by key: who compares two texts sees
		// what changed and not how a search went.
		v := &p.Victims[i]
		fmt.Fprintf(&b, "  %s on %s (%s, %s, priority %d, rank %d%s)%s\n", plain.Name(v.Key),
			plain.Name(v.Place), plain.Name(v.Path), w.amounts(v.Size), v.Priority, v.Rank, v.remarks(), v.purpose())
	}
	// Indented, so that the cost reads as part of the list and a reader of
	// lines can tell it from the next decision.
	for line := range strings.Lines(p.DescribeCost()) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// remarks says what makes a victim costly to stop.
func (v *Victim) remarks() (s string) {
	if v.OptedOut {
		s += ", opted out"
	}
	if v.Originator {
		s += ", originator"
	}
	return s
}

// Purpose says why a victim is stopped: it makes room "on the node", "under a
// max" or "on the node and under a max", it "blocks the node", or it goes "with
// its job".
func (v *Victim) Purpose() string {
	switch {
	case v.Blocks:
		return "blocks the node"
	case v.ForNode && v.ForHeadroom:
		return "on the node and under a max"
	case v.ForHeadroom:
		return "under a max"
	case v.ForNode:
		return "on the node"
	}
	return "with its job"
}

// purpose is Purpose as the end of a sentence.
func (v *Victim) purpose() string {
	switch {
	case v.Blocks:
		return ", which blocks the node"
	case v.ForNode || v.ForHeadroom:
		return " for room " + v.Purpose()
	}
	return " " + v.Purpose()
}

// DescribeCost writes what a plan costs, and whether another might cost less,
// on a line each.
func (p *Plan) DescribeCost() string {
	// What was shown is said with care: a plan that is only the best found must
	// not read like the best there is.
	proof := "no legal plan costs less"
	switch p.Proof {
	case ProofLevels:
		proof = "no lawful plan stops fewer or less important tasks; " + counted(p.Steps, "step")
	case NoProof:
		proof = "the best that was found, in " + counted(p.Steps, "step")
	}
	return fmt.Sprintf("cost: %v\n%s\n", &p.Cost, proof)
}

func (w writer) refusal(d *Decision) string {
	var b strings.Builder
	r := &d.Refusal
	fmt.Fprintf(&b, "refused (%v): %s\n", r.Reason, w.because(d, r.Reason))
	if r.Also != 0 {
		fmt.Fprintf(&b, "  of other queues it may take nothing (%v): %s\n", r.Also, w.because(d, r.Also))
	}
	// In the order of rules, in which each task is counted once, so that the
	// numbers add up to the tasks looked at.
	for rule, n := range r.Counts {
		if n > 0 {
			fmt.Fprintf(&b, "  %d %s (%v)\n", n, ruleTexts[rule], Rule(rule))
		}
	}
	if r.Filtered > 0 {
		fmt.Fprintf(&b, "  %s on which it may not run (filter)\n", counted(r.Filtered, "node"))
	}
	if len(r.WaitsFor) > 0 {
		fmt.Fprintf(&b, "  it waits for %s\n", plain.Names(r.WaitsFor))
	}
	if r.Candidates > 0 {
		fmt.Fprintf(&b, "  %d could be taken\n", r.Candidates)
	}
	for _, name := range r.Scarce {
		fmt.Fprintf(&b, "  but not all of those in the budget %s, which has too little left (budget)\n", plain.Name(name))
	}
	// The node is named though it does not do: it tells which amount to look
	// at, which a count of rules does not.
	if r.HasClosest {
		fmt.Fprintf(&b, "  closest: %s, %s\n", w.nodeName(r.Closest), w.wouldLack(r))
	}
	if !r.RetryAt.IsZero() {
		fmt.Fprintf(&b, "  try again at %s\n", r.RetryAt.Format(time.RFC3339Nano))
	}
	// Said last, and always: what was not searched to its end may have a plan.
	if !r.Proven {
		fmt.Fprintf(&b, "  not proven: no plan was found in %s\n", counted(r.Steps, "step"))
	}
	return b.String()
}

// help writes what would help.
func (w writer) help(h *Help) string {
	var all []string
	add := func(named bool, text string) {
		if named {
			all = append(all, text)
		}
	}
	add(h.AnyNode, "room on any node")
	add(h.Node != "", "room on "+plain.Name(h.Node))
	for _, q := range h.Less {
		add(true, "less usage of "+w.queueName(q))
	}
	for _, q := range h.More {
		add(true, "more usage of "+w.queueName(q))
	}
	for _, name := range h.Budgets {
		add(true, "more left in the budget "+plain.Name(name))
	}
	add(h.Time, "time")
	add(h.Bounds, "other bounds")
	add(h.Policies, "other policies")
	add(h.Priorities, "other priorities")
	add(h.Labels, "other labels")
	return "what would help: " + strings.Join(all, ", ") + "\n"
}

// wouldLack says what the closest node would lack.
func (w writer) wouldLack(r *Refusal) string {
	switch {
	// Amounts first, for they can be acted on.
	case !resources.IsZero(r.Lacks):
		return "which would still lack " + w.amounts(r.Lacks)
	case r.Reason == PredicateRefused:
		return "which would lack nothing"
	}
	return "which would lack nothing if all of them could be taken at once"
}

// because says what the reason of a refusal means here.
func (w writer) because(d *Decision, reason Reason) string {
	r, leaf := &d.Refusal, d.Plan.Ask.Queue
	// One sentence per reason, about the queue or node that it names: what
	// would have to be otherwise, rather than which law speaks.
	switch reason {
	case InFlight:
		return "a place is held for it, and it cannot start there yet"
	case UnknownNode:
		return fmt.Sprintf("the node %s that it requires is not in the cluster", plain.Name(d.Plan.Ask.RequiredNode))
	case Unlawful:
		return "a plan was found that breaks a law, which is a defect of the planner"
	case MayNotPreempt:
		return "it must not preempt others"
	case TooEarly:
		return fmt.Sprintf("it has not been pending for %v, the preemption delay of its queue", w.c.tree.PreemptionDelay(leaf))
	case TooSoon:
		return "preemption was tried for it a short while ago"
	case OverMax:
		return fmt.Sprintf("%s is over its max of %s already", w.queueName(r.Queue), w.bound(w.c.tree.Max(r.Queue), r.Type))
	case NotGuaranteed:
		return "no queue on its path is guaranteed anything that it asks for"
	case OverGuarantee:
		return fmt.Sprintf("%s uses all of its guaranteed %s", w.queueName(r.Queue), w.bound(w.c.tree.Guaranteed(r.Queue), r.Type))
	case HeadroomInside:
		return fmt.Sprintf("it would exceed the max of %s, %s, and only tasks inside the starving queue could make room there",
			w.queueName(r.Queue), w.bound(w.c.tree.Max(r.Queue), r.Type))
	case NothingInReach:
		return "no queue that it could take from is in reach"
	case PredicateRefused:
		return "the predicate refuses the nodes that could be made free"
	}
	return "no legal set of victims makes room"
}

// ruleTexts say of tasks what a rule says of them.
//
// They are parts of sentences, after a number or after the name of a task.
// Words of rules are stable, and these are not: they may get better.
var ruleTexts = [NumRules]string{
	RuleLeaving:      "leaving already",
	RuleRequiredNode: "bound to a node",
	RuleApplication:  "of the same application",
	RuleFence:        "in the asking queue or beyond its fence",
	RuleDisabled:     "where preemption is disabled",
	RuleInside:       "inside the starving queue",
	RulePriority:     "too high in effective priority",
	RuleExempt:       "exempt",
	RuleNotHelping:   "of no help with what is short",
	RuleBudget:       "in a budget with nothing left",
	RuleGuarantee:    "needed for a guarantee",
}
