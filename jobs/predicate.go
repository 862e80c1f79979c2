package jobs

// asks reports whether the caller's predicate is in the loop. It is where
// members are placed without victims, and after it has refused the best plan.
func (d *decision) asks() bool { return d.p.Predicate != nil && d.picky }

// accepts asks the caller's predicate, if there is one, about the last of the
// members that are placed, with the tasks of some units gone.
func (d *decision) accepts(at []int32, units []int32) bool {
	if d.p.Predicate == nil {
		return true
	}
	p := &d.placing
	p.Victims = p.Victims[:0]
	for _, u := range units {
		for _, c := range d.fallsOf(u) {
			p.Victims = append(p.Victims, d.cands[c].id)
		}
	}
	return d.acceptsLast(at)
}

// acceptsAll asks the predicate about every member in turn.
func (d *decision) acceptsAll(at []int32, units []int32) bool {
	for i := range at {
		if !d.accepts(at[:i+1], units) {
			return false
		}
	}
	return true
}

// conceives asks the predicate about the last of the members that are placed,
// with all gone that could fall: what it refuses then, it refuses always.
func (d *decision) conceives(at []int32) bool {
	p := &d.placing
	p.Victims = p.Victims[:0]
	for i := range d.cands {
		if d.falling[i] {
			p.Victims = append(p.Victims, d.cands[i].id)
		}
	}
	return d.acceptsLast(at)
}

// acceptsLast asks about the last member, with the victims as they are stated.
func (d *decision) acceptsLast(at []int32) bool {
	p := &d.placing
	p.Before = d.placements(p.Before[:0], at)
	last := len(at) - 1
	p.Job, p.Member, p.Node = d.job, d.todo[last], p.Before[last].Node
	p.Before = p.Before[:last]
	if d.p.Predicate(p) {
		return true
	}
	d.refusals++
	return false
}

// persuade looks for a plan that the predicate accepts, after it has refused
// the best one.
func (d *decision) persuade() bool {
	d.best.found = false
	d.picky = true
	d.proven, d.proof = false, ProofNone
	if d.smallPicky() {
		d.completePicky(4 * d.budget())
		return d.best.found
	}
	d.growPicky()
	if steps := d.stepsLeft(); !d.best.found && steps > 0 {
		d.completePicky(steps)
	}
	return d.best.found
}

// smallPicky reports whether all ways to place the members can be looked at,
// where the predicate may tell apart what is alike.
func (d *decision) smallPicky() bool {
	const most = 1 << 14
	ways := 1
	for range d.todo {
		if ways *= max(len(d.hosts), 1); ways > most {
			return false
		}
	}
	return true
}

// completePicky is complete with the predicate in the loop. Members are placed
// in the order of the job. Where a set of victims is refused that is enough, the
// places are tried once more with all gone that may be, and then trimmed.
func (d *decision) completePicky(steps int) {
	d.beginTrial(steps)
	x := &d.trial
	x.refused = false
	d.descendPicky(0)
	if x.proven && !x.refused {
		d.proven, d.proof = true, ProofCost
	}
}

func (d *decision) descendPicky(i int) {
	x := &d.trial
	if d.eager && d.best.found {
		x.proven = false
		return
	}
	if i == len(d.todo) {
		d.settlePicky()
		return
	}
	m := int32(i)
	for h := range int32(len(d.hosts)) {
		if !d.mayHost(h, &d.kinds[d.kindOf[m]]) {
			continue
		}
		if x.steps >= x.budget {
			x.proven = false
			return
		}
		x.steps++
		d.put(m, h)
		if d.conceives(d.at[:i+1]) && (i+1 == len(d.todo) || d.promising()) {
			d.descendPicky(i + 1)
		}
		d.take(m, h)
	}
}

// settlePicky offers the cheapest plan for the places of the trial that the
// predicate accepts, or one that it accepts.
func (d *decision) settlePicky() {
	d.solveTrial()
	x := &d.pose
	if !x.found.Found {
		return
	}
	d.chosen = d.chosen[:0]
	for _, i := range x.found.Units {
		d.chosen = append(d.chosen, x.units[i])
	}
	if d.acceptsAll(d.at, d.chosen) {
		d.offer(d.at, d.chosen, &x.found.Total)
		return
	}
	d.trial.refused = true
	d.begin()
	d.fallAll(byCost)
	for m, h := range d.at {
		d.seat(int32(m), h)
	}
	if d.covered() && d.acceptsAll(d.stand.at, d.stand.units) {
		d.finish()
	}
}

// growPicky makes plans member by member, in the order of the job, and asks the
// predicate about each; and one where all falls that may.
func (d *decision) growPicky() {
	d.orderMembers()
	d.grown.patience, d.grown.tight = patient, false
	if d.growWithin(noLimit(), d.inOrder, true) {
		d.finish()
	}
	if !d.best.found {
		d.clearAll()
	}
}
