package jobs

// A grower makes plans member by member, each where the least must go for it. It
// is quick and not exact: it never takes a decision back. It is the engine for
// members of several sizes, and for cases in which bounds keep the spreader from
// its plan.
type grower struct {
	offers
	ceilings *ceilings
	finisher *finisher
	refused  []int32 // hosts that the predicate has refused to the member at hand
	inOrder  []int32 // places in todo
}

// growAll makes plans with the largest members first, on hosts in node order if
// nothing else tells them apart. If that does not work the tightest hosts come
// first, and then members in the order of the job.
func (x *grower) growAll() {
	x.tight, x.queuesFirst = false, true
	found := x.growFrom(x.sorted)
	if x.needs.open() && !(found && x.eager) {
		x.queuesFirst = false
		found = x.growFrom(x.sorted) || found
	}
	if found || len(x.kinds) == 1 {
		return
	}
	x.tight, x.queuesFirst = true, true
	if !x.growFrom(x.sorted) {
		x.growFrom(x.asGiven())
	}
}

// How many offers to ask for, for a member. Whether members find places depends
// little on it, and what they cost does: so it is few while the ceiling is
// looked for, and more below it.
//
// In the full clusters of BenchmarkTowns half of hasty saves up to 23 % of the steps,
// twice takes up to 1.5 times as many, and some plans have other victims. Half of
// patient stops 17 more of 664 in clusters of 64 nodes; twice changes nothing.
const hasty, patient = 4, 32

// growFrom makes a plan member by member in an order, below the lowest ceiling
// for which that works, and offers it.
func (x *grower) growFrom(order []int32) bool {
	l := noCeiling()
	l.plain = true
	x.patience = hasty
	if !x.growBelow(l, order) {
		l.plain = false
		if !x.growBelow(l, order) {
			return false
		}
	}
	// A plan is offered before a lower ceiling is looked for: if steps run out
	// there is at least this one.
	x.finisher.finish()
	if x.eager {
		return true
	}
	// That a ceiling works for this engine is not monotone, for it takes no step
	// back. The search by halves may miss the lowest one, and what it ends with
	// may not work with more patience: then the less patient way is kept.
	l = x.ceilings.lowest(l, func(l ceiling) bool { return x.growBelow(l, order) })
	for _, x.patience = range [...]int{patient, hasty} {
		if x.growBelow(l, order) && x.finisher.finish() {
			x.finisher.polish()
			break
		}
	}
	return true
}

// asGiven returns the members of todo in the order of the job.
func (x *grower) asGiven() []int32 {
	x.inOrder = x.inOrder[:0]
	for m := range x.todo {
		x.inOrder = append(x.inOrder, int32(m))
	}
	return x.inOrder
}

// growPatiently makes one plan in the order of the job, without a ceiling, for a
// predicate that is in the loop.
func (x *grower) growPatiently() {
	x.patience, x.tight, x.queuesFirst = patient, false, true
	if x.growBelow(noCeiling(), x.asGiven()) {
		x.finisher.finish()
	}
}

// growBelow places members one after another, each where the least must go for
// it below a ceiling, beside those who have gone before. It reports whether all
// members have a place and all queues what they need.
//
// The cost is members times hosts, and a few searches on one host for each
// member.
func (x *grower) growBelow(l ceiling, order []int32) bool {
	p := x.partial
	p.begin()
	x.ceiling, x.kind = l, nil
	if x.queuesFirst && !p.coverQueues(l) {
		return false
	}
	x.refused = x.refused[:0]
	for _, m := range order {
		if x.exhausted() || !x.growOne(m) {
			return false
		}
	}
	return p.coverQueues(l)
}

// growOne places a member and reports whether it could.
func (x *grower) growOne(m int32) bool {
	// Members of a kind follow each other, so offers are collected anew for each
	// kind and not for each member.
	if k := x.kindAt(m); k != x.kind {
		x.collect(k)
	}
	defer x.reconsider()
	p := x.partial
	for {
		h := x.cheapest()
		if h < 0 {
			return false
		}
		before := len(p.chosen)
		for _, u := range x.unitsOf(h) {
			p.choose(u)
		}
		p.seat(m, h)
		if x.accepted(m) {
			x.changed(before, h)
			return true
		}
		// The offers of other hosts were not touched, so they need no new estimate:
		// all is as it was before.
		p.takeBack(before)
		p.unseat(m)
		x.refuse(h)
		x.refused = append(x.refused, h)
	}
}

// accepted asks the predicate about the member that was placed last. If there is
// one in the loop, members are placed in their order.
func (x *grower) accepted(m int32) bool {
	asker := x.finisher.asker
	return !asker.asks() || asker.accepts(x.partial.at[:m+1], x.partial.chosen)
}

// reconsider forgets what the predicate has refused to the member at hand.
func (x *grower) reconsider() {
	for _, h := range x.refused {
		x.list[h].refused = false
		x.settle(h)
	}
	x.refused = x.refused[:0]
}

// changed estimates anew the offers of hosts on which something has changed: a
// member was placed on h, and units have gone since some had.
func (x *grower) changed(before int, h int32) {
	x.renew(h)
	for _, u := range x.partial.chosen[before:] {
		for _, i := range x.tasksOf(u) {
			if h := x.cands[i].host; h >= 0 {
				x.renew(h)
			}
		}
	}
}
