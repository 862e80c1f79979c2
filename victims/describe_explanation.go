package victims

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
)

// DescribeExplanation writes what led to a decision, which is for
// [Cluster.Describe] to write: tables of queues, nodes and tasks with what
// decided about each, a line for each, and for a refusal the rules without
// which there would be a place. The cluster must be as it was.
//
// Findings begin with the stable word of a [Rule] or [NodeVerdict]. Names that
// are not plain are quoted.
func (c *Cluster) DescribeExplanation(e *Explanation) string {
	var b strings.Builder
	c.describeQueues(&b, e.Queues)
	c.describeNodes(&b, e)
	c.describeTasks(&b, e.Tasks)
	if e.Decision.Outcome == Refused && e.Decision.Refusal.Reason != InFlight {
		c.describeRelaxed(&b, e)
	}
	return b.String()
}

func (c *Cluster) describeQueues(b *strings.Builder, queues []QueueFinding) {
	var t table
	t.row("queue", "tasks", "candidates", "guarantee spares", "findings")
	for i := range queues {
		f := &queues[i]
		tasks, candidates, room := "", "", ""
		if c.tree.IsLeaf(f.Queue) {
			tasks, candidates = fmt.Sprint(f.Tasks), fmt.Sprint(f.Candidates)
		}
		if f.Room.Defined != 0 {
			room = plain.Line(c.Schema().FormatLimit(f.Room))
		}
		t.row(c.queueName(f.Queue), tasks, candidates, room, c.queueText(f))
	}
	t.writeTo(b)
}

// queueText says what a queue is to the ask.
func (c *Cluster) queueText(f *QueueFinding) string {
	var parts []string
	part := func(on bool, text string) {
		if on {
			parts = append(parts, text)
		}
	}
	part(f.OnPath, "on the path")
	part(f.Starving, "starving")
	part(f.Fence, "the fence")
	part(f.Lacks != nil, "lacks headroom "+c.amounts(f.Lacks))
	part(f.Rule != 0, ruleText(f.Rule))
	return strings.Join(parts, ", ")
}

func (c *Cluster) describeNodes(b *strings.Builder, e *Explanation) {
	var t table
	t.row("node", "finding")
	for i := range e.Nodes {
		f := &e.Nodes[i]
		text := f.Verdict.String()
		if more := c.nodeText(f); more != "" {
			text += ": " + more
		}
		t.row(c.nodeName(f.Node), text)
	}
	t.writeTo(b)
}

// nodeText says more of a node than its verdict does.
func (c *Cluster) nodeText(f *NodeFinding) string {
	short := "has room for it"
	if !resources.IsZero(f.Short) {
		short = "short of " + c.amounts(f.Short)
	}
	switch f.Verdict {
	case NodeChosen, NodeCostlier, NodeWithheld, NodeRefused:
		if f.Cost.Victims > 0 {
			return f.Cost.String()
		}
	case NodeNoRoom:
		if resources.IsZero(f.Short) {
			return "until what is leaving has gone"
		}
		return short
	case NodeLacks:
		return fmt.Sprintf("%s, and of %s with all its candidates gone", short, c.amounts(f.Lacks))
	case NodeHeadroom:
		return "no legal set of victims makes room under the max"
	case NodeNoLegalSet:
		return short + ", and no legal set of its candidates gives that"
	case NodeUnproven:
		return "the search ended before it came here"
	case NodeUnschedulable:
		return short
	case NodeReserved:
		return fmt.Sprintf("for %s; %s", plain.Name(c.nodes[f.Node].reservedFor), short)
	case NodeHeld:
		if !resources.IsZero(f.Short) {
			return "its place is " + short + " as yet"
		}
	}
	return ""
}

func (c *Cluster) describeTasks(b *strings.Builder, tasks []TaskFinding) {
	var t table
	t.row("task", "queue", "node", "finding")
	for i := range tasks {
		f := &tasks[i]
		text := "candidate"
		switch {
		case f.Victim:
			text = "victim"
		case f.Rule != 0:
			text = ruleText(f.Rule)
		}
		t.row(plain.Name(f.Key), c.queueName(f.Queue), c.nodeName(f.Node), text)
	}
	t.writeTo(b)
}

// ruleText writes a rule with what it says, unless that is the same.
func ruleText(r Rule) string {
	if word := r.String(); word != ruleTexts[r] {
		return word + ": " + ruleTexts[r]
	}
	return ruleTexts[r]
}

func (c *Cluster) describeRelaxed(b *strings.Builder, e *Explanation) {
	b.WriteString("one rule less would do:\n")
	for i := range e.Relaxed {
		f := &e.Relaxed[i]
		then := fmt.Sprintf("%v %s", f.Outcome, c.nodeName(f.Place))
		switch f.Outcome {
		case Fits:
			then = "it fits on " + c.nodeName(f.Place)
		case Waits:
			then = "it waits on " + c.nodeName(f.Place)
		case Preempts:
			then = fmt.Sprintf("it runs on %s without %s", c.nodeName(f.Place), counted(f.Victims, "victim"))
		}
		fmt.Fprintf(b, "  %s (%v): %s\n", c.relaxedText(f.Relaxation), f.Rule, then)
	}
	if len(e.Relaxed) == 0 {
		b.WriteString("  none: more than one stands in the way, or there is too little to take\n")
	}
}

// relaxedText says what would have to be otherwise.
func (c *Cluster) relaxedText(r Relaxation) string {
	switch text := relaxedTexts[r.Rule]; r.Rule {
	case RelaxTrigger, RelaxMax, RelaxFence, RelaxDisabled, RelaxGuarantee:
		return fmt.Sprintf(text, c.queueName(r.Queue))
	case RelaxUnschedulable, RelaxReservation:
		return fmt.Sprintf(text, c.nodeName(r.Node))
	case RelaxApplication, RelaxPriority, RelaxExemption, RelaxRequiredNode:
		return fmt.Sprintf(text, plain.Name(c.tasks[r.Task].key))
	default:
		return text
	}
}

// relaxedTexts have a %s for the queue, node or task that a rule is about.
var relaxedTexts = [numRelaxables]string{
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
	RelaxUnschedulable: "if %s were schedulable",
	RelaxReservation:   "if %s were not reserved",
	RelaxApplication:   "if %s were of another application",
	RelaxPriority:      "if %s were low enough in effective priority",
	RelaxExemption:     "if %s were not exempt",
	RelaxRequiredNode:  "if %s were not bound to its node",
}
