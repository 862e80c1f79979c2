package victims

import (
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// precondition refuses an ask that must not trigger preemption, the cheapest
// reason first, and reports whether it did. For a required node neither delay
// nor guarantees count. (Section 5, "The decision", step 1.)
func (d *decision) precondition(dst *Decision) bool {
	required := d.ask.RequiredNode != ""
	switch {
	case d.ask.MayNot && !d.relaxed.rule(RelaxMayNot):
		d.refuse(dst, MayNotPreempt)
		return true
	case d.early(dst, required):
		return true
	case d.overMax(dst):
		return true
	case required:
		return false
	}
	return d.triggers(dst) || d.headroomInside(dst)
}

// early refuses an ask that is not pending for long enough, or for which
// preemption was tried too recently. RetryAt is the time at which neither is so.
func (d *decision) early(dst *Decision, required bool) bool {
	reason := Reason(0)
	var retry time.Time
	if !required && !d.relaxed.rule(RelaxDelay) {
		if end := d.ask.PendingSince.Add(d.tree.PreemptionDelay(d.ask.Queue)); d.now.Before(end) {
			reason, retry = TooEarly, end
		}
	}
	if d.p.Interval > 0 && !d.ask.LastAttempt.IsZero() && !d.relaxed.rule(RelaxInterval) {
		if end := d.ask.LastAttempt.Add(d.p.Interval); d.now.Before(end) {
			if reason == 0 {
				reason = TooSoon
			}
			if retry.Before(end) {
				retry = end
			}
		}
	}
	if reason == 0 {
		return false
	}
	d.refuse(dst, reason)
	dst.Refusal.RetryAt = retry
	return true
}

// overMax refuses where a queue on the path is over its max already in a type
// that the ask wants: bringing it back is the business of package quota.
func (d *decision) overMax(dst *Decision) bool {
	for q := range d.tree.Up(d.ask.Queue) {
		most := d.max(q)
		for t := range most.Defined.All() {
			if d.usage(q, t, coming) > most.Value[t] {
				d.refuseAt(dst, OverMax, q, t)
				return true
			}
		}
	}
	return false
}

// triggers refuses where law 4 does: every type that the ask wants and a queue
// governs must be under its guarantee there, and at least one must be
// governed.
//
// Law 4: only a queue under its guarantee triggers. Only the nearest
// definition counts, and under is meant, not that the ask fits under.
func (d *decision) triggers(dst *Decision) bool {
	d.findStarving()
	if !d.starving && !d.relaxed.rule(RelaxUngoverned) {
		d.refuse(dst, NotGuaranteed)
		return true
	}
	for t := range d.wants.All() {
		q, ok := d.tree.Governing(d.ask.Queue, t)
		if !ok || d.relaxed.queue(RelaxTrigger, q) {
			continue
		}
		if g, _ := d.tree.Guaranteed(q).Bound(t); d.usage(q, t, coming) >= g {
			d.refuseAt(dst, OverGuarantee, q, t)
			return true
		}
	}
	d.starving = d.starving && !d.relaxed.rule(RelaxInside)
	return false
}

// findStarving finds E, the lowest queue that governs a type of the ask.
func (d *decision) findStarving() {
	d.starving = false
	for t := range d.wants.All() {
		// On a path the lower queue has the larger number.
		if q, ok := d.tree.Governing(d.ask.Queue, t); ok && (!d.starving || q > d.inside) {
			d.inside, d.starving = q, true
		}
	}
}

// headroomInside refuses where a max at E or below it is short: only victims
// inside E could make room there, and those would leave E as starved as it is.
func (d *decision) headroomInside(dst *Decision) bool {
	if !d.starving {
		return false
	}
	for q := range d.tree.Up(d.ask.Queue) {
		most := d.max(q)
		for t := range most.Defined.All() {
			if d.usage(q, t, coming)+d.size[t] > most.Value[t] {
				d.refuseAt(dst, HeadroomInside, q, t)
				return true
			}
		}
		if q == d.inside {
			break
		}
	}
	return false
}

func (d *decision) refuseAt(dst *Decision, r Reason, q queue.ID, t int) {
	d.refuse(dst, r)
	dst.Refusal.Queue, dst.Refusal.Type = q, t
}

// needs are what a plan must make room for under the maxima of the path. The
// queues are nested, so what a task helps is told by one number, its level:
// the first of them that it is below.
type needs struct {
	queues []queue.ID         // that lack headroom, from the leaf upwards
	short  []resources.Vector // what each lacks, in the types that the ask wants
	masks  []resources.Mask   // the types in which those from a level on are short
	// rows[on][level] are the rows of Problem.Needs that a task of the level
	// counts for: the node's is row 0, where it is on the node, then one for
	// each queue.
	rows [2][][]int32
	most resources.Vector // the largest lack per type
}

// open reports whether any headroom is needed.
func (n *needs) open() bool { return len(n.queues) > 0 }

// prepareNeeds finds the headroom that is lacking: e + ask - max, where it is
// positive, for each queue on the path. (Step 2.)
func (d *decision) prepareNeeds() {
	n := &d.needs
	d.blocks = d.blocks[:0]
	n.queues, n.short, n.masks = n.queues[:0], n.short[:0], n.masks[:0]
	n.most = zeros(n.most, d.c.types)
	for q := range d.tree.Up(d.ask.Queue) {
		most := d.max(q)
		var short resources.Vector
		for t := range most.Defined.All() {
			if lack := d.usage(q, t, coming) + d.size[t] - most.Value[t]; lack > 0 {
				if short == nil {
					short = d.block()
				}
				short[t] = lack
				n.most[t] = max(n.most[t], lack)
			}
		}
		if short != nil {
			n.queues = append(n.queues, q)
			n.short = append(n.short, short)
			n.masks = append(n.masks, resources.Positive(short))
		}
	}
	n.masks = append(n.masks, 0)
	for i := len(n.queues) - 1; i >= 0; i-- {
		n.masks[i] |= n.masks[i+1]
	}
	n.prepareRows()
}

// prepareRows lists the rows of each level, off the node and on it.
func (n *needs) prepareRows() {
	for on := range n.rows {
		n.rows[on] = n.rows[on][:cap(n.rows[on])]
		for level := range len(n.queues) + 1 {
			if level == len(n.rows[on]) {
				n.rows[on] = append(n.rows[on], nil)
			}
			rows := n.rows[on][level][:0]
			if on == 1 {
				rows = append(rows, 0)
			}
			for i := level; i < len(n.queues); i++ {
				rows = append(rows, int32(1+i))
			}
			n.rows[on][level] = rows
		}
	}
}

// level returns the first queue that lacks headroom and contains leaf, or the
// number of such queues.
func (n *needs) level(t *queue.Tree, leaf queue.ID) int32 {
	for i, q := range n.queues {
		if t.Contains(q, leaf) {
			return int32(i)
		}
	}
	return int32(len(n.queues))
}

// block returns a row of zeros, one amount per type, that lives as long as the
// decision.
func (d *decision) block() resources.Vector {
	from := len(d.blocks)
	for range d.c.types {
		d.blocks = append(d.blocks, 0)
	}
	return d.blocks[from:len(d.blocks):len(d.blocks)]
}

// prepareLeaves works out, once per decision, what every leaf's tasks have in
// common: whether a rule keeps them all, what lifts their priorities, which
// headroom they give and what law 2 says. It reports whether any leaf is left.
func (d *decision) prepareLeaves() bool {
	d.prepareRooms()
	d.view.Reset(d.tree, d.ask.Queue)
	d.leaves = zeros(d.leaves, d.tree.Len())
	d.chains = d.chains[:0]
	left := false
	for w := range d.tree.Leaves(queue.Root) {
		leaf := &d.leaves[w]
		leaf.level = d.needs.level(d.tree, w)
		if d.ask.RequiredNode != "" {
			// On a required node raw priorities count, and neither guarantees
			// nor fences nor disabled queues protect.
			leaf.rank = fence.Lift{Offset: -int64(d.ask.Priority)}
			left = true
			continue
		}
		leaf.rank = d.view.Rank(w, d.ask.Priority)
		leaf.veto = d.vetoOf(w)
		leaf.bounds = d.chain(w)
		left = left || leaf.veto == 0
	}
	return left
}

// vetoOf returns the rule that keeps all tasks of a leaf from being victims.
func (d *decision) vetoOf(w queue.ID) Rule {
	switch standing := d.view.Standing(w); {
	case standing == fence.Outside && !d.relaxed.opens(d.tree, d.ask.Queue, w):
		return RuleFence // law 7: never outside the fence
	case d.tree.Disabled(w) && !d.relaxed.enables(d.tree, w):
		return RuleDisabled
	case d.starving && d.tree.Contains(d.inside, w):
		return RuleInside // storm freedom: from outside the subtree of E
	}
	return 0
}

// prepareRooms makes a bound of every queue with a guarantee.
//
// Law 2: no queue ends below its guarantee. Usage after the plan must be at
// least min(g, usage before), so the victims below the queue may sum to its
// surplus, and on the ask's path to as much more as the ask brings.
func (d *decision) prepareRooms() {
	d.rooms = d.rooms[:0]
	d.boundOf = zeros(d.boundOf, d.tree.Len())
	for q := range d.tree.All() {
		d.boundOf[q] = -1
		g := d.tree.Guaranteed(q)
		if g.Defined == 0 || d.relaxed.queue(RelaxGuarantee, q) {
			continue
		}
		room := resources.Limit{Value: d.block(), Defined: g.Defined}
		for t := range g.Defined.All() {
			room.Value[t] = max(d.usage(q, t, coming)-g.Value[t], 0)
			if d.tree.Contains(q, d.ask.Queue) {
				room.Value[t] += d.size[t]
			}
		}
		d.boundOf[q] = int32(len(d.rooms))
		d.rooms = append(d.rooms, Bound{Room: room})
	}
}

// chain lists the bounds of a leaf, the innermost first.
func (d *decision) chain(leaf queue.ID) []int32 {
	from := len(d.chains)
	for q := range d.tree.Up(leaf) {
		if b := d.boundOf[q]; b >= 0 {
			d.chains = append(d.chains, b)
		}
	}
	return d.chains[from:len(d.chains):len(d.chains)]
}
