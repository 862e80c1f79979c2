package victims

import (
	"slices"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// Nodes are often alike: they run as many tasks of the same sizes, and differ only in
// when these were scheduled. What was found out about the levels of one is then true of
// the next, and to see that two are alike takes less time than to find it out.

// A likeness is what is known of the levels of the last node that was bounded.
type likeness struct {
	known  bool
	lesser bool // only plans of lesser levels were wanted
	node   NodeID
	in     cover.Levels     // its bound before
	best   cover.Levels     // of the best plan at that time
	short  resources.Vector // what the node lacks
	out    nodeBound        // its bound
	equal  bool             // those are the levels of the best plan
	lanes  int              // how many of its lanes have the victims of a plan of those levels
	mix    sizeMix          // of those lanes; its count is 0 until it is asked for
}

// mostAlike is up to how many lanes nodes have that are compared. With more of them
// they are hardly ever alike.
const mostAlike = 8

// forget is for the next decision.
func (l *likeness) forget() { l.known = false }

// serves reports whether a node may be compared with others. Once there is a best plan
// the search looks at one after another. A sieve has one node only, and own costs ask
// for more than lanes.
func (l *likeness) serves(d bounder, n NodeID) bool {
	return d.best.found && n != d.sieve.node && len(d.c.costs) == 0 && len(d.c.digest.nodes[n].lanes) <= mostAlike
}

// recall sets a bound to that of the last node, if all that it depends on is the same,
// and reports whether it is.
func (l *likeness) recall(d bounder, b *nodeBound, short resources.Vector) bool {
	if !l.known || l.lesser != d.worker.OnlyLesser || l.in != b.levels || l.best != d.best.total.Levels || !l.alike(d, l.node, b.node) || !slices.Equal(l.short, short) {
		return false
	}
	b.levels, b.spare = l.out.levels, l.out.spare
	return true
}

// begin notes what the bound of a node depends on, and end what it is.
func (l *likeness) begin(d bounder, b *nodeBound, short resources.Vector) {
	l.known, l.lesser, l.node = false, d.worker.OnlyLesser, b.node
	l.in, l.best, l.short = b.levels, d.best.total.Levels, append(l.short[:0], short...)
}

func (l *likeness) end(b *nodeBound, lanes int) {
	l.known, l.out, l.lanes, l.mix = lanes > 0, *b, lanes, sizeMix{}
	l.equal = b.levels == l.best
}

// beats reports whether it is certain that no plan for a node is cheaper than the best,
// because it is like the last one and its tasks lose too much work. Bounds say no less,
// but take twice as long for it.
func (l *likeness) beats(d bounder, n NodeID, short resources.Vector) bool {
	if !l.known || !l.equal || l.lesser != d.worker.OnlyLesser || l.best != d.best.total.Levels || !l.serves(d, n) || !slices.Equal(l.short, short) || !l.alike(d, l.node, n) {
		return false
	}
	// Laws may keep tasks of this node and none of that one.
	if d.sift(n) {
		return false
	}
	b, lanes := &l.out, d.digestOf(n).lanes[:l.lanes]
	b.node = n
	if l.mix.count == 0 {
		_, typ := d.fewest(n, lanes, short)
		l.mix = d.sizesOf(b, lanes, lack{typ, short[typ]})
	}
	d.trial.pay(refineWork)
	b.work = d.newestOf(laneSet{n, lanes}, &l.mix)
	return d.beatenInRest(b)
}

// alike reports whether two nodes have as many tasks of the same sizes, priorities and
// flags.
func (l *likeness) alike(d bounder, n, m NodeID) bool {
	x, y := &d.c.digest.nodes[n], &d.c.digest.nodes[m]
	return slices.Equal(x.lanes, y.lanes) && slices.Equal(x.sizes, y.sizes)
}
