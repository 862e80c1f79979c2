package resources

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/wide"
)

// A Divider divides whole units in proportion to weights. The zero Divider is
// ready for use. Its memory is reused, so that it allocates nothing once it has
// seen as many weights.
type Divider struct {
	remainders []remainder
}

// remainder is what the division for one weight leaves.
type remainder struct {
	rest uint64
	at   int
}

// Divide sets dst to the parts of amount in proportion to weights, one for each
// weight, and returns it. dst is allocated if it is too short. It must not overlap
// weights.
//
// The parts sum to amount. Each is its exact share, amount * weight / sum of
// weights, rounded down or up to a whole unit. The largest remainder method
// decides which way: units that are left over when all shares are rounded down
// go to the largest remainders, among equals to the first. So a weight of 0
// gets nothing, and if amount is at most the sum of the weights, then no part
// is above its weight. If all weights are 0, then so are the parts.
//
// A negative amount or weight counts as 0. If the weights sum to more than an
// int64, all of them are halved, rounded down, until they do not. The cost is
// that of sorting the weights.
//
// Source: the method of Hamilton, with products in 128 bits.
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
