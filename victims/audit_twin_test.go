// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// slowAudit is the slow twin of the audit, written for reading: it adds
// everything up from the list of tasks, as it is before and as it will be
// after the plan, and holds that against each law as its sentence says. It
// wants a well-formed plan, whose victims are tasks of the cluster.
type slowAudit struct {
	*victims.Auditor
	plan *victims.Plan
	now  time.Time
}

// broken returns the laws that the plan breaks.
func (s slowAudit) broken() map[string]bool {
	laws := s.brokenAlone()
	if len(laws) == 0 && s.exchangeable() {
		laws[finding.LawOptedOut] = true
	}
	return laws
}

// exchangeable reports whether the plan would be lawful, if perhaps not
// minimal, with an opted-in task in the place of an opted-out one.
func (s slowAudit) exchangeable() bool {
	takesOwn := slices.ContainsFunc(s.plan.Victims, func(v victims.Victim) bool {
		return s.Cluster.Task(v.Task).Queue == s.plan.Ask.Queue
	})
	for i, v := range s.plan.Victims {
		if out := s.Cluster.Task(v.Task); !out.OptedOut || s.blocks(v.Task) || s.whole(out.Job) {
			continue
		}
		for id, task := range s.tasks {
			if task.OptedOut || task.State == victims.Granted || s.isVictim(id) || s.isOwn(&task) && !takesOwn {
				continue
			}
			p := *s.plan
			p.Victims = slices.Clone(p.Victims)
			p.Victims[i] = victims.Victim{Task: id, Key: task.Key}
			other := s
			other.plan = &p
			laws := other.brokenAlone()
			delete(laws, finding.LawMinimal)
			if len(laws) == 0 {
				return true
			}
		}
	}
	return false
}

// brokenAlone returns the laws that the plan breaks, but for law 1.
func (s slowAudit) brokenAlone() map[string]bool {
	laws := make(map[string]bool)
	check := func(ok bool, l string) {
		if !ok {
			laws[l] = true
		}
	}
	ask, tree := &s.plan.Ask, s.Cluster.Tree()
	free := ask.RequiredNode == "" // to run anywhere: queues protect
	node := s.Cluster.Node(s.plan.Places[0].Node)

	grant, held := s.grant()
	check(!free || held || !node.Unschedulable, finding.LawSchedulable)
	check(!free || held || node.ReservedFor == "" || node.ReservedFor == ask.Key, finding.LawReserved)
	check(free || node.Name == ask.RequiredNode, finding.LawRequiredNode)
	check(held || s.Filter == nil || s.Filter(s.asked()), finding.LawFilter)
	if held {
		check(grant.Node == s.plan.Places[0].Node && len(s.plan.Victims) == 0, finding.LawInFlight)
	}
	if len(s.plan.Victims) > 0 {
		early := s.now.Before(ask.PendingSince.Add(*tree.Policies(ask.Queue).PreemptionDelay))
		soon := !ask.LastAttempt.IsZero() && s.now.Before(ask.LastAttempt.Add(s.RetryInterval))
		check(!ask.MayNotPreempt, finding.LawMayPreempt)
		check(!free || !early, finding.LawDelay)
		check(!soon, finding.LawInterval)
		for q := range tree.Ancestors(ask.Queue) {
			for i := range s.wants {
				m, ok := tree.Max(q).Bound(i)
				check(!ok || s.second() || s.used(q, i, s.before) <= m, finding.LawMax)
			}
		}
		others := slices.ContainsFunc(s.plan.Victims, func(v victims.Victim) bool {
			task := s.Cluster.Task(v.Task)
			return !s.isOwn(&task)
		})
		check(!free || !others || s.triggers(), finding.LawTrigger)
	}

	for _, v := range s.plan.Victims {
		task := s.Cluster.Task(v.Task)
		check(task.Application != ask.Application || !free && s.TakeOwnApplication, finding.LawApplication)
		check(task.State == victims.Running, finding.LawLeaving)
		check(!task.RequiredNode, finding.LawRequiredTask)
		if s.Exempt != nil {
			until, exempt := s.Exempt(&victims.Question{Cluster: s.Cluster, Task: v.Task, Ask: ask, Now: s.now})
			check(!exempt || !until.IsZero() && !s.now.Before(until), finding.LawExempt)
		}
		brought, own := s.brought(task.Job), s.isOwn(&task)
		check(s.isHere(&task) || brought, finding.LawNearby)
		var rank int
		switch {
		case !free:
			rank = int(task.Priority) - int(ask.Priority)
		case own && task.Queue == ask.Queue:
			rank = int(task.Priority) - int(ask.Priority)
			check(rank != 0, finding.LawPriority)
		default:
			rank = int(fence.Rank(tree, fence.Priority{Leaf: task.Queue, Raw: task.Priority}, fence.Priority{Leaf: ask.Queue, Raw: ask.Priority}))
			below := strings.HasPrefix(tree.Path(task.Queue)+".", tree.Path(fence.Root(tree, ask.Queue))+".")
			check(below && task.Queue != ask.Queue, finding.LawFence)
			e, ok := s.starving()
			check(!ok || own || !s.within(task.Queue, e), finding.LawStorm)
			check(!own || rank != 0, finding.LawPriority)
			check(brought || s.blocks(v.Task) || s.gives(&task) || !s.helps(&task, s.wants), finding.LawSurplus)
		}
		check(!free || tree.Policies(task.Queue).Preemption != queue.Disabled, finding.LawDisabled)
		check(brought || s.blocks(v.Task) || s.helps(&task, s.wants), finding.LawHelpful)
		check(rank < 0 || rank == 0 && !s.StrictPriority, finding.LawPriority)
	}

	if free {
		for q := range queue.ID(tree.Len()) {
			for i := range tree.Schema().Len() {
				g, ok := tree.Guaranteed(q).Bound(i)
				check(!ok || s.keeps(q, i, g), finding.LawGuarantee)
			}
		}
	}
	for _, task := range s.tasks {
		running, taken := s.members(task.Job)
		spare := s.surplus(task.Job)
		check(task.Job == "" || taken <= spare || taken == running, finding.LawGang)
	}
	check(s.MaxVictims == 0 || s.stopped() <= s.MaxVictims, "max-victims")
	for name, b := range s.Cluster.Budgets() {
		check(!b.Hard || s.drawn(name) <= max(0, b.Left), finding.LawBudget)
	}
	if s.Blockers != nil {
		for _, id := range s.Blockers(nil, s.asked()) {
			task := s.Cluster.Task(id)
			switch {
			case task.State == victims.Granted:
				check(held && !s.before(id), finding.LawBlocker)
			case held:
				check(false, finding.LawBlocker)
			default:
				check(task.State != victims.Running || s.isVictim(id), finding.LawBlocker)
			}
		}
	}
	check(s.roomOnNode(), finding.LawRoom)
	check(s.headroom(), finding.LawHeadroom)
	check(s.predicate(), finding.LawPredicate)
	if s.roomOnNode() && s.headroom() {
		check(!s.sparesUnit(), finding.LawMinimal)
	}
	return laws
}

// tasks yields everything in the cluster, grants included.
func (s slowAudit) tasks(yield func(victims.TaskID, victims.Task) bool) {
	for id := range s.Cluster.Tasks() {
		if !yield(id, s.Cluster.Task(id)) {
			return
		}
	}
}

// wants yields the types that the ask has some of.
func (s slowAudit) wants(yield func(int) bool) {
	for i, n := range s.plan.Ask.Size {
		if n > 0 && !yield(i) {
			return
		}
	}
}

func (s slowAudit) want(i int) int64 {
	if i < len(s.plan.Ask.Size) {
		return s.plan.Ask.Size[i]
	}
	return 0
}

func (s slowAudit) isVictim(id victims.TaskID) bool {
	return slices.ContainsFunc(s.plan.Victims, func(v victims.Victim) bool { return v.Task == id })
}

func (s slowAudit) grant() (victims.Task, bool) {
	for _, task := range s.tasks {
		if task.State == victims.Granted && task.Key == s.plan.Ask.Key {
			return task, true
		}
	}
	return victims.Task{}, false
}

// before reports whether a task counts before the plan: what is leaving does
// only for an ask that holds a grant, and the grant itself does not, nor do
// those that were given on its node after it.
func (s slowAudit) before(id victims.TaskID) bool {
	task := s.Cluster.Task(id)
	own, held := s.grant()
	if held && task.State == victims.Granted && task.Node == own.Node {
		order := slices.Collect(s.Cluster.Granted())
		mine, _ := s.Cluster.LookupGrant(own.Key)
		return slices.Index(order, id) < slices.Index(order, mine)
	}
	return held || task.State == victims.Running || task.State == victims.Granted
}

// after reports whether a task counts after the plan. What is leaving stays
// where it counts: a plan cannot make it go.
func (s slowAudit) after(id victims.TaskID) bool {
	gone := s.isVictim(id) && s.Cluster.Task(id).State == victims.Running
	return s.before(id) && !gone
}

// within reports whether q is a or below it.
func (s slowAudit) within(q, a queue.ID) bool {
	return slices.Contains(slices.Collect(s.Cluster.Tree().Ancestors(q)), a)
}

// used adds up what of type i the tasks below q have that count.
func (s slowAudit) used(q queue.ID, i int, counts func(victims.TaskID) bool) (sum int64) {
	for id, task := range s.tasks {
		if counts(id) && s.within(task.Queue, q) {
			sum += task.Size[i]
		}
	}
	return sum
}

// roomOnNode reports whether the node holds what is left and the ask.
func (s slowAudit) roomOnNode() bool {
	return s.fitsNode(s.after, s.wants)
}

func (s slowAudit) fitsNode(counts func(victims.TaskID) bool, types func(func(int) bool)) bool {
	for i := range types {
		sum := s.want(i)
		for id, task := range s.tasks {
			if counts(id) && task.Node == s.plan.Places[0].Node {
				sum += task.Size[i]
			}
		}
		if sum > s.Cluster.Node(s.plan.Places[0].Node).Capacity[i] {
			return false
		}
	}
	return true
}

// headroom reports whether every queue above the ask holds what is left and
// the ask.
func (s slowAudit) headroom() bool {
	tree := s.Cluster.Tree()
	for q := range tree.Ancestors(s.plan.Ask.Queue) {
		for i := range s.wants {
			if m, ok := tree.Max(q).Bound(i); ok && s.used(q, i, s.after)+s.want(i) > m {
				return false
			}
		}
	}
	return true
}

// asked returns the question about the ask and its node.
func (s slowAudit) asked() *victims.Question {
	q := lent.To(new(victims.Options)).Question(s.Cluster, &s.plan.Ask, s.now)
	q.Node = s.plan.Places[0].Node
	return q
}

func (s slowAudit) predicate() bool {
	if s.Predicate == nil {
		return true
	}
	ids := make(map[victims.TaskID]bool)
	for _, v := range s.plan.Victims {
		if s.Cluster.Task(v.Task).State == victims.Running {
			ids[v.Task] = true
		}
	}
	q := s.asked()
	q.Victims = slices.Sorted(maps.Keys(ids))
	return s.Predicate(q)
}

// triggers is law 4.
func (s slowAudit) triggers() bool {
	tree, governed := s.Cluster.Tree(), false
	for i := range s.wants {
		for q := range tree.Ancestors(s.plan.Ask.Queue) {
			if g, ok := tree.Guaranteed(q).Bound(i); ok {
				if s.used(q, i, s.before) >= g {
					return false
				}
				governed = true
				break
			}
		}
	}
	return governed
}

// starving returns E: from the leaf upwards, the first queue that guarantees a
// type of the ask is the lowest that governs one.
func (s slowAudit) starving() (queue.ID, bool) {
	tree := s.Cluster.Tree()
	for q := range tree.Ancestors(s.plan.Ask.Queue) {
		for i := range s.wants {
			if _, ok := tree.Guaranteed(q).Bound(i); ok {
				return q, true
			}
		}
	}
	return 0, false
}

// helps reports whether without the task, and no other, the node or a queue
// would be nearer to having room for the ask in one of the types.
func (s slowAudit) helps(task *victims.Task, types func(func(int) bool)) bool {
	tree := s.Cluster.Tree()
	for i := range types {
		only := func(yield func(int) bool) { yield(i) }
		if task.Size[i] == 0 {
			continue
		}
		if task.Node == s.plan.Places[0].Node && !s.fitsNode(s.before, only) {
			return true
		}
		for q := range tree.Ancestors(s.plan.Ask.Queue) {
			m, ok := tree.Max(q).Bound(i)
			if ok && s.within(task.Queue, q) && s.used(q, i, s.before)+s.want(i) > m {
				return true
			}
		}
	}
	return false
}

// gives is law 5: there is a type in which the task helps and that no queue,
// from its leaf to below the common ancestor, has too little of to give.
func (s slowAudit) gives(task *victims.Task) bool {
	tree := s.Cluster.Tree()
	for i := range s.wants {
		only := func(yield func(int) bool) { yield(i) }
		if !s.helps(task, only) {
			continue
		}
		over := true
		for q := range tree.Ancestors(task.Queue) {
			if s.within(s.plan.Ask.Queue, q) {
				break
			}
			if g, ok := tree.Guaranteed(q).Bound(i); ok && s.used(q, i, s.before) <= g {
				over = false
			}
		}
		if over {
			return true
		}
	}
	return false
}
