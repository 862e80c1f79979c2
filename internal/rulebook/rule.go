// SPDX-License-Identifier: Apache-2.0

package rulebook

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

var ruleWords = [NumRules]string{
	RuleLeaving:        "leaving",
	RuleRequiredNode:   "required-node",
	RuleApplication:    "same-application",
	RuleFence:          "fence",
	RuleDisabled:       "disabled",
	RuleInside:         "inside",
	RuleNonPreemptible: "non-preemptible",
	RulePriority:       "priority",
	RuleRefused:        "refused",
	RuleExempt:         "exempt",
	RuleGang:           "gang",
	RuleNotHelping:     "not-helping",
	RuleBudget:         "budget",
	RuleGuarantee:      "guarantee",
	RuleOvershoot:      "overshoot",
	RuleEnforced:       "enforced",
	RuleGranted:        "granted",
}

// String returns the stable word for the rule; of none, nothing.
func (r Rule) String() string { return ruleWords[r] }
