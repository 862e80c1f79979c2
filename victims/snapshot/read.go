// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/victims"
)

// A Run is what came of a document.
type Run struct {
	Before *victims.Cluster // as the document describes it
	// Steps are what was decided of each ask, gang or quota; of a repeated ask each time.
	Steps []*victims.Decision
}

// Read reads a document, builds its cluster, and carries its requests out in order. The name of the file is for
// messages. Errors name file, place and value; up to a hundred are joined.
func Read(file string, text []byte) (*Run, error) {
	doc, err := scenario.Parse(file, text)
	if err != nil {
		return nil, err
	}
	done, err := doc.Run()
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
	return run, nil
}
