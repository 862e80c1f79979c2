// SPDX-License-Identifier: Apache-2.0

// Package say has what the texts of plan share: tables, counts, and a result in a
// line.
package say

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
)

// A Table aligns its columns; it is written as a whole.
type Table struct {
	w      io.Writer
	indent string
	rows   [][]string
}

// NewTable begins a table with its headings.
func NewTable(w io.Writer, indent string, headings ...string) *Table {
	return &Table{w, indent, [][]string{headings}}
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// End writes the table out, without columns that say nothing: but for the first, those whose
// cells are all empty or 0. It goes to a buffer, which does not fail.
func (t *Table) End() {
	says := make([]bool, len(t.rows[0]))
	for i := range says {
		says[i] = i == 0 || len(t.rows) == 1
	}
	for _, cells := range t.rows[1:] {
		for i, cell := range cells {
			says[i] = says[i] || cell != "" && cell != "0"
		}
	}
	out := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', 0)
	for _, cells := range t.rows {
		var said []string
		for i, cell := range cells {
			if says[i] {
				said = append(said, cell)
			}
		}
		// No line ends in blanks.
		for len(said) > 0 && said[len(said)-1] == "" {
			said = said[:len(said)-1]
		}
		fmt.Fprintln(out, t.indent+strings.Join(said, "\t"))
	}
	out.Flush()
}

// Counted returns a number with a noun.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// First returns the first n of a list, or all.
func First[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// Result says what a result comes to, in a line.
func Result(r *scenario.Result) string {
	line := string(r.Outcome)
	if r.Reason != "" {
		line += ", " + r.Reason
	}
	if r.Node != "" {
		line += " on " + plain.Name(r.Node)
	}
	var places []string
	for _, key := range slices.Sorted(maps.Keys(r.Placements)) {
		places = append(places, plain.Name(key)+" on "+plain.Name(r.Placements[key]))
	}
	if len(places) > 0 {
		line += " " + Some(places)
	}
	if len(r.Victims) > 0 {
		names := make([]string, len(r.Victims))
		for i, v := range r.Victims {
			names[i] = plain.Name(v)
		}
		line += ", stops " + Some(names)
	}
	var moves []string
	for _, key := range slices.Sorted(maps.Keys(r.Moves)) {
		moves = append(moves, plain.Name(key)+" to "+plain.Name(r.Moves[key]))
	}
	if len(moves) > 0 {
		line += ", moves " + Some(moves)
	}
	return line
}

// mostListed is how many things a line lists.
const mostListed = 8

// Some lists the first few of a list, and says how many more there are.
func Some(list []string) string {
	line := strings.Join(First(list, mostListed), ", ")
	if more := len(list) - mostListed; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}
