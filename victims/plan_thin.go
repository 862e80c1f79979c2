package victims

import (
	"cmp"
	"container/heap"
	"strings"

	"github.com/go-preempt/preempt/internal/wide"
)

// If tasks that make headroom are many and hardly two are alike, a search over
// all of them takes far longer than it is worth: the best of them by themselves
// are enough for a good plan, and bounds are over all in any case.

const (
	// manyGroups is from how many groups on a pool is thinned. Clusters whose
	// tasks come in some shapes, leaves and priorities have fewer.
	manyGroups = 1024
	// thinTo is how many tasks a thinned pool has. Plans take some ten; with a
	// quarter as many the loads of package workload were as good.
	thinTo = 512
)

// motley reports whether candidates are of more groups than a search should look
// at.
func (p *headroomPool) motley(d *decision, ids []TaskID) bool {
	if len(ids) <= manyGroups {
		return false
	}
	p.groups.reset()
	for _, id := range ids {
		if p.groups.add(groupHash(d, id)); p.groups.n > manyGroups {
			return true
		}
	}
	return false
}

// groupHash returns a number that tasks of a group share, and hardly any others.
func groupHash(d *decision, id TaskID) uint64 {
	r := &d.c.tasks[id]
	const prime = 1099511628211 // of FNV-1a
	h := uint64(14695981039346656037)
	mix := func(v uint64) { h = (h ^ v) * prime; h ^= h >> 29 }
	mix(uint64(r.leaf))
	mix(uint64(uint32(r.priority))<<8 | uint64(r.flags&costFlags))
	mix(uint64(d.c.costOf(id)))
	for _, v := range d.c.size(id) {
		mix(uint64(v))
	}
	return h
}

// A groupSet counts different numbers, somewhat beyond manyGroups at most.
type groupSet struct {
	slots [4 * manyGroups]uint64 // 0 is empty
	n     int
}

func (g *groupSet) reset() { *g = groupSet{} }

func (g *groupSet) add(h uint64) {
	h |= 1
	for i := h >> 1 % uint64(len(g.slots)); ; i = (i + 1) % uint64(len(g.slots)) {
		switch g.slots[i] {
		case h:
			return
		case 0:
			g.slots[i] = h
			g.n++
			return
		}
	}
}

// thin keeps the best candidates by themselves: of the least levels, then those
// that give most of what is lacking, then by work and key.
func (p *headroomPool) thin(d *decision, ids []TaskID) []TaskID {
	h := &p.heap
	h.d, h.ids = d, ids[:thinTo]
	heap.Init(h)
	for _, id := range ids[thinTo:] {
		if h.compare(id, h.ids[0]) < 0 {
			h.ids[0] = id
			heap.Fix(h, 0)
		}
	}
	return h.ids
}

// thinHeap is tasks with the worst of them on top.
type thinHeap struct {
	d   *decision
	ids []TaskID
}

func (h *thinHeap) Len() int           { return len(h.ids) }
func (h *thinHeap) Less(i, j int) bool { return h.compare(h.ids[i], h.ids[j]) > 0 }
func (h *thinHeap) Swap(i, j int)      { h.ids[i], h.ids[j] = h.ids[j], h.ids[i] }
func (h *thinHeap) Push(any)           {} // never called
func (h *thinHeap) Pop() any           { return nil }

func (h *thinHeap) compare(a, b TaskID) int {
	d := h.d
	x, y := d.eligible.Levels(a), d.eligible.Levels(b)
	if c := d.problem.order.CompareLevels(&x, &y); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(h.share(b), h.share(a)),
		cmp.Compare(d.eligible.Lost(a), d.eligible.Lost(b)),
		strings.Compare(d.c.tasks[a].key, d.c.tasks[b].key),
	)
}

// share returns what a task gives of the largest lacks of headroom, each as a
// part of it.
func (h *thinHeap) share(id TaskID) (share int64) {
	d := h.d
	size := d.c.size(id)
	for t, short := range d.needs.most {
		if short > 0 {
			quo, _ := wide.MulDiv(uint64(min(size[t], short)), mixOne, uint64(short))
			share += int64(quo)
		}
	}
	return share
}
