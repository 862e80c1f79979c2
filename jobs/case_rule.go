package jobs

import (
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// rules are the laws about one victim by itself, for one job: who may never be
// stopped, wherever it runs and whatever it frees.
type rules struct {
	caller  func(victims.Exemption) (time.Time, bool) // Planner.Exempt
	minimum func(job string) int                      // Planner.Minimum
	ask     victims.Ask                               // the first member without a place, for it
	now     time.Time
	horizon time.Time // exemptions that end until then count as ended
	cluster *victims.Cluster
	name    string // of the job
	view    fence.View
	leaves  []leafRow
}

// A leafRow is what the tasks of a leaf have in common, so that a task costs a
// lookup.
type leafRow struct {
	rank   fence.Lift // of a task of the leaf; see fence.View.Rank
	veto   Rule       // the rule that keeps all its tasks, or 0
	level  int32      // see needs
	bounds []int32    // what law 2 binds its tasks by, from the leaf upwards
	erodes []int32    // see victims.Rooms.Erodes
	// room is what all of its bounds leave, per type; MaxInt64 if none does.
	room resources.Vector
}

// begin makes the rules those of a planner at an instant.
func (r *rules) begin(p *Planner, now time.Time) {
	r.caller, r.minimum = p.Exempt, p.Minimum
	r.cluster, r.now, r.horizon = p.Cluster, now, now
}

// prepare works out what the tasks of every leaf have in common, and reports
// whether any leaf is in reach. Law 2 counts all members of todo as arriving.
func (r *rules) prepare(c *jobCase) bool {
	r.setAsk(c)
	c.rooms.Reset(c.tree, c.job.Queue, c.rem) // law 2
	r.view.Reset(c.tree, c.job.Queue)
	r.leaves = zeros(r.leaves, c.tree.Len())
	left := false
	for w := range c.tree.Leaves(queue.Root) {
		leaf := &r.leaves[w]
		leaf.rank = r.view.Rank(w, c.job.Priority)
		leaf.veto = r.vetoOf(c, w)
		leaf.level = c.needs.level(c.tree, w)
		leaf.bounds, leaf.erodes = c.rooms.Chain(w), c.rooms.Erodes(w)
		leaf.room = c.rooms.Least(leaf.bounds)
		left = left || leaf.veto == 0
	}
	return left
}

// setAsk describes the first member without a place to those who exempt tasks
// from it.
func (r *rules) setAsk(c *jobCase) {
	j := c.job
	r.name = j.Name
	r.ask = victims.Ask{Key: j.Name, Application: j.Application, Queue: j.Queue, Priority: j.Priority}
	if len(c.unplaced) > 0 {
		r.ask = j.ask(c.unplaced[0])
	}
}

// vetoOf returns the rule that keeps all tasks of a leaf from being victims.
// The job's own leaf is within its reach; there raw priorities compare.
func (r *rules) vetoOf(c *jobCase, w queue.ID) Rule {
	switch {
	case w != c.job.Queue && r.view.Standing(w) == fence.Outside:
		return RuleFence // law 7: never outside the fence
	case c.tree.Disabled(w):
		return RuleDisabled
	}
	return 0
}

// veto returns the rule that keeps a task from being a victim wherever it
// helps, or 0. It does not ask whether the task is exempt.
func (r *rules) veto(t *victims.Task) Rule {
	switch {
	case isLeaving(t.State):
		return RuleLeaving
	case t.RequiredNode:
		return RuleRequiredNode
	case t.Job == r.name, t.Application == r.ask.Application && t.Application != "":
		return RuleApplication // law 3: never the same application
	}
	leaf := &r.leaves[t.Queue]
	switch {
	case leaf.veto != 0:
		return leaf.veto
	case t.NonPreemptible:
		return RuleNonPreemptible
	case leaf.rank.Of(t.Priority) >= 0:
		return RulePriority // law 6: strictly lower for jobs
	}
	return 0
}

// exempt reports whether the caller exempts a task, taking exemptions that end
// at the horizon or before as ended.
func (r *rules) exempt(id victims.TaskID) bool {
	if r.caller == nil {
		return false
	}
	until, ok := r.exemption(id)
	return ok && (until.IsZero() || until.After(r.horizon))
}

// exemption asks the caller until when a task is exempt, and whether it is.
func (r *rules) exemption(id victims.TaskID) (until time.Time, ok bool) {
	until, ok = r.caller(victims.Exemption{Cluster: r.cluster, Task: id, Ask: &r.ask, Now: r.now})
	return until, ok && (until.IsZero() || until.After(r.now))
}
