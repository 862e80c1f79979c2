// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"encoding/binary"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims"
)

// domains are the groups of nodes of which a job requires one for all of its
// members: racks, if it requires a domain of depth 2 and nodes name block and
// rack. Without such a requirement there are none.
type domains struct {
	list []domain // in the order of their first nodes
	of   []int32  // by host, a place in list
	// hosts are those of each domain, one after another and in node order.
	hosts []int32
	base  int32 // the only domain that is left, for members are placed there; or -1
	// Names stay known from decision to decision, so that looking them up does not
	// allocate; the round tells those of this decision from older ones.
	known map[string]domainName
	round uint64
	key   []byte // scratch of row
}

// A domain is some nodes with the same names up to a depth.
type domain struct {
	node       victims.NodeID // its first node, usable or not
	first, end int32          // its hosts are domains.hosts[first:end]
}

// A domainName is what a name stands for in some decision.
type domainName struct {
	round uint64
	row   int32
}

// begin forgets all domains.
func (x *domains) begin() {
	// The map is kept from decision to decision, and so are its names: to clear
	// it would cost as much as to fill it again.
	if x.known == nil {
		x.known = make(map[string]domainName)
	}
	x.list, x.of, x.round, x.base = x.list[:0], x.of[:0], x.round+1, -1
}

// row returns the domain of a node by its first names, which is added if it is
// new.
func (x *domains) row(names []string, node victims.NodeID) int32 {
	x.key = x.key[:0]
	for _, name := range names { // with their lengths, so that no two lists look alike
		x.key = binary.AppendUvarint(x.key, uint64(len(name)))
		x.key = append(x.key, name...)
	}
	if known, ok := x.known[string(x.key)]; ok && known.round == x.round {
		return known.row
	}
	row := int32(len(x.list))
	x.known[string(x.key)] = domainName{x.round, row}
	x.list = append(x.list, domain{node: node})
	return row
}

// group lists the hosts of each domain.
func (x *domains) group() {
	for i := range x.list {
		x.list[i].end = 0
	}
	// A counting sort of hosts by domain, which keeps node order within each.
	for _, d := range x.of {
		x.list[d].end++
	}
	at := int32(0)
	for i := range x.list {
		d := &x.list[i]
		d.first, d.end, at = at, at, at+d.end
	}
	x.hosts = rows.Zeros(x.hosts, len(x.of))
	for h, d := range x.of {
		x.hosts[x.list[d].end] = int32(h)
		x.list[d].end++
	}
}

// hostsOf returns the hosts of a domain, in node order.
func (x *domains) hostsOf(d int32) []int32 {
	return x.hosts[x.list[d].first:x.list[d].end]
}

// namesOf returns the domain of a node as deep as a job requires it, and false if
// the node is in none.
func (x *domains) namesOf(c *jobCase, n victims.NodeID) (names []string, ok bool) {
	list := c.c.NodeView(n).Domains
	if len(list) < c.job.DomainDepth {
		return nil, false
	}
	return list[:c.job.DomainDepth], true
}

// settle finds the domain that members which have places bind the others to. It
// reports false if no domain can have all members: some are placed in different
// ones, or in none, or no node is in one.
func (x *domains) settle(c *jobCase) bool {
	if c.job.DomainDepth == 0 {
		return true
	}
	var common []string
	for i := range c.job.Members {
		id, placed := lookup(c.c, c.job.Members[i].Key)
		// Who is leaving binds nobody: the others may go elsewhere by then.
		if !placed || isLeaving(c.c.State(id)) {
			continue
		}
		node := c.c.NodeOf(id)
		names, ok := x.namesOf(c, node)
		if !ok || common != nil && !slices.Equal(names, common) {
			return false
		}
		common, x.base = names, x.row(names, node)
	}
	return len(x.list) > 0
}

// each calls f with every domain that the members may be placed in, until it
// returns true, and reports whether it did.
func (x *domains) each(f func(d int32) bool) bool {
	for d := range int32(len(x.list)) {
		if (x.base < 0 || x.base == d) && f(d) {
			return true
		}
	}
	return false
}

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
	s.supply.tasks = supply.tasks[:0]
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
			g := s.full.grades[i]
			g.host = cand.host
			s.grades = append(s.grades, g)
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
func grow(s []int32, n int) []int32 { return rows.More(s, max(n-len(s), 0)) }
