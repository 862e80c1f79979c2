// SPDX-License-Identifier: Apache-2.0

// Package when says of a request without a place when it could start, and what would
// make it sooner. Both are found by deciding it again: in clusters of which some tasks
// have gone, or in which one thing is different.
package when

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/examples/plan/internal/moment"
	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// MostDecisions is how often one request is decided again at most. What is found
// within that is certain; what was not tried is said.
const MostDecisions = 1000

// A Waiting is a request that is refused or waits, and what was found about it.
type Waiting struct {
	Request int              `json:"request"`
	Key     string           `json:"key"`
	Queue   string           `json:"queue"`
	Outcome scenario.Outcome `json:"outcome"`
	Reason  string           `json:"reason,omitempty"`

	Start   *Start   `json:"start,omitempty"` // nil: the ends do not say
	NoStart string   `json:"noStart,omitempty"`
	Sooner  []Sooner `json:"sooner"`
	Untried int      `json:"untried,omitempty"` // changes that were not tried to the end
	Unsaid  []string `json:"unsaid,omitempty"`  // of the cluster, which is decided without

	decisions int // that might be made
}

// A Start is when a request fits without victims, if nobody else starts before.
type Start struct {
	After      string            `json:"after"` // from the request on
	At         time.Time         `json:"at"`
	Node       string            `json:"node,omitempty"`
	Placements map[string]string `json:"placements,omitempty"`
	Gone       []string          `json:"gone"` // tasks that have ended by then, in their order
}

// An again decides one request again and again: in a document that has nothing but
// it, and the cluster as it found that.
type again struct {
	doc    *scenario.Document
	left   int // decisions that may still be made
	now    time.Time
	unsaid []string // of the cluster, which no document can say
}

// errEffort ends a search.
var errEffort = errors.New("too many decisions")

// decide decides the request in a document that may differ from a.doc.
func (a *again) decide(doc *scenario.Document) (*scenario.Result, error) {
	if a.left == 0 {
		return nil, errEffort
	}
	a.left--
	run, err := doc.Run()
	if err != nil {
		return nil, err
	}
	return run.Steps[len(run.Steps)-1].Result, nil
}

// Document returns the name of a document, and what there is to say about each request
// of it that is refused or waits.
func Document(text scenario.Text) (name string, all []*Waiting, err error) {
	doc, err := scenario.ParseLong(text.File, text.Data)
	if err != nil {
		return "", nil, err
	}
	all, err = Steps(doc, func(int) bool { return true }, MostDecisions)
	return doc.Name, all, err
}

// Steps is as Document for the steps that are wanted, each within a number of decisions.
func Steps(doc *scenario.Document, wanted func(step int) bool, decisions int) (all []*Waiting, err error) {
	found := make(map[int]*again) // by step
	run, err := doc.RunSeen(func(m *scenario.Moment) error {
		if m.Enforcer != nil || !wanted(m.Step) {
			return nil
		}
		a, err := againOf(doc, m)
		if err == nil {
			a.left, found[m.Step] = decisions, a
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range run.Steps {
		step, a := &run.Steps[i], found[i]
		if a == nil || step.Result.Outcome != waitsWord && step.Result.Outcome != refusedWord {
			continue
		}
		w := &Waiting{
			Request: step.Request, Key: step.Result.Key, Queue: moment.Queue(run, step), Outcome: step.Result.Outcome,
			Reason: step.Result.Reason, Sooner: []Sooner{}, Unsaid: a.unsaid, decisions: decisions,
		}
		if err := a.look(w); err != nil {
			return nil, fmt.Errorf("%s: request %d: %w", doc.File, step.Request, err)
		}
		all = append(all, w)
	}
	return all, nil
}

// The outcomes that matter here, as results have them.
var (
	fitsWord    = scenario.Outcome(victims.Fits.String())
	waitsWord   = scenario.Outcome(victims.Waits.String())
	refusedWord = scenario.Outcome(victims.Refused.String())
)

// againOf returns what decides the request of a moment again.
func againOf(doc *scenario.Document, m *scenario.Moment) (*again, error) {
	text, unsaid, err := snapshot.Take(moment.Scene(doc, m))
	if err != nil {
		return nil, err
	}
	copied, err := scenario.Parse(doc.File, text)
	if err != nil {
		return nil, err
	}
	return &again{doc: copied, unsaid: unsaid, now: m.Now}, nil
}

// look finds out all about a request.
func (a *again) look(w *Waiting) error {
	now, err := a.decide(a.doc)
	if err != nil {
		return err
	}
	if now.Outcome != w.Outcome || now.Reason != w.Reason {
		return fmt.Errorf("as a document of its own it is decided otherwise: %s, %v", say.Result(now), w.Unsaid)
	}
	if err := a.start(w); err != nil {
		return err
	}
	return a.sooner(w)
}

// start finds the earliest end of a task after which the request fits. To fit is
// monotone: tasks that go only free places, and leave room under every max. So
// bisection finds it. The end before that was decided, too, and does not do.
func (a *again) start(w *Waiting) error {
	var times []time.Duration
	silent := 0
	for i := range a.doc.Tasks {
		if end, ok := a.endOf(&a.doc.Tasks[i]); ok {
			times = append(times, end)
		} else {
			silent++
		}
	}
	if len(times) == 0 {
		w.NoStart = "no task says when it ends"
		return nil
	}
	slices.Sort(times)
	times = slices.Compact(times)
	found, err := a.decide(a.after(times[len(times)-1]))
	if err != nil {
		return err
	}
	if found.Outcome != fitsWord {
		w.NoStart = noStart(found, silent)
		return nil
	}
	at, found, err := bisect(-1, int64(len(times)-1), found, func(at int64) (*scenario.Result, error) {
		r, err := a.decide(a.after(times[at]))
		if err != nil || r.Outcome != fitsWord {
			return nil, err
		}
		return r, nil
	})
	if err != nil {
		return err
	}
	end := times[at]
	w.Start = &Start{After: end.String(), At: a.now.Add(end), Node: found.Node, Placements: found.Placements, Gone: a.gone(end)}
	return nil
}

// bisect returns a number above low, up to high, that does while the one before it does
// not, and what is found there. Low does not do, high does with that result; does returns
// no result if a number does not.
func bisect(low, high int64, found *scenario.Result, does func(int64) (*scenario.Result, error)) (int64, *scenario.Result, error) {
	for high-low > 1 {
		middle := low + (high-low)/2
		r, err := does(middle)
		switch {
		case err != nil:
			return 0, nil, err
		case r != nil:
			high, found = middle, r
		default:
			low = middle
		}
	}
	return high, found, nil
}

// noStart says why the ends do not tell when a request starts; r is what is decided
// after the last of them.
func noStart(r *scenario.Result, silent int) string {
	text := "not even when every task has gone that says when it ends: then " + say.Result(r)
	if silent > 0 {
		text += fmt.Sprintf("; %s without an end", say.Counted(silent, "task"))
	}
	return text
}

// endOf returns when a task ends, from the request on. Members of the job that asks do not end before it
// has started.
func (a *again) endOf(t *scenario.Task) (time.Duration, bool) {
	job := a.doc.Requests[len(a.doc.Requests)-1].Job
	if t.Ends == nil || job != nil && t.Job == job.Name {
		return 0, false
	}
	return *t.Ends, true
}

// after returns the document without the tasks that have ended by some time.
func (a *again) after(end time.Duration) *scenario.Document {
	doc := *a.doc
	doc.Tasks = slices.DeleteFunc(slices.Clone(doc.Tasks), func(t scenario.Task) bool {
		at, ok := a.endOf(&t)
		return ok && at <= end
	})
	return &doc
}

// gone returns the tasks that have ended by some time: those that end first come
// first.
func (a *again) gone(end time.Duration) (keys []string) {
	var gone []*scenario.Task
	for i := range a.doc.Tasks {
		if at, ok := a.endOf(&a.doc.Tasks[i]); ok && at <= end {
			gone = append(gone, &a.doc.Tasks[i])
		}
	}
	slices.SortFunc(gone, func(x, y *scenario.Task) int {
		return cmp.Or(cmp.Compare(*x.Ends, *y.Ends), cmp.Compare(x.Key, y.Key))
	})
	for _, t := range gone {
		keys = append(keys, t.Key)
	}
	return keys
}
