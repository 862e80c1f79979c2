package weigh

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
)

// A valued is a row with what it is worth and its value.
type valued struct {
	worth, value int64
	row          int32
}

// Least returns a value below which no rows cover a need, or one more than is of interest
// if it has shown that all cost more than that. Values are by row, and none is negative.
//
// At some prices it buys what the need is worth where that is cheapest, and cuts the last
// row. Prices that are carried come first; even ones are then turned towards what is left
// open. [Bound.Prices] are those by which most was shown.
//
// The cost of a turn is that of sorting the rows.
func (b *Bound) Least(q Question, values []int64) (least int64) {
	need, limit := q.Need, q.Most
	if slices.Max(need) <= 0 {
		return 0
	}
	b.begin(&q)
	for k, c := range b.carried {
		if c == nil {
			break
		}
		if b.use(c, need); b.buy(need, values, limit) > limit {
			b.promote(k)
			return limit + 1
		}
	}
	b.begin(&q)
	b.sums = append(b.sums[:0], b.price...) // the best so far
	turns := b.Turns
	if turns == 0 {
		turns = Turns
	}
	for turn := range int64(turns) {
		value := b.buy(need, values, limit)
		if turn == 0 || value > least {
			least = value
			b.sums = append(b.sums[:0], b.price...)
		}
		if least > limit {
			b.carry()
			return least
		}
		b.turn(need, turn)
	}
	b.price = append(b.price[:0], b.sums...)
	return least
}

// buy returns what it costs to buy the worth of a need, rounded up, or limit+1 if that is
// more. It notes what was bought.
func (b *Bound) buy(need, values []int64, limit int64) (value int64) {
	b.keys, b.given = b.keys[:0], rows.Zeros(b.given, b.Dims)
	for _, x := range b.kept {
		if worth := b.Worth(b.Row(x.row), need); worth > 0 {
			b.keys = append(b.keys, valued{worth, values[x.row], x.row})
		}
	}
	slices.SortFunc(b.keys, func(x, y valued) int {
		// The one that costs less for what it is worth first.
		c := wide.Mul(uint64(x.value), uint64(y.worth)).Cmp(wide.Mul(uint64(y.value), uint64(x.worth)))
		return cmp.Or(c, cmp.Compare(y.worth, x.worth), cmp.Compare(x.row, y.row))
	})
	b.Work += int64(len(b.kept) * (16 + b.Dims))
	rest := b.Worth(need, need)
	if rest == 0 {
		return 0 // carried prices of other dimensions
	}
	for _, x := range b.keys {
		take := min((rest-1)/x.worth+1, int64(b.Copies[x.row]))
		for t, v := range b.Row(x.row) {
			b.given[t] += take * min(v, max(need[t], 0))
		}
		if take*x.worth >= rest {
			// All but the last of them are whole. Of that a part is enough.
			quo, rem := wide.MulDiv(uint64(x.value), uint64(rest), uint64(x.worth))
			return capped(value, int64(quo)+int64(min(rem, 1)), limit)
		}
		rest -= take * x.worth
		if hi := wide.Mul(uint64(take), uint64(x.value)); hi.Hi > 0 || hi.Lo > uint64(limit) {
			return limit + 1
		} else if value = capped(value, int64(hi.Lo), limit); value > limit {
			return value
		}
	}
	return limit + 1 // all together are not enough
}

// capped returns a + b, or limit+1 if that is more.
func capped(a, b, limit int64) int64 {
	if b > limit-a {
		return limit + 1
	}
	return a + b
}
