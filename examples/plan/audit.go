// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/victims"
)

// writeJudgements writes for people what there is to say about the plans that
// the documents propose, and returns the exit status.
func writeJudgements(w io.Writer, all []outcome) int {
	var t tally
	for _, o := range all {
		for i := range o.run.Steps {
			if s := &o.run.Steps[i]; s.Judged != nil {
				p := page{w: w, run: o.run}
				p.judgement(o.file, s)
				t.add(s.Judged)
			}
		}
	}
	t.write(w)
	return t.status()
}

// judgement writes what is proposed for a request, and what is wrong with it or
// how it compares.
func (p page) judgement(file string, s *scenario.Step) {
	j := s.Judged
	proposed := p.run.Document.Requests[s.Request].Proposed
	p.printf("%s: request %d, %s: %v\n", file, s.Request, plain.Name(s.Result.Key), j)
	p.printf("  proposed: %s\n", proposalText(proposed))
	for _, b := range j.Broken {
		p.printf("    %s\n", plain.Line(b.Text))
	}
	if j.Cost != nil && j.Outcome == victims.Preempts {
		p.printf("    cost: %v\n", j.Cost)
	}
	if remark := remarkOn(j); remark != "" {
		p.printf("  %s\n", remark)
	}
	if j.Verdict == scenario.Same {
		return
	}
	p.printf("  %s: %s\n", better[j.Verdict], resultText(s.Result))
	if j.Least != nil && s.Result.Outcome == scenario.OutcomePlan {
		p.printf("    cost: %v\n", j.Least)
	}
}

// better are words for the plan of this library, beside one that is not the
// same.
var better = map[scenario.Verdict]string{
	scenario.Cheaper: "ours",
	scenario.Lawful:  "ours",
	scenario.Dearer:  "better",
	scenario.Breaks:  "lawful",
	scenario.Refuses: "lawful",
}

// remarkOn returns what else there is to say about a judgement.
func remarkOn(j *scenario.Judged) string {
	switch {
	case j.Defect():
		return "ours was said to be the least: that is a defect of this library, please report it"
	case j.Verdict == scenario.Cheaper:
		return "ours is the best that was found before the search ended: it was not proven"
	case j.Verdict == scenario.Dearer && j.OwnLeaf:
		return "only the option of the own leaf allows it, and there is a plan without that"
	case j.Verdict == scenario.Lawful:
		return "what it costs could not be worked out"
	}
	return ""
}

// proposalText returns a proposal in a line.
func proposalText(p *scenario.Proposal) string {
	var keys []string
	for _, ref := range p.Victims {
		keys = append(keys, ref.Key)
	}
	slices.Sort(keys)
	return planText(p.Node, p.Placements, keys)
}

// resultText returns the decision of this library in a line.
func resultText(r *scenario.Result) string {
	if r.Outcome == scenario.OutcomeRefused {
		return "a refusal, " + r.Reason
	}
	return planText(r.Node, r.Placements, r.Victims)
}

// planText returns a plan in a line.
func planText(node string, placements map[string]string, keys []string) string {
	var parts []string
	if node != "" {
		parts = append(parts, "on "+plain.Name(node))
	}
	for _, member := range slices.Sorted(maps.Keys(placements)) {
		parts = append(parts, plain.Name(member)+" on "+plain.Name(placements[member]))
	}
	if len(keys) > 0 {
		parts = append(parts, "victims "+plain.Names(keys))
	} else if len(parts) > 0 {
		parts = append(parts, "no victims")
	} else {
		parts = append(parts, "a refusal")
	}
	return strings.Join(parts, ", ")
}

// A tally counts verdicts.
type tally struct {
	counts  map[scenario.Verdict]int
	judged  int
	defects int
	fails   int
}

func (t *tally) add(j *scenario.Judged) {
	if t.counts == nil {
		t.counts = make(map[scenario.Verdict]int)
	}
	t.counts[j.Verdict]++
	t.judged++
	if j.Defect() {
		t.defects++
	}
	if j.Fails() {
		t.fails++
	}
}

// write writes the last line: how many there are of each verdict.
func (t *tally) write(w io.Writer) {
	line := fmt.Sprintf("%d judged", t.judged)
	sign := ": "
	for v := scenario.Same; v <= scenario.Refuses; v++ {
		if n := t.counts[v]; n > 0 {
			line += fmt.Sprintf("%s%d %v", sign, n, v)
			sign = ", "
		}
	}
	if t.defects > 0 {
		line += fmt.Sprintf("; %d of them a defect of this library", t.defects)
	}
	fmt.Fprintln(w, line)
}

// status returns the exit status.
func (t *tally) status() int {
	if t.fails > 0 {
		return differs
	}
	return decided
}
