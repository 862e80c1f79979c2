// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/go-preempt/preempt/internal/judge/svg"
	"github.com/go-preempt/preempt/internal/judge/trace"
)

// writeBatch writes the figures of all policies for people to read: a column each.
func writeBatch(w io.Writer, b *trace.Batch, all []*BatchFigures) {
	fmt.Fprintf(w, "%s\n\n", aboutBatch(b, all[0]))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, value func(*BatchFigures) string) {
		fmt.Fprint(t, name)
		for _, f := range all {
			fmt.Fprintf(t, "\t%s", value(f))
		}
		fmt.Fprintln(t)
	}
	row("", func(f *BatchFigures) string { return f.Policy })
	row("gangs wait, mean", func(f *BatchFigures) string { return hoursLong(f.Gangs.Mean) })
	row("gangs wait, 95 %", func(f *BatchFigures) string { return hoursLong(f.Gangs.P95) })
	row("others wait, mean", func(f *BatchFigures) string { return hoursLong(f.Others.Mean) })
	row("others wait, 95 %", func(f *BatchFigures) string { return hoursLong(f.Others.P95) })
	row("under guarantee", func(f *BatchFigures) string { return hoursLong(f.Under) })
	row("plans", func(f *BatchFigures) string { return fmt.Sprint(f.Plans) })
	row("stops", func(f *BatchFigures) string { return fmt.Sprint(f.Stops) })
	row("of gangs", func(f *BatchFigures) string { return fmt.Sprint(f.GangStops) })
	row("of one job, most", func(f *BatchFigures) string { return fmt.Sprint(f.MostStopped) })
	row("work lost", func(f *BatchFigures) string { return hoursOfGPUs(f.Lost) })
	row("all done after", func(f *BatchFigures) string { return span(f.LastSecond) })
	row("audited", func(f *BatchFigures) string {
		return fmt.Sprintf("%d, %d violations", f.Laws.Audited, f.Laws.Violations)
	})
	t.Flush()
	for _, f := range all {
		for _, v := range f.Laws.First {
			fmt.Fprintf(w, "%s: %s\n", f.Policy, v)
		}
	}
	fmt.Fprintln(w, "\nWaiting is all the time in which a job was there and did not run. A virtual cluster is under its guarantee")
	fmt.Fprintln(w, "while it uses less than that and jobs of it wait; the hours of all are added up.")
}

// hoursLong writes seconds as hours, with a decimal.
func hoursLong(seconds int64) string { return tenths(seconds, hour, 1) + " h" }

// hoursOfGPUs writes GPU-seconds as GPU-hours.
func hoursOfGPUs(seconds int64) string { return fmt.Sprintf("%d GPU-hours", seconds/hour) }

// The picture of a batch: for each policy how long gangs wait, as two bars, and beside
// them what that costs the others.
const (
	barsLeft    = 250
	barsWidth   = 420
	costLeft    = 760
	policyPitch = 84
)

// drawGangs returns the picture.
func drawGangs(b *trace.Batch, all []*BatchFigures) []byte {
	var c svg.Canvas
	c.Text("title", margin, 42, "how long gangs wait")
	c.Text("headline", margin, 64, aboutBatch(b, all[0]))
	c.Text("muted", barsLeft, 96, "a gang waits, mean and 95th percentile")
	c.Text("muted", costLeft, 96, "what it costs")
	most := int64(1)
	for _, f := range all {
		most = max(most, f.Gangs.Mean, f.Gangs.P95)
	}
	y := 112
	for i, f := range all {
		c.Path("grid", fmt.Sprintf("M%d %dH%d", margin, y, pictureWidth-margin))
		name, also, _ := strings.Cut(f.Policy, ", ")
		c.Text("tenant", margin, y+32, name)
		c.Text("", margin, y+52, also)
		bar := func(class string, box svg.Box, seconds int64) {
			box.W = max(int(seconds*barsWidth/most), 1)
			c.Rect(class, box, 2)
			c.Text("figure", box.Right()+8, box.MidY()+5, hoursLong(seconds))
		}
		class := "waitswith"
		if i == 0 {
			class = "waitswithout"
		}
		bar(class, svg.Box{X: barsLeft, Y: y + 14, H: 26}, f.Gangs.Mean)
		bar("area", svg.Box{X: barsLeft, Y: y + 46, H: 16}, f.Gangs.P95)
		for k, text := range []string{
			"others wait " + hoursLong(f.Others.Mean) + " (mean)",
			counted(f.Stops, "stop"),
			hoursOfGPUs(f.Lost) + " of work lost",
		} {
			c.Text("", costLeft, y+24+18*k, text)
		}
		y += policyPitch
	}
	c.Text("muted", margin, y+16, "A gang is a job of several hosts, which all start together. Waiting is all the time in which a job was there and did not run.")
	doc := svg.Document{
		Width: pictureWidth, Height: y + 36, Title: "how long gangs wait",
		Description: "waiting time of gangs under four policies, and what that costs", Rules: rules,
	}
	return doc.Bytes(&c)
}
