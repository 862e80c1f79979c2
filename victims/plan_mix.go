package victims

import (
	"math/bits"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// If an ask wants several types, a bound on their sum says more than one on each:
// a task that has much of one type often has little of another. In a sum the
// types have weights, so that what the ask wants of each counts the same.

// mixOne is the whole of what a node lacks of one type.
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

// A mixture sums up amounts of all types that an ask wants, each with a weight. It
// is aimed at one node after another: only what is lacking there counts.
type mixture struct {
	rows []mixRow
}

// A mixRow is what a mixture knows of a type.
type mixRow struct {
	typ    int
	weight int64
	whole  int64 // what the ask wants, without the bits that play no part
	open   int64 // what is lacking on the node, and no more than what the ask wants
	round  int64 // what an amount is rounded up by
	shift  uint8 // how many bits of an amount play no part
}

// mixBits is how many bits an amount has at most, without those that play no part.
const mixBits = 30

// reset gives each type that an ask wants a weight.
func (m *mixture) reset(d *decision) {
	m.rows = m.rows[:0]
	for _, t := range d.types {
		m.rows = append(m.rows, mixRowOf(t, d.size[t]))
	}
}

// mixRowOf returns a row for a type of which an amount is wanted in all.
func mixRowOf(t int, amount int64) mixRow {
	shift := max(bits.Len64(uint64(amount))-mixBits, 0)
	whole := max(amount>>shift, 1)
	return mixRow{
		typ: t, weight: 1 << (mixBits + 4) / whole, whole: whole,
		round: 1<<shift - 1, shift: uint8(shift),
	}
}

// aim aims at a node, and returns what its lacks sum up to, rounded down. A node
// that has more tasks than it should lacks more than the ask wants: the rest of that
// does not count, so that sums stay in range.
func (m *mixture) aim(lacks resources.Vector) (sum int64) {
	for i := range m.rows {
		r := &m.rows[i]
		r.open = min(max(lacks[r.typ], 0), r.whole<<r.shift)
		sum += r.open >> r.shift * r.weight
	}
	return sum
}

// of returns what a size has of what is lacking on the node, rounded up. No more of
// a type counts than what is lacking.
func (m *mixture) of(size resources.Vector) (sum int64) {
	for i := range m.rows {
		r := &m.rows[i]
		sum += (min(size[r.typ], r.open) + r.round) >> (r.shift & 63) * r.weight
	}
	return sum
}
