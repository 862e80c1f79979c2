// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"strconv"

	"github.com/go-preempt/preempt/internal/wide"
)

// Wide is a non-negative amount in 128 bits. It never wraps: what is beyond counts as the most there is.
type Wide struct {
	n wide.Uint128
}

// WideOf returns an amount; a negative one counts as 0.
func WideOf(v int64) Wide { return Wide{wide.Of(uint64(max(v, 0)))} }

// Add returns the sum of both.
func (w Wide) Add(x Wide) Wide { return Wide{w.n.AddSat(x.n)} }

// Compare returns -1, 0 or +1 as w is less than, equal to or more than x.
func (w Wide) Compare(x Wide) int { return w.n.Cmp(x.n) }

// AddTimes returns w + v·times.
func (w Wide) AddTimes(v, times uint64) Wide { return Wide{w.n.AddSat(wide.Mul(v, times))} }

// Times returns w·n.
func (w Wide) Times(n uint64) Wide { return Wide{w.n.MulSat(n)} }

// Len returns how many bits the amount has.
func (w Wide) Len() int { return w.n.Len() }

// Lsh shifts the bits to the left; none may fall out.
func (w Wide) Lsh(n int) Wide { return Wide{w.n.Lsh(uint(n))} }

// Rsh drops the lowest bits.
func (w Wide) Rsh(n int) Wide { return Wide{w.n.Rsh(uint(n))} }

// Div returns w / d, rounded down. It panics if d is 0.
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

// Halves returns an amount below 2^95 as high·2^32 + low.
func (w Wide) Halves() (high, low int64) {
	return int64(w.n.Hi<<32 | w.n.Lo>>32), int64(w.n.Lo & (1<<32 - 1))
}

// WideOfHalves returns high·2^32 + low; see [Wide.Halves].
func WideOfHalves(high, low int64) Wide {
	h := uint64(high)
	return Wide{wide.Uint128{Hi: h >> 32, Lo: h<<32 | uint64(low)}}
}
