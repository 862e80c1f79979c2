// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
)

// This file and the others that begin with look answer the questions of
// examples/playground, a page on which documents are edited.

// A question is about a document: what it looks like; or, if Set is there, what its
// text is with one value changed, and what that looks like; or, if Storm is set,
// whether its tasks can stop each other for ever; or, if When is set, when the
// request could start; or, if Picture is there, what one draws of it.
type question struct {
	Document string  `json:"document"`
	Step     int     `json:"step"` // an index of the answer's steps; below 0: the first with victims
	Set      *change `json:"set"`
	Storm    bool    `json:"storm"`
	When     bool    `json:"when"`
	Type     string  `json:"type"`    // that lengths are of; "" or unknown: what the request is short of
	All      bool    `json:"all"`     // show all nodes, and not only those that matter most
	Picture  string  `json:"picture"` // "plan" or "card"
}

// A change sets a value of a document.
type change struct {
	At    []any           `json:"at"` // names of fields and indices of items, from the document downwards
	Value json.RawMessage `json:"value"`
}

// A reply is the answer: the text of a document that was changed; or the mistakes
// in it; or the steps that its requests come to, and one of them in full; or the
// storms in it.
type reply struct {
	Document string        `json:"document,omitempty"`
	Mistakes []mistakeLook `json:"mistakes,omitempty"`

	Name     string     `json:"name,omitempty"`
	Note     string     `json:"note,omitempty"`
	Warnings []string   `json:"warnings,omitempty"`
	Steps    []stepLook `json:"steps,omitempty"`
	Step     int        `json:"step"`            // that is shown; below 0: none
	Words    string     `json:"words,omitempty"` // what was decided
	Why      string     `json:"why,omitempty"`   // what led to it
	Scene    *sceneLook `json:"scene,omitempty"`

	Explorable bool       `json:"explorable,omitempty"` // a question for storms has an answer
	Storm      *stormLook `json:"storm,omitempty"`
	Waits      bool       `json:"waits,omitempty"` // a question for when has an answer
	When       *whenLook  `json:"when,omitempty"`
	SVG        string     `json:"svg,omitempty"`
}

// A mistakeLook is something that is wrong with a document.
type mistakeLook struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// A stepLook is a request in a line.
type stepLook struct {
	Title   string `json:"title"`
	Outcome string `json:"outcome,omitempty"` // "" if nothing is decided
}

// A looker answers questions. It keeps what it has read of the last text: one click
// is several questions about the same one, and most of an answer's time is reading.
type looker struct {
	text string
	read *scenario.Source
	doc  *scenario.Document
	err  error // that text is no document
}

// at reads a text, unless it is the last one.
func (l *looker) at(text string) (*scenario.Document, error) {
	if l.read == nil || l.text != text {
		l.text, l.read = text, scenario.ReadSource([]byte(text))
		l.doc, l.err = l.read.Document("")
	}
	return l.doc, l.err
}

// answer answers a question; both are JSON.
func (l *looker) answer(asked []byte) []byte {
	var q question
	var a reply
	switch err := json.Unmarshal(asked, &q); {
	case err != nil:
		a.Mistakes = []mistakeLook{{1, err.Error()}}
	case q.Set != nil:
		a = l.set(&q)
	case q.Storm:
		a = l.storm(&q)
	case q.When:
		a = l.when(&q)
	default:
		a = l.look(&q)
	}
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // nothing in an answer fails
	}
	return text
}

// set returns the text of a document with one value changed, and what it looks like.
// A change may make mistakes, which are those of the new text; a text that cannot be
// changed has mistakes of its own, and there is no new one.
func (l *looker) set(q *question) reply {
	var at *scenario.Path
	for _, step := range q.Set.At {
		switch step := step.(type) {
		case string:
			at = at.Field(step)
		case float64:
			at = at.Item(int(step))
		}
	}
	l.at(q.Document) // whatever is wrong with it as a document, it may be changed
	text, err := l.read.Set(at, string(q.Set.Value))
	if err != nil {
		return wrong(q, err)
	}
	q.Document = string(text)
	a := l.look(q)
	a.Document = q.Document
	return a
}

// wrong returns what is wrong with a document.
func wrong(q *question, err error) (a reply) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			a.Mistakes = append(a.Mistakes, wrong(q, err).Mistakes...)
		}
		return a
	}
	m := mistakeLook{1, err.Error()}
	if at, ok := errors.AsType[*scenario.Error](err); ok {
		m.Line = at.Line([]byte(q.Document))
	}
	a.Mistakes = []mistakeLook{m}
	return a
}

// look decides a document and returns what it looks like.
func (l *looker) look(q *question) reply {
	doc, err := l.at(q.Document)
	if err != nil {
		return wrong(q, err)
	}
	run, err := doc.RunExplainedAt(q.Step)
	if err == nil && q.Step < 0 {
		if q.Step = firstWithVictims(run); q.Step >= 0 {
			run, err = doc.RunExplainedAt(q.Step)
		}
	}
	if err != nil {
		return wrong(q, err)
	}
	a := reply{Name: doc.Name, Note: doc.Note, Step: min(q.Step, len(run.Steps)-1)}
	for _, warning := range slices.Concat(run.Before.Tree().Warnings(), run.Warnings) {
		a.Warnings = append(a.Warnings, warning.Error())
	}
	for i := range run.Steps {
		a.Steps = append(a.Steps, lookOf(run, &run.Steps[i]))
	}
	a.Explorable = (&explored{doc: doc, tree: run.Before.Tree()}).read() == nil
	d, step, err := a.show(run)
	if err != nil {
		return wrong(q, err)
	}
	a.Waits = step != nil && (step.Asked != nil || step.Placed != nil)
	if kind, ok := d.cluster.Schema().Index(q.Type); ok {
		d.kind = kind
	}
	switch q.Picture {
	case "plan":
		return reply{SVG: string(d.svg())}
	case "card":
		return reply{SVG: string(d.card())}
	}
	a.Scene = sceneLookOf(d, step, q.All)
	return a
}

// firstWithVictims returns the first step that has victims, else the first that
// decides anything, else -1.
func firstWithVictims(run *scenario.Run) int {
	step := stepOf(run, firstPlan)
	return slices.IndexFunc(run.Steps, func(s scenario.Step) bool { return step != nil && s.Result == step.Result })
}

// lookOf returns a step in a line.
func lookOf(run *scenario.Run, step *scenario.Step) stepLook {
	title, _, _ := strings.Cut(wordsOf(run, step), "\n")
	l := stepLook{Title: title}
	if step.Result != nil {
		l.Outcome = string(step.Result.Outcome)
	}
	return l
}

// wordsOf returns a step in words, without what led to it.
func wordsOf(run *scenario.Run, step *scenario.Step) string {
	var b strings.Builder
	s := *step
	if s.Asked != nil {
		asked := *s.Asked
		asked.Explanation = nil
		s.Asked = &asked
	}
	page{w: &b, run: run}.step(&s)
	return strings.TrimSpace(b.String())
}

// show adds the words for the step that is shown, and returns the drawing of it.
// The step is nil if it decides nothing.
func (a *reply) show(run *scenario.Run) (*drawing, *scenario.Step, error) {
	var step *scenario.Step
	if a.Step >= 0 {
		step = &run.Steps[a.Step]
		a.Words = wordsOf(run, step)
		if step.Asked != nil && step.Asked.Explanation != nil {
			a.Why = step.Asked.Explanation.String()
		}
		if step.Result == nil {
			d, err := a.quiet(run)
			return d, nil, err
		}
	}
	s, err := sceneAt(run, step)
	if err != nil {
		return nil, nil, err
	}
	return newDrawing(s), step, nil
}

// quiet returns the drawing of the cluster as a step left it that decides nothing.
func (a *reply) quiet(run *scenario.Run) (*drawing, error) {
	doc := *run.Document
	doc.Requests = doc.Requests[:run.Steps[a.Step].Request+1]
	again, err := doc.Run()
	if err != nil {
		return nil, err
	}
	again.Before = again.After
	s, err := sceneAt(again, nil)
	if err != nil {
		return nil, err
	}
	s.headline, s.verdict = plain.Line(a.Steps[a.Step].Title), "the cluster after this"
	return newDrawing(s), nil
}
