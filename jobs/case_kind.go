package jobs

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A crew is the members that are to be placed now: the first ones of the
// minimum that have no place.
type crew struct {
	todo     []int            // indices of Job.Members, ascending
	rem      resources.Vector // the sum of their sizes, as quotas call it
	wants    resources.Mask   // the types of rem
	kinds    []kind           // the largest first
	kindOf   []int32          // by place in todo
	previous []int32          // of the same kind, by place in todo, or -1
	sorted   []int32          // places in todo, kind by kind
}

// A kind is members that are alike to every node: for them only the number on
// each node matters.
type kind struct {
	size  resources.Vector // of full length
	types []int            // those with an amount: an explicit zero is no wanted type
	// only is the member, as an index of Job.Members, that a node is reserved
	// for, and then it is alone in its kind; else -1.
	only       int32
	class      int32 // see filter
	first, end int32 // of crew.sorted
}

// setTodo makes the first n members of the minimum the ones to be placed, and
// sorts them into kinds, the largest first by dominant share.
func (c *jobCase) setTodo(n int) {
	c.blocks = c.blocks[:0]
	c.todo = c.unplaced[:n]
	c.rem = rows.Zeros(c.rem, c.types)
	sizes := c.block(n)
	c.sorted = c.sorted[:0]
	for i, m := range c.todo {
		size := c.row(sizes, i)
		copy(size, c.job.Members[m].Size)
		c.rem = resources.Add(c.rem, c.rem, size)
		c.sorted = append(c.sorted, int32(i))
	}
	c.wants = resources.Positive(c.rem)
	slices.SortFunc(c.sorted, func(i, j int32) int { return c.compareMembers(sizes, i, j) })
	c.kinds = c.kinds[:0]
	c.kindOf, c.previous = rows.Zeros(c.kindOf, n), rows.Zeros(c.previous, n)
	for at, i := range c.sorted {
		k := kind{size: c.row(sizes, int(i)), only: c.reservedFor(i), class: c.filter.of(c.todo[i]), first: int32(at), end: int32(at)}
		// Members that are alike are neighbours, for compareMembers compares all
		// that alike does.
		last := len(c.kinds) - 1
		if last < 0 || !c.kinds[last].alike(&k) {
			last++
			c.addKind(k)
		}
		c.previous[i] = -1
		if int32(at) > c.kinds[last].first {
			c.previous[i] = c.sorted[at-1]
		}
		c.kinds[last].end++
		c.kindOf[i] = int32(last)
	}
}

// compareMembers puts members in the order of kinds: by size, by reservation,
// and then as the caller has them.
func (c *jobCase) compareMembers(sizes []int64, i, j int32) int {
	x, y := c.row(sizes, int(i)), c.row(sizes, int(j))
	capacity := c.c.Capacity()
	return cmp.Or(
		resources.DominantShare(y, capacity).Compare(resources.DominantShare(x, capacity)),
		slices.Compare(y, x),
		cmp.Compare(c.reservedFor(i), c.reservedFor(j)),
		cmp.Compare(c.filter.of(c.todo[i]), c.filter.of(c.todo[j])),
		cmp.Compare(i, j),
	)
}

// alike reports whether members of two kinds are alike to every node.
func (k *kind) alike(o *kind) bool {
	return slices.Equal(k.size, o.size) && k.only == o.only && k.class == o.class
}

// addKind adds a kind, in the memory of one that was there before.
func (c *jobCase) addKind(k kind) {
	n := len(c.kinds)
	if n < cap(c.kinds) {
		k.types = c.kinds[:n+1][n].types[:0]
	}
	for t, v := range k.size {
		if v > 0 {
			k.types = append(k.types, t)
		}
	}
	c.kinds = append(c.kinds, k)
}

// reservedFor returns the member at a place of todo if a node is reserved for
// it, else -1.
func (c *jobCase) reservedFor(i int32) int32 {
	m := int32(c.todo[i])
	for _, h := range c.reservations {
		if h == m {
			return m
		}
	}
	return -1
}

// kindAt returns the kind of the member at a place of todo.
func (c *jobCase) kindAt(m int32) *kind { return &c.kinds[c.kindOf[m]] }

// roomFor reports whether a member of the kind fits, in the types that it wants.
func (k *kind) roomFor(left resources.Vector) bool {
	for _, t := range k.types {
		if left[t] < k.size[t] {
			return false
		}
	}
	return true
}

// How large a case is: the ways to place the members, times what one of them
// takes to look at. Small cases are searched completely in about a millisecond,
// medium ones in some ten.
//
// In the full clusters of BenchmarkTowns half of small changes nothing; with twice
// small, 4 more of 144 costs are proven, for up to 1.4 times the steps. Half of
// medium saves up to 46 % of the steps, and some plans have other victims. Twice
// medium takes up to 1.35 times as many and proves no more.
const (
	small  = 1 << 14
	medium = 1 << 19
)

// within reports whether a case is below a size.
func (c *jobCase) within(size uint64) bool {
	ways, each := c.ways(), uint64(len(c.units)+8)
	return ways < size && ways*each < size
}

// ways returns how many ways there are to place the members if every host takes
// all of them, or the most there is: for each kind the multisets of hosts.
func (c *jobCase) ways() uint64 {
	ways := uint64(1)
	for i := range c.kinds {
		k := &c.kinds[i]
		for n := range uint64(k.end - k.first) {
			// Multisets of n+1 hosts from those of n, times hosts+n, divided
			// by n+1: exact at every step, for each kind by itself.
			hi, lo := bits.Mul64(ways, uint64(len(c.hosts))+n)
			if hi > n {
				return 1<<64 - 1
			}
			ways, _ = bits.Div64(hi, lo, n+1)
		}
	}
	return ways
}
