// SPDX-License-Identifier: Apache-2.0

package cover

import (
	"fmt"
	"strconv"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// Excess returns the largest share of a capacity, over all types, freed beyond what is
// wanted.
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

// Wide is a non-negative amount in 128 bits: a sum of own costs, or work, which is time by
// weight. It never wraps: what is beyond 128 bits counts as the most there is.
type Wide struct {
	n wide.Uint128
}

// WideOf returns an amount; a negative one counts as 0.
func WideOf(v int64) Wide { return Wide{wide.Of(uint64(max(v, 0)))} }

// Add returns the sum of both.
func (w Wide) Add(x Wide) Wide { return Wide{w.n.AddSat(x.n)} }

// Compare returns -1, 0 or +1 as w is less than, equal to or more than x.
func (w Wide) Compare(x Wide) int { return w.n.Cmp(x.n) }

// AddTimes returns the sum with an amount added so many times.
func (w Wide) AddTimes(v, times uint64) Wide { return Wide{w.n.AddSat(wide.Mul(v, times))} }

// Times returns so many times the amount.
func (w Wide) Times(n uint64) Wide { return Wide{w.n.MulSat(n)} }

// Len returns how many bits the amount has.
func (w Wide) Len() int { return w.n.Len() }

// Lsh returns the amount with its bits shifted to the left; none may fall out.
func (w Wide) Lsh(n int) Wide { return Wide{w.n.Lsh(uint(n))} }

// Rsh returns the amount without its lowest bits.
func (w Wide) Rsh(n int) Wide { return Wide{w.n.Rsh(uint(n))} }

// Div returns the amount divided by d, rounded down. It panics if d is 0.
func (w Wide) Div(d uint64) Wide {
	quo, _ := w.n.DivMod(d)
	return Wide{quo}
}

// Int64 returns the amount, and false if it is beyond int64.
func (w Wide) Int64() (int64, bool) {
	return int64(w.n.Lo), w.n.Hi == 0 && int64(w.n.Lo) >= 0
}

// String writes the amount in decimal.
func (w Wide) String() string {
	if w.n.Hi == 0 {
		return strconv.FormatUint(w.n.Lo, 10)
	}
	// Groups of digits. 10^19 is the largest power of ten in 64 bits.
	high, low := w.n.DivMod(1e19)
	return Wide{high}.String() + fmt.Sprintf("%019d", low)
}

// Split returns the amount as two levels, the second of which carries into the
// first; see [Order.Carry].
func (w Wide) Split() (high, low int64) {
	return int64(w.n.Hi<<32 | w.n.Lo>>32), int64(w.n.Lo & (1<<carry - 1))
}

// Join returns the amount whose halves are two such levels; see [Wide.Split].
func Join(high, low int64) Wide {
	h := uint64(high)
	return Wide{wide.Uint128{Hi: h >> 32, Lo: h<<32 | uint64(low)}}
}

// A Meter is what is left of a number of steps that several searches share.
type Meter struct {
	Left int64 // below 1 nothing more is begun
	Used int64 // in all
	// Stop ends all work once it returns true. It is not asked again then.
	Stop    func() bool
	Stopped bool // Stop has returned true

	unasked int64 // steps since it was asked
}

// askEvery is how many steps at most are between two questions whether to stop. A piece of
// work that is charged as one is never longer than a few times that.
const askEvery = 500

// Pay charges for some steps.
func (m *Meter) Pay(steps int64) {
	m.Left -= steps
	m.Used += steps
	if m.unasked += steps; m.unasked >= askEvery {
		m.Ask()
	}
}

// Ask asks the caller whether to stop.
func (m *Meter) Ask() {
	m.unasked = 0
	m.Stopped = m.Stopped || m.Stop != nil && m.Stop()
}

// Over reports whether nothing is left.
func (m *Meter) Over() bool { return m.Left <= 0 || m.Stopped }
