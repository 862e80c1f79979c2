package main

import (
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/svg"
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
	y += 4
	for _, remark := range first(d.remarks, mostRemarks) {
		for _, line := range first(svg.Wrap(remark, 11, nodesRight-margin), 3) {
			y += 15
			d.canvas.Text("muted", margin, y, line)
		}
	}
	return y
}

// victimTable writes a row per victim, in columns as wide as their text.
func (d *drawing) victimTable(y int) int {
	rows := [][]string{{"task", "queue", "node", "size", "priority", "remarks"}}
	for i := range first(d.victims, mostVictims) {
		t := &d.victims[i]
		rows = append(rows, []string{
			plain.Name(t.Key), d.queue(t.Queue), d.node(t.Node), d.amounts(t.Size), fmt.Sprint(t.Priority), remarks(t),
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
		d.canvas.Text("muted", margin, y, "and "+counted(more, "more victim"))
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
	entry("leaves", "leaving already", rect("leaves"))
	entry("held", "held for another", rect("held"))
	entry("bound", "guaranteed", mark("bound"))
	entry("bound most", "max", mark("bound most"))
	entry("going", "makes room for the queue that asks", arrow("going"))
	entry("coming", "what the queue gets", arrow("coming"))
	text := "There are no resource types, so that nothing has a length."
	if d.kind >= 0 {
		name := plain.Line(d.cluster.Schema().Name(d.kind))
		text = fmt.Sprintf("A queue has two bars, before and after, of its %s; a task is as long as its share of the %[1]s of its node.", name)
	}
	for _, line := range first(svg.Wrap(text, 11, nodesRight-margin), 3) {
		y += 18
		d.canvas.Text("muted", margin, y, line)
	}
	return y
}
