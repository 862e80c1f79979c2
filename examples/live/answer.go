// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/scenario"
)

// answer decides a document, and tells who waits, who could run at whose cost, and why
// the others cannot.
func answer(text []byte) ([]byte, error) {
	doc, err := scenario.Parse("the document", text)
	if err != nil {
		return nil, err
	}
	run, err := doc.Run()
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
		line := plain.Name(s.Result.Key)
		switch s.Result.Outcome {
		case scenario.OutcomePlan:
			for _, v := range s.Result.Victims {
				stopped[v] = true
			}
			cost = append(cost, fmt.Sprintf("%s%s, if these stop: %s", line, where(s.Result), plain.Names(s.Result.Victims)))
		case scenario.OutcomeFits:
			fit = append(fit, line+where(s.Result))
		case scenario.OutcomeWaits:
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

// why returns the reason of a refusal in a line.
func why(s *scenario.Step, run *scenario.Run) string {
	line := ""
	switch {
	case s.Asked != nil:
		line = s.Asked.Decision.Summary(run.After)
	case s.Placed != nil:
		line = s.Placed.Decision.Summary(run.After)
	}
	return plain.Line(line)
}
