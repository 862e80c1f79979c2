package jobs

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// Many domains have the same highest rank and priority. What tells them apart is
// how many must go, and so a bound counts victims as well.

// mostCounted is how large a domain may be, in hosts times members, for its
// victims to be counted: a larger one is bounded by one victim.
const mostCounted = 1 << 14

// count sets the levels of a bound that come of the number of victims below a
// ceiling.
func (x *bounder) count(levels *cover.Levels, n int64, l ceiling) {
	levels[victims.LevelVictims] = n
	// With exactly so many victims all of them are among those that were counted,
	// and one has the highest rank. With more, the number decides.
	levels[victims.LevelSumRanks] = l.rank + (n-1)*min(x.ranks[0], l.rank)
	levels[victims.LevelSumPriorities] = l.priority + (n-1)*min(x.priorities[0], l.priority)
}

// fewest returns how many candidates below a ceiling must go at least if the hosts
// of a domain are to take all members of a kind. They are to have room below the
// ceiling.
//
// On each host the largest go first, type by type: nobody gets by with fewer. A
// dynamic programme over the hosts then finds how many members go where: it is
// that of the spreader, without laws about sums, which can but add victims.
func (x *bounder) fewest(d int32, k *kind, l ceiling) int64 {
	hosts, members := x.domains.hostsOf(d), int(k.end-k.first)
	if len(hosts)*members > mostCounted {
		return 1
	}
	// least[j] is for j members on the hosts so far.
	x.least = append(x.least[:0], 0)
	for range members {
		x.least = append(x.least, math.MaxInt64)
	}
	for _, h := range hosts {
		if !x.takes(h, k) {
			continue
		}
		x.countOn(h, k, l)
		// Downwards, so that what is read is without this host.
		for j := members; j > 0; j-- {
			for n := 1; n <= min(j, len(x.needed)); n++ {
				if rest := x.least[j-n]; rest < math.MaxInt64 {
					x.least[j] = min(x.least[j], rest+x.needed[n-1])
				}
			}
		}
	}
	if n := x.least[members]; n < math.MaxInt64 {
		return max(n, 1)
	}
	return 1
}

// countOn sets x.needed to how many candidates must go at least from a host for
// one member, for two, and so on, as far as it can take them.
func (x *bounder) countOn(h int32, k *kind, l ceiling) {
	members := int(k.end - k.first)
	x.needed = rows.Zeros(x.needed, members)
	most := members
	for _, t := range k.types {
		x.sizes = x.sizes[:0]
		for _, i := range x.candsOn(h) {
			if size := x.cands[i].size[t]; size > 0 && l.lets(&x.grades[i]) {
				x.sizes = append(x.sizes, size)
			}
		}
		slices.Sort(x.sizes)
		slices.Reverse(x.sizes)
		left, gone := x.hosts[h].free[t], 0
		for n := range most {
			for left < k.size[t] && gone < len(x.sizes) {
				left += x.sizes[gone]
				gone++
			}
			if left < k.size[t] {
				most = n
				break
			}
			left -= k.size[t]
			x.needed[n] = max(x.needed[n], int64(gone))
		}
	}
	x.needed = x.needed[:most]
}
