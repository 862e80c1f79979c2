// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"time"

	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A TaskID is the row of a task or grant in its [Cluster], from its addition to its
// removal. Then another task may get it.
type TaskID int32

// A NodeID is the row of a node in its [Cluster], from its addition to its removal.
// Then another node may get it.
type NodeID int32

// A State says what a task is doing.
type State uint8

const (
	// Running tasks use their queue and node, and may be victims.
	Running State = iota
	// Releasing tasks end by themselves. Their amounts are leaving.
	Releasing
	// Preempting tasks were told to stop. Their amounts are leaving.
	Preempting
	// Granted is an ask with a place: usage of its queue and node until it starts or
	// is dropped, and never a victim.
	Granted
)

var stateWords = word.Table{Of: "victims.State", Words: []string{Running: "running", Releasing: "releasing", Preempting: "preempting", Granted: "granted"}}

// String returns the name of the state in lower case.
func (s State) String() string { return stateWords.Word(uint8(s)) }

// leaving reports whether the amounts of a task in the state are about to go.
func (s State) leaving() bool { return s == Releasing || s == Preempting }

// A Task is something that runs on a node on behalf of a leaf queue.
type Task struct {
	Key         string   // unique among the tasks and grants of a cluster
	Name        string   // for people; may be ""
	Tag         uint64   // the caller's
	Application string   // "" is none; two tasks without one share nothing
	Queue       queue.ID // a leaf
	Node        NodeID   // where it runs
	// NodeName names the node instead. An unknown one is closed until it is added.
	NodeName   string
	Size       resources.Vector
	Priority   int32     // raw; a larger one is more important
	Created    time.Time // zero: not known, and before all others
	Scheduled  time.Time // when it was placed; zero: not yet, it is nominated only
	Checkpoint time.Time // of its last checkpoint; zero: none
	State      State

	Originator   bool // the first task of its application, without which the others are lost
	OptedOut     bool // allow-preemption: false (law 1)
	RequiredNode bool // it can run on its node only

	// Job is the job that the task is a member of, or ""; see Rules.Minimum.
	Job string
	// NonPreemptible: no other job may take it. Asks and quotas may.
	NonPreemptible bool

	// Cost is what stopping the task costs, 0 or more. It counts after ranks,
	// priorities and stopped jobs.
	Cost int64
	// Budgets names each [Budget] that stopping the task draws on, once.
	Budgets []string
}

// Lost returns the running time that stopping the task at an instant loses, in
// nanoseconds: since it was scheduled, or last saved if that is later; 0 if that is
// unknown or in the future.
func (t *Task) Lost(now time.Time) uint64 {
	since := t.Scheduled
	if t.Checkpoint.After(since) {
		since = t.Checkpoint
	}
	if t.Scheduled.IsZero() || since.After(now) {
		return 0
	}
	from, held := nanos(since)
	to, ok := nanos(now)
	if !held || !ok {
		return uint64(now.Sub(since)) // which saturates
	}
	// The difference of two int64 fits uint64, wherever zero lies.
	return uint64(to) - uint64(from)
}

// A Node is a place where tasks run.
type Node struct {
	Name          string
	Capacity      resources.Vector
	Unschedulable bool   // takes no new tasks, except of asks that require it
	ReservedFor   string // the key of the ask it is kept for, or ""

	// Penalty is what choosing the node costs: of plans that are alike otherwise, the
	// smaller is better.
	Penalty int64
	// Domains are what the node is in, the widest first: block, rack. See DESIGN.md,
	// Domains.
	Domains []string
	Tag     uint64 // the caller's
}

// An Ask is a task that has no node yet.
type Ask struct {
	Key          string
	Name         string // for people; may be ""
	Tag          uint64 // the caller's
	Application  string
	Queue        queue.ID // a leaf
	Size         resources.Vector
	Priority     int32
	PendingSince time.Time // since when it waits; zero: for ever, so no delay holds it back
	LastAttempt  time.Time // when preemption was last tried for it; zero: never
	// RequiredNode is the name of the only node it can run on, or "". Laws 2, 4, 5 and
	// 7, delays and disabled queues do not bind such an ask, and law 6 compares raw
	// priorities. See DESIGN.md, Required nodes.
	RequiredNode string
	MayNot       bool // must not preempt others
	Class        int  // of asks that the filter treats alike; see Rules.Filter

	// What it will be as a task; see [Task].
	Originator     bool
	OptedOut       bool
	Job            string
	NonPreemptible bool
	Cost           int64
	Budgets        []string // they play no part in a plan for the ask itself
}

// A Head is the part of a task or grant that loops over all tasks decide by. It is
// much cheaper than a [Cluster.TaskView].
type Head struct {
	Size     resources.Vector // a view
	Created  int64            // nanoseconds since 1970, if HasCreated
	Queue    queue.ID
	Node     NodeID
	Priority int32
	State    State

	Originator     bool
	OptedOut       bool
	RequiredNode   bool
	NonPreemptible bool

	HasCreated bool // the time of creation is known
	HasJob     bool
	HasBudgets bool
}

// An Outcome is what was decided about an ask.
type Outcome uint8

const (
	// Fits: there is room now. The plan has a node and no victim.
	Fits Outcome = 1 + iota
	// Waits: there will be room once what is leaving has gone. The plan has a node and
	// no victim.
	Waits
	// Preempts: there is room once the victims have gone.
	Preempts
	// Refused: there is no plan; see [Refusal].
	Refused
)

var outcomeWords = word.Table{Of: "victims.Outcome", Words: []string{Fits: "fits", Waits: "waits", Preempts: "plan", Refused: "refused"}}

// String returns the stable word for the outcome: fits, waits, plan or refused.
func (o Outcome) String() string { return outcomeWords.Word(uint8(o)) }

// A Decision is the answer to an ask. Hand it to [Planner.Decide] again to reuse its
// memory.
type Decision struct {
	Outcome Outcome
	Plan    Plan    // unless Refused
	Refusal Refusal // if Refused
}

// A Plan is a place for an ask and the tasks that must go for it. It is plain data.
type Plan struct {
	Ask     Ask
	Node    NodeID
	Victims []Victim // sorted by key
	Cost    Cost
	Proof   Proof     // what was shown of it
	OwnLeaf bool      // it stops tasks of the ask's own leaf
	Steps   int64     // elementary steps of the decision; see Planner.Steps
	Version Version   // of the cluster that it was made for
	At      time.Time // when it was decided
	Sequel  Sequel    // set by Planner.Batch

	// Path and Place are the names of the ask's queue and of the node.
	Path, Place string
}

// A Proof says what was shown of a plan.
type Proof uint8

const (
	// NoProof: the best plan found within the budget.
	NoProof Proof = iota
	// ProofLevels: no lawful plan is less in the levels before excess: who is stopped,
	// how many and of which rank cannot be bettered.
	ProofLevels
	// ProofCost: no lawful plan is cheaper, down to the last key.
	ProofCost
)

var proofWords = word.Table{Of: "victims.Proof", Words: []string{NoProof: "none", ProofLevels: "levels", ProofCost: "cost"}}

// String returns the stable word for the proof: none, levels or cost.
func (p Proof) String() string { return proofWords.Word(uint8(p)) }

// Proven reports whether no lawful plan is cheaper.
func (p Proof) Proven() bool { return p == ProofCost }

// A Victim is a task that a plan stops, and what for. It can be described after the
// task has gone.
type Victim struct {
	Task     TaskID
	Key      string
	Name     string // for people; "" if the task has none
	Path     string // the name of its queue
	Place    string // the name of its node
	Priority int32  // raw
	Size     resources.Vector
	Rank     int64 // its effective priority minus the ask's; 0 or less
	// ForNode: it makes room on the plan's node. ForHeadroom: under the max of a
	// queue. Blocks: the caller named it as a blocker. Members of a gang may have none
	// of these.
	ForNode     bool
	ForHeadroom bool
	Blocks      bool

	OptedOut, Originator bool
}

// A Reason says why there is no plan, for an ask or a job.
type Reason uint8

const (
	// InFlight: the ask holds a grant and cannot start yet. A job's members wait for
	// what is leaving.
	InFlight Reason = 1 + iota
	// UnknownNode: the node that the ask requires is not in the cluster.
	UnknownNode
	// QuotaMin: a non-preemptible job would pass the min of a quota.
	QuotaMin
	// QuotaMax: the job would pass the max of a quota, and victims may or could not
	// change that.
	QuotaMax
	// MayNotPreempt: it must not preempt others.
	MayNotPreempt
	// TooEarly: it has not been pending for its queue's preemption delay.
	TooEarly
	// TooSoon: preemption was tried for it less than the interval ago.
	TooSoon
	// OverMax: a queue on the path is over its max already.
	OverMax
	// NotGuaranteed: no queue guarantees any type of what is wanted (law 4).
	NotGuaranteed
	// OverGuarantee: a queue that governs a wanted type is at or over its guarantee of
	// it (law 4), or for a job would be before the last member.
	OverGuarantee
	// HeadroomInside: a max at or below the starving queue is short, so that only its
	// own tasks could make room.
	HeadroomInside
	// NothingInReach: no leaf is in reach (law 7), enabled and outside the
	// starving queue.
	NothingInReach
	// NoVictims: no legal set of victims makes room.
	NoVictims
	// PredicateRefused: legal sets make room, and the predicate refused those tried.
	PredicateRefused
	// NoDomain: no node is in a domain of the required depth, or members that run
	// share none.
	NoDomain
	// Unlawful: the planner's Audit found a law broken: a defect of the library, or a
	// function that changed its answer.
	Unlawful
)

var reasonWords = word.Table{Of: "victims.Reason", Words: []string{
	InFlight:         "in-flight",
	UnknownNode:      "unknown-node",
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

// A Rule keeps a task from being a victim of an ask, a job or a quota. A task counts
// once, at the first rule in this order.
type Rule uint8

const (
	RuleLeaving        Rule = 1 + iota // it is going already
	RuleRequiredNode                   // it can run on its node only
	RuleApplication                    // it is of the job, or of the application, that asks (law 3)
	RuleFence                          // it is in the asking leaf or outside its fence (law 7)
	RuleDisabled                       // its queue is disabled
	RuleInside                         // it is inside the starving queue (storm freedom)
	RuleNonPreemptible                 // no job may take it
	RulePriority                       // its effective priority is too high (law 6)
	RuleExempt                         // the caller exempts it
	RuleGang                           // its job needs it, and cannot be stopped as a whole
	RuleNotHelping                     // it reduces no open need
	RuleBudget                         // a hard budget has too little left for it, or for the job with which it goes
	// RuleGuarantee: it would take a queue below its guarantee (law 2), alone or with
	// its job. For a job without a plan it also counts tasks that cannot go together.
	RuleGuarantee
	RuleOvershoot // it is larger than what is still to be freed, and the quota is to be exact
	RuleEnforced  // it is in a queue that is being enforced already
	RuleGranted   // it is an ask that was granted a place

	NumRules // the number of rules, and one: an array of this length is indexed by Rule
)

// ruleWords are the words, and ruleTexts say of tasks what a rule of asks says of them: a
// part of a sentence, after a number or the name of a task, which may get better.
var (
	ruleWords = word.Table{Of: "victims.Rule", Words: []string{
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
		RuleOvershoot:      "overshoot",
		RuleEnforced:       "enforced",
		RuleGranted:        "granted",
	}}
	ruleTexts = [NumRules]string{
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
)

// String returns the stable word for the rule.
func (r Rule) String() string { return ruleWords.Word(uint8(r)) }

// A Refusal says why there is no plan for an ask.
type Refusal struct {
	Reason Reason
	// OwnLeaf: reason and counts are those with tasks of the own leaf as candidates.
	// Also is then what kept the ask from others, or 0.
	OwnLeaf bool
	Also    Reason
	// Queue and Type are what OverMax, OverGuarantee or HeadroomInside speaks of.
	Queue queue.ID
	Type  int
	// Counts has for each rule the tasks that it protected, Candidates the tasks that
	// none did. They are counted for NoVictims and PredicateRefused only; so are the
	// next two.
	Counts     [NumRules]int
	Candidates int
	// Scarce names hard budgets with something left, and less than their candidates.
	Scarce []string
	// Filtered is the number of nodes that the filter refused.
	Filtered int
	// WaitsFor has the keys of the tasks that an ask in flight waits for, sorted.
	WaitsFor []string
	// Closest is the node that lacks the least without all its candidates, by dominant
	// share of the cluster, then in node order. Lacks is what.
	Closest    NodeID
	HasClosest bool
	Lacks      resources.Vector
	// RetryAt is when time alone can first change the answer; zero: never.
	RetryAt time.Time
	// Help is what else can change it.
	Help Help
	// Proven: no plan exists. Else none was found within the budget; see
	// Planner.Steps.
	Proven bool
	Steps  int64
}

// cleared returns a refusal that says nothing, with the memory of r.
func (r *Refusal) cleared() Refusal {
	return Refusal{Scarce: r.Scarce[:0], Lacks: r.Lacks[:0], WaitsFor: r.WaitsFor[:0], Help: r.Help.cleared()}
}

// A Placing asks a predicate whether an ask may run on a node. What accepts a set of
// victims must accept every larger set. It must not be kept.
type Placing struct {
	Ask     *Ask
	Node    NodeID
	Victims []TaskID // in no particular order
	Moment  Moment
}

// A Moment says what is still there when the ask is to run.
type Moment uint8

const (
	// Present is how things are: the ask fits.
	Present Moment = 1 + iota
	// Coming is when what is leaving and the victims have gone: the ask waits or has a
	// plan.
	Coming
)

var momentWords = word.Table{Of: "victims.Moment", Words: []string{Present: "present", Coming: "coming"}}

// String returns the stable word for the moment.
func (m Moment) String() string { return momentWords.Word(uint8(m)) }

// Then combines orders: each is asked in turn until one is not 0. If the last is [By]
// a key, the order is total.
//
// An order is negative if a is to be stopped before b, positive if b is, and 0 if it
// has no opinion. It must be a strict weak order, which package preempttest checks. It
// is for slices.SortFunc and quota.Enforcer, and works on tasks of any type.
func Then[T any](orders ...func(a, b T) int) func(a, b T) int {
	return func(a, b T) int {
		for _, order := range orders {
			if c := order(a, b); c != 0 {
				return c
			}
		}
		return 0
	}
}

// Reverse returns the opposite order.
func Reverse[T any](order func(a, b T) int) func(a, b T) int {
	return func(a, b T) int { return order(b, a) }
}

// By orders tasks by a value, the smaller first: priorities, or keys.
func By[T any, V cmp.Ordered](of func(T) V) func(a, b T) int {
	return func(a, b T) int { return cmp.Compare(of(a), of(b)) }
}

// ByFlag orders tasks by a flag, false first: originators, or opted-out tasks, come
// last.
func ByFlag[T any](of func(T) bool) func(a, b T) int {
	return func(a, b T) int { return falseFirst(of(a), of(b)) }
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return +1
}

// ByTime orders tasks by a time, the later first: younger ones, or those with less
// work to lose. The zero time comes last.
func ByTime[T any](of func(T) time.Time) func(a, b T) int {
	return func(a, b T) int {
		x, y := of(a), of(b)
		if x.IsZero() || y.IsZero() {
			return falseFirst(x.IsZero(), y.IsZero())
		}
		return y.Compare(x)
	}
}

// BySize puts smaller tasks first, by their dominant share of a capacity.
func BySize[T any](of func(T) resources.Vector, capacity resources.Vector) func(a, b T) int {
	return func(a, b T) int {
		return resources.DominantShare(of(a), capacity).Compare(resources.DominantShare(of(b), capacity))
	}
}
