// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/resources"
)

// String tells a decision to people: a line that says it all, then a line for each reason. Only words in brackets
// are stable. It tells things as they were then.
func (d Decision) String() string { return d.describe() }

func (d *Decision) describe() string {
	if d.enforces() {
		return d.describeEnforcement()
	}
	if d.Outcome != 0 && d.ofGang() {
		return d.describeGang()
	}
	ask := fmt.Sprintf("%s (%s, %s)", plain.Name(d.Plan.Ask.Key), plain.Name(d.Plan.Path), quantities(d.units(), d.Plan.Ask.Size))
	node := func() string { return plain.Name(d.Plan.place().NodeName) }
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
		return fmt.Sprintf("%s runs on %s once these have %s:\n%s", ask, node(), d.Plan.gone(), d.describePlan())
	}
	return fmt.Sprintf("%s is %s", ask, d.describeRefusal())
}

// enforces reports whether the decision is one about a queue over its max.
func (d *Decision) enforces() bool { return d.Enforcement.Result != "" }

// ofGang reports whether the decision is one about a gang.
func (d *Decision) ofGang() bool { return len(d.Plan.Ask.Members) > 0 }

// gone says what those do whom a plan names.
func (p *Plan) gone() string {
	switch {
	case len(p.Moves) == 0:
		return "stopped"
	case len(p.Victims) == 0:
		return "moved"
	}
	return "stopped or moved"
}

// describe writes what a move is.
func (m *Move) describe(s *resources.Schema) string {
	return fmt.Sprintf("%s moves from %s to %s (%s, %s)\n",
		plain.Name(m.Key), plain.Name(m.FromName), plain.Name(m.ToName), plain.Name(m.Path), plain.Line(s.Format(m.Size)))
}

// describePlan writes a line for each who moves and each victim, and what they cost.
func (d *Decision) describePlan() string {
	var b strings.Builder
	p := &d.Plan
	for i := range p.Moves {
		b.WriteString("  " + p.Moves[i].describe(d.units()))
	}
	for i := range p.Victims {
		// The order is that of the plan, by key: who compares two texts sees
		// what changed and not how a search went.
		v := &p.Victims[i]
		fmt.Fprintf(&b, "  %s on %s (%s, %s, priority %d%s)%s\n", plain.Name(v.Key),
			plain.Name(v.NodeName), plain.Name(v.Path), quantities(d.units(), v.Size), v.Priority, v.remarks(), v.purpose())
	}
	// Indented, so that the cost reads as part of the list and a reader of
	// lines can tell it from the next decision.
	return b.String() + indented(p.costText(d.units()))
}

// remarks says what a victim is beside its priority: its rank, and what makes it costly to stop.
func (v *Victim) remarks() (s string) {
	if v.Rank != 0 {
		s += fmt.Sprintf(", rank %d", v.Rank)
	}
	if v.OptedOut {
		s += ", opted out"
	}
	if v.Originator {
		s += ", originator"
	}
	return s
}

// Purpose says why: "blocks the node", "with its job", or as in "on the node and under a max"; "" if that is not known.
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
	case len(all) == 0 && v.Job != "":
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
	case v.Job == "":
		return ""
	}
	return " " + v.Purpose()
}

// costText writes, on a line each, which queues end below their guarantee, the cost, and the proof.
func (p *Plan) costText(s *resources.Schema) string {
	// What was shown is said with care: a plan that is only the best found must
	// not read like the best there is.
	proof := "no legal plan costs less"
	switch p.Proof {
	case ProofLevels:
		proof = "no lawful plan stops fewer or less important tasks; " + counted(p.Steps, "step")
		if len(p.Ask.Members) > 0 {
			proof = "no legal plan costs less up to the sum of ranks"
		}
	case NoProof:
		proof = "the best that was found, in " + counted(p.Steps, "step")
	}
	return rulebook.DescribeEndings(s, p.Ends) + fmt.Sprintf("cost: %s\n%s\n", p.Cost.text(len(p.Moves)), proof)
}

// DescribeRefusal writes why an ask is refused; of a queue over its max, what keeps the rest, and what else
// goes.
func (d Decision) DescribeRefusal() string { return d.describeRefusal() }

func (d *Decision) describeRefusal() string {
	if d.enforces() {
		return d.describeRest()
	}
	var b strings.Builder
	r := &d.Refusal
	fmt.Fprintf(&b, "refused (%v): %s\n", r.Reason, r.Cause.first(d.units())+d.because(r.Reason))
	if d.counts.by != nil {
		b.WriteString("  what keeps whom is not counted\n")
	}
	if r.Also != "" {
		fmt.Fprintf(&b, "  of other queues it may take nothing (%v): %s\n", r.Also, d.because(r.Also))
	}
	// Breaches have the numbers of the formulas: what is used, asked for, and allowed.
	for i := range r.Breaches {
		fmt.Fprintf(&b, "  %s\n", r.Breaches[i].Text(d.units()))
	}
	// In the order of rules, in which each task is counted once, so that the
	// numbers add up to the tasks looked at.
	for _, n := range r.Counts {
		rule := rulebook.RuleOf(n.Rule)
		text := rule.Ask
		if d.ofGang() {
			text = rule.Gang
		}
		fmt.Fprintf(&b, "  %d %s (%s)%s\n", n.Tasks, text, n.Rule, d.protects(n.Rule))
	}
	if r.Filtered > 0 && !d.ofGang() {
		fmt.Fprintf(&b, "  %s on which it may not run (filter)\n", counted(r.Filtered, "node"))
	}
	if len(r.WaitsFor) > 0 {
		fmt.Fprintf(&b, "  it waits for %s\n", plain.Names(r.WaitsFor))
	}
	if r.Candidates > 0 {
		fmt.Fprintf(&b, "  %d could be taken\n", r.Candidates)
	}
	for _, name := range r.ShortBudgets {
		fmt.Fprintf(&b, "  but not all of those in the budget %s, which has too little left (budget)\n", plain.Name(name))
	}
	// The node is named though it does not do: it tells which amount to look
	// at, which a count of rules does not.
	if r.Closest != "" {
		fmt.Fprintf(&b, "  closest: %s, %s\n", plain.Name(r.Closest), d.wouldLack())
	}
	if d.ofGang() {
		d.tellGang(&b)
	}
	if !r.RetryAt.IsZero() {
		fmt.Fprintf(&b, "  try again at %s\n", r.RetryAt.Format(time.RFC3339Nano))
	}
	// Said last, and always: what was not searched to its end may have a plan. Of a plan of a gang
	// that was withheld there is nothing to prove.
	if !r.Proven && !(d.ofGang() && r.Reason == Unlawful) {
		fmt.Fprintf(&b, "  not proven: no plan was found in %s\n", counted(d.Plan.Steps, "step"))
	}
	return b.String()
}

// String tells it to people, in a line.
func (h Help) String() string {
	var all []string
	add := func(named bool, text string) {
		if named {
			all = append(all, text)
		}
	}
	add(h.anyNode, "room on any node")
	add(h.node != "", "room on "+plain.Name(h.node))
	for _, path := range h.less {
		add(true, "less usage of "+plain.Name(path))
	}
	for _, path := range h.more {
		add(true, "more usage of "+plain.Name(path))
	}
	for _, name := range h.budgets {
		add(true, "more left in the budget "+plain.Name(name))
	}
	add(h.time, "time")
	add(h.Bounds, "another guarantee or max")
	add(h.Policies, "other policies of queues")
	add(h.Priorities, "another priority, application or gang of a task")
	if c, capped := rulebook.CapOf(h.noted.Reason); capped {
		add(true, "a higher cap on "+c.Entry().Noun+"s")
	}
	add(h.Labels, "other answers of Filter, Exempt and the like")
	return "what would help: " + strings.Join(all, ", ")
}

// text says who protects, as in "that of root.a, cpu=10".
func (p *Protector) text(s *resources.Schema) string {
	text := fmt.Sprintf("that of %s, %s", plain.Name(p.Queue), amount(s, p.Type, p.guaranteed))
	if p.Job != "" {
		text += fmt.Sprintf(": job %s needs %s, and goes whole or not at all", plain.Name(p.Job), counted(p.minimum, "member"))
	}
	return text
}

// protects says, after a count of tasks at a rule, whose guarantee keeps them; "" for other rules.
func (d *Decision) protects(rule string) string {
	if rule != rulebook.RuleGuarantee.String() || d.Refusal.ProtectedBy.Queue == "" {
		return ""
	}
	return ", first " + d.Refusal.ProtectedBy.text(d.units())
}

// wouldLack says what the closest node would lack.
func (d *Decision) wouldLack() string {
	r := &d.Refusal
	switch {
	// Amounts first, for they can be acted on.
	case !resources.IsZero(r.Lacks):
		return "which would still lack " + quantities(d.units(), r.Lacks)
	case r.Reason == rulebook.PredicateRefused:
		return "which would lack nothing"
	}
	return "which would lack nothing if all of them could be taken at once"
}

// first says a root before a reason; "" if there is none.
func (r *Cause) first(s *resources.Schema) string {
	if r.Kind == "" {
		return ""
	}
	return r.text(s) + "; "
}

// because says what a reason means here, with what it is about.
//
// One sentence per reason, about the queue or node that it names: what would have to be otherwise,
// rather than which law speaks. The word stands before it and never changes; the sentence may.
func (d *Decision) because(reason string) string {
	r, e := &d.Refusal, rulebook.ReasonOf(reason)
	text := e.Ask
	if d.ofGang() && e.Gang != "" {
		text = e.Gang
	}
	switch {
	case reason == rulebook.NotGuaranteed && r.told.NoneCounts && d.ofGang():
		return "guarantees count in scarce types only, and its members ask for none of these"
	case reason == rulebook.NotGuaranteed && r.told.NoneCounts:
		return "guarantees count in scarce types only, and it asks for none of these"
	case reason == rulebook.NoDomain && r.told.DomainFull:
		return "the domain of its grants has no room for the others: without these grants it could go elsewhere"
	}
	switch e.About {
	case rulebook.AboutMax, rulebook.AboutGuarantee:
		return fmt.Sprintf(text, plain.Name(r.Queue), amount(d.units(), r.Type, r.told.Bound))
	case rulebook.AboutNode:
		return fmt.Sprintf(text, plain.Name(d.Plan.Ask.RequiredNode))
	case rulebook.AboutDelay:
		return fmt.Sprintf(text, time.Duration(r.told.Bound))
	case rulebook.AboutCap:
		c, _ := rulebook.CapOf(reason)
		return fmt.Sprintf(text, counted(r.told.Beyond, c.Entry().Noun))
	}
	return text
}

// Names come from callers, who may have put anything into them: they are made plain here,
// and nowhere before, so that what is compared stays what it was. See package plain.

// quantities writes amounts with their units.
func quantities(s *resources.Schema, v resources.Vector) string { return plain.Line(s.Format(v)) }

// amount writes an amount of one type.
func amount(s *resources.Schema, t int, v int64) string {
	return plain.Line(s.Name(t) + "=" + vectors.Text(s, t, v))
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
	amount, of := max(s.Amount, 0), max(s.Of, 1)
	if times := amount / of; times >= 10 {
		return fmt.Sprintf("%d times %s", times, thing)
	}
	// Exactly, as everything else: a float might round differently on another machine, and
	// golden files would tell.
	share := big.NewRat(amount, of)
	percent := strings.TrimSuffix(share.Mul(share, big.NewRat(100, 1)).FloatString(1), ".0")
	if percent == "0" && amount > 0 {
		percent = "less than 0.1" // "0%" would say that there is none
	}
	return percent + "% of " + thing
}

// describeGang is String for a gang.
func (d *Decision) describeGang() string {
	w := &writer{Decision: d}
	who := fmt.Sprintf("%s (%s, priority %d)", plain.Name(d.Plan.Ask.Key), plain.Name(d.Plan.Path), d.Plan.Ask.Priority)
	if !d.Plan.Ask.isLone() {
		who = "job " + who
	}
	in := ""
	if len(d.Plan.Domain) > 0 {
		in = " in " + plain.Names(d.Plan.Domain)
	}
	switch d.Outcome {
	case Refused:
		return who + " is " + d.describeRefusal()
	case Fits:
		w.printf("%s fits%s: %s\n", who, in, w.count())
	case Waits:
		w.printf("%s waits%s for what is leaving already: %s\n", who, in, w.count())
	// A plan: the line says that nothing runs before the victims have gone.
	default:
		w.printf("%s runs%s once these have %s: %s\n", who, in, d.Plan.gone(), w.count())
	}
	w.members()
	for i := range d.Plan.Moves {
		w.printf("  %s", d.Plan.Moves[i].describe(d.units()))
	}
	// If nobody goes there is no cost but the node, and nothing to prove.
	if len(d.Plan.Victims)+len(d.Plan.Moves) > 0 {
		w.victims()
		w.printf("%s", indented(d.Plan.costText(d.units())))
	}
	return w.text.String()
}

// tellGang writes what a refusal says of a gang alone.
func (d *Decision) tellGang(b *strings.Builder) {
	r := &d.Refusal
	if r.Filtered > 0 {
		fmt.Fprintf(b, "  the filter refuses %s\n", counted(r.Filtered, "node"))
	}
	if len(r.Domain) > 0 {
		fmt.Fprintf(b, "  domain %s came closest: %s\n", plain.Names(r.Domain), d.domainText())
	}
	switch {
	// Of a single member the reason says it all. What was never searched has no
	// number of members.
	case r.Candidates == 0 && len(r.Counts) == 0, r.Wanted < 2:
	case r.Placeable == 0:
		fmt.Fprintf(b, "  not even the first of %d members could be placed\n", r.Wanted)
	default:
		fmt.Fprintf(b, "  the first %d of %d members could be placed\n", r.Placeable, r.Wanted)
	}
}

// writer writes a decision.
type writer struct {
	*Decision
	text strings.Builder
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(&w.text, format, args...) }

func (w *writer) amounts(v []int64) string { return quantities(w.units(), v) }

// count says how many members have places, old and new.
func (w *writer) count() string {
	further := 0
	for _, at := range w.Plan.Places {
		// Members beyond the minimum cost no victim, so they are told apart:
		// without them the plan would be as dear.
		if at.Extra {
			further++
		}
	}
	s := counted(len(w.Plan.Places), "member") + " placed"
	if further > 0 {
		s += fmt.Sprintf(", %d of them beyond the minimum", further)
	}
	return s
}

// members writes a line for each member that is given a place.
func (w *writer) members() {
	// In the order of placing, which is that of the caller's list.
	for _, at := range w.Plan.Places {
		m := &w.Plan.Ask.Members[at.Member]
		w.printf("  member %s (%s) on %s", plain.Name(m.Key), w.amounts(m.Size), plain.Name(at.NodeName))
		if at.Extra {
			w.printf(", beyond the minimum")
		}
		w.printf("\n")
	}
}

// victims writes a line for each victim, those of a job that falls as a whole
// together and last.
func (w *writer) victims() {
	// Victims are sorted by key, so members of one job may be far apart. Jobs come
	// in the order of their first
	var whole []string
	for i := range w.Plan.Victims {
		v := &w.Plan.Victims[i]
		// Who goes alone comes first: there each line stands for a choice.
		// Members of a whole job go because the job does.
		if !v.Whole {
			w.victim("  ", v)
		} else if !slices.Contains(whole, v.Job) {
			whole = append(whole, v.Job)
		}
	}
	for _, job := range whole {
		w.printf("  all of job %s, which would be left below its minimum:\n", plain.Name(job))
		for i := range w.Plan.Victims {
			if v := &w.Plan.Victims[i]; v.Whole && v.Job == job {
				w.victim("    ", v)
			}
		}
	}
}

func (w *writer) victim(indent string, v *Victim) {
	w.printf("%svictim %s on %s (%s, %s, priority %d%s", indent, plain.Name(v.Key),
		plain.Name(v.NodeName), plain.Name(v.Path), w.amounts(v.Size), v.Priority, v.remarks())
	// That its job runs on without it is why it may go alone.
	if v.Job != "" && !v.Whole {
		w.printf(", surplus of job %s", plain.Name(v.Job))
	}
	w.printf(")")
	// A member that goes with its job may make no room anywhere.
	if v.Blocks {
		w.printf(", which blocks the node")
	} else if v.ForNode || v.ForHeadroom || v.ForQuota {
		w.printf(" for room %s", v.Purpose())
	}
	w.printf("\n")
}

// domainText says what the closest domain has and lacks.
func (d *Decision) domainText() string {
	r := &d.Refusal
	members := counted(r.Wanted, "member")
	// Room alone would do there. So it is laws, budgets or the predicate that
	// keep the
	if resources.IsZero(r.Lacks) {
		return fmt.Sprintf("there would be room for %s, but no legal set of victims makes it", members)
	}
	return fmt.Sprintf("with everybody gone who could it has room for %d of %s, and lacks %s",
		r.told.DomainRoom, members, quantities(d.units(), r.Lacks))
}

// indented moves lines in.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// describeEnforcement is String for a queue over its max.
func (d *Decision) describeEnforcement() string {
	w, e := &writer{Decision: d}, &d.Enforcement
	w.printf("%s uses %s with a max of %s (%s): ", plain.Name(d.Plan.Path), w.amounts(e.Usage), w.limit(e.Max), e.Result)
	switch {
	case resources.IsZero(e.Target):
		w.printf("nothing is over\n")
		return w.text.String()
	case resources.IsZero(e.Shortfall):
		w.printf("it is within it")
	default:
		w.printf("%s stay over", w.amounts(e.Shortfall))
	}
	// What is said of usage holds later, and not now.
	if len(d.Plan.Victims) == 0 {
		w.printf(", and nobody can be taken\n")
	} else {
		w.printf(", once these have stopped\n")
	}
	if slices.ContainsFunc(e.Parts, Part.asked) {
		w.printf("  to be freed: %s\n", w.amounts(e.Target))
	}
	for i := range e.Parts {
		w.part(&e.Parts[i])
	}
	return w.text.String() + d.describeRest()
}

// part says what a leaf was asked for, and who gives it.
func (w *writer) part(p *Part) {
	if !p.asked() {
		return
	}
	w.printf("  %s: asked for %s, gives %s\n", plain.Name(p.Queue), w.amounts(p.Asked), w.amounts(p.Freed))
	for i := range w.Plan.Victims {
		if v := &w.Plan.Victims[i]; v.Path == p.Queue {
			w.printf("    %s on %s (%s, priority %d%s)\n", plain.Name(v.Key), plain.Name(v.NodeName), w.amounts(v.Size), v.Priority, v.remarks())
		}
	}
}

// describeRest writes what is to be told of an enforcement beside parts and victims.
func (d *Decision) describeRest() string {
	w, e := &writer{Decision: d}, &d.Enforcement
	for _, o := range e.Obstacles {
		text := rulebook.RuleOf(o.Rule).Quota
		if o.Rule == "guarantee" {
			text = fmt.Sprintf("needed for the guarantee of %s, %s", plain.Name(o.Queue), w.limit(o.guaranteed))
		}
		w.printf("  %s stay: %s (%s)\n", amount(d.units(), o.Type, o.Amount), text, o.Rule)
	}
	if len(e.Grants) > 0 {
		w.printf("  granted places count as usage: %s\n", plain.Names(e.Grants))
	}
	for _, j := range d.whole {
		w.printf("  job %s goes as a whole: minimum %d, running %d\n", plain.Name(j.Job), j.Minimum, j.Victims)
	}
	if over := d.Plan.Cost.Overrun; over > 0 {
		w.printf("  soft budgets are overrun by %d\n", over)
	}
	if !e.Proven {
		w.printf("  not proven: a search was cut short, %d steps were taken\n", d.Plan.Steps)
	}
	return w.text.String()
}

// asked reports whether a leaf was asked at all.
func (p Part) asked() bool { return !resources.IsZero(p.Asked) }

func (w *writer) limit(l resources.Limit) string { return plain.Line(w.units().FormatLimit(l)) }
