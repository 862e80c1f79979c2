package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A site is a node as an ask sees it: what it lacks and who blocks it. It is
// good until the next one is looked at.
type site struct {
	node     NodeID
	short    resources.Vector // what is lacking once what is leaving has gone
	mask     resources.Mask   // the types of it
	blockers []TaskID         // running tasks that must go, whatever the amounts
	out      bool             // a grant blocks it: nobody's victim, and it does not leave
}

// roomy reports whether the node needs nothing and nobody to go.
func (s *site) roomy() bool { return s.mask == 0 && len(s.blockers) == 0 }

// siteOf looks at a node, and asks who blocks it.
func (d *decision) siteOf(n NodeID) site {
	s := site{node: n, short: d.scratch.short}
	s.mask = d.nodeNeed(s.short, n)
	s.blockers, s.out = d.blocks.running(d, n)
	return s
}

// elsewhere is a site for what is on no node in particular.
func (d *decision) elsewhere() site { return site{node: -1, short: d.scratch.none} }

// nodeNeed sets dst to what a node lacks for the ask once what is leaving has
// gone, in the types that the ask wants, and returns the types.
func (d *decision) nodeNeed(dst resources.Vector, n NodeID) resources.Mask {
	var short resources.Mask
	clear(dst)
	free := d.c.row(d.c.coming, n)
	for _, t := range d.types {
		if lack := d.size[t] - free[t]; lack > 0 {
			dst[t] = lack
			short = short.With(t)
		}
	}
	return short
}

// A nodeFilter knows where the ask may run. It remembers what the caller's filter
// said of each node, so that it is asked at most once.
type nodeFilter struct {
	said []filtered // by node
	open []bool     // by node: it takes any ask, by what the cluster knows; nil if one is required
}

type filtered uint8

const (
	notAsked filtered = iota
	passed
	refused
)

func (f *nodeFilter) reset(nodes int) { f.said = rows.Zeros(f.said, nodes) }

// passes reports whether the caller's filter lets the ask run on a node.
func (d *decision) passes(n NodeID) bool { return d.p.Filter == nil || d.lets(n) }

// lets asks the filter, unless it has answered already.
func (d *decision) lets(n NodeID) bool {
	said := &d.filter.said[n]
	if *said == notAsked {
		*said = refused
		if d.p.Filter(d.ask, n) {
			*said = passed
		}
	}
	return *said == passed
}

// blockers asks the caller who blocks a node, and keeps the memory for it.
type blockers struct {
	named []TaskID // as the caller names them
	stay  []TaskID // those of them that run and are not leaving
}

// running returns the running tasks that block a node, each once, and whether a
// grant does. What is leaving is waited for and hinders nothing.
func (b *blockers) running(d *decision, n NodeID) (stay []TaskID, out bool) {
	if d.p.Blockers == nil {
		return nil, false
	}
	b.ask(d, n)
	b.stay = b.stay[:0]
	for _, id := range b.named {
		switch d.c.tasks[id].state {
		case Granted:
			out = out || d.c.tasks[id].key != d.ask.Key
		case Running:
			if !slices.Contains(b.stay, id) {
				b.stay = append(b.stay, id)
			}
		}
	}
	return b.stay, out
}

// ask has the caller name who blocks a node.
func (b *blockers) ask(d *decision, n NodeID) { b.named = d.p.Blockers(b.named[:0], d.ask, n) }

// unblocked reports whether nobody blocks a node at a moment.
func (d *decision) unblocked(n NodeID, m moment) bool {
	if m == present {
		return d.blocks.gone(d, n, nil)
	}
	stay, out := d.blocks.running(d, n)
	return len(stay) == 0 && !out
}

// gone reports whether nobody blocks a node as things are, but for grants that
// are held.
func (b *blockers) gone(d *decision, n NodeID, held []TaskID) bool {
	if d.p.Blockers == nil {
		return true
	}
	b.ask(d, n)
	for _, id := range b.named {
		if !slices.Contains(held, id) {
			return false
		}
	}
	return true
}
