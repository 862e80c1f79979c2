package jobs

import "slices"

// A subCase is what is left of a case if members may be placed in one domain
// only: its hosts, and the units that can help there. Victims for headroom, and
// other members of jobs that go as a whole, may be anywhere; they are on no host
// then.
type subCase struct {
	jobCase
	full     *jobCase
	domain   int32
	unitRows []int32 // the rows of units in the full case
	hostRows []int32 // likewise of hosts
	candRows []int32 // likewise of candidates

	// By row of the full case: the row here and one, or 0.
	hostAt, unitAt, candAt []int32
}

// enter makes the case that of a domain. The cost is linear in the hosts and
// units of the domain; if a queue is short, in all units.
func (s *subCase) enter(full *jobCase, d int32) {
	site, supply := s.site, s.supply
	s.leave()
	// All of the full case is taken over by value, and then what differs is put
	// into the memory that the sub-case had for it. What is shared is only read:
	// the bounds, the needs, the filter's answers.
	s.jobCase = *full
	s.full, s.domain, s.domains = full, d, domains{}
	s.site.hosts, s.site.onHost = site.hosts[:0], site.onHost[:0]
	s.supply.cands, s.supply.grades, s.supply.units = supply.cands[:0], supply.grades[:0], supply.units[:0]
	s.supply.tasks, s.supply.usable = supply.tasks[:0], supply.usable[:0]
	s.hostAt, s.unitAt, s.candAt = grow(s.hostAt, len(full.hosts)), grow(s.unitAt, len(full.units)), grow(s.candAt, len(full.cands))

	s.hostRows = append(s.hostRows, full.domains.hostsOf(d)...)
	// Rows and one, so that the zero of new memory means none. leave puts back
	// only what was set: a domain is small, and the case may be large.
	for i, h := range s.hostRows {
		s.hostAt[h] = int32(i) + 1
	}
	s.pickUnits()
	s.wholes = 0
	for i, u := range s.unitRows {
		s.unitAt[u] = int32(i) + 1
		s.addUnitOf(u)
	}
	for _, h := range s.hostRows {
		host := full.hosts[h]
		from := int32(len(s.onHost))
		for _, u := range full.unitsOn(h) {
			s.onHost = append(s.onHost, s.unitAt[u]-1)
		}
		host.first, host.end = from, int32(len(s.onHost))
		s.hosts = append(s.hosts, host)
	}
}

// leave clears what was noted by row of the last case.
func (s *subCase) leave() {
	for _, h := range s.hostRows {
		s.hostAt[h] = 0
	}
	for _, u := range s.unitRows {
		s.unitAt[u] = 0
	}
	for _, i := range s.candRows {
		s.candAt[i] = 0
	}
	s.hostRows, s.unitRows, s.candRows = s.hostRows[:0], s.unitRows[:0], s.candRows[:0]
}

// pickUnits finds the units that can help: all if a queue is short, else those
// with a task in the domain.
func (s *subCase) pickUnits() {
	if s.needs.open() {
		for u := range s.full.units {
			s.unitRows = append(s.unitRows, int32(u))
		}
		return
	}
	for _, h := range s.hostRows {
		s.unitRows = append(s.unitRows, s.full.unitsOn(h)...)
	}
	slices.Sort(s.unitRows)
	s.unitRows = slices.Compact(s.unitRows)
}

// addUnitOf adds a unit of the full case with its candidates.
func (s *subCase) addUnitOf(u int32) {
	unit := s.full.units[u]
	from := int32(len(s.tasks))
	for _, i := range s.full.tasksOf(u) {
		if s.candAt[i] == 0 {
			cand := s.full.cands[i]
			if cand.host >= 0 {
				cand.host = s.hostAt[cand.host] - 1 // -1 outside the domain
			}
			s.cands = append(s.cands, cand)
			s.grades = append(s.grades, gradeOf(&cand))
			s.usable, s.grades[len(s.grades)-1].usable = append(s.usable, true), true
			s.candAt[i] = int32(len(s.cands))
			s.candRows = append(s.candRows, i)
		}
		s.tasks = append(s.tasks, s.candAt[i]-1)
	}
	unit.first, unit.end = from, int32(len(s.tasks))
	s.units = append(s.units, unit)
	if unit.whole {
		s.wholes++
	}
}

// grow returns s with n elements at least; new ones are 0.
func grow(s []int32, n int) []int32 {
	if n <= len(s) {
		return s
	}
	return append(s, make([]int32, n-len(s))...)
}
