// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"container/heap"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/resources"
)

// stride is how far apart the nodes are that a search looks at first.
const stride = 64

// A Scan is how far a look at all nodes has come: in its first round it looks at every
// stride-th node, in the second at the others.
type Scan struct {
	i      int
	second bool
}

// has reports whether the scan has looked at the node of an index.
func (c *Scan) has(i int) bool {
	return (c.second || i%stride == 0 && i < c.i) && (i%stride == 0 || i < c.i)
}

// Underway reports whether the scan has come through one in so many of all nodes.
func (c *Scan) Underway(nodes, one int) bool { return c.second && c.i > nodes/one }

// Scan looks at all nodes in turn, a few from everywhere first. It goes on until the budget
// is spent, and reports whether it is done.
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
		if c.i%stride == 0 || !s.Blind && s.Host.Skip(s.Nodes[c.i]) {
			continue
		}
		if !s.Look(s.Nodes[c.i]) {
			return false
		}
	}
	return true
}

// Along looks at all nodes in their order.
func (s *Search) Along(c *Scan) bool {
	for ; c.i < len(s.Nodes); c.i++ {
		if !s.Host.Skip(s.Nodes[c.i]) && !s.Look(s.Nodes[c.i]) {
			return false
		}
	}
	return true
}

// Look looks at a node, and searches it unless bounds tell that it has no plan that is
// cheaper than the best. It reports whether it was done, or at least did not take all that
// is left.
func (s *Search) Look(n int32) bool {
	if s.Exhausted() {
		return false
	}
	// Bounds would compare the best plan's node with its own plan.
	own := s.Best.Found && n == s.Best.Node && !s.Best.Exact || s.Blind
	if !own && !(s.leavesRoom(n, glance) && s.mayHave()) {
		return true
	}
	if !s.Host.Admits(n) {
		return true
	}
	shown, levels := s.Shown, s.Levels
	if s.search(n, own) {
		return true
	}
	if s.Exhausted() {
		s.Shown, s.Levels = shown, levels // it is looked at again, or the search says so
		return false
	}
	return true
}

// leavesRoom reports whether rough rows leave room for a plan that is cheaper than the best.
func (s *Search) leavesRoom(n int32, e effort) bool {
	return s.state(&s.rough, n, Rough) && s.climb(&s.rough, e)
}

// mayHave reports whether a set of rough rows is cheaper than the best plan, or might be.
func (s *Search) mayHave() bool {
	if !s.Best.Found || len(s.rough.Rows) > mostTried || s.Order.Compare != nil || s.missed > mostMissed {
		return true
	}
	s.solver.any = true
	a := s.Solve(&s.rough, &s.Best.Total, s.ladder.rivals, fewTried)
	s.solver.any = false
	if a.Proven && !a.Found {
		s.missed = max(s.missed-1, -mostMissed)
		return false
	}
	s.missed++
	return true
}

// fewTried is how many steps a look at rough rows may take, and mostTried how many rows may be looked at.
const fewTried, mostTried = 128, 64

// search searches a node, and reports whether it did so to the end. If units elsewhere may be part of
// a plan, those of the node are tried by themselves first: if they do, and no units of the node are
// cheaper that only make room there, that is all.
func (s *Search) search(n int32, own bool) bool {
	if !own && s.Host.Elsewhere() && !s.Host.Few() {
		if !s.state(&s.exact, n, Near) {
			return !s.Exhausted() // the host may not have begun for want of budget
		}
		if done := s.searchNear(n); done || s.Exhausted() {
			return done
		}
		own = !s.Lesser && s.Best.Found && s.Best.Node == n // others may have smaller keys
	}
	if !s.state(&s.exact, n, All) {
		return !s.Exhausted()
	}
	if !own && !s.climb(&s.exact, seek) {
		return true
	}
	return s.solve(n, own)
}

// searchNear searches the units of a node by themselves, and reports whether no plan with others
// can matter.
func (s *Search) searchNear(n int32) bool {
	p := &s.exact
	shown, levels := s.Shown, s.Levels
	defer func() { s.Shown, s.Levels = shown, levels }()
	shared := p.Need[p.Shared[0]:p.Shared[1]]
	s.shared = append(s.shared[:0], shared...)
	clear(shared)
	if !s.climb(p, seek) {
		return true
	}
	a := s.solved(s.ladder.rivals)
	copy(shared, s.shared)
	switch {
	case !a.Found && a.Proven:
		return true
	case a.Found && s.gives(p, a):
		if s.Host.Offer(p, a); a.Proven {
			return true
		}
	}
	least, proven := a.Total.Levels, a.Found && a.Proven
	if s.climb(p, glance) {
		if a := s.solved(s.ladder.rivals); a.Found {
			s.Host.Offer(p, a)
			s.Best.Exact = s.Best.Exact && s.Best.Node != n
		}
	}
	return s.Lesser && proven && s.Best.Found && s.Order.CompareLevels(&least, &s.Best.Total.Levels) >= 0
}

// gives reports whether a set gives all that is needed.
func (s *Search) gives(p *Problem, a *Answer) bool {
	for k := p.Shared[0]; k < p.Shared[1]; k++ {
		sum := int64(0)
		for i, n := range a.Taken {
			sum += int64(n) * p.Rows[i].Gives[k]
		}
		if sum < p.Need[k] {
			return false
		}
	}
	return true
}

// solved solves the exact problem with some rows, and notes nothing.
func (s *Search) solved(among []int32) *Answer {
	limit := &s.Best.Total
	if !s.Best.Found {
		limit, among = nil, nil
	}
	return s.Solve(&s.exact, limit, among, s.pace())
}

// solve solves the exact problem of a node.
func (s *Search) solve(n int32, own bool) bool {
	p, limit, among := &s.exact, &s.Best.Total, []int32(nil)
	switch {
	case !s.Best.Found || s.Blind:
		limit = nil
	case !own:
		among = s.ladder.rivals
	}
	a := s.Solve(p, limit, among, s.pace())
	s.Shown, s.Levels = s.Shown && a.Proven, s.Levels && a.Levels
	if a.Found {
		s.Host.Offer(p, a)
	}
	return a.Proven
}

// Try searches a node by itself, and leaves what it finds as the best.
func (s *Search) Try(n int32) bool { return s.search(n, true) }

// pace returns how many steps the next search may take. It keeps a hard node from taking
// what is left of the budget from all the others.
func (s *Search) pace() int {
	return cmp.Or(s.hasty, int(min(max(1<<14, s.Meter.Left>>10), 1<<17)))
}

// state states a node, and reports whether it may have a plan.
func (s *Search) state(p *Problem, n int32, how Extent) bool {
	p.Node, s.ladder.p = n, nil
	s.Meter.Pay(100)
	return s.Host.State(p, n, how)
}

// Bound returns what plans for a node cost at least, in levels and work. It reports false
// if there is none, or none cheaper than the best.
func (s *Search) Bound(n int32) (least cost.Total, ok bool) {
	ok = s.leavesRoom(n, bound)
	return cost.Total{Levels: s.ladder.levels, Work: s.ladder.work}, ok
}

// A prospect is a node with a bound on what plans for it cost.
type prospect struct {
	least cost.Total
	node  int32
	spare int64 // more of it promises more
}

// A frontier is a heap of the nodes that may still have a better plan than the best, those
// of the least bound first.
type frontier struct {
	s       *Search
	rows    []prospect
	waiting []prospect // those whose search takes long
}

// begin begins without nodes.
func (f *frontier) begin(s *Search) { f.s, f.rows, f.waiting = s, f.rows[:0], f.waiting[:0] }

func (f *frontier) Len() int      { return len(f.rows) }
func (f *frontier) Swap(i, j int) { f.rows[i], f.rows[j] = f.rows[j], f.rows[i] }
func (f *frontier) Push(any)      {}
func (f *frontier) Pop() any      { f.rows = f.rows[:len(f.rows)-1]; return nil }

// Less orders prospects by their bounds, and then by how much they promise.
func (f *frontier) Less(i, j int) bool {
	a, b := &f.rows[i], &f.rows[j]
	if c := cmp.Or(f.s.Order.CompareTotals(&a.least, &b.least), cmp.Compare(b.spare, a.spare)); c != 0 {
		return c < 0
	}
	return f.s.Host.Before(a.node, b.node)
}

// Front looks at nodes in the order of their bounds, and reports whether it has shown that
// there is no plan of lesser levels than what it leaves as the best; or no cheaper one at
// all, if levels are not what decides first. It passes over what a scan has looked at.
//
// One node may take more than all others, and a better plan from elsewhere would have told
// of it in no time. So a node whose search takes long waits until the others are done, and
// then it gets a larger part of the budget.
func (s *Search) Front(c *Scan) bool {
	s.Lesser = s.Sequence[0] < cost.NumLevels
	defer func() { s.Lesser = false }()
	f := &s.frontier
	if f.begin(s); len(s.Nodes) > 4*stride {
		s.Within(s.Meter.Left/32, func() bool { s.prospects(c, 0, stride); return s.searchAll(2) })
	}
	// The more dimensions, the longer it takes to find a good set on a node at all.
	first := min(max(128/int64(max(len(s.Dims), 1)), 4), 32)
	f.begin(s)
	for at, from := 0, -1; at < len(s.Nodes); {
		s.Within(s.Meter.Left/2, func() bool { at, from = s.prospects(c, at, 1), at; return true })
		// If bounds took that long, those of the others take less with a better plan.
		if !s.searchAll(first) || at == from {
			return false
		}
	}
	for _, share := range [...]int64{(first + 3) / 4, 1} {
		if len(f.waiting) > 0 && !s.Exhausted() {
			f.rows, f.waiting = f.waiting, f.rows[:0]
			heap.Init(f)
			if !s.searchAll(share) {
				return false
			}
		}
	}
	return len(f.waiting) == 0
}

// prospects adds to the heap the nodes that may have a better plan than the best, every n-th from
// one on of those that the scan has not looked at. It returns the node that is next if the budget
// is spent.
func (s *Search) prospects(c *Scan, i, every int) (next int) {
	f := &s.frontier
	defer heap.Init(f)
	for ; i < len(s.Nodes); i += every {
		if s.Exhausted() {
			return i
		}
		n := s.Nodes[i]
		if c.has(i) || s.Host.Skip(n) {
			continue
		}
		least, ok := s.Bound(n)
		if s.Lesser {
			least.Work = resources.Wide{} // it plays no part
		}
		// It is compared where it is kept: the address of a local bound would allocate.
		if f.rows = append(f.rows, prospect{least, n, s.ladder.spare}); !ok || !s.mayBeat(&f.rows[len(f.rows)-1].least) {
			f.rows = f.rows[:len(f.rows)-1]
		}
	}
	return i
}

// mayBeat reports whether a bound leaves room for a better plan than the best.
func (s *Search) mayBeat(least *cost.Total) bool {
	return !s.Best.Found || s.beats(least, &s.Best.Total)
}

// searchAll searches all prospects, none in more than one part in so many of what is left.
// Those that take longer wait. It reports false if the budget was spent before.
func (s *Search) searchAll(share int64) bool {
	f := &s.frontier
	part := s.Meter.Left / share
	for len(f.rows) > 0 {
		if !s.mayBeat(&f.rows[0].least) {
			break // nor does any other
		}
		if s.Exhausted() {
			return false
		}
		p := f.rows[0]
		heap.Pop(f)
		shown, levels := s.Shown, s.Levels
		if !s.Within(min(part, s.Meter.Left), func() bool { return s.refute(p.node) }) {
			f.waiting = append(f.waiting, p)
			s.Shown, s.Levels = shown, levels // it is looked at again, or Front says so
		}
	}
	f.rows = f.rows[:0]
	return true
}

// refute searches a prospect until it has no better plan than what is the best then, and
// reports whether it did so to the end.
func (s *Search) refute(n int32) bool {
	if !s.Lesser {
		return s.Look(n)
	}
	if !s.leavesRoom(n, seek) || !s.mayHave() || !s.Host.Admits(n) {
		return true
	}
	return s.search(n, false)
}

// Sort sorts nodes by their bounds, in the memory of dst, and leaves those out that have
// no plan.
func (s *Search) Sort(dst []int32, nodes []int32) []int32 {
	f := &s.frontier
	f.begin(s)
	dst = dst[:0]
	for _, n := range nodes {
		if least, ok := s.Bound(n); ok {
			f.rows = append(f.rows, prospect{least, n, 0})
		}
	}
	for heap.Init(f); len(f.rows) > 0; heap.Pop(f) {
		dst = append(dst, f.rows[0].node)
	}
	return dst
}
