package jobs

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/victims"
)

// How many victims prices show to be needed.
func TestPricer_Table(t *testing.T) {
	for _, test := range []struct {
		name, hosts string
		members     []int64
		want        int64
	}{
		{"as many as sums", "0: a4 | 0: b4", []int64{4, 3}, 2},
		{"two of more than half the room have a host each", "0: a4 | 0: b4 | 0: c4", []int64{3, 3, 3}, 3},
		{"a half fits twice", "0: a4 | 0: b4", []int64{2, 2, 2, 2}, 2},
		{"room that takes a member is worth as much", "3: a4 | 0: b4", []int64{3, 3}, 1},
		{"room that takes none opens with a victim", "2: a2 | 0: b4", []int64{4, 4}, 2},
		{"many small members are placed best where many go", "0: a5 b5 c5 | 0: d5 e5 f5", []int64{3, 3, 3, 3, 3}, 3},
		{"what is over-committed is paid back once", "-5: a2 b2 c2 d2 e2 f2 g2 h2 i2 k2", []int64{3, 3, 3, 3, 3}, 10},
		{"on each of two hosts", "-5: a2 b2 c2 d2 e2 f2 g2 h2 i2 k2 | -5: l2 m2 n2 o2 p2 q2 r2 s2 t2 u2",
			[]int64{3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 20},
		{"there are no more large hosts than there are", "0: a9 | 0: b4 | 0: c4", []int64{4, 4, 4}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tableDesk(t, test.hosts, test.members...)
			require.Equal(t, test.want, mostShown(t, d, noCeiling()))
		})
	}
}

// mostShown returns how many victims prices show to be needed below a ceiling,
// beginning with the cheapest plan.
func mostShown(t require.TestingT, d *desk, l ceiling) int64 {
	s := &d.search
	s.best.found = false
	s.all.complete(math.MaxInt32)
	require.True(t, s.best.found)
	plan := s.best
	plan.levels[victims.LevelVictims] = math.MaxInt64 // there is always more to show
	_, typ := s.pool.fewest(l)
	return s.pool.price.fewest(&priceQuestion{tierQuestion{typ: typ, ceiling: l, open: s.pool.open}, &plan})
}

// Prices never show more victims than the cheapest plan has, whichever type they
// look at and whatever the prices are.
func TestPricer_Twin(t *testing.T) { rapid.Check(t, pricerIsTwin) }

func FuzzPricer(f *testing.F) { f.Fuzz(rapid.MakeFuzz(pricerIsTwin)) }

func pricerIsTwin(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	s := &d.search
	s.best.found = false
	s.all.complete(math.MaxInt32)
	if !s.best.found {
		return
	}
	least := s.best.levels
	l := below(&least)
	if least[victims.LevelVictims] == 0 {
		l = noCeiling() // its levels are of nobody
	}
	s.pool.findOpen()
	x := &s.pool.price
	q := priceQuestion{
		tierQuestion{typ: rapid.IntRange(0, 1).Draw(t, "type"), ceiling: l, open: s.pool.open},
		&s.best,
	}
	if rapid.Bool().Draw(t, "any") {
		s.best.levels[victims.LevelVictims] = math.MaxInt64 // there is always more to show
	}
	require.LessOrEqual(t, x.fewest(&q), least[victims.LevelVictims])
	if len(x.members) == 0 {
		return
	}
	for r := range x.book.programme.worth {
		x.book.programme.worth[r] = fixed(rapid.Int64Range(-1<<30, 1<<33).Draw(t, "worth"))
	}
	x.book.near = rapid.Bool().Draw(t, "near")
	x.price()
	x.unit = rapid.Int64Range(1, 1<<20).Draw(t, "unit")
	require.LessOrEqual(t, x.saved(), least[victims.LevelVictims]*x.unit)
	x.findUnit()
	require.LessOrEqual(t, x.saved(), least[victims.LevelVictims]*x.unit)
}

// In cases that are too large to look at every plan, prices show no more victims
// than the plans have that engines find.
func TestPricer_Plans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawRow(t)
		s := &d.search
		if !s.conceivable() || s.pack.fits(coming) {
			return
		}
		s.best.found = false
		s.stow.stow(noCeiling())
		s.grow.growAll()
		if !s.best.found {
			return
		}
		least := s.best.levels[victims.LevelVictims]
		s.best.levels[victims.LevelVictims] = math.MaxInt64 // there is always more to show
		_, typ := s.pool.fewest(noCeiling())
		q := priceQuestion{tierQuestion{typ: typ, ceiling: noCeiling(), open: s.pool.open}, &s.best}
		require.LessOrEqual(t, s.pool.price.fewest(&q), least)
	})
}

// drawRow draws a desk of many hosts and members, on which only sizes matter.
func drawRow(t *rapid.T) *desk {
	hosts := make([]string, rapid.IntRange(1, 20).Draw(t, "hosts"))
	size := rapid.Int64Range(1, rapid.SampledFrom([]int64{4, 9, 1 << 40}).Draw(t, "most"))
	for h := range hosts {
		tasks, used := "", int64(0)
		for i := range rapid.IntRange(0, 5).Draw(t, "tasks") {
			n := size.Draw(t, "task")
			tasks, used = fmt.Sprintf("%s %c%c%d", tasks, 'a'+h, 'a'+i, n), used+n
		}
		free := rapid.SampledFrom([]int64{0, 0, 1, 2, -min(3, used)}).Draw(t, "free")
		hosts[h] = fmt.Sprint(free, ":", tasks)
	}
	return tableDesk(t, strings.Join(hosts, "|"), rapid.SliceOfN(size, 1, 16).Draw(t, "members")...)
}

// No host has more room than its tier says, and every host is in one.
func TestTiers_Twin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d *desk
		if rapid.Bool().Draw(t, "row") {
			d = drawRow(t)
		} else {
			d = drawDesk(t, false)
		}
		s := &d.search
		s.pool.findOpen()
		x := tiers{jobCase: d.board}
		q := tierQuestion{
			typ: rapid.IntRange(0, 1).Draw(t, "type"), open: s.pool.open,
			ceiling: ceiling{plain: rapid.Bool().Draw(t, "plain"), rank: 0, priority: rapid.Int64Range(0, 2).Draw(t, "priority")},
		}
		x.measure(&q)
		at := 0
		for _, tier := range x.list {
			for gone := range 7 {
				most := int64(noRoom)
				for _, h := range x.order[at : at+int(tier.hosts)] {
					room := mostRoom(d.board, &q, h, gone)
					require.Equal(t, max(room, noRoom), max(after(x.of(h), gone), noRoom))
					most = max(most, room)
				}
				require.Equal(t, most, after(tier.steps, gone))
			}
			at += int(tier.hosts)
		}
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(x.order))), len(d.board.hosts), "each once")
		require.Equal(t, len(d.board.hosts), at)
	})
}

// mostRoom returns what is free on a host if so many candidates below a ceiling go,
// whichever they are.
func mostRoom(c *jobCase, q *tierQuestion, h int32, gone int) int64 {
	var sizes []int64
	for i := range c.cands {
		if cand := &c.cands[i]; c.usable[i] && cand.host == h && q.ceiling.admits(&cand.levels) {
			sizes = append(sizes, cand.size.At(q.typ))
		}
	}
	slices.Sort(sizes)
	room := c.hosts[h].free[q.typ]
	if !q.open[h] && min(gone, len(sizes)) == 0 {
		return noRoom
	}
	for range min(gone, len(sizes)) {
		room += sizes[len(sizes)-1]
		sizes = sizes[:len(sizes)-1]
	}
	return room
}

// A knapsack finds what a search through all sets finds.
func TestKnapsack_Twin(t *testing.T) { rapid.Check(t, knapsackIsTwin) }

func FuzzKnapsack(f *testing.F) { f.Fuzz(rapid.MakeFuzz(knapsackIsTwin)) }

func knapsackIsTwin(t *rapid.T) {
	x := knapsack{width: rapid.IntRange(0, 20).Draw(t, "width")}
	for range rapid.SampledFrom([]int{1, 5, 8, 2}).Draw(t, "items") {
		x.sizes = append(x.sizes, int32(rapid.IntRange(0, 12).Draw(t, "size")))
		x.worth = append(x.worth, int32(rapid.IntRange(0, 9).Draw(t, "worth")))
	}
	// Items of no worth, so that there are several blocks.
	spare := rapid.SampledFrom([]int{0, blockItems, 2*blockItems - 3}).Draw(t, "spare")
	x.sizes = append(make([]int32, spare), x.sizes...)
	x.worth = append(make([]int32, spare), x.worth...)
	x.solve()
	var parcels []parcel
	for room := range int32(x.width + 1) {
		require.Equal(t, bestSet(x.sizes[spare:], x.worth[spare:], room), x.best[room])
		parcels = append(parcels, parcel{room: room})
	}
	x.trace(parcels)
	for room, p := range parcels {
		var size, worth int32
		for _, i := range p.items {
			size, worth = size+x.sizes[i], worth+x.worth[i]
		}
		require.LessOrEqual(t, size, int32(room))
		require.Equal(t, x.best[room], worth)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(p.items))), len(p.items), "each once")
	}
}

// bestSet returns what the best set of items that a room takes is worth.
func bestSet(sizes, worth []int32, room int32) (best int32) {
	for set := range 1 << len(sizes) {
		var size, sum int32
		for i := range sizes {
			if set>>i&1 != 0 {
				size, sum = size+sizes[i], sum+worth[i]
			}
		}
		if size <= room {
			best = max(best, sum)
		}
	}
	return best
}

// A master finds the least cost of a programme with two needs and a limit, and what
// these are worth.
func TestMaster(t *testing.T) {
	one := func(n ...int64) (list []fixed) {
		for _, v := range n {
			list = append(list, fixed(v)*fixedOne)
		}
		return list
	}
	var m master
	m.begin(one(6, 4, 3), one(50, 50, 0))
	require.Equal(t, fixed(500)*fixedOne, m.value())
	offer := func(cost int64, column ...int64) bool {
		copy(m.column, one(column...))
		return m.offer(fixed(cost) * fixedOne)
	}
	require.True(t, offer(3, 1, 0, 0))
	require.True(t, offer(4, 0, 1, 0))
	require.Equal(t, fixed(6*3+4*4)*fixedOne, m.value())
	// A pair costs less than its parts, and there may be 3 of it.
	require.True(t, offer(2, 1, 1, 1))
	require.Equal(t, fixed(3*2+3*3+1*4)*fixedOne, m.value())
	require.Equal(t, one(3, 4, -5), m.worth)
	require.False(t, offer(2, 1, 1, 1), "it is there already")
	require.False(t, offer(3, 0, 0, 1), "it is of no use")
	require.False(t, offer(7, 1, 1, 0), "it is worth what it costs")
}

// The numbers of a master are the nearest ones towards 0.
func TestFixed_Twin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64Range(-1<<40, 1<<40), rapid.Int64Range(-math.MaxInt64, math.MaxInt64))
		x, y := fixed(number.Draw(t, "x")), fixed(number.Draw(t, "y"))
		big2 := func(x fixed) *big.Int { return big.NewInt(int64(x)) }
		near := func(v *big.Int) fixed {
			if v.CmpAbs(big.NewInt(math.MaxInt64)) > 0 {
				return fixed(math.MaxInt64 * int64(v.Sign()))
			}
			return fixed(v.Int64())
		}
		product := new(big.Int).Mul(big2(x), big2(y))
		require.Equal(t, near(product.Quo(product, big2(fixedOne))), x.times(y))
		if y != 0 {
			quotient := new(big.Int).Mul(big2(x), big2(fixedOne))
			require.Equal(t, near(quotient.Quo(quotient, big2(y))), x.over(y))
		}
	})
}
