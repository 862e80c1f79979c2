// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Row is one thing that was measured, and what is asked of it.
type Row struct {
	Section string  `json:"section"`
	Name    string  `json:"name"`
	Figure  float64 `json:"figure"`
	Unit    string  `json:"unit"`
	// Target is what Figure should be at most, or at least where AtLeast is
	// set. There may be none.
	Target  *float64 `json:"target,omitempty"`
	AtLeast bool     `json:"atLeast,omitempty"`
	Remark  string   `json:"remark,omitempty"`
	// Decision rows compare decisions with the floor.
	Decision bool `json:"decision,omitempty"`
}

// atMost returns the row with a target.
func (r Row) atMost(target float64) Row {
	r.Target = &target
	return r
}

// atLeast returns the row with a target that it must not fall below.
func (r Row) atLeast(target float64) Row {
	r.Target, r.AtLeast = &target, true
	return r
}

// kept reports whether the target was, or there is none.
func (r *Row) kept() bool {
	switch {
	case r.Target == nil:
		return true
	case r.AtLeast:
		return r.Figure >= *r.Target
	}
	return r.Figure <= *r.Target
}

// target writes the target and whether it was missed.
func (r *Row) target() string {
	if r.Target == nil {
		return ""
	}
	sign := "≤"
	if r.AtLeast {
		sign = "≥"
	}
	text := sign + " " + number(*r.Target)
	if !r.kept() {
		text += ", **missed**"
	}
	return text
}

// printTables writes rows as tables of Markdown, one per section.
func printTables(w io.Writer, rows []Row) {
	section := ""
	for _, r := range rows {
		if r.Section != section {
			if section != "" {
				fmt.Fprintln(w)
			}
			section = r.Section
			fmt.Fprintf(w, "| %s | | target | |\n|---|--:|:--|:--|\n", section)
		}
		fmt.Fprintf(w, "| %s | %s %s | %s | %s |\n", r.Name, number(r.Figure), r.Unit, r.target(), r.Remark)
	}
}

// cited are the rows whose figures README.md has.
var cited = []string{"`load=plain/nodes=5000/tasks=30/tree=4x100/k=4`", "a job of 16 members placed in one of 278 racks of 5000 nodes"}

// part returns the rows that a page shows of each section: the one that misses its target by
// most, those that must be 0, the nearest to its target of the others, and those that README.md
// cites. A section without targets shows its first row.
func part(rows []Row) (some []Row) {
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(r Row) bool { return r.Section != rows[0].Section })
		if n < 0 {
			n = len(rows)
		}
		nearest, worst := 0, 0
		for i := range rows[:n] {
			if rows[i].near() > rows[nearest].near() {
				nearest = i
			}
			if rows[i].missed() > rows[worst].missed() {
				worst = i
			}
		}
		for i, r := range rows[:n] {
			if i == nearest && r.kept() || i == worst && !r.kept() || r.Target != nil && *r.Target == 0 || slices.Contains(cited, r.Name) {
				some = append(some, r)
			}
		}
		rows = rows[n:]
	}
	return some
}

// missed says by how much a figure misses its target, 0 if it does not.
func (r *Row) missed() float64 {
	switch {
	case r.kept():
		return 0
	case r.AtLeast:
		return *r.Target / r.Figure
	}
	return r.Figure / *r.Target
}

// near says how near a figure comes to its target, 1 if it is there. It is 0 for a row
// that misses it, or has none but 0.
func (r *Row) near() float64 {
	switch {
	case r.Target == nil || *r.Target == 0 || !r.kept():
		return 0
	case r.AtLeast:
		return *r.Target / r.Figure
	}
	return r.Figure / *r.Target
}

// extremes returns the three decisions that take longest beside the floor and the one
// that takes least, as rows of a section of their own. Explanations and the like are no
// decisions.
func extremes(rows []Row) (some []Row) {
	all := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return !r.Decision })
	slices.SortStableFunc(all, func(a, b Row) int { return cmp.Compare(b.Figure, a.Figure) })
	for place, r := range all {
		mark := "the best"
		switch {
		case place < 3:
			mark = [...]string{"the worst", "the second worst", "the third worst"}[place]
		case place < len(all)-1:
			continue
		}
		r.Section, r.Name = "the worst decisions and the best", "**"+mark+"**: "+r.Section+": "+r.Name
		some = append(some, r)
	}
	return some
}

// number writes a number that is not negative for people: with three digits, or
// all before the point, and no more than four behind it.
func number(x float64) string {
	behind := 0
	for limit := 100.0; behind < 4 && x < limit; limit /= 10 {
		behind++
	}
	text := strconv.FormatFloat(x, 'f', behind, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
