// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// This file is the part of the slow twin that knows gangs, budgets, blockers
// and the own leaf.

// ownLeaf returns what the queues say of the own leaf, else the option.
func (s slowAudit) ownLeaf() queue.WithinQueue {
	said := s.Cluster.Tree().Policies(s.plan.Ask.Queue).WithinQueue
	if said == "" {
		said = s.WithinQueue
	}
	if said == "" {
		return queue.Never
	}
	return said
}

// second reports whether tasks of the own leaf may go.
func (s slowAudit) second() bool {
	return s.ownLeaf() != queue.Never && s.plan.Ask.RequiredNode == ""
}

func (s slowAudit) isOwn(task *victims.Task) bool {
	e, ok := s.starving()
	branch := ok && s.ownLeaf() == queue.Branch && s.within(task.Queue, e)
	return s.second() && (task.Queue == s.plan.Ask.Queue || branch)
}

// isHere reports whether a victim that helps may be where a task is.
func (s slowAudit) isHere(task *victims.Task) bool {
	return s.plan.Ask.RequiredNode == "" && !s.VictimsOnNode || task.Node == s.plan.Places[0].Node
}

// keeps is law 2 for a queue that guarantees g of type i.
func (s slowAudit) keeps(q queue.ID, i int, g int64) bool {
	before, after := s.used(q, i, s.before), s.used(q, i, s.after)
	onPath := s.within(s.plan.Ask.Queue, q)
	arrives := s.want(i)
	switch {
	case !onPath:
		return after >= min(g, before)
	case !s.second():
		return after+arrives >= min(g, before)
	case before >= g:
		return after+arrives >= g
	}
	return arrives > 0 || after >= before
}

// members counts the members of a job that run, and the victims among them.
func (s slowAudit) members(job string) (running, taken int) {
	for id, task := range s.tasks {
		if task.Job == job && task.State == victims.Running {
			running++
			if s.isVictim(id) {
				taken++
			}
		}
	}
	return running, taken
}

// surplus is how many members of a job may go one by one.
func (s slowAudit) surplus(job string) int {
	running, _ := s.members(job)
	return max(0, running-s.Cluster.MinMembers(job))
}

// beyond reports whether more of a job go than may go one by one.
func (s slowAudit) beyond(job string) bool {
	_, taken := s.members(job)
	return job != "" && taken > s.surplus(job)
}

// whole reports whether a job goes as a whole, because too few could stay.
func (s slowAudit) whole(job string) bool {
	running, taken := s.members(job)
	return taken == running && s.beyond(job)
}

// brought reports whether a job goes as a whole for a member that helps.
func (s slowAudit) brought(job string) bool {
	return s.whole(job) && slices.ContainsFunc(s.plan.Victims, func(v victims.Victim) bool {
		task := s.Cluster.Task(v.Task)
		return task.Job == job && s.isOfUse(v.Task)
	})
}

// isOfUse reports whether a task may be a victim for its own sake.
func (s slowAudit) isOfUse(id victims.TaskID) bool {
	task := s.Cluster.Task(id)
	return task.State == victims.Running && (s.blocks(id) || s.isHere(&task) && s.helps(&task, s.wants))
}

func (s slowAudit) blocks(id victims.TaskID) bool {
	return s.Blockers != nil && slices.Contains(s.Blockers(nil, s.asked()), id)
}

// stopped counts the victims.
func (s slowAudit) stopped() (n int) {
	for id, task := range s.tasks {
		if task.State == victims.Running && s.isVictim(id) {
			n++
		}
	}
	return n
}

// drawn counts the victims that name a budget.
func (s slowAudit) drawn(budget string) (n int64) {
	for id, task := range s.tasks {
		if task.State == victims.Running && s.isVictim(id) && slices.Contains(task.Budgets, budget) {
			n++
		}
	}
	return n
}

// sparesUnit reports whether a unit of the plan can be given back: a victim
// that goes alone, or all of a job but as many of use as may go one by one. Of
// a job that is left with too few nobody comes back alone: with one member
// less the plan breaks the law of gangs still.
func (s slowAudit) sparesUnit() bool {
	jobs := make(map[string][]victims.Victim)
	for _, v := range s.plan.Victims {
		task := s.Cluster.Task(v.Task)
		switch {
		case task.State != victims.Running:
		case s.beyond(task.Job):
			jobs[task.Job] = append(jobs[task.Job], v)
		case !s.blocks(v.Task) && s.doesWithout(v):
			return true
		}
	}
	for job, members := range jobs {
		useful := slices.DeleteFunc(slices.Clone(members), func(v victims.Victim) bool { return !s.isOfUse(v.Task) })
		stay := min(s.surplus(job), len(useful))
		for set := range 1 << len(useful) {
			if bits.OnesCount(uint(set)) != stay {
				continue
			}
			var back []victims.Victim // what is given back
			blocked := false
			for _, v := range members {
				if i := slices.IndexFunc(useful, func(u victims.Victim) bool { return u.Task == v.Task }); i < 0 || set>>i&1 == 0 {
					back = append(back, v)
					blocked = blocked || s.blocks(v.Task)
				}
			}
			if !blocked && s.doesWithout(back...) {
				return true
			}
		}
	}
	return false
}

// doesWithout reports whether there is room for the ask without these victims.
func (s slowAudit) doesWithout(back ...victims.Victim) bool {
	p := *s.plan
	p.Victims = slices.DeleteFunc(slices.Clone(p.Victims), func(v victims.Victim) bool {
		return slices.ContainsFunc(back, func(b victims.Victim) bool { return b.Task == v.Task })
	})
	other := s
	other.plan = &p
	return other.roomOnNode() && other.headroom() && other.predicate()
}
