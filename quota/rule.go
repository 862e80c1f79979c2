package quota

import (
	"github.com/go-preempt/preempt/internal/word"
)

// A Rule is what keeps a task, or a grant, from being taken if usage stays over
// max. Its String is a stable word.
type Rule uint8

const (
	RuleGuarantee    Rule = 1 + iota // it would take a queue below its guarantee (law 2)
	RuleBudget                       // too many of a hard budget would stop
	RuleGang                         // its job may not lose one more, and cannot go as a whole
	RuleOvershoot                    // it is larger than what is still to be freed, and Exact forbids that
	RuleEnforced                     // it is in a queue that is being enforced already
	RuleRequiredNode                 // it can run on its node only
	RuleGranted                      // it is an ask that was granted a place

	NumRules // the number of rules, and one: an array of this length is indexed by Rule
)

var ruleWords = word.Table{Of: "quota.Rule", Words: []string{
	RuleGuarantee:    "guarantee",
	RuleBudget:       "budget",
	RuleGang:         "gang",
	RuleOvershoot:    "overshoot",
	RuleEnforced:     "enforced",
	RuleRequiredNode: "required-node",
	RuleGranted:      "granted",
}}

// String returns the stable word for the rule.
func (r Rule) String() string { return ruleWords.Word(uint8(r)) }

// MarshalText returns the stable word for the rule, and nothing for 0. A number that
// has no word is an error.
func (r Rule) MarshalText() ([]byte, error) { return ruleWords.Text(uint8(r)) }

// UnmarshalText sets the rule whose text is given. Any other text is an error
// and changes nothing.
func (r *Rule) UnmarshalText(text []byte) error { return word.Set(r, ruleWords, text) }
