package victims

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
)

// relaxed writes a line for each single rule without which an ask would
// not have been refused.
func (w writer) relaxed(b *strings.Builder, e *Explanation) {
	// That there is no line must be said: it means that no change of one thing
	// helps, which is an answer and no gap.
	if len(e.Relaxed) == 0 {
		b.WriteString("no single rule stands in the way: there is more than one, or too little to take\n")
		return
	}
	b.WriteString("it would have a place\n")
	for i := range e.Relaxed {
		fmt.Fprintf(b, "  %s\n", w.relaxation(&e.Relaxed[i]))
	}
}

func (w writer) relaxation(f *RelaxationFinding) string {
	// Every outcome but these two is a place, which needs no victims and no
	// waiting.
	how := "at once"
	switch f.Outcome {
	case Waits:
		how = "once what is leaving has gone"
	case Preempts:
		how = "with " + counted(f.Victims, "victim")
	}
	return fmt.Sprintf("%s (%v): on %s, %s", w.relaxedText(f), f.Rule, w.nodeName(f.Place), how)
}

// relaxedText says what would have to be otherwise.
func (w writer) relaxedText(f *RelaxationFinding) string {
	// By what the sentence is about. Names are put in here and not when the
	// finding is made, since only text wants them plain.
	switch text := relaxedTexts[f.Rule]; f.Rule {
	case RelaxTrigger, RelaxMax, RelaxFence, RelaxDisabled, RelaxGuarantee:
		return fmt.Sprintf(text, w.queueName(f.Queue))
	case RelaxBudget:
		return fmt.Sprintf(text, plain.Name(f.Budget))
	case RelaxUnschedulable, RelaxReservation:
		return fmt.Sprintf(text, w.nodeName(f.Node))
	case RelaxApplication, RelaxPriority, RelaxExemption, RelaxRequiredNode:
		return fmt.Sprintf(text, plain.Name(f.Key))
	default:
		return text
	}
}

// relaxedTexts have a %s for the queue, node or task that a rule is about.
var relaxedTexts = [numRelaxables]string{
	// The conditional is meant: the plan would then exist, but nobody says that
	// the rule ought to go.
	RelaxMayNot:        "if it might preempt others",
	RelaxDelay:         "without the preemption delay of its queue",
	RelaxInterval:      "without the interval between attempts",
	RelaxUngoverned:    "if it needed no guarantee",
	RelaxTrigger:       "if %s were under its guarantee",
	RelaxInside:        "if it might take from inside the starving queue",
	RelaxMax:           "without the max of %s",
	RelaxFence:         "without the fence of %s",
	RelaxDisabled:      "if preemption were not disabled in %s",
	RelaxGuarantee:     "without the guarantee of %s",
	RelaxBudget:        "if the budget %s had more left",
	RelaxUnschedulable: "if %s were schedulable",
	RelaxReservation:   "if %s were not reserved",
	RelaxApplication:   "if %s were of another application",
	RelaxPriority:      "if %s were low enough in effective priority",
	RelaxExemption:     "if %s were not exempt",
	RelaxRequiredNode:  "if %s were not bound to its node",
}
