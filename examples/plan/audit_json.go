// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// Judgements are the judgements of a document, for programs.
type judgements struct {
	Name       string      `json:"name"`
	Judgements []judgement `json:"judgements"`
}

// A judgement is one of them. Verdict is what a person reads, and Lawful, Fails
// and Defect say it for programs.
type judgement struct {
	Request int               `json:"request"`
	Key     string            `json:"key"`
	Verdict string            `json:"verdict"`
	Lawful  bool              `json:"lawful"`
	Fails   bool              `json:"fails"`
	Defect  bool              `json:"defect,omitempty"`
	Broken  []scenario.Broken `json:"broken,omitempty"`
	Cost    string            `json:"cost,omitempty"`
	Least   string            `json:"least,omitempty"`
	Ours    *scenario.Result  `json:"ours"`
}

// writeJudgementsJSON is writeJudgements for programs.
func writeJudgementsJSON(w io.Writer, all []outcome) (int, error) {
	var t tally
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, o := range all {
		out := judgements{Name: o.run.Document.Name, Judgements: []judgement{}}
		for i := range o.run.Steps {
			if s := &o.run.Steps[i]; s.Judged != nil {
				out.Judgements = append(out.Judgements, judgementOf(s))
				t.add(s.Judged)
			}
		}
		if err := e.Encode(out); err != nil {
			return bad, fmt.Errorf("%s: %w", o.file, err)
		}
	}
	return t.status(), nil
}

func judgementOf(s *scenario.Step) judgement {
	j := s.Judged
	out := judgement{
		Request: s.Request, Key: s.Result.Key, Verdict: j.String(), Lawful: j.Verdict != scenario.Breaks && j.Verdict != scenario.Refuses,
		Fails: j.Fails(), Defect: j.Defect(), Broken: j.Broken, Ours: s.Result,
	}
	if j.Cost != nil {
		out.Cost = j.Cost.String()
	}
	if j.Least != nil {
		out.Least = j.Least.String()
	}
	return out
}
