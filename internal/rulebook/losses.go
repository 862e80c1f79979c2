// SPDX-License-Identifier: Apache-2.0

package rulebook

import (
	"math"
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// Losses sums up what the victims of a plan lose, as people count it: the plain time, and
// amounts × time of the type that decides most. (DESIGN.md, Cost.)
type Losses struct {
	Weights
	time    resources.Wide
	heavy   bool             // somebody weighs more than 1
	decides []bool           // by type: it gives the weight of some victim
	work    []resources.Wide // by type: of the victims whose weight it gives
	amounts []resources.Wide // by type, × time, of all victims
}

// Begin begins with no victims, in a cluster of some capacity.
func (l *Losses) Begin(capacity resources.Vector) {
	l.Set(capacity)
	l.time, l.heavy = resources.Wide{}, false
	l.decides, l.work, l.amounts = rows.Zeros(l.decides, len(capacity)), rows.Zeros(l.work, len(capacity)), rows.Zeros(l.amounts, len(capacity))
}

// Add adds a victim of some size that loses some nanoseconds.
func (l *Losses) Add(size resources.Vector, time uint64) {
	weight, given := l.Of(size), false
	l.time, l.heavy = l.time.AddTimes(time, 1), l.heavy || weight > 1
	for t := range l.amounts {
		l.amounts[t] = l.amounts[t].AddTimes(uint64(max(size.At(t), 0)), time)
		// If several types give it, it is the first.
		if !given && l.In(t, size.At(t)) == weight {
			l.work[t], l.decides[t], given = l.work[t].AddTimes(time, weight), true, true
		}
	}
}

// Tell sets what a cost says of it.
func (l *Losses) Tell(c *Cost, s *resources.Schema) {
	ns, ok := l.time.Int64()
	if !ok {
		ns = math.MaxInt64
	}
	c.LostTime, c.LostType, c.LostAmount = time.Duration(ns), "", resources.Wide{}
	most := -1
	for t := range l.work {
		if l.heavy && l.decides[t] && (most < 0 || l.work[t].Compare(l.work[most]) > 0) {
			most = t
		}
	}
	if most >= 0 {
		c.LostType, c.LostAmount = s.Name(most), l.amounts[most]
	}
}
