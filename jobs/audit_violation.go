package jobs

import (
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

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
