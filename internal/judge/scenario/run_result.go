// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// A Report is the result document of a run: a result per decision, in their
// order.
type Report struct {
	Name    string   `json:"name"`
	Results []Result `json:"results"`
}

// A Result is one decision, in the words of a result document. What does not
// apply is zero and left out of it, but for the victims, who may be none.
type Result struct {
	Request    int               `json:"request"`       // an index of the document's requests
	Key        string            `json:"key,omitempty"` // of the ask
	Outcome    Outcome           `json:"outcome"`
	Node       string            `json:"node,omitempty"`
	Victims    []string          `json:"victims"`              // sorted
	Placements map[string]string `json:"placements,omitempty"` // nodes by the keys of members
	Moves      map[string]string `json:"moves,omitempty"`      // nodes to which tasks move, by their keys
	Reason     string            `json:"reason,omitempty"`
	Counts     map[string]int    `json:"counts,omitempty"` // tasks by the rule that kept them, none of them 0
	// ProtectedBy is who protects, of over-guarantee and of the count "guarantee".
	ProtectedBy *ProtectedBy       `json:"protectedBy,omitempty"`
	Cause       *Cause             `json:"cause,omitempty"`  // why it could not run even in an empty cluster
	RetryAt     time.Time          `json:"retryAt,omitzero"` // where time alone could help
	Target      map[string]Amounts `json:"target,omitempty"` // by queue
	Shortfall   Amounts            `json:"shortfall,omitzero"`
	Overrun     int64              `json:"overrun,omitempty"`  // of soft budgets
	OwnLeaf     bool               `json:"ownLeaf,omitempty"`  // some victims are of the own leaf
	WaitsFor    []string           `json:"waitsFor,omitempty"` // in flight: who has to go yet, sorted
	Proven      *bool              `json:"proven,omitempty"`   // nil: nothing was searched
	Proof       Proof              `json:"proof,omitempty"`    // of a plan
}

// Amounts are amounts of the types that Limit defines. As JSON they are
// quantities by type, in the order of the schema: {"cpu":"500m"}.
type Amounts struct {
	Schema *resources.Schema
	Limit  resources.Limit
}

// IsZero reports whether no type has an amount other than 0.
func (a Amounts) IsZero() bool {
	for i := range a.Limit.Defined.All() {
		if v, _ := a.Limit.Bound(i); v != 0 {
			return false
		}
	}
	return true
}

// MarshalJSON writes the quantities.
func (a Amounts) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range a.Limit.Defined.All() {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(a.Schema.Name(i))
		if err != nil {
			return nil, err
		}
		v, _ := a.Limit.Bound(i)
		b.Write(name)
		b.WriteString(`:"` + resources.FormatQuantity(a.Schema.Name(i), v) + `"`)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Report returns the results of a run.
func (r *Run) Report() *Report {
	report := &Report{Name: r.Document.Name, Results: []Result{}}
	for i := range r.Steps {
		if result := r.Steps[i].Result; result != nil {
			report.Results = append(report.Results, *result)
		}
	}
	return report
}

// Write writes the report as JSON on a line of its own. Equal reports are
// equal bytes.
func (r *Report) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
