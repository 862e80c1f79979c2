package jobs

import "slices"

// help says what would help after a refusal. An answer other than a refusal needs room as
// things are, or a plan. (DESIGN.md, What would help.)
func (d *decision) help(r *Refusal) {
	h := &r.Help
	h.Time = !r.RetryAt.IsZero() || !r.Proven
	switch {
	// A predicate may look at anything, and so may formulas of quotas.
	case d.p.Trigger == ByPriority, d.p.Quotas != nil, d.p.Predicate != nil, d.mayTakeOwn(r.Reason):
		h.Anything(d.c)
		return
	}
	switch r.Reason {
	case MayNotPreempt:
	case TooEarly:
		h.Policies = true
	case TooSoon:
	case NotGuaranteed:
		h.Bounds = true
	case OverMax, HeadroomInside: // so that it neither fits nor waits
		h.Less, h.Bounds = append(h.Less, r.Queue), true
		return
	case OverGuarantee:
		h.Less, h.Bounds = append(h.Less, r.Queue), true
	case NothingInReach: // a guarantee says what is inside the needy queue
		h.Bounds, h.Policies = true, true
	default:
		h.Anything(d.c)
		return
	}
	d.helpRoom(r)
}

// helpRoom names what could give the members room: less usage of a queue that has no
// headroom for them, and else any node. Of two that are both necessary one is enough to
// name.
func (d *decision) helpRoom(r *Refusal) {
	h := &r.Help
	for q := range d.tree.Up(d.job.Queue) {
		most := d.tree.Max(q)
		for t := range most.Defined.All() {
			if need := d.rem.At(t); need > 0 && d.gate.usage(q, t, coming)+need > most.Value[t] {
				h.Bounds = true
				if !slices.Contains(h.Less, q) {
					h.Less = append(h.Less, q)
				}
				return
			}
		}
	}
	h.AnyNode, h.Labels = true, true
}
