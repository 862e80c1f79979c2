package quota

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Describe writes an outcome for an administrator to read: a first line that
// says it all, then what was to be freed, what each leaf gives and by whom,
// and what stopped it. It ends with a newline. The queues must be there still;
// victims may have gone.
//
// Words in brackets are those of [Result] and [Rule], and stable; the text
// around them may be improved. Names that are not plain are quoted.
func (o *Outcome) Describe(c *victims.Cluster) string {
	if o.Result == 0 {
		return "nothing is decided\n"
	}
	var b strings.Builder
	w := writer{&b, c, o}
	w.headline()
	if len(o.Leaves) > 0 {
		w.printf("  to be freed: %s\n", w.amounts(o.Target))
	}
	for i := range o.Leaves {
		w.leaf(&o.Leaves[i])
	}
	b.WriteString(o.DescribeRest(c))
	return b.String()
}

// DescribeRest writes what [Outcome.Describe] has to say beside parts and
// victims, on a line each: what stopped the enforcement, grants that count,
// jobs that suffer, and whether a search was cut short. Victims need not be
// there any more.
func (o *Outcome) DescribeRest(c *victims.Cluster) string {
	var b strings.Builder
	w := writer{&b, c, o}
	for i := range o.Stops {
		w.stop(&o.Stops[i])
	}
	if len(o.Grants) > 0 {
		w.printf("  granted places count as usage: %s\n", plain.Names(o.Grants))
	}
	for _, j := range o.Jobs {
		w.printf("  job %s goes as a whole: minimum %d, running %d\n", plain.Name(j.Job), j.Minimum, j.Victims)
	}
	if o.Overrun > 0 {
		w.printf("  soft budgets are overrun by %d\n", o.Overrun)
	}
	if !o.Proven {
		w.printf("  not proven: a search was cut short, %d steps were taken\n", o.Steps)
	}
	return b.String()
}

// A writer writes an outcome.
type writer struct {
	b *strings.Builder
	c *victims.Cluster
	o *Outcome
}

func (w writer) printf(format string, args ...any) { fmt.Fprintf(w.b, format, args...) }

// headline says who is over what, and what comes of it.
func (w writer) headline() {
	o := w.o
	w.printf("%s uses %s with a max of %s", w.queue(o.Queue), w.amounts(o.Usage), w.limit(o.Max))
	switch {
	case resources.IsZero(o.Target):
		w.printf(" (%v): nothing is over\n", o.Result)
		return
	case o.Result == Met:
		w.printf(" (%v): it is within it", o.Result)
	case o.Result == MetWithinMiss:
		w.printf(" (%v): %s stay over, which may be missed", o.Result, w.amounts(o.Shortfall))
	default:
		w.printf(" (%v): %s stay over", o.Result, w.amounts(o.Shortfall))
	}
	if len(o.Victims) == 0 {
		w.printf(", and nobody can be taken\n")
		return
	}
	w.printf(", once these have stopped\n")
}

// leaf says what a leaf was asked for, and who gives it.
func (w writer) leaf(l *Leaf) {
	w.printf("  %s: asked for %s, gives %s\n", w.queue(l.Queue), w.amounts(l.Asked), w.amounts(l.Freed))
	for i := range w.o.Victims {
		v := &w.o.Victims[i]
		if v.Path != w.c.Tree().Path(l.Queue) {
			continue
		}
		w.printf("    %s on %s (%s, priority %d%s)\n", plain.Name(v.Key),
			plain.Name(v.Place), w.amounts(v.Size), v.Priority, remarks(v))
	}
}

// remarks says what makes a victim costly to stop.
func remarks(v *victims.Victim) (s string) {
	if v.OptedOut {
		s += ", opted out"
	}
	if v.Originator {
		s += ", originator"
	}
	return s
}

// stop says what keeps how much.
func (w writer) stop(s *Stop) {
	schema := w.c.Schema()
	amount := plain.Line(schema.Name(s.Type) + "=" + schema.Amount(s.Type, s.Amount))
	text := ruleTexts[s.Rule]
	if s.Rule == RuleGuarantee {
		text = fmt.Sprintf("needed for the guarantee of %s, %s", w.queue(s.Queue), w.limit(w.c.Tree().Guaranteed(s.Queue)))
	}
	w.printf("  %s stay: %s (%v)\n", amount, text, s.Rule)
}

// ruleTexts say what a rule says of tasks.
var ruleTexts = [NumRules]string{
	RuleGuarantee:    "needed for a guarantee",
	RuleBudget:       "no more tasks of a hard budget may stop",
	RuleGang:         "their jobs may not lose one more, and cannot go as a whole",
	RuleOvershoot:    "each task is more than what is still to be freed",
	RuleEnforced:     "in queues that are being enforced already",
	RuleRequiredNode: "bound to a node",
	RuleGranted:      "granted to asks that have not started",
}

func (w writer) queue(q queue.ID) string { return plain.Name(w.c.Tree().Path(q)) }

func (w writer) amounts(v resources.Vector) string { return plain.Line(w.c.Schema().Format(v)) }

func (w writer) limit(l resources.Limit) string { return plain.Line(w.c.Schema().FormatLimit(l)) }
