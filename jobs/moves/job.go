// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"iter"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// aloneForJob tries, in one domain after the other, to make room for each member by moves
// alone.
func (w *way) aloneForJob() error {
	w.proven = false
	for _, area := range w.areas() {
		p := w.packing()
		aside := w.meter.Left / 4 // for the decision
		w.meter.Left -= aside
		settled := w.settle(area, p)
		if w.meter.Left += aside; !settled {
			continue
		}
		if _, err := w.attempt(0, p.moves); err != nil || w.meter.Over() {
			return err
		}
	}
	return nil
}

// areas lists the nodes of each domain of the job's depth: all are in one of depth 0.
func (w *way) areas() (areas [][]victims.NodeID) {
	rows := map[string]int{}
	for n := range w.c.Nodes() {
		d := w.c.NodeView(n).Domains
		if len(d) < w.domain {
			continue
		}
		name := strings.Join(d[:w.domain], "\x00")
		if _, known := rows[name]; !known {
			rows[name] = len(areas)
			areas = append(areas, nil)
		}
		areas[rows[name]] = append(areas[rows[name]], n)
	}
	return areas
}

// listHosts appends those of some nodes that take a member.
func (s *search) listHosts(dst []victims.NodeID, nodes iter.Seq[victims.NodeID], m *member) []victims.NodeID {
	for n := range nodes {
		if s.meter.Pay(hostWork); s.meter.Over() {
			break
		}
		if s.takes(n, m) {
			dst = append(dst, n)
		}
	}
	return dst
}

// settle gives each member a node of an area: the first with room, or one that is cheap to
// clear. Nodes are listed once for members that are alike.
func (s *search) settle(area []victims.NodeID, p *packing) bool {
	roomy := 0 // hosts before it have no room
	listed := false
	for i := range s.members {
		m := &s.members[i]
		if i == 0 || !m.alike(&s.members[i-1]) {
			s.hosts = s.listHosts(s.hosts[:0], slices.Values(area), m)
			roomy, listed = 0, false
		}
		for ; roomy < len(s.hosts) && s.lack(s.hosts[roomy], m, p) != nil; roomy++ {
			s.meter.Pay(hostWork)
		}
		if roomy < len(s.hosts) {
			p.seat(s.hosts[roomy], m.size)
			continue
		}
		if !listed {
			s.listNear(s.hosts, m, p)
			listed = true
		}
		sets := s.sets(m, p, 1+len(s.members)-i)
		if len(sets) == 0 {
			return false
		}
		p.put(sets[0].moves)
		p.seat(sets[0].node, m.size)
	}
	return true
}

// alike reports whether two members differ in nothing that matters.
func (m *member) alike(o *member) bool { return m.class == o.class && resources.Equal(m.size, o.size) }
