// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Describe writes a decision for people, as [victims.Decision.Describe] does. The cluster
// must still have the types.
func (d *Decision) Describe(c *victims.Cluster) string {
	w := &writer{c: c, p: &d.Plan}
	j := &d.Plan.Job
	switch who := who(j); d.Outcome {
	// The zero Decision is one that nobody has made, and not a refusal.
	case 0:
		return "nothing is decided\n"
	case victims.Refused:
		stale := d.Count()
		// A refusal writes itself, for callers that have shown the job already.
		w.printf("%s (%s, priority %d) is %s", who, plain.Name(d.Plan.Path), j.Priority, d.Refusal.Describe(c))
		if stale != nil {
			w.printf("  the cluster has changed since, and nothing was counted\n")
		}
		return w.String()
	case victims.Fits:
		w.printf("%s (%s, priority %d) fits: %s\n", who, plain.Name(d.Plan.Path), j.Priority, w.count())
	case victims.Waits:
		w.printf("%s (%s, priority %d) waits for what is leaving already: %s\n", who, plain.Name(d.Plan.Path), j.Priority, w.count())
	// A plan: the line says that nothing runs before the victims have gone.
	default:
		gone := "these have stopped"
		if len(d.Plan.Victims) == 0 {
			gone = "those that move have gone"
		}
		w.printf("%s (%s, priority %d) runs once %s: %s\n", who, plain.Name(d.Plan.Path), j.Priority, gone, w.count())
	}
	w.members()
	// Without victims there is no cost but the node, and nothing to prove.
	if len(d.Plan.Victims) > 0 {
		w.victims()
		w.printf("%s", indented(d.Plan.DescribeCost(c.Schema())))
	}
	return w.String()
}

// who names a job, or a lone ask.
func who(j *victims.Ask) string {
	if isLone(j) {
		return plain.Name(j.Key)
	}
	return "job " + plain.Name(j.Key)
}

// DescribeCost writes, on a line each, which queues of the path end below their guarantee,
// what a plan costs, and whether another might cost less.
func (p *Plan) DescribeCost(s *resources.Schema) string {
	var proof string
	switch p.Proof {
	case victims.ProofCost:
		proof = "no legal plan costs less"
	case victims.ProofLevels:
		// The levels are what the search proves first. Below them are excess
		// and work, on which a cheaper plan may exist.
		proof = "no legal plan costs less up to the sum of ranks"
	default:
		proof = "the best that was found, in " + counted(p.Steps, "step")
	}
	return rulebook.DescribeEndings(s, p.Ends) + fmt.Sprintf("cost: %v\n%s\n", &p.Cost, proof)
}

// writer writes a decision.
type writer struct {
	strings.Builder
	c *victims.Cluster // for the types of amounts only
	p *Plan
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

func (w *writer) amounts(v []int64) string { return plain.Line(w.c.Schema().Format(v)) }

// count says how many members have places, old and new.
func (w *writer) count() string {
	further := 0
	for _, at := range w.p.Placements {
		// Members beyond the minimum cost no victim, so they are told apart:
		// without them the plan would be as dear.
		if at.Extra {
			further++
		}
	}
	s := counted(len(w.p.Placements), "member") + " placed"
	if further > 0 {
		s += fmt.Sprintf(", %d of them beyond the minimum", further)
	}
	return s
}

// members writes a line for each member that is given a place.
func (w *writer) members() {
	// In the order of placing, which is that of the caller's list.
	for _, at := range w.p.Placements {
		m := &w.p.Job.Members[at.Member]
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
	// in the order of their first victims.
	var whole []string
	for i := range w.p.Victims {
		v := &w.p.Victims[i]
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
		for i := range w.p.Victims {
			if v := &w.p.Victims[i]; v.Whole && v.Job == job {
				w.victim("    ", v)
			}
		}
	}
}

func (w *writer) victim(indent string, v *victims.Victim) {
	w.printf("%svictim %s on %s (%s, %s, priority %d, rank %d", indent, plain.Name(v.Key),
		plain.Name(v.Place), plain.Name(v.Path), w.amounts(v.Size), v.Priority, v.Rank)
	if v.OptedOut {
		w.printf(", opted out")
	}
	if v.Originator {
		w.printf(", originator")
	}
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

// Describe writes a refusal as [Decision.Describe] does, but for the job and for what was
// not counted.
func (r *Refusal) Describe(c *victims.Cluster) string {
	var b strings.Builder
	fmt.Fprintf(&b, "refused (%v): %s\n", r.Reason, r.Root.First(c)+r.because(c, r.Reason))
	if r.Also != "" {
		fmt.Fprintf(&b, "  of other queues it may take nothing (%v): %s\n", r.Also, r.because(c, r.Also))
	}
	// Breaches have the numbers of the formulas: what is used, asked for, and
	// allowed.
	for i := range r.Breaches {
		fmt.Fprintf(&b, "  %s\n", r.Breaches[i].Text(c.Schema()))
	}
	// In the order of rules, at the first of which each task is counted.
	for _, n := range r.Counts {
		fmt.Fprintf(&b, "  %d %s (%s)%s\n", n.Tasks, ruleTexts[n.Rule], n.Rule, r.Protects(c, n.Rule))
	}
	if r.Candidates > 0 {
		fmt.Fprintf(&b, "  %d could be taken\n", r.Candidates)
	}
	if r.Filtered > 0 {
		fmt.Fprintf(&b, "  the filter refuses %s\n", counted(r.Filtered, "node"))
	}
	if len(r.Domain) > 0 {
		fmt.Fprintf(&b, "  domain %s came closest: %s\n", plain.Names(r.Domain), r.domainText(c))
	}
	switch {
	// Of a single member the reason says it all. What was never searched has no
	// number of members.
	case !r.searched() || r.Wanted < 2:
	case r.Placeable == 0:
		fmt.Fprintf(&b, "  not even the first of %d members could be placed\n", r.Wanted)
	default:
		fmt.Fprintf(&b, "  the first %d of %d members could be placed\n", r.Placeable, r.Wanted)
	}
	if !r.RetryAt.IsZero() {
		fmt.Fprintf(&b, "  try again at %s\n", r.RetryAt.Format(time.RFC3339Nano))
	}
	// A refusal that is not proven must not read like one that is. Of a plan that was
	// found and withheld there is nothing to prove.
	if !r.Proven && r.Reason != victims.Unlawful {
		fmt.Fprintf(&b, "  not proven: no plan was found in %s\n", counted(r.Steps, "step"))
	}
	return b.String()
}

// because says what a reason means, with the queue and the bound that it is about.
func (r *Refusal) because(c *victims.Cluster, reason string) string {
	text := because[reason]
	s, tree := c.Schema(), c.Tree()
	bound := func(l resources.Limit) string {
		most, _ := l.Bound(r.Type)
		return s.Name(r.Type) + "=" + vectors.Text(s, r.Type, most)
	}
	switch reason {
	case rulebook.OverMax, rulebook.HeadroomInside:
		return fmt.Sprintf(text, plain.Name(tree.Path(r.Queue)), bound(tree.Max(r.Queue)))
	case rulebook.NotGuaranteed:
		if r.NoneCounts {
			return "guarantees count in scarce types only, and its members ask for none of these"
		}
	case rulebook.OverGuarantee:
		return fmt.Sprintf(text, plain.Name(tree.Path(r.Queue)), bound(tree.Guaranteed(r.Queue)))
	case rulebook.NoDomain:
		if r.DomainFull {
			return "the domain of its grants has no room for the others: without these grants it could go elsewhere"
		}
	}
	return text
}

// domainText says what the closest domain has and lacks.
func (r *Refusal) domainText(c *victims.Cluster) string {
	members := counted(r.Wanted, "member")
	// Room alone would do there. So it is laws, budgets or the predicate that
	// keep the victims.
	if resources.IsZero(r.DomainLacks) {
		return fmt.Sprintf("there would be room for %s, but no legal set of victims makes it", members)
	}
	return fmt.Sprintf("with everybody gone who could it has room for %d of %s, and lacks %s",
		r.DomainRoom, members, plain.Line(c.Schema().Format(r.DomainLacks)))
}

// searched reports whether candidates were looked for. Reasons that come before
// that count no tasks, and say nothing of members.
func (r *Refusal) searched() bool {
	return r.Candidates > 0 || len(r.Counts) > 0
}

// because says what reasons mean.
//
// One sentence per reason, which says what would have to be otherwise. The
// reason's word stands before it and never changes; the sentence may.
var because = map[string]string{
	"":                        "nothing is decided",
	victims.InFlight:          "members are leaving still, or cannot start yet where they were placed",
	rulebook.QuotaMin:         "it may not have so much that is not preemptible",
	rulebook.QuotaMax:         "a quota is passed",
	rulebook.MayNotPreempt:    "it must not preempt others",
	rulebook.TooEarly:         "it has not been pending for the preemption delay of its queue",
	rulebook.TooSoon:          "preemption was tried for it a short while ago",
	rulebook.OverMax:          "%s is over its max of %s already",
	rulebook.NotGuaranteed:    "no queue on its path is guaranteed anything that its members ask for",
	rulebook.OverGuarantee:    "%s has its guaranteed %s already, or would have it before the last member",
	rulebook.HeadroomInside:   "it would exceed the max of %s, %s, and only tasks inside the starving queue could make room there",
	rulebook.NothingInReach:   "no queue that it could take from is in reach",
	rulebook.NoVictims:        "no legal set of victims makes room for all members",
	rulebook.PredicateRefused: "the predicate refuses the places that could be made free",
	rulebook.NoDomain:         "no domain of that depth can have all its members",
	victims.Unlawful:          "the plan that was found did not pass the audit",
}

// ruleTexts say of tasks what a rule says of them.
//
// Parts of sentences, after a number of tasks, in the order of the rules.
var ruleTexts = map[string]string{
	"leaving":          "leaving already",
	"required-node":    "bound to a node",
	"same-application": "of the job or its application",
	"fence":            "in the job's queue or beyond its fence",
	"disabled":         "where preemption is disabled",
	"inside":           "inside the starving queue",
	"non-preemptible":  "not preemptible",
	"priority":         "not lower in effective priority",
	"refused":          "unwilling to stop",
	"exempt":           "exempt",
	"gang":             "needed by their jobs",
	"not-helping":      "of no help with what is short",
	"budget":           "more than a hard budget has left",
	"guarantee":        "needed for a guarantee",
}

// counted writes a number of things.
func counted[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// indented moves lines in.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// A report is a decision about a job for machines: with names instead of rows and
// amounts as quantities by type, as [victims.Report]. Its words and the names of
// its fields are stable; Summary and Cost are for people.
type report struct {
	Summary  string         `json:"summary"`
	Outcome  string         `json:"outcome"`
	Job      string         `json:"job"`
	Queue    string         `json:"queue"`
	Priority int32          `json:"priority"`
	Plan     *planReport    `json:"plan,omitempty"`    // for any outcome but Refused
	Refusal  *refusalReport `json:"refusal,omitempty"` // for Refused
}

// A planReport is a [Plan] for machines.
type planReport struct {
	Placements []placementReport       `json:"placements"` // in the order of the members
	Victims    []victimReport          `json:"victims"`    // sorted by key
	Cost       string                  `json:"cost"`
	Lost       any                     `json:"lost,omitempty"`    // work
	Overrun    int64                   `json:"overrun,omitempty"` // of soft budgets
	Proof      string                  `json:"proof"`
	OwnLeaf    bool                    `json:"ownLeaf,omitempty"`
	Ends       []rulebook.EndingReport `json:"ends,omitempty"` // queues of its path that end below their guarantee
	Steps      int64                   `json:"steps"`
}

// A placementReport is a [Placement] for machines.
type placementReport struct {
	Key       string            `json:"key"` // of the member
	Node      string            `json:"node"`
	Resources map[string]string `json:"resources"`
	Further   bool              `json:"further,omitempty"`
}

// A victimReport is a victim for machines.
type victimReport struct {
	Key         string            `json:"key"`
	Name        string            `json:"name,omitempty"`
	Queue       string            `json:"queue"`
	Node        string            `json:"node"`
	Resources   map[string]string `json:"resources"`
	Priority    int32             `json:"priority"`
	Rank        int64             `json:"rank"`
	Job         string            `json:"job,omitempty"`
	Whole       bool              `json:"whole,omitempty"`
	ForNode     bool              `json:"forNode,omitempty"`
	ForHeadroom bool              `json:"forHeadroom,omitempty"`
	ForQuota    bool              `json:"forQuota,omitempty"`
	Blocks      bool              `json:"blocks,omitempty"`
	OptedOut    bool              `json:"optedOut,omitempty"`
	Originator  bool              `json:"originator,omitempty"`
}

// A refusalReport is a [Refusal] for machines.
type refusalReport struct {
	Reason      string         `json:"reason"`
	Also        string         `json:"also,omitempty"`
	OwnLeaf     bool           `json:"ownLeaf,omitempty"`
	Queue       string         `json:"queue,omitempty"` // that the reason is about, or Also
	Type        string         `json:"type,omitempty"`
	Breaches    []any          `json:"breaches,omitempty"`
	NoneCounts  bool           `json:"noneCounts,omitempty"`
	Counts      map[string]int `json:"counts,omitempty"` // tasks by the rule that kept them, none of them 0
	ProtectedBy any            `json:"protectedBy,omitempty"`
	Cause       any            `json:"cause,omitempty"`     // why it could not run even in an empty cluster
	Uncounted   bool           `json:"uncounted,omitempty"` // the cluster had changed when it was asked
	Candidates  int            `json:"candidates,omitempty"`
	Filtered    int            `json:"filtered,omitempty"`
	Placeable   int            `json:"placeable"`
	Wanted      int            `json:"wanted"`
	Domain      []string       `json:"domain,omitempty"`
	DomainRoom  int            `json:"domainRoom,omitempty"` // members for which the domain has room
	// DomainLacks is what the other members ask for, by type.
	DomainLacks map[string]string `json:"domainLacks,omitempty"`
	RetryAt     time.Time         `json:"retryAt,omitzero"`
	Help        any               `json:"help"`
	Proven      bool              `json:"proven"`
	Steps       int64             `json:"steps"`
}

// Report returns a decision for encoding/json, as [victims.Decision.Report] does.
func (d *Decision) Report(c *victims.Cluster) any {
	p := &d.Plan
	r := &report{Summary: d.Summary(c), Outcome: word.Or(d.Outcome), Job: p.Job.Key, Queue: p.Path, Priority: p.Job.Priority}
	switch d.Outcome {
	case victims.Fits, victims.Waits, victims.Preempts:
		r.Plan = p.report(c.Schema())
	case victims.Refused:
		r.Refusal = d.Refusal.report(c)
		r.Refusal.Uncounted = d.Count() != nil
	}
	return r
}

// Summary tells a decision in a line of at most 1 KB, without its end.
func (d *Decision) Summary(c *victims.Cluster) string {
	if d.Outcome != victims.Preempts || len(d.Plan.Victims) == 0 {
		line, _, _ := strings.Cut(d.Describe(c), "\n")
		return plain.Summary(line)
	}
	keys := make([]string, len(d.Plan.Victims))
	for i := range d.Plan.Victims {
		keys[i] = d.Plan.Victims[i].Key
	}
	return plain.Summary(fmt.Sprintf("%s (%s, priority %d) runs once these have stopped: %s",
		who(&d.Plan.Job), plain.Name(d.Plan.Path), d.Plan.Job.Priority, plain.Names(keys)))
}

func (p *Plan) report(s *resources.Schema) *planReport {
	r := &planReport{
		Placements: []placementReport{}, Victims: []victimReport{},
		Cost: p.Cost.String(), Lost: p.Cost.Lost(), Overrun: p.Cost.Overrun, Proof: p.Proof.String(), OwnLeaf: p.OwnLeaf, Ends: rulebook.ReportEndings(s, p.Ends), Steps: p.Steps,
	}
	for _, at := range p.Placements {
		m := &p.Job.Members[at.Member]
		r.Placements = append(r.Placements, placementReport{
			Key: m.Key, Node: at.NodeName, Resources: vectors.Quantities(s, m.Size), Further: at.Extra,
		})
	}
	for i := range p.Victims {
		v := &p.Victims[i]
		r.Victims = append(r.Victims, victimReport{
			Key: v.Key, Name: v.Name, Queue: v.Path, Node: v.Place,
			Resources: vectors.Quantities(s, v.Size), Priority: v.Priority, Rank: v.Rank, Job: v.Job, Whole: v.Whole,
			ForNode: v.ForNode, ForHeadroom: v.ForHeadroom, ForQuota: v.ForQuota, Blocks: v.Blocks,
			OptedOut: v.OptedOut, Originator: v.Originator,
		})
	}
	return r
}

func (r *Refusal) report(c *victims.Cluster) *refusalReport {
	f := &refusalReport{
		Reason: r.Reason, Candidates: r.Candidates, Filtered: r.Filtered, Placeable: r.Placeable, Wanted: r.Wanted,
		Domain: append([]string(nil), r.Domain...), DomainRoom: r.DomainRoom, RetryAt: r.RetryAt, Help: r.Help.Report(c), Proven: r.Proven, Steps: r.Steps,
	}
	s := c.Schema()
	f.Cause = r.Root.Report(c)
	f.Also, f.OwnLeaf, f.NoneCounts, f.ProtectedBy = r.Also, r.OwnLeaf, r.NoneCounts, r.ProtectedBy.Report(c)
	switch about := cmp.Or(r.Also, r.Reason); about {
	case rulebook.OverMax, rulebook.OverGuarantee, rulebook.HeadroomInside:
		f.Queue, f.Type = c.Tree().Path(r.Queue), s.Name(r.Type)
	}
	if !resources.IsZero(r.DomainLacks) {
		f.DomainLacks = vectors.Quantities(s, r.DomainLacks)
	}
	for i := range r.Breaches {
		f.Breaches = append(f.Breaches, r.Breaches[i].Report(s))
	}
	for _, n := range r.Counts {
		if f.Counts == nil {
			f.Counts = make(map[string]int)
		}
		f.Counts[n.Rule] = n.Tasks
	}
	return f
}
