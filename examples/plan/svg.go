package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/svg"
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
)

// The columns of the picture, and the lines between them.
const (
	pictureWidth = 1000
	margin       = 24
	queuesLeft   = margin
	queuesRight  = 444
	goingBus     = 458 // where the lines of victims meet
	comingBus    = 470
	nodesLeft    = 484
	nodesRight   = pictureWidth - margin
)

// A drawing is a picture in the making.
type drawing struct {
	*scene
	canvas svg.Canvas
	shown  map[string]svg.Box // victims and arrivals, by key
	asking svg.Box            // the bars of the queue that asks
	leaves map[queue.ID]int   // how many leaves come before each leaf
}

// drawSVG returns the picture of a scene.
func drawSVG(s *scene) []byte {
	d := &drawing{scene: s, shown: make(map[string]svg.Box), leaves: make(map[queue.ID]int)}
	for q := range s.cluster.Tree().Leaves(queue.Root) {
		d.leaves[q] = len(d.leaves)
	}
	top := d.heading(margin) + 34
	nodes, queues := d.nodes(top), d.queueTree(top)
	d.flow()
	bottom := d.list(max(queues, nodes)+10) + 4
	bottom = d.legend(bottom)
	doc := svg.Document{
		Width: pictureWidth, Height: bottom + margin - 8,
		Title:       plain.Line(s.run.Document.Name),
		Description: s.headline + ": " + s.verdict,
		Rules:       rules,
	}
	return doc.Bytes(&d.canvas)
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
	`.chosen { fill: #ffffff; stroke: #1a7f37; stroke-width: 2; }`,
	`.goes { fill: #cf222e; } text.goes { fill: #ffffff; font-weight: 600; }`,
	`.comes { fill: #1a7f37; } text.comes { fill: #ffffff; font-weight: 600; }`,
	`.leaves { fill: #a8b1bb; } .held { fill: #ffffff; stroke: #1a7f37; stroke-dasharray: 3 2; }`,
	`.bound { fill: none; stroke: #1f2328; stroke-width: 2; } .most { stroke-dasharray: 2 2; }`,
	`.going, .coming { fill: none; stroke: #cf222e; stroke-width: 1.5; } .coming { stroke: #1a7f37; }`,
	`.t0 { fill: #c9def2; } .t1 { fill: #fae3b5; } .t2 { fill: #ddd3f0; } .t3 { fill: #c8e6e4; }`,
	`.t4 { fill: #f6d3e2; } .t5 { fill: #e4dfc8; } .t6 { fill: #dcebc6; } .t7 { fill: #e9d2c4; }`,
	`.inner { fill: #d0d7de; }`,
}

// tints is how many colours the leaves have; more leaves share them.
const tints = 8

// heading writes what the picture is about from a line on, and returns the
// line below.
func (d *drawing) heading(y int) int {
	write := func(class string, size, height int, text string) {
		for _, line := range first(svg.Wrap(text, svg.Bold(size), nodesRight-margin), 3) {
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

// list writes the victims and what else is to be said, below everything.
func (d *drawing) list(y int) int {
	if len(d.victims) > 0 {
		y += 16
		d.canvas.Text("column", margin, y, "victims")
	}
	row := func(class string, cells ...string) {
		y += 18
		lefts := []int{margin, 200, 424, 584, 824, nodesRight + 8}
		for i, cell := range cells {
			d.canvas.Text(class, lefts[i], y, svg.Fit(cell, 12, lefts[i+1]-lefts[i]-8))
		}
	}
	for i := range first(d.victims, mostVictims) {
		t := &d.victims[i]
		d.canvas.Titled(d.describe(t), func() {
			row("", plain.Name(t.Key), d.queue(t.Queue), d.node(t.Node), d.amounts(t.Size),
				strings.TrimSuffix(fmt.Sprintf("priority %d, %s", t.Priority, remarks(t)), ", "))
		})
	}
	if more := len(d.victims) - mostVictims; more > 0 {
		row("muted", "and "+counted(more, "more victim"))
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

// legend tells what is what, and returns the line below.
func (d *drawing) legend(y int) int {
	y += 24
	x := margin
	entry := func(text string, sample func(svg.Box)) {
		sample(svg.Box{X: x, Y: y - 9, W: 16, H: 10})
		d.canvas.Text("muted", x+22, y, text)
		x += 22 + svg.Width(text, 11) + 14
	}
	rect := func(class string) func(svg.Box) {
		return func(b svg.Box) { d.canvas.Rect(class, b, 2) }
	}
	mark := func(class string) func(svg.Box) {
		return func(b svg.Box) { d.bound(class, b.MidX(), b) }
	}
	entry("victim", rect("goes"))
	if d.places {
		entry("new place", rect("comes"))
	}
	entry("leaving already", rect("leaves"))
	entry("held for another", rect("held"))
	entry("guaranteed", mark("bound"))
	entry("max", mark("bound most"))
	y += 18
	d.canvas.Text("muted", margin, y, "A queue has two bars, before and after, of the type of which its share of the cluster is largest; "+
		"a task is as long as its largest share of the node.")
	return y
}

// first returns the first n of a list, or all.
func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// pick returns which n of a list of some length are shown: those of the lowest
// rank, and of the same rank the first. They are in order.
func pick(length, n int, rank func(int) int) []int {
	all := make([]int, length)
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	all = first(all, n)
	slices.Sort(all)
	return all
}
