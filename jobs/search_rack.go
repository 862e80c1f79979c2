package jobs

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// A chosen plan is the best of a decision, in rows of the full case.
type chosen struct {
	found  bool
	cost   victims.Cost
	levels cover.Levels // of cost, as bounds of domains are compared with them
	rank   rankSum      // of the members' nodes, beyond the range of the cost's
	domain int32        // the place of its domain in domains.list
	at     []int32      // the host of each member of todo
	units  []int32

	proven bool // no plan is cheaper, or there is none
	proof  victims.Proof
}

// choose leaves the best plan for the members of todo in d.best, and reports
// whether there is one that the predicate accepts.
func (d *decision) choose() bool {
	b := &d.best
	b.found = false
	if d.job.Domain == 0 {
		b.found = d.search.choose()
		b.proven, b.proof = d.search.proven, d.search.proof
		if b.found {
			b.take(&d.search.best, nil, nil)
		}
		return b.found
	}
	return d.chooseDomain()
}

// chooseDomain is choose for a job that requires a domain. Domains are searched
// one by one, those first that may be cheapest. Those that must cost more than
// the best plan are passed over.
func (d *decision) chooseDomain() bool {
	b := &d.best
	b.proven, b.proof = true, victims.ProofCost
	d.bounds = d.bounder.boundAll(&d.jobCase, d.bounds[:0])
	d.search.asker.jobCase = &d.sub.jobCase
	defer func() { d.search.asker.jobCase = &d.jobCase }()
	for i := range d.bounds {
		bound := &d.bounds[i]
		if b.found && (d.effort.eager || bound.passes(&b.levels)) {
			break // so do all that follow
		}
		// Engines know nothing of domains: they are given a case that has the hosts
		// of one. The asker alone keeps asking about nodes of the full case later.
		d.sub.enter(&d.jobCase, bound.domain)
		found := d.search.choose()
		b.proven = b.proven && d.search.proven
		switch {
		case found:
			b.proof = min(b.proof, d.search.proof)
			b.offer(&d.search.best, &d.sub)
		case !d.search.proven:
			// There may be a plan here that costs less than the one that was found
			// elsewhere, so nothing is proven of that one either.
			b.proof = victims.NoProof
		}
	}
	if !b.found || d.effort.eager {
		b.proof = victims.NoProof
	}
	return b.found
}

// offer makes the best plan of a domain the best of all if it costs less, or as
// much and its domain comes first.
func (b *chosen) offer(best *incumbent, s *subCase) {
	if b.found {
		c := cmp.Or(best.cost.Compare(&b.cost), best.rank.compare(b.rank), cmp.Compare(s.domain, b.domain))
		if c >= 0 {
			return
		}
	}
	b.found, b.domain = true, s.domain
	b.take(best, s.hostRows, s.unitRows)
}

// take notes a plan. Rows are translated by the tables, if there are some.
func (b *chosen) take(best *incumbent, hosts, units []int32) {
	b.cost, b.levels, b.rank = best.cost, best.levels, best.rank
	b.at, b.units = append(b.at[:0], best.at...), append(b.units[:0], best.chosen...)
	if hosts == nil {
		return
	}
	for i, h := range b.at {
		b.at[i] = hosts[h]
	}
	for i, u := range b.units {
		b.units[i] = units[u]
	}
}

// A domainBound says what a plan in a domain costs at least.
type domainBound struct {
	domain int32
	free   bool // nobody need go for the nodes: nothing is known
	levels cover.Levels
}

// passes reports whether every plan in the domain costs more than some levels.
func (x *domainBound) passes(levels *cover.Levels) bool {
	return !x.free && slices.Compare(x.levels[:], levels[:]) > 0
}

// A bounder bounds the cost of domains.
type bounder struct {
	*jobCase
	ranks, priorities []int64 // of candidates, ascending and different
	start             []int32 // candidates of host h are running[start[h]:start[h+1]]
	running           []int32
	room              []int64

	// Scratch of fewest.
	least, needed, sizes []int64
}

// boundAll appends to dst the domains in which the members may have room, and
// what that costs at least; the cheapest come first.
//
// For each kind of members by itself: the lowest rank, and with that the lowest
// priority, such that the hosts of the domain take all of them with everybody
// gone up to there; and the fewest victims with which that can be. Laws about sums
// are not asked, so no plan in the domain has less.
func (x *bounder) boundAll(c *jobCase, dst []domainBound) []domainBound {
	x.begin(c)
	from := len(dst)
	c.domains.each(func(row int32) bool {
		if bound, ok := x.bound(row); ok {
			dst = append(dst, bound)
		}
		return false
	})
	// A domain of which nothing is known may be the cheapest of all, so it comes
	// before those with a bound.
	slices.SortFunc(dst[from:], func(a, b domainBound) int {
		if a.free != b.free {
			if a.free {
				return -1
			}
			return +1
		}
		return cmp.Or(slices.Compare(a.levels[:], b.levels[:]), cmp.Compare(a.domain, b.domain))
	})
	return dst
}

// begin lists the candidates of every host, and their ranks and priorities.
func (x *bounder) begin(c *jobCase) {
	x.jobCase = c
	x.start = rows.Zeros(x.start, len(c.hosts)+1)
	x.ranks, x.priorities = x.ranks[:0], x.priorities[:0]
	total := int32(0)
	for i := range c.cands {
		g := &c.grades[i]
		if !g.usable || g.host < 0 {
			continue
		}
		x.start[g.host+1]++
		total++
		x.ranks = insert(x.ranks, g.rank)
		x.priorities = insert(x.priorities, g.priority)
	}
	// A counting sort: start counts, then says where each host's candidates begin,
	// and while they are filled in, where its next one goes. That shifts it by a
	// host, which the last line puts right.
	for h := range c.hosts {
		x.start[h+1] += x.start[h]
	}
	x.running = rows.Zeros(x.running, int(total))
	for i := range c.cands {
		if g := &c.grades[i]; g.usable && g.host >= 0 {
			x.running[x.start[g.host]] = int32(i)
			x.start[g.host]++
		}
	}
	copy(x.start[1:], x.start)
	x.start[0] = 0
}

// insert adds a value to ascending different ones.
func insert(values []int64, v int64) []int64 {
	if n := len(values); n > 0 && values[n-1] == v {
		return values
	}
	if at, ok := slices.BinarySearch(values, v); !ok {
		values = slices.Insert(values, at, v)
	}
	return values
}

// bound returns what a plan in a domain costs at least, and false if there is
// none.
func (x *bounder) bound(d int32) (b domainBound, ok bool) {
	b.domain, b.free = d, true
	for i := range x.kinds {
		k := &x.kinds[i]
		if x.reaches(d, k, nobody()) {
			continue
		}
		l := noCeiling()
		l.plain = true
		var levels cover.Levels
		if !x.reaches(d, k, l) {
			if l.plain = false; !x.reaches(d, k, l) {
				return b, false
			}
			levels[victims.LevelOriginators] = 1 // or somebody opted out, which is worse
		}
		l.rank = lowest(x.ranks, func(v int64) bool { return x.reaches(d, k, ceiling{l.plain, v, l.priority}) })
		l.priority = lowest(x.priorities, func(v int64) bool { return x.reaches(d, k, ceiling{l.plain, l.rank, v}) })
		levels[victims.LevelRank], levels[victims.LevelPriority] = l.rank, l.priority
		x.count(&levels, x.fewest(d, k, l), l)
		// Every kind must have its room, so the dearest kind is a bound for all.
		// Their sum would be none: one victim may make room for two kinds.
		if b.free || slices.Compare(levels[:], b.levels[:]) > 0 {
			b.free, b.levels = false, levels
		}
	}
	return b, true
}

// reaches reports whether the hosts of a domain take all members of a kind with
// everybody gone whom a ceiling admits.
func (x *bounder) reaches(d int32, k *kind, l ceiling) bool {
	left := int64(k.end - k.first)
	for _, h := range x.domains.hostsOf(d) {
		if !x.takes(h, k) {
			continue
		}
		x.room = append(x.room[:0], x.hosts[h].free...)
		for _, i := range x.candsOn(h) {
			if l.lets(&x.grades[i]) {
				addTo(x.room, x.cands[i].size, +1)
			}
		}
		n := left
		for _, t := range k.types {
			n = min(n, max(x.room[t], 0)/k.size[t])
		}
		if left -= n; left <= 0 {
			return true
		}
	}
	return false
}

// candsOn returns the candidates on a host.
func (x *bounder) candsOn(h int32) []int32 { return x.running[x.start[h]:x.start[h+1]] }

// nobody returns a ceiling that admits no candidate.
func nobody() ceiling { return ceiling{plain: true, rank: math.MinInt64, priority: math.MinInt64} }

// lowest returns the least of some values, which ascend, for which reaches
// holds. It holds for the last one.
func lowest(values []int64, reaches func(int64) bool) int64 {
	n, _ := slices.BinarySearchFunc(values, true, func(v int64, _ bool) int {
		if reaches(v) {
			return 1
		}
		return -1
	})
	return values[min(n, len(values)-1)]
}

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
