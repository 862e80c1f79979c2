// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/judge/svg"
)

// Lines run below the lanes of nodes and between the columns, where nothing
// else is: from each victim to the queue that asks, from there to each place,
// and from the place of who moves to the next one.

// bend is the radius of the corners of a line.
const bend = 4

// flow draws the lines.
func (d *drawing) flow() {
	if !d.places || d.asking == (svg.Box{}) {
		return
	}
	drawn := false
	for i := range d.victims {
		b, ok := d.shown[d.victims[i].Key]
		if !ok {
			continue
		}
		drawn = true
		d.line("going", b, 4, goingBus, d.asking.Y+laneHeight/2)
	}
	if drawn {
		d.canvas.Path("going", fmt.Sprintf("M%d %dl-5 4l5 4", d.asking.Right()+7, d.asking.Y+laneHeight/2-4))
	}
	for _, a := range d.comes {
		b, ok := d.shown[a.key]
		if !ok {
			continue
		}
		d.line("coming", b, 8, comingBus, d.asking.Bottom()-laneHeight/2)
		d.tip("coming", b)
	}
}

// hops draws the lines of those who move.
func (d *drawing) hops() {
	for i := range d.moves {
		from, ok := d.shown[d.moves[i].Key]
		to, too := d.shown[d.moves[i].Grant]
		if !ok || !too {
			continue
		}
		d.drawn["moving"] = true
		const below = 6
		y, end := from.Bottom()+below, to.Bottom()+below
		path := fmt.Sprintf("M%d %dV%d", from.MidX(), from.Bottom()+1, y)
		if y != end {
			path += fmt.Sprintf("H%dV%d", movingBus, end)
		}
		d.canvas.Path("moving", path+fmt.Sprintf("H%dV%d", to.MidX(), to.Bottom()+1))
		d.tip("tip", to)
	}
}

// tip draws the tip of an arrow that reaches a box from below.
func (d *drawing) tip(class string, b svg.Box) {
	d.canvas.Path(class, fmt.Sprintf("M%d %dl4 5M%[1]d %[2]dl-4 5", b.MidX(), b.Bottom()+1))
}

// line draws a line from below a box over the bus at x to the queue that asks,
// on the line y.
func (d *drawing) line(class string, b svg.Box, below, x, y int) {
	d.drawn[class] = true
	gap := b.Bottom() + below
	turn := bend // of the bus, up or down to y
	if y < gap {
		turn = -bend
	}
	d.canvas.Path(class, fmt.Sprintf("M%d %dV%dH%d", b.MidX(), b.Bottom()+1, gap, x+bend)+
		fmt.Sprintf("Q%d %d %d %d", x, gap, x, gap+turn)+
		fmt.Sprintf("V%dQ%d %d %d %d", y-turn, x, y, x-bend, y)+
		fmt.Sprintf("H%d", d.asking.Right()+2))
}
