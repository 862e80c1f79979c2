package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A partial is a plan under construction, kept as differences from the case: who
// has gone, who has a place, and what that leaves. Engines that work step by
// step build on one, and can take steps back.
type partial struct {
	*jobCase
	*effort
	cover *coverer

	free   []int64       // of every host, with victims gone and members placed
	left   []cover.Bound // what bounds leave
	values []int64       // of left
	short  []int64       // of every queue that is short
	gone   []bool        // by candidate
	used   []int64       // of every soft budget
	soft   []cover.Budget
	chosen []int32 // units that go
	picked []int32 // scratch of chooseFound
	at     []int32 // the host of each member of todo, or -1

	// Invariant: bounds has the rooms of left, in the same memory. Its extras
	// have memory of their own, and are right after boundsLeft. Gangs make one
	// bound each and have no extra, so there may be thousands of bounds of which
	// a handful need work.
	bounds []cover.Bound
	extras []int32 // the bounds that have an extra
	debts  []int64 // of the extras of bounds
}

// begin makes the plan that of nothing done.
func (x *partial) begin() {
	x.free, x.short = x.free[:0], x.short[:0]
	for h := range x.hosts {
		x.free = append(x.free, x.hosts[h].free...)
	}
	for _, short := range x.needs.short {
		x.short = append(x.short, short...)
	}
	// By candidate and not by unit, since a task may be in two units.
	x.gone = rows.Zeros(x.gone, len(x.cands))
	x.chosen = x.chosen[:0]
	x.at = rows.Zeros(x.at, len(x.todo))
	for i := range x.at {
		x.at[i] = -1
	}
	x.used = rows.Zeros(x.used, len(x.budgets.soft))
	x.beginBounds()
}

// budgetsLeft returns what soft budgets have left: what goes beyond that is
// overrun, whether it was overrun before or not. It is good until the next call.
func (x *partial) budgetsLeft() []cover.Budget {
	x.soft = x.soft[:0]
	for i, b := range x.budgets.soft {
		x.soft = append(x.soft, cover.Budget{Left: max(b.Left-x.used[i], 0)})
	}
	return x.soft
}

// beginBounds copies the bounds.
func (x *partial) beginBounds() {
	size, extras := 0, 0
	for _, b := range x.rooms.Bounds {
		size, extras = size+len(b.Room.Value)+len(b.Extra), extras+len(b.Extra)
	}
	// Both are as long as they get before anything points into them.
	x.values, x.debts = slices.Grow(x.values[:0], size)[:0], slices.Grow(x.debts[:0], extras)[:0]
	x.left, x.bounds, x.extras = x.left[:0], x.bounds[:0], x.extras[:0]
	for i, b := range x.rooms.Bounds {
		from := len(x.values)
		x.values = append(x.values, b.Room.Value...)
		extra := len(x.values)
		x.values = append(x.values, b.Extra...)
		left := cover.Bound{
			Room:  resources.Limit{Value: x.values[from:extra:extra], Defined: b.Room.Defined},
			Extra: x.values[extra:len(x.values):len(x.values)],
		}
		x.left = append(x.left, left)
		if len(b.Extra) > 0 {
			debt := len(x.debts)
			x.debts = append(x.debts, b.Extra...)
			left.Extra = x.debts[debt:len(x.debts):len(x.debts)]
			x.extras = append(x.extras, int32(i))
		}
		x.bounds = append(x.bounds, left)
	}
}

// move lets a unit go, or takes that back if sign is -1.
func (x *partial) move(u int32, sign int64) {
	for _, i := range x.tasksOf(u) {
		c := &x.cands[i]
		x.gone[i] = sign > 0
		if c.host >= 0 {
			addTo(x.row(x.free, int(c.host)), c.size, sign)
		}
		x.needs.cut(x.short, c, -sign)
	}
	unit := &x.units[u]
	// Hard budgets are bounds like any other. Only soft ones may be passed, at
	// a cost.
	for _, use := range unit.Uses {
		x.used[use.Budget] += sign * use.Count
	}
	for part := range unit.All {
		for _, b := range part.Bounds {
			addTo(x.left[b].Room.Value, part.Size, -sign)
		}
		for _, b := range part.Erodes {
			addTo(x.left[b].Extra, part.Size, -sign)
		}
	}
}

// choose lets a unit go for good.
func (x *partial) choose(u int32) {
	x.move(u, +1)
	x.chosen = append(x.chosen, u)
}

// chooseFound lets the units go that a search has found, if it has and they may.
// The search knows of extra room only what is left of it.
func (x *partial) chooseFound() bool {
	// Into a scratch list, since the bounds decide about all of them together.
	x.picked = x.cover.appendFound(x.picked[:0])
	if !x.cover.found.Found || !x.mayGoTogether(x.picked) {
		return false
	}
	for _, u := range x.picked {
		x.choose(u)
	}
	return true
}

// takeBack takes back all units but for the first ones that went.
func (x *partial) takeBack(before int) {
	for len(x.chosen) > before {
		// The last one first, as it was done.
		last := len(x.chosen) - 1
		x.move(x.chosen[last], -1)
		x.chosen = x.chosen[:last]
	}
}

// mayGo reports whether no task of a unit has gone yet and no bound forbids that
// it goes too.
func (x *partial) mayGo(u int32) bool {
	// A task may be in two units: by itself, and with all of its job.
	for _, i := range x.tasksOf(u) {
		if x.gone[i] {
			return false
		}
	}
	x.move(u, +1)
	kept := x.keeps(&x.units[u])
	x.move(u, -1)
	return kept
}

// mayGoTogether reports whether units may go beside those that have gone.
func (x *partial) mayGoTogether(units []int32) bool {
	// One after another, for each of them alone may be lawful and both not.
	n := 0
	for n < len(units) && x.mayGo(units[n]) {
		x.move(units[n], +1)
		n++
	}
	for i := range n {
		x.move(units[i], -1)
	}
	return n == len(units)
}

// keeps reports whether the bounds of a unit are kept.
func (x *partial) keeps(u *unit) bool {
	for part := range u.All {
		if !keepsAll(x.left, part.Bounds) || !keepsAll(x.left, part.Erodes) {
			return false
		}
	}
	return true
}

// boundsLeft returns what bounds leave, as a search wants them: room that was
// taken out of the extra is no debt there. It is good until a unit goes or comes
// back for good.
//
// A step asks this for every host that it works out, so it looks only at bounds
// with an extra.
func (x *partial) boundsLeft() []cover.Bound {
	for _, i := range x.extras {
		b := &x.left[i]
		for t, extra := range b.Extra {
			x.bounds[i].Extra[t] = extra + min(b.Room.Value.At(t), 0)
		}
	}
	return x.bounds
}

// seat places a member on a host, and unseat takes it away again.
func (x *partial) seat(m, h int32) {
	x.at[m] = h
	addTo(x.row(x.free, int(h)), x.kindAt(m).size, -1)
}

func (x *partial) unseat(m int32) {
	addTo(x.row(x.free, int(x.at[m])), x.kindAt(m).size, +1)
	x.at[m] = -1
}

// seatAll places every member of todo.
func (x *partial) seatAll(at []int32) {
	for m, h := range at {
		x.seat(int32(m), h)
	}
}

// queuesCovered reports whether no queue is short any more.
func (x *partial) queuesCovered() bool {
	for _, v := range x.short {
		if v > 0 {
			return false
		}
	}
	return true
}

// coverQueues lets the cheapest units below a ceiling go that queues need still,
// wherever they run, and reports whether there are enough.
func (x *partial) coverQueues(l ceiling) bool {
	if x.queuesCovered() {
		return true
	}
	x.cover.begin(x.boundsLeft(), x.budgetsLeft())
	x.needQueues()
	for u := range x.units {
		if unit := &x.units[u]; l.admits(&unit.Levels) && x.cover.helps(unit) && x.mayGo(int32(u)) {
			x.cover.offerWithin(int32(u))
		}
	}
	x.cover.run(smallPace)
	return x.chooseFound()
}

// needQueues states what queues need still.
func (x *partial) needQueues() {
	for n := range x.needs.queues {
		x.cover.needQueue(x.row(x.short, n))
	}
}

// chooseAll lets everybody go who may, in an order.
func (x *partial) chooseAll(order []int32) {
	for _, u := range order {
		if x.mayGo(u) {
			x.choose(u)
		}
	}
}
