package victims

import (
	"fmt"
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
func (c *Cluster) remember(before Version, p *Plan) {
	c.redos = resized(c.redos, len(c.redos)+1)
	r := &c.redos[len(c.redos)-1]
	size, budgets := r.grant.Size[:0], r.grant.Budgets[:0]
	r.before, r.after, r.at = before, c.version, p.At
	r.grant = p.Ask.task(p.Node)
	r.grant.Size, r.grant.Budgets = append(size, p.Ask.Size...), append(budgets, p.Ask.Budgets...)
	r.victims = r.victims[:0]
	for i := range p.Victims {
		r.victims = append(r.victims, p.Victims[i].Task)
	}
}

// after returns the version of the state to which a change leads that was applied
// just now: a new one, unless it is a change of a batch.
func (c *Cluster) after(ch *Change) Version {
	for i := range c.redos {
		if r := &c.redos[i]; r.before == c.version && r.does(ch) {
			return r.after
		}
	}
	c.versions++
	return Version{c.line, c.versions}
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

// ApplyBatch carries out what [Planner.Batch] has decided, all or nothing and as
// one change: one [Cluster.Undo] takes it back. Refusals are passed over, and so
// is an ask that fits by the grant that it holds; [Cluster.Start] is for that.
// Errors are those of [Cluster.Apply], with the number of the decision.
func (c *Cluster) ApplyBatch(ds []Decision) error {
	first := len(c.applied)
	for i := range ds {
		if _, held := c.LookupGrant(ds[i].Plan.Ask.Key); held || ds[i].Outcome == Refused {
			continue
		}
		if err := c.Apply(&ds[i].Plan); err != nil {
			for len(c.applied) > first {
				must(c.Undo())
			}
			return fmt.Errorf("%w (decision %d of %d)", err, i+1, len(ds))
		}
	}
	for len(c.applied) > first+1 {
		last := len(c.applied) - 1
		c.applied[first].victims += c.applied[last].victims
		c.applied[first].grants += c.applied[last].grants
		c.applied = c.applied[:last]
	}
	return nil
}
