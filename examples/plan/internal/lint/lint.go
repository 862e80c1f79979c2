// SPDX-License-Identifier: Apache-2.0

// Package lint says what can go wrong with a document as a policy, before it runs.
package lint

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
)

// Options say how far small worlds are explored, and by whose rules.
type Options struct {
	States int    // at most so many are looked at
	Rules  string // one of Rules
}

// A Report is what was found in a document.
type Report struct {
	Name     string    `json:"name"`
	Findings []Finding `json:"findings"`
	Worlds   *Worlds   `json:"worlds"`
}

// Clean reports whether there is nothing but notes.
func (r *Report) Clean() bool {
	return r.Worlds.Loop == nil && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Note })
}

// Document looks for what can go wrong with a document. It decides nothing.
func Document(text scenario.Text, o Options) (*Report, error) {
	doc, err := scenario.Parse(text.File, text.Data)
	if err != nil {
		return nil, err
	}
	newTree := queue.NewLenient
	if doc.Strict {
		newTree = queue.New
	}
	tree, err := newTree(doc.Schema, doc.Root.Config())
	if err != nil {
		return nil, doc.Fail(doc.Root.At, "", err)
	}
	for i := range doc.Tasks {
		leaf, _ := tree.Lookup(doc.Tasks[i].Queue)
		if err := tree.Add(leaf, doc.Tasks[i].Resources); err != nil {
			return nil, doc.Fail(doc.Tasks[i].At, "", err)
		}
	}
	l, counting := findings(doc, tree), tree
	if scarce := doc.Options.Scarce; scarce != 0 {
		counting, _ = trees.Counting(tree, new(queue.Tree), &scarce)
	}
	return &Report{doc.Name, l, explore(doc, counting, o)}, nil
}

// Write writes a report for people.
func (r *Report) Write(out io.Writer) {
	fmt.Fprintf(out, "%s\n", plain.Line(r.Name))
	for _, f := range r.Findings {
		note := ""
		if f.Note {
			note = "note: "
		}
		fmt.Fprintf(out, "  %s%s %s: %s\n", note, f.Kind, plain.Name(f.Name), plain.Line(f.Text))
	}
	r.Worlds.write(out)
}

// write tells a loop as a story.
func (w *Worlds) write(out io.Writer) {
	if w.Loop == nil {
		fmt.Fprintf(out, "  no loop in %d small worlds, %d states; all worlds of up to %d tasks (rules: %s)\n", w.Worlds, w.States, w.Tasks, w.Rules)
		return
	}
	l := w.Loop
	fmt.Fprintf(out, "  loop of %d steps, with a node of %s (rules: %s)\n", len(l.Steps), plain.Line(l.Node), w.Rules)
	for _, t := range l.Tasks {
		state := "waits"
		if t.Runs {
			state = "runs"
		}
		fmt.Fprintf(out, "    %s of %s, %s, priority %d, %s\n", t.Key, plain.Name(t.Queue), plain.Line(t.Resources), t.Priority, state)
	}
	for i, s := range l.Steps {
		what := "starts in free room"
		if len(s.Stops) > 0 {
			what = "stops " + strings.Join(s.Stops, " and ")
		}
		fmt.Fprintf(out, "    %d. %s %s\n", i+1, s.Starts, what)
	}
	fmt.Fprintf(out, "    and all is as it was before: so on for ever\n")
}
