package jobs

import (
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// A Law is something that every lawful plan for a job keeps. Its String is a
// stable word, the same one as in package victims if that has the law, too.
type Law uint8

const (
	LawKey     Law = 1 + iota // the job and its members have names, the members different ones
	LawLeaf                   // the job is of a leaf
	LawSize                   // no amount is below zero, of an unknown type, or out of range with what is in use
	LawNode                   // each node of the plan exists
	LawPlaced                 // each placement is of a member that has no place, once
	LawMinimum                // the first members without a place make up the minimum, and no others are worth victims

	LawSchedulable // nodes take new tasks
	LawReserved    // and are not reserved for others
	LawFilter      // the caller's filter lets members run there
	LawDomain      // and they share a domain, if the job requires one

	LawMember     // a member that runs has the raw priority of its job
	LawMayPreempt // a job with victims may preempt
	LawDelay      // it is pending for the delay of its queue
	LawInterval   // and was not tried too recently
	LawMax        // no queue of its path is over its max already in a type that it wants
	LawTrigger    // law 4: a type of it is governed, and each queue that governs one is under its guarantee before the last member
	LawFormula    // the quotas let it preempt

	LawKnown          // each victim is a task, by row and key
	LawOnce           // no task is named twice
	LawLeaving        // no victim is leaving already
	LawRequiredTask   // no victim can run on its node only
	LawApplication    // law 3: no victim is of the job, or of its application
	LawFence          // law 7: no victim is outside the fence
	LawDisabled       // no victim is in a disabled queue
	LawStorm          // no victim is inside the starving queue
	LawNonPreemptible // no victim is kept from all jobs
	LawPriority       // law 6: all victims are of lower effective priority
	LawExempt         // no victim is exempt

	LawGuarantee // law 2: no queue ends below its guarantee, or lower if it was below before
	LawBudget    // no hard budget loses more tasks than it has left
	LawGang      // a running job keeps its minimum, or goes as a whole; one with a grant cannot

	LawRoom      // all members fit their nodes once the victims are gone
	LawHeadroom  // and the max of each queue above them
	LawQuota     // and the quotas
	LawPredicate // the caller's predicate accepts each placement
	LawMinimal   // no victim, and no whole job, can be given back
)

// laws are the words and texts of the laws.
var laws = finding.Laws{
	LawKey:            {Word: "key", Text: "no name, or one that another member has"},
	LawLeaf:           {Word: "leaf", Text: "the job is of no leaf queue"},
	LawSize:           {Word: "size", Noun: "asked", Relation: "between 0 and"},
	LawNode:           {Word: "node", Text: "no node of this row"},
	LawPlaced:         {Word: "placed", Text: "no member without a place, or placed before"},
	LawMinimum:        {Word: "minimum", Noun: "members of the minimum", Relation: "exactly", Unit: finding.Count},
	LawSchedulable:    {Word: "schedulable", Text: "takes no new tasks"},
	LawReserved:       {Word: "reserved", Text: "reserved for another"},
	LawFilter:         {Word: "filter", Text: "refused by the filter"},
	LawDomain:         {Word: "domain", Text: "not in the domain of the other members"},
	LawMayPreempt:     {Word: "may-preempt", Text: "the job must not preempt"},
	LawMember:         {Word: "member-priority", Noun: "raw priority", Relation: "exactly", Unit: finding.Level},
	LawDelay:          {Word: "delay", Noun: "pending", Relation: "at least", Unit: finding.Duration},
	LawInterval:       {Word: "interval", Noun: "since the last attempt", Relation: "at least", Unit: finding.Duration},
	LawMax:            {Word: "max", Noun: "before the plan", Relation: "at most"},
	LawTrigger:        {Word: "trigger", Number: 4, Noun: "before the last member", Relation: "less than", Text: "no queue guarantees a type that members want"},
	LawFormula:        {Word: "formula", Noun: "before the plan", Relation: "at most"},
	LawKnown:          {Word: "known", Text: "no task of this row and key"},
	LawOnce:           {Word: "once", Text: "named before"},
	LawLeaving:        {Word: "leaving", Text: "leaving already"},
	LawRequiredTask:   {Word: "required-task", Text: "can run on its node only"},
	LawApplication:    {Word: "application", Number: 3, Text: "of the job, or of its application"},
	LawFence:          {Word: "fence", Number: 7, Text: "out of reach"},
	LawDisabled:       {Word: "disabled", Text: "preemption is disabled"},
	LawStorm:          {Word: "storm", Text: "inside the starving queue"},
	LawNonPreemptible: {Word: "non-preemptible", Text: "no job may take it"},
	LawPriority:       {Word: "priority", Number: 6, Noun: "effective priority", Relation: "at most", Unit: finding.Level},
	LawExempt:         {Word: "exempt", Text: "exempt"},
	LawGuarantee:      {Word: "guarantee", Number: 2, Noun: "after the plan", Relation: "at least"},
	LawBudget:         {Word: "budget", Noun: "victims", Relation: "at most", Unit: finding.Count},
	LawGang:           {Word: "gang", Noun: "members run on", Relation: "at least", Unit: finding.Count},
	LawRoom:           {Word: "room", Noun: "free", Relation: "at least"},
	LawHeadroom:       {Word: "headroom", Noun: "after the plan", Relation: "at most"},
	LawQuota:          {Word: "quota", Noun: "after the plan", Relation: "at most"},
	LawPredicate:      {Word: "predicate", Text: "refused by the predicate"},
	LawMinimal:        {Word: "minimal", Text: "can be given back"},
}

// String returns the stable word for the law.
func (l Law) String() string { return laws.Word(uint8(l)) }

// MarshalText returns the stable word for the law. A number that is no law is an
// error.
func (l Law) MarshalText() ([]byte, error) { return laws.MarshalWord("jobs", uint8(l)) }

// UnmarshalText sets the law whose stable word the text is. A text that is no law's
// word is an error and changes nothing.
func (l *Law) UnmarshalText(text []byte) error {
	law, err := laws.UnmarshalWord("jobs", text)
	if err == nil {
		*l = Law(law)
	}
	return err
}

// A Violation is a law that a plan breaks, and where. It is plain data; what it
// names are the names of the moment of the audit.
type Violation struct {
	Law Law

	Member string // the key of the member at fault, or ""
	Victim string // the key of the victim at fault, or ""
	Task   victims.TaskID
	Job    string // the running job at fault, or ""
	Node   string // the node at fault, or ""
	Budget string // the budget at fault, or ""

	Queue    queue.ID // the queue at fault, if HasQueue is set
	HasQueue bool
	Type     int // the resource type at fault, if HasType is set
	HasType  bool

	// Have is what there is and Want is what it is compared with: amounts of
	// Type if HasType is set; priorities (LawPriority); members (LawMinimum,
	// LawGang); tasks (LawBudget). Both are 0 for other laws.
	Have, Want int64

	tree *queue.Tree // for names, which never change
}

// String tells the violation in a line: the law, who is at fault, and what is
// wrong, as in
//
//	guarantee (law 2): root.a: cpu 3 after the plan, want at least 5
//	leaving: victim t1: leaving already
func (v Violation) String() string {
	f := v.finding()
	return laws.Line(&f)
}

// MarshalJSON writes the violation as an object, with names instead of rows and
// amounts as quantities.
func (v Violation) MarshalJSON() ([]byte, error) {
	f := v.finding()
	return laws.JSON(&f)
}

// finding returns what the violation shares with those of other auditors.
func (v *Violation) finding() finding.Finding {
	f := finding.Finding{
		Law: uint8(v.Law), Tree: v.tree,
		Queue: v.Queue, HasQueue: v.HasQueue, Type: v.Type, HasType: v.HasType,
		Have: v.Have, Want: v.Want,
	}
	for _, s := range []finding.Subject{
		{What: "member", Name: v.Member}, {What: "victim", Name: v.Victim}, {What: "job", Name: v.Job},
		{What: "node", Name: v.Node}, {What: "budget", Name: v.Budget},
	} {
		if s.Name != "" {
			f.Who = append(f.Who, s)
		}
	}
	return f
}
