// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/svg"
)

// ceiling returns a round number of parts that is no less.
func ceiling(parts int64) int64 {
	for _, percent := range []int64{1, 2, 5, 10, 20, 40, 60, 80, 100} {
		if parts <= percent*whole/100 {
			return percent * whole / 100
		}
	}
	return parts
}

// axes draws what a plot is measured by.
func (d *drawing) axes(plot svg.Box, top int64) {
	for i := range 3 {
		y := plot.Bottom() - plot.H*i/2
		d.canvas.Path("grid", fmt.Sprintf("M%d %dH%d", plot.X, y, plot.Right()))
		d.canvas.Text("muted end", plot.X-6, y+4, strings.TrimSuffix(tenths(top*int64(i)/2, whole, 100), ".0")+"%")
	}
	step := pace(d.to - d.from)
	for at := int64(0); at <= d.to-d.from; at += step {
		x := plot.X + int(at*int64(plot.W)/(d.to-d.from))
		d.canvas.Path("grid", fmt.Sprintf("M%d %dV%d", x, plot.Y, plot.Bottom()))
		d.canvas.Text("muted middle", x, plot.Bottom()+26, span(at))
	}
}

// pace returns a round number of seconds that goes three to eight times or so
// into some.
func pace(seconds int64) int64 {
	const most = 8
	for _, step := range []int64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, hour, 2 * hour, 4 * hour, 8 * hour, 12 * hour} {
		if seconds <= most*step {
			return step
		}
	}
	for step := int64(day); ; step *= 2 {
		if seconds <= most*step {
			return step
		}
	}
}

const (
	hour = 60 * 60
	day  = 24 * hour
)

// span writes seconds in a unit that suits them, rounded down.
func span(seconds int64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 2*hour:
		return fmt.Sprintf("%d min", seconds/60)
	case seconds < 2*day:
		return fmt.Sprintf("%d h", seconds/hour)
	}
	return fmt.Sprintf("%d days", seconds/day)
}
