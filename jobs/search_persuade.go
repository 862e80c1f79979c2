package jobs

// A persuader looks for a plan that the caller's predicate accepts, after it has
// refused the best one. It is a completer with the predicate in the loop: members
// are placed in the order of the job, for the predicate may tell apart what is
// alike.
type persuader struct {
	trial
	asker    *asker
	finisher *finisher
	clear    *clearer
	refused  bool // a set of victims that is enough
}

// small reports whether all ways to place the members can be looked at.
func (x *persuader) small() bool {
	// As much as a small case without a predicate. In the towns of BenchmarkTowns an
	// eighth of it leads to the same plans and proofs.
	const most = 1 << 14
	ways := 1
	for range x.todo {
		if ways *= max(len(x.hosts), 1); ways > most {
			return false
		}
	}
	return true
}

// complete offers the cheapest plan that the predicate accepts, as far as a
// number of steps goes. It reports whether that is proven: it looked at all that
// could matter, and of no set of victims that is enough it was told that it is
// not.
func (x *persuader) complete(steps int) bool {
	x.begin(steps)
	x.refused = false
	x.descend(0)
	return x.proven && !x.refused
}

// descend places the members todo[i:].
func (x *persuader) descend(i int) {
	if x.enough() {
		return
	}
	if i == len(x.todo) {
		x.settle()
		return
	}
	m := int32(i)
	x.spend(len(x.hosts))
	for h := range int32(len(x.hosts)) {
		if !x.load.mayHost(h, x.kindAt(m)) {
			continue
		}
		if !x.step() {
			return
		}
		x.put(m, h)
		// What it refuses with everybody gone it always refuses, so the branch ends.
		if x.asker.conceives(x.at[:i+1]) && (i+1 == len(x.todo) || x.promising()) {
			x.descend(i + 1)
		}
		x.take(m, h)
	}
}

// settle offers the cheapest plan for the places of the trial that the predicate
// accepts. If it refuses the cheapest victims, these places are tried once more
// with everybody gone who may, and then trimmed.
func (x *persuader) settle() {
	x.solve()
	if !x.cover.found.Found {
		return
	}
	x.chosen = x.cover.appendFound(x.chosen[:0])
	if x.asker.acceptsAll(x.at, x.chosen) {
		x.best.offer(x.at, x.chosen, &x.cover.found.Total)
		return
	}
	// It may have refused for a task that still runs there. Fewer victims will not
	// do then, but more may.
	x.refused = true
	p := x.finisher.partial
	p.begin()
	p.chooseAll(x.clear.sortedUnits(byCost))
	p.seatAll(x.at)
	if x.finisher.covered() && x.asker.acceptsAll(p.at, p.chosen) {
		x.finisher.finish()
	}
}
