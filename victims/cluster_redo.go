package victims

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// A redo is a plan of a batch that was applied and undone again. Applied to the
// same state once more it leads to the same state, which gets the version that it
// had: so the plans of a batch can be applied one after another.
type redo struct {
	before, after Version
	grant         Task // of the ask, with memory of its own
	victims       []TaskID
	at            time.Time
}

// remember notes that a plan which is applied has led from a version to this one.
func (h *history) remember(before Version, p *Plan) {
	h.redos = resized(h.redos, len(h.redos)+1)
	r := &h.redos[len(h.redos)-1]
	size, budgets := r.grant.Size[:0], r.grant.Budgets[:0]
	r.before, r.after, r.at = before, h.version, p.At
	r.grant = p.Ask.task(p.Node)
	r.grant.Size, r.grant.Budgets = append(size, p.Ask.Size...), append(budgets, p.Ask.Budgets...)
	r.victims = r.victims[:0]
	for i := range p.Victims {
		r.victims = append(r.victims, p.Victims[i].Task)
	}
}

// after returns the version of the state to which a change leads that was applied
// just now: a new one, unless it is a change of a batch.
func (h *history) after(ch *Change) Version {
	for i := range h.redos {
		if r := &h.redos[i]; r.before == h.version && r.does(ch) {
			return r.after
		}
	}
	return h.next()
}

// does reports whether a change does the same.
func (r *redo) does(ch *Change) bool {
	if len(ch.Grants) != 1 || len(ch.Victims) != len(r.victims) || !ch.At.Equal(r.at) {
		return false
	}
	for i := range ch.Victims {
		if ch.Victims[i].Task != r.victims[i] {
			return false
		}
	}
	grant := ch.Grants[0].Ask.task(ch.Grants[0].Node)
	return sameTask(&grant, &r.grant)
}

// sameTask reports whether a cluster would take no notice of the difference of
// two grants.
func sameTask(x, y *Task) bool {
	return x.Key == y.Key && x.Name == y.Name && x.Tag == y.Tag && x.Application == y.Application &&
		x.Queue == y.Queue && x.Node == y.Node && x.Priority == y.Priority && x.Created.Equal(y.Created) &&
		x.Originator == y.Originator && x.OptedOut == y.OptedOut && x.RequiredNode == y.RequiredNode &&
		x.Job == y.Job && x.NonPreemptible == y.NonPreemptible && x.Cost == y.Cost &&
		slices.Equal(x.Budgets, y.Budgets) && resources.Equal(x.Size, y.Size)
}
