// SPDX-License-Identifier: Apache-2.0

package rulebook

import (
	"math"
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
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
	l.time, l.heavy = plus(l.time, time, 1), l.heavy || weight > 1
	for t := range l.amounts {
		l.amounts[t] = plus(l.amounts[t], uint64(max(size.At(t), 0)), time)
		// If several types give it, it is the first.
		if !given && l.In(t, size.At(t)) == weight {
			l.work[t], l.decides[t], given = plus(l.work[t], time, weight), true, true
		}
	}
}

// plus returns w + v·times.
func plus(w resources.Wide, v, times uint64) resources.Wide {
	return w.Add(resources.Wide(wide.Mul(v, times)))
}

// Tell sets what a cost says of it.
func (l *Losses) Tell(c *Cost, s *resources.Schema) {
	ns, ok := wide.Uint128(l.time).Int64()
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

// Lost returns the running time that stopping a task loses, in nanoseconds: since it was scheduled
// or saved; 0 if unknown or in the future.
func Lost(scheduled, checkpoint, now time.Time) uint64 {
	since := scheduled
	if checkpoint.After(since) {
		since = checkpoint
	}
	if scheduled.IsZero() || since.After(now) {
		return 0
	}
	from, held := Nanos(since)
	to, ok := Nanos(now)
	if !held || !ok {
		return uint64(now.Sub(since)) // which saturates
	}
	// The difference of two int64 fits uint64, wherever zero lies.
	return uint64(to) - uint64(from)
}

// Nanos returns t as Nanoseconds since 1970, if it is in the range of
// int64: from the year 1678 to 2262. The zero time is not.
func Nanos(t time.Time) (int64, bool) {
	// UnixNano says nothing of a time beyond its range, so the range is asked
	// of whole seconds first, with one to spare at both ends.
	const most = math.MaxInt64/int64(time.Second) - 1
	if s := t.Unix(); s < -most || s > most {
		return 0, false
	}
	return t.UnixNano(), true
}
