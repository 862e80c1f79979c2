package cover

import (
	"time"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// Excess returns the largest share of a capacity, over all types of freed, that
// is freed beyond what is wanted.
func Excess(freed, wanted, capacity resources.Vector) resources.Share {
	var most resources.Share
	for t, v := range freed {
		share := resources.Share{Amount: max(v-wanted.At(t), 0), Of: capacity.At(t)}
		if t == 0 || share.Compare(most) > 0 {
			most = share
		}
	}
	return most
}

// Work is an amount of running time: that of all victims together since each
// was scheduled. It holds 128 bits of nanoseconds and never wraps.
type Work struct {
	ns wide.Uint128
}

// WorkOf returns a duration as work; a negative one is none.
func WorkOf(d time.Duration) Work { return WorkOfNanos(uint64(max(d, 0))) }

// WorkOfNanos returns nanoseconds as work: as many of them as the Work of a
// [Unit], which may be more than a duration holds.
func WorkOfNanos(ns uint64) Work { return Work{wide.Of(ns)} }

// Add returns the work of both.
func (w Work) Add(x Work) Work { return Work{w.ns.Add(x.ns)} }

// Compare returns -1, 0 or +1 as w is less than, equal to or more than x.
func (w Work) Compare(x Work) int { return w.ns.Cmp(x.ns) }

// Duration returns the work as a duration, and false where it is too long for one.
func (w Work) Duration() (time.Duration, bool) {
	return time.Duration(w.ns.Lo), w.ns.Hi == 0 && int64(w.ns.Lo) >= 0
}

// String writes the work as a duration.
func (w Work) String() string {
	if d, ok := w.Duration(); ok {
		return d.String()
	}
	return "centuries"
}

// AddNanos returns the work with so many nanoseconds added, times over.
func (w Work) AddNanos(ns, times uint64) Work { return Work{w.ns.Add(wide.Mul(ns, times))} }
