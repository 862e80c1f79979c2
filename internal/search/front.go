// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"container/heap"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/resources"
)

// stride is how far apart the nodes are that a search looks at first. Any value
// between 1 and 1024 does: neighbours are often alike, and a first round of one in 64
// soon has a plan from everywhere.
const stride = 64

// Fewer nodes than fewNodes are not worth a sample. The sample gets one part in
// sampleShare of what is left, more of it if units are gangs, and no node more than one
// part in sampleSearches of that.
const (
	fewNodes       = 4 * stride
	sampleShare    = 32
	sampleSearches = 2
)

// A Scan is how far a look at all nodes has come: in its first round it looks at every
// stride-th node, in the second at the others.
type Scan struct {
	i      int
	second bool
}

// has reports whether the scan has looked at the node of an index.
func (c *Scan) has(i int) bool {
	if i%stride == 0 {
		return c.second || i < c.i
	}
	return c.second && i < c.i
}

// Underway reports whether the scan has come to its second round, and through one in so
// many of all nodes.
func (c *Scan) Underway(nodes, one int) bool { return c.second && c.i > nodes/one }

// Scan looks at all nodes in turn, a few from everywhere first, for they give a good plan.
// It goes on until the budget is spent, and reports whether it is done. A node that was not
// looked at to its end is the next to look at.
func (s *Search) Scan(c *Scan) bool {
	s.Lesser = false
	for ; !c.second; c.i += stride {
		if c.i >= len(s.Nodes) {
			c.i, c.second = 0, true
			break
		}
		if !s.Look(s.Nodes[c.i]) {
			return false
		}
	}
	for ; c.i < len(s.Nodes); c.i++ {
		if c.i%stride == 0 || s.Host.Skip(s.Nodes[c.i]) {
			continue
		}
		if !s.Look(s.Nodes[c.i]) {
			return false
		}
	}
	return true
}

// Along looks at all nodes in their order, and goes on where it was, as Scan does.
func (s *Search) Along(c *Scan) bool {
	for ; c.i < len(s.Nodes); c.i++ {
		if !s.Host.Skip(s.Nodes[c.i]) && !s.Look(s.Nodes[c.i]) {
			return false
		}
	}
	return true
}

// Look looks at a node, and searches it unless bounds tell that it has no plan that is
// cheaper than the best. It reports whether it has done so to the end.
func (s *Search) Look(n int32) bool {
	if s.Exhausted() {
		return false
	}
	if s.Best.Found && n == s.Best.Node && !s.Best.Exact {
		// Bounds compare the node with its own plan, and its cheapest may have smaller keys.
		return s.solve(n)
	}
	if !s.reaches(n, glance) || !s.Host.Admits(n) {
		return true
	}
	if s.plain && s.site.Exact {
		switch s.dig(mostSets) {
		case none:
			if s.Best.Found {
				return true
			}
		case some:
			if s.takes(n) {
				return true
			}
		}
	}
	return s.solve(n)
}

// takes tries the cheapest set that was found as a plan, and reports whether it is the
// node's best: laws keep nobody of it, and all sets were looked at.
func (s *Search) takes(n int32) bool {
	x := &s.sets
	// Of sets that are equal keys decide, which rows do not know.
	if x.steps < 0 || x.tied {
		return false
	}
	// Without a best plan only rows were looked at that allow no more than the bound.
	if x.any && x.total.Levels != s.ladder.levels {
		return false
	}
	total, ok := s.Host.Try(&s.site, x.picks)
	if !ok || total.Levels != x.total.Levels || total.Excess.Compare(x.total.Excess) != 0 || total.Work.Compare(x.total.Work) != 0 {
		return false
	}
	if s.Best.Node == n {
		s.Best.Exact = true
	}
	return true
}

// stateWork is what it takes to state a node, in elementary work.
const stateWork = 100

// state states a node, roughly if that is wanted and sooner, and reports whether it may have
// a plan.
func (s *Search) state(n int32, rough bool) bool {
	s.site.Rough = rough
	s.site.Node = n
	if !s.Host.State(&s.site, n) {
		return false
	}
	s.Meter.Pay(stateWork)
	if !s.site.Same {
		s.ladder.state(&s.site, &s.prices)
	}
	return true
}

// reaches reports whether a node may have a plan that is cheaper than the best. Rough rows
// are asked first, if the host has any.
func (s *Search) reaches(n int32, e effort) bool {
	if !s.state(n, s.Best.Found) || !s.climb(e) {
		return false
	}
	return !s.site.Rough || s.state(n, false) && s.climb(e)
}

// solve searches a node, and reports whether that was to the end, or at least did not take
// all that is left.
func (s *Search) solve(n int32) bool { return s.Host.Solve(n) || !s.Exhausted() }

// Bound returns what plans for a node cost at least, in levels and work. It reports false
// if there is none, or none cheaper than the best.
func (s *Search) Bound(n int32) (levels cost.Levels, work resources.Wide, ok bool) {
	ok = s.state(n, true) && s.climb(bound)
	return s.ladder.levels, s.ladder.work, ok
}

// A prospect is a node with a bound on what plans for it cost.
type prospect struct {
	levels cost.Levels
	work   resources.Wide
	node   int32
	spare  int64 // by how much its rows exceed what the bound takes: more of it promises more
}

// A frontier is a heap of the nodes that may still have a better plan than the best, those
// of the least bound first.
type frontier struct {
	s       *Search
	rows    []prospect
	waiting []prospect // those whose search takes long
}

func (f *frontier) Len() int      { return len(f.rows) }
func (f *frontier) Swap(i, j int) { f.rows[i], f.rows[j] = f.rows[j], f.rows[i] }
func (f *frontier) Push(any)      {} // nothing is added once it is a heap
func (f *frontier) Pop() any {
	f.rows = f.rows[:len(f.rows)-1]
	return nil // the caller has read it
}
func (f *frontier) Less(i, j int) bool { return f.s.comparePlaces(&f.rows[i], &f.rows[j]) < 0 }

// comparePlaces orders prospects by their bounds, and then by how much they promise.
func (s *Search) comparePlaces(a, b *prospect) int {
	c := 0
	for _, what := range s.sequence {
		if what < cost.NumLevels {
			c = cmp.Compare(a.levels[what], b.levels[what])
		} else if what == cost.ByWork {
			c = a.work.Compare(b.work)
		}
		if c != 0 {
			return c
		}
	}
	if a.spare > b.spare || a.spare == b.spare && s.Host.Before(a.node, b.node) {
		return -1
	}
	return 1
}

// Front looks at nodes in the order of their bounds, and reports whether it has shown
// that there is no plan of lesser levels than what it leaves as the best; or no cheaper
// one at all, if levels are not what decides first. It passes over what a scan has looked
// at, if that has shown as much.
//
// It begins with a quick look at a few nodes from everywhere. What they have is mostly
// as good as it gets, and what is learnt on them tells of most others at once.
func (s *Search) Front(c *Scan) (shown bool) {
	s.Lesser = s.sequence[0] < cost.NumLevels
	if len(s.Nodes) > fewNodes {
		s.Within(s.Meter.Left/sampleShare, func() bool { s.sample(c); return true })
	}
	// What they take must not leave nothing for a search.
	shown = s.Within(s.Meter.Left/2, func() bool { return s.findProspects(c, 1) })
	shown = s.searchFront() && shown
	s.Lesser = false
	return shown
}

// sample looks at a few nodes from everywhere.
func (s *Search) sample(c *Scan) {
	part := s.Meter.Left / sampleSearches
	s.findProspects(c, stride)
	for len(s.front.rows) > 0 && s.Meter.Left > 0 {
		s.Within(part, s.searchFirst)
	}
}

// findProspects makes a heap of the nodes that may have a better plan than the best. Of
// those that the scan has not looked at it takes every n-th. It reports false if the
// budget is spent before it has come to the end.
func (s *Search) findProspects(c *Scan, every int) bool {
	f := &s.front
	f.s, f.rows = s, f.rows[:0]
	for i := 0; i < len(s.Nodes); i += every {
		if s.Exhausted() {
			heap.Init(f)
			return false
		}
		n := s.Nodes[i]
		if c.has(i) || s.Host.Skip(n) {
			continue
		}
		if levels, work, ok := s.Bound(n); ok && s.mayBeat(&levels, work) {
			if s.Lesser {
				work = resources.Wide{} // it plays no part
			}
			f.rows = append(f.rows, prospect{levels, work, n, s.ladder.spare})
		}
	}
	heap.Init(f)
	return true
}

// mayBeat reports whether a bound leaves room for a better plan than the best.
func (s *Search) mayBeat(levels *cost.Levels, work resources.Wide) bool {
	if !s.Best.Found {
		return true
	}
	c := s.compareTo(levels, work, &s.Best.Total)
	return c < 0 || c == 0 && !s.Lesser
}

// searchFront searches all prospects, and reports whether it did so to the end.
//
// One node may take more than all others, and a better plan from elsewhere would have
// told of it in no time. So a node whose search takes long waits until the others are
// done, and then it gets a larger part of the budget.
func (s *Search) searchFront() (shown bool) {
	f := &s.front
	shown = true
	for _, share := range [...]int64{16, 4, 1} {
		part := s.Meter.Left / share
		f.waiting = f.waiting[:0]
		for len(f.rows) > 0 {
			if s.Meter.Left <= 0 {
				return false
			}
			p, spent, all, best := f.rows[0], false, part >= s.Meter.Left, s.Best.Total.Levels
			done := s.Within(min(part, s.Meter.Left), func() bool {
				done := s.searchFirst()
				spent = s.Meter.Left <= 0
				return done
			})
			// With what it has found it goes on at once: it is mostly not all.
			for !done && spent && !all && s.Best.Node == p.node && s.Best.Total.Levels != best {
				all, best = part >= s.Meter.Left, s.Best.Total.Levels
				done = s.Within(min(part, s.Meter.Left), func() bool {
					done := s.search(&p)
					spent = s.Meter.Left <= 0
					return done
				})
			}
			switch {
			case done:
			case spent && !all:
				f.waiting = append(f.waiting, p)
			default:
				shown = false
			}
		}
		if len(f.waiting) == 0 {
			break
		}
		f.rows, f.waiting = f.waiting, f.rows
		heap.Init(f)
	}
	return shown
}

// searchFirst searches the first of the prospects, and reports whether it did so to the
// end. If its bound leaves no room for a better plan, that of no other does.
func (s *Search) searchFirst() bool {
	p := s.front.rows[0]
	if !s.mayBeat(&p.levels, p.work) {
		s.front.rows = s.front.rows[:0]
		return true
	}
	heap.Pop(&s.front)
	return s.search(&p)
}

// search searches a prospect, and reports whether it did so to the end.
func (s *Search) search(p *prospect) bool {
	if !s.Lesser {
		return s.Look(p.node)
	}
	return s.refute(p.node) || s.Host.Solve(p.node) && !s.Meter.Over()
}

// refute reports whether a node has no plan of lesser levels than what it leaves as the
// best. It tries the sets that it finds.
func (s *Search) refute(n int32) bool {
	admitted := false
	for {
		if !s.reaches(n, seek) || !admitted && !s.Host.Admits(n) {
			return true
		}
		admitted = true
		if got := s.dig(mostDug); got != some {
			return got == none && s.Best.Found
		}
		if _, ok := s.Host.Try(&s.site, s.sets.picks); !ok || s.Meter.Over() {
			return false
		}
	}
}

// Sort sorts nodes by their bounds, in the memory of dst, and leaves those out that have
// no plan.
func (s *Search) Sort(dst []int32, nodes []int32) []int32 {
	f := &s.front
	f.s, f.rows, dst = s, f.rows[:0], dst[:0]
	for _, n := range nodes {
		if levels, work, ok := s.Bound(n); ok {
			f.rows = append(f.rows, prospect{levels, work, n, 0})
		}
	}
	for heap.Init(f); len(f.rows) > 0; heap.Pop(f) {
		dst = append(dst, f.rows[0].node)
	}
	return dst
}
