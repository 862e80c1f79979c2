// SPDX-License-Identifier: Apache-2.0

package cover

import (
	"cmp"
	"slices"
)

// A caller may have what decides in an order of its own. The levels of units and
// sets keep their numbers then, and only comparisons follow the sequence.

// What an Order.Sequence names besides levels.
const (
	ByWork = NumLevels + iota
	ByExcess
)

// InSequence returns how two totals compare by the order's sequence, which must
// be set. Sets of equal cost are told apart by keys, which it does not know.
func (o *Order) inSequence(a, b *Total) int {
	for _, what := range o.Sequence {
		var c int
		switch what {
		case ByExcess:
			c = a.Excess.Compare(b.Excess)
		case ByWork:
			c = a.Work.Compare(b.Work)
		default:
			c = cmp.Compare(a.Levels[what], b.Levels[what])
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// CompareLevels compares the levels that come before work and excess.
func (o *Order) CompareLevels(a, b *Levels) int {
	if o.Sequence == nil {
		return slices.Compare(a[:], b[:])
	}
	for _, what := range o.Sequence {
		if what >= NumLevels {
			break
		}
		if c := cmp.Compare(a[what], b[what]); c != 0 {
			return c
		}
	}
	return 0
}

// compareUnits orders levels of units: all levels of a sequence count, wherever
// work and excess are.
func (o *Order) compareUnits(a, b *Levels) int {
	if o.Sequence == nil {
		return slices.Compare(a[:], b[:])
	}
	for _, what := range o.Sequence {
		if what >= NumLevels {
			continue
		}
		if c := cmp.Compare(a[what], b[what]); c != 0 {
			return c
		}
	}
	return 0
}

// levelsFirst reports whether levels decide before all else, so that the least of
// them are worth a search of their own.
func (o *Order) levelsFirst() bool {
	return o.Compare == nil && (o.Sequence == nil || o.Sequence[0] < NumLevels)
}

// counts reports whether something decides at all.
func (o *Order) counts(what int8) bool {
	return o.Sequence == nil || slices.Contains(o.Sequence, what)
}

// beatenInSequence is beaten for a sequence: low has levels that no set goes
// below that takes at least so many more units of the classes from i on.
//
// A level that may be negative comes after the one that counts. If that is the
// same, exactly so many more units are to come, and low is right for it too.
func (w *Worker) beatenInSequence(i int, low *Levels, more int64) bool {
	best := w.goal()
	for _, what := range w.p.Order.Sequence {
		var c int
		if what >= NumLevels && (w.levels && w.top.found || w.OnlyLesser) {
			return true
		}
		switch what {
		case ByExcess:
			excess := w.leastExcess(i, more)
			c = excess.Compare(best.Excess)
		case ByWork:
			work := w.workAtLeast(i, more)
			c = work.Compare(best.Work)
		default:
			c = cmp.Compare(low[what], best.Levels[what])
		}
		if c != 0 {
			return c > 0
		}
	}
	return w.levels && w.top.found || w.OnlyLesser
}
