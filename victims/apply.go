package victims

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/resources"
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
// Where the ask holds the grant of the plan already, the grant stays as it is.
//
// What a refusal has for a plan is refused with [ErrState], a plan made for
// another version of the cluster with [ErrStale],
// one whose victims are not running tasks of the cluster, each named once, or
// whose ask cannot be granted its node, with errors that say so. Whether the
// plan is lawful is not asked; see [Auditor]. An error changes nothing.
func (c *Cluster) Apply(p *Plan) error {
	if p.Version == 0 {
		return fmt.Errorf("victims: plan for %q: %w: there is none", p.Ask.Key, ErrState)
	}
	if p.Version != c.version {
		return fmt.Errorf("victims: plan for %q made for version %d, not %d: %w", p.Ask.Key, p.Version, c.version, ErrStale)
	}
	a := appliedPlan{before: c.version, victims: len(p.Victims)}
	marked := len(c.marked)
	err := c.mark(p)
	if err == nil {
		err = c.grant(&a, p)
	}
	if err != nil {
		c.unmark(marked)
		return err
	}
	c.applied = append(c.applied, a)
	c.versions++
	c.version = c.versions
	return nil
}

// mark marks the victims of a plan. It stops at the first that is none.
func (c *Cluster) mark(p *Plan) error {
	for i := range p.Victims {
		v := &p.Victims[i]
		if err := c.checkVictim(v); err != nil {
			if slices.ContainsFunc(p.Victims[:i], func(u Victim) bool { return u.Task == v.Task }) {
				err = ErrDuplicate // and therefore marked
			}
			return fmt.Errorf("victims: plan for %q: victim %q: %w", p.Ask.Key, v.Key, err)
		}
		c.setState(v.Task, Preempting)
		c.marked = append(c.marked, v.Task)
	}
	return nil
}

// unmark takes the marks back but for the oldest keep.
func (c *Cluster) unmark(keep int) {
	for _, id := range c.marked[keep:] {
		c.setState(id, Running)
	}
	c.marked = c.marked[:keep]
}

// checkVictim reports a victim that is no running task.
func (c *Cluster) checkVictim(v *Victim) error {
	if v.Task < 0 || int(v.Task) >= len(c.tasks) || !c.tasks[v.Task].flags.has(flagLive) {
		return fmt.Errorf("row %d: %w", v.Task, ErrUnknown)
	}
	switch r := &c.tasks[v.Task]; {
	case r.key != v.Key:
		return fmt.Errorf("row %d is %q: %w", v.Task, r.key, ErrUnknown)
	case r.state != Running:
		return fmt.Errorf("state %v: %w", r.state, ErrState)
	}
	return nil
}

// grant grants the ask of a plan its node, unless it holds that grant.
func (c *Cluster) grant(a *appliedPlan, p *Plan) (err error) {
	if id, held := c.LookupGrant(p.Ask.Key); held {
		r := &c.tasks[id]
		if r.node != p.Node || r.leaf != p.Ask.Queue || !resources.Equal(c.size(id), p.Ask.Size) {
			return fmt.Errorf("victims: plan for %q: it holds another grant, on node %q: %w",
				p.Ask.Key, c.nodes[r.node].name, ErrState)
		}
		return nil
	}
	t := p.Ask.task(p.Node)
	a.grant, err = c.insert(&t)
	a.granted = err == nil
	return err
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
	c.unmark(len(c.marked) - a.victims)
	if a.granted {
		c.delete(a.grant)
	}
	c.version = a.before
	return nil
}
