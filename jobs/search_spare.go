package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// spareWholes takes of each gang that goes as a whole only what is surplus, if
// that is enough.
func (x *finisher) spareWholes() {
	x.wholes = x.wholes[:0]
	for _, u := range x.chosen {
		// A gang without a surplus has nothing that could go instead of it.
		if unit := &x.units[u]; unit.whole && x.gangs[unit.gang].surplus > 0 {
			x.wholes = append(x.wholes, u)
		}
	}
	for _, whole := range x.wholes {
		x.spareWhole(whole)
	}
}

// spareWhole is spareWholes for one gang.
func (x *finisher) spareWhole(whole int32) {
	// Without the whole gang the plan lacks something; its members one by one are
	// offered for that and nobody else, so the bound of its surplus decides.
	p := x.partial
	p.move(whole, -1)
	// Its members are out as units of their own while it is in, for nobody goes
	// twice.
	p.chosen = slices.DeleteFunc(p.chosen, func(u int32) bool { return u == whole })
	before := len(p.chosen)
	x.stateLacks()
	for u := range x.units {
		if unit := &x.units[u]; unit.gang == x.units[whole].gang && !unit.whole && p.mayGo(int32(u)) {
			x.cover.offer(int32(u))
		}
	}
	x.cover.run(smallPace)
	// The predicate may want more than room, and it has the last word.
	if p.chooseFound() && (!x.asker.asks() || x.asker.acceptsAll(x.at, p.chosen)) {
		return
	}
	// Nothing was gained. The plan is left as it was.
	p.takeBack(before)
	p.choose(whole)
}

// stateLacks states what queues and the hosts of the members lack in the partial
// plan.
func (x *finisher) stateLacks() {
	x.cover.begin(x.boundsLeft(), x.budgetsLeft())
	x.needQueues()
	x.short = rows.Zeros(x.short, len(x.hosts)*x.types)
	for h := range x.hosts {
		// Other hosts have room for whom they are to take.
		if !x.overfull(int32(h)) {
			continue
		}
		free := x.row(x.free, h)
		short := x.row(x.short, h)
		for t, v := range x.load.of(int32(h)) {
			if v > 0 {
				short[t] = max(-free[t], 0)
			}
		}
		x.cover.needHost(int32(h), short)
	}
}
