package victims

import (
	"slices"
	"strings"

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
		types = resources.Positive(d.tree.Preempting(queue.Root))
	}
	for t := range types.All() {
		if d.tree.Preempting(queue.Root)[t] > 0 {
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
	p.Node, p.Place, p.Proof = n, d.c.nodes[n].name, ProofCost
	p.Cost.NodeRank, p.Cost.Node = d.c.rankOf(n), d.c.place(n)
}

// inFlight decides for an ask that holds a grant. It starts on its node if
// there is room with its grant, and those given there after it, taken off, and
// nobody who blocks it is left. So two asks on one node never wait for each
// other's victims, and nothing is counted twice. Filter, schedulable and
// reserved were asked when the grant was given. (DESIGN.md, The decision.)
func (d *decision) inFlight(dst *Decision, grant TaskID) {
	n := d.c.tasks[grant].node
	// Later grants on the node do not stand in its way, as if it had started
	// first.
	held := d.c.grantsFrom(d.scratch.taken[:0], grant)
	d.scratch.taken = held
	if d.hasRoom(n, present, held) && d.hasHeadroom(present, held) && d.blocks.gone(d, n, held) && d.accepts(n, nil, present) {
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
	for q := range d.tree.Up(d.ask.Queue) {
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
	return node.live && !node.closed() && (!node.unschedulable || d.without.node(RelaxUnschedulable, n)) &&
		(node.reservedFor == "" || node.reservedFor == d.ask.Key || d.without.node(RelaxReservation, n))
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
	for q := range d.tree.Up(d.ask.Queue) {
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
	d.heard.question = Placing{Ask: d.ask, Node: n, Victims: victims, Moment: Present}
	if m == coming {
		d.heard.question.Moment = Coming
	}
	if d.p.Predicate(&d.heard.question) {
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
	if d.without.queue(RelaxMax, q) {
		most.Defined = 0
	}
	return most
}
