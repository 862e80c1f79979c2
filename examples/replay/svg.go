// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/svg"
)

// The picture: a panel per tenant, with its usage over time on the left, and on
// the right how long its pods waited.

const (
	pictureWidth = 1000
	margin       = 24
	plotLeft     = 66
	plotWidth    = 630
	plotHeight   = 104
	cardLeft     = plotLeft + plotWidth + 34
	cardWidth    = pictureWidth - margin - cardLeft
	panelHeight  = plotHeight + 62
)

// A drawing is a picture in the making.
type drawing struct {
	canvas        svg.Canvas
	with, without *history
	first         int64 // when the first pod comes
	from, to      int64 // the time that is drawn
	until         int64 // for which pods wait at most
}

// drawSVG returns the picture of a workload with preemption and without. Time
// is drawn while room is short and pods come, and a little around that. Waiting
// has all there was.
func drawSVG(with, without *history) []byte {
	d := &drawing{with: with, without: without, until: max(with.last, without.last)}
	if pods := with.replay.Workload.Pods; len(pods) > 0 {
		d.first, d.to = pods[0].Created, pods[len(pods)-1].Created
	}
	full := min(with.full, without.full, d.to)
	around := (d.to - full) / 10
	d.from = max(d.first, full-around)
	d.to = max(d.to+around, d.from+1)
	y := d.heading()
	for tenant := range tenants {
		d.panel(tenant, y)
		y += panelHeight
	}
	y = d.notes(y)
	doc := svg.Document{
		Width: pictureWidth, Height: y + 8, Title: "what preemption bought",
		Description: "usage against guarantee or fair share, victims and waiting time, with preemption and without", Rules: rules,
	}
	return doc.Bytes(&d.canvas)
}

// rules are what everything looks like.
var rules = []string{
	`text { font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; font-size: 12px; fill: #1f2328; }`,
	`.title { font-size: 19px; font-weight: 600; }`,
	`.headline { font-size: 14px; }`,
	`.figure { font-size: 13px; font-weight: 600; }`,
	`.tenant { font-size: 14px; font-weight: 600; }`,
	`.muted { font-size: 11px; fill: #59636e; }`,
	`.end { text-anchor: end; } .middle { text-anchor: middle; }`,
	`.grid { fill: none; stroke: #e4e8ec; }`,
	`.area { fill: #c9def2; } .with { fill: none; stroke: #0969da; stroke-width: 1.5; }`,
	`.without { fill: none; stroke: #6e7781; stroke-width: 1.5; stroke-dasharray: 4 2; }`,
	`.guaranteed { fill: none; stroke: #1f2328; stroke-width: 1.5; }`,
	`.stopped { fill: #cf222e; } .waitswith { fill: #0969da; } .waitswithout { fill: #a8b1bb; }`,
}

// heading writes what the picture is about: what preemption bought, as two bars to
// compare, and what it cost. Then it says what is what, and returns the line below.
func (d *drawing) heading() int {
	w := d.with.replay.Workload
	stopped := 0
	for i := range d.with.tenants {
		stopped += len(d.with.tenants[i].stopped)
	}
	d.canvas.Text("title", margin, 42, "what preemption bought")
	d.canvas.Text("headline", margin, 64, fmt.Sprintf("%d pods of %d tenants on %d nodes", len(w.Pods), tenants, len(w.Nodes)))
	d.canvas.Text("figure", margin, 92, d.bought())
	with, without, text := d.total()
	most := max(with, without, 1)
	for i, b := range []struct {
		class, name string
		amount      int64
	}{{"waitswith", "with preemption", with}, {"waitswithout", "without", without}} {
		y := 112 + 22*i
		d.canvas.Text("", margin, y, b.name)
		wide := int(b.amount * 560 / most)
		d.canvas.Rect(b.class, svg.Box{X: 134, Y: y - 13, W: max(wide, 1), H: 17}, 2)
		d.canvas.Text("figure", 134+max(wide, 1)+8, y, text(b.amount))
	}
	d.canvas.Text("headline", margin, 164, fmt.Sprintf("what it cost: %s stopped %s, which began again later",
		counted(d.with.plans, "plan"), counted(stopped, "pod")))
	return d.legend(190) + 30
}

// counted returns a number with a noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// bought says what the bars of the heading are of.
func (d *drawing) bought() string {
	if d.with.behind != nil {
		return "how far teams were below their fair shares:"
	}
	return "how long queues were under their guarantee while pods of them waited, added up:"
}

// total returns what preemption shortens, with it and without, and how to write
// that.
func (d *drawing) total() (with, without int64, text func(int64) string) {
	if behind := d.with.behind; behind != nil {
		for i := range behind {
			with, without = with+behind[i].below, without+behind[i].without
		}
		return with, without, d.with.hours
	}
	return sum(d.with.under[:]), sum(d.without.under[:]), span
}

// legend says what is what, on a line, and returns that.
func (d *drawing) legend(y int) int {
	x := margin
	entry := func(text string, sample func(svg.Box)) {
		sample(svg.Box{X: x, Y: y - 9, W: 18, H: 10})
		d.canvas.Text("muted", x+24, y, text)
		x += 24 + svg.Width(text, 11) + 14
	}
	line := func(class string) func(svg.Box) {
		return func(b svg.Box) { d.canvas.Path(class, fmt.Sprintf("M%d %dH%d", b.X, b.MidY(), b.Right())) }
	}
	entry("used, with preemption", func(b svg.Box) {
		d.canvas.Rect("area", b, 0)
		d.canvas.Path("with", fmt.Sprintf("M%d %dH%d", b.X, b.Y, b.Right()))
	})
	entry("used, without", line("without"))
	switch {
	case d.with.behind != nil:
		entry("its fair share", line("guaranteed"))
	case slices.ContainsFunc(d.with.tenants[:], func(t tenant) bool { return t.guaranteed > 0 }):
		entry("guaranteed", line("guaranteed"))
	}
	if slices.ContainsFunc(d.with.tenants[:], func(t tenant) bool { return t.stopped != nil }) {
		entry("pods stopped", func(b svg.Box) { d.canvas.Rect("stopped", b, 0) })
	}
	return y
}

// notes say at the end how things are counted, and return the line below.
func (d *drawing) notes(y int) int {
	of := "of the type of which a tenant uses the largest share of the cluster"
	if d.with.behind != nil {
		of = "of " + units[d.with.kind].name + "s, the type of which most is wanted"
	}
	all := []string{"Usage is " + of + ", averaged over each pixel. Waiting is the time in which a pod was there and did not run."}
	if d.with.behind != nil {
		all = append(all, "A fair share is what a team may have by its weight, and no more than its pods want; they count whether they run, wait or were stopped.")
	} else {
		all = append(all, "A tenant is a class of service of the pods.")
	}
	if before := d.from - d.first; before > 0 {
		all = append(all, fmt.Sprintf("Time begins %s after the first pod, shortly before one finds no room.", span(before)))
	}
	for _, text := range all {
		d.canvas.Text("muted", margin, y, text)
		y += 16
	}
	return y
}

// panel draws a tenant, on the lines from y.
func (d *drawing) panel(tenant, y int) {
	with, without := &d.with.tenants[tenant], &d.without.tenants[tenant]
	name := d.with.replay.tenantName(tenant)
	d.canvas.Text("tenant", margin, y, name)
	d.canvas.Text("muted", margin+svg.Width(name, svg.Bold(14))+10, y, d.about(tenant))
	plot := svg.Box{X: plotLeft, Y: y + 12, W: plotWidth, H: plotHeight}
	a, b := means(with.usage, d.from, d.to, plotWidth), means(without.usage, d.from, d.to, plotWidth)
	shares := means(with.shares, d.from, d.to, plotWidth)
	top := ceiling(max(slices.Max(a), slices.Max(b), slices.Max(shares), with.guaranteed))
	d.axes(plot, top)
	height := func(parts int64) int { return plot.Bottom() - int(parts*int64(plot.H)/top) }
	line := curve(plot.X, a, height)
	d.canvas.Path("area", fmt.Sprintf("%sV%dH%dZ", line, plot.Bottom(), plot.X))
	d.canvas.Path("without", curve(plot.X, b, height))
	d.canvas.Path("with", line)
	if with.guaranteed > 0 {
		d.canvas.Path("guaranteed", fmt.Sprintf("M%d %dH%d", plot.X, height(with.guaranteed), plot.Right()))
	}
	if with.shares != nil {
		d.canvas.Path("guaranteed", curve(plot.X, shares, height))
	}
	d.stopped(with.stopped, plot)
	d.card(tenant, plot.Y)
}

// about says what a tenant is.
func (d *drawing) about(tenant int) string {
	about, parts := d.with.replay.tenantAbout(tenant), d.with.tenants[tenant].guaranteed
	switch {
	case d.with.behind != nil:
		return about
	case parts == 0:
		return about + "; nothing is guaranteed"
	}
	return fmt.Sprintf("%s; %s%% of the cluster is guaranteed, in equal parts to its queues",
		about, strings.TrimSuffix(tenths(parts, whole, 100), ".0"))
}

// curve returns the path along values, one to a pixel from x on.
func curve(x int, values []int64, height func(int64) int) string {
	var b strings.Builder
	for i, v := range values {
		y := height(v)
		switch {
		case i == 0:
			fmt.Fprintf(&b, "M%d %d", x, y)
		case y != height(values[i-1]) || i == len(values)-1:
			fmt.Fprintf(&b, "H%dV%d", x+i, y)
		}
	}
	return b.String()
}

// stopped draws when pods were stopped, below a plot: the more, the longer.
func (d *drawing) stopped(seconds []int64, plot svg.Box) {
	const longest = 12
	var counts [plotWidth + 1]int
	for _, at := range seconds {
		if d.from <= at && at <= d.to {
			counts[(at-d.from)*plotWidth/(d.to-d.from)]++
		}
	}
	for i, n := range counts {
		if n > 0 {
			d.canvas.Rect("stopped", svg.Box{X: plot.X + i, Y: plot.Bottom() + 2, W: 1, H: min(2+2*n, longest)}, 0)
		}
	}
}

// card writes the figures of a tenant beside its plot: how long its queues were
// under their guarantee, or how far it was below its share, and how long its pods
// waited.
func (d *drawing) card(tenant, y int) {
	with, without := d.with.waits(tenant, d.until), d.without.waits(tenant, d.until)
	d.canvas.Text("", cardLeft, y+6, fmt.Sprintf("%s, stopped %s", counted(len(with), "pod"), counted(len(d.with.tenants[tenant].stopped), "time")))
	y += 26
	switch {
	case d.with.behind != nil:
		b := &d.with.behind[tenant]
		d.canvas.Text("muted", cardLeft, y, b.Unit+" below its share:")
		d.bars(y+14, b.below, b.without, func(parts int64) string { return hoursOf(parts, d.with.capacity, d.with.kind) })
		y += 48
	case d.with.replay.claims(tenant):
		d.canvas.Text("muted", cardLeft, y, "under the guarantee while pods waited:")
		d.bars(y+14, d.with.under[tenant], d.without.under[tenant], span)
		y += 48
	}
	d.canvas.Text("muted", cardLeft, y, "pods waited, all together:")
	d.bars(y+14, sum(with), sum(without), span)
}

// bars draws two amounts below each other: with preemption and without.
func (d *drawing) bars(y int, with, without int64, write func(int64) string) {
	const text = 104
	most := max(with, without, 1)
	for i, b := range []struct {
		class, name string
		amount      int64
	}{{"waitswith", "with", with}, {"waitswithout", "without", without}} {
		y := y + 14*i
		d.canvas.Text("muted", cardLeft, y, b.name+" "+write(b.amount))
		if wide := int(b.amount * (cardWidth - text) / most); wide > 0 {
			d.canvas.Rect(b.class, svg.Box{X: cardLeft + text, Y: y - 8, W: wide, H: 8}, 1)
		}
	}
}

func sum(values []int64) (sum int64) {
	for _, v := range values {
		sum += v
	}
	return sum
}
