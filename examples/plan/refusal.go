package main

import (
	"fmt"

	"github.com/go-preempt/preempt/victims"
)

// reasons are sentences for the words of a refusal. A %[1]s is the queue that
// it speaks of, a %[2]s the resource type.
var reasons = map[victims.Reason]string{
	victims.InFlight:         "a place is held for it, and it cannot start there yet",
	victims.MayNotPreempt:    "it must not preempt others",
	victims.TooEarly:         "it has not been pending for the preemption delay of its queue",
	victims.TooSoon:          "preemption was tried for it a short while ago",
	victims.OverMax:          "%[1]s is over its max of %[2]s already",
	victims.NotGuaranteed:    "no queue on its path is guaranteed anything that it asks for",
	victims.OverGuarantee:    "%[1]s uses all of the %[2]s that it is guaranteed",
	victims.HeadroomInside:   "only %[1]s itself could make room for more %[2]s under its max",
	victims.NothingInReach:   "no queue that it could take from is in reach",
	victims.NoVictims:        "no legal set of victims makes room",
	victims.PredicateRefused: "the nodes that could be made free are refused",
}

// rules are words for tasks that a rule kept from being victims.
var rules = [victims.NumRules]string{
	victims.RuleLeaving:      "leaving already",
	victims.RuleRequiredNode: "bound to a node",
	victims.RuleApplication:  "of the same application",
	victims.RuleFence:        "in its own queue or beyond its fence",
	victims.RuleDisabled:     "in queues where preemption is disabled",
	victims.RuleInside:       "inside the starving queue",
	victims.RulePriority:     "of higher effective priority",
	victims.RuleExempt:       "exempt",
	victims.RuleNotHelping:   "of no help with what is short",
	victims.RuleGuarantee:    "needed for a guarantee",
}

// refusal writes why there is no plan.
func (p page) refusal(f *victims.Refusal) {
	sentence := reasons[f.Reason]
	switch f.Reason {
	case victims.OverMax, victims.OverGuarantee, victims.HeadroomInside:
		sentence = fmt.Sprintf(sentence, p.queue(f.Queue), word(p.run.Document.Schema.Name(f.Type)))
	}
	p.printf("  refused (%v): %s\n", f.Reason, sentence)
	for rule, n := range f.Counts {
		if n > 0 {
			p.printf("    %d %s (%v)\n", n, rules[rule], victims.Rule(rule))
		}
	}
	if f.Candidates > 0 {
		p.printf("    %d could be taken\n", f.Candidates)
	}
	if f.HasClosest {
		p.printf("    closest: %s, which would still lack %s\n", p.node(f.Closest), p.amounts(f.Lacks))
	}
	if !f.RetryAt.IsZero() {
		p.printf("    try again at %s\n", instant(f.RetryAt))
	}
	if !f.Proven {
		p.printf("    not proven: the search took its whole step budget\n")
	}
}
