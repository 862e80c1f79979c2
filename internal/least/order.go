// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"

	"github.com/go-preempt/preempt/internal/cost"
)

// beatenInSequence is beaten for a sequence: low has levels that no set goes
// below that takes at least so many more units of the classes from i on.
//
// A level that may be negative comes after the one that counts. If that is the
// same, exactly so many more units are to come, and low is right for it too.
func (w *Worker) beatenInSequence(i int, low *cost.Levels, more int64) bool {
	best := w.goal()
	for _, what := range w.p.Order.Sequence {
		var c int
		if what >= cost.NumLevels && (w.levels && w.top.found || w.OnlyLesser) {
			return true
		}
		switch what {
		case cost.ByExcess:
			excess := w.leastExcess(i, more)
			c = excess.Compare(best.Excess)
		case cost.ByWork:
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
