package victims

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-preempt/preempt/queue"
)

// A Law is something that every lawful plan keeps. The first seven have the
// numbers of section 5. Its String is a stable word.
//
// For an ask that requires its node, laws 2, 4, 5 and 7, storm freedom, delay
// and disabled queues do not bind, and priorities are raw.
type Law uint8

const (
	// LawOptedOut (law 1): no opted-out victim where an opted-in one would do
	// in its place. A planner whose search was cut short, whose predicate
	// refused the best sets or whose caller replaced the order of costs may
	// break it; all others are kept in every case.
	LawOptedOut Law = 1 + iota
	// LawGuarantee (law 2): no queue ends below its guarantee, or lower where
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
	// LawPriority (law 6): no victim of higher effective priority.
	LawPriority
	// LawFence (law 7): no victim outside the fence or in the ask's own leaf.
	LawFence

	LawStorm        // victims are outside the lowest governing queue (storm freedom)
	LawKnown        // each victim is a task, by row and key
	LawOnce         // no task is named twice
	LawLeaving      // no victim is leaving already
	LawRequiredTask // no victim can run on its node only
	LawDisabled     // no victim in a disabled queue
	LawExempt       // no victim is exempt
	LawNearby       // an ask that requires its node takes victims there only
	LawHelpful      // each victim reduces a need of the ask, on its node or for headroom

	LawKey  // the ask has a key, which is no task's
	LawLeaf // the ask is of a leaf
	LawSize // the ask's amounts are none below zero, of the schema's types, and in range

	LawNode         // the node exists
	LawSchedulable  // it takes new tasks
	LawReserved     // it is not reserved for another ask
	LawRequiredNode // it is the one that the ask requires
	LawInFlight     // an ask that holds a grant starts there, without victims

	LawMayPreempt // an ask with victims may preempt
	LawDelay      // it was pending for the preemption delay of its queue
	LawInterval   // its last attempt is an interval ago
	LawMax        // no queue above it is over its max already, in a type of the ask

	LawRoom      // the ask fits the node once the victims are gone
	LawHeadroom  // and the max of each queue above it
	LawPredicate // the caller's predicate accepts the plan
	LawMinimal   // no victim can be given back

	numLaws
)

// laws is how violations are told: with amounts as "amount noun, want relation
// amount", without as the text.
var laws = [numLaws]struct{ word, noun, relation, text string }{
	LawOptedOut:     {word: "opted-out", text: "opted out, and %q could be taken instead"},
	LawGuarantee:    {word: "guarantee", noun: "after the plan", relation: "at least"},
	LawApplication:  {word: "application", text: "of the application of the ask"},
	LawTrigger:      {word: "trigger", noun: "before the plan", relation: "less than", text: "no queue guarantees a type of the ask"},
	LawSurplus:      {word: "surplus", noun: "before the plan", relation: "more than"},
	LawPriority:     {word: "priority", noun: "effective priority", relation: "at most"},
	LawFence:        {word: "fence", text: "out of reach"},
	LawStorm:        {word: "storm", text: "inside the starving queue"},
	LawKnown:        {word: "known", text: "no task of this row and key"},
	LawOnce:         {word: "once", text: "named before"},
	LawLeaving:      {word: "leaving", text: "leaving already"},
	LawRequiredTask: {word: "required-task", text: "can run on its node only"},
	LawDisabled:     {word: "disabled", text: "preemption is disabled"},
	LawExempt:       {word: "exempt", text: "exempt"},
	LawNearby:       {word: "nearby", text: "not on the node that the ask requires"},
	LawHelpful:      {word: "helpful", text: "reduces no need of the ask"},
	LawKey:          {word: "key", text: "the ask has no key, or that of a task"},
	LawLeaf:         {word: "leaf", text: "the ask is of no leaf queue"},
	LawSize:         {word: "size", noun: "asked", relation: "between 0 and"},
	LawNode:         {word: "node", text: "no node of this row"},
	LawSchedulable:  {word: "schedulable", text: "takes no new tasks"},
	LawReserved:     {word: "reserved", text: "reserved for another ask"},
	LawRequiredNode: {word: "required-node", text: "not the node that the ask requires"},
	LawInFlight:     {word: "in-flight", text: "holds a grant of the ask, which starts here and without victims"},
	LawMayPreempt:   {word: "may-preempt", text: "the ask must not preempt"},
	LawDelay:        {word: "delay", noun: "pending", relation: "at least"},
	LawInterval:     {word: "interval", noun: "since the last attempt", relation: "at least"},
	LawMax:          {word: "max", noun: "before the plan", relation: "at most"},
	LawRoom:         {word: "room", noun: "free", relation: "at least"},
	LawHeadroom:     {word: "headroom", noun: "of headroom", relation: "at least"},
	LawPredicate:    {word: "predicate", text: "refused by the predicate"},
	LawMinimal:      {word: "minimal", text: "can be given back"},
}

// String returns the stable word for the law.
func (l Law) String() string {
	if l > 0 && l < numLaws {
		return laws[l].word
	}
	return fmt.Sprintf("Law(%d)", uint8(l))
}

// A Violation is a law that a plan breaks, and where. It is plain data; what
// it names are the names of the moment of the audit.
type Violation struct {
	Law Law

	// The victim at fault, as the plan has it; where HasTask is set.
	Task    TaskID
	Key     string
	HasTask bool
	// Instead is the key of a task that could be taken instead: LawOptedOut.
	Instead string

	Node string // the name of the node at fault, or ""

	Queue    queue.ID // the queue at fault; where HasQueue is set
	HasQueue bool
	Type     int // the resource type at fault; where HasType is set
	HasType  bool

	// Have is what there is and Want is what it is compared with: amounts of
	// Type where HasType is set; priorities (LawPriority); nanoseconds
	// (LawDelay, LawInterval). Both are 0 for other laws.
	Have, Want int64

	tree *queue.Tree // for names, which never change
}

// String tells the violation in a line: the law, who is at fault, and what is
// wrong, as in
//
//	guarantee (law 2): root.a: cpu 3 after the plan, want at least 5
//	leaving: victim "t1": leaving already
func (v Violation) String() string {
	var b strings.Builder
	b.WriteString(v.Law.String())
	if v.Law >= LawOptedOut && v.Law <= LawFence {
		fmt.Fprintf(&b, " (law %d)", uint8(v.Law))
	}
	if v.HasTask {
		fmt.Fprintf(&b, ": victim %q", v.Key)
	}
	if v.Node != "" {
		fmt.Fprintf(&b, ": node %q", v.Node)
	}
	if v.HasQueue && v.tree != nil {
		fmt.Fprintf(&b, ": %s", v.tree.Path(v.Queue))
	}
	b.WriteString(": ")
	b.WriteString(v.complaint())
	return b.String()
}

// complaint tells what is wrong.
func (v Violation) complaint() string {
	if v.Law == 0 || v.Law >= numLaws {
		return "unknown law"
	}
	l := &laws[v.Law]
	amount := func(n int64) string { return strconv.FormatInt(n, 10) }
	subject := ""
	switch {
	case v.Law == LawPriority:
		return fmt.Sprintf("%s %d, want %s %d", l.noun, v.Have, l.relation, v.Want)
	case v.Law == LawDelay || v.Law == LawInterval:
		amount = func(n int64) string { return time.Duration(n).String() }
	case v.Law == LawOptedOut:
		return fmt.Sprintf(l.text, v.Instead)
	case !v.HasType:
		return l.text
	case v.tree != nil:
		s := v.tree.Schema()
		subject = s.Name(v.Type) + " "
		amount = func(n int64) string { return s.Amount(v.Type, n) }
	}
	return fmt.Sprintf("%s%s %s, want %s %s", subject, amount(v.Have), l.noun, l.relation, amount(v.Want))
}
