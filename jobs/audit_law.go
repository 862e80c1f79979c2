package jobs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/word"
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

	LawMayPreempt // a job with victims may preempt
	LawTrigger    // and the quotas let it

	LawKnown          // each victim is a task, by row and key
	LawOnce           // no task is named twice
	LawLeaving        // no victim is leaving already
	LawRequiredTask   // no victim can run on its node only
	LawApplication    // law 3: no victim is of the job, or of its application
	LawFence          // law 7: no victim is outside the fence
	LawDisabled       // no victim is in a disabled queue
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

	numLaws
)

// laws is how violations are told: with amounts as "amount noun, want relation
// amount", without as the text.
var laws = [numLaws]struct{ noun, relation, text string }{
	LawKey:            {text: "no name, or one that another member has"},
	LawLeaf:           {text: "the job is of no leaf queue"},
	LawSize:           {noun: "asked", relation: "between 0 and"},
	LawNode:           {text: "no node of this row"},
	LawPlaced:         {text: "no member without a place, or placed before"},
	LawMinimum:        {noun: "members of the minimum", relation: "exactly"},
	LawSchedulable:    {text: "takes no new tasks"},
	LawReserved:       {text: "reserved for another"},
	LawFilter:         {text: "refused by the filter"},
	LawDomain:         {text: "not in the domain of the other members"},
	LawMayPreempt:     {text: "the job must not preempt"},
	LawTrigger:        {noun: "before the plan", relation: "at most"},
	LawKnown:          {text: "no task of this row and key"},
	LawOnce:           {text: "named before"},
	LawLeaving:        {text: "leaving already"},
	LawRequiredTask:   {text: "can run on its node only"},
	LawApplication:    {text: "of the job, or of its application"},
	LawFence:          {text: "out of reach"},
	LawDisabled:       {text: "preemption is disabled"},
	LawNonPreemptible: {text: "no job may take it"},
	LawPriority:       {noun: "effective priority", relation: "at most"},
	LawExempt:         {text: "exempt"},
	LawGuarantee:      {noun: "after the plan", relation: "at least"},
	LawBudget:         {noun: "victims", relation: "at most"},
	LawGang:           {noun: "members run on", relation: "at least"},
	LawRoom:           {noun: "free", relation: "at least"},
	LawHeadroom:       {noun: "after the plan", relation: "at most"},
	LawQuota:          {noun: "after the plan", relation: "at most"},
	LawPredicate:      {text: "refused by the predicate"},
	LawMinimal:        {text: "can be given back"},
}

var lawWords = word.Table{Of: "jobs.Law", Words: []string{
	LawKey:            "key",
	LawLeaf:           "leaf",
	LawSize:           "size",
	LawNode:           "node",
	LawPlaced:         "placed",
	LawMinimum:        "minimum",
	LawSchedulable:    "schedulable",
	LawReserved:       "reserved",
	LawFilter:         "filter",
	LawDomain:         "domain",
	LawMayPreempt:     "may-preempt",
	LawTrigger:        "trigger",
	LawKnown:          "known",
	LawOnce:           "once",
	LawLeaving:        "leaving",
	LawRequiredTask:   "required-task",
	LawApplication:    "application",
	LawFence:          "fence",
	LawDisabled:       "disabled",
	LawNonPreemptible: "non-preemptible",
	LawPriority:       "priority",
	LawExempt:         "exempt",
	LawGuarantee:      "guarantee",
	LawBudget:         "budget",
	LawGang:           "gang",
	LawRoom:           "room",
	LawHeadroom:       "headroom",
	LawQuota:          "quota",
	LawPredicate:      "predicate",
	LawMinimal:        "minimal",
}}

// String returns the stable word for the law.
func (l Law) String() string { return lawWords.Word(uint8(l)) }

// MarshalText returns the stable word for the law, and nothing for 0. A number that
// has no word is an error.
func (l Law) MarshalText() ([]byte, error) { return lawWords.Text(uint8(l)) }

// UnmarshalText sets the law whose text is given. Any other text is an error and
// changes nothing.
func (l *Law) UnmarshalText(text []byte) error { return word.Set(l, lawWords, text) }

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
//	guarantee: root.a: cpu 3 after the plan, want at least 5
//	leaving: victim t1: leaving already
func (v Violation) String() string {
	var b strings.Builder
	b.WriteString(v.Law.String())
	for _, who := range []struct{ what, name string }{
		{"member", v.Member}, {"victim", v.Victim}, {"job", v.Job}, {"node", v.Node}, {"budget", v.Budget},
	} {
		if who.name != "" {
			fmt.Fprintf(&b, ": %s %s", who.what, plain.Name(who.name))
		}
	}
	if v.HasQueue && v.tree != nil {
		fmt.Fprintf(&b, ": %s", plain.Name(v.tree.Path(v.Queue)))
	}
	return b.String() + ": " + v.complaint()
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
	case l.noun == "":
		return l.text
	case v.HasType && v.tree != nil:
		s := v.tree.Schema()
		subject = s.Name(v.Type) + " "
		amount = func(n int64) string { return s.Amount(v.Type, n) }
	case v.Law == LawPriority:
		return fmt.Sprintf("%s %d, want %s %d", l.noun, v.Have, l.relation, v.Want)
	}
	return fmt.Sprintf("%s%s %s, want %s %s", subject, amount(v.Have), l.noun, l.relation, amount(v.Want))
}
