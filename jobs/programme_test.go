package jobs

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// The dynamic programme finds what trying everything does: the least sums for
// all members, and of equal ones the most members on the first hosts.
func TestProgramme(t *testing.T) { rapid.Check(t, propertyProgramme) }

func FuzzProgramme(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyProgramme)) }

func propertyProgramme(t *rapid.T) {
	members := rapid.IntRange(1, 5).Draw(t, "members")
	hosts := rapid.IntRange(1, 4).Draw(t, "hosts")
	order := victims.PlanOrder()
	x := &programme{order: &order}
	for h := range int32(hosts) {
		x.first = append(x.first, int32(len(x.ways)))
		for range members {
			x.ways = append(x.ways, way{state: wayFound, sums: sums{
				levels: cover.Levels{
					victims.LevelOriginators: rapid.Int64Range(0, 1).Draw(t, "originators"),
					victims.LevelOwnLow:      rapid.SampledFrom([]int64{0, 1, 1<<32 - 1}).Draw(t, "own cost"),
					victims.LevelVictims:     rapid.Int64Range(0, 3).Draw(t, "victims"),
					victims.LevelSumRanks:    -rapid.Int64Range(0, 2).Draw(t, "ranks"),
				},
				work: rapid.Uint64Range(0, 2).Draw(t, "work"),
			}})
		}
		for n := int32(members); n > 0; n-- { // as listWays sorts them
			if rapid.IntRange(0, 3).Draw(t, "listed") > 0 {
				x.listed = append(x.listed, choiceOfWay{host: h, members: n})
			}
		}
	}
	x.solve(members)

	least, counts, ok := x.tryAll(0, int32(hosts), int32(members))
	if got := x.result(); ok != (got.state == wayFound) || ok && got.sums != least {
		t.Fatalf("%v, and trying all finds %v %v", got, least, ok)
	}
	if !ok {
		return
	}
	got := make([]int32, hosts)
	x.eachChoice(func(c choiceOfWay) { got[c.host] = c.members })
	if !slices.Equal(got, counts) {
		t.Fatalf("members by host %v, and trying all finds %v", got, counts)
	}
}

// tryAll returns the least sums for n members on hosts from h on, and how many
// are on each: of equal ones the largest in lexical order.
func (p *programme) tryAll(h, hosts, n int32) (least sums, counts []int32, ok bool) {
	if h == hosts {
		return sums{}, nil, n == 0
	}
	for here := n; here >= 0; here-- {
		c := choiceOfWay{h, here}
		if here > 0 && !slices.Contains(p.listed, c) {
			continue
		}
		cost, rest, found := p.tryAll(h+1, hosts, n-here)
		if !found {
			continue
		}
		if here > 0 {
			cost = cost.plus(p.order, &p.wayOf(h, here).sums)
		}
		if !ok || cost.compare(&least) < 0 {
			least, counts, ok = cost, append([]int32{here}, rest...), true
		}
	}
	return least, counts, ok
}
