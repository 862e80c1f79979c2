// SPDX-License-Identifier: Apache-2.0

package weigh

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A Bound asks about rows. Its zero value has none and is ready; its memory is reused.
type Bound struct {
	Rows
	// Work is the elementary steps that were taken, until the caller pays for them.
	Work int64

	held    int               // the first rows, which are the same for all needs; see Hold
	base    tops              // the prices that they are held by
	carried [numCarried]*tops // prices that have told, the most recent success first
	memory  [numCarried]tops

	price []int64
	kept  []pick // rows that are not left out
	top   []pick // those of most worth, falling
	given []int64

	picks []int32
	order []int32
	needs []int64
	sums  []int64
	left  int64
}

// A Question asks how few rows cover a need.
type Question struct {
	Need []int64
	// Most is the largest answer of interest: of more it is enough to know that they are
	// more. It is less than the largest integer. It is small if it is of rows, for those of
	// most worth are kept in order.
	Most int64
	// Out, if it is set, reports which rows are no part of any set.
	Out func(row int32) bool
}

// leaves reports whether a row is not out.
func (q *Question) leaves(row int32) bool { return q.Out == nil || !q.Out(row) }

// A pick is a row and what each of its copies is worth.
type pick struct {
	worth int64
	row   int32
}

// tops are prices, and the held rows that are worth most at them.
type tops struct {
	price []int64
	rows  []pick
	all   bool // no other held row is worth anything
}

const (
	// mostTurns is how often prices are turned for one need at most. Each turn leaves out
	// rows, so that the last ones take little time.
	mostTurns = 24
	// mostVain is how many of them may make no progress.
	mostVain = 5
	// even is what the whole need of a dimension is worth at even prices, and heaviest what
	// it is worth at most, so that sums stay in range.
	even, heaviest = 1 << 30, 1 << 34
	// numCarried is how many prices are carried, and numTops how many of the held rows are
	// known that are worth most at them.
	numCarried, numTops = 4, 32
)

// Reset makes it no rows of so many dimensions. Carried prices stay if it had as many.
func (b *Bound) Reset(dims int) {
	if b.held > 0 || dims != b.Dims {
		b.Forget()
	}
	b.held = 0
	b.Rows.Reset(dims)
}

// Forget forgets the prices that are carried.
func (b *Bound) Forget() { b.carried = [numCarried]*tops{} }

// Hold makes the rows so far those that all needs share, so that each need is asked about
// them and about what is added to them. What they are worth at carried prices is worked out
// once: then to ask at those costs no look at each of them. [Bound.Release] takes the
// others away. The first prices to be carried are those given, for as long as rows are held;
// see [Bound.Base].
//
// They must have no more of any dimension than the needs that will be asked, or what
// carried prices tell is less than it could be; it is never wrong.
func (b *Bound) Hold(prices []int64) {
	b.Forget()
	b.held = b.Len()
	b.note(&b.base, prices)
}

// Release leaves only the rows that are held.
func (b *Bound) Release() { b.Cut(b.held) }

// Worth returns what amounts are worth at the prices that were used last. No more of an
// amount counts than is needed.
func (b *Bound) Worth(amounts, need []int64) (worth int64) {
	for t, v := range amounts {
		if v = min(v, need[t]); v > 0 {
			worth += v * b.price[t]
		}
	}
	return worth
}

// Told reports whether carried prices show that the most rows of interest do not cover a
// need. It is a part of what [Bound.Cover] does, for a caller with many needs to ask about.
func (b *Bound) Told(q Question) bool {
	fewest, _ := b.Glance(q)
	return fewest > q.Most
}

// Glance returns a number of rows below which none cover a need, by carried prices alone,
// and how much more so many are worth than the need, by the prices that tell most.
func (b *Bound) Glance(q Question) (fewest, spare int64) {
	if b.held > 0 {
		if fewest, spare, _ = b.glance(&b.base, &q); fewest > q.Most {
			return fewest, spare
		}
	}
	for k, c := range b.carried {
		if c == nil {
			break
		}
		count, more, _ := b.glance(c, &q)
		switch {
		case count > q.Most:
			b.promote(k)
			return count, more
		case count > fewest || count == fewest && more < spare:
			fewest, spare = count, more
		}
	}
	return fewest, spare
}

// promote puts carried prices that have told before the others.
func (b *Bound) promote(k int) {
	c := b.carried[k]
	copy(b.carried[1:k+1], b.carried[:k])
	b.carried[0] = c
}

// Base is Glance by the prices that rows are held by. It also returns what a row is worth at
// least that is in any set of so many rows that covers the need: if other rows are worth
// less, the need can do without them, whatever they are.
func (b *Bound) Base(q Question) (fewest, spare, least int64) {
	fewest, spare, slack := b.glance(&b.base, &q)
	if n := len(b.top); n > 0 && b.total(q.Most) >= q.Most {
		least = b.top[n-1].worth - slack
	}
	return fewest, spare, least
}

// glance is Glance by some prices.
func (b *Bound) glance(c *tops, q *Question) (count, spare, slack int64) {
	need, most := q.Need, q.Most
	b.use(c, need)
	rest := b.Worth(need, need)
	b.top = b.top[:0]
	total := int64(0)
	for _, x := range c.rows {
		if total >= most {
			break
		}
		if q.leaves(x.row) {
			b.top = append(b.top, x)
			total += b.copies(x, most)
		}
	}
	if b.held > 0 && !c.all && total < most {
		// Those that are not listed are worth no more than the last one is.
		b.top = append(b.top, pick{c.rows[len(c.rows)-1].worth, -1})
		total += most
	}
	for i := int32(b.held); int(i) < b.Len(); i++ {
		if q.leaves(i) {
			total = b.insert(pick{b.Worth(b.Row(i), need), i}, most, total)
		}
	}
	b.Work += int64((b.Len()-b.held)*(2+b.Dims) + len(b.top))
	return b.count(rest, most)
}

// use sets carried prices, so that sums over a need stay in range.
func (b *Bound) use(c *tops, need []int64) {
	b.price = append(b.price[:0], c.price...)
	for t, v := range need {
		if v <= 0 {
			continue
		}
		if b.price[t] == 0 && b.held == 0 {
			b.price[t] = even / v // it was not needed so far
		}
		b.price[t] = min(b.price[t], heaviest/v)
	}
}

// copies returns how many rows a pick stands for. Rows that are not listed are as many as
// are of interest.
func (b *Bound) copies(x pick, most int64) int64 {
	if x.row < 0 {
		return most
	}
	return min(int64(b.Copies[x.row]), most)
}

// insert inserts a pick into the list of those that are worth most, if it is one of so many
// rows, and returns how many rows the list stands for: most, or a few more.
func (b *Bound) insert(x pick, most, total int64) int64 {
	if x.worth == 0 || total >= most && (len(b.top) == 0 || b.top[len(b.top)-1].worth >= x.worth) {
		return total
	}
	i := len(b.top)
	b.top = append(b.top, x)
	for ; i > 0 && b.top[i-1].worth < x.worth; i-- {
		b.top[i] = b.top[i-1]
	}
	b.top[i] = x
	total += b.copies(x, most)
	for last := len(b.top) - 1; total-b.copies(b.top[last], most) >= most; last-- {
		total -= b.copies(b.top[last], most)
		b.top = b.top[:last]
	}
	return total
}

// count returns how many of the rows of most worth are worth rest, or most+1 if most rows
// are not. It also returns by how much those exceed it, and the slack: by how much the best
// most rows do, which is negative if they fall short.
func (b *Bound) count(rest, most int64) (count, spare, slack int64) {
	left := most
	for _, x := range b.top {
		take := min(b.copies(x, most), left)
		if rest > 0 {
			n := min((rest-1)/x.worth+1, take)
			count += n
			spare = max(n*x.worth-rest, 0)
		}
		rest -= take * x.worth
		left -= take
	}
	if rest > 0 {
		return most + 1, 0, -rest
	}
	return count, spare, -rest
}

// Fits yields the rows that are left after [Unclear]: all others are in no set of most rows
// that covers the need.
func (b *Bound) Fits(yield func(row int32) bool) {
	for _, x := range b.kept {
		if !yield(x.row) {
			return
		}
	}
}

// seek turns prices. It ends if they show that most rows do not cover a need (too few), if
// the rows of most worth do (found, and picked), or if no more rows are left than few.
func (b *Bound) seek(need []int64, most, few int64) (tooFew, found bool) {
	least, vain := int64(0), 0 // slack, and turns that did not make it less
	for turn := range int64(mostTurns) {
		count, slack := b.weigh(need, most)
		if count > most {
			b.carry()
			return true, false
		}
		if b.give(need, most) {
			b.pick(most)
			return false, true
		}
		if b.fix(most, slack); int64(len(b.kept)) <= few {
			break
		}
		if turn == 0 || slack < least {
			least, vain = slack, 0
		} else if vain++; vain > mostVain {
			break
		}
		// The last prices are those by which rows are tried.
		if turn < mostTurns-1 {
			b.turn(need, turn)
		}
	}
	return false, false
}

// begin sets the prices of the last success, or even ones, and leaves in who is not out.
func (b *Bound) begin(q *Question) {
	b.Even(q.Need)
	if c := b.carried[0]; c != nil {
		for t, v := range q.Need {
			if v > 0 && c.price[t] > 0 {
				b.price[t] = min(c.price[t], heaviest/v)
			}
		}
	}
	b.kept, b.picks = b.kept[:0], b.picks[:0]
	for i := range int32(b.Len()) {
		if q.leaves(i) {
			b.kept = append(b.kept, pick{0, i})
		}
	}
}

// weigh works out what the rows are worth that are kept, and lists those of most worth. It
// returns how many of these are worth the need, and the slack of most of them.
func (b *Bound) weigh(need []int64, most int64) (count, slack int64) {
	b.top = b.top[:0]
	total := int64(0)
	for i := range b.kept {
		x := &b.kept[i]
		x.worth = b.Worth(b.Row(x.row), need)
		total = b.insert(*x, most, total)
	}
	b.Work += int64(len(b.kept) * (4 + b.Dims))
	count, _, slack = b.count(b.Worth(need, need), most)
	return count, slack
}

// give works out what the rows of most worth have, each no more than is needed, and reports
// whether they cover the need.
func (b *Bound) give(need []int64, most int64) bool {
	b.given = rows.Zeros(b.given, b.Dims)
	left, enough := most, true
	for _, x := range b.top {
		take := min(b.copies(x, most), left)
		left -= take
		for t, v := range b.Row(x.row) {
			b.given[t] += take * min(v, max(need[t], 0))
		}
	}
	for t, v := range need {
		enough = enough && b.given[t] >= v
	}
	return enough
}

// pick picks the rows of most worth.
func (b *Bound) pick(most int64) {
	for _, x := range b.top {
		for range min(b.copies(x, most), most-int64(len(b.picks))) {
			b.picks = append(b.picks, x.row)
		}
	}
}

// fix leaves out the rows that no set of most rows can have that covers the need: such a
// set has all but one of the rows of most worth at best, and what these exceed the need by
// is the slack.
func (b *Bound) fix(most, slack int64) {
	if b.total(most) < most {
		return // there is room for others
	}
	least := b.top[len(b.top)-1].worth - slack
	kept := b.kept[:0]
	for _, x := range b.kept {
		if x.worth >= least {
			kept = append(kept, x)
		}
	}
	b.kept = kept
}

// total returns how many rows the list of those of most worth stands for.
func (b *Bound) total(most int64) (total int64) {
	for _, x := range b.top {
		total += b.copies(x, most)
	}
	return total
}

// turn raises the prices of dimensions of which too little was given, and lowers the
// others, by less in each round: the first change is up to the whole of a price. None
// becomes 0, for it would stay so.
func (b *Bound) turn(need []int64, round int64) {
	for t, v := range need {
		if v <= 0 {
			continue
		}
		missing := min(max(v-b.given[t], -v/2), v/2)
		price := b.price[t]
		price += price * (missing << 10 / v) * 12 / (6 + round) >> 10
		b.price[t] = min(max(price, 1), heaviest/v)
	}
}

// Even returns even prices for a need. They are good until the next question.
func (b *Bound) Even(need []int64) []int64 {
	b.price = b.price[:0]
	for _, v := range need {
		price := int64(0)
		if v > 0 {
			price = even / v
		}
		b.price = append(b.price, price)
	}
	return b.price
}

// Carried returns the prices of the last success, or false if there was none. They are good
// until the next question.
func (b *Bound) Carried() ([]int64, bool) {
	if b.carried[0] == nil {
		return nil, false
	}
	return b.carried[0].price, true
}

// carry carries the prices, in place of the oldest success if there are many.
func (b *Bound) carry() {
	last := b.carried[numCarried-1]
	for k := range b.memory {
		if last != nil {
			break
		}
		if x := &b.memory[k]; !slices.Contains(b.carried[:], x) {
			last = x
		}
	}
	copy(b.carried[1:], b.carried[:numCarried-1])
	b.carried[0] = last
	b.note(last, b.price)
}

// note notes prices, and which of the held rows are worth most at them.
func (b *Bound) note(x *tops, prices []int64) {
	x.price, x.rows, x.all = append(x.price[:0], prices...), x.rows[:0], true
	b.top, x.rows = x.rows, b.top
	total := int64(0)
	for i := range int32(b.held) {
		worth := int64(0)
		for t, v := range b.Row(i) {
			worth += v * x.price[t]
		}
		before := len(b.top)
		total = b.insert(pick{worth, i}, numTops, total)
		x.all = x.all && (worth == 0 || len(b.top) > before)
	}
	b.top, x.rows = x.rows, b.top
	b.Work += int64(b.held * b.Dims)
}
