// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// place decides without victims if that is possible: the ask fits, it waits
// for what is leaving, or it is in flight. It reports whether it has decided.
func (d *decision) place(dst *Decision) bool {
	d.trial.reset()
	// What it holds is its place, and another one would be a second.
	if id, held := d.c.LookupGrant(d.ask.Key); held {
		d.inFlight(dst, id)
		return true
	}
	return d.placeAt(dst, present, Fits) || d.leaving() && d.placeAt(dst, coming, Waits)
}

// leaving reports whether anything that the ask may wait for is leaving.
func (d *decision) leaving() bool {
	if d.p.Blockers != nil {
		return true // what blocks may have no amounts
	}
	// A predicate may wait for anything to leave, wanted or not: ports, disks,
	// neighbours.
	types := d.wants
	if d.p.Predicate != nil {
		types = resources.Positive(d.tree.Leaving(queue.Root))
	}
	for t := range types.All() {
		if d.tree.Leaving(queue.Root)[t] > 0 {
			return true
		}
	}
	return false
}

// placeAt places the ask on the first usable node with room at a moment.
func (d *decision) placeAt(dst *Decision, m moment, o Outcome) bool {
	if !d.hasHeadroom(m, nil) {
		return false
	}
	// A node that has room now as well has been asked about, and nothing will be
	// different there if nothing leaves it.
	asked := m == coming && d.hasHeadroom(present, nil)
	free := d.c.present
	if m == coming {
		free = d.c.coming
	}
	for _, n := range d.nodes {
		if !d.fits(free, n) || !d.usable(n) || asked && d.fits(d.c.present, n) && !d.changes(n) {
			continue
		}
		// The caller's functions last, and in the order in which DESIGN.md
		// lists them.
		if d.passes(n) && d.unblocked(n, m) && d.accepts(n, nil, m) {
			d.placed(dst, n, o)
			return true
		}
	}
	return false
}

// fits reports whether a node has room for the ask, in the types that the ask
// wants, by what is free. It is asked about all nodes.
func (d *decision) fits(free []int64, n NodeID) bool {
	row := free[int(n)*d.c.types:]
	for _, t := range d.types {
		if row[t] < d.size[t] {
			return false
		}
	}
	return true
}

// changes reports whether a node will be another one for the caller's functions
// once what is leaving has gone.
func (d *decision) changes(n NodeID) bool {
	return d.p.Blockers != nil || !slices.Equal(d.c.row(d.c.present, n), d.c.row(d.c.coming, n))
}

func (d *decision) placed(dst *Decision, n NodeID, o Outcome) {
	dst.Outcome = o
	p := &dst.Plan
	p.Proof = ProofCost
	d.seat(p, n)
	p.Cost.NodePenalty, p.Cost.Node = d.c.rankOf(n), d.c.place(n)
}

// inFlight decides for an ask that holds a grant. It starts on its node if
// there is room with its grant, and those given there after it, taken off, and
// nobody who blocks it is left. So two asks on one node never wait for each
// other's victims, and nothing is counted twice. Filter, schedulable and
// reserved were asked when the grant was given. On a closed node nothing starts.
// (DESIGN.md, The decision.)
func (d *decision) inFlight(dst *Decision, grant TaskID) {
	n := d.c.tasks[grant].node
	// Later grants on the node do not stand in its way, as if it had started
	// first.
	held := d.c.grantsFrom(d.scratch.taken[:0], grant)
	d.scratch.taken = held
	if !d.c.nodes[n].closed() && d.hasRoom(n, present, held) && d.hasHeadroom(present, held) && d.blocks.gone(d, n, held) && d.accepts(n, nil, present) {
		d.placed(dst, n, Fits)
		return
	}
	d.refuse(dst, InFlight)
	dst.Refusal.WaitsFor = d.waitsFor(dst.Refusal.WaitsFor[:0], n, held)
	d.help(dst)
}

// waitsFor lists the tasks that a granted ask still waits for: those leaving on
// its node, or below a queue whose max is short, and those that block the node.
func (d *decision) waitsFor(dst []string, n NodeID, held []TaskID) []string {
	for _, id := range d.c.nodes[n].tasks {
		if r := &d.c.tasks[id]; r.state.leaving() {
			dst = append(dst, r.key)
		}
	}
	if d.p.Blockers != nil {
		// What blocks it may be anywhere on the node and of any size.
		d.blocks.ask(d, n)
		for _, id := range d.blocks.named {
			if r := &d.c.tasks[id]; r.state != Granted {
				dst = append(dst, r.key)
			}
		}
	}
	for q := range d.tree.Ancestors(d.ask.Queue) {
		if d.queueHasRoom(q, present, held) {
			continue
		}
		for w := range d.tree.Leaves(q) {
			for _, id := range d.c.leaves[w] {
				// Those on the node are listed already.
				if r := &d.c.tasks[id]; r.state.leaving() && r.node != n {
					dst = append(dst, r.key)
				}
			}
		}
	}
	slices.SortFunc(dst, strings.Compare)
	return slices.Compact(dst)
}

// usable reports whether the ask may run on a node at all, by what the cluster
// knows: it is schedulable and not reserved for another, or it is the one that
// the ask requires.
func (d *decision) usable(n NodeID) bool {
	// The list of open nodes is dense: one byte per node decides for nearly
	// all.
	return int(n) < len(d.filter.open) && d.filter.open[n] || d.usableAnyway(n)
}

// usableAnyway is usable for the few nodes that are not open to all.
func (d *decision) usableAnyway(n NodeID) bool {
	if d.required() {
		return len(d.nodes) > 0 && n == d.nodes[0]
	}
	node := &d.c.nodes[n]
	return node.live && !node.closed() && (!node.unschedulable || d.without.isAt(rulebook.RelaxUnschedulable, n)) &&
		(node.reservedFor == "" || node.reservedFor == d.ask.Key || d.without.isAt(rulebook.RelaxReservation, n))
}

// hasRoom reports whether a node has room for the ask, in the types that the
// ask wants, with what is held added to what is free.
func (d *decision) hasRoom(n NodeID, m moment, held []TaskID) bool {
	for _, t := range d.types {
		free := d.free(n, t, m)
		for _, id := range held {
			free += d.c.size(id)[t]
		}
		if free < d.size[t] {
			return false
		}
	}
	return true
}

// free returns what is free of type t on a node.
func (d *decision) free(n NodeID, t int, m moment) int64 {
	if m == coming {
		return d.c.coming[int(n)*d.c.types+t]
	}
	return d.c.present[int(n)*d.c.types+t]
}

// hasHeadroom reports whether no queue on the path of the ask would pass its
// max, in the types that the ask wants, with what is held taken off usage.
func (d *decision) hasHeadroom(m moment, held []TaskID) bool {
	for q := range d.tree.Ancestors(d.ask.Queue) {
		if !d.queueHasRoom(q, m, held) {
			return false
		}
	}
	return true
}

// queueHasRoom is hasHeadroom for one queue of the path.
func (d *decision) queueHasRoom(q queue.ID, m moment, held []TaskID) bool {
	most := d.max(q)
	for t := range most.Defined.All() {
		// Grants are usage. An ask must not be kept out by its own.
		used := usageAt(d.tree, q, t, m)
		for _, id := range held {
			if d.tree.Contains(q, d.c.tasks[id].leaf) {
				used -= d.c.size(id)[t]
			}
		}
		if used+d.size[t] > most.Value[t] {
			return false
		}
	}
	return true
}

// accepts asks the caller's predicate, if there is one.
func (d *decision) accepts(n NodeID, victims []TaskID, m moment) bool {
	if d.p.Predicate == nil {
		return true
	}
	// In memory of the decision, for what goes to a function of the caller
	// would be allocated anew each time.
	q := &d.question
	q.Node, q.Victims, q.AfterVictims = n, append(q.Victims[:0], victims...), m == coming
	if d.p.Predicate(q) {
		return true
	}
	d.trial.refusals++
	return false
}

// max returns the max of a queue in the types that the ask wants.
func (d *decision) max(q queue.ID) resources.Limit {
	most := d.tree.Max(q)
	// A queue over its max in a type that nobody asked for is no reason to
	// refuse.
	most.Defined &= d.wants
	if d.without.isOf(rulebook.RelaxMax, q) {
		most.Defined = 0
	}
	return most
}

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
func (d *decision) elsewhere() site { return site{node: noNode, short: d.scratch.none} }

// nodeNeed sets dst to what a node lacks for the ask once what is leaving has
// gone, in the types that the ask wants, and returns the types.
func (d *decision) nodeNeed(dst resources.Vector, n NodeID) resources.Mask {
	var short resources.Mask
	clear(dst)
	free := d.c.row(d.c.coming, n)
	for _, t := range d.types {
		if lack := d.size[t] - free[t]; lack > 0 {
			dst[t] = lack
			short |= 1 << t
		}
	}
	return short
}

// A nodeFilter knows where the ask may run. It remembers what the caller's filter
// said of each node, so that it is asked at most once.
type nodeFilter struct {
	said []filtered // by node
	open []bool     // by node: it takes any ask, by what the cluster knows; nil if one is required

	until time.Time // when the first refusal ends; zero: none does
}

type filtered uint8

const (
	notAsked filtered = iota
	passed
	refused
)

func (f *nodeFilter) reset(nodes int) { f.said, f.until = rows.Zeros(f.said, nodes), time.Time{} }

// passes reports whether the caller's filter lets the ask run on a node.
func (d *decision) passes(n NodeID) bool { return d.p.Filter == nil || d.lets(n) }

// lets asks the filter, unless it has answered already.
func (d *decision) lets(n NodeID) bool {
	said := &d.filter.said[n]
	if *said == notAsked {
		*said = refused
		q := &d.question
		if q.Node, q.Until = n, (time.Time{}); d.p.Filter(q) {
			*said = passed
		} else {
			d.filter.until = eligible.Sooner(d.filter.until, q.Until, d.now)
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
func (b *blockers) ask(d *decision, n NodeID) {
	d.question.Node = n
	b.named = d.p.Blockers(b.named[:0], &d.question)
}

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
