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

// An area is where members may be placed for now, and who can help there: all, or those of
// one domain.
type area struct {
	domain int32   // or -1
	hosts  []int32 // ascending
	units  []int32 // likewise
}

// openAll makes the area all hosts and units.
func (c *jobCase) openAll() {
	c.area.domain, c.area.hosts, c.area.units = -1, c.every, c.area.units[:0]
	for u := range c.units {
		c.area.units = append(c.area.units, int32(u))
	}
}

// openDomain makes the area the hosts of a domain and the units that can help there: all if a
// queue is short, else those with a task in it. Other members of jobs that go as a whole may be
// anywhere. The cost is linear in both.
func (c *jobCase) openDomain(d int32) {
	a := &c.area
	if a.domain, a.hosts = d, c.domains.hostsOf(d); c.needs.open() {
		return // they are all units already
	}
	a.units = a.units[:0]
	for _, h := range a.hosts {
		a.units = append(a.units, c.unitsOn(h)...)
	}
	slices.Sort(a.units)
	a.units = slices.Compact(a.units)
}

// inArea reports whether a host is one of the area.
func (c *jobCase) inArea(h int32) bool {
	return h >= 0 && (c.area.domain < 0 || c.area.domain == c.domains.of[h])
}
