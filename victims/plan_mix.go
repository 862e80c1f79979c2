package victims

import (
	"math/bits"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// If an ask wants several types, a bound on their sum says more than one on each:
// a task that has much of one type often has little of another. In a sum the
// types have weights, so that what the ask wants of each counts the same.

// mixOne is the whole of what a node lacks of one type, in fewestOfAll.
const mixOne = 1 << 20

// mixOf returns what a size gives of all lacks together, each amount as a part
// of its lack. It rounds up, so that bounds stay bounds.
func mixOf(size, lacks resources.Vector) (share int64) {
	for t, short := range lacks {
		if short > 0 {
			quo, rem := wide.MulDiv(uint64(min(size[t], short)), mixOne, uint64(short))
			share += int64(quo) + min(int64(rem), 1)
		}
	}
	return share
}

// A mixture sums up amounts of all types that an ask wants, each with a weight.
type mixture struct {
	types   []int
	weights []int64 // by type
	shifts  []uint8 // by type: how many bits of an amount play no part
}

const (
	mixBits = 30      // that an amount has at most, without those that play no part
	mixMost = 1 << 10 // how many victims it tells of
)

// reset gives each type that an ask wants a weight.
func (m *mixture) reset(d *decision) {
	m.types = append(m.types[:0], d.types...)
	m.weights, m.shifts = rows.Zeros(m.weights, d.c.types), rows.Zeros(m.shifts, d.c.types)
	for _, t := range m.types {
		shift := max(bits.Len64(uint64(d.size[t]))-mixBits, 0)
		m.shifts[t] = uint8(shift)
		m.weights[t] = 1 << (mixBits + 4) / max(d.size[t]>>shift, 1)
	}
}

// sum returns what lacks sum up to, rounded down.
func (m *mixture) sum(lacks resources.Vector) (sum int64) {
	for _, t := range m.types {
		if v := lacks[t]; v > 0 {
			sum += v >> m.shifts[t] * m.weights[t]
		}
	}
	return sum
}

// of returns what a size has of lacks, rounded up. No more of a type counts than
// what is lacking.
func (m *mixture) of(size, lacks resources.Vector) (sum int64) {
	for _, t := range m.types {
		if v := min(size[t], lacks[t]); v > 0 {
			sum += ((v-1)>>m.shifts[t] + 1) * m.weights[t]
		}
	}
	return sum
}

// A laneShare is what each task of a lane has of what is lacking.
type laneShare struct {
	share, tasks int64
	lane         int32
}

// insertFalling inserts a share into a list that falls, and keeps no more of it
// than has the most tasks, or a few more.
func insertFalling(list []laneShare, most int, s laneShare) []laneShare {
	if s.share == 0 || len(list) == most && list[most-1].share >= s.share {
		return list
	}
	if len(list) == most {
		list = list[:most-1]
	}
	i := len(list)
	list = append(list, s)
	for ; i > 0 && list[i-1].share < s.share; i-- {
		list[i] = list[i-1]
	}
	list[i] = s
	return list
}
