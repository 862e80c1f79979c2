// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// victim audits a victim by itself and counts what it frees.
func (x *inspection) victim(v *victims.Victim) {
	fault := func(law string) { x.report(victims.Violation{Law: law, Victim: v.Key}) }
	id, ok := x.c.Lookup(v.Key)
	if !ok || id != v.Task {
		fault(finding.LawKnown)
		return
	}
	if x.listed[id] {
		fault(finding.LawOnce)
		return
	}
	x.listed[id] = true
	t := x.c.TaskView(id)
	if t.State != victims.Running {
		fault(finding.LawLeaving)
	}
	if t.RequiredNode {
		fault(finding.LawRequiredTask)
	}
	inside := x.tree.Contains(x.o.Queue, t.Queue)
	if !inside {
		fault(finding.LawInside)
	}
	if x.busy(t.Queue) {
		fault(finding.LawEnforced)
	}
	if !x.any(x.unitOf(&t), func(i int) bool { return x.target[i] > 0 }) {
		fault(finding.LawHelpful)
	}
	if t.State != victims.Running {
		return
	}
	for q := range x.tree.Up(t.Queue) {
		for i, size := range t.Size {
			x.taken[int(q)*x.types+i] += size
		}
	}
	if inside {
		x.good = append(x.good, id)
	}
}

// busy reports whether a leaf is, or is below, a queue below the outcome's that
// is being enforced already.
func (x *inspection) busy(leaf queue.ID) bool {
	if x.a.Enforced == nil {
		return false
	}
	for q := range x.tree.Up(leaf) {
		if q == x.o.Queue {
			break
		}
		if x.a.Enforced(q) {
			return true
		}
	}
	return false
}

// any reports whether some amounts have a type of some.
func (x *inspection) any(amounts []int64, some func(int) bool) bool {
	for i, v := range amounts {
		if v > 0 && some(i) {
			return true
		}
	}
	return false
}

// auditedGang is a job that has a minimum, as the cluster has it.
type auditedGang struct {
	spare, running, gone int
	together             bool     // all members that run are in one leaf, and none is bound to a node
	leaf                 queue.ID // of one of them
	members              []string // that are victims, in the order of the outcome
}

// gang returns the gang of a job, or nil for what has no minimum.
func (x *inspection) gang(job string) *auditedGang {
	if x.a.Minimum == nil || job == "" {
		return nil
	}
	if g, known := x.gangs[job]; known {
		return g
	}
	least := x.a.Minimum(job)
	if x.gangs[job] = nil; least <= 0 {
		return nil
	}
	g := &auditedGang{together: true, leaf: -1}
	x.gangs[job] = g
	for id := range x.c.JobTasks(job) {
		t := x.c.TaskView(id)
		if t.State != victims.Running {
			continue
		}
		if g.running++; g.leaf < 0 {
			g.leaf = t.Queue
		}
		g.together = g.together && g.leaf == t.Queue && !t.RequiredNode
	}
	if g.running > least {
		g.spare = g.running - least
	}
	return g
}

// countGangs counts the members of gangs among the victims, each once.
func (x *inspection) countGangs() {
	seen := make(map[victims.TaskID]bool)
	for i := range x.o.Victims {
		v := &x.o.Victims[i]
		id, ok := x.c.Lookup(v.Key)
		if !ok || id != v.Task || seen[id] {
			continue
		}
		seen[id] = true
		if t := x.c.TaskView(id); t.State == victims.Running {
			if g := x.gang(t.Job); g != nil {
				g.gone++
				g.members = append(g.members, t.Key)
			}
		}
	}
}

// judgeGangs reports jobs that lose more than they can spare and do not go as a
// whole, from one leaf.
func (x *inspection) judgeGangs() {
	for i := range x.o.Victims {
		key := x.o.Victims[i].Key
		id, ok := x.c.Lookup(key)
		if !ok {
			continue
		}
		g := x.gang(x.c.Job(id))
		if g == nil || len(g.members) == 0 || g.members[0] != key || g.gone <= g.spare {
			continue
		}
		if g.gone < g.running || !g.together {
			x.report(victims.Violation{Law: finding.LawGang, Victim: key})
		}
	}
}

// unitOf returns what goes with a victim: all of its gang, if that goes as a
// whole.
func (x *inspection) unitOf(t *victims.Task) []int64 {
	if g := x.gang(t.Job); g != nil && g.gone > g.spare {
		return x.sumOf(t.Job, func(victims.TaskID) bool { return true })
	}
	return t.Size
}

// sumOf adds up the running members of a job for which some holds.
func (x *inspection) sumOf(job string, some func(victims.TaskID) bool) []int64 {
	sum := make([]int64, x.types)
	for id := range x.c.JobTasks(job) {
		if t := x.c.TaskView(id); t.State == victims.Running && some(id) {
			for i, v := range t.Size {
				sum[i] += v
			}
		}
	}
	return sum
}

// comesBack reports whether as many members of a gang that goes as it needs to run could
// stay, and no less of the target would be freed. It looks at all sets of members, and if
// they are too many it says no.
func (x *inspection) comesBack(g *auditedGang) bool {
	steps := 1 << 14
	spare := make([]int64, x.types)
	for t := range spare {
		gone := x.gone(x.o.Queue, t)
		spare[t] = gone - min(x.target[t], gone)
	}
	var some func(rest []string, missing int) bool
	some = func(rest []string, missing int) bool {
		if missing == 0 {
			return true
		}
		for i := 0; i+missing <= len(rest) && steps > 0; i++ {
			steps--
			id, _ := x.c.Lookup(rest[i])
			size := x.c.TaskView(id).Size
			fits := true
			for t, v := range size {
				spare[t] -= v
				fits = fits && spare[t] >= 0
			}
			if fits && some(rest[i+1:], missing-1) {
				return true
			}
			for t, v := range size {
				spare[t] += v
			}
		}
		return false
	}
	return some(g.members, max(len(g.members)-g.spare, 1))
}

// goesWith returns what goes with a task that stays, and the budgets of it all:
// itself, or all that is left of its gang. It is not ok if neither can go.
func (x *inspection) goesWith(t *victims.Task) (size []int64, budgets map[string]int64, ok bool) {
	budgets = make(map[string]int64)
	g := x.gang(t.Job)
	if g == nil || g.gone < g.spare {
		for _, name := range t.Budgets {
			budgets[name]++
		}
		return t.Size, budgets, true
	}
	if !g.together {
		return nil, nil, false
	}
	size = x.sumOf(t.Job, func(id victims.TaskID) bool {
		if x.listed[id] {
			return false
		}
		for _, name := range x.c.TaskView(id).Budgets {
			budgets[name]++
		}
		return true
	})
	return size, budgets, true
}

// spent counts the victims of each budget.
func (x *inspection) spent() map[string]int64 {
	count := make(map[string]int64)
	for _, id := range x.good {
		for _, name := range x.c.TaskView(id).Budgets {
			count[name]++
		}
	}
	return count
}

// judgeBudgets reports hard budgets that are overrun, and what the outcome says
// of soft ones.
func (x *inspection) judgeBudgets() {
	count, overrun := x.spent(), int64(0)
	for name, b := range x.c.Budgets() {
		have, want := count[name], max(b.Left, 0)
		switch {
		case have <= want:
		case b.Hard:
			x.report(victims.Violation{Law: finding.LawBudget, Budget: name, Have: have, Want: want})
		default:
			overrun += have - want
		}
	}
	if x.o.Overrun != overrun {
		x.report(victims.Violation{Law: finding.LawOverrun, Have: x.o.Overrun, Want: overrun})
	}
}

// affordable reports whether hard budgets can bear so many more.
func (x *inspection) affordable(more map[string]int64) bool {
	if len(more) == 0 {
		return true
	}
	count := x.spent()
	for name, b := range x.c.Budgets() {
		if b.Hard && more[name] > 0 && count[name]+more[name] > max(b.Left, 0) {
			return false
		}
	}
	return true
}
