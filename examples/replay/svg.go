package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/svg"
	"github.com/go-preempt/preempt/internal/trace"
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
	for class := range trace.QoS(trace.Classes) {
		d.panel(class, y)
		y += panelHeight
	}
	doc := svg.Document{
		Width: pictureWidth, Height: y + 8, Title: "what preemption did",
		Description: "usage against guarantee, victims and waiting time, with preemption and without", Rules: rules,
	}
	return doc.Bytes(&d.canvas)
}

// rules are what everything looks like.
var rules = []string{
	`text { font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; font-size: 12px; fill: #1f2328; }`,
	`.title { font-size: 19px; font-weight: 600; }`,
	`.headline { font-size: 14px; }`,
	`.tenant { font-size: 14px; font-weight: 600; }`,
	`.muted { font-size: 11px; fill: #59636e; }`,
	`.end { text-anchor: end; } .middle { text-anchor: middle; }`,
	`.grid { fill: none; stroke: #e4e8ec; }`,
	`.area { fill: #c9def2; } .with { fill: none; stroke: #0969da; stroke-width: 1.5; }`,
	`.without { fill: none; stroke: #6e7781; stroke-width: 1.5; stroke-dasharray: 4 2; }`,
	`.guaranteed { fill: none; stroke: #1f2328; stroke-width: 1.5; }`,
	`.stopped { fill: #cf222e; } .waitswith { fill: #0969da; } .waitswithout { fill: #a8b1bb; }`,
}

// heading writes what the picture is about, and what is what, and returns the
// line below.
func (d *drawing) heading() int {
	w := d.with.replay.Workload
	stopped := 0
	for i := range d.with.tenants {
		stopped += len(d.with.tenants[i].stopped)
	}
	d.canvas.Text("title", margin, 42, "what preemption did")
	d.canvas.Text("headline", margin, 64, fmt.Sprintf("%d pods of %d tenants on %d nodes: %d plans stopped %d pods",
		len(w.Pods), trace.Classes, len(w.Nodes), d.with.plans, stopped))
	var under, patient int64
	for class := range d.with.under {
		under, patient = under+d.with.under[class], patient+d.without.under[class]
	}
	d.canvas.Text("headline", margin, 84, fmt.Sprintf("queues were under their guarantee, while pods of them waited, for %s instead of %s without preemption",
		span(under), span(patient)))
	x, y := margin, 110
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
	entry("guaranteed", line("guaranteed"))
	entry("pods stopped", func(b svg.Box) { d.canvas.Rect("stopped", b, 0) })
	y += 18
	d.canvas.Text("muted", margin, y, "Usage is of the type of which a tenant uses the largest share of the cluster, averaged over each pixel. "+
		"Waiting is the time in which a pod was there and did not run.")
	y += 16
	d.canvas.Text("muted", margin, y, "A tenant is a class of service of the pods. What preemption shortens is the time in which a queue of a tenant "+
		"has less than it is guaranteed while pods of it wait.")
	if before := d.from - d.first; before > 0 {
		y += 16
		d.canvas.Text("muted", margin, y, fmt.Sprintf("Time begins %s after the first pod, shortly before one finds no room.", span(before)))
	}
	return y + 30
}

// panel draws a tenant, on the lines from y.
func (d *drawing) panel(class trace.QoS, y int) {
	with, without := &d.with.tenants[class], &d.without.tenants[class]
	d.canvas.Text("tenant", margin, y, class.Tenant())
	d.canvas.Text("muted", margin+svg.Width(class.Tenant(), svg.Bold(14))+10, y, d.about(class))
	plot := svg.Box{X: plotLeft, Y: y + 12, W: plotWidth, H: plotHeight}
	a, b := with.means(d.from, d.to, plotWidth), without.means(d.from, d.to, plotWidth)
	top := ceiling(max(slices.Max(a), slices.Max(b), with.guaranteed))
	d.axes(plot, top)
	height := func(parts int64) int { return plot.Bottom() - int(parts*int64(plot.H)/top) }
	line := curve(plot.X, a, height)
	d.canvas.Path("area", fmt.Sprintf("%sV%dH%dZ", line, plot.Bottom(), plot.X))
	d.canvas.Path("without", curve(plot.X, b, height))
	d.canvas.Path("with", line)
	if with.guaranteed > 0 {
		d.canvas.Path("guaranteed", fmt.Sprintf("M%d %dH%d", plot.X, height(with.guaranteed), plot.Right()))
	}
	d.stopped(with.stopped, plot)
	d.card(class, plot.Y)
}

// about says what a tenant is.
func (d *drawing) about(class trace.QoS) string {
	parts := d.with.tenants[class].guaranteed
	if parts == 0 {
		return class.About() + "; nothing is guaranteed"
	}
	return fmt.Sprintf("%s; %s%% of the cluster is guaranteed, in equal parts to its queues",
		class.About(), strings.TrimSuffix(tenths(parts, whole, 100), ".0"))
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
// under their guarantee, and how long its pods waited.
func (d *drawing) card(class trace.QoS, y int) {
	with, without := d.with.waits(class, d.until), d.without.waits(class, d.until)
	d.canvas.Text("", cardLeft, y+6, fmt.Sprintf("%d pods, stopped %d times", len(with), len(d.with.tenants[class].stopped)))
	y += 26
	if class.Guaranteed() {
		d.canvas.Text("muted", cardLeft, y, "under the guarantee while pods waited:")
		d.bars(y+14, d.with.under[class], d.without.under[class])
		y += 48
	}
	d.canvas.Text("muted", cardLeft, y, "pods waited, all together:")
	d.bars(y+14, sum(with), sum(without))
}

// bars draws two spans of time below each other: with preemption and without.
func (d *drawing) bars(y int, with, without int64) {
	const text = 104
	most := max(with, without, 1)
	for i, b := range []struct {
		class, name string
		seconds     int64
	}{{"waitswith", "with", with}, {"waitswithout", "without", without}} {
		y := y + 14*i
		d.canvas.Text("muted", cardLeft, y, b.name+" "+span(b.seconds))
		if wide := int(b.seconds * (cardWidth - text) / most); wide > 0 {
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
