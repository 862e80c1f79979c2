package quota

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/queue"
)

// A Law is something that every sound outcome keeps. Its String is a stable
// word.
type Law uint8

const (
	LawQueue  Law = 1 + iota // the queue is one of the tree
	LawUsage                 // usage is what the cluster says
	LawTarget                // the target is what usage has over the max of the outcome
	LawFreed                 // what is freed is what the victims have
	LawShort                 // the shortfall is what is left of the target
	LawResult                // the result is what shortfall, miss and victims make it

	LawKnown        // each victim is a task, by row and key
	LawOnce         // no task is named twice
	LawLeaving      // no victim is leaving already
	LawRequiredTask // no victim can run on its node only
	LawInside       // each victim is below the queue
	LawEnforced     // and below none that is being enforced already
	LawHelpful      // each has a type of the target

	LawGuarantee // law 2: no queue ends below its guarantee, or lower where it was below before
	LawMinimal   // no victim can be given back without freeing less of the target
	LawExact     // with Exact, no more of any type is freed than the target
	LawSpared    // where usage stays over, nobody else could be taken

	LawParts // the parts of the children of each queue are what largest remainder makes them
	LawLeaf  // what a leaf frees, and by how many, is what its victims have

	numLaws
)

// laws is how violations are told: with amounts as "amount noun, want relation
// amount", without as the text.
var laws = [numLaws]struct{ word, noun, relation, text string }{
	LawQueue:        {word: "queue", text: "no queue of the tree"},
	LawUsage:        {word: "usage", noun: "used", relation: "what the cluster has,"},
	LawTarget:       {word: "target", noun: "as target", relation: "what is over max,"},
	LawFreed:        {word: "freed", noun: "said to be freed", relation: "what the victims have,"},
	LawShort:        {word: "shortfall", noun: "said to be short", relation: "what is left of the target,"},
	LawResult:       {word: "result", text: "not what shortfall, miss and victims make it"},
	LawKnown:        {word: "known", text: "no task of this row and key"},
	LawOnce:         {word: "once", text: "named before"},
	LawLeaving:      {word: "leaving", text: "leaving already"},
	LawRequiredTask: {word: "required-task", text: "can run on its node only"},
	LawInside:       {word: "inside", text: "not below the queue"},
	LawEnforced:     {word: "enforced", text: "in a queue that is being enforced already"},
	LawHelpful:      {word: "helpful", text: "has no type of the target"},
	LawGuarantee:    {word: "guarantee", noun: "after the plan", relation: "at least"},
	LawMinimal:      {word: "minimal", text: "can be given back"},
	LawExact:        {word: "exact", noun: "freed", relation: "at most"},
	LawSpared:       {word: "spared", text: "could be taken, and usage stays over"},
	LawParts:        {word: "parts", noun: "as part", relation: "its share of the target,", text: "not in tree order, or not below the queue"},
	LawLeaf:         {word: "leaf", noun: "said to be freed", relation: "what its victims have,", text: "not a leaf in tree order below the queue, or not so many victims"},
}

// String returns the stable word for the law.
func (l Law) String() string {
	if l > 0 && l < numLaws {
		return laws[l].word
	}
	return fmt.Sprintf("Law(%d)", uint8(l))
}

// A Violation is a law that an outcome breaks, and where. It is plain data.
type Violation struct {
	Law Law
	Key string // of the task at fault, or ""

	Queue    queue.ID // the queue at fault; where HasQueue is set
	HasQueue bool
	Type     int // the resource type at fault; where HasType is set
	HasType  bool

	// Have is what there is and Want is what it is compared with: amounts of
	// Type, where that is set.
	Have, Want int64

	tree *queue.Tree // for names, which never change
}

// String tells the violation in a line: the law, who is at fault, and what is
// wrong, as in
//
//	guarantee: root.a: cpu 3 after the plan, want at least 5
//	leaving: "t1": leaving already
func (v Violation) String() string {
	if v.Law == 0 || v.Law >= numLaws {
		return v.Law.String() + ": unknown law"
	}
	var b strings.Builder
	b.WriteString(v.Law.String())
	if v.Key != "" {
		fmt.Fprintf(&b, ": %q", v.Key)
	}
	if v.HasQueue && v.tree != nil {
		fmt.Fprintf(&b, ": %s", v.tree.Path(v.Queue))
	}
	l := &laws[v.Law]
	if !v.HasType || v.tree == nil {
		return b.String() + ": " + l.text
	}
	s := v.tree.Schema()
	fmt.Fprintf(&b, ": %s %s %s, want %s %s", s.Name(v.Type),
		s.Amount(v.Type, v.Have), l.noun, l.relation, s.Amount(v.Type, v.Want))
	return b.String()
}
