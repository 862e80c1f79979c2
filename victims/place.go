package victims

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// moment says which amounts count: those of now, or those that will be once
// what is already leaving has gone.
type moment uint8

const (
	present moment = 1 + iota
	coming
)

// place decides without victims where that is possible: the ask fits, it waits
// for what is leaving, or it is in flight. It reports whether it has decided.
// (Section 5, "The decision", step 1.)
func (d *decision) place(dst *Decision) bool {
	if id, held := d.c.LookupGrant(d.ask.Key); held {
		d.inFlight(dst, id)
		return true
	}
	return d.placeAt(dst, present, Fits) || d.leaving() && d.placeAt(dst, coming, Waits)
}

// leaving reports whether anything that the ask wants is leaving anywhere.
func (d *decision) leaving() bool {
	for _, t := range d.types {
		if d.tree.Preempting(queue.Root)[t] > 0 {
			return true
		}
	}
	return false
}

// placeAt places the ask on the first usable node with room at a moment.
func (d *decision) placeAt(dst *Decision, m moment, o Outcome) bool {
	if !d.hasHeadroom(m, queue.Root, nil) {
		return false
	}
	// A node that has room now as well has been asked about.
	asked := m == coming && d.hasHeadroom(present, queue.Root, nil)
	for _, n := range d.nodes {
		if d.hasRoom(n, m, nil) && d.usable(n) && !(asked && d.hasRoom(n, present, nil)) && d.accepts(n, nil) {
			d.placed(dst, n, o)
			return true
		}
	}
	return false
}

func (d *decision) placed(dst *Decision, n NodeID, o Outcome) {
	dst.Outcome = o
	dst.Plan.Node = n
	dst.Plan.Proven = true
	dst.Plan.Cost.Node = d.c.place(n)
}

// inFlight decides for an ask that holds a grant: it starts on its node where
// there is room with the grant taken off, and is refused otherwise. So
// nothing is ever counted twice.
func (d *decision) inFlight(dst *Decision, grant TaskID) {
	n := d.c.tasks[grant].node
	held := d.c.size(grant)
	if d.usable(n) && d.hasRoom(n, present, held) && d.hasHeadroom(present, d.c.tasks[grant].leaf, held) && d.accepts(n, nil) {
		d.placed(dst, n, Fits)
		return
	}
	d.refuse(dst, InFlight)
}

// usable reports whether the ask may run on a node at all: it is schedulable
// and not reserved for another, or it is the one that the ask requires.
func (d *decision) usable(n NodeID) bool {
	if d.required() {
		return n == d.single[0]
	}
	return d.c.open[n] || d.usableAnyway(n)
}

// usableAnyway is usable for the few nodes that are not open to all.
func (d *decision) usableAnyway(n NodeID) bool {
	node := &d.c.nodes[n]
	return (!node.unschedulable || d.relaxed.node(RelaxUnschedulable, n)) &&
		(node.reservedFor == "" || node.reservedFor == d.ask.Key || d.relaxed.node(RelaxReservation, n))
}

// required reports whether the ask can run on one node only.
func (d *decision) required() bool { return d.ask.RequiredNode != "" }

// hasRoom reports whether a node has room for the ask, in the types that the
// ask wants, with held added to what is free.
func (d *decision) hasRoom(n NodeID, m moment, held resources.Vector) bool {
	for _, t := range d.types {
		if d.free(n, t, m)+held.At(t) < d.size[t] {
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
// max, in the types that the ask wants, with held taken off the usage of leaf.
func (d *decision) hasHeadroom(m moment, leaf queue.ID, held resources.Vector) bool {
	for q := range d.tree.Up(d.ask.Queue) {
		most := d.max(q)
		for t := range most.Defined.All() {
			used := d.usage(q, t, m)
			if d.tree.Contains(q, leaf) {
				used -= held.At(t)
			}
			if used+d.size[t] > most.Value[t] {
				return false
			}
		}
	}
	return true
}

// max returns the max of a queue in the types that the ask wants.
func (d *decision) max(q queue.ID) resources.Limit {
	most := d.tree.Max(q)
	most.Defined &= d.wants
	if d.relaxed.queue(RelaxMax, q) {
		most.Defined = 0
	}
	return most
}

// usage returns what a queue uses of type t.
func (d *decision) usage(q queue.ID, t int, m moment) int64 {
	used := d.tree.Usage(q)[t]
	if m == coming {
		used -= d.tree.Preempting(q)[t]
	}
	return used
}

// accepts asks the caller's predicate, if there is one.
func (d *decision) accepts(n NodeID, victims []TaskID) bool {
	if d.p.Predicate == nil || d.p.Predicate(d.ask, n, victims) {
		return true
	}
	d.refusals++
	return false
}

// place returns the place of a node in node order.
func (c *Cluster) place(n NodeID) int { return int(c.nodes[n].seq) }
