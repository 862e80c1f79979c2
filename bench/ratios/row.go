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
	// Headline rows are those of the short table.
	Headline bool `json:"headline,omitempty"`
}

// headline returns the row as one of the short table.
func (r Row) headline() Row {
	r.Headline = true
	return r
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
	for i := range rows {
		r := &rows[i]
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

// printHeadlines writes the short table, of all sections together. The three worst
// decisions come first, and then the best, whether they are headlines or not.
func printHeadlines(w io.Writer, rows []Row) {
	fmt.Fprint(w, "| | | target | |\n|---|--:|:--|:--|\n")
	order := byFigure(rows)
	bad := order[:min(3, len(order))]
	for place, i := range bad {
		rows[i].printHeadline(w, [...]string{"**the worst**: ", "**the second worst**: ", "**the third worst**: "}[place])
	}
	best := -1
	if len(order) > len(bad) {
		best = order[len(order)-1]
		rows[best].printHeadline(w, "**the best**: ")
	}
	for i := range rows {
		if rows[i].Headline && i != best && !slices.Contains(bad, i) {
			rows[i].printHeadline(w, "")
		}
	}
}

// printHeadline writes the row with its section.
func (r *Row) printHeadline(w io.Writer, mark string) {
	fmt.Fprintf(w, "| %s%s: %s | %s %s | %s | %s |\n", mark, r.Section, r.Name, number(r.Figure), r.Unit, r.target(), r.Remark)
}

// byFigure returns the decisions, those that take longest beside the floor first.
// Explanations and the like are no decisions.
func byFigure(rows []Row) (order []int) {
	for i := range rows {
		if rows[i].Decision {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rows[j].Figure, rows[i].Figure) })
	return order
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
