package jobs

import (
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// rules are the rules about one victim by itself, for one job. Those that jobs
// share with asks are asked of a [victims.Eligible]; here is what jobs add.
type rules struct {
	eligible victims.Eligible
	minimum  func(job string) int // Planner.Minimum
	own      victims.OwnLeaf
	ask      victims.Ask // the first member without a place, for the caller's exemptions
	now      time.Time
	horizon  time.Time // exemptions that end until then count as ended
	leaves   []leafRow
	strict   bool
	stage    stage
	needy    queue.Trigger // what guarantees say; E
	lawful   bool          // law 4 lets the job take from others
}

// A leafRow is what the tasks of a leaf have in common, so that a task costs a
// lookup.
type leafRow struct {
	level  int32   // see needs
	bounds []int32 // see victims.Rooms.Chain
	erodes []int32 // see victims.Rooms.Erodes
	// room is what all of its bounds leave, per type; MaxInt64 if none does.
	room resources.Vector
}

// begin makes the rules those of a planner at an instant.
func (r *rules) begin(p *Planner, now time.Time) {
	r.eligible.Exempt, r.minimum, r.own = p.Exempt, p.Minimum, p.OwnLeaf
	r.now, r.horizon, r.strict, r.stage = now, now, p.StrictPriority, byPriority
}

// prepare works out what the tasks of every leaf have in common, and reports
// whether any leaf is in reach. Law 2 counts all members of todo as arriving.
func (r *rules) prepare(c *jobCase) bool {
	r.setAsk(c)
	who := victims.Preemptor{Ask: &r.ask, Arriving: c.rem}
	switch r.stage {
	case byPriority:
		// The job's own leaf is in its reach: of jobs of equal priority there each would
		// replace the other for ever.
		who.Strict, who.OwnLeaf, who.Own = true, true, r.own
	case withOwnLeaf:
		who.OwnLeaf, who.Own, who.OnlyOwnLeaf = true, r.own, !r.lawful
		fallthrough
	case outsideLeaf:
		who.Strict, who.Starving, who.HasStarving = r.strict, r.needy.Needy, r.needy.Governed
	}
	reach := r.eligible.Reset(c.c, &who, r.now)
	r.eligible.EndExemptions(r.horizon)
	c.rooms = &r.eligible.Rooms
	r.leaves = rows.Zeros(r.leaves, c.tree.Len())
	for w := range c.tree.Leaves(queue.Root) {
		leaf := &r.leaves[w]
		leaf.level = c.needs.level(c.tree, w)
		leaf.bounds, leaf.erodes = c.rooms.Chain(w), c.rooms.Erodes(w)
		leaf.room = c.rooms.Least(w)
	}
	return reach
}

// setAsk describes the first member without a place to those who exempt tasks
// from it.
func (r *rules) setAsk(c *jobCase) {
	j := c.job
	r.ask = victims.Ask{Key: j.Name, Application: j.Application, Queue: j.Queue, Priority: j.Priority, Job: j.Name}
	if len(c.unplaced) > 0 {
		r.ask = j.ask(c.unplaced[0])
	}
}

// shared are the rules of package victims by the names that they have here.
var shared = [...]Rule{
	victims.RuleLeaving:      RuleLeaving,
	victims.RuleRequiredNode: RuleRequiredNode,
	victims.RuleApplication:  RuleApplication,
	victims.RuleFence:        RuleFence,
	victims.RuleDisabled:     RuleDisabled,
	victims.RuleInside:       RuleInside,
	victims.RulePriority:     RulePriority,
}

// veto returns the first rule that keeps a task from being a victim wherever it
// helps, or 0. It does not ask whether the task is exempt.
func (r *rules) veto(c *victims.Cluster, id victims.TaskID, t *victims.Head) Rule {
	rule := shared[r.eligible.Veto(id)]
	// The order is that in which refusals count: what the task does comes before
	// whose it is, and that before how it compares. Package victims has no word
	// for a task that no job may take, so that is put in before the priority.
	switch {
	case rule == RuleLeaving, rule == RuleRequiredNode:
		return rule
	case t.HasJob && c.Job(id) == r.ask.Job:
		return RuleApplication // law 3: nor of the same job
	case t.NonPreemptible && (rule == 0 || rule == RulePriority):
		return RuleNonPreemptible
	}
	return rule
}

// exempt reports whether the caller exempts a task that no rule vetoes, taking
// exemptions that end at the horizon or before as ended.
func (r *rules) exempt(id victims.TaskID) bool {
	return r.eligible.Exempt != nil && r.eligible.Rule(id) == victims.RuleExempt
}
