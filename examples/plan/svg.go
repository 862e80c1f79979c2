// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/svg"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
)

// The picture: queues on the left and nodes on the right, both as the request
// found them, and between them who leaves for whom and who comes where.

// The picture shows no more than so many of a thing, of which those that have
// to do with the plan come first, and says how many are left out.
const (
	mostQueues  = 40
	mostNodes   = 40
	mostTasks   = 120 // of a node, beside its arrivals
	mostVictims = 40  // that are listed
	mostRemarks = 12
	mostBudgets = 12
)

// The columns of the picture, and the lines between them.
const (
	pictureWidth = 1000
	margin       = 24
	queuesLeft   = margin
	queuesRight  = 444
	goingBus     = 458 // where the lines of victims meet
	comingBus    = 470
	movingBus    = 477 // of the lines from place to place
	nodesLeft    = 484
	nodesRight   = pictureWidth - margin
)

// A drawing is a picture in the making.
type drawing struct {
	*scene
	canvas svg.Canvas
	shown  map[string]svg.Box // victims and arrivals, by key
	asking svg.Box            // the bars of the queue that asks
	kind   int                // the resource type that lengths are of; -1: none
	drawn  map[string]bool    // the classes that the legend explains
	leaves map[queue.ID]int   // how many leaves come before each leaf
}

// drawSVG returns the picture of a scene.
func drawSVG(s *scene) []byte { return newDrawing(s).svg() }

// svg returns a drawing as a document.
func (d *drawing) svg() []byte {
	top := d.heading(margin) + 34
	nodes, queues := d.nodes(top), d.queueTree(top)
	d.flow()
	d.hops()
	bottom := d.list(max(queues, nodes)+10) + 4
	bottom = d.legend(bottom)
	doc := svg.Document{
		Width: pictureWidth, Height: bottom + margin - 8,
		Title:       plain.Line(d.run.Document.Name),
		Description: d.headline + ": " + d.verdict,
		Rules:       rules, Patterns: patterns,
	}
	return doc.Bytes(&d.canvas)
}

// newDrawing returns a drawing in which nothing is drawn yet.
func newDrawing(s *scene) *drawing {
	d := &drawing{
		scene: s, kind: s.shortOf(),
		shown: make(map[string]svg.Box), drawn: make(map[string]bool), leaves: make(map[queue.ID]int),
	}
	for q := range s.cluster.Tree().Leaves(queue.Root) {
		d.leaves[q] = len(d.leaves)
	}
	return d
}

// rules are what everything looks like.
var rules = []string{
	`text { font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; font-size: 12px; fill: #1f2328; }`,
	`.title { font-size: 19px; font-weight: 600; }`,
	`.headline { font-size: 14px; }`,
	`.verdict { font-size: 14px; font-weight: 600; }`,
	`.column { font-size: 13px; font-weight: 600; }`,
	`.strong { font-weight: 600; }`,
	`.muted { font-size: 11px; fill: #59636e; }`,
	`.small { font-size: 10px; }`,
	`.end { text-anchor: end; }`,
	`.tree { fill: none; stroke: #b7bec6; }`,
	`.track { fill: #eff1f3; }`,
	`.node { fill: #ffffff; stroke: #c4cbd2; }`,
	`.chosen { fill: #ffffff; stroke: #0b57b0; stroke-width: 2; }`,
	`.goes { fill: url(#goes); } text.goes { fill: #ffffff; font-weight: 600; }`,
	`.comes { fill: #0b57b0; } text.comes { fill: #ffffff; font-weight: 600; }`,
	`.blocks { fill: none; stroke: #1f2328; stroke-width: 3; } .kept { fill: none; stroke: #1f2328; stroke-width: 2; stroke-dasharray: 2 2; } .falls { fill: #1f2328; }`,
	`.filtered { fill: #eceff2; stroke: #8c959f; stroke-dasharray: 6 4; }`,
	`.leaves { fill: url(#leaves); } .held { fill: #ffffff; stroke: #0b57b0; stroke-dasharray: 3 2; }`,
	`.bound, .limit { fill: none; stroke: #1f2328; stroke-width: 2; } .most { stroke-dasharray: 2 2; }`,
	`.domain { fill: none; stroke: #c4cbd2; stroke-dasharray: 4 3; }`,
	`.going, .coming { fill: none; stroke: #b3400e; stroke-width: 1.5; } .coming { stroke: #0b57b0; stroke-dasharray: 5 2; }`,
	`.moves { fill: #ffffff; stroke: #1f2328; } .moved { fill: #ffffff; stroke: #1f2328; stroke-dasharray: 1 2; } .moving { fill: none; stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 1 2; } .tip { fill: none; stroke: #1f2328; stroke-width: 1.5; }`,
	`.cell { fill: none; stroke: #ffffff; }`,
	`.t0 { fill: #c9def2; } .t1 { fill: #fae3b5; } .t2 { fill: #ddd3f0; } .t3 { fill: #c8e6e4; }`,
	`.t4 { fill: #f6d3e2; } .t5 { fill: #e4dfc8; } .t6 { fill: #dcebc6; } .t7 { fill: #e9d2c4; }`,
	`.inner { fill: #d0d7de; }`,
}

// patterns tell apart what colours do not tell everybody apart: victims are
// hatched, and what is leaving already is striped.
const patterns = `<pattern id="goes" width="6" height="6" patternUnits="userSpaceOnUse"><path fill="#b3400e" d="M0 0h6v6h-6z"/><path stroke="#852c06" stroke-width="2" d="M-1 1l2 -2M0 6l6 -6M5 7l2 -2"/></pattern>
<pattern id="leaves" width="4" height="4" patternUnits="userSpaceOnUse"><path fill="#a8b1bb" d="M0 0h4v4h-4z"/><path stroke="#c9cfd6" d="M0 2h4"/></pattern>
`

// tints is how many colours the leaves have; more leaves share them.
const tints = 8

// heading writes what the picture is about from a line on, and returns the
// line below.
func (d *drawing) heading(y int) int {
	write := func(class string, size, height int, text string) {
		for _, line := range say.First(svg.Wrap(text, svg.Bold(size), nodesRight-margin), 3) {
			y += height
			d.canvas.Text(class, margin, y, line)
		}
	}
	y -= 8
	write("title", 19, 24, plain.Line(d.run.Document.Name))
	y += 2
	write("headline", 14, 20, d.headline)
	write("verdict", 14, 20, d.verdict)
	return y
}

// rect draws a box of a class that the legend may explain.
func (d *drawing) rect(class string, b svg.Box, r int) {
	d.drawn[class] = true
	d.canvas.Rect(class, b, r)
}

// pick returns which n of a list of some length are shown: those of the lowest
// rank, and of the same rank the first. They are in order.
func pick(length, n int, rank func(int) int) []int {
	all := make([]int, length)
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	all = say.First(all, n)
	slices.Sort(all)
	return all
}
