// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/victims"
)

// A Document is a scenario document. Several goroutines may run it.
type Document struct{ doc *scenario.Document }

// Parse reads a document; the name of the file is for messages. Errors name file, place and value; up to a
// hundred are joined.
func Parse(file string, text []byte) (*Document, error) {
	doc, err := scenario.Parse(file, text)
	if err != nil {
		return nil, err
	}
	return &Document{doc}, nil
}

// Name returns the name of the document.
func (d *Document) Name() string { return d.doc.Name }

// Note returns its note.
func (d *Document) Note() string { return d.doc.Note }

// A Run is what came of a document.
type Run struct {
	Before *victims.Cluster // as the document describes it
	// Steps are what was decided of each ask, gang or quota; of a repeated ask each time.
	Steps  []*victims.Decision
	Report []byte // the result document of examples/plan
}

// Run builds the cluster and carries the requests out in order. Errors show only here, such as bounds that
// contradict each other.
func (d *Document) Run() (*Run, error) {
	done, err := d.doc.Run()
	if err != nil {
		return nil, err
	}
	run := &Run{Before: done.Before}
	for i := range done.Steps {
		switch s := &done.Steps[i]; {
		case s.Asked != nil:
			run.Steps = append(run.Steps, &s.Asked.Decision)
		case s.Enforced != nil:
			run.Steps = append(run.Steps, &s.Enforced.Decision)
		case s.Placed != nil:
			run.Steps = append(run.Steps, &s.Placed.Decision)
		}
	}
	var b bytes.Buffer
	if err := done.Report().Write(&b); err != nil {
		return nil, err
	}
	run.Report = b.Bytes()
	return run, nil
}
