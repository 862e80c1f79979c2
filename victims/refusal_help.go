package victims

import (
	"slices"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
)

// help says what would help after a refusal. An answer other than a refusal needs a
// place as things are, or a plan. So what is named is what could bring a place,
// and what could undo the reason why there is no plan. (DESIGN.md, What would help.)
func (d refuser) help(dst *Decision) {
	if d.without.Rule != 0 {
		return // a trial of Explain: only the outcome is read
	}
	r := &dst.Refusal
	h := &r.Help
	h.Time = !r.RetryAt.IsZero() || !r.Proven
	switch {
	case r.Reason == UnknownNode:
		h.Node = d.ask.RequiredNode
		return
	case !r.Proven, d.p.Predicate != nil, r.Reason == NoVictims && d.p.Minimum != nil, d.mayTakeOwn(dst):
		// A predicate may look at anything. A gang may go as a whole once a member that
		// could not go is no more. And with the option of the own leaf, law 2 lets
		// go more if less is used.
		h.Anything(d.c)
		return
	}
	switch r.Reason {
	case OverMax, HeadroomInside: // so that it neither fits nor waits
		h.Less, h.Bounds = append(h.Less, r.Queue), true
	case NoVictims:
		d.helpVictims(r)
	default:
		d.helpPlace(h)
		d.helpTrigger(r)
	}
}

// helpTrigger names what could let an ask look for victims that must not.
func (d refuser) helpTrigger(r *Refusal) {
	h := &r.Help
	switch r.Reason {
	case TooEarly:
		h.Policies = true
	case NotGuaranteed:
		h.Bounds = true
	case OverGuarantee:
		h.Bounds = true
		if !slices.Contains(h.Less, r.Queue) {
			h.Less = append(h.Less, r.Queue)
		}
	case NothingInReach: // a guarantee says what is inside the starving queue
		h.Bounds, h.Policies = true, true
	}
}

// helpPlace names what could make the ask fit, or wait: less usage of a queue that
// has no headroom for it, and else room on a node. Of two that are both
// necessary one is enough to name.
func (d refuser) helpPlace(h *Help) {
	moment, held := coming, d.scratch.taken[:0]
	node := d.ask.RequiredNode
	if id, holds := d.c.LookupGrant(d.ask.Key); holds {
		moment, held = present, d.c.grantsFrom(held, id)
		d.scratch.taken = held
		node = d.c.nodes[d.c.tasks[id].node].name
	}
	for q := range d.tree.Up(d.ask.Queue) {
		if !d.queueHasRoom(q, moment, held) {
			h.Less, h.Bounds = append(h.Less, q), true
			return
		}
	}
	h.Node, h.AnyNode, h.Labels = node, node == "", true
}

// helpVictims names what could give a lawful set of victims. A task that comes is
// of no help by itself: to stop it gives back no more than it has taken. But others
// of its queues may go then, if law 2 is what keeps them. Who is exempt now counts as
// one who may go: its time may pass unnoticed, if that alone does not help.
func (d refuser) helpVictims(r *Refusal) {
	h := &r.Help
	h.Bounds, h.Policies, h.Priorities = true, !d.required(), true
	h.Less = append(h.Less, d.needs.queues...)
	if !d.headroomAlone() {
		h.Node, h.AnyNode, h.Labels = d.ask.RequiredNode, !d.required(), true
	}
	switch {
	case len(d.c.grants) > 0: // a grant that starts may be a victim
		h.More = append(h.More, queue.Root)
	case r.Candidates+r.Counts[RuleExempt]+r.Counts[RuleGuarantee] > 0 && !d.required():
		h.More = append(h.More, d.mostAbove())
	}
}

// headroomAlone reports whether headroom is lacking whatever the node: for some
// node has room for the ask as soon as what is leaving has gone.
func (d refuser) headroomAlone() bool {
	return d.needs.open() && !d.required() && d.p.Blockers == nil && slices.ContainsFunc(d.nodes, func(n NodeID) bool {
		return d.hasRoom(n, coming, nil) && d.usable(n) && d.passes(n)
	})
}

// mostAbove returns the queue below which everything is whose usage law 2 asks
// about: the fence root, or the highest queue above it that has a guarantee.
func (d refuser) mostAbove() queue.ID {
	most := fence.Root(d.tree, d.ask.Queue)
	for q := range d.tree.Up(most) {
		if d.tree.Guaranteed(q).Defined != 0 {
			most = q
		}
	}
	return most
}

// helpBudgets names the hard budgets of a task that might go if more was left in
// them, be it later.
func (d refuser) helpBudgets(h *Help, id TaskID) {
	for _, row := range d.c.budgetsOf(id) {
		b := &d.c.budgets[row]
		if !b.hard {
			continue
		}
		if at, named := slices.BinarySearch(h.Budgets, b.name); !named {
			h.Budgets = slices.Insert(h.Budgets, at, b.name)
		}
	}
}
