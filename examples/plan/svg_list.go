// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/svg"
	"github.com/go-preempt/preempt/internal/plain"
)

// What lies below the picture proper: the victims, what else is to be said, and
// what is what.

const (
	listSize = 12 // of the font
	listGap  = 18 // between columns
)

// list writes the victims and what else is to be said, below everything.
func (d *drawing) list(y int) int {
	if len(d.victims) > 0 {
		y += 16
		d.canvas.Text("column", margin, y, "victims")
		y = d.victimTable(y)
	}
	y = d.budgetList(y) + 4
	for _, remark := range say.First(d.remarks, mostRemarks) {
		for _, line := range say.First(svg.Wrap(remark, 11, nodesRight-margin), 3) {
			y += 15
			d.canvas.Text("muted", margin, y, line)
		}
	}
	return y
}

// budgetList draws a bar for each budget: how many of its tasks may still stop,
// and how many do. That nobody draws on a budget may be the reason for the plan.
func (d *drawing) budgetList(y int) int {
	uses := d.aside.Budgets
	if len(uses) == 0 {
		return y
	}
	y += 24
	d.canvas.Text("column", margin, y, "budgets")
	for i := range say.First(uses, mostBudgets) {
		u := &uses[i]
		y += 18
		text := fmt.Sprintf("%s, %s", plain.Name(u.Name), spent(u))
		bar := svg.Box{X: margin, Y: y - 9, W: 160, H: 10}
		left := max(0, u.Budget.Left)
		whole := max(left, u.Victims, 1)
		d.canvas.Rect("track", bar, 2)
		if u.Victims > 0 {
			d.rect("goes", svg.Box{X: bar.X, Y: bar.Y, W: max(1, along(bar.W, u.Victims, whole)), H: bar.H}, 2)
		}
		d.bound("limit", bar.X+along(bar.W, left, whole), bar)
		d.canvas.Text("", bar.Right()+12, y, svg.Fit(text, listSize, nodesRight-bar.Right()-12))
	}
	if more := len(uses) - mostBudgets; more > 0 {
		y += 18
		d.canvas.Text("muted", margin, y, "and "+say.Counted(more, "more budget"))
	}
	return y
}

// victimTable writes a row per victim, in columns as wide as their text.
func (d *drawing) victimTable(y int) int {
	rows := [][]string{{"task", "queue", "node", "size", "priority", "remarks"}}
	for i := range say.First(d.victims, mostVictims) {
		t := &d.victims[i]
		rows = append(rows, []string{
			plain.Name(t.Key), d.queue(t.Queue), d.node(t.Node), d.amounts(t.Size), fmt.Sprint(t.Priority), d.about(t),
		})
	}
	if !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[len(row)-1] != "" }) {
		for i := range rows {
			rows[i] = rows[i][:len(rows[i])-1]
		}
	}
	widths := columns(rows, nodesRight-margin)
	for i, row := range rows {
		y += 18
		class := ""
		if i == 0 {
			class = "muted"
		}
		write := func() {
			x := margin
			for c, cell := range row {
				if text := svg.Fit(cell, listSize, widths[c]); text != "" {
					d.canvas.Text(class, x, y, text)
				}
				x += widths[c] + listGap
			}
		}
		if i == 0 {
			write()
		} else {
			d.canvas.Titled(d.describe(&d.victims[i-1]), write)
		}
	}
	if more := len(d.victims) - mostVictims; more > 0 {
		y += 18
		d.canvas.Text("muted", margin, y, "and "+say.Counted(more, "more victim"))
	}
	return y
}

// columns returns how wide the columns of a table are: as their texts, and if
// there is no room for that, with the widest cut to the same width.
func columns(rows [][]string, room int) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], svg.Width(cell, listSize))
		}
	}
	room -= (len(widths) - 1) * listGap
	for {
		over := -room
		for _, w := range widths {
			over += w
		}
		if over <= 0 {
			return widths
		}
		widest := slices.Index(widths, slices.Max(widths))
		widths[widest]--
	}
}

// legend tells what is what, of that which is there, and returns the line below.
func (d *drawing) legend(y int) int {
	x := margin
	y += 24
	entry := func(on, text string, sample func(svg.Box)) {
		if !d.drawn[on] {
			return
		}
		wide := 22 + svg.Width(text, 11) + 14
		if x+wide > nodesRight {
			x, y = margin, y+18
		}
		sample(svg.Box{X: x, Y: y - 9, W: 16, H: 10})
		d.canvas.Text("muted", x+22, y, text)
		x += wide
	}
	rect := func(class string) func(svg.Box) {
		return func(b svg.Box) { d.canvas.Rect(class, b, 2) }
	}
	mark := func(class string) func(svg.Box) {
		return func(b svg.Box) { d.bound(class, b.MidX(), b) }
	}
	arrow := func(class string) func(svg.Box) {
		return func(b svg.Box) {
			d.canvas.Path(class, fmt.Sprintf("M%d %dH%dM%d %dl5 4l-5 4", b.X, b.MidY(), b.Right(), b.Right()-5, b.MidY()-4))
		}
	}
	entry("goes", "victim", rect("goes"))
	entry("comes", "new place", rect("comes"))
	entry("moves", "moves", rect("moves"))
	entry("moved", "where it moves to", rect("moved"))
	entry("blocks", "blocks the node", func(b svg.Box) {
		d.canvas.Rect("blocks", svg.Box{X: b.X + 1, Y: b.Y + 1, W: b.W - 2, H: b.H - 2}, 1)
	})
	entry("falls", "stops with its whole job", func(b svg.Box) {
		d.canvas.Rect("goes", b, 2)
		d.canvas.Rect("falls", svg.Box{X: b.X, Y: b.Bottom() - 3, W: b.W, H: 3}, 0)
	})
	entry("kept", "kept by a hard budget", func(b svg.Box) {
		d.canvas.Rect("kept", svg.Box{X: b.X + 1, Y: b.Y + 1, W: b.W - 2, H: b.H - 2}, 1)
	})
	entry("filtered", "node where it may not run", rect("filtered"))
	entry("leaves", "leaving already", rect("leaves"))
	entry("held", "held for another", rect("held"))
	entry("bound", "guaranteed", mark("bound"))
	entry("bound most", "max", mark("bound most"))
	entry("limit", "may still stop", mark("limit"))
	entry("going", "makes room for the queue that asks", arrow("going"))
	entry("coming", "what the queue gets", arrow("coming"))
	entry("moving", "moves there", arrow("moving"))
	text := "There are no resource types, so that nothing has a length."
	if d.kind >= 0 {
		name := plain.Line(d.cluster.Schema().Name(d.kind))
		text = fmt.Sprintf("A queue has two bars, before and after, of its %s; a task is as long as its share of the %[1]s of its node.", name)
	}
	if more := d.counting(); more != "" {
		text += " Here " + more + "."
	}
	for _, line := range say.First(svg.Wrap(text, 11, nodesRight-margin), 3) {
		y += 18
		d.canvas.Text("muted", margin, y, line)
	}
	return y
}
