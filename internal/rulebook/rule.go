// SPDX-License-Identifier: Apache-2.0

package rulebook

import "slices"

// A Rule keeps a task from being a victim of an ask, a job or a quota. A task counts
// once, at the first rule in this order. What each of them means is told at victims.Count.
type Rule uint8

const (
	RuleLeaving Rule = 1 + iota
	RuleRequiredNode
	RuleApplication // law 3
	RuleFence       // law 7
	RuleDisabled
	RuleInside // storm freedom
	RuleNonPreemptible
	RulePriority // law 6
	RuleRefused
	RuleExempt
	RuleGang
	RuleNotHelping
	RuleBudget
	RuleGuarantee // law 2
	RuleOvershoot
	RuleEnforced
	RuleGranted

	NumRules // the number of rules, and one: an array of this length is indexed by Rule
)

// A RuleEntry is a row of the table of rules. Ask, Gang and Quota go on with a number of tasks or
// the name of one; they are "" if the rule is none of theirs. Picture is a sentence about one
// task, for the pictures of gangs and quotas.
type RuleEntry struct {
	Word             string // stable
	Law              string // the word that auditors have for it, in package finding; "" if none
	Ask, Gang, Quota string
	Picture          string
}

// ruleTable is all that is said of rules anywhere. What else has a list of them, tests of it
// hold against this one.
var ruleTable = [NumRules]RuleEntry{
	RuleLeaving:        {"leaving", "leaving", "leaving already", "leaving already", "", "it is leaving already"},
	RuleRequiredNode:   {"required-node", "required-task", "bound to a node", "bound to a node", "bound to a node", "it can run on this node only"},
	RuleApplication:    {"same-application", "application", "of the same application", "of the job or its application", "", "it is of the job, or of its application (law 3)"},
	RuleFence:          {"fence", "fence", "in the asking queue or beyond its fence", "in the job's queue or beyond its fence", "", "it is beyond the fence of the asking queue (law 7)"},
	RuleDisabled:       {"disabled", "disabled", "where preemption is disabled", "where preemption is disabled", "", "preemption is disabled in its queue"},
	RuleInside:         {"inside", "storm", "inside the starving queue", "inside the starving queue", "", "it is inside the starving queue"},
	RuleNonPreemptible: {"non-preemptible", "non-preemptible", "", "not preemptible", "", "it is not preemptible"},
	RulePriority:       {"priority", "priority", "too high in effective priority", "not lower in effective priority", "", "its effective priority is too high (law 6)"},
	RuleRefused:        {"refused", "refused", "unwilling to stop", "unwilling to stop", "unwilling to stop", "it would not stop"},
	RuleExempt:         {"exempt", "exempt", "exempt", "exempt", "", "it is exempt for now"},
	RuleGang:           {"gang", "gang", "", "needed by their jobs", "their jobs may not lose one more, and cannot go as a whole", "its job may not lose one more, or only as a whole"},
	RuleNotHelping:     {"not-helping", "helpful", "of no help with what is short", "of no help with what is short", "", "it has nothing of what has to go"},
	RuleBudget:         {"budget", "budget", "in a budget with nothing left", "more than a hard budget has left", "no more tasks of a hard budget may stop", "its budget has too little left"},
	RuleGuarantee:      {"guarantee", "guarantee", "needed for a guarantee", "needed for a guarantee", "needed for a guarantee", "its queue needs it for its guarantee (law 2)"},
	RuleOvershoot:      {"overshoot", "exact", "", "", "each task is more than what is still to be freed", "it is more than what is still to be freed"},
	RuleEnforced:       {"enforced", "enforced", "", "", "in queues that are being enforced already", "its queue is being enforced already"},
	RuleGranted:        {"granted", "", "", "", "granted to asks that have not started", "it is a place that is held"},
}

// String returns the stable word for the rule; of none, nothing.
func (r Rule) String() string { return ruleTable[r].Word }

// Entry returns the row of the rule.
func (r Rule) Entry() RuleEntry { return ruleTable[r] }

// RuleOf returns the row of a word; of none, the zero row.
func RuleOf(word string) RuleEntry {
	return ruleTable[max(slices.IndexFunc(ruleTable[:], func(e RuleEntry) bool { return e.Word == word }), 0)]
}

// RuleOfLaw returns the row of a law's word; of none, the zero row.
func RuleOfLaw(law string) RuleEntry {
	return ruleTable[max(slices.IndexFunc(ruleTable[:], func(e RuleEntry) bool { return e.Law == law }), 0)]
}
