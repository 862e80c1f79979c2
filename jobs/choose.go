package jobs

import "github.com/go-preempt/preempt/resources"

// choose leaves the best plan that it finds for the members of todo in d.best,
// and reports whether there is one that the predicate accepts.
func (d *decision) choose() bool {
	d.best.found, d.picky, d.before = false, false, d.steps
	d.proven, d.proof = true, ProofNone
	if !d.conceivable() {
		return false // proven: with all gone there is no room
	}
	refusals := d.refusals
	d.search()
	if d.best.found && d.acceptsAll(d.best.at, d.best.units) {
		return true
	}
	if d.refusals == refusals {
		return false
	}
	return d.persuade()
}

// search leaves the best plan that it finds in d.best, whatever the predicate
// says of it.
//
// A small case is searched completely. Else members that are alike are spread
// out by a dynamic programme, which is exact where nothing but nodes decides.
// Where that proves nothing, or members differ, plans are made member by
// member in several orders, or by letting all fall that may and giving back what
// can go back; and if the case is not too large, what they cost makes a complete
// search short. Where all that finds nothing, a complete search goes as far as
// its steps do, whatever the size.
func (d *decision) search() {
	if d.within(small) && !d.p.quick {
		d.complete(4 * d.budget())
		if d.proven {
			d.proof = ProofCost
		}
		if d.settled() {
			return
		}
	}
	if len(d.kinds) == 1 {
		d.proven = true
		if d.spreadOut() && d.proven {
			d.proof = ProofLevels
		}
		if d.settled() {
			return
		}
	}
	d.growAll()
	if !d.best.found {
		d.clearAll()
	}
	if d.eager && d.best.found {
		return
	}
	steps := d.stepsLeft()
	d.proven = steps > 0 && d.complete(steps)
	if d.proven {
		d.proof = ProofCost
	} else if d.best.found && d.wholes > 0 {
		d.reconsiderBest()
	}
}

// stepsLeft returns the steps that a complete search may take in the end: all
// where a case is of medium size, none where a larger one has a plan, and where
// it has none as many as take no longer than all of them take where few things
// matter. A step looks at every host and every unit.
func (d *decision) stepsLeft() int {
	const few = 64
	switch {
	case d.p.quick:
		return 0
	case d.within(medium):
		return d.budget()
	case d.best.found:
		return 0
	}
	return d.budget() * few / max(few, len(d.hosts)+len(d.units))
}

// settled reports whether there is nothing more to look for: what was found is
// proven, or that there is nothing, or any plan will do.
func (d *decision) settled() bool {
	if d.best.found {
		return d.eager || d.proof > ProofNone
	}
	return d.proof == ProofCost
}

// reconsiderBest offers what is left of the best plan once gangs give no more
// than they must: a search that was cut short may have taken more.
func (d *decision) reconsiderBest() {
	d.begin()
	for m, h := range d.best.at {
		d.seat(int32(m), h)
	}
	for _, u := range d.best.units {
		d.takeUnit(u)
	}
	d.finish()
}

// How large a case is: the ways to place the members, times what one of them
// takes to look at.
const (
	small  = 1 << 14
	medium = 1 << 19
)

// within reports whether a case is below a size.
func (d *decision) within(size uint64) bool {
	ways, each := d.ways(), uint64(len(d.units)+8)
	return ways < size && ways*each < size
}

// conceivable reports whether there could be room for each member on some host
// with all of its units gone, for all members of the only kind together, and in
// the queues.
func (d *decision) conceivable() bool {
	if !d.conceivableBelow() {
		return false
	}
	d.load = zeros(d.load, len(d.hosts)*d.types)
	for i := range d.kinds {
		if !d.conceivableFor(&d.kinds[i]) {
			return false
		}
	}
	return len(d.kinds) != 1 || d.capacity(noLimit()) == len(d.todo)
}

func (d *decision) conceivableBelow() bool {
	for n, short := range d.needs.short {
		d.sum = resources.Copy(d.sum, short)
		for i := range d.cands {
			if c := &d.cands[i]; d.falling[i] && int(c.leaf.level) <= n {
				d.sum = resources.Sub(d.sum, d.sum, c.size)
			}
		}
		if resources.Positive(d.sum) != 0 {
			return false
		}
	}
	return true
}

func (d *decision) conceivableFor(k *kind) bool {
	for h := range d.hosts {
		if d.mayHost(int32(h), k) {
			return true
		}
	}
	return false
}
