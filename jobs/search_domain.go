package jobs

import (
	"cmp"

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
