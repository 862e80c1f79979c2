// SPDX-License-Identifier: Apache-2.0

package gangs

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A tight problem has two rows that bind, as two queues have with little above their
// guarantees: a unit uses one of them, or none. All members are alike.
func tight(r *rand.Rand) *Problem {
	var l Layout
	l.Add(1000) // units
	l.Add(1 << 20)
	l.Settle()
	p := &Problem{
		Types: 1, Kinds: []Kind{{Size: []int64{4}, Count: 64}}, Head: l.At(0) + 20, Levels: l.At(0),
		Rows: []Row{{Room: 25 + r.Int63n(10)}, {Room: 45 + r.Int63n(15)}},
	}
	for range 50 {
		site := Site{Free: []int64{0}, First: int32(len(p.Units))}
		for used := int64(0); used < 8; {
			u := Unit{Size: []int64{min(1+r.Int63n(4), 8-used)}, Price: l.Price(0, 1), Gang: -1}
			if row := r.Intn(4); row < len(p.Rows) {
				u.Use[row] = u.Size[0]
			}
			used += u.Size[0]
			p.Units = append(p.Units, u)
		}
		site.End = int32(len(p.Units))
		p.Sites = append(p.Sites, site)
	}
	return p
}

// fewest returns how few units go from a tight problem at least, by all that members and rows
// can come to; or -1.
func fewest(p *Problem) int {
	k, a, b := p.Kinds[0], int(p.Rows[0].Room)+1, int(p.Rows[1].Room)+1
	best := slices.Repeat([]int{-1}, (int(k.Count)+1)*a*b)
	best[0] = 0
	for _, site := range p.Sites {
		type gain struct {
			places int
			use    Use
		}
		fewest := make(map[gain]int) // units
		for set := 1; set < 1<<(site.End-site.First); set++ {
			free, use, units := int64(0), Use{}, 0
			for n, u := range p.Units[site.First:site.End] {
				if set>>n&1 != 0 {
					free, units = free+u.Size[0], units+1
					use[0], use[1] = use[0]+u.Use[0], use[1]+u.Use[1]
				}
			}
			g := gain{int(free / k.Size[0]), use}
			if n, ok := fewest[g]; g.places > 0 && (!ok || units < n) {
				fewest[g] = units
			}
		}
		next := slices.Clone(best) // nobody goes
		for g, units := range fewest {
			for members := range int(k.Count) + 1 {
				from, to := members*a, min(members+g.places, int(k.Count))*a+int(g.use[0])
				for x := range max(a-int(g.use[0]), 0) {
					have, get := best[(from+x)*b:][:b], next[(to+x)*b:][:b]
					for y := range max(b-int(g.use[1]), 0) {
						if n, least := have[y], &get[y+int(g.use[1])]; n >= 0 && (*least < 0 || n+units < *least) {
							*least = n + units
						}
					}
				}
			}
		}
		best = next
	}
	least := -1
	for _, n := range best[int(k.Count)*a*b:] {
		if n >= 0 && (least < 0 || n < least) {
			least = n
		}
	}
	return least
}

// If rows bind, mostly no more go than must, and never many more.
func TestSolve_RowsThatBind(t *testing.T) {
	draws := 12
	if testing.Short() {
		draws = 3
	}
	const steps = 1 << 21
	plans, missed, best, more, tolls := 0, 0, 0, 0, int64(0)
	var s Solver
	for seed := range draws {
		p := tight(rand.New(rand.NewSource(int64(50 + seed))))
		least := fewest(p)
		got, proven := s.Solve(p, nil, steps)
		if least < 0 {
			require.Nil(t, got)
			continue
		}
		if plans++; got == nil {
			missed++
			continue
		}
		n := len(got.Units)
		require.GreaterOrEqual(t, n, least)
		require.False(t, proven && n > least, "seed %d", seed)
		if more += n - least; n == least {
			best++
		}
		// No plan costs less than the bound of any tolls.
		s.purse = steps
		require.True(t, s.prepare(noCeiling(), &s.best))
		s.guide.coarse = p.Levels
		s.setTolls()
		s.guide.setRate(&s)
		require.LessOrEqual(t, s.guide.bound(&s), int64(least))
		tolls += s.rates[0] + s.rates[1]
	}
	t.Logf("%d problems with a plan: %d missed, %d of the plans the best, %d units too many", plans, missed, best, more)
	if plans < 20 {
		return // with -short there are too few to say anything of all
	}
	require.LessOrEqual(t, missed, plans/6)
	require.GreaterOrEqual(t, 4*best, 3*(plans-missed))
	require.LessOrEqual(t, more, plans/2)
	require.Positive(t, tolls)
}
