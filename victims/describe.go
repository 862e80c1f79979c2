// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"math/bits"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// Describe writes a decision for people: a line that says it all, then a line for each
// reason. The words in brackets are stable ([Cause], [Count]), other text is not.
// Victims may have gone; queue and node of a refusal must be there still. It counts first
// ([Decision.Count]), and says so if that comes too late.
func (d *Decision) Describe(c *Cluster) string {
	ask := fmt.Sprintf("%s (%s, %s)", plain.Name(d.Plan.Ask.Key), plain.Name(d.Plan.Path), c.quantities(d.Plan.Ask.Size))
	node := func() string { return plain.Name(d.Plan.Place) }
	switch d.Outcome {
	case Fits:
		return fmt.Sprintf("%s fits on %s\n", ask, node())
	case Waits:
		return fmt.Sprintf("%s waits on %s for what is leaving already\n", ask, node())
	case 0:
		return "nothing is decided\n"
	// The plan speaks for itself: names and amounts were noted in it when it
	// was made, and hold when its victims have gone.
	case Preempts:
		if len(d.Plan.Victims) == 0 {
			return fmt.Sprintf("%s runs on %s once those that move have gone\n", ask, node())
		}
		return fmt.Sprintf("%s runs on %s once these have stopped:\n%s", ask, node(), c.describePlan(&d.Plan))
	}
	return fmt.Sprintf("%s is %s", ask, d.DescribeRefusal(c))
}

// describePlan writes a line for each victim, and what they cost.
func (c *Cluster) describePlan(p *Plan) string {
	var b strings.Builder
	for i := range p.Victims {
		// The order is that of the plan, by key: who compares two texts sees
		// what changed and not how a search went.
		v := &p.Victims[i]
		fmt.Fprintf(&b, "  %s on %s (%s, %s, priority %d, rank %d%s)%s\n", plain.Name(v.Key),
			plain.Name(v.Place), plain.Name(v.Path), c.quantities(v.Size), v.Priority, v.Rank, v.remarks(), v.purpose())
	}
	// Indented, so that the cost reads as part of the list and a reader of
	// lines can tell it from the next decision.
	for line := range strings.Lines(p.DescribeCost(c.Schema())) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// remarks says what makes a victim costly to stop.
func (v *Victim) remarks() (s string) {
	if v.OptedOut {
		s += ", opted out"
	}
	if v.Originator {
		s += ", originator"
	}
	return s
}

// Purpose says why a victim is stopped: "blocks the node", "with its job", or where it
// makes room, as in "on the node and under a max".
func (v *Victim) Purpose() string {
	// One victim may make room in more than one place, and all are said: whoever
	// looks for another plan has to replace all.
	var all []string
	for _, at := range []struct {
		room bool
		text string
	}{{v.ForNode, "on the node"}, {v.ForHeadroom, "under a max"}, {v.ForQuota, "under a quota"}} {
		if at.room {
			all = append(all, at.text)
		}
	}
	switch {
	case v.Blocks:
		return "blocks the node"
	case len(all) == 0:
		return "with its job"
	}
	return strings.Join(all, " and ")
}

// purpose is Purpose as the end of a sentence.
func (v *Victim) purpose() string {
	switch {
	case v.Blocks:
		return ", which blocks the node"
	case v.ForNode || v.ForHeadroom || v.ForQuota:
		return " for room " + v.Purpose()
	}
	return " " + v.Purpose()
}

// DescribeCost writes, on a line each, which queues of the path end below their guarantee,
// what a plan costs, and whether another might cost less.
func (p *Plan) DescribeCost(s *resources.Schema) string {
	// What was shown is said with care: a plan that is only the best found must
	// not read like the best there is.
	proof := "no legal plan costs less"
	switch p.Proof {
	case ProofLevels:
		proof = "no lawful plan stops fewer or less important tasks; " + counted(p.Steps, "step")
	case NoProof:
		proof = "the best that was found, in " + counted(p.Steps, "step")
	}
	return rulebook.DescribeEndings(s, p.Ends) + fmt.Sprintf("cost: %v\n%s\n", &p.Cost, proof)
}

// DescribeRefusal writes why an ask is refused, as [Decision.Describe] does.
func (d *Decision) DescribeRefusal(c *Cluster) string {
	var b strings.Builder
	r, stale := &d.Refusal, d.Count()
	fmt.Fprintf(&b, "refused (%v): %s\n", r.Reason, r.Root.First(c)+c.because(d, r.Reason))
	if stale != nil {
		b.WriteString("  the cluster has changed since, and nothing was counted\n")
	}
	if r.Also != "" {
		fmt.Fprintf(&b, "  of other queues it may take nothing (%v): %s\n", r.Also, c.because(d, r.Also))
	}
	// In the order of rules, in which each task is counted once, so that the
	// numbers add up to the tasks looked at.
	for _, n := range r.Counts {
		fmt.Fprintf(&b, "  %d %s (%s)%s\n", n.Tasks, ruleTexts[n.Rule], n.Rule, r.Protects(c, n.Rule))
	}
	if r.Filtered > 0 {
		fmt.Fprintf(&b, "  %s on which it may not run (filter)\n", counted(r.Filtered, "node"))
	}
	if len(r.WaitsFor) > 0 {
		fmt.Fprintf(&b, "  it waits for %s\n", plain.Names(r.WaitsFor))
	}
	if r.Candidates > 0 {
		fmt.Fprintf(&b, "  %d could be taken\n", r.Candidates)
	}
	for _, name := range r.Scarce {
		fmt.Fprintf(&b, "  but not all of those in the budget %s, which has too little left (budget)\n", plain.Name(name))
	}
	// The node is named though it does not do: it tells which amount to look
	// at, which a count of rules does not.
	if r.Closest != noNode {
		fmt.Fprintf(&b, "  closest: %s, %s\n", c.nodeName(r.Closest), c.wouldLack(r))
	}
	if !r.RetryAt.IsZero() {
		fmt.Fprintf(&b, "  try again at %s\n", r.RetryAt.Format(time.RFC3339Nano))
	}
	// Said last, and always: what was not searched to its end may have a plan.
	if !r.Proven {
		fmt.Fprintf(&b, "  not proven: no plan was found in %s\n", counted(r.Steps, "step"))
	}
	return b.String()
}

// Describe writes what would help, for people, on a line that ends in a newline. The queues must
// be there still.
func (h *Help) Describe(c *Cluster) string {
	var all []string
	add := func(named bool, text string) {
		if named {
			all = append(all, text)
		}
	}
	add(h.AnyNode, "room on any node")
	add(h.Node != "", "room on "+plain.Name(h.Node))
	for _, q := range h.Less {
		add(true, "less usage of "+c.queueName(q))
	}
	for _, q := range h.More {
		add(true, "more usage of "+c.queueName(q))
	}
	for _, name := range h.Budgets {
		add(true, "more left in the budget "+plain.Name(name))
	}
	add(h.Time, "time")
	add(h.Bounds, "another guarantee or max")
	add(h.Policies, "other policies of queues")
	add(h.Priorities, "another priority, application or gang of a task")
	add(h.Labels, "other answers of Filter, Exempt and the like")
	return "what would help: " + strings.Join(all, ", ") + "\n"
}

// Text says who protects, as in "that of root.a, cpu=10".
func (p *Protector) Text(c *Cluster) string {
	text := fmt.Sprintf("that of %s, %s", c.queueName(p.Queue), c.bound(c.tree.Guaranteed(p.Queue), p.Type))
	if p.Job != "" {
		text += fmt.Sprintf(": job %s needs %s, and goes whole or not at all", plain.Name(p.Job), counted(p.Minimum, "member"))
	}
	return text
}

// Protects says, after a count of tasks at a rule, whose guarantee keeps them; "" for other rules.
func (r *Cause) Protects(c *Cluster, rule string) string {
	if rule != rulebook.RuleGuarantee.String() || !r.ProtectedBy.Named {
		return ""
	}
	return ", first " + r.ProtectedBy.Text(c)
}

// wouldLack says what the closest node would lack.
func (c *Cluster) wouldLack(r *Refusal) string {
	switch {
	// Amounts first, for they can be acted on.
	case !resources.IsZero(r.Lacks):
		return "which would still lack " + c.quantities(r.Lacks)
	case r.Reason == rulebook.PredicateRefused:
		return "which would lack nothing"
	}
	return "which would lack nothing if all of them could be taken at once"
}

// First says a root before a reason; "" if there is none.
func (r *Root) First(c *Cluster) string {
	if r.Kind == "" {
		return ""
	}
	return r.Text(c) + "; "
}

// because says what the reason of a refusal means here.
func (c *Cluster) because(d *Decision, reason string) string {
	r, leaf := &d.Refusal, d.Plan.Ask.Queue
	// One sentence per reason, about the queue or node that it names: what
	// would have to be otherwise, rather than which law speaks.
	switch reason {
	case InFlight:
		return "a place is held for it, and it cannot start there yet"
	case rulebook.UnknownNode:
		return fmt.Sprintf("the node %s that it requires is not in the cluster", plain.Name(d.Plan.Ask.RequiredNode))
	case Unlawful:
		return "a plan was found that breaks a law, which is a defect of the planner"
	case rulebook.MayNotPreempt:
		return "it must not preempt others"
	case rulebook.TooEarly:
		return fmt.Sprintf("it has not been pending for %v, the preemption delay of its queue", *c.tree.Policies(leaf).PreemptionDelay)
	case rulebook.TooSoon:
		return "preemption was tried for it a short while ago"
	case rulebook.OverMax:
		return fmt.Sprintf("%s is over its max of %s already", c.queueName(r.Queue), c.bound(c.tree.Max(r.Queue), r.Type))
	case rulebook.NotGuaranteed:
		if r.NoneCounts {
			return "guarantees count in scarce types only, and it asks for none of these"
		}
		return "no queue on its path is guaranteed anything that it asks for"
	case rulebook.OverGuarantee:
		return fmt.Sprintf("%s has its guaranteed %s already", c.queueName(r.Queue), c.bound(c.tree.Guaranteed(r.Queue), r.Type))
	case rulebook.HeadroomInside:
		return fmt.Sprintf("it would exceed the max of %s, %s, and only tasks inside the starving queue could make room there",
			c.queueName(r.Queue), c.bound(c.tree.Max(r.Queue), r.Type))
	case rulebook.NothingInReach:
		return "no queue that it could take from is in reach"
	case rulebook.PredicateRefused:
		return "the predicate refuses the nodes that could be made free"
	}
	return "no legal set of victims makes room"
}

// Names come from callers, who may have put anything into them: they are made plain here,
// and nowhere before, so that what is compared stays what it was. See package plain.

func (c *Cluster) queueName(q queue.ID) string { return plain.Name(c.tree.Path(q)) }

func (c *Cluster) nodeName(n NodeID) string { return plain.Name(c.nodes[n].name) }

// quantities writes amounts with their units.
func (c *Cluster) quantities(v resources.Vector) string { return plain.Line(c.Schema().Format(v)) }

// bound writes the bound of a limit on one type.
func (c *Cluster) bound(l resources.Limit, t int) string {
	v, _ := l.Bound(t)
	return plain.Line(c.Schema().Name(t) + "=" + vectors.Text(c.Schema(), t, v))
}

// counted writes a number of things.
func counted[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// portion writes a share of a thing for people: in per cent, rounded half up to
// tenths, and from 10 on as so many times the thing.
func portion(s resources.Share, thing string) string {
	amount, of := uint64(max(s.Amount, 0)), uint64(max(s.Of, 1))
	// In whole numbers, as everything else: a float might round differently on
	// another machine, and golden files would tell.
	whole, rest := amount/of, amount%of
	if whole >= 10 {
		return fmt.Sprintf("%d times %s", whole, thing)
	}
	hi, lo := bits.Mul64(rest, 2000)
	lo, carry := bits.Add64(lo, of, 0)
	half, _ := bits.Div64(hi+carry, lo, of) // twice the thousandths, and one
	switch thousandths := whole*1000 + half/2; {
	// "0%" would say that there is none.
	case thousandths == 0 && amount > 0:
		return "less than 0.1% of " + thing
	case thousandths%10 == 0:
		return fmt.Sprintf("%d%% of %s", thousandths/10, thing)
	default:
		return fmt.Sprintf("%d.%d%% of %s", thousandths/10, thousandths%10, thing)
	}
}

// A table is rows of cells, the first of which is its header.
type table [][]string

func (t *table) row(cells ...string) { *t = append(*t, cells) }

// writeTo writes the rows on a line each, columns aligned and no blanks at the
// end.
func (t table) writeTo(b *strings.Builder) {
	// An ask that was refused before any node was looked at has no table of nodes. A
	// header without rows would say that there are no nodes.
	if len(t) == 1 {
		return
	}
	var lines strings.Builder
	w := tabwriter.NewWriter(&lines, 0, 0, 2, ' ', 0)
	for _, row := range t {
		// Columns are aligned by what the longest cell needs. The last one is
		// not padded, for it is a sentence.
		fmt.Fprintf(w, "  %s\n", strings.Join(row, "\t")) // which cannot fail, nor can Flush
	}
	w.Flush()
	for line := range strings.Lines(lines.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// Describe writes what led to a decision, for people: tables of queues, nodes and
// tasks, and for a refusal the single rules without which there would be a place.
// Nodes must be there still.
func (e *Explanation) Describe(c *Cluster) string {
	// The wide before the narrow: queues say what may be taken at all, nodes where, and
	// tasks who.
	var b strings.Builder
	queues := table{{"queue", "tasks", "candidates", "may lose", "finding"}}
	for i := range e.Queues {
		f := &e.Queues[i]
		tasks, candidates, room := "", "", ""
		// Only leaves have tasks. An empty cell says that the question does not
		// arise, and 0 that there are none.
		if c.tree.IsLeaf(f.Queue) {
			tasks, candidates = fmt.Sprint(f.Tasks), fmt.Sprint(f.Candidates)
		}
		// What law 2 lets a queue lose matters only if it might lose something:
		// not if a rule keeps all of its tasks, and not at the starving queue
		// itself.
		if f.Room.Defined != 0 && f.Rule == "" && !f.Starving {
			room = plain.Line(c.Schema().FormatLimit(f.Room))
		}
		queues.row(c.queueName(f.Queue), tasks, candidates, room, f.Describe(c, e))
	}
	queues.writeTo(&b)
	nodes := table{{"node", "finding"}}
	for i := range e.Nodes {
		nodes.row(c.nodeName(e.Nodes[i].Node), e.Nodes[i].Describe(c))
	}
	nodes.writeTo(&b)
	tasks := table{{"task", "queue", "node", "finding"}}
	for i := range e.Tasks {
		f := &e.Tasks[i]
		tasks.row(plain.Name(f.Key), c.queueName(f.Queue), c.nodeName(f.Node), f.Describe(c, e))
	}
	tasks.writeTo(&b)
	switch {
	// An ask in flight waits for its own victims. No rule stands in its way,
	// and so none is relaxed for it.
	case e.Decision.Outcome != Refused || e.Decision.Refusal.Reason == InFlight:
	// That there is no line must be said: it means that no change of one thing
	// helps, which is an answer and no gap.
	case len(e.Relaxed) == 0:
		b.WriteString("no single rule stands in the way: there is more than one, or too little to take\n")
	default:
		b.WriteString("it would have a place\n")
	}
	for i := range e.Relaxed {
		b.WriteString("  " + e.Relaxed[i].Describe(c) + "\n")
	}
	return b.String()
}

// Describe is as in [Explanation.Describe]; "" for a queue that plays no part.
func (f *QueueFinding) Describe(c *Cluster, e *Explanation) string {
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
	sated := r.Reason == rulebook.OverGuarantee && r.Queue == f.Queue
	part(f.Rule != "" && !asks, ruleText(e, f.Rule, f.Queue))
	part(asks, "the asking queue")
	part(f.OnPath && !asks, "on the path")
	part(sated, "has its guarantee")
	part(f.Starving && !sated, "starving")
	part(f.Fence && f.Queue != queue.Root, "fenced in")
	part(f.Lacks != nil, "lacks headroom "+c.quantities(f.Lacks))
	for i := range e.Decision.Plan.Ends {
		end := &e.Decision.Plan.Ends[i]
		part(end.Queue == c.tree.Path(f.Queue), end.Describe(c.Schema()))
	}
	return strings.Join(parts, ", ")
}

// ruleText writes a rule that keeps tasks of a queue, and what it says.
func ruleText(e *Explanation, rule string, q queue.ID) string {
	text := ruleTexts[rule]
	switch {
	// The rule has one word for both, since both are law 7. Its text tells them
	// apart.
	case rule == "fence" && q == e.Decision.Plan.Ask.Queue:
		return "in the asking queue, from which it takes nothing"
	case rule == "fence":
		text = "beyond the fence"
	// "exempt: exempt" helps nobody.
	case strings.HasPrefix(text, rule):
		return text
	}
	return rule + ": " + text
}

// Describe is as in [Explanation.Describe].
func (f *NodeFinding) Describe(c *Cluster) string {
	text := f.Verdict
	if more := c.nodeText(f); more != "" {
		text += ": " + more
	}
	return text
}

// Describe is as in [Explanation.Describe].
func (f *TaskFinding) Describe(c *Cluster, e *Explanation) string {
	switch {
	case f.Victim:
		return "victim"
	case f.Rule != "":
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
func (c *Cluster) nodeText(f *NodeFinding) string {
	short := "has room for it"
	if !resources.IsZero(f.Short) {
		short = "short of " + c.quantities(f.Short)
	}
	switch f.Verdict {
	case verdictChosen, verdictCostlier, verdictWithheld, verdictRefused:
		// The cost is what the choice among these nodes was made by.
		if f.Cost.Victims > 0 {
			return f.costText()
		}
		if f.Verdict == verdictRefused {
			return short
		}
	case verdictNoRoom:
		// It fits once what is leaving has gone, and the ask does not wait.
		if resources.IsZero(f.Short) {
			return "until what is leaving has gone"
		}
		return short
	case verdictLacks:
		// Candidates that give nothing of what is short change no amount, and
		// two equal amounts in one line would look like a mistake.
		if resources.Equal(f.Short, f.Lacks) {
			return short + ", and no candidate gives any of it"
		}
		return fmt.Sprintf("%s, and still of %s with all its candidates gone", short, c.quantities(f.Lacks))
	case verdictHeadroom:
		return "no legal set of victims makes room under the max"
	case verdictNoLegalSet:
		return short + ", and no legal set of its candidates gives it"
	case verdictUnproven:
		return "the search ended before it came here"
	case verdictFiltered:
		return "the ask may not run there"
	case verdictBlocked:
		return "somebody is in the way there who must stay"
	case verdictUnschedulable:
		return short
	case verdictReserved:
		return fmt.Sprintf("for %s, %s", plain.Name(c.nodes[f.Node].reservedFor), short)
	// The grant is there already. What it is short of now is what it waits for.
	case verdictHeld:
		if !resources.IsZero(f.Short) {
			return "its place is " + short + " as yet"
		}
	}
	return ""
}

// Describe is as in [Explanation.Describe].
func (f *RelaxationFinding) Describe(c *Cluster) string {
	// Every outcome but these two is a place, which needs no victims and no
	// waiting.
	how := "at once"
	switch f.Outcome {
	case Waits:
		how = "once what is leaving has gone"
	case Preempts:
		how = "with " + counted(f.Victims, "victim")
	}
	x := relaxableOf(f.Rule)
	text := x.text
	switch x.about {
	case aboutQueue:
		text = fmt.Sprintf(text, c.queueName(f.Queue))
	case aboutNode:
		text = fmt.Sprintf(text, c.nodeName(f.Node))
	case aboutTask:
		text = fmt.Sprintf(text, plain.Name(f.Key))
	case aboutBudget:
		text = fmt.Sprintf(text, plain.Name(f.Budget))
	}
	return fmt.Sprintf("%s (%v): on %s, %s", text, f.Rule, c.nodeName(f.Place), how)
}
