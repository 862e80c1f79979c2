// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-preempt/preempt/examples/plan/internal/against"
	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/svg"
	"github.com/go-preempt/preempt/internal/plain"
)

// drawAgainst returns the picture of what a policy changes: for each queue what is
// placed and what stops, before and after, and below that the decisions.
func drawAgainst(all []*against.Contrast, whole *against.Summary) []byte {
	var c svg.Canvas
	title := "What the policy changes"
	if len(all) == 1 {
		title = plain.Line(all[0].New.Document.Name)
	}
	verdict := fmt.Sprintf("%s of %s", against.ChangesIn(whole.Changed, whole.Decisions), say.Counted(whole.Documents, "document"))
	y := margin + 16
	c.Text("title", margin, y, svg.Fit(title, svg.Bold(19), nodesRight-margin))
	y += 24
	c.Text("verdict", margin, y, svg.Fit(verdict, svg.Bold(14), nodesRight-margin))
	y = againstQueues(&c, whole, y)
	y = againstList(&c, all, whole, y)
	doc := svg.Document{
		Width: pictureWidth, Height: y + margin, Title: title, Description: verdict, Rules: rules, Patterns: patterns,
	}
	return doc.Bytes(&c)
}

// The columns of the bars.
const (
	againstBars = 300
	againstWide = 270 // of one bar, at most
	againstNext = 640 // where the bars of victims begin
)

// againstQueues draws two bars for each queue, of the old policy above those of the
// new one.
func againstQueues(c *svg.Canvas, whole *against.Summary, y int) int {
	if len(whole.Queues) == 0 {
		return y
	}
	y += 30
	c.Text("column", margin, y, "queue")
	c.Text("column", againstBars, y, "placed: old, new")
	c.Text("column", againstNext, y, "stopped: old, new")
	most := 1
	for _, q := range whole.Queues {
		most = max(most, q.Old.Placed, q.New.Placed, q.Old.Stopped, q.New.Stopped)
	}
	paths := slices.Sorted(maps.Keys(whole.Queues))
	for _, path := range say.First(paths, mostQueues) {
		q := whole.Queues[path]
		y += 14
		c.Text("", margin, y+18, svg.Fit(plain.Name(path)+", "+q.Verdict(), listSize, againstBars-margin-listGap))
		for i, t := range []*against.Ledger{&q.Old, &q.New} {
			top := y + 2 + i*15
			for _, b := range []struct {
				class string
				x, n  int
			}{{"comes", againstBars, t.Placed}, {"goes", againstNext, t.Stopped}} {
				wide := along(againstWide, int64(b.n), int64(most))
				if b.n > 0 {
					c.Rect(b.class, svg.Box{X: b.x, Y: top, W: max(1, wide), H: 12}, 2)
				}
				c.Text("muted", b.x+max(1, wide)+6, top+10, fmt.Sprint(b.n))
			}
		}
		y += 26
	}
	if more := len(paths) - mostQueues; more > 0 {
		y += 18
		c.Text("muted", margin, y, "and "+say.Counted(more, "more queue"))
	}
	return y
}

// againstList writes the decisions that change.
func againstList(c *svg.Canvas, all []*against.Contrast, whole *against.Summary, y int) int {
	if whole.Changed == 0 {
		return y
	}
	y += 30
	c.Text("column", margin, y, "decisions that change")
	rows := [][]string{{"key", "queue", "old", "new"}}
	for _, x := range all {
		for i := range x.Changes {
			if d := &x.Changes[i]; len(rows) <= mostVictims {
				rows = append(rows, []string{plain.Name(d.Key), plain.Name(d.Queue), say.Result(&d.Old), say.Result(&d.New)})
			}
		}
	}
	widths := columns(rows, nodesRight-margin)
	for i, row := range rows {
		class, x := "", margin
		if i == 0 {
			class = "muted"
		}
		y += 18
		for n, cell := range row {
			if text := svg.Fit(cell, listSize, widths[n]); text != "" {
				c.Text(class, x, y, text)
			}
			x += widths[n] + listGap
		}
	}
	if more := whole.Changed - mostVictims; more > 0 {
		y += 18
		c.Text("muted", margin, y, "and "+say.Counted(more, "more"))
	}
	return y
}
