// SPDX-License-Identifier: Apache-2.0

package finding

// The law-book: the words of all laws that auditors of asks, jobs and quotas hold plans
// against, with what each says, and below how a broken one is told. A word means the same
// law wherever it stands; the first seven have their numbers in DESIGN.md.
//
// For an ask that requires its node, laws 2, 4, 5 and 7, storm freedom, delay and disabled
// queues do not bind, and priorities are raw. If all victims are of the own leaf, laws 4 and 5
// and storm freedom do not bind; if some may be, law 2 binds the queues above the ask as the
// option says.
const (
	// LawOptedOut (law 1): no opted-out victim if an opted-in one would do
	// in its place. A planner whose search was cut short, whose predicate
	// refused the best sets or whose caller replaced the order of costs may
	// break it; all others are kept in every case.
	LawOptedOut = "opted-out"
	// LawGuarantee (law 2): no queue ends below its guarantee, or lower if
	// it was below before, in any type.
	LawGuarantee = "guarantee"
	// LawApplication (law 3): no victim of the ask's application.
	LawApplication = "application"
	// LawTrigger (law 4): at least one type of the ask is governed, and each
	// that is governed is under its guarantee before the plan.
	LawTrigger = "trigger"
	// LawSurplus (law 5): in one of the types in which a victim helps, all
	// guarantees from its leaf to below the common ancestor are exceeded before
	// the plan. No plan breaks it that keeps law 2.
	LawSurplus = "surplus"
	// LawPriority (law 6): no victim of higher effective priority, and none of
	// the ask's own leaf of the same.
	LawPriority = "priority"
	// LawFence (law 7): no victim outside the fence, or in the ask's own leaf if
	// the option of the own leaf is not set.
	LawFence          = "fence"
	LawStorm          = "storm"           // victims are outside the lowest governing queue (storm freedom)
	LawKnown          = "known"           // each victim is a task, by row and key
	LawOnce           = "once"            // no task is named twice
	LawLeaving        = "leaving"         // no victim is leaving already
	LawRequiredTask   = "required-task"   // no victim can run on its node only
	LawDisabled       = "disabled"        // no victim in a disabled queue
	LawRefused        = "refused"         // no victim is one that would not stop
	LawExempt         = "exempt"          // no victim is exempt
	LawNearby         = "nearby"          // victims are on the node, if the ask requires it or the option says so
	LawHelpful        = "helpful"         // each victim reduces a need of the ask or blocks it, or goes with its job
	LawGang           = "gang"            // a running job keeps as many members as it needs, or loses all of them
	LawBudget         = "budget"          // no hard budget is overrun
	LawKey            = "key"             // the ask has a key, which is no task's
	LawLeaf           = "leaf"            // the ask is of a leaf
	LawSize           = "size"            // no amount of the ask is below zero, of an unknown type, or out of range with what is in use
	LawNode           = "node"            // the node exists
	LawSchedulable    = "schedulable"     // it takes new tasks
	LawReserved       = "reserved"        // it is not reserved for another ask
	LawFilter         = "filter"          // the caller's filter lets the ask run there
	LawRequiredNode   = "required-node"   // it is the one that the ask requires
	LawInFlight       = "in-flight"       // an ask that holds a grant starts there, without victims
	LawMayPreempt     = "may-preempt"     // an ask with victims may preempt
	LawDelay          = "delay"           // it was pending for the preemption delay of its queue
	LawInterval       = "interval"        // its last attempt is an interval ago
	LawMax            = "max"             // no queue above it is over its max already, in a type of the ask, if tasks of its own leaf may not go
	LawRoom           = "room"            // the ask fits the node once the victims are gone
	LawHeadroom       = "headroom"        // and the max of each queue above it
	LawBlocker        = "blocker"         // nothing that blocks the ask stays on the node
	LawPredicate      = "predicate"       // the caller's predicate accepts the plan
	LawMinimal        = "minimal"         // no victim, and no whole job, can be given back
	LawPlaced         = "placed"          // each placement is of a member that has no place, once
	LawMinimum        = "minimum"         // the first members without a place make up the minimum, and no others are worth victims
	LawDomain         = "domain"          // and they share a domain, if the job requires one
	LawMember         = "member-priority" // a member that runs has the raw priority of its job
	LawFormula        = "formula"         // the quotas let it preempt
	LawNonPreemptible = "non-preemptible" // no victim is kept from all jobs
	LawQuota          = "quota"           // and the quotas
	LawMovable        = "movable"         // each mover may be started again elsewhere
	LawMoved          = "moved"           // no more moves than MaxMoved times what is asked
	LawQueue          = "queue"           // the queue is one of the tree
	LawUsage          = "usage"           // usage is what the cluster says
	LawTarget         = "target"          // the target is what usage has over the max of the outcome
	LawFreed          = "freed"           // what is freed is what the victims have
	LawShort          = "shortfall"       // the shortfall is what is left of the target
	LawResult         = "result"          // outcome and result are what shortfall and victims make them
	LawInside         = "inside"          // each victim is below the queue
	LawEnforced       = "enforced"        // and below no queue that is being enforced already
	LawOverrun        = "overrun"         // the overrun is that of the soft budgets
	LawExact          = "exact"           // with NeverOvershoot, no more of any type is freed than the target
	LawSpared         = "spared"          // if usage stays over, nobody else could be taken
	LawParts          = "parts"           // the parts of the children of each queue are what largest remainder makes them
)

// book tells laws as they are told of asks, and of all others that books has nothing else of.
var book = map[string]Text{
	LawOptedOut:       {Number: 1, Text: "opted out, and %s could be taken instead"},
	LawGuarantee:      {Number: 2, Noun: "after the plan", Relation: "at least"},
	LawApplication:    {Number: 3, Text: "of the application of the ask"},
	LawTrigger:        {Number: 4, Noun: "before the plan", Relation: "less than", Text: "no queue guarantees a type of the ask"},
	LawSurplus:        {Number: 5, Noun: "before the plan", Relation: "more than"},
	LawPriority:       {Number: 6, Noun: "effective priority", Relation: "at most", Unit: Level},
	LawFence:          {Number: 7, Text: "out of reach"},
	LawStorm:          {Text: "inside the starving queue"},
	LawKnown:          {Text: "no task of this row and key"},
	LawOnce:           {Text: "named before"},
	LawLeaving:        {Text: "leaving already"},
	LawRequiredTask:   {Text: "can run on its node only"},
	LawDisabled:       {Text: "preemption is disabled"},
	LawRefused:        {Text: "would not stop"},
	LawExempt:         {Text: "exempt"},
	LawNearby:         {Text: "not on the node of the ask"},
	LawHelpful:        {Text: "reduces no need of the ask"},
	LawGang:           {Noun: "members run on", Relation: "at least", Unit: Count},
	LawBudget:         {Noun: "victims", Relation: "at most", Unit: Count},
	LawKey:            {Text: "the ask has no key, or that of a task"},
	LawLeaf:           {Text: "the ask is of no leaf queue"},
	LawSize:           {Noun: "asked", Relation: "between 0 and"},
	LawNode:           {Text: "no node of this row"},
	LawSchedulable:    {Text: "takes no new tasks"},
	LawReserved:       {Text: "reserved for another ask"},
	LawFilter:         {Text: "refused by the filter"},
	LawRequiredNode:   {Text: "not the node that the ask requires"},
	LawInFlight:       {Text: "holds a grant of the ask, which starts here and without victims"},
	LawMayPreempt:     {Text: "the ask must not preempt"},
	LawDelay:          {Noun: "pending", Relation: "at least", Unit: Duration},
	LawInterval:       {Noun: "since the last attempt", Relation: "at least", Unit: Duration},
	LawMax:            {Noun: "before the plan", Relation: "at most"},
	LawRoom:           {Noun: "free", Relation: "at least"},
	LawHeadroom:       {Noun: "of headroom", Relation: "at least"},
	LawBlocker:        {Text: "%s stays, and blocks the ask"},
	LawPredicate:      {Text: "refused by the predicate"},
	LawMinimal:        {Text: "can be given back"},
	LawPlaced:         {Text: "no member without a place, or placed before"},
	LawMinimum:        {Noun: "members of the minimum", Relation: "exactly", Unit: Count},
	LawDomain:         {Text: "not in the domain of the other members"},
	LawMember:         {Noun: "raw priority", Relation: "exactly", Unit: Level},
	LawFormula:        {Noun: "before the plan", Relation: "at most"},
	LawNonPreemptible: {Text: "no job may take it"},
	LawQuota:          {Noun: "after the plan", Relation: "at most"},
	LawMovable:        {Text: "must not move"},
	LawMoved:          {Noun: "moves", Relation: "at most"},
	LawQueue:          {Text: "no queue of the tree"},
	LawUsage:          {Noun: "used", Relation: "what the cluster has,"},
	LawTarget:         {Noun: "as target", Relation: "what is over max,"},
	LawFreed:          {Noun: "said to be freed", Relation: "what the victims have,"},
	LawShort:          {Noun: "said to be short", Relation: "what is left of the target,"},
	LawResult:         {Text: "not what shortfall and victims make it"},
	LawInside:         {Text: "not below the queue"},
	LawEnforced:       {Text: "in a queue that is being enforced already"},
	LawOverrun:        {Noun: "said to overrun soft budgets", Relation: "what the victims make it,", Unit: Count},
	LawExact:          {Noun: "freed", Relation: "at most"},
	LawSpared:         {Text: "could be taken, and usage stays over"},
	LawParts:          {Noun: "as part", Relation: "its share of the target,", Text: "not in tree order, or not below the queue"},
}

// books tell laws of jobs and quotas that are told in other words.
var books = map[string]map[string]Text{
	"job": {
		LawApplication: {Number: 3, Text: "of the job, or of its application"},
		LawTrigger:     {Number: 4, Noun: "before the last member", Relation: "less than", Text: "no queue guarantees a type that members want"},
		LawKey:         {Text: "no name, or one that another member has"},
		LawLeaf:        {Text: "the job is of no leaf queue"},
		LawReserved:    {Text: "reserved for another"},
		LawMayPreempt:  {Text: "the job must not preempt"},
		LawNearby:      {Text: "not on the node of the job"},
		LawHelpful:     {Text: "reduces no need of the job"},
	},
	"quota": {
		LawHelpful: {Text: "has no type of the target"},
		LawGang:    {Text: "its job loses more than it can spare, and does not go as a whole"},
		LawLeaf:    {Noun: "said to be freed", Relation: "what its victims have,", Text: "not so many victims"},
	},
}

// Number returns the number of a law in DESIGN.md, The seven laws, or 0.
func Number(law string) int { return book[law].Number }

// Known reports whether a word is that of a law.
func Known(law string) bool { _, known := (&Finding{Law: law}).text(); return known }
