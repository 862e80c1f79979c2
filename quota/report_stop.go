package quota

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// reportStops lists what keeps the rest of each type that stays over: every
// task and grant below q that has some of it, and is not to go, counts for one
// rule. The cost is that of looking at all of them.
func (x *reporter) reportStops(dst *Outcome) {
	if resources.IsZero(dst.Shortfall) {
		return
	}
	x.stops = rows.Zeros(x.stops, x.types)
	for w := range x.tree.Leaves(x.q) {
		next := x.at(w).first // the candidates are in the order of the tasks
		for id := range x.c.TasksIn(w) {
			t := x.c.Head(id)
			row := int32(-1)
			if next < x.at(w).end && x.tasks[next].id == id {
				row = next
				next++
			}
			x.countStop(dst.Shortfall, &t, x.stopOf(&t, row))
		}
	}
	for _, t := range x.list {
		for rule := RuleGuarantee; rule < NumRules; rule++ {
			if s := x.stops[t][rule]; s.Amount > 0 {
				dst.Stops = append(dst.Stops, s)
			}
		}
	}
}

// countStop adds what a task holds of the types that stay over to what its rule
// keeps.
func (x *reporter) countStop(shortfall resources.Vector, t *victims.Head, why Stop) {
	if why.Rule == 0 {
		return
	}
	for _, i := range x.list {
		if shortfall[i] == 0 || t.Size[i] == 0 {
			continue
		}
		s := &x.stops[i][why.Rule]
		if s.Amount == 0 || why.Queue < s.Queue {
			s.Queue = why.Queue
		}
		s.Type, s.Rule = i, why.Rule
		s.Amount += t.Size[i]
	}
}

// stopOf returns the rule that keeps a task, and its queue; the rule is 0 for
// what goes. Its row is below 0 if it is no candidate.
func (x *reporter) stopOf(t *victims.Head, row int32) Stop {
	switch {
	case t.State == victims.Granted:
		return Stop{Rule: RuleGranted, Queue: x.q}
	case t.State != victims.Running, row >= 0 && x.taken[row]:
		return Stop{}
	case x.at(t.Queue).out:
		return Stop{Rule: RuleEnforced, Queue: x.q}
	case row < 0:
		return Stop{Rule: RuleRequiredNode, Queue: x.q}
	}
	c, size := &x.tasks[row], t.Size
	spared := x.budgets.spare(row)
	if !x.mayGoSingly(c) {
		if !x.gangs.rows[c.gang].together {
			return Stop{Rule: RuleGang, Queue: x.q}
		}
		x.rest = x.roster.rest(x.rest, c.gang)
		size, spared = x.rest, x.restSpared(c.gang)
	}
	if p, kept := x.keeper(t.Queue, size); kept {
		return Stop{Rule: RuleGuarantee, Queue: p}
	}
	if !spared {
		return Stop{Rule: RuleBudget, Queue: x.q}
	}
	return Stop{Rule: RuleOvershoot, Queue: x.q}
}
