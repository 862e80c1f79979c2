package victims

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// explanation writes the tables one after another, the wide before the narrow:
// queues say what may be taken at all, nodes where, and tasks who.
func (w writer) explanation(e *Explanation) string {
	var b strings.Builder
	w.queues(&b, e)
	w.nodes(&b, e)
	w.tasks(&b, e)
	// An ask in flight waits for its own victims. No rule stands in its way,
	// and so none is relaxed for it.
	if e.Decision.Outcome == Refused && e.Decision.Refusal.Reason != InFlight {
		w.relaxed(&b, e)
	}
	return b.String()
}

// queues writes the table of queues, in tree order.
func (w writer) queues(b *strings.Builder, e *Explanation) {
	t := table{{"queue", "tasks", "candidates", "may lose", "finding"}}
	for i := range e.Queues {
		f := &e.Queues[i]
		tasks, candidates, room := "", "", ""
		// Only leaves have tasks. An empty cell says that the question does not
		// arise, and 0 that there are none.
		if w.c.tree.IsLeaf(f.Queue) {
			tasks, candidates = fmt.Sprint(f.Tasks), fmt.Sprint(f.Candidates)
		}
		// What law 2 lets a queue lose matters only if it might lose something:
		// not if a rule keeps all of its tasks, and not at the starving queue
		// itself.
		if f.Room.Defined != 0 && f.Rule == 0 && !f.Starving {
			room = plain.Line(w.c.Schema().FormatLimit(f.Room))
		}
		t.row(w.queueName(f.Queue), tasks, candidates, room, w.queue(e, f))
	}
	t.writeTo(b)
}

func (w writer) queue(e *Explanation, f *QueueFinding) string {
	// A queue may be several things at once, and each is said: the asking queue
	// may be fenced in and lack headroom.
	var parts []string
	part := func(on bool, text string) {
		if on {
			parts = append(parts, text)
		}
	}
	asks := f.Queue == e.Decision.Plan.Ask.Queue
	r := &e.Decision.Refusal
	// Being over the guarantee is why it was refused, so it stands here instead
	// of "starving", of which it is the opposite.
	sated := r.Reason == OverGuarantee && r.Queue == f.Queue
	part(f.Rule != 0 && !asks, ruleText(e, f.Rule, f.Queue))
	part(asks, "the asking queue")
	part(f.OnPath && !asks, "on the path")
	part(sated, "has its guarantee")
	part(f.Starving && !sated, "starving")
	part(f.Fence && f.Queue != queue.Root, "fenced in")
	part(f.Lacks != nil, "lacks headroom "+w.amounts(f.Lacks))
	return strings.Join(parts, ", ")
}

// ruleText writes a rule that keeps tasks of a queue, and what it says.
func ruleText(e *Explanation, r Rule, q queue.ID) string {
	text := ruleTexts[r]
	switch {
	// The rule has one word for both, since both are law 7. Its text tells them
	// apart.
	case r == RuleFence && q == e.Decision.Plan.Ask.Queue:
		return "in the asking queue, from which it takes nothing"
	case r == RuleFence:
		text = "beyond the fence"
	// "exempt: exempt" helps nobody.
	case strings.HasPrefix(text, r.String()):
		return text
	}
	return r.String() + ": " + text
}

// nodes writes the table of nodes, in node order.
func (w writer) nodes(b *strings.Builder, e *Explanation) {
	// An ask that was refused before any node was looked at has no table. A
	// header without rows would say that there are no nodes.
	if len(e.Nodes) == 0 {
		return
	}
	t := table{{"node", "finding"}}
	for i := range e.Nodes {
		f := &e.Nodes[i]
		t.row(w.nodeName(f.Node), w.node(f))
	}
	t.writeTo(b)
}

// node writes the stable word of a verdict, and what more there is to say.
func (w writer) node(f *NodeFinding) string {
	text := f.Verdict.String()
	if more := w.nodeText(f); more != "" {
		text += ": " + more
	}
	return text
}

// task writes what one task is to the ask. To be a victim comes first, for a
// victim is a candidate too.
func (w writer) task(e *Explanation, f *TaskFinding) string {
	switch {
	case f.Victim:
		return "victim"
	case f.Rule != 0:
		return ruleText(e, f.Rule, f.Queue)
	}
	return "candidate"
}

// costText writes the cost of a plan for a node. A bound is no plan, so it says that
// it is one.
func (f *NodeFinding) costText() string {
	if f.ByBound {
		return "at least " + f.Cost.String()
	}
	return f.Cost.String()
}

// nodeText says more of a node than its verdict does.
func (w writer) nodeText(f *NodeFinding) string {
	short := "has room for it"
	if !resources.IsZero(f.Short) {
		short = "short of " + w.amounts(f.Short)
	}
	switch f.Verdict {
	case NodeChosen, NodeCostlier, NodeWithheld, NodeRefused:
		// The cost is what the choice among these nodes was made by.
		if f.Cost.Victims > 0 {
			return f.costText()
		}
		if f.Verdict == NodeRefused {
			return short
		}
	case NodeNoRoom:
		// It fits once what is leaving has gone, and the ask does not wait.
		if resources.IsZero(f.Short) {
			return "until what is leaving has gone"
		}
		return short
	case NodeLacks:
		// Candidates that give nothing of what is short change no amount, and
		// two equal amounts in one line would look like a mistake.
		if resources.Equal(f.Short, f.Lacks) {
			return short + ", and no candidate gives any of it"
		}
		return fmt.Sprintf("%s, and still of %s with all its candidates gone", short, w.amounts(f.Lacks))
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
		return fmt.Sprintf("for %s, %s", plain.Name(w.c.nodes[f.Node].reservedFor), short)
	// The grant is there already. What it is short of now is what it waits for.
	case NodeHeld:
		if !resources.IsZero(f.Short) {
			return "its place is " + short + " as yet"
		}
	}
	return ""
}

// tasks writes the table of tasks, leaf by leaf.
func (w writer) tasks(b *strings.Builder, e *Explanation) {
	if len(e.Tasks) == 0 {
		return
	}
	t := table{{"task", "queue", "node", "finding"}}
	for i := range e.Tasks {
		f := &e.Tasks[i]
		t.row(plain.Name(f.Key), w.queueName(f.Queue), w.nodeName(f.Node), w.task(e, f))
	}
	t.writeTo(b)
}
