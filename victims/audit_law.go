package victims

import (
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/queue"
)

// A Law is something that every lawful plan keeps. The first seven have the
// numbers that they have in DESIGN.md, The seven laws. Its String is a stable
// word.
//
// For an ask that requires its node, laws 2, 4, 5 and 7, storm freedom, delay
// and disabled queues do not bind, and priorities are raw. If all victims are of
// the ask's own leaf, laws 4 and 5 and storm freedom do not bind; if some may
// be, law 2 binds the queues above the ask as the option says.
type Law uint8

const (
	// LawOptedOut (law 1): no opted-out victim if an opted-in one would do
	// in its place. A planner whose search was cut short, whose predicate
	// refused the best sets or whose caller replaced the order of costs may
	// break it; all others are kept in every case.
	LawOptedOut Law = 1 + iota
	// LawGuarantee (law 2): no queue ends below its guarantee, or lower if
	// it was below before, in any type.
	LawGuarantee
	// LawApplication (law 3): no victim of the ask's application.
	LawApplication
	// LawTrigger (law 4): at least one type of the ask is governed, and each
	// that is governed is under its guarantee before the plan.
	LawTrigger
	// LawSurplus (law 5): in one of the types in which a victim helps, all
	// guarantees from its leaf to below the common ancestor are exceeded before
	// the plan. No plan breaks it that keeps law 2.
	LawSurplus
	// LawPriority (law 6): no victim of higher effective priority, and none of
	// the ask's own leaf of the same.
	LawPriority
	// LawFence (law 7): no victim outside the fence, or in the ask's own leaf if
	// the option of the own leaf is not set.
	LawFence

	LawStorm        // victims are outside the lowest governing queue (storm freedom)
	LawKnown        // each victim is a task, by row and key
	LawOnce         // no task is named twice
	LawLeaving      // no victim is leaving already
	LawRequiredTask // no victim can run on its node only
	LawDisabled     // no victim in a disabled queue
	LawExempt       // no victim is exempt
	LawNearby       // an ask that requires its node takes victims there only
	LawHelpful      // each victim reduces a need of the ask or blocks it, or goes with its job
	LawGang         // a running job keeps as many members as it needs, or loses all of them
	LawBudget       // no hard budget is overrun

	LawKey  // the ask has a key, which is no task's
	LawLeaf // the ask is of a leaf
	LawSize // no amount of the ask is below zero, of an unknown type, or out of range with what is in use

	LawNode         // the node exists
	LawSchedulable  // it takes new tasks
	LawReserved     // it is not reserved for another ask
	LawFilter       // the caller's filter lets the ask run there
	LawRequiredNode // it is the one that the ask requires
	LawInFlight     // an ask that holds a grant starts there, without victims

	LawMayPreempt // an ask with victims may preempt
	LawDelay      // it was pending for the preemption delay of its queue
	LawInterval   // its last attempt is an interval ago
	LawMax        // no queue above it is over its max already, in a type of the ask, if tasks of its own leaf may not go

	LawRoom      // the ask fits the node once the victims are gone
	LawHeadroom  // and the max of each queue above it
	LawBlocker   // nothing that blocks the ask stays on the node
	LawPredicate // the caller's predicate accepts the plan
	LawMinimal   // no victim, and no whole job, can be given back
)

// laws tells violations; see package finding.
var laws = finding.Laws{
	LawOptedOut:     {Word: "opted-out", Number: 1, Text: "opted out, and %s could be taken instead"},
	LawGuarantee:    {Word: "guarantee", Number: 2, Noun: "after the plan", Relation: "at least"},
	LawApplication:  {Word: "application", Number: 3, Text: "of the application of the ask"},
	LawTrigger:      {Word: "trigger", Number: 4, Noun: "before the plan", Relation: "less than", Text: "no queue guarantees a type of the ask"},
	LawSurplus:      {Word: "surplus", Number: 5, Noun: "before the plan", Relation: "more than"},
	LawPriority:     {Word: "priority", Number: 6, Noun: "effective priority", Relation: "at most", Unit: finding.Level},
	LawFence:        {Word: "fence", Number: 7, Text: "out of reach"},
	LawStorm:        {Word: "storm", Text: "inside the starving queue"},
	LawKnown:        {Word: "known", Text: "no task of this row and key"},
	LawOnce:         {Word: "once", Text: "named before"},
	LawLeaving:      {Word: "leaving", Text: "leaving already"},
	LawRequiredTask: {Word: "required-task", Text: "can run on its node only"},
	LawDisabled:     {Word: "disabled", Text: "preemption is disabled"},
	LawExempt:       {Word: "exempt", Text: "exempt"},
	LawNearby:       {Word: "nearby", Text: "not on the node that the ask requires"},
	LawHelpful:      {Word: "helpful", Text: "reduces no need of the ask"},
	LawGang:         {Word: "gang", Noun: "members run on", Relation: "at least", Unit: finding.Count},
	LawBudget:       {Word: "budget", Noun: "victims", Relation: "at most", Unit: finding.Count},
	LawKey:          {Word: "key", Text: "the ask has no key, or that of a task"},
	LawLeaf:         {Word: "leaf", Text: "the ask is of no leaf queue"},
	LawSize:         {Word: "size", Noun: "asked", Relation: "between 0 and"},
	LawNode:         {Word: "node", Text: "no node of this row"},
	LawSchedulable:  {Word: "schedulable", Text: "takes no new tasks"},
	LawReserved:     {Word: "reserved", Text: "reserved for another ask"},
	LawFilter:       {Word: "filter", Text: "refused by the filter"},
	LawRequiredNode: {Word: "required-node", Text: "not the node that the ask requires"},
	LawInFlight:     {Word: "in-flight", Text: "holds a grant of the ask, which starts here and without victims"},
	LawMayPreempt:   {Word: "may-preempt", Text: "the ask must not preempt"},
	LawDelay:        {Word: "delay", Noun: "pending", Relation: "at least", Unit: finding.Duration},
	LawInterval:     {Word: "interval", Noun: "since the last attempt", Relation: "at least", Unit: finding.Duration},
	LawMax:          {Word: "max", Noun: "before the plan", Relation: "at most"},
	LawRoom:         {Word: "room", Noun: "free", Relation: "at least"},
	LawHeadroom:     {Word: "headroom", Noun: "of headroom", Relation: "at least"},
	LawBlocker:      {Word: "blocker", Text: "%s stays, and blocks the ask"},
	LawPredicate:    {Word: "predicate", Text: "refused by the predicate"},
	LawMinimal:      {Word: "minimal", Text: "can be given back"},
}

// String returns the stable word for the law.
func (l Law) String() string { return laws.Word(uint8(l)) }

// MarshalText returns the stable word for the law. A number that is no law is
// an error.
func (l Law) MarshalText() ([]byte, error) { return laws.MarshalWord("victims", uint8(l)) }

// UnmarshalText sets the law whose stable word the text is. A text that is no
// law's word is an error and changes nothing.
func (l *Law) UnmarshalText(text []byte) error {
	law, err := laws.UnmarshalWord("victims", text)
	if err == nil {
		*l = Law(law)
	}
	return err
}

// ofQueue returns a violation by amounts of a queue.
func ofQueue(l Law, q queue.ID, i int, have, want int64) Violation {
	return Violation{Law: l, Queue: q, HasQueue: true, Type: i, HasType: true, Have: have, Want: want}
}
