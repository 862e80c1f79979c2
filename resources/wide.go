// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"strconv"

	"github.com/go-preempt/preempt/internal/wide"
)

// Wide is a non-negative amount in 128 bits. It never wraps: what is beyond counts as the most there is.
type Wide wide.Uint128

// WideOf returns an amount; a negative one counts as 0.
func WideOf(v int64) Wide { return Wide(wide.Of(uint64(max(v, 0)))) }

// Add returns the sum of both.
func (w Wide) Add(x Wide) Wide { return Wide(wide.Uint128(w).AddSat(wide.Uint128(x))) }

// Compare returns -1, 0 or +1 as w is less than, equal to or more than x.
func (w Wide) Compare(x Wide) int { return wide.Uint128(w).Cmp(wide.Uint128(x)) }

// String writes the amount in decimal.
func (w Wide) String() string {
	if w.Hi == 0 {
		return strconv.FormatUint(w.Lo, 10)
	}
	// Groups of digits. 10^19 is the largest power of ten in 64 bits.
	high, low := wide.Uint128(w).DivMod(1e19)
	return Wide(high).String() + fmt.Sprintf("%019d", low)
}
