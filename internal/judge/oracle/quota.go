// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// Laws of enforcements, beside those of [Law].
const (
	Part  Law = "part"  // nobody frees more than asked, if that is to be exact
	Kind  Law = "kind"  // victims have some of what is to go
	Scope Law = "scope" // victims are below the queue whose quota is enforced
)

// enforcement is a case of a quota with what follows from it at once. Its judge
// decides over no ask, so that law 2 has its words for queues without one.
type enforcement struct {
	*docket
	c      *world.EnforceCase
	target world.Amounts
}

func newEnforcement(c *world.EnforceCase, victims []*world.Task) *enforcement {
	nobody := &world.Ask{Queue: c.World.Root.Name}
	j := newJudge(&c.World, nobody, &world.Options{Minimums: c.Minimums, Now: c.Now})
	j.quota = c
	return &enforcement{docket: &docket{judge: j, victims: victims}, c: c, target: c.Target()}
}

// EnforceBreaks returns what is wrong with stopping some tasks for a quota:
// nothing, if that is lawful, and nobody of them can be spared. It does not ask
// whether they are enough.
func EnforceBreaks(c *world.EnforceCase, victims []string) []Break {
	e := newEnforcement(c, nil)
	e.victims = e.named(victims)
	if len(e.victims) != len(victims) {
		e.report(Candidate, "somebody is unknown, or twice")
	}
	e.single()
	e.lawful()
	e.spared()
	return e.found
}

// single checks what can be told of one victim by itself. A member of a job that
// goes as a whole need not have any of what is to go.
func (e *enforcement) single() {
	for _, v := range e.victims {
		switch {
		case v.State.Leaving(), v.RequiredNode:
			e.report(Candidate, "%s is leaving, or bound to its node", v)
		case e.early(v) != "":
			e.report(Exempt, "%s: %s", v, e.early(v))
		case !world.Inside(v.Queue, e.c.Queue):
			e.report(Scope, "%s is not below %s", v, e.c.Queue)
		case !shares(v.Size, e.target) && !e.stops(v.Job, e.victims):
			e.report(Kind, "%s has none of %v", v, e.target)
		}
	}
}

// lawful checks the set: law 2, hard budgets, and jobs, which go above their
// minimum or as a whole, and that only if all members are in one leaf below the
// queue and would stop.
func (e *enforcement) lawful() {
	e.guarantees()
	e.budgets()
	for _, job := range e.jobsOf(e.victims) {
		all, n := staff(e.w, job), len(membersOf(job, e.victims))
		scattered := slices.ContainsFunc(all, func(t *world.Task) bool {
			return t.Queue != all[0].Queue || !world.Inside(t.Queue, e.c.Queue) || e.early(t) != ""
		})
		if n > e.surplus(job) && (n < len(all) || scattered) {
			e.report(Gang, "%d of %d members of %s go, which keeps %d", n, len(all), job, e.c.Minimums[job])
		}
	}
	for t, over := range e.target {
		if freed := freedBelow(e.victims, e.c.Queue, t); e.c.Exact && freed > over {
			e.report(Part, "%d of %s go of %d", freed, t, over)
		}
	}
}

// spared checks the last trim: nothing that goes back leaves as much freed of what is to
// go, neither a task by itself nor as many members of a gang that went whole as it needs.
func (e *enforcement) spared() {
	for _, v := range e.victims {
		if !e.stops(v.Job, e.victims) {
			if back := []*world.Task{v}; e.spares(back) {
				e.report(Minimal, "%v can be given back", keysOf(back))
			}
			continue
		}
		if members := membersOf(v.Job, e.victims); v == members[0] { // once per job
			e.sparedOf(nil, members, max(len(members)-e.surplus(v.Job), 1))
		}
	}
}

// sparedOf checks all sets of so many members of a gang that went whole, and reports whether
// one can be given back.
func (e *enforcement) sparedOf(back, rest []*world.Task, missing int) bool {
	if missing == 0 {
		if e.spares(back) {
			e.report(Minimal, "%v can be given back", keysOf(back))
			return true
		}
		return false
	}
	for i := range rest {
		if e.sparedOf(append(slices.Clone(back), rest[i]), rest[i+1:], missing-1) {
			return true // the others say no more
		}
	}
	return false
}

// spares reports whether some victims can stay and no type's shortfall grows.
func (e *enforcement) spares(back []*world.Task) bool {
	for t, over := range e.target {
		freed := freedBelow(e.victims, e.c.Queue, t)
		if freed-freedBelow(back, e.c.Queue, t) < min(over, freed) {
			return false
		}
	}
	return true
}

// CanMeet reports whether there is a lawful set of victims that meets the
// target. It looks at every set of tasks below the queue that may go.
func CanMeet(c *world.EnforceCase) bool {
	e := newEnforcement(c, nil)
	var candidates []*world.Task
	for i := range c.World.Tasks {
		one := newEnforcement(c, []*world.Task{&c.World.Tasks[i]})
		one.single()
		kind := func(b Break) bool { return b.Law == Kind }
		if len(slices.DeleteFunc(one.found, kind)) == 0 {
			candidates = append(candidates, &c.World.Tasks[i])
		}
	}
	return e.canMeet(nil, candidates)
}

func (e *enforcement) canMeet(chosen, rest []*world.Task) bool {
	with := newEnforcement(e.c, chosen)
	if with.guarantees(); len(with.found) > 0 {
		return false // nor is any larger set lawful
	}
	with.lawful()
	with.single()
	if len(with.found) == 0 && with.enough() {
		return true
	}
	for i, v := range rest {
		if e.canMeet(append(slices.Clone(chosen), v), rest[i+1:]) {
			return true
		}
	}
	return false
}

// enough reports whether the victims meet the target.
func (e *enforcement) enough() bool {
	for t, over := range e.target {
		if freedBelow(e.victims, e.c.Queue, t) < over {
			return false
		}
	}
	return true
}
