package jobs

import (
	"time"

	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Reason says why there is no plan. Its String is a stable word.
type Reason uint8

const (
	// InFlight: members are leaving still, and without them the minimum cannot
	// be placed; or members hold grants and cannot start, for what their places
	// are taken from has not gone.
	InFlight Reason = 1 + iota
	// QuotaMin: a non-preemptible job would pass the min of a quota.
	QuotaMin
	// QuotaMax: the job would pass the max of a quota, and no victims may be
	// taken, or could be, to change that.
	QuotaMax
	// MayNotPreempt: the job must not preempt others.
	MayNotPreempt
	// TooEarly: the job is not pending for the preemption delay of its queue.
	TooEarly
	// TooSoon: preemption was tried for it less than an interval ago.
	TooSoon
	// OverMax: Queue is over its max already in a wanted type, Type.
	OverMax
	// NotGuaranteed: no queue of the path guarantees anything of what is wanted (law 4).
	NotGuaranteed
	// OverGuarantee: Queue, which governs Type, has its guarantee, or would have it before
	// the last member (law 4).
	OverGuarantee
	// HeadroomInside: the max of Queue at or below the needy queue is short of Type. Only
	// tasks inside the needy queue could make room there.
	HeadroomInside
	// NothingInReach: no leaf that is in reach (law 7) and enabled lies outside the needy
	// queue.
	NothingInReach
	// NoVictims: no legal set of victims makes room for all members.
	NoVictims
	// PredicateRefused: legal sets make room, and the caller's predicate
	// refused those that were tried.
	PredicateRefused
	// NoDomain: no node is in a domain of the depth that the job requires, or
	// members are placed in different ones, or in none.
	NoDomain
	// Unlawful: the plan that was found did not pass the audit, which happens
	// if the caller's functions answer differently when asked again.
	Unlawful

	numReasons
)

var reasonWords = word.Table{Of: "jobs.Reason", Words: []string{
	InFlight:         "in-flight",
	QuotaMin:         "quota-min",
	QuotaMax:         "quota-max",
	MayNotPreempt:    "may-not-preempt",
	TooEarly:         "too-early",
	TooSoon:          "too-soon",
	OverMax:          "over-max",
	NotGuaranteed:    "not-guaranteed",
	OverGuarantee:    "over-guarantee",
	HeadroomInside:   "headroom-inside",
	NothingInReach:   "nothing-in-reach",
	NoVictims:        "no-victims",
	PredicateRefused: "predicate",
	NoDomain:         "domain",
	Unlawful:         "unlawful",
}}

// String returns the stable word for the reason.
func (r Reason) String() string { return reasonWords.Word(uint8(r)) }

// MarshalText returns the stable word for the reason, and nothing for 0. A number that
// has no word is an error.
func (r Reason) MarshalText() ([]byte, error) { return reasonWords.Text(uint8(r)) }

// UnmarshalText sets the reason whose text is given. Any other text is an error
// and changes nothing.
func (r *Reason) UnmarshalText(text []byte) error { return word.Set(r, reasonWords, text) }

// A Rule is what keeps a task from being a victim. A task is counted once, at
// the first rule that does, in this order. If package victims has the rule,
// the word is the same.
type Rule uint8

const (
	RuleLeaving        Rule = 1 + iota // it is going already
	RuleRequiredNode                   // it can run on its node only
	RuleApplication                    // it is of the job, or of its application (law 3)
	RuleFence                          // it is outside the fence of the job's leaf (law 7)
	RuleDisabled                       // its queue is disabled
	RuleInside                         // it is inside the needy queue (storm freedom)
	RuleNonPreemptible                 // no job may take it
	RulePriority                       // its effective priority is not lower (law 6)
	RuleExempt                         // the caller exempts it
	RuleGang                           // its job needs it, and cannot be stopped as a whole
	RuleNotHelping                     // it runs neither on a node for members nor below a max that is short
	RuleBudget                         // it, or the job with which it goes, is more than a hard budget has left
	// RuleGuarantee: it, or the job with which it goes, would take a queue below
	// its guarantee (law 2). If law 2 is why there is no plan, this counts too
	// who could go alone but not together with the others that could.
	RuleGuarantee

	NumRules // the number of rules, and one: an array of this length is indexed by Rule
)

var ruleWords = word.Table{Of: "jobs.Rule", Words: []string{
	RuleLeaving:        "leaving",
	RuleRequiredNode:   "required-node",
	RuleApplication:    "same-application",
	RuleFence:          "fence",
	RuleDisabled:       "disabled",
	RuleInside:         "inside",
	RuleNonPreemptible: "non-preemptible",
	RulePriority:       "priority",
	RuleExempt:         "exempt",
	RuleGang:           "gang",
	RuleNotHelping:     "not-helping",
	RuleBudget:         "budget",
	RuleGuarantee:      "guarantee",
}}

// String returns the stable word for the rule.
func (r Rule) String() string { return ruleWords.Word(uint8(r)) }

// MarshalText returns the stable word for the rule, and nothing for 0. A number that
// has no word is an error.
func (r Rule) MarshalText() ([]byte, error) { return ruleWords.Text(uint8(r)) }

// UnmarshalText sets the rule whose text is given. Any other text is an error
// and changes nothing.
func (r *Rule) UnmarshalText(text []byte) error { return word.Set(r, ruleWords, text) }

// A Refusal says why there is no plan for a job, what is missing (the Breaches of formulas, the
// rules that keep candidates, the domain that came closest), and what could change the answer.
// Time may as RetryAt says, and Help says what else.
type Refusal struct {
	Reason Reason
	// Queue and Type say what the reason is about, of OverMax, OverGuarantee and
	// HeadroomInside. Also is one of these, or NotGuaranteed, if it is what kept the job
	// from others: Reason then tells why its own leaf does not help either, and Queue and
	// Type are about Also. 0 if there is none.
	// OwnLeaf is set if reason and counts are those of the stage of the own leaf.
	Queue   queue.ID
	Type    int
	Also    Reason
	OwnLeaf bool
	// Breaches are the formulas that keep the job out, if the reason is
	// QuotaMin or QuotaMax: queue by queue, the leaf's first.
	Breaches []Breach
	// Counts has, for each rule, the number of tasks that it kept from being
	// victims, and Candidates the number that no rule did. They are counted
	// only if candidates were looked for, which is after the formulas and
	// MayNot let the job preempt.
	Counts     [NumRules]int
	Candidates int
	// Filtered is how many nodes the filter refuses to every member that is to
	// be placed, of those that take new tasks and are not reserved for others.
	Filtered int
	// Placeable is how many of the Wanted members would have a plan: the first
	// in their order. It is looked for if Counts is set.
	Placeable, Wanted int
	// Domain names the domain that came closest, if the job requires one: with
	// everybody gone who could it has room for the most members, counted with the
	// largest first; of equals it is the first in node order. DomainRoom is how
	// many members that is, and DomainLacks is what all others ask for together.
	Domain      []string
	DomainRoom  int
	DomainLacks resources.Vector
	// RetryAt of TooEarly and TooSoon is when neither is so. Else it is the first instant
	// at which, all else equal, there is a plan because exemptions have ended. It is zero
	// if time does not help.
	RetryAt time.Time
	// Help says what else has to happen before the answer can change. A plan for a job may
	// use all nodes and queues at once. So once victims were looked for, it is anything; and
	// before that it is what lets the job look for them, or have room.
	Help victims.Help
	// Proven is set if no plan exists; else none was found within the budget. Steps
	// are the elementary steps of the searches; see Planner.Budget.
	Proven bool
	Steps  int64
}
