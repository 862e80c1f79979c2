package jobs

// wire tells every engine the case that it reads and the parts that it shares
// with others. Nothing else connects them.
func (s *search) wire(c *jobCase, e *effort, p *Planner) {
	s.jobCase, s.effort, s.quick = c, e, p.quick
	s.best.jobCase, s.load.jobCase, s.room.jobCase, s.ceilings.jobCase = c, c, c, c
	s.asker.jobCase, s.asker.predicate = c, p.Predicate
	s.cover.jobCase, s.cover.effort = c, e

	s.partial.jobCase, s.partial.effort, s.partial.cover = c, e, &s.cover
	f := &s.finisher
	f.jobCase, f.effort, f.partial, f.asker, f.best = c, e, &s.partial, &s.asker, &s.best
	f.load.jobCase = c

	s.pack.jobCase, s.pack.effort, s.pack.asker = c, e, &s.asker
	s.spread.wire(s)
	s.grow.wire(s)
	s.clear = clearer{jobCase: c, finisher: f, pack: &s.pack, order: s.clear.order} // memory stays
	s.stow.jobCase, s.stow.effort, s.stow.partial, s.stow.finisher = c, e, &s.partial, f
	s.pool.jobCase, s.pool.ceilings = c, &s.ceilings
	s.all.wire(s)
	s.persuader.trial.wire(s)
	s.persuader.asker, s.persuader.finisher, s.persuader.clear = &s.asker, f, &s.clear
}

func (x *spreader) wire(s *search) {
	x.jobCase, x.effort, x.cover, x.room = s.jobCase, s.effort, &s.cover, &s.room
	x.ceilings, x.partial, x.finisher = &s.ceilings, &s.partial, &s.finisher
}

func (x *grower) wire(s *search) {
	x.jobCase, x.effort, x.cover, x.room = s.jobCase, s.effort, &s.cover, &s.room
	x.offers.partial, x.ceilings, x.finisher = &s.partial, &s.ceilings, &s.finisher
}

func (x *trial) wire(s *search) {
	x.jobCase, x.effort, x.cover, x.best = s.jobCase, s.effort, &s.cover, &s.best
	x.load.jobCase = s.jobCase
}
