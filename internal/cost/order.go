// SPDX-License-Identifier: Apache-2.0

package cost

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

// inSequence returns how two totals compare by the order's sequence, which must
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

// LevelsFirst reports whether levels decide before all else, so that the least of
// them are worth a search of their own.
func (o *Order) LevelsFirst() bool {
	return o.Compare == nil && (o.Sequence == nil || o.Sequence[0] < NumLevels)
}

// Counts reports whether something decides at all.
func (o *Order) Counts(what int8) bool {
	return o.Sequence == nil || slices.Contains(o.Sequence, what)
}
