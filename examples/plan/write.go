// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
)

// writeJSON writes the result documents.
func writeJSON(w io.Writer, all []outcome) error {
	for _, o := range all {
		if err := o.run.Report().Write(w); err != nil {
			return fmt.Errorf("%s: %w", o.file, err)
		}
	}
	return nil
}

// writeDifferences writes how results differ from what is expected, and
// returns the exit status.
func writeDifferences(w io.Writer, all []outcome) int {
	failed := 0
	for _, o := range all {
		lines := differences(o)
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
		if len(lines) > 0 {
			failed++
		}
	}
	fmt.Fprintf(w, "%d passed, %d failed\n", len(all)-failed, failed)
	if failed > 0 {
		return differs
	}
	return decided
}

// differences returns a line for each difference of one document.
func differences(o outcome) []string {
	var lines []string
	for _, d := range o.run.Check() {
		lines = append(lines, fmt.Sprintf("%s: %v", o.file, d))
	}
	return lines
}

// writeText writes the runs for people to read: what each document describes,
// what was decided, and what came of it.
func writeText(w io.Writer, all []outcome) {
	for i, o := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		p := page{w: w, run: o.run}
		p.title()
		p.cluster("before", o.run.Document.Now, o.run.Before)
		for i := range o.run.Steps {
			p.step(&o.run.Steps[i])
		}
		p.printf("\n")
		p.cluster("after", o.run.End, o.run.After)
	}
}

// A page is the text about one run.
type page struct {
	w   io.Writer
	run *scenario.Run
}

func (p page) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

// title writes what the document is about, and what in it is doubtful.
func (p page) title() {
	doc := p.run.Document
	p.printf("%s\n", plain.Line(doc.Name))
	if doc.Note != "" {
		p.printf("%s\n", plain.Line(doc.Note))
	}
	for _, warning := range slices.Concat(p.run.Before.Tree().Warnings(), p.run.Warnings) {
		p.printf("warning: %s\n", plain.Line(warning.Error()))
	}
	p.printf("\n")
}
