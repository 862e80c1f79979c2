package jobs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// A kind is members that are alike to every node: for them only the number on
// each node matters.
type kind struct {
	size  resources.Vector // of full length
	types []int            // those with an amount: an explicit zero is no wanted type
	// only is the member, as an index of Job.Members, that a node is reserved
	// for, and then it is alone in its kind; else -1.
	only       int32
	first, end int32 // of decision.sorted
}

// setTodo makes the first n members of the minimum the ones to be placed, and
// sorts them into kinds, the largest first by dominant share.
func (d *decision) setTodo(n int) {
	d.blocks = d.blocks[:0]
	d.todo = d.unplaced[:n]
	d.rem = zeros(d.rem, d.types)
	sizes := d.block(n)
	d.sorted = d.sorted[:0]
	for i, m := range d.todo {
		size := d.row(sizes, i)
		copy(size, d.job.Members[m].Size)
		d.rem = resources.Add(d.rem, d.rem, size)
		d.sorted = append(d.sorted, int32(i))
	}
	d.wants = resources.Positive(d.rem)
	slices.SortFunc(d.sorted, func(i, j int32) int {
		x, y := d.row(sizes, int(i)), d.row(sizes, int(j))
		return cmp.Or(
			resources.DominantShare(y, d.c.Capacity()).Compare(resources.DominantShare(x, d.c.Capacity())),
			slices.Compare(y, x),
			cmp.Compare(d.reserved(i), d.reserved(j)),
			cmp.Compare(i, j),
		)
	})
	d.kinds = d.kinds[:0]
	d.kindOf, d.previous = zeros(d.kindOf, n), zeros(d.previous, n)
	for at, i := range d.sorted {
		size, only := d.row(sizes, int(i)), d.reserved(i)
		last := len(d.kinds) - 1
		if last < 0 || !slices.Equal(d.kinds[last].size, size) || d.kinds[last].only != only {
			last++
			d.addKind(kind{size: size, only: only, first: int32(at), end: int32(at)})
		}
		d.previous[i] = -1
		if int32(at) > d.kinds[last].first {
			d.previous[i] = d.sorted[at-1]
		}
		d.kinds[last].end++
		d.kindOf[i] = int32(last)
	}
}

// addKind adds a kind, in the memory of one that was there before.
func (d *decision) addKind(k kind) {
	n := len(d.kinds)
	if n < cap(d.kinds) {
		k.types = d.kinds[:n+1][n].types[:0]
	}
	for t, v := range k.size {
		if v > 0 {
			k.types = append(k.types, t)
		}
	}
	d.kinds = append(d.kinds, k)
}

// reserved returns the member at a place of todo where a node is reserved for
// it, else -1.
func (d *decision) reserved(i int32) int32 {
	m := int32(d.todo[i])
	for _, h := range d.reservations {
		if h == m {
			return m
		}
	}
	return -1
}
