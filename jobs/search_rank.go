package jobs

import "cmp"

// A rankSum is a sum of node ranks, in 128 bits, for ranks may be as large as
// int64 allows.
type rankSum struct {
	high int64
	low  uint64
}

// plus returns the sum with a rank n times more.
func (r rankSum) plus(rank int64, n int64) rankSum {
	// n is at most the number of members, and mostly 1.
	for range n {
		// The sign goes into the high word; the carry shows as a low word that
		// has become smaller.
		low := r.low + uint64(rank)
		high := r.high + rank>>63
		if low < r.low {
			high++
		}
		r = rankSum{high, low}
	}
	return r
}

// add returns the sum of both.
func (r rankSum) add(s rankSum) rankSum {
	low := r.low + s.low
	high := r.high + s.high
	if low < r.low {
		high++
	}
	return rankSum{high, low}
}

func (r rankSum) compare(s rankSum) int {
	if order := cmp.Compare(r.high, s.high); order != 0 {
		return order
	}
	return cmp.Compare(r.low, s.low)
}

// int64 returns the sum, or the nearest number in range.
func (r rankSum) int64() int64 {
	switch {
	// The high word is nothing but the sign: the sum fits.
	case r.high == int64(r.low)>>63:
		return int64(r.low)
	case r.high < 0:
		return -1 << 63
	}
	return 1<<63 - 1
}
