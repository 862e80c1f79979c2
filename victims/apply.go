package victims

import (
	"errors"
	"fmt"
)

// ErrNothingApplied is what [Cluster.Undo] returns where it has nothing to undo.
var ErrNothingApplied = errors.New("nothing applied")

// appliedPlan is what is needed to undo a plan.
type appliedPlan struct {
	before  uint64 // the version to come back to
	victims int    // how many of Cluster.marked are its
	grant   TaskID
	granted bool
}

// Apply carries a plan out as far as the cluster is concerned: its victims are
// marked as preempting, and its ask is granted the node. The grant counts as
// usage until [Cluster.Start] or [Cluster.Drop]; the victims stay until
// [Cluster.RemoveTask].
//
// A plan made for another version of the cluster is refused with [ErrStale].
// An error changes nothing.
func (c *Cluster) Apply(p *Plan) error {
	if p.Version != c.version {
		return fmt.Errorf("victims: plan for %q made for version %d, not %d: %w", p.Ask.Key, p.Version, c.version, ErrStale)
	}
	a := appliedPlan{before: c.version, victims: len(p.Victims)}
	if _, held := c.grantOf(p.Ask.Key); !held {
		t := p.Ask.task(p.Node)
		id, err := c.insert(&t)
		if err != nil {
			return err
		}
		a.grant, a.granted = id, true
	}
	for i := range p.Victims {
		c.setState(p.Victims[i].Task, Preempting)
		c.marked = append(c.marked, p.Victims[i].Task)
	}
	c.applied = append(c.applied, a)
	c.versions++
	c.version = c.versions
	return nil
}

// Undo takes the plan that was applied last, and not undone yet, back. The
// cluster is then what it was before, version included. Any other change of
// the cluster makes what was applied before it final.
func (c *Cluster) Undo() error {
	last := len(c.applied) - 1
	if last < 0 {
		return fmt.Errorf("victims: undo: %w", ErrNothingApplied)
	}
	a := c.applied[last]
	c.applied = c.applied[:last]
	keep := len(c.marked) - a.victims
	for _, id := range c.marked[keep:] {
		c.setState(id, Running)
	}
	c.marked = c.marked[:keep]
	if a.granted {
		c.delete(a.grant)
	}
	c.version = a.before
	return nil
}
