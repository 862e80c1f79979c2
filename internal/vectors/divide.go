// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/wide"
)

// A Divider divides whole units in proportion to weights. The zero Divider is ready.
type Divider struct {
	remainders []remainder
}

// remainder is what the division for one weight leaves.
type remainder struct {
	rest uint64
	at   int
}

// Divide sets dst to the parts of amount in proportion to weights, and returns it. dst
// must not overlap weights. The parts sum to amount, rounded by largest remainder (the
// method of Hamilton), ties to the first. If all weights are 0, so are the parts.
// Negative values count as 0. Weights that sum to more than an int64 are halved until
// they do not. The cost is that of sorting the weights.
func (d *Divider) Divide(dst []int64, amount int64, weights []int64) []int64 {
	dst = slices.Grow(dst[:0], len(weights))[:len(weights)]
	clear(dst)
	amount = max(amount, 0)
	total, halved := sumOf(weights)
	if total == 0 {
		return dst
	}
	over := amount
	d.remainders = d.remainders[:0]
	for i, w := range weights {
		quo, rest := wide.MulDiv(uint64(amount), uint64(max(w, 0)>>halved), uint64(total))
		dst[i] = int64(quo)
		over -= dst[i]
		if rest > 0 {
			d.remainders = append(d.remainders, remainder{rest, i})
		}
	}
	if over == 0 {
		return dst
	}
	// The remainders sum to over times total, and each is less than total: there
	// are more of them than units left over.
	slices.SortFunc(d.remainders, func(a, b remainder) int {
		return cmp.Or(cmp.Compare(b.rest, a.rest), cmp.Compare(a.at, b.at))
	})
	for _, r := range d.remainders[:over] {
		dst[r.at]++
	}
	return dst
}

// sumOf returns the sum of weights, and how often they were halved for it.
func sumOf(weights []int64) (total int64, halved int) {
	for {
		total = 0
		for _, w := range weights {
			if total += max(w, 0) >> halved; total < 0 {
				break
			}
		}
		if total >= 0 {
			return total, halved
		}
		halved++
	}
}
