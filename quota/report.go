// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// report sets dst to what was decided.
func (x *enforcement) report(dst *Outcome, most resources.Limit) {
	*dst = Outcome{
		Result: met, Queue: x.q, Path: x.tree.Path(x.q), Proven: !x.finder.unproven, Steps: x.finder.steps, Version: x.c.Version(), At: x.now,
		Parts: dst.Parts[:0], Leaves: dst.Leaves[:0], Victims: dst.Victims[:0],
		Stops: dst.Stops[:0], Grants: dst.Grants[:0], Jobs: dst.Jobs[:0], block: dst.block[:0],
	}
	x.reserve(dst)
	dst.Usage = dst.copy(x.usage)
	dst.Max = resources.Limit{Value: dst.amounts(x.types), Defined: most.Defined}
	for t := range most.Defined.All() {
		dst.Max.Value[t], _ = most.Bound(t)
	}
	dst.Target = dst.copy(x.target)
	dst.Freed, dst.Shortfall = dst.amounts(x.types), dst.amounts(x.types)
	if len(x.list) == 0 {
		return
	}
	copy(dst.Freed, x.row(x.freed, x.q))
	x.beyond(dst.Shortfall, x.target, dst.Freed)
	x.reportQueues(dst)
	x.reportVictims(dst)
	x.reportStops(dst)
	x.reportJobs(dst)
	for _, b := range x.roster.budgets {
		if !b.hard {
			dst.Overrun += max(b.used-b.left, 0)
		}
	}
	switch {
	case resources.IsZero(dst.Shortfall):
	case x.e.Miss.Allows(dst.Shortfall, dst.Target):
		dst.Result = metWithinMiss
	case len(dst.Victims) > 0:
		dst.Result = partial
	default:
		dst.Result = impossible
	}
}

// reserve makes room for all amounts of an outcome, so that they are cut from
// one piece of memory.
func (x *enforcement) reserve(dst *Outcome) {
	rows := 5
	if len(x.list) > 0 {
		rows += 3 * x.len()        // no queue has more than a part and, as a leaf, two amounts more
		rows += len(x.sortByKey()) // the victims' sizes
	}
	dst.block = slices.Grow(dst.block, rows*x.types)
}

// amounts returns n zero amounts of the outcome's memory.
func (o *Outcome) amounts(n int) resources.Vector {
	from := len(o.block)
	o.block = o.block[:from+n]
	clear(o.block[from:])
	return o.block[from : from+n : from+n]
}

func (o *Outcome) copy(v resources.Vector) resources.Vector {
	dst := o.amounts(len(v))
	copy(dst, v)
	return dst
}

// reportQueues lists the parts and what the leaves made of them.
func (x *enforcement) reportQueues(dst *Outcome) {
	for p := x.q; p < trees.End(x.tree, x.q); p++ {
		if part := x.row(x.rounds.parts, p); p != x.q && x.isAny(part) {
			dst.Parts = append(dst.Parts, Part{Queue: p, Amount: dst.copy(part)})
		}
		if !x.tree.IsLeaf(p) {
			continue
		}
		// What was asked for may have been left to others in the end.
		if asked := x.row(x.rounds.asked, p); x.isAny(asked) {
			leaf := Leaf{Queue: p, Asked: dst.copy(asked), Freed: dst.copy(x.row(x.freed, p))}
			row := x.at(p)
			for i := row.first; i < row.end; i++ {
				if x.task(i).taken {
					leaf.Victims++
				}
			}
			dst.Leaves = append(dst.Leaves, leaf)
		}
	}
}

// reportVictims lists the victims and the grants.
func (x *enforcement) reportVictims(dst *Outcome) {
	sorted := x.walk.line // see reserve
	dst.Victims = slices.Grow(dst.Victims, len(sorted))
	for _, row := range sorted {
		c := x.task(row)
		t := x.c.TaskView(c.id)
		dst.Victims = append(dst.Victims, victims.Victim{
			Task: c.id, Key: t.Key, Name: t.Name, Path: x.tree.Path(t.Queue), Place: x.c.NodeName(t.Node),
			Priority: t.Priority, Size: dst.copy(t.Size), Job: t.Job,
			OptedOut: t.OptedOut, Originator: t.Originator, ForHeadroom: true,
		})
	}
	for w := range x.tree.Leaves(x.q) {
		x.gather(w) // the grants of those that were asked for nothing
	}
	dst.Grants = append(dst.Grants, x.roster.grants...)
	slices.Sort(dst.Grants)
}

// reportJobs lists the jobs that go as a whole.
func (x *enforcement) reportJobs(dst *Outcome) {
	for i := range x.roster.gangs {
		g := &x.roster.gangs[i]
		if !g.gone {
			continue
		}
		loss := JobLoss{Job: x.c.Job(x.task(g.last).id)}
		loss.Minimum = x.c.MinMembers(loss.Job)
		for m := g.last; m != noTask; m = x.task(m).next {
			loss.Victims++
		}
		dst.Jobs = append(dst.Jobs, loss)
	}
	slices.SortFunc(dst.Jobs, func(a, b JobLoss) int { return strings.Compare(a.Job, b.Job) })
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

// reportStops lists what keeps the rest of each type that stays over: every
// task and grant below q that has some of it, and is not to go, counts for one
// rule. The cost is that of looking at all of them.
func (x *enforcement) reportStops(dst *Outcome) {
	if resources.IsZero(dst.Shortfall) {
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
			why, keeper := x.stopOf(&t, row)
			x.countStop(dst.Shortfall, &t, why, keeper)
		}
	}
	for _, t := range x.list {
		for _, rule := range stopRules {
			if s := x.stops[t][rule]; s.Amount > 0 {
				dst.Stops = append(dst.Stops, s)
			}
		}
	}
}

// stopRules are the rules that keep tasks from a quota, in the order in which they are told.
var stopRules = [...]rulebook.Rule{
	rulebook.RuleGuarantee, rulebook.RuleBudget, rulebook.RuleGang, rulebook.RuleOvershoot,
	rulebook.RuleEnforced, rulebook.RuleRequiredNode, rulebook.RuleRefused, rulebook.RuleGranted,
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
		if s.Amount == 0 || keeper < s.Queue {
			s.Queue = keeper
		}
		s.Type, s.Rule = i, why.String()
		s.Amount += t.Size[i]
	}
}

// stopOf returns the rule that keeps a task, and its queue; the rule is 0 for
// what goes. Its row is below 0 if it is no candidate.
func (x *enforcement) stopOf(t *victims.Task, row int32) (rulebook.Rule, queue.ID) {
	switch {
	case t.State == victims.Granted:
		return rulebook.RuleGranted, x.q
	case t.State != victims.Running, row >= 0 && x.task(row).taken:
		return 0, x.q
	case x.at(t.Queue).out:
		return rulebook.RuleEnforced, x.q
	case row < 0 && t.RefusedUntil.After(x.now):
		return rulebook.RuleRefused, x.q
	case row < 0:
		return rulebook.RuleRequiredNode, x.q
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
