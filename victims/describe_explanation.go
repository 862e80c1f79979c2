package victims

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/resources"
)

// DescribeExplanation writes an explanation for people to read: the decision as
// [Cluster.Describe] writes it, then a line for each queue, node and task, and
// for a refusal one for each rule without which there would be a place.
func (c *Cluster) DescribeExplanation(e *Explanation) string {
	var b strings.Builder
	b.WriteString(c.Describe(&e.Decision))
	b.WriteString("queues\n")
	for i := range e.Queues {
		fmt.Fprintf(&b, "  %s: %s\n", c.tree.Path(e.Queues[i].Queue), c.queueWords(&e.Queues[i]))
	}
	b.WriteString("nodes\n")
	for i := range e.Nodes {
		fmt.Fprintf(&b, "  %s: %s\n", c.nodes[e.Nodes[i].Node].name, c.nodeWords(&e.Nodes[i]))
	}
	b.WriteString("tasks\n")
	for _, t := range e.Tasks {
		word := "candidate"
		switch {
		case t.Victim:
			word = "victim"
		case t.Rule != 0:
			word = t.Rule.String()
		}
		fmt.Fprintf(&b, "  %s: %s\n", t.Key, word)
	}
	if e.Decision.Outcome == Refused {
		b.WriteString("any one of these, relaxed, would give it a place\n")
		for _, r := range e.Relaxed {
			fmt.Fprintf(&b, "  %s: %v, victims %d\n", c.nameOf(r.Relaxation), r.Outcome, r.Victims)
		}
		if len(e.Relaxed) == 0 {
			b.WriteString("  none: more than one rule stands in the way, or there is too little to take\n")
		}
	}
	return b.String()
}

func (c *Cluster) queueWords(f *QueueFinding) string {
	var words []string
	word := func(on bool, format string, args ...any) {
		if on {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	word(f.OnPath, "on the path")
	word(f.Starving, "starving")
	word(f.Fence, "fence root")
	word(f.Lacks != nil, "lacks headroom %s", c.Schema().Format(f.Lacks))
	word(f.Room.Defined != 0, "may lose %s", c.Schema().FormatLimit(f.Room))
	if c.tree.IsLeaf(f.Queue) {
		word(f.Rule != 0, "kept by %v", f.Rule)
		word(true, "candidates %d of %d", f.Candidates, f.Tasks)
	}
	if len(words) == 0 {
		return "nothing to say"
	}
	return strings.Join(words, ", ")
}

func (c *Cluster) nodeWords(f *NodeFinding) string {
	switch f.Verdict {
	case NodeChosen, NodeCostlier:
		if f.Cost.Victims > 0 {
			return fmt.Sprintf("%v: %v", f.Verdict, &f.Cost)
		}
	case NodeLacks:
		return fmt.Sprintf("%v %s of the %s it is short of", f.Verdict, c.Schema().Format(f.Lacks), c.Schema().Format(f.Short))
	case NodeUnschedulable, NodeReserved:
		if !resources.IsZero(f.Short) {
			return fmt.Sprintf("%v, short of %s", f.Verdict, c.Schema().Format(f.Short))
		}
	}
	return f.Verdict.String()
}
