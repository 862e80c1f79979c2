package jobs

// grown is memory for plans that are made member by member.
type grown struct {
	limit    limit // of what may fall
	patience int   // how many offers to ask for, for a member
	tight    bool  // of hosts that cost as much, the one with the least room comes first
	kind     int32 // that the offers are for
	offers   []offer
	heap     []int32 // hosts, the one with the least offer first
	units    []int32 // of the offers
	refused  []int32 // hosts that the predicate has refused to the member at hand
	need     []int64
}

// growAll makes plans member by member, the largest members first, on hosts in
// node order where nothing else tells them apart. Where that does not work the
// tightest hosts come first, and then members in the order of the job.
func (d *decision) growAll() {
	d.orderMembers()
	d.grown.tight = false
	found := d.growFrom(d.sorted, true)
	if d.needs.open() && !(found && d.eager) {
		found = d.growFrom(d.sorted, false) || found
	}
	if found || len(d.kinds) == 1 {
		return
	}
	d.grown.tight = true
	if !d.growFrom(d.sorted, true) {
		d.growFrom(d.inOrder, true)
	}
}

// Whether members find places depends little on how many offers are asked for,
// and what they cost does.
const hasty, patient = 4, 32

// growFrom makes a plan member by member in an order, within the lowest limit
// for which that works, and offers it.
func (d *decision) growFrom(order []int32, queuesFirst bool) bool {
	l := noLimit()
	l.plain = true
	d.grown.patience = hasty
	if !d.growWithin(l, order, queuesFirst) {
		l.plain = false
		if !d.growWithin(l, order, queuesFirst) {
			return false
		}
	}
	d.finish()
	if d.eager {
		return true
	}
	l = d.lowestLimit(l, func(l limit) bool { return d.growWithin(l, order, queuesFirst) })
	for _, d.grown.patience = range [...]int{patient, hasty} {
		if d.growWithin(l, order, queuesFirst) && d.finish() {
			d.polish()
			break
		}
	}
	return true
}

// orderMembers leaves the members of todo in d.inOrder, in their order.
func (d *decision) orderMembers() {
	d.inOrder = d.inOrder[:0]
	for m := range d.todo {
		d.inOrder = append(d.inOrder, int32(m))
	}
}

// growWithin places members one after another, each where the least must fall
// for it, within a limit, beside what has fallen for those before. It reports
// whether all members have a place and all queues what they need, which is
// covered first or last.
//
// It is quick and not exact: it never takes a decision back. The cost is
// members times hosts, and a few searches on one host for each member.
func (d *decision) growWithin(l limit, order []int32, queuesFirst bool) bool {
	x := &d.grown
	d.begin()
	x.limit, x.kind = l, -1
	if queuesFirst && !d.coverQueues() {
		return false
	}
	x.refused = x.refused[:0]
	for _, m := range order {
		if d.exhausted() || !d.growOne(m) {
			return false
		}
	}
	return d.coverQueues()
}

// growOne places a member and reports whether it could.
func (d *decision) growOne(m int32) bool {
	x := &d.grown
	if k := d.kindOf[m]; k != x.kind {
		d.collectOffers(k)
	}
	defer d.reconsider()
	for {
		h := d.bestOffer()
		if h < 0 {
			return false
		}
		o := &x.offers[h]
		before := len(d.stand.units)
		for _, u := range x.units[o.first:o.last] {
			d.takeUnit(u)
		}
		d.seat(m, h)
		if d.acceptsGrown(m) {
			d.changedHosts(before, h)
			return true
		}
		d.unseat(m, h, before)
		x.offers[h].refused = true
		x.refused = append(x.refused, h)
		d.settle(h)
	}
}

// acceptsGrown asks the predicate about the member that was placed last. Where
// it does, members are placed in their order.
func (d *decision) acceptsGrown(m int32) bool {
	return !d.asks() || d.accepts(d.stand.at[:m+1], d.stand.units)
}

// unseat takes the last member back, and what fell for it.
func (d *decision) unseat(m, h int32, before int) {
	d.takeBack(before)
	x := &d.stand
	x.at[m] = -1
	addTo(d.row(x.free, int(h)), d.kinds[d.kindOf[m]].size, +1)
}

// changedHosts estimates anew the offers of hosts on which something has
// changed: a member was placed on h, and units have fallen since some were.
func (d *decision) changedHosts(before int, h int32) {
	d.changed(h)
	for _, u := range d.stand.units[before:] {
		for _, i := range d.fallsOf(u) {
			if h := d.cands[i].host; h >= 0 {
				d.changed(h)
			}
		}
	}
}

// exhausted reports whether a decision has taken so many steps that only what
// must be done is done.
func (d *decision) exhausted() bool { return (d.steps-d.before)/64 > d.budget() }

// smallBudget is the steps that one of many searches may take.
func (d *decision) smallBudget() int { return max(d.budget()/16, 1) }
