// SPDX-License-Identifier: Apache-2.0

// Package against compares two policies: the state and the requests of each document
// are decided under either.
package against

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/go-preempt/preempt/examples/plan/internal/moment"
	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Contrast is one document under two policies.
type Contrast struct {
	Old, New *scenario.Run
	Changes  []Changed
	queues   map[string]*Sides // by path
}

// A Changed is a decision that is not the same under both policies.
type Changed struct {
	Request int             `json:"request"`
	Key     string          `json:"key"`
	Queue   string          `json:"queue"`
	Old     scenario.Result `json:"old"`
	New     scenario.Result `json:"new"`
}

// Sides is what a queue has of the decisions, under either policy.
type Sides struct {
	Old Ledger `json:"old"`
	New Ledger `json:"new"`
}

// A Ledger counts what a queue gets and gives.
type Ledger struct {
	Placed  int     `json:"placed"`          // asks and members of jobs that get a place, at once or after victims
	Stopped int     `json:"stopped"`         // victims
	Moved   int     `json:"moved,omitempty"` // tasks that run on elsewhere
	Gets    amounts `json:"gets,omitempty"`
	Gives   amounts `json:"gives,omitempty"`
}

// amounts are sums by type, those of several documents too. They end at the
// largest int64.
type amounts map[string]int64

// MarshalJSON writes quantities as documents spell them.
func (a amounts) MarshalJSON() ([]byte, error) {
	all := make(map[string]string, len(a))
	for name, v := range a {
		all[name] = resources.FormatQuantity(name, v)
	}
	return json.Marshal(all)
}

func (a *amounts) add(name string, v int64) {
	if v == 0 {
		return
	}
	if *a == nil {
		*a = make(amounts)
	}
	(*a)[name] += min(v, math.MaxInt64-(*a)[name])
}

func (a *amounts) addVector(s *resources.Schema, v resources.Vector) {
	for i := range s.Len() {
		a.add(s.Name(i), v.At(i))
	}
}

// Document decides a document under two policies.
func Document(s, old, new scenario.Text) (*Contrast, error) {
	c := &Contrast{queues: make(map[string]*Sides)}
	for _, side := range []struct {
		run           **scenario.Run
		policy, other scenario.Text
	}{{&c.Old, old, new}, {&c.New, new, old}} {
		doc, err := scenario.Under(s, side.policy, side.other)
		if err != nil {
			return nil, err
		}
		if *side.run, err = doc.Run(); err != nil {
			return nil, err
		}
	}
	c.count(c.Old, func(queue string) *Ledger { return &c.at(queue).Old })
	c.count(c.New, func(queue string) *Ledger { return &c.at(queue).New })
	// Both have the same requests, and a request has as many steps under both.
	for i := range c.Old.Steps {
		was, is := &c.Old.Steps[i], &c.New.Steps[i]
		if was.Result == nil || sameDecision(was.Result, is.Result) {
			continue
		}
		c.Changes = append(c.Changes, Changed{
			Request: was.Request, Key: is.Result.Key, Queue: moment.Queue(c.New, is), Old: *was.Result, New: *is.Result,
		})
	}
	return c, nil
}

func (c *Contrast) at(queue string) *Sides {
	if c.queues[queue] == nil {
		c.queues[queue] = new(Sides)
	}
	return c.queues[queue]
}

// sameDecision reports whether two results come to the same. How certain they are,
// and how many tasks which rule kept, is not compared: nobody runs or stops for it.
func sameDecision(a, b *scenario.Result) bool {
	text := func(r scenario.Result) string {
		r.Counts, r.Proven, r.Proof = nil, nil, ""
		t, err := json.Marshal(r)
		if err != nil {
			panic(err) // nothing in a result fails
		}
		return string(t)
	}
	return text(*a) == text(*b)
}

// count adds what the steps of a run come to.
func (c *Contrast) count(run *scenario.Run, of func(queue string) *Ledger) {
	schema, tree := run.Document.Schema, run.After.Tree()
	for i := range run.Steps {
		s := &run.Steps[i]
		if s.Result == nil {
			continue
		}
		asker := of(moment.Queue(run, s))
		var gone []victims.Task
		var moved []victims.Move
		switch {
		case s.Asked != nil:
			gone, moved = s.Asked.Victims, s.Asked.Decision.Plan.Moves
			if s.Result.Outcome != refusedWord {
				asker.Placed++
				asker.Gets.addVector(schema, s.Asked.Decision.Plan.Ask.Size)
			}
		case s.Placed != nil:
			gone, moved = s.Placed.Victims, s.Placed.Decision.Plan.Moves
			for _, at := range s.Placed.Decision.Plan.Places {
				asker.Placed++
				asker.Gets.addVector(schema, s.Placed.Decision.Plan.Ask.Members[at.Member].Size)
			}
		default:
			gone = s.Enforced.Victims
		}
		for i := range gone {
			t := of(tree.Path(gone[i].Queue))
			t.Stopped++
			t.Gives.addVector(schema, gone[i].Size)
		}
		for i := range moved {
			of(moved[i].Path).Moved++
		}
	}
}

// refusedWord is what a result says of an ask without a place.
var refusedWord = scenario.Outcome(victims.Refused.String())

// A Summary is what all documents come to.
type Summary struct {
	Documents int               `json:"documents"`
	Decisions int               `json:"decisions"`
	Changed   int               `json:"changed"`
	Queues    map[string]*Sides `json:"queues"` // those in which anything differs
}

// Sum adds contrasts up.
func Sum(all []*Contrast) *Summary {
	whole := &Contrast{queues: make(map[string]*Sides)}
	s := &Summary{Documents: len(all), Queues: whole.queues}
	for _, c := range all {
		s.Changed += len(c.Changes)
		s.Decisions += c.decisions()
		for path, q := range c.queues {
			to := whole.at(path)
			to.Old.addLedger(&q.Old)
			to.New.addLedger(&q.New)
		}
	}
	maps.DeleteFunc(s.Queues, func(_ string, q *Sides) bool { return q.same() })
	return s
}

func (c *Contrast) decisions() (n int) {
	for i := range c.New.Steps {
		if c.New.Steps[i].Result != nil {
			n++
		}
	}
	return n
}

func (t *Ledger) addLedger(o *Ledger) {
	t.Placed, t.Stopped, t.Moved = t.Placed+o.Placed, t.Stopped+o.Stopped, t.Moved+o.Moved
	for name, v := range o.Gets {
		t.Gets.add(name, v)
	}
	for name, v := range o.Gives {
		t.Gives.add(name, v)
	}
}

// same reports whether a queue gets and gives the same under both policies.
func (q *Sides) same() bool {
	return q.Old.Placed == q.New.Placed && q.Old.Stopped == q.New.Stopped && q.Old.Moved == q.New.Moved &&
		maps.Equal(q.Old.Gets, q.New.Gets) && maps.Equal(q.Old.Gives, q.New.Gives)
}

// Verdict says whether a queue gains or pays. It gains if more of it is placed, or
// less of it stops; it pays if the other way round. A move takes nothing from anybody.
func (q *Sides) Verdict() string {
	gains := q.New.Placed > q.Old.Placed || q.New.Stopped < q.Old.Stopped
	pays := q.New.Placed < q.Old.Placed || q.New.Stopped > q.Old.Stopped
	switch {
	case gains && pays:
		return "gains and pays"
	case gains:
		return "gains"
	case pays:
		return "pays"
	case q.New.Moved > q.Old.Moved:
		return "moves more"
	case q.New.Moved < q.Old.Moved:
		return "moves less"
	}
	return "other amounts"
}

// WriteJSON writes a line for each document, and one for all of them.
func WriteJSON(w io.Writer, all []*Contrast, whole *Summary) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, c := range all {
		one := Sum([]*Contrast{c})
		err := e.Encode(struct {
			Name      string            `json:"name"`
			Decisions int               `json:"decisions"`
			Changes   []Changed         `json:"changes"`
			Queues    map[string]*Sides `json:"queues"`
		}{c.New.Document.Name, one.Decisions, append([]Changed{}, c.Changes...), one.Queues})
		if err != nil {
			return err
		}
	}
	return e.Encode(map[string]*Summary{"summary": whole})
}

// WriteText writes the documents in which anything changes, and a summary.
func WriteText(w io.Writer, all []*Contrast, whole *Summary) {
	for _, c := range all {
		if len(c.Changes) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s: %s\n", plain.Line(c.New.Document.Name), ChangesIn(len(c.Changes), c.decisions()))
		t := say.NewTable(w, "  ", "request", "key", "queue", "old", "new")
		for i := range c.Changes {
			x := &c.Changes[i]
			t.Row(fmt.Sprint(x.Request), plain.Name(x.Key), plain.Name(x.Queue), say.Result(&x.Old), say.Result(&x.New))
		}
		t.End()
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "in all: %s of %s\n", ChangesIn(whole.Changed, whole.Decisions), say.Counted(whole.Documents, "document"))
	if len(whole.Queues) == 0 {
		return
	}
	t := say.NewTable(w, "  ", "queue", "", "placed", "stopped", "gets", "gives", whole.ifMoved("moved"))
	for _, path := range slices.Sorted(maps.Keys(whole.Queues)) {
		q := whole.Queues[path]
		t.Row(plain.Name(path), q.Verdict(), arrow(fmt.Sprint(q.Old.Placed), fmt.Sprint(q.New.Placed)),
			arrow(fmt.Sprint(q.Old.Stopped), fmt.Sprint(q.New.Stopped)),
			arrow(q.Old.Gets.String(), q.New.Gets.String()), arrow(q.Old.Gives.String(), q.New.Gives.String()),
			whole.ifMoved(arrow(fmt.Sprint(q.Old.Moved), fmt.Sprint(q.New.Moved))))
	}
	t.End()
}

// ifMoved returns a cell of the column for moves, which is left out if nobody moves.
func (s *Summary) ifMoved(cell string) string {
	for _, q := range s.Queues {
		if q.Old.Moved+q.New.Moved > 0 {
			return cell
		}
	}
	return ""
}

// ChangesIn returns "1 change in 3 decisions".
func ChangesIn(changed, decisions int) string {
	return say.Counted(changed, "change") + " in " + say.Counted(decisions, "decision")
}

// String writes amounts in alphabetical order of types.
func (a amounts) String() string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if text != "" {
			text += " "
		}
		text += plain.Line(name) + "=" + resources.FormatQuantity(name, a[name])
	}
	if text == "" {
		return "0"
	}
	return text
}

func arrow(old, new string) string {
	if old == new {
		return old
	}
	return old + " -> " + new
}
