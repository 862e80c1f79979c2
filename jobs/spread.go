package jobs

// spread is memory for placing members of one kind: how many go on each host
// is all that matters of them.
type spread struct {
	room   []int64 // see capacity
	values []int64 // see distinct

	limit   limit
	most    []int32 // how many members a host can take
	first   []int32 // the ways of a host are ways[first[h]:], for one member and more
	ways    []way
	units   []int32 // of the ways
	order   []int32 // hosts, by what a way costs at least
	lows    []sums  // of each host
	listed  []choiceOfWay
	best    []int32 // hosts with the best ways so far
	table   []way   // see programme
	runs    []int32 // where the ways of each listed host begin
	columns int
}

// spreadOut places members of one kind at the least cost in its parts (a) to
// (f), where that keeps all bounds and is enough for the queues, or else near
// it. It offers what it finds, and reports whether that is proven.
//
// First comes the least highest rank, then the least highest priority; with
// those as limits, for each host and number of members the cheapest victims;
// then a dynamic programme over hosts.
func (d *decision) spreadOut() bool {
	if d.eager {
		return false // members are placed one by one more quickly
	}
	l := noLimit()
	l.plain = true
	if d.capacity(l) == len(d.todo) {
		// Nobody opted out, and no originators: (a) and (b) are 0. Whole jobs
		// need not be looked at, for one more of them costs more than anything
		// below.
		if d.spreadWithin(d.lowestLimit(l, d.reaches)) {
			return true
		}
	} else if d.spreadCostly() {
		return d.wholes == 0
	}
	// Bounds are in the way, and so the limits may have to be wider.
	for _, l.plain = range [...]bool{true, false} {
		if d.carriedWithin(l) {
			d.spreadWithin(d.lowestLimit(l, d.carriedWithin))
			break
		}
	}
	return false
}

// reaches reports whether there are nodes for all members with all gone that a
// limit admits.
func (d *decision) reaches(l limit) bool { return d.capacity(l) == len(d.todo) }

// spreadCostly is spreadOut where opted-out tasks or originators must fall: the
// fewest of them come before rank and priority.
func (d *decision) spreadCostly() bool {
	if !d.programmeWithin(noLimit()) {
		return false
	}
	least := d.result().sums
	return d.spreadWithin(d.lowestLimit(noLimit(), func(l limit) bool {
		if !d.programmeWithin(l) {
			return false
		}
		r := &d.result().sums
		return r.optedOut == least.optedOut && r.originators == least.originators
	}))
}

// carriedWithin reports whether a plan within a limit is one that keeps all
// bounds and is enough for the queues.
func (d *decision) carriedWithin(l limit) bool {
	if !d.programmeWithin(l) {
		return false
	}
	d.begin()
	d.grown.limit = l
	return d.carryOut() && d.coverQueues()
}

// spreadWithin spreads the members out within a limit, and offers the plan
// where what falls keeps all bounds. It reports whether it is enough for the
// queues without any more.
func (d *decision) spreadWithin(l limit) bool {
	if !d.programmeWithin(l) {
		return false
	}
	d.begin()
	d.grown.limit = l
	if !d.carryOut() {
		return false
	}
	covered := d.queuesCovered()
	if !covered && !d.coverQueues() {
		return false
	}
	return d.finish() && covered
}

// programmeWithin works out the dynamic programme within a limit, and reports
// whether all members have a place.
func (d *decision) programmeWithin(l limit) bool {
	if !d.measureWays(l) || !d.listWays() {
		return false
	}
	d.programme()
	return d.result().state == wayFound
}

// carryOut places the members as the programme says, those that come first on
// the hosts that come first, and reports whether what falls keeps all bounds.
func (d *decision) carryOut() bool {
	next := 0
	ok := true
	d.eachChoice(func(c choiceOfWay) {
		for range c.members {
			d.seat(d.sorted[next], c.host)
			next++
		}
		w := d.wayOf(c.host, c.members)
		for _, u := range d.spread.units[w.first:w.last] {
			ok = ok && d.stands(u)
			d.takeUnit(u)
		}
	})
	return ok
}
