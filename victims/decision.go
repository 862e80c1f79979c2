package victims

import (
	"cmp"
	"time"

	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A TaskID is the row of a task, or of a granted ask, in its [Cluster]. It
// stays the same from the addition of the task to its removal, after which
// another task may get it.
type TaskID int32

// A NodeID is the row of a node in its [Cluster]. It stays the same from the
// addition of the node to its removal, after which another node may get it.
type NodeID int32

// A State says what a task is doing.
type State uint8

const (
	// Running tasks use their queue and node, and may be victims.
	Running State = iota
	// Releasing tasks are ending by themselves. Their amounts are leaving.
	Releasing
	// Preempting tasks were told to stop. Their amounts are leaving.
	Preempting
	// Granted is no running task but an ask that was given a place: its
	// amounts count as usage of its queue and its node until it starts or is
	// dropped. It is never a victim.
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
	Name        string   // for people; "" if the key says it all
	Tag         uint64   // of the caller's, who may put into it what they like
	Application string   // "" is none: two tasks without one have nothing in common
	Queue       queue.ID // a leaf
	Node        NodeID   // where it runs; the zero value is the node that was added first
	// NodeName names the node instead, for a task that is told to a cluster. If
	// no node has the name, there is a closed one until it is added.
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

	// Job is the job that the task is a member of, or "". It matters to planners
	// that know the job's minimum; see Rules.Minimum.
	Job string
	// NonPreemptible says that no other job may take the task. Package jobs goes by
	// it; to plans for asks and to quotas it means nothing.
	NonPreemptible bool

	// Cost is what stopping the task costs by the caller's own account, from 0
	// on. Plans for asks and jobs prefer a smaller sum of it to fewer victims.
	Cost int64
	// Budgets are the names of the budgets that stopping the task draws on, each
	// once. See [Budget].
	Budgets []string
}

// Lost returns the running time that stopping the task at an instant throws
// away, in nanoseconds: the time since it was scheduled, or since its last
// checkpoint if that is later. A task that was not scheduled loses nothing, and
// neither does one that was, or will be, scheduled or saved in the future. For
// instants that no cluster holds it is at most 292 years.
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

	// Rank is what choosing the node costs by the caller's own account: of plans
	// that are alike otherwise the smaller one is the better.
	Penalty int64
	// Domains are the domains that the node is in, the widest first: block,
	// rack, and so on. See DESIGN.md, Domains.
	Domains []string
	Tag     uint64 // of the caller's, who may put into it what they like
}

// An Ask is a task that has no node yet.
type Ask struct {
	Key          string
	Name         string // for people; "" if the key says it all
	Tag          uint64 // of the caller's, who may put into it what they like
	Application  string
	Queue        queue.ID // a leaf
	Size         resources.Vector
	Priority     int32
	PendingSince time.Time // since when it waits; zero: for ever, so that no delay holds it back
	LastAttempt  time.Time // when preemption was last tried for it; zero: never
	// RequiredNode is the name of the only node it can run on, or "". On it the
	// ask may take any task of lower or equal raw priority and of another
	// application: no guarantee, fence, delay or disabled queue protects (laws
	// 2, 4, 5 and 7), for it can run nowhere else.
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

// A Head is the part of a task, or of a granted ask, that loops over all tasks
// decide by. It has no text and no [time.Time], so it costs a small part of what
// a [Cluster.TaskView] does. What it lacks is read of the few tasks that need it,
// by [Cluster.Key], [Cluster.Job] or TaskView.
type Head struct {
	Size     resources.Vector // memory of the cluster, as that of a TaskView
	Created  int64            // nanoseconds since 1970, if HasCreated
	Queue    queue.ID
	Node     NodeID
	Priority int32
	State    State

	Originator     bool
	OptedOut       bool
	RequiredNode   bool
	NonPreemptible bool

	HasCreated bool // it is known when the task was created
	HasJob     bool // it is a member of a job
	HasBudgets bool // it names budgets
}

// An Outcome is what was decided about an ask.
type Outcome uint8

const (
	// Fits: there is room as things are. The plan names the node and no victim.
	Fits Outcome = 1 + iota
	// Waits: there will be room once what is already leaving has gone. The plan
	// names the node and no victim.
	Waits
	// Preempts: there is room once the victims of the plan have gone.
	Preempts
	// Refused: there is no plan, and the refusal says why.
	Refused
)

var outcomeWords = word.Table{Of: "victims.Outcome", Words: []string{Fits: "fits", Waits: "waits", Preempts: "plan", Refused: "refused"}}

// String returns the stable word for the outcome: fits, waits, plan or refused.
func (o Outcome) String() string { return outcomeWords.Word(uint8(o)) }

// A Decision is the answer to an ask. It is owned by the caller, who hands it
// to [Planner.Decide] again to have its memory reused.
type Decision struct {
	Outcome Outcome
	Plan    Plan    // for any outcome but Refused, which leaves none that could be applied
	Refusal Refusal // for Refused
}

// A Plan is a place for an ask and the tasks that must go for it. It is plain
// data: nothing happens until it is applied.
type Plan struct {
	Ask     Ask
	Node    NodeID
	Victims []Victim // sorted by key
	Cost    Cost
	Proof   Proof     // what was shown of it
	OwnLeaf bool      // it stops tasks of the ask's own leaf; see Rules.OwnLeaf
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
	// NoProof: the plan is the best one found within the budget. If it has opted-out
	// victims, a search for a plan without has had a share of its own.
	NoProof Proof = iota
	// ProofLevels: no lawful plan is less in the levels of its cost. So who is
	// stopped, how many and of which rank cannot be bettered, but perhaps the
	// excess, the work lost, the node, or the keys.
	ProofLevels
	// ProofCost: no lawful plan is cheaper, down to the last key.
	ProofCost
)

var proofWords = word.Table{Of: "victims.Proof", Words: []string{NoProof: "none", ProofLevels: "levels", ProofCost: "cost"}}

// String returns the stable word for the proof: none, levels or cost.
func (p Proof) String() string { return proofWords.Word(uint8(p)) }

// Proven reports whether no lawful plan is cheaper.
func (p Proof) Proven() bool { return p == ProofCost }

// A Victim is a task that a plan stops, and what for. It says what it is by
// itself, so that it can be described after the task has gone.
type Victim struct {
	Task     TaskID
	Key      string
	Name     string // for people; "" if the task has none
	Path     string // the name of its queue
	Place    string // the name of its node
	Priority int32  // raw
	Size     resources.Vector
	Rank     int64 // its effective priority minus the ask's; 0 or less
	// ForNode is set if its amounts make room on the node of the plan,
	// ForHeadroom if they make room under the max of a queue. Blocks is set if
	// the caller named it as a blocker of the node. A member of a gang that goes
	// as a whole may have none of these.
	ForNode     bool
	ForHeadroom bool
	Blocks      bool

	OptedOut, Originator bool
}

// A Reason says why there is no plan, for an ask or for a job. Its String is a stable
// word.
type Reason uint8

const (
	// InFlight: the ask holds a grant and cannot start on its node yet. Of a job: what
	// its members need is leaving still.
	InFlight Reason = 1 + iota
	// UnknownNode: the node that the ask requires is not in the cluster.
	UnknownNode
	// QuotaMin: a non-preemptible job would pass the min of a quota.
	QuotaMin
	// QuotaMax: the job would pass the max of a quota, and no victims may be taken, or
	// could be, to change that.
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
	// it (law 4). Of a job: it would be before the last member.
	OverGuarantee
	// HeadroomInside: a max at or below the starving queue is what is short,
	// so that only its own tasks could make room (storm freedom).
	HeadroomInside
	// NothingInReach: no leaf is in reach (law 7), enabled and outside the
	// starving queue.
	NothingInReach
	// NoVictims: no legal set of victims makes room.
	NoVictims
	// PredicateRefused: legal sets make room, and the caller's predicate
	// refused those that were tried.
	PredicateRefused
	// NoDomain: no node is in a domain of the depth that the job requires, or its members
	// that run are in different ones, or in none.
	NoDomain
	// Unlawful: a plan was found, and the audit that the planner was told to
	// make found a law broken. That is a defect of the library, unless functions of the
	// caller answer differently when asked again.
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

// A Rule is what keeps a task from being a victim of an ask, of a job or of a quota; not
// each of them has all rules. A task is counted once, at the first rule that does, in this
// order. Its String is a stable word.
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
	// RuleGuarantee: alone, or with the job with which it goes, it would take a queue
	// below its guarantee (law 2). If law 2 is why there is no plan for a job, this counts
	// too who could go alone but not together with the others that could.
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
	// OwnLeaf is set if reason and counts are those of the stage in which tasks of the
	// ask's own leaf are candidates; see Rules.OwnLeaf. Also is what kept the ask from
	// others then, if it is NotGuaranteed, OverGuarantee, OverMax or HeadroomInside.
	OwnLeaf bool
	Also    Reason
	// Queue and Type are what the reason, or Also, speaks of, if it is OverMax,
	// OverGuarantee or HeadroomInside.
	Queue queue.ID
	Type  int
	// Counts has, for each rule, the number of tasks that it kept from being
	// victims, and Candidates the number that no rule did. They are counted
	// only if candidates were looked for: NoVictims and PredicateRefused.
	Counts     [NumRules]int
	Candidates int
	// Scarce names the hard budgets that have something left, and less than there are
	// candidates in them. It is counted like Counts.
	Scarce []string
	// Filtered is the number of nodes that the caller's filter refused. It is
	// counted like Counts.
	Filtered int
	// WaitsFor has the keys of the tasks that an ask in flight still waits for,
	// sorted.
	WaitsFor []string
	// Closest is the node on which, with all its candidates gone, the least is
	// lacking: by dominant share of the cluster's capacity, then in node
	// order. Lacks is what. There is none if no node can be used.
	Closest    NodeID
	HasClosest bool
	Lacks      resources.Vector
	// RetryAt is the first instant at which by time alone the answer can
	// change. It is zero if time does not help.
	RetryAt time.Time
	// Help says what else has to happen before the answer can change.
	Help Help
	// Proven is set if no plan exists; else none was found within the budget.
	// Steps are the elementary steps of the decision; see Planner.Steps.
	Proven bool
	Steps  int64
}

// cleared returns a refusal that says nothing, with the memory of r.
func (r *Refusal) cleared() Refusal {
	return Refusal{Scarce: r.Scarce[:0], Lacks: r.Lacks[:0], WaitsFor: r.WaitsFor[:0], Help: r.Help.cleared()}
}

// A Placing is the question whether an ask may run on a node. A predicate of
// the caller's answers it. It must depend on its question only and must not
// keep what is in it. What accepts a set of victims must accept every larger
// set.
type Placing struct {
	Ask     *Ask
	Node    NodeID
	Victims []TaskID // in no particular order
	Moment  Moment
}

// A Moment says what of the cluster is still there when the ask is to run.
type Moment uint8

const (
	// Present is how things are: the ask fits.
	Present Moment = 1 + iota
	// Coming is when all that is leaving, and all the victims, have gone: the
	// ask waits, or has a plan.
	Coming
)

var momentWords = word.Table{Of: "victims.Moment", Words: []string{Present: "present", Coming: "coming"}}

// String returns the stable word for the moment.
func (m Moment) String() string { return momentWords.Word(uint8(m)) }

// Then returns the order that asks each of the given ones in turn, until one
// has an opinion. If the last is [By] a key, it is total.
//
// An order is negative if a is to be stopped before b, positive if b is, and 0 if
// it has no opinion. It must be a strict weak order: consistent, and 0 for equal
// tasks. Package preempttest has a check of that. slices.SortFunc sorts by an
// order, and quota.Enforcer takes tasks by one.
//
// Then, [Reverse], [By] and its like work on tasks of any type: a function that is
// called of here reads what they compare.
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

// By orders tasks by what of returns, the smaller first: lower priorities, or
// smaller keys.
func By[T any, V cmp.Ordered](of func(T) V) func(a, b T) int {
	return func(a, b T) int { return cmp.Compare(of(a), of(b)) }
}

// ByFlag orders tasks by what of returns, false first: plain tasks before
// originators, and those that did not opt out before those that did (law 1).
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

// ByTime orders tasks by what of returns, the later first: younger ones, or those
// that have less work to lose. Tasks with the zero time come last.
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
