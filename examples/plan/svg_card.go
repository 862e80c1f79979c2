// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/svg"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// The card says what a plan buys, for readers who do not know the cluster: who
// gets a place, who stops, what work is lost, and which guarantees hold.

// The card has these columns, each of so many lines.
const (
	cardWidth  = 840
	cardColumn = (cardWidth - 2*margin) / 3
	cardLines  = 6
)

// card returns the card of a plan, as a document.
func (d *drawing) card() []byte {
	room := cardWidth - 2*margin
	y := margin + 6
	d.canvas.Text("muted", margin, y, svg.Fit(plain.Line(d.run.Document.Name), 11, room))
	_, asked, _ := strings.Cut(d.headline, ": ") // its number tells nobody else anything
	for _, line := range say.First(svg.Wrap(asked, svg.Bold(19), room), 3) {
		y += 27
		d.canvas.Text("title", margin, y, line)
	}
	y += 20
	bottom := y
	holds, broken := d.guarantees()
	for i, column := range []struct {
		number, what, class string
		lines               []string
	}{
		{fmt.Sprint(len(d.comes)), "start", "comes", d.starting()},
		{fmt.Sprint(len(d.victims)), "stop", "goes", d.stopping()},
		{fmt.Sprintf("%d of %d", len(holds), len(holds)+len(broken)), "guarantees hold", "bar", append(broken, holds...)},
	} {
		x := margin + i*cardColumn
		wide := cardColumn - 16
		d.canvas.Rect(column.class, svg.Box{X: x, Y: y, W: wide, H: 6}, 0)
		d.canvas.Text("number", x, y+40, column.number)
		d.canvas.Text("strong", x+svg.Width(column.number, svg.Bold(28))+8, y+40, column.what)
		at := y + 48
		for n, line := range column.lines {
			at += 18
			if n == cardLines-1 && len(column.lines) > cardLines {
				d.canvas.Text("muted", x, at, fmt.Sprintf("and %d more", len(column.lines)-n))
				break
			}
			d.canvas.Text("", x, at, svg.Fit(line, 12, wide))
		}
		bottom = max(bottom, at)
	}
	bottom += 24
	if d.lost != "" {
		d.canvas.Text("strong", margin, bottom, "Work lost: "+d.lost)
		bottom += 10
	}
	doc := svg.Document{
		Width: cardWidth, Height: bottom + margin - 10, Title: plain.Line(d.run.Document.Name), Description: d.headline + ": " + d.verdict,
		Rules:    append([]string{`.number { font-size: 28px; font-weight: 600; } .bar { fill: #59636e; }`}, rules...),
		Patterns: patterns,
	}
	return doc.Bytes(&d.canvas)
}

// starting says who gets a place, and where.
func (d *drawing) starting() (lines []string) {
	for _, a := range d.comes {
		lines = append(lines, fmt.Sprintf("+ %s%s on %s", plain.Name(a.key), d.much(a.size), d.node(a.node)))
	}
	return lines
}

// stopping says who stops.
func (d *drawing) stopping() (lines []string) {
	for i := range d.victims {
		t := &d.victims[i]
		lines = append(lines, fmt.Sprintf("× %s%s of %s", plain.Name(t.Key), d.much(t.Size), d.queue(t.Queue)))
	}
	return lines
}

// much says how much a task has of the type that the card is in.
func (d *drawing) much(size resources.Vector) string {
	if d.kind < 0 {
		return ""
	}
	schema := d.cluster.Schema()
	return fmt.Sprintf(" (%s %s)", vectors.Text(schema, d.kind, size[d.kind]), plain.Line(schema.Name(d.kind)))
}

// guarantees returns the queues that keep what they are guaranteed, and those
// that do not. A queue keeps it if for no type the plan takes it below its
// guarantee, or further below: what it did not use it cannot lose. What was
// leaving before is not the plan's doing. What a queue gives up for work of its
// own is its own affair (law 2).
func (d *drawing) guarantees() (holds, broken []string) {
	tree, schema := d.cluster.Tree(), d.cluster.Schema()
	for q := range queue.ID(tree.Len()) {
		text, kept := "", true
		for i := range schema.Len() {
			g, ok := tree.Guaranteed(q).Bound(i)
			if !ok {
				continue
			}
			s := d.stock(q, i)
			now := fmt.Sprintf("%s has %s of %s %s", d.queue(q), vectors.Text(schema, i, s.after()), vectors.Text(schema, i, g), plain.Line(schema.Name(i)))
			falls := s.after() < min(g, s.stays+s.goes)
			if falls && tree.Contains(q, d.asker) {
				now, falls = now+", for its own work", false
			}
			// One type is shown: one that falls, else that of the card, else the first.
			if falls && kept || kept && (i == d.kind || text == "") {
				text = now
			}
			kept = kept && !falls
		}
		switch {
		case text == "":
		case kept:
			holds = append(holds, "✓ "+text)
		default:
			broken = append(broken, "✗ "+text)
		}
	}
	return holds, broken
}
