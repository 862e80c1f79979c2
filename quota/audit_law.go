package quota

import "github.com/go-preempt/preempt/internal/finding"

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
	LawEnforced     // and below no queue that is being enforced already
	LawHelpful      // each has a type of the target, or goes with its gang, which has

	LawGuarantee // law 2: no queue ends below its guarantee, or lower if it was below before
	LawGang      // a job loses what it has above its minimum, or goes as a whole
	LawBudget    // no hard budget is overrun
	LawOverrun   // the overrun is that of the soft budgets
	LawMinimal   // no victim can be given back without freeing less of the target
	LawExact     // with Exact, no more of any type is freed than the target
	LawSpared    // if usage stays over, nobody else could be taken

	LawParts // the parts of the children of each queue are what largest remainder makes them
	LawLeaf  // what a leaf frees, and by how many, is what its victims have
)

// laws are the words of the laws.
var laws = finding.Laws{
	LawQueue:        {Word: "queue", Text: "no queue of the tree"},
	LawUsage:        {Word: "usage", Noun: "used", Relation: "what the cluster has,"},
	LawTarget:       {Word: "target", Noun: "as target", Relation: "what is over max,"},
	LawFreed:        {Word: "freed", Noun: "said to be freed", Relation: "what the victims have,"},
	LawShort:        {Word: "shortfall", Noun: "said to be short", Relation: "what is left of the target,"},
	LawResult:       {Word: "result", Text: "not what shortfall, miss and victims make it"},
	LawKnown:        {Word: "known", Text: "no task of this row and key"},
	LawOnce:         {Word: "once", Text: "named before"},
	LawLeaving:      {Word: "leaving", Text: "leaving already"},
	LawRequiredTask: {Word: "required-task", Text: "can run on its node only"},
	LawInside:       {Word: "inside", Text: "not below the queue"},
	LawEnforced:     {Word: "enforced", Text: "in a queue that is being enforced already"},
	LawHelpful:      {Word: "helpful", Text: "has no type of the target"},
	LawGuarantee:    {Word: "guarantee", Number: 2, Noun: "after the plan", Relation: "at least"},
	LawGang:         {Word: "gang", Text: "its job loses more than it can spare, and does not go as a whole"},
	LawBudget:       {Word: "budget", Noun: "victims", Relation: "at most", Unit: finding.Count},
	LawOverrun:      {Word: "overrun", Noun: "said to overrun soft budgets", Relation: "what the victims make it,", Unit: finding.Count},
	LawMinimal:      {Word: "minimal", Text: "can be given back"},
	LawExact:        {Word: "exact", Noun: "freed", Relation: "at most"},
	LawSpared:       {Word: "spared", Text: "could be taken, and usage stays over"},
	LawParts:        {Word: "parts", Noun: "as part", Relation: "its share of the target,", Text: "not in tree order, or not below the queue"},
	LawLeaf:         {Word: "leaf", Noun: "said to be freed", Relation: "what its victims have,", Text: "not a leaf in tree order below the queue, or not so many victims"},
}

// String returns the stable word for the law.
func (l Law) String() string { return laws.Word(uint8(l)) }

// MarshalText returns the stable word for the law. A number that is no law is an
// error.
func (l Law) MarshalText() ([]byte, error) { return laws.MarshalWord("quota", uint8(l)) }

// UnmarshalText sets the law to that of a stable word. Another text is an error,
// and leaves the law as it was.
func (l *Law) UnmarshalText(word []byte) error {
	law, err := laws.UnmarshalWord("quota", word)
	if err == nil {
		*l = Law(law)
	}
	return err
}
