package victims

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-preempt/preempt/victims/cover"
)

// An inLine is a node that the predicate is to be asked about: the number of its
// prospect, and the work of that, as far as 64 bits tell.
type inLine struct {
	work uint64
	row  int32
}

// lineUp lists the nodes in the order in which the predicate is asked about all of
// their candidates: those first that may have the cheapest plan. A search that knows
// no bounds takes them in node order.
func (d hearing) lineUp() {
	h := &d.heard
	h.order, h.line, h.least = h.order[:0], h.line[:0], d.eligible.leastRoom(h.least)
	if !d.pruning() || d.problem.order.Sequence != nil {
		return
	}
	// The memory of other searches' fronts will do, since none of them is at work.
	f := &d.problem.front
	f.rows = f.rows[:0]
	for _, n := range d.nodes {
		b := nodeBound{node: n}
		short := d.scratch.short
		if h.said[n] == struck || !d.usable(n) || d.nodeNeed(short, n) == 0 || !d.bounds.boundNode(&b, short) {
			continue
		}
		// A bound above the plan that was refused ends early, and is right all the same.
		d.bounds.refineLevels(&b, short)
		work := d.bounds.leastLost(n, b.levels[LevelVictims])
		h.line = append(h.line, inLine{work: nanosOf(work), row: int32(len(f.rows))})
		f.rows = append(f.rows, prospect{levels: b.levels, work: work, node: n})
	}
	d.sortLine()
	for _, x := range h.line {
		h.order = append(h.order, f.rows[x.row].node)
	}
}

// nanosOf returns work in nanoseconds, or the largest number if it is more.
func nanosOf(w cover.Work) uint64 {
	if ns, ok := w.Duration(); ok {
		return uint64(ns)
	}
	return math.MaxUint64
}

// sortLine sorts the line by bounds, and those that are equal in node order, as they are
// listed. Prospects are long: nobody looks at them whom the work tells.
func (d hearing) sortLine() {
	all := d.problem.front.rows
	// Nodes are mostly alike in their first levels, or in all of them.
	differ := cover.NumLevels
	for i := range all {
		for k := range differ {
			if all[i].levels[k] != all[0].levels[k] {
				differ = k
				break
			}
		}
	}
	// The rows of nodes that are listed first are smaller, so that no two are equal.
	slices.SortFunc(d.heard.line, func(x, y inLine) int {
		if differ < cover.NumLevels {
			if c := slices.Compare(all[x.row].levels[differ:], all[y.row].levels[differ:]); c != 0 {
				return c
			}
		}
		// Centuries of work are rare, and only then are 64 bits too few.
		if x.work == math.MaxUint64 && y.work == x.work {
			return cmp.Or(all[x.row].work.Compare(all[y.row].work), cmp.Compare(x.row, y.row))
		}
		return cmp.Or(cmp.Compare(x.work, y.work), cmp.Compare(x.row, y.row))
	})
}
