// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/internal/judge/svg"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
)

// A row of the tree is a name and, beside it, two bars: the upper one is what
// the queue uses before the plan, the lower one what it uses after.
const (
	queueHeight = 38
	queueIndent = 14
	deepest     = 5 // levels that are indented
	barsLeft    = 184
	laneHeight  = 7
)

// queueTree draws the tree from a line on, and returns the line below.
func (d *drawing) queueTree(y int) int {
	d.canvas.Text("column", queuesLeft, y, svg.Fit("queues"+d.inType(), svg.Bold(13), nodesLeft-queuesLeft-10))
	y += 10
	tree := d.cluster.Tree()
	whole := d.whole()
	rows := pick(tree.Len(), mostQueues, d.queueRank)
	at := make(map[queue.ID]svg.Box)
	for _, i := range rows {
		q := queue.ID(i)
		at[q] = svg.Box{X: queuesLeft + queueIndent*min(trees.Depth(tree, q), deepest), Y: y, W: queuesRight - queuesLeft, H: queueHeight}
		d.branch(q, at)
		d.queueRow(q, at[q], whole)
		y += queueHeight
	}
	if more := tree.Len() - len(rows); more > 0 {
		y += 16
		d.canvas.Text("muted", queuesLeft, y, "and "+say.Counted(more, "more queue"))
	}
	return y
}

// queueRank puts the queue that asks first, then those of victims and those
// above it, then those above victims.
func (d *drawing) queueRank(i int) int {
	tree, q := d.cluster.Tree(), queue.ID(i)
	switch {
	case q == d.asker:
		return 0
	case tree.Contains(q, d.asker):
		return 1
	}
	rank := 3
	for i := range d.victims {
		switch at := d.victims[i].Queue; {
		case q == at:
			rank = min(rank, 1)
		case tree.Contains(q, at):
			rank = min(rank, 2)
		}
	}
	return rank
}

// branch draws the line from the queue above, if that is shown.
func (d *drawing) branch(q queue.ID, at map[queue.ID]svg.Box) {
	above, ok := d.cluster.Tree().Parent(q)
	from, shown := at[above]
	if !ok || !shown || from.X == at[q].X {
		return
	}
	d.canvas.Path("tree", fmt.Sprintf("M%d %dV%dH%d", from.X+5, from.MidY()+7, at[q].MidY(), at[q].X-2))
}

// queueRow draws one queue.
func (d *drawing) queueRow(q queue.ID, b svg.Box, whole int64) {
	tree := d.cluster.Tree()
	bars := svg.Box{X: barsLeft, Y: b.Y + 17, W: queuesRight - barsLeft, H: 2*laneHeight + 1}
	name, class := strings.TrimLeft(d.letter(q)+" "+plain.Name(trees.Name(tree, q)), " "), ""
	if d.decided && q == d.asker {
		class, d.asking = "strong", bars
	}
	d.canvas.Titled(d.queueTitle(q), func() {
		d.canvas.Rect(d.tint(q), svg.Box{X: b.X, Y: b.MidY() - 5, W: 10, H: 10}, 2)
		d.canvas.Text(class, b.X+16, b.MidY()+4, svg.Fit(name, svg.Bold(12), barsLeft-b.X-24))
		if d.kind < 0 {
			d.canvas.Rect("track", bars, 2)
			return
		}
		d.canvas.Text("muted", bars.X, b.Y+12, svg.Fit(d.account(q, d.kind), 11, bars.W))
		d.bars(q, d.kind, bars, whole)
	})
}

// tint returns the class of a queue: a leaf has a colour, which is that of its
// tasks, too.
func (d *drawing) tint(q queue.ID) string {
	if !d.cluster.Tree().IsLeaf(q) {
		return "inner"
	}
	return fmt.Sprintf("t%d", d.leaves[q]%tints)
}

// letter returns what marks a leaf and its tasks beside the colour, which not
// everybody sees and which leaves may share: A to Z, then A2 and so on. Queues
// above have none.
func (d *drawing) letter(q queue.ID) string {
	n, ok := d.leaves[q]
	if !ok {
		return ""
	}
	text := string(rune('A' + n%26))
	if n >= 26 {
		text += fmt.Sprint(n/26 + 1)
	}
	return text
}

// A stock is what a queue has of one type.
type stock struct{ stays, goes, leaves, comes int64 }

func (s stock) before() int64 { return s.stays + s.goes + s.leaves }
func (s stock) after() int64  { return s.stays + s.comes }

// stock adds up what a queue has of type i. No sum is out of range: it is part
// of what a cluster has before or after its plan.
func (d *drawing) stock(q queue.ID, i int) stock {
	tree := d.cluster.Tree()
	var s stock
	for n := range d.victims {
		if t := &d.victims[n]; tree.Contains(q, t.Queue) {
			s.goes += t.Size[i]
		}
	}
	if tree.Contains(q, d.asker) {
		for _, a := range d.comes {
			if !a.held {
				s.comes += a.size[i]
			}
		}
	}
	s.leaves = tree.Leaving(q)[i]
	s.stays = tree.Usage(q)[i] - s.leaves - s.goes
	return s
}

// whole returns what the whole length of a bar stands for: the most that any
// queue uses, or is guaranteed of what there is.
func (d *drawing) whole() int64 {
	whole := int64(1)
	if d.kind < 0 {
		return whole
	}
	for q := range queue.ID(d.cluster.Tree().Len()) {
		g, _ := d.cluster.Tree().Guaranteed(q).Bound(d.kind)
		s := d.stock(q, d.kind)
		whole = max(whole, s.before(), s.after(), min(g, d.cluster.Capacity()[d.kind]))
	}
	return whole
}

// account says in words what the bars of a queue show.
func (d *drawing) account(q queue.ID, i int) string {
	schema, tree, s := d.cluster.Schema(), d.cluster.Tree(), d.stock(q, i)
	text := plain.Line(schema.Name(i)) + " " + vectors.Text(schema, i, s.before())
	if s.after() != s.before() {
		text += " → " + vectors.Text(schema, i, s.after())
	}
	if g, ok := tree.Guaranteed(q).Bound(i); ok {
		text += ", guaranteed " + vectors.Text(schema, i, g)
	}
	if m, ok := d.most(q).Bound(i); ok {
		text += ", max " + vectors.Text(schema, i, m)
	}
	return text
}

// bars draws what a queue has of type i, of a whole.
func (d *drawing) bars(q queue.ID, i int, b svg.Box, whole int64) {
	tree, s := d.cluster.Tree(), d.stock(q, i)
	stays := d.tint(q)
	d.canvas.Rect("track", b, 2)
	lane := func(y int, parts ...part) {
		for from := int64(0); len(parts) > 0; parts = parts[1:] {
			to := from + parts[0].amount
			// Both ends are rounded alike, so that parts meet.
			x, end := along(b.W, from, whole), along(b.W, to, whole)
			if end > x {
				d.rect(parts[0].class, svg.Box{X: b.X + x, Y: y, W: end - x, H: laneHeight}, 0)
			}
			from = to
		}
	}
	lane(b.Y, part{stays, s.stays}, part{"goes", s.goes}, part{"leaves", s.leaves})
	lane(b.Bottom()-laneHeight, part{stays, s.stays}, part{"comes", s.comes})
	if g, ok := tree.Guaranteed(q).Bound(i); ok {
		d.bound("bound", b.X+along(b.W, g, whole), b)
	}
	if m, ok := d.most(q).Bound(i); ok && m <= whole {
		d.bound("bound most", b.X+along(b.W, m, whole), b)
	}
}

// A part of a bar.
type part struct {
	class  string
	amount int64
}

// bound marks a bound at x.
func (d *drawing) bound(class string, x int, b svg.Box) {
	d.drawn[class] = true
	d.canvas.Path(class, fmt.Sprintf("M%d %dV%d", x, b.Y-2, b.Bottom()+2))
}

// along returns how far an amount reaches on a line that stands for a whole.
func along(length int, amount, whole int64) int {
	return int(min(ratio.Of(max(amount, 0), int64(length), whole), int64(length)))
}

// queueTitle says of a queue what there is to know.
func (d *drawing) queueTitle(q queue.ID) string {
	tree := d.cluster.Tree()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: uses %s, guaranteed %s, max %s", d.queue(q),
		d.amounts(tree.Usage(q)), d.limit(tree.Guaranteed(q)), d.limit(d.most(q)))
	if p := tree.Policies(q).Preemption; p != queue.Default {
		fmt.Fprintf(&b, ", preemption: %v", p)
	}
	return b.String()
}
