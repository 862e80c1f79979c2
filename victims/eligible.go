// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// eligibility says who may be a victim of an ask: the rules that asks share with jobs.
type eligibility struct {
	eligible.Rules
	timed eligible.Timed

	c       *Cluster
	exempts func(*Question) (until time.Time, exempt bool)
	keeps   func(TaskID) rulebook.Rule // of the job of a member that asks by itself, or nil
	asked   *Question                  // that the caller is asked, of the decision
	ns      int64                      // now, in nanoseconds since 1970
	weights rulebook.Losses
	app     int32
	hasApp  bool       // the application has tasks in the cluster, and law 3 binds
	ceiling int64      // Ceiling, if law 6 holds
	without Relaxation // a rule that does not hold; Explain sets it
}

// reset states who wants room, and reports whether any leaf is in reach.
func (e *eligibility) reset(d *decision, who *eligible.Taker) (reach bool) {
	e.c, e.exempts, e.keeps, e.asked = d.c, d.p.Exempt, d.p.keeps, &d.question
	e.timed.Reset(d.c.tree, d.now)
	e.timed.Refused = d.c.lastRefused > toldAt(d.now)
	if e.exempts != nil {
		e.timed.Exempts = e
	}
	e.ns, _ = rulebook.Nanos(d.now)
	e.weights.Set(d.c.total)
	e.Unnamed = d.p.unnamed()
	e.app, e.hasApp = d.c.apps.lookup(d.ask.Application)
	e.hasApp = e.hasApp && !(d.p.TakeOwnApplication && d.required())
	who.Tree, who.Leaf, who.Priority, who.Arriving, who.Lacking = d.tree, d.ask.Queue, d.ask.Priority, d.size, d.needs.queues
	if r := d.without; r.Rule != "" {
		who.Waived = r.lifts(d.tree, d.ask.Queue)
		who.Unbound, who.IsUnbound = r.queue, r.Rule == rulebook.RelaxGuarantee
	}
	reach = e.Reset(who)
	e.ceiling = e.Ceiling
	e.relax(d.without)
	return reach
}

// relax lets a rule about a single task not hold.
func (e *eligibility) relax(r Relaxation) {
	e.without, e.Ceiling = r, e.ceiling
	if e.timed.Waived = nil; r.Rule != "" {
		e.timed.Waived = e.waives
	}
	if r.Rule == rulebook.RelaxPriority {
		e.Ceiling = noLimit
	}
}

// waives reports whether a rule that ends by itself does not keep a task. See [eligible.Timed].
func (e *eligibility) waives(rule rulebook.Rule, t eligible.Stay) bool {
	r := &e.without
	return rule.String() == r.Rule && (r.Key != "" && r.task == TaskID(t.Task) || says(e.c.tree, t.Leaf, r.Rule, r.queue))
}

// veto is rule without what ends by itself, and without what the job of a member spares: it asks nobody.
func (e *eligibility) veto(id TaskID) rulebook.Rule {
	r := &e.c.tasks[id]
	t := eligible.Traits{
		Leaf: r.leaf, Priority: r.priority, Leaving: r.state.leaving(),
		RequiredNode: r.flags.has(flagRequiredNode), SameApplication: e.hasApp && r.app == e.app,
	}
	if e.without.Rule != "" && e.without.task == id {
		t.RequiredNode = t.RequiredNode && e.without.Rule != rulebook.RelaxRequiredNode
		t.SameApplication = t.SameApplication && e.without.Rule != rulebook.RelaxApplication
		t.AnyPriority = e.without.Rule == rulebook.RelaxPriority
	}
	return e.Veto(&t)
}

// rule returns the first rule that keeps a task from being a victim whatever it frees; else 0.
func (e *eligibility) rule(id TaskID) rulebook.Rule {
	if rule := e.veto(id); rule != 0 {
		return rule
	}
	return e.kept(id)
}

// kept returns the rule by which the job of a member spares a task that the member as an ask need not, or else
// one that ends by itself, or 0.
func (e *eligibility) kept(id TaskID) rulebook.Rule {
	if e.keeps != nil {
		if rule := e.keeps(id); rule != 0 {
			return rule
		}
	}
	if !e.timed.Any() {
		return 0
	}
	return e.timed.Keeps(e.c.stayOf(id))
}

// stayOf returns what rules that end by themselves ask of a task, whoever takes it.
func (x *taskTable) stayOf(id TaskID) eligible.Stay {
	r := &x.tasks[id]
	return eligible.Stay{Task: int32(id), Leaf: r.leaf, Scheduled: r.scheduledAt(), Refused: instantOf(x.refused.at(int(id)))}
}

// Exempts asks the caller; see [eligible.Exempter].
func (e *eligibility) Exempts(task int32) (until time.Time, exempt bool) {
	e.asked.Task = TaskID(task)
	return e.exempts(e.asked)
}

// protected returns the rule that keeps a task from going alone though no other rule
// does: a hard budget with nothing left, or law 2. It returns 0 if there is none. Whether
// several may go together is for the search to say.
func (e *eligibility) protected(id TaskID) rulebook.Rule {
	for _, b := range e.c.budgetsOf(id) {
		if budget := &e.c.budgets[b]; budget.hard && budget.left <= 0 && !e.without.budget(budget.name) {
			return rulebook.RuleBudget
		}
	}
	if !resources.Fits(e.c.size(id), e.Leaves[e.c.tasks[id].leaf].Room) {
		return rulebook.RuleGuarantee
	}
	return 0
}

// rankOf returns the rank of a task.
func (e *eligibility) rankOf(id TaskID) int64 {
	r := &e.c.tasks[id]
	return e.Rank(r.leaf, r.priority)
}

// levels returns what stopping a task costs, but for work and excess.
func (e *eligibility) levels(id TaskID) cost.Levels { return e.levelsAt(id, e.rankOf(id)) }

// levelsAt is levels as if the task had some rank.
func (e *eligibility) levelsAt(id TaskID, rank int64) cost.Levels {
	x := e.c.lossOf(id)
	x.Rank = rank
	return e.LevelsOf(&x)
}

// levelsOfLane are the least levels of a lane, one of whose tasks is id.
func (e *eligibility) levelsOfLane(l *lane, id TaskID) cost.Levels {
	x := e.c.lossLike(id, l.priority, l.flags)
	x.Rank = e.LeastRank(l.priority)
	return e.LevelsOf(&x)
}

// lossOf returns what stopping a task costs, whoever takes it. Tasks of one size for which it is the same are of one
// lane.
func (x *taskTable) lossOf(id TaskID) eligible.Loss {
	r := &x.tasks[id]
	return x.lossLike(id, r.priority, r.flags)
}

// lossLike is lossOf for a task of some priority and flags, which are not looked up.
func (x *taskTable) lossLike(id TaskID, priority int32, f flags) eligible.Loss {
	return eligible.Loss{
		Priority: priority, OptedOut: f.has(flagOptedOut), Originator: f.has(flagOriginator),
		Cost: x.costOf(id), Preemptions: int64(x.preempted.at(int(id))),
	}
}

// work returns the work that stopping a task loses: its time by its weight.
func (e *eligibility) work(id TaskID) resources.Wide {
	return e.weights.Work(e.c.size(id), e.c.lost(id, e.ns))
}

// tell sets what a cost says to people of the work that victims lose.
func (e *eligibility) tell(c *Cost, ids []TaskID) {
	e.weights.Begin(e.c.total)
	for _, id := range ids {
		e.weights.Add(e.c.size(id), e.c.lost(id, e.ns))
	}
	e.weights.Tell((*rulebook.Cost)(c), e.c.Schema())
}

// precondition refuses an ask that must not trigger preemption, the cheapest
// reason first, and reports whether it did. Package trigger is asked, by jobs as well. For a required node neither delay
// nor guarantees count. (DESIGN.md, Preconditions.)
func (d *decision) precondition(dst *Decision) bool {
	if d.required() && len(d.nodes) == 0 {
		d.refuse(dst, rulebook.UnknownNode)
		return true
	}
	a := d.asks().Ask()
	if !d.required() {
		d.trigger()
	}
	if a.Obstacle == "" {
		return false
	}
	d.refuse(dst, a.Obstacle)
	r := &dst.Refusal
	r.RetryAt, r.told.NoneCounts = a.RetryAt, a.NoneCounts
	dst.refuseAt(d.c, a.Queue, a.Type)
	return true
}

// asks returns what the ask has to say at the gate.
func (d *decision) asks() *trigger.Case {
	c := &d.scratch.gate
	c.Tree, c.Leaf, c.Arriving, c.OnNode = d.tree, d.ask.Queue, d.size, d.required()
	c.MayNot, c.PendingSince, c.LastAttempt = d.ask.MayNotPreempt, d.ask.PendingSince, d.ask.LastAttempt
	c.Counting, c.Interval, c.Now, c.Waived = d.p.counting(), d.p.RetryInterval, d.now, nil
	if d.without.Rule != "" {
		c.Waived = d.without.waives
	}
	return c
}

// trigger notes E, and reports whether law 4 lets the ask preempt.
func (d *decision) trigger() (lawful bool) {
	x, a := d.asks().Law4()
	d.starving, d.hasE = x.Needy, x.Governed
	return a.Obstacle == ""
}

// protect names who keeps tasks that count as needed for a guarantee: the first queue, and
// there the first type, that by itself keeps one of them.
func (s *survey) protect(r *Refusal) {
	if s.counts[rulebook.RuleGuarantee] == 0 {
		return
	}
	job := ""
	q, t, found := s.d.eligible.Rooms.First(func(row int32, q queue.ID, t int) (keeps bool) {
		keeps, job = s.keeps(row, q, t)
		return keeps
	})
	if found {
		r.ProtectedBy = s.d.c.protectorOf(q, t)
		r.ProtectedBy.Job = job
	}
}

// keeps reports whether the guarantee of a queue keeps some task by itself, alone or with its job. It
// names the job, of several the first.
func (s *survey) keeps(row int32, q queue.ID, t int) (keeps bool, job string) {
	d, last := s.d, int32(-1)
	for w := range d.tree.Leaves(q) {
		if d.eligible.Leaves[w].Veto != 0 {
			continue // another rule, which comes first
		}
		for _, id := range d.c.leaves[w] {
			if d.c.tasks[id].state != Running {
				continue
			}
			gang := d.gangs.of(id)
			if d.gangs.alone(gang) {
				gang = -1
			} else if gang == last {
				continue // its members count alike
			}
			last = gang
			at, b := d.siteIfOpen(d.c.tasks[id].node), &d.eligible.Rooms.Bounds[row]
			takes := d.c.size(id)[t]
			if gang >= 0 {
				takes = d.gangs.takes(&d.gangs.rows[gang], q, t)
			}
			if takes <= b.Room.Value[t] || d.ruleFor(id, &at) != rulebook.RuleGuarantee {
				continue
			}
			keeps = true
			if name := d.c.jobs.name(d.c.tasks[id].job); gang >= 0 && (job == "" || name < job) {
				job = name
			}
		}
	}
	return keeps, job
}

// A gang is a running job that needs some number of its members. As many as it
// has above that may go one by one; else it goes whole, on all its nodes.
// (DESIGN.md, Whole gangs.)
type gang struct {
	members []TaskID      // that run and are not leaving, by key
	surplus int64         // how many of them may go one by one
	rule    rulebook.Rule // the first rule that keeps it from going whole; 0 if it can go
	bound   int32         // the row of Rooms.Bounds that counts the surplus, or -1
	met     uint64        // problem.turn when a member was seen last
}

// gangs are the gangs that a decision has met, each looked at once.
type gangs struct {
	d       *decision
	glances []jobGlance // by number of the job
	epoch   uint64      // of what was seen of them
	rows    []gang
	fresh   []int32 // scratch: jobs that are met
}

// A jobGlance is what bounds know of a job. Most gangs of a cluster are never looked
// at more closely.
type jobGlance struct {
	epoch   uint64 // when it was seen
	row     int32  // of gangs.rows, and one; 0 if it was not met
	minimum int32  // 0 if it needs no number of members
	running int32  // members that run and are not leaving
	taken   int32  // of those, the ones in the set of a WhatIf
	stamp   int32  // the number of the site for which it was looked at last
	unit    int32  // its row there, or -1
	whole   int32  // its place in problem.wholes, and one; 0 if it was not made yet
}

// reset forgets all gangs.
func (g *gangs) reset(d *decision) {
	// Numbers of jobs index what is known of them, so that a task finds its gang
	// without a search. Of a large cluster few are seen, so nothing is cleared.
	g.d = d
	if n := len(d.c.members); d.c.gangs > 0 && n > len(g.glances) {
		g.glances = append(g.glances, make([]jobGlance, n-len(g.glances))...)
	}
	g.epoch++
	g.rows, d.problem.wholes = g.rows[:0], d.problem.wholes[:0]
	d.problem.limits.reset(d.laws)
}

// glance returns what bounds know of a job.
func (g *gangs) glance(job int32) *jobGlance {
	x := &g.glances[job]
	if x.epoch == g.epoch {
		return x
	}
	*x = jobGlance{epoch: g.epoch}
	x.minimum, x.running = g.d.c.minimumOf(job), g.d.c.running[job]
	return x
}

// surplus returns how many members of a job that needs some may go one by one.
//
// A job that runs with fewer than it needs has nothing to spare: it goes whole or
// not at all.
func (x *jobGlance) surplus() int64 { return int64(max(x.running-x.minimum, 0)) }

// broken reports whether a job is left with too few members.
func (x *jobGlance) broken() bool { return int64(x.taken) > x.surplus() && x.taken < x.running }

// of returns the row of the gang that a task is a member of, or -1.
func (g *gangs) of(id TaskID) int32 {
	if g.d.c.gangs == 0 {
		return -1
	}
	job := g.d.c.tasks[id].job
	if job == 0 {
		return -1
	}
	x := g.glance(job)
	if x.minimum > 0 && x.row == 0 {
		x.row = g.meet(job)
	}
	return x.row - 1
}

// meetAll meets the gangs of some tasks that were not met, in the order of their names:
// what a search finds must not depend on who was told of first.
func (g *gangs) meetAll(tasks []TaskID) {
	if g.d.c.gangs == 0 {
		return
	}
	g.fresh = g.fresh[:0]
	for _, id := range tasks {
		if job := g.d.c.tasks[id].job; job != 0 {
			if x := g.glance(job); x.minimum > 0 && x.row == 0 {
				g.fresh = append(g.fresh, job)
			}
		}
	}
	name := g.d.c.jobs.name
	slices.SortFunc(g.fresh, func(a, b int32) int { return strings.Compare(name(a), name(b)) })
	for _, job := range slices.Compact(g.fresh) {
		g.glance(job).row = g.meet(job)
	}
}

// meet looks at a job that needs some members, and returns its row and one.
func (g *gangs) meet(job int32) int32 {
	n := len(g.rows)
	g.rows = rows.Next(g.rows)
	x := &g.rows[n]
	*x = gang{members: x.members[:0], bound: -1}
	c := g.d.c
	for _, id := range c.membersOf(job) {
		if c.tasks[id].state == Running {
			x.members = append(x.members, id)
		}
	}
	// Members have no order of their own, and keys decide between units that
	// cost the same.
	slices.SortFunc(x.members, func(a, b TaskID) int { return strings.Compare(c.tasks[a].key, c.tasks[b].key) })
	x.surplus = g.glance(job).surplus()
	x.rule = g.ruleOf(x)
	// The surplus is one more bound of the search, as law 2 is: so many members
	// at most go one by one.
	if x.surplus > 0 {
		x.bound = g.d.eligible.Rooms.Add(x.surplus)
	}
	return int32(n + 1)
}

// ruleOf returns the first rule that keeps a gang from going whole.
func (g *gangs) ruleOf(x *gang) (first rulebook.Rule) {
	for _, id := range x.members {
		// The first rule of any member keeps the whole: a gang with one member
		// out of reach cannot be stopped.
		if rule := g.d.eligible.rule(id); rule != 0 && (first == 0 || rule < first) {
			first = rule
		}
	}
	if first != 0 {
		return first
	}
	// Budgets and law 2, over all members.
	limits, m := &g.d.problem.limits, &g.d.problem.check
	m.reset()
	for _, id := range x.members {
		g.d.takesOf(m, id, 0)
		g.d.drawsOn(m, id, 0)
	}
	for _, t := range m.takes {
		switch {
		case t.Amount <= limits.room[t.Limit]:
		case limits.types[t.Limit] < 0:
			return rulebook.RuleBudget
		default:
			first = rulebook.RuleGuarantee
		}
	}
	return first
}

// takes returns what the members below a queue free of a type: what law 2
// counts there, and what erodes the room instead.
func (g *gangs) takes(x *gang, q queue.ID, t int) (gone int64) {
	d := g.d
	for _, id := range x.members {
		if d.tree.Contains(q, d.c.tasks[id].leaf) {
			gone += d.c.size(id)[t]
		}
	}
	return gone
}

// keyOf returns the first key of a gang's members, which tells gangs apart.
func (g *gangs) keyOf(gang int32) string { return g.d.c.tasks[g.rows[gang].members[0]].key }

// alone reports whether members of the gang of a task may go one by one, or the
// task is in no gang.
func (g *gangs) alone(row int32) bool { return row < 0 || g.rows[row].surplus > 0 }
