// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/victims"
)

// A chosen plan is the best of a decision.
type chosen struct {
	found  bool
	cost   victims.Cost
	levels cost.Levels // of cost, as bounds of domains are compared with them
	rank   rankSum     // of the members' nodes, beyond the range of the cost's
	domain int32       // the place of its domain in domains.list
	at     []int32     // the host of each member of todo
	units  []int32

	proven bool // no plan is cheaper, or there is none
	proof  victims.Proof
}

// choose leaves the best plan for the members of todo in d.best, and reports
// whether there is one that the predicate accepts.
func (d *decision) choose() bool {
	b := &d.best
	b.found = false
	if d.job.DomainDepth == 0 {
		b.found = d.search.choose()
		b.proven, b.proof = d.search.proven, d.search.proof
		if b.found {
			b.take(&d.search.best)
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
	bounds := &d.search.bounds
	bounds.begin(&d.jobCase)
	d.bounds = bounds.boundAll(d.bounds[:0])
	for i := range d.bounds {
		bound := &d.bounds[i]
		if b.found && (d.effort.eager || d.choice == nil && bound.passes(&b.levels)) {
			break // so do all that follow
		}
		if d.effort.exhausted() {
			b.proven, b.proof = false, victims.NoProof
			break
		}
		// Engines know nothing of domains: they look at one area.
		d.openDomain(bound.domain)
		found := d.search.choose()
		b.proven = b.proven && d.search.proven
		switch {
		case found:
			b.proof = min(b.proof, d.search.proof)
			b.offer(&d.search.best, bound.domain)
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
func (b *chosen) offer(best *incumbent, domain int32) {
	if b.found {
		c := cmp.Or(best.compare(&best.cost, &b.cost), best.rank.compare(b.rank), cmp.Compare(domain, b.domain))
		if c >= 0 {
			return
		}
	}
	b.found, b.domain = true, domain
	b.take(best)
}

// take notes a plan.
func (b *chosen) take(best *incumbent) {
	b.cost, b.levels, b.rank = best.cost, best.levels, best.rank
	b.at, b.units = append(b.at[:0], best.at...), append(b.units[:0], best.chosen...)
}

// A domainBound says what a plan in a domain costs at least.
type domainBound struct {
	domain int32
	free   bool // nobody need go for the nodes: nothing is known
	levels cost.Levels
}

// passes reports whether every plan in the domain costs more than some levels.
func (x *domainBound) passes(levels *cost.Levels) bool {
	return !x.free && slices.Compare(x.levels[:], levels[:]) > 0
}

// boundAll appends to dst the domains in which the members may have room, and
// what that costs at least; the cheapest come first.
//
// For each kind of members by itself: the lowest rank, and with that the lowest
// priority, such that the hosts of the domain take all of them with everybody
// gone up to there; and the fewest victims with which that can be. Laws about sums
// are not asked, so no plan in the domain has less.
func (x *bounder) boundAll(dst []domainBound) []domainBound {
	from := len(dst)
	x.domains.each(func(row int32) bool {
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

// bound returns what a plan in a domain costs at least, and false if there is
// none.
func (x *bounder) bound(d int32) (b domainBound, ok bool) {
	b.domain, b.free = d, true
	hosts := x.domains.hostsOf(d)
	for i := range x.kinds {
		k := &x.kinds[i]
		reaches := func(l ceiling) bool { return x.reaches(hosts, k, l) }
		if reaches(nobody()) {
			continue
		}
		l := noCeiling()
		l.plain = true
		var levels cost.Levels
		if !reaches(l) {
			if l.plain = false; !reaches(l) {
				return b, false
			}
			levels[rulebook.LevelOriginators] = 1 // or somebody opted out, which is worse
		}
		if l = x.lowest(l, reaches); x.cut {
			b.free = true // nothing is known
			return b, true
		}
		// With exactly so many victims all of them are among those that were counted,
		// and one has the highest rank. With more, the number decides.
		setLevels(&levels, x.fewestOn(hosts, k, l), l, ceiling{rank: x.ranks[0], priority: x.priorities[0]})
		// Every kind must have its room, so the dearest kind is a bound for all.
		// Their sum would be none: one victim may make room for two kinds.
		if b.free || slices.Compare(levels[:], b.levels[:]) > 0 {
			b.free, b.levels = false, levels
		}
	}
	return b, true
}
