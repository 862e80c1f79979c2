// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/examples/plan/internal/when"
	"github.com/go-preempt/preempt/internal/plain"
)

// A whenLook is what -when says of the request that is shown, in lines.
type whenLook struct {
	Starts string   `json:"starts"`
	Sooner []string `json:"sooner,omitempty"` // any one of these gives it a place now
	Notes  []string `json:"notes,omitempty"`
}

// when answers when the request of a step could start, and what would make that
// sooner. There is no answer for one that has a place.
func (l *looker) when(q *question) reply {
	doc, err := l.at(q.Document)
	if err != nil {
		return wrong(q, err)
	}
	all, err := when.Steps(doc, func(step int) bool { return step == q.Step }, pageDecisions(len(doc.Tasks)+len(doc.Nodes)))
	if err != nil {
		return wrong(q, err)
	}
	if len(all) == 0 {
		return reply{}
	}
	return reply{When: whenLookOf(all[0])}
}

// pageDecisions returns how often a page decides a request again, in a document of so
// many tasks and nodes: fewer times in a large one, for the page waits meanwhile.
func pageDecisions(things int) int { return min(when.MostDecisions, max(20, 200_000/(1+things))) }

func whenLookOf(w *when.Waiting) *whenLook {
	l := &whenLook{Starts: w.Starts(), Notes: w.Notes()}
	for i := range w.Sooner {
		s := &w.Sooner[i]
		what := s.What()
		if s.Change == "node" {
			more := "one more node"
			if s.By != "1" {
				more = s.By + " more nodes"
			}
			l.Sooner = append(l.Sooner, fmt.Sprintf("%s like %s: %s", more, plain.Name(s.Of), say.Result(s.Then)))
			continue
		}
		l.Sooner = append(l.Sooner, fmt.Sprintf("%s of %s by %s more: %s", what, plain.Name(s.Of), s.By, say.Result(s.Then)))
	}
	return l
}
