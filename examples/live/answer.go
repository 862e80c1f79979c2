// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/victims"
)

// answer decides a document, and tells who waits, who could run at whose cost, and why
// the others cannot.
func answer(doc *scenario.Document) ([]byte, error) {
	unlawful := map[int]string{} // by step
	run, err := doc.RunSeen(func(m *scenario.Moment) error {
		audit(unlawful, m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var fit, cost, wait []string
	stopped := map[string]bool{}
	for i := range run.Steps {
		s := &run.Steps[i]
		if s.Result == nil {
			continue
		}
		line, law := plain.Name(s.Result.Key), unlawful[i]
		switch promised := promises(doc, s); {
		case law != "":
			wait = append(wait, line+": its plan is not lawful: "+law)
		case promised != nil:
			fit = append(fit, line+" on "+plain.Names(promised)+", where its place is held for it, once those that are leaving have gone")
		case s.Result.Outcome == scenario.OutcomePlan:
			for _, v := range s.Result.Victims {
				stopped[v] = true
			}
			cost = append(cost, line+where(s.Result)+price(s.Result))
		case s.Result.Outcome == scenario.OutcomeFits:
			fit = append(fit, line+where(s.Result))
		case s.Result.Outcome == scenario.OutcomeWaits:
			fit = append(fit, line+where(s.Result)+", once those that are leaving have gone")
		default:
			wait = append(wait, line+": "+why(s, run))
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d wait: %d could run, %d could run at the cost of %d that run, %d could not.\n",
		len(fit)+len(cost)+len(wait), len(fit), len(cost), len(stopped), len(wait))
	for _, part := range []struct {
		title string
		lines []string
	}{{"At a cost", cost}, {"Without any", fit}, {"Not", wait}} {
		if len(part.lines) > 0 {
			fmt.Fprintf(&b, "\n%s:\n  %s\n", part.title, strings.Join(part.lines, "\n  "))
		}
	}
	return b.Bytes(), nil
}

// audit has the plan of a job looked at by code that shares nothing with the planner. The
// planner trusts what it is told of members that run, such as that they have the priority
// of their job; this does not.
func audit(unlawful map[int]string, m *scenario.Moment) {
	if m.Job == nil {
		return
	}
	var d victims.Decision
	if err := m.JobPlanner.Decide(&d, m.Job, m.Now); err != nil || d.Outcome == victims.Refused {
		return // the run itself tells of an error
	}
	p := m.JobPlanner
	auditor := victims.Auditor{Cluster: p.Cluster, Options: p.Options}
	for _, v := range auditor.Audit(nil, &d, m.Now) {
		unlawful[m.Step] = plain.Line(v.String())
		return
	}
}

// promises returns the nodes on which an ask or a job that is in flight has been promised its
// places, or nil.
func promises(doc *scenario.Document, s *scenario.Step) (nodes []string) {
	if s.Result.Reason != victims.InFlight {
		return nil
	}
	for i := range doc.Grants {
		if g := &doc.Grants[i]; g.Key == s.Result.Key || g.Job == s.Result.Key {
			nodes = append(nodes, g.Node)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// where returns the nodes of a plan.
func where(r *scenario.Result) string {
	if r.Node != "" {
		return " on " + plain.Name(r.Node)
	}
	var nodes []string
	for _, n := range r.Placements { // in any order: they are sorted
		nodes = append(nodes, n)
	}
	slices.Sort(nodes)
	if nodes = slices.Compact(nodes); len(nodes) == 0 {
		return ""
	}
	return " on " + plain.Names(nodes)
}

// price returns who has to stop for a plan, and who has to move.
func price(r *scenario.Result) (line string) {
	if len(r.Victims) > 0 {
		line = ", if these stop: " + plain.Names(r.Victims)
	}
	var moves []string
	for _, key := range slices.Sorted(maps.Keys(r.Moves)) {
		moves = append(moves, plain.Name(key)+" to "+plain.Name(r.Moves[key]))
	}
	if len(moves) > 0 {
		line += ", if these move: " + strings.Join(moves, ", ")
	}
	return line
}

// why returns the reason of a refusal in a line, with the gang whose guarantee forbids a
// plan: who reads it may want it smaller.
func why(s *scenario.Step, run *scenario.Run) string {
	line, cause := "", (*victims.Refusal)(nil)
	switch {
	case s.Asked != nil:
		line, cause = s.Asked.Decision.Summary(), &s.Asked.Decision.Refusal
	case s.Placed != nil:
		line, cause = s.Placed.Decision.Summary(), &s.Placed.Decision.Refusal
	}
	if cause != nil && cause.ProtectedBy.Queue != "" {
		line += "; a guarantee protects others, " + lent.To(cause).WhoProtects(cause, run.After.Schema())
	}
	return plain.Line(line)
}
