// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/svg"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A node is a box with lanes as long as the node is large, on which its tasks
// lie one after the other. Between lanes there is room for the lines of victims
// and of arrivals.
const (
	nodeHead    = 24
	nodePadding = 9
	nodeGap     = 10
	taskHeight  = 24
	lanePitch   = taskHeight + 12
	leastTask   = 5
	fractions   = 1000
)

// nodes draws the nodes from a line on, and returns the line below.
func (d *drawing) nodes(y int) int {
	d.canvas.Text("column", nodesLeft, y, svg.Fit("nodes"+d.inType(), svg.Bold(13), nodesRight-nodesLeft))
	y += 10
	ids := slices.Collect(d.cluster.Nodes())
	shown := d.pickNodes(ids)
	columns := 1 + min(2, len(shown)/10)
	for _, g := range d.groups(shown) {
		y = d.frame(g.name, y, func(y int) int { return d.nodeRows(g.nodes, columns, y) })
	}
	if more := len(ids) - mostNodes; more > 0 {
		y += 10
		d.canvas.Text("muted", nodesLeft, y, "and "+say.Counted(more, "more node"))
	}
	return y
}

// pickNodes returns the nodes that are shown.
func (d *drawing) pickNodes(ids []victims.NodeID) []victims.NodeID {
	rows := pick(len(ids), mostNodes, d.nodeRank(ids))
	shown := make([]victims.NodeID, len(rows))
	for i, row := range rows {
		shown[i] = ids[row]
	}
	return shown
}

// nodeRows draws nodes in some columns from a line on, and returns the line below.
func (d *drawing) nodeRows(ids []victims.NodeID, columns, y int) int {
	wide := (nodesRight - nodesLeft - (columns-1)*nodeGap) / columns
	for len(ids) > 0 {
		beside := make([]nodeBox, min(columns, len(ids)))
		lanes := 1
		for i := range beside {
			beside[i] = d.lay(ids[i], wide-2*nodePadding)
			lanes = max(lanes, beside[i].lanes)
		}
		ids = ids[len(beside):]
		b := svg.Box{X: nodesLeft, Y: y, W: wide, H: nodeHead + lanes*lanePitch + 2}
		for i := range beside {
			d.nodeBox(&beside[i], b)
			b.X += wide + nodeGap
		}
		y = b.Bottom() + nodeGap
	}
	return y
}

// nodeRank puts nodes first where somebody comes, and then those of victims.
func (d *drawing) nodeRank(ids []victims.NodeID) func(int) int {
	rank := make(map[victims.NodeID]int)
	for i := range d.victims {
		rank[d.victims[i].Node] = -1
	}
	for i := range d.moves {
		rank[d.moves[i].From], rank[d.moves[i].To] = -1, -1
	}
	for i := range d.comes {
		rank[d.comes[i].node] = -2
	}
	return func(i int) int { return rank[ids[i]] }
}

// A nodeBox is a node with everything on it.
type nodeBox struct {
	id    victims.NodeID
	boxes []taskBox
	lanes int
	more  int // tasks that are left out
	comes bool
}

// A taskBox is what lies on a lane.
type taskBox struct {
	key, title, class, text string
	letter                  string // of its queue
	cell                    int    // how wide a unit is, in fractions of a pixel; 0: units are not shown
	lane, x, w              int
	small                   bool // the text is
	known                   bool // a line begins or ends at it, and its text is bold
	blocks, falls, kept     bool // it is in the way; it stops with its whole job; a hard budget keeps it
}

// lay puts the tasks of a node on lanes of some length, and arrivals on lanes
// of their own below.
func (d *drawing) lay(id victims.NodeID, length int) nodeBox {
	n := nodeBox{id: id}
	capacity := d.cluster.Node(id).Capacity
	cell := 0
	if d.cells(capacity) {
		cell = length * fractions / int(capacity[d.kind])
	}
	end := 0 // of the last task, in fractions of a pixel, so that a full node fills its lane
	place := func(t taskBox, size resources.Vector) {
		wide := leastTask * fractions
		if d.kind >= 0 {
			wide = max(wide, along(length*fractions, size[d.kind], max(capacity[d.kind], 1)))
		}
		if n.lanes == 0 || end+wide > (length+1)*fractions {
			end = 0
			n.lanes++
		}
		t.cell = cell
		t.x, t.lane = end/fractions, n.lanes-1
		end += wide
		t.w = min(end/fractions, length) - t.x - 1
		t.text, t.small = t.label(t.w - 7)
		n.boxes = append(n.boxes, t)
	}
	tasks := d.tasksOn(id)
	shown := pick(len(tasks), mostTasks, func(i int) int {
		if part := d.part(&tasks[i]); part == victim || part == mover {
			return 0
		}
		return 1
	})
	for _, i := range shown {
		t := &tasks[i]
		letter := d.letter(t.Queue)
		box := taskBox{key: t.Key, title: d.describe(t), class: d.look(t), letter: letter, text: letter + " " + plain.Name(t.Key)}
		switch d.part(t) {
		case victim:
			box.text, box.known = "× "+plain.Name(t.Key), true
		case mover:
			box.text, box.known = "→ "+plain.Name(t.Key), true
		}
		box.blocks, box.falls, box.kept = d.blocks[t.Key], d.falls[t.Key], d.keptBy(t) != ""
		place(box, t.Size)
	}
	n.more = len(tasks) - len(shown)
	for i := range d.moves {
		if m := &d.moves[i]; m.To == id {
			place(taskBox{
				key: m.Grant, title: plain.Name(m.Key) + " moves here from " + d.node(m.From) + ", " + d.amounts(m.Size),
				class: "moved", text: "→ " + plain.Name(m.Key), known: true,
			}, m.Size)
		}
	}
	if here := d.comesTo(id); len(here) > 0 {
		n.comes = true
		end = 2 * length * fractions // on a new lane
		for _, a := range here {
			name := plain.Name(a.key)
			place(taskBox{
				key: a.key, title: name + ": its place, " + d.amounts(a.size), class: "comes", text: "+ " + name, known: true,
			}, a.size)
		}
	}
	return n
}

// label returns what of its text a width has room for, in small letters if need
// be. If that is but a letter or two, it is the one of the queue.
func (t *taskBox) label(width int) (text string, small bool) {
	size := func(n int) int {
		if t.known {
			return svg.Bold(n)
		}
		return n
	}
	if svg.Width(t.text, size(12)) <= width {
		return t.text, false
	}
	const least = 4
	text = svg.Fit(t.text, size(10), width)
	if text != t.text && utf8.RuneCountInString(text) < least {
		return svg.Fit(t.letter, size(10), width), true
	}
	return text, true
}

// mostCells is how many units a node may have whose units are drawn one by one.
const mostCells = 16

// cells reports whether the units of a node are drawn one by one, as those of
// GPUs are: they are counted in ones, and there are few.
func (d *drawing) cells(capacity resources.Vector) bool {
	return d.kind >= 0 && capacity[d.kind] > 1 && capacity[d.kind] <= mostCells && resources.FormatQuantity(d.cluster.Schema().Name(d.kind), 1) == "1"
}

// look returns the class of a task.
func (d *drawing) look(t *victims.Task) string {
	switch d.part(t) {
	case victim:
		return "goes"
	case mover:
		return "moves"
	case held:
		return "held"
	case leaving:
		return "leaves"
	}
	return d.tint(t.Queue)
}

// nodeBox draws a node.
func (d *drawing) nodeBox(n *nodeBox, b svg.Box) {
	node := d.cluster.Node(n.id)
	class := "node"
	switch {
	case n.comes:
		class = "chosen"
	case d.filtered(n.id) != "":
		class = "filtered"
	}
	name, about := plain.Name(node.Name), d.aboutNode(n)
	left, right := b.X+nodePadding, b.Right()-nodePadding
	shown := svg.Fit(name, svg.Bold(12), right-left)
	room := right - left - svg.Width(shown, svg.Bold(12)) - 12
	d.canvas.Titled(name+": "+d.amounts(node.Capacity)+", "+strings.Join(about, ", "), func() {
		d.rect(class, b, 5)
		d.canvas.Text("strong", left, b.Y+17, shown)
		for len(about) > 0 && svg.Width(strings.Join(about, ", "), 11) > room {
			about = about[:len(about)-1]
		}
		if len(about) > 0 {
			d.canvas.Text("muted end", right, b.Y+17, strings.Join(about, ", "))
		}
	})
	for lane := range max(n.lanes, 1) {
		d.canvas.Rect("track", svg.Box{X: left, Y: b.Y + nodeHead + lane*lanePitch, W: right - left, H: taskHeight}, 2)
	}
	for i := range n.boxes {
		d.taskBox(&n.boxes[i], left, b.Y+nodeHead)
	}
}

// aboutNode says of a node what there is to know, first what matters most.
func (d *drawing) aboutNode(n *nodeBox) (all []string) {
	node := d.cluster.Node(n.id)
	if n.more > 0 {
		all = append(all, "and "+say.Counted(n.more, "more task"))
	}
	if lacks := d.filtered(n.id); lacks != "" {
		all = append(all, lacks)
	}
	if node.Unschedulable {
		all = append(all, "unschedulable")
	}
	if node.ReservedFor != "" {
		all = append(all, "reserved for "+plain.Name(node.ReservedFor))
	}
	return append(all, "free "+d.amounts(d.cluster.Free(nil, n.id)))
}

// taskBox draws a task of a node whose first lane begins at x and y.
func (d *drawing) taskBox(t *taskBox, x, y int) {
	b := svg.Box{X: x + t.x, Y: y + t.lane*lanePitch, W: t.w, H: taskHeight}
	if t.known {
		d.shown[t.key] = b
	}
	d.canvas.Titled(t.title, func() {
		d.rect(t.class, b, 2)
		for at := t.cell; t.cell > 0 && at/fractions < b.W-1; at += t.cell {
			d.canvas.Path("cell", fmt.Sprintf("M%d %dV%d", b.X+at/fractions, b.Y, b.Bottom()))
		}
		if t.text != "" {
			class := textClass[t.class]
			if t.small {
				class = strings.TrimLeft(class+" small", " ")
			}
			d.canvas.Text(class, b.X+4, b.Y+16, t.text)
		}
		d.mark(t, b)
	})
}

// textClass has the classes of boxes on which dark text is hard to read.
var textClass = map[string]string{"goes": "goes", "comes": "comes"}

// mark marks what is particular about why a task goes, or should, or must not.
func (d *drawing) mark(t *taskBox, b svg.Box) {
	const stripe = 4
	if t.falls {
		d.rect("falls", svg.Box{X: b.X, Y: b.Bottom() - stripe, W: b.W, H: stripe}, 0)
	}
	inside := svg.Box{X: b.X + 1, Y: b.Y + 1, W: max(b.W-2, 1), H: b.H - 2}
	if t.kept {
		d.rect("kept", inside, 1)
	}
	if t.blocks {
		d.rect("blocks", inside, 1)
	}
}
