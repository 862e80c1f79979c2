package victims

import (
	"container/heap"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/victims/cover"
)

// If the work that is lost decides early, a bound on it must know that new tasks are
// often small. So what is lacking gets a price: each part of it is worth some
// work. A task gains what it gives at that price, less the work that it loses. All
// parts together are worth a sum, and of that no set of victims saves more than the
// gains of all tasks that have any. What is left is lost in every plan, whatever the
// price is. (It is the dual of the problem in which tasks may be cut.)
//
// The best price is what the last task costs that is taken if the cheapest for what
// they give go first. It is looked up on nodes that were searched in vain, and is
// mostly good for others.

// priceBits are how many bits of a price are behind the point.
const priceBits = 20

// searchByWork searches nodes if work decides before all else, those first whose plans
// may lose the least, and reports whether it looked at all that matter.
func (d sequenceBounder) searchByWork() bool {
	d.priceBySample()
	f, short := &d.problem.losses, d.scratch.short
	f.c, f.rows = d.c, f.rows[:0]
	for _, n := range d.nodes {
		if !d.usable(n) || d.nodeNeed(short, n) == 0 || !d.conceivable(n, short) {
			continue
		}
		s := d.rivalsOf(n, short)
		work, _ := s.leastLoss()
		f.rows = append(f.rows, loss{work, n})
	}
	// All that come after a node whose bound is above the best plan lose more still.
	// One that is equal is looked at, for what decides after work may be less.
	// Few are looked at, and so they are not sorted.
	for heap.Init(f); len(f.rows) > 0; heap.Pop(f) {
		p := f.rows[0]
		if d.pool.hopeless || d.best.found && p.work.Compare(d.best.total.Work) > 0 {
			break
		}
		if d.exhausted() {
			return false
		}
		d.look(p.node)
	}
	return true
}

// A loss is a bound on the work that plans for a node lose.
type loss struct {
	work cover.Work
	node NodeID
}

// losses are a heap of nodes, those first whose plans may lose the least.
type losses struct {
	c    *Cluster
	rows []loss
}

func (f *losses) Len() int      { return len(f.rows) }
func (f *losses) Swap(i, j int) { f.rows[i], f.rows[j] = f.rows[j], f.rows[i] }
func (f *losses) Push(any)      {} // nothing is added once it is a heap
func (f *losses) Pop() any {
	f.rows = f.rows[:len(f.rows)-1]
	return nil // the caller has read it
}

// Less orders nodes by their bounds, and then as they are.
func (f *losses) Less(i, j int) bool {
	a, b := &f.rows[i], &f.rows[j]
	if c := a.work.Compare(b.work); c != 0 {
		return c < 0
	}
	return f.c.place(a.node) < f.c.place(b.node)
}

// priceBySample sets the price to that of the node, among some from everywhere, that
// loses the least if tasks may be cut.
func (d sequenceBounder) priceBySample() {
	least, price, short := int64(noLimit), uint64(0), d.scratch.short
	for i := 0; i < len(d.nodes); i += stride {
		n := d.nodes[i]
		if !d.usable(n) || d.nodeNeed(short, n) == 0 || !d.conceivable(n, short) {
			continue
		}
		if lost := d.reprice(n); lost < least {
			least, price = lost, d.problem.price
		}
	}
	d.problem.price = price
}

// losesMore reports whether every plan of the lanes loses more work than the best.
func (s *rivals) losesMore() bool {
	least, ok := s.leastLoss()
	return ok && least.Compare(s.d.best.total.Work) > 0
}

// For example let a node lack 10 parts, and have three tasks: two that give 6 and lose
// 6 hours, and one that gives 2 and loses 5. At an hour a part the ten are worth 10
// hours, and nobody gains anything: so every plan loses at least 10 hours. At two hours
// they are worth 20, the first two gain 6 each, and 8 hours are left: that price is
// worse. The cheapest plan loses 12.
//
// leastLoss returns work that every plan of the lanes loses at least, and false if
// that is all that is known of it.
func (s *rivals) leastLoss() (least cover.Work, ok bool) {
	d, mix := s.d, &s.d.problem.mix
	price := d.problem.price
	left, ok := worth(mix.aim(s.lacks), price)
	if price == 0 || !ok {
		return least, false
	}
	d.trial.pay(int64(len(s.lanes) * len(d.types)))
	for _, i := range s.lanes {
		l := &s.digest.lanes[i]
		gives, ok := worth(mix.of(s.digest.size(int(i), len(s.lacks))), price)
		if !ok {
			return least, false // beyond what is computed with
		}
		gives++ // rounded up
		for _, start := range s.digest.times[l.first:l.end] {
			lost := d.bounds.since(start)
			if lost >= gives {
				break // those after it lose more
			}
			if gives-lost > left {
				return least, false
			}
			left -= gives - lost
		}
	}
	return least.AddNanos(left, 1), true
}

// worth returns what a share is worth at a price, rounded down, and false if that is
// too much to compute with.
func worth(share int64, price uint64) (nanos uint64, ok bool) {
	hi, lo := bits.Mul64(uint64(share), price)
	return hi<<(64-priceBits) | lo>>priceBits, hi>>(priceBits-1) == 0
}

// reprice looks the price up on a node, and returns about what is lost there if
// tasks may be cut.
func (d sequenceBounder) reprice(n NodeID) (lost int64) {
	short, digest := d.scratch.short, &d.c.digest.nodes[n]
	d.nodeNeed(short, n)
	mix, priced := &d.problem.mix, d.scratch.priced[:0]
	open := mix.aim(short)
	for i := range digest.lanes {
		l := &digest.lanes[i]
		share := mix.of(digest.size(i, d.c.types))
		for _, start := range digest.times[l.first:l.end] {
			if work := d.bounds.since(start); share > 0 && work < noLimit {
				priced = append(priced, pricedLane{share, 1, int64(work), int32(i)})
			}
		}
	}
	d.scratch.priced = priced
	d.trial.pay(int64(8 * len(priced)))
	slices.SortFunc(priced, func(a, b pricedLane) int {
		return wide.Mul(uint64(a.cost), uint64(b.share)).Cmp(wide.Mul(uint64(b.cost), uint64(a.share)))
	})
	for _, p := range priced {
		lost += min(p.cost, noLimit-lost)
		if open -= p.share; open > 0 {
			continue
		}
		// The task that closes the lack would be cut: what it costs for each part that
		// it gives is the price.
		if hi, lo := bits.Mul64(uint64(p.cost), 1<<priceBits); hi < uint64(p.share) {
			d.problem.price, _ = bits.Div64(hi, lo, uint64(p.share))
		}
		return lost
	}
	return noLimit
}
