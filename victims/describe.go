package victims

import (
	"fmt"
	"strings"
	"time"
)

// Describe writes a decision for people to read: a first line that says it
// all, then a line for each reason. It ends with a newline.
func (c *Cluster) Describe(d *Decision) string {
	var b strings.Builder
	if d.Outcome == Refused {
		c.describeRefusal(&b, &d.Plan.Ask, &d.Refusal)
	} else {
		c.describePlan(&b, d)
	}
	return b.String()
}

func (c *Cluster) describePlan(b *strings.Builder, d *Decision) {
	p := &d.Plan
	ask := fmt.Sprintf("%s (%s, %s)", p.Ask.Key, c.tree.Path(p.Ask.Queue), c.Schema().Format(p.Ask.Size))
	node := c.nodes[p.Node].name
	switch d.Outcome {
	case Fits:
		fmt.Fprintf(b, "%s fits on %s\n", ask, node)
		return
	case Waits:
		fmt.Fprintf(b, "%s waits on %s for what is leaving already\n", ask, node)
		return
	}
	fmt.Fprintf(b, "%s runs on %s once these have stopped:\n", ask, node)
	for i := range p.Victims {
		v := &p.Victims[i]
		t := c.Task(v.Task)
		fmt.Fprintf(b, "  stop %s on %s (%s, %s, rank %d) %s\n", v.Key, c.nodes[t.Node].name,
			c.tree.Path(t.Queue), c.Schema().Format(t.Size), v.Rank, v.purpose())
	}
	proof := "proven least"
	if !p.Proven {
		proof = "best found"
	}
	fmt.Fprintf(b, "  cost: %v (%s, steps %d)\n", &p.Cost, proof, p.Steps)
}

// purpose says what a victim is stopped for.
func (v *Victim) purpose() string {
	switch {
	case v.ForNode && v.ForHeadroom:
		return "for room on the node and under a max"
	case v.ForHeadroom:
		return "for room under a max"
	}
	return "for room on the node"
}

func (c *Cluster) describeRefusal(b *strings.Builder, ask *Ask, r *Refusal) {
	fmt.Fprintf(b, "%s (%s, %s) is refused: %v: %s\n", ask.Key, c.tree.Path(ask.Queue),
		c.Schema().Format(ask.Size), r.Reason, c.because(ask, r))
	if r.Reason == NoVictims || r.Reason == PredicateRefused {
		fmt.Fprintf(b, "  tasks: %s\n", r.counts())
	}
	if r.HasClosest {
		lacks := "nothing, but no legal set of victims gives it all"
		if r.Reason == PredicateRefused {
			lacks = "nothing"
		}
		for _, v := range r.Lacks {
			if v > 0 {
				lacks = c.Schema().Format(r.Lacks)
				break
			}
		}
		fmt.Fprintf(b, "  closest: %s, where with all candidates gone is lacking: %s\n", c.nodes[r.Closest].name, lacks)
	}
	if !r.RetryAt.IsZero() {
		fmt.Fprintf(b, "  retry at: %s\n", r.RetryAt.Format(time.RFC3339Nano))
	}
	if !r.Proven {
		fmt.Fprintf(b, "  not proven: the search ended at step %d\n", r.Steps)
	}
}

// because says what the reason of a refusal means here.
func (c *Cluster) because(ask *Ask, r *Refusal) string {
	s := c.Schema()
	amount := func(v int64) string { return s.Amount(r.Type, v) + " of " + s.Name(r.Type) }
	switch r.Reason {
	case InFlight:
		return "it is granted a place and waits for it to become free"
	case MayNotPreempt:
		return "it must not preempt others"
	case TooEarly:
		return fmt.Sprintf("pending for less than the %v of its queue", c.tree.PreemptionDelay(ask.Queue))
	case TooSoon:
		return "preemption was tried for it a short time ago"
	case OverMax:
		most, _ := c.tree.Max(r.Queue).Bound(r.Type)
		return fmt.Sprintf("%s is over its max %s already", c.tree.Path(r.Queue), amount(most))
	case NotGuaranteed:
		return "no queue guarantees it anything"
	case OverGuarantee:
		g, _ := c.tree.Guaranteed(r.Queue).Bound(r.Type)
		return fmt.Sprintf("%s has its guaranteed %s", c.tree.Path(r.Queue), amount(g))
	case HeadroomInside:
		most, _ := c.tree.Max(r.Queue).Bound(r.Type)
		return fmt.Sprintf("only tasks inside the starving queue could make room under the max %s of %s",
			amount(most), c.tree.Path(r.Queue))
	case NothingInReach:
		return "no queue is in reach, enabled and outside the starving one"
	case PredicateRefused:
		return "the predicate refused every node"
	}
	return "no legal set of victims makes room"
}

// counts writes how many tasks each rule kept, in the order of rules.
func (r *Refusal) counts() string {
	var parts []string
	for rule := Rule(1); rule < NumRules; rule++ {
		if n := r.Counts[rule]; n > 0 {
			parts = append(parts, fmt.Sprintf("%v %d", rule, n))
		}
	}
	parts = append(parts, fmt.Sprintf("candidates %d", r.Candidates))
	return strings.Join(parts, ", ")
}
