// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/go-preempt/preempt/internal/choices"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A writer makes the document of a scene.
type writer struct {
	s      *Scene
	p      *jobs.Planner
	c      *victims.Cluster
	schema *resources.Schema

	doc     document
	unsaid  []string
	windows bool            // that is said of filters
	wrong   error           // the first thing that no document can hold
	apps    map[string]bool // the applications that have a name
	// ports has the ports that tasks and grants hold, by row.
	ports map[victims.TaskID][]string
	// memberOf has the jobs of the scene whose members tasks and grants are by their
	// keys.
	memberOf map[string]string
	inquiry  []inquiry
	movers   map[victims.TaskID]map[string]string // who may move, and what selects their nodes
}

// An inquiry is an exemption function, and the question that it is asked.
type inquiry struct {
	exempt func(*victims.Question) (time.Time, bool) // nil: it exempts nobody
	asked  *victims.Question
}

func (w *writer) document() *document {
	s := w.s
	w.doc = document{
		Name: s.Name, Now: s.Now.UTC().Format(time.RFC3339Nano),
		Nodes: []node{}, Tasks: []task{}, Requests: []request{},
	}
	if s.Name == "" {
		w.doc.Name = "snapshot"
	}
	w.text(s.Note)
	w.text(w.doc.Name)
	for i := range w.schema.Len() {
		w.doc.Types = append(w.doc.Types, w.text(w.schema.Name(i)))
	}
	w.doc.Queues = w.queue(0)
	w.nodes()
	w.setBudgets()
	w.nameApplications()
	w.options()
	w.asks() // which say what the nodes are labelled, and the tasks' ports
	w.lowered()
	w.moves()
	w.tasks()
	w.grants()
	w.quotas()
	w.minimums()
	return &w.doc
}

// text returns a name that goes into the document as it is.
func (w *writer) text(s string) string {
	if w.wrong == nil && !utf8.ValidString(s) {
		w.wrong = fmt.Errorf("snapshot: name %q: not valid UTF-8", s)
	}
	return s
}

func (w *writer) texts(list []string) []string {
	for _, s := range list {
		w.text(s)
	}
	return append([]string(nil), list...)
}

// lacks notes something that the document cannot say.
func (w *writer) lacks(what, of, why string) {
	if of != "" {
		what = fmt.Sprintf("%s of %q", what, of)
	}
	w.unsaid = append(w.unsaid, what+": "+why)
}

// options writes the options, and notes those that a document has no words for.
func (w *writer) options() {
	p, e := w.p, w.s.Enforcer
	if p.Compare != nil {
		w.lacks("compare", "", "costs are compared in the default order")
	}
	w.doc.Options.Levels = p.Levels
	if p.Blockers != nil && slices.ContainsFunc(w.s.Asks, func(a victims.Ask) bool { return w.isJob(&a) }) {
		w.lacks("blockers", "", "nobody blocks members of jobs")
	}
	if p.Predicate != nil {
		w.lacks("predicate", "", "every node and set of victims is accepted")
	}
	if p.Steps != 0 || len(w.s.Enforce) > 0 && e.Steps != 0 {
		w.lacks("budget", "", "searches have the default budget")
	}
	if own := cmp.Or(p.WithinQueue, queue.Never); own != queue.Never {
		w.doc.Options.OwnLeaf = string(own)
	}
	w.doc.Options.Choices = choices.Of(&p.Options)
	w.scarce()
}

// scarce writes the types whose guarantees count.
func (w *writer) scarce() {
	if w.p.Scarce == nil {
		return
	}
	for i := range w.schema.Len() {
		if w.p.Scarce.Has(i) {
			w.doc.Options.Scarce = append(w.doc.Options.Scarce, w.schema.Name(i))
		}
	}
	if len(w.doc.Options.Scarce) == 0 {
		w.lacks("scarce", "", "all guarantees count, for a document cannot say that none does")
	}
}

// amounts returns a vector as quantities, without its zeros.
func (w *writer) amounts(v resources.Vector) scenario.Amounts {
	return w.limit(resources.Limit{Value: v, Defined: resources.Positive(v)})
}

func (w *writer) limit(l resources.Limit) scenario.Amounts {
	return scenario.Amounts{Schema: w.schema, Limit: l}
}

// longest is the age of what has none: a task of which nobody knows when it was
// created, and an ask that waits for ever.
const longest = 250 * 365 * 24 * time.Hour

// age returns how long ago an instant was. The zero instant is before all others.
// What is in the future is written as of now.
func (w *writer) age(at time.Time) string {
	if at.IsZero() {
		return longest.String()
	}
	return max(0, w.s.Now.Sub(at)).String()
}
