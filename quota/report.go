// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// report sets dst to what was decided.
func (x *enforcement) report(dst *victims.Decision) {
	fill := lent.To(dst)
	fill.Begin(&victims.Ask{Queue: x.q}, x.c, x.now)
	e, p := &dst.Enforcement, &dst.Plan
	dst.Outcome, e.Result, e.Proven, p.Steps = victims.Fits, "met", !x.finder.unproven, x.finder.steps
	x.vector = rows.Zeros(x.vector, x.types)
	e.Usage, e.Target, e.Freed, e.Shortfall = fill.Keep(x.usage), fill.Keep(x.target), fill.Keep(x.vector), fill.Keep(x.vector)
	for t := range x.vector {
		x.vector[t], _ = x.tree.Max(x.q).Bound(t)
	}
	e.Max = resources.Limit{Value: fill.Keep(x.vector), Defined: x.tree.Max(x.q).Defined}
	if len(x.list) == 0 {
		return
	}
	copy(e.Freed, x.row(x.freed, x.q))
	x.beyond(e.Shortfall, x.target, e.Freed)
	x.reportQueues(dst)
	x.reportVictims(dst)
	x.reportObstacles(dst)
	dst.Outcome = victims.Preempts
	switch {
	case resources.IsZero(e.Shortfall):
	case len(p.Victims) > 0:
		e.Result = "partial"
	default:
		dst.Outcome, e.Result, p.Version = victims.Refused, "impossible", victims.Version{} // there is nothing to apply
		dst.Refusal.Reason, dst.Refusal.Proven = rulebook.NoVictims, e.Proven
	}
}

// reportQueues lists what queues were asked for, and what the leaves made of it.
func (x *enforcement) reportQueues(dst *victims.Decision) {
	fill := lent.To(dst)
	for p := x.q; p < trees.End(x.tree, x.q); p++ {
		part := victims.Part{Queue: x.tree.Path(p)}
		if amount := x.row(x.rounds.parts, p); p != x.q && x.isAny(amount) {
			part.Amount = fill.Keep(amount)
		}
		// What was asked for may have been left to others in the end.
		if asked := x.row(x.rounds.asked, p); x.tree.IsLeaf(p) && x.isAny(asked) {
			part.Asked, part.Freed = fill.Keep(asked), fill.Keep(x.row(x.freed, p))
			for i := x.at(p).first; i < x.at(p).end; i++ {
				if x.task(i).taken {
					part.Victims++
				}
			}
		}
		if part.Amount != nil || part.Asked != nil {
			dst.Enforcement.Parts = append(dst.Enforcement.Parts, part)
		}
	}
}

// reportVictims lists the victims, what they cost, and the grants.
func (x *enforcement) reportVictims(dst *victims.Decision) {
	p, e, fill := &dst.Plan, &dst.Enforcement, lent.To(dst)
	c := &p.Cost
	for i, row := range x.sortByKey() {
		t := x.c.TaskView(x.task(row).id)
		p.Victims = append(p.Victims, victims.Victim{
			Task: x.task(row).id, Key: t.Key, Name: t.Name, Path: x.tree.Path(t.Queue), NodeName: x.c.NodeName(t.Node),
			Priority: t.Priority, Size: fill.Keep(t.Size), Job: t.Job,
			OptedOut: t.OptedOut, Originator: t.Originator, ForHeadroom: true,
			Whole: x.goesWhole(row),
		})
		if i == 0 || int64(t.Priority) > c.MaxPriority {
			c.MaxPriority = int64(t.Priority)
		}
		if t.OptedOut {
			c.OptedOut++
		}
		if t.Originator {
			c.Originators++
		}
		c.SumPriorities += int64(t.Priority)
		c.Own = c.Own.Add(resources.WideOf(t.Cost))
		c.Work = c.Work.Add(x.losses.Work(t.Size, rulebook.Lost(t.Scheduled, t.Checkpoint, x.now)))
		x.losses.Add(t.Size, rulebook.Lost(t.Scheduled, t.Checkpoint, x.now))
	}
	c.Victims = len(p.Victims)
	for i := range x.roster.gangs {
		if x.roster.gangs[i].gone {
			c.Jobs++
		}
	}
	fill.NoteWhole(x.c)
	x.losses.Tell((*rulebook.Cost)(c), x.tree.Schema())
	for w := range x.tree.Leaves(x.q) {
		x.gather(w) // the grants of those that were asked for nothing
	}
	for _, b := range x.roster.budgets {
		if !b.hard {
			c.Overrun += max(b.used-b.left, 0)
		}
	}
	e.Grants = append(e.Grants, x.roster.grants...)
	slices.Sort(e.Grants)
}

// goesWhole reports whether a victim goes with all of its job.
func (x *enforcement) goesWhole(i int32) bool {
	gang := x.task(i).gang
	return gang != noGang && x.roster.gangs[gang].gone
}

// sortByKey makes the line that of the victims, in the order of their keys, and returns it.
func (x *enforcement) sortByKey() []int32 {
	keys := x.walk.line[:0]
	for i := range int32(len(x.roster.tasks)) {
		if x.task(i).taken {
			keys = append(keys, i)
		}
	}
	slices.SortFunc(keys, func(a, b int32) int { return strings.Compare(x.key(a), x.key(b)) })
	x.walk.line = keys
	return keys
}

// reportObstacles lists what keeps the rest of each type that stays over: every
// task and grant below q that has some of it, and is not to go, counts for one
// rule. The cost is that of looking at all of them.
func (x *enforcement) reportObstacles(dst *victims.Decision) {
	e := &dst.Enforcement
	if resources.IsZero(e.Shortfall) {
		return
	}
	x.stops = rows.Zeros(x.stops, x.types)
	for w := range x.tree.Leaves(x.q) {
		next := x.at(w).first // the candidates are in the order of the tasks
		for id := range x.c.TasksIn(w) {
			t := x.c.TaskView(id)
			row := int32(-1)
			if next < x.at(w).end && x.task(next).id == id {
				row = next
				next++
			}
			why, keeper := x.stopOf(id, &t, row)
			x.countStop(e.Shortfall, &t, why, keeper)
		}
	}
	for _, t := range x.list {
		tell := func(rule rulebook.Rule) {
			if s := &x.stops[t][rule]; s.amount > 0 {
				o := victims.Obstacle{Type: t, Rule: rule.String(), Amount: s.amount}
				e.Obstacles = append(e.Obstacles, lent.To(dst).At(o, x.c, s.queue))
				s.amount = 0 // once
			}
		}
		for _, rule := range sumRules {
			tell(rule)
		}
		for rule := range x.stops[t] {
			tell(rulebook.Rule(rule))
		}
	}
}

// sumRules are those of sums, which are told first. The others come in the order of refusals.
var sumRules = [...]rulebook.Rule{
	rulebook.RuleGuarantee, rulebook.RuleBudget, rulebook.RuleGang, rulebook.RuleOvershoot, rulebook.RuleEnforced,
}

// A stop is what a rule keeps of a type, and at which queue.
type stop struct {
	amount int64
	queue  queue.ID
}

// countStop adds what a task holds of the types that stay over to what its rule
// keeps.
func (x *enforcement) countStop(shortfall resources.Vector, t *victims.Task, why rulebook.Rule, keeper queue.ID) {
	if why == 0 {
		return
	}
	for _, i := range x.list {
		if shortfall[i] == 0 || t.Size[i] == 0 {
			continue
		}
		s := &x.stops[i][why]
		if s.amount == 0 || keeper < s.queue {
			s.queue = keeper
		}
		s.amount += t.Size[i]
	}
}

// stopOf returns the rule that keeps a task, and its queue; the rule is 0 for
// what goes. Its row is below 0 if it is no candidate.
func (x *enforcement) stopOf(id victims.TaskID, t *victims.Task, row int32) (rulebook.Rule, queue.ID) {
	switch {
	case t.State == victims.Granted:
		return rulebook.RuleGranted, x.q
	case t.State != victims.Running, row >= 0 && x.task(row).taken:
		return 0, x.q
	case x.at(t.Queue).out:
		return rulebook.RuleEnforced, x.q
	case row < 0 && t.RequiredNode:
		return rulebook.RuleRequiredNode, x.q
	case row < 0:
		return x.later(id), x.q
	}
	singly, together := x.mayGo(row)
	if !singly && !together {
		return rulebook.RuleGang, x.q
	}
	if p, kept := x.keeper(t.Queue, x.sizeOf(row, !singly)); kept {
		return rulebook.RuleGuarantee, p
	}
	if !x.isSpared(row, !singly) {
		return rulebook.RuleBudget, x.q
	}
	return rulebook.RuleOvershoot, x.q
}
