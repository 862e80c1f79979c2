package victims

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// DescribeExplanation writes what led to a decision, which is for
// [Cluster.Describe] to write: tables of queues, nodes and tasks with what
// decided about each, a line for each, and for a refusal the single rules
// without which there would be a place. The nodes must be there still.
//
// Findings begin with the stable word of a [Rule] or [NodeVerdict] if one
// decided, but for tasks of the asking queue: [RuleFence] keeps those, though no
// fence may be near. Names that are not plain are quoted.
func (c *Cluster) DescribeExplanation(e *Explanation) string {
	var b strings.Builder
	c.describeQueues(&b, e)
	c.describeNodes(&b, e)
	c.describeTasks(&b, e)
	if e.Decision.Outcome == Refused && e.Decision.Refusal.Reason != InFlight {
		c.describeRelaxed(&b, e)
	}
	return b.String()
}

func (c *Cluster) describeQueues(b *strings.Builder, e *Explanation) {
	t := table{{"queue", "tasks", "candidates", "may lose", "finding"}}
	for i := range e.Queues {
		f := &e.Queues[i]
		tasks, candidates, room := "", "", ""
		if c.tree.IsLeaf(f.Queue) {
			tasks, candidates = fmt.Sprint(f.Tasks), fmt.Sprint(f.Candidates)
		}
		if f.Room.Defined != 0 && f.Rule == 0 && !f.Starving {
			room = plain.Line(c.Schema().FormatLimit(f.Room))
		}
		t.row(c.queueName(f.Queue), tasks, candidates, room, c.DescribeQueue(e, f))
	}
	t.writeTo(b)
}

// DescribeQueue says what a queue is to the ask, as [Cluster.DescribeExplanation]
// does: for a page on which one points at queues. A queue that plays no part
// gets the empty text.
func (c *Cluster) DescribeQueue(e *Explanation, f *QueueFinding) string {
	var parts []string
	part := func(on bool, text string) {
		if on {
			parts = append(parts, text)
		}
	}
	asks := f.Queue == e.Decision.Plan.Ask.Queue
	r := &e.Decision.Refusal
	sated := r.Reason == OverGuarantee && r.Queue == f.Queue
	part(f.Rule != 0 && !asks, ruleText(e, f.Rule, f.Queue))
	part(asks, "the asking queue")
	part(f.OnPath && !asks, "on the path")
	part(sated, "has its guarantee")
	part(f.Starving && !sated, "starving")
	part(f.Fence && f.Queue != queue.Root, "fenced in")
	part(f.Lacks != nil, "lacks headroom "+c.amounts(f.Lacks))
	return strings.Join(parts, ", ")
}

// ruleText writes a rule that keeps tasks of a queue, and what it says.
func ruleText(e *Explanation, r Rule, q queue.ID) string {
	text := ruleTexts[r]
	switch {
	case r == RuleFence && q == e.Decision.Plan.Ask.Queue:
		return "in the asking queue, from which it takes nothing"
	case r == RuleFence:
		text = "beyond the fence"
	case strings.HasPrefix(text, r.String()):
		return text
	}
	return r.String() + ": " + text
}

func (c *Cluster) describeNodes(b *strings.Builder, e *Explanation) {
	if len(e.Nodes) == 0 {
		return
	}
	t := table{{"node", "finding"}}
	for i := range e.Nodes {
		f := &e.Nodes[i]
		t.row(c.nodeName(f.Node), c.DescribeNode(f))
	}
	t.writeTo(b)
}

// DescribeNode says what a node is to the ask, as [Cluster.DescribeExplanation]
// does.
func (c *Cluster) DescribeNode(f *NodeFinding) string {
	text := f.Verdict.String()
	if more := c.nodeText(f); more != "" {
		text += ": " + more
	}
	return text
}

// DescribeTask says what a task is to the ask, as [Cluster.DescribeExplanation]
// does: a victim, a candidate, or what keeps it from being one.
func (c *Cluster) DescribeTask(e *Explanation, f *TaskFinding) string {
	switch {
	case f.Victim:
		return "victim"
	case f.Rule != 0:
		return ruleText(e, f.Rule, f.Queue)
	}
	return "candidate"
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
		if f.Verdict == NodeRefused {
			return short
		}
	case NodeNoRoom:
		if resources.IsZero(f.Short) {
			return "until what is leaving has gone"
		}
		return short
	case NodeLacks:
		if resources.Equal(f.Short, f.Lacks) {
			return short + ", and no candidate gives any of it"
		}
		return fmt.Sprintf("%s, and still of %s with all its candidates gone", short, c.amounts(f.Lacks))
	case NodeHeadroom:
		return "no legal set of victims makes room under the max"
	case NodeNoLegalSet:
		return short + ", and no legal set of its candidates gives it"
	case NodeUnproven:
		return "the search ended before it came here"
	case NodeFiltered:
		return "the ask may not run there"
	case NodeBlocked:
		return "somebody is in the way there who must stay"
	case NodeUnschedulable:
		return short
	case NodeReserved:
		return fmt.Sprintf("for %s, %s", plain.Name(c.nodes[f.Node].reservedFor), short)
	case NodeHeld:
		if !resources.IsZero(f.Short) {
			return "its place is " + short + " as yet"
		}
	}
	return ""
}

func (c *Cluster) describeTasks(b *strings.Builder, e *Explanation) {
	if len(e.Tasks) == 0 {
		return
	}
	t := table{{"task", "queue", "node", "finding"}}
	for i := range e.Tasks {
		f := &e.Tasks[i]
		t.row(plain.Name(f.Key), c.queueName(f.Queue), c.nodeName(f.Node), c.DescribeTask(e, f))
	}
	t.writeTo(b)
}
