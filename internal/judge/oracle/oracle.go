// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// The outcomes, in the words of package victims.
const (
	Fits     = "fits"
	Waits    = "waits"
	Preempts = "plan"
	Refused  = "refused"
)

// A Result is what was decided, in plain words.
type Result struct {
	Outcome string

	// For any outcome but Refused. The cost is that of a plan with victims.
	Node    string
	Victims []Victim // sorted by key
	Cost    Cost
	OwnLeaf bool // some victims are of the ask's own leaf; or the refusal is of that stage

	// For Refused. Counts, Candidates, Closest and Lacks are those of the
	// reason no-victims.
	Reason      string
	Also        string         // what kept the ask from others, if the refusal is of the stage of the own leaf
	Where       []string       // every queue and type that the reason is true of, as "path type"
	Counts      map[string]int // tasks by the rule that kept them, without zeros
	ProtectedBy string         // of the count guarantee, as "path type"
	Cause       string         // why it could not run even in an empty cluster; see judge.cause
	Candidates  int
	Closest     string
	Lacks       world.Amounts // without zeros
	RetryAt     time.Time
	Filtered    int      // nodes that the filter refused; of the reason no-victims
	WaitsFor    []string // for the reason in-flight, sorted
}

// A Victim is a task of a plan, and what for: whether it has some of what the
// node of the plan needs, and of what a queue above it lacks in headroom.
type Victim struct {
	Key                  string
	Rank                 int64
	ForNode, ForHeadroom bool
}

// Decide decides the ask of a case. The cost is exponential in the number of
// tasks that could be victims.
func Decide(c *world.Case) Result {
	j := newJudge(&c.World, &c.Ask, &c.Options)
	r := j.decide()
	if r.Outcome == Refused && r.Reason != "in-flight" && r.Reason != "unknown-node" {
		r.Cause = j.cause(c.Ask.Size, j.usable)
	}
	return r
}

func (j *judge) decide() Result {
	// DESIGN.md, Fits and waits: a place as things are, or as they will be.
	if i, ok := j.grant(); ok {
		return j.start(i)
	}
	if outcome, node := j.placed(); outcome != "" {
		return Result{Outcome: outcome, Node: node}
	}

	// DESIGN.md, Cost: the cheapest of all lawful sets on all nodes.
	if p, ok := j.decided(); ok {
		return j.plan(p)
	}

	// DESIGN.md, Refusals: why not.
	reason, retry := j.precondition()
	second := j.mayTakeOwn() && !slices.Contains(untouched, reason)
	if second && j.hasOthers() {
		// What could be done about the own leaf is what is told.
		r := j.again().noPlan()
		r.OwnLeaf, r.RetryAt = true, j.wake()
		if slices.Contains([]string{"over-max", "not-guaranteed", "over-guarantee", "headroom-inside"}, reason) {
			r.Also, r.Where = reason, j.where(reason)
		}
		if !slices.ContainsFunc(j.w.Queues(), func(q world.Place) bool { return q.IsLeaf() && j.inSecond(q.Path) }) {
			return Result{Outcome: Refused, OwnLeaf: true, Reason: "nothing-in-reach", Also: r.Also, Where: r.Where, RetryAt: r.RetryAt}
		}
		return r
	}
	if reason != "" {
		r := Result{Outcome: Refused, Reason: reason, Where: j.where(reason), RetryAt: retry}
		if second {
			r.RetryAt = j.wake()
		}
		return r
	}
	return j.noPlan()
}

// hasOthers reports whether the own leaf, or branch, has tasks of other applications.
func (j *judge) hasOthers() bool {
	return slices.ContainsFunc(j.w.Tasks, func(t world.Task) bool {
		return j.owns(t.Queue) && t.Application != j.ask.Application
	})
}

// inSecond reports whether tasks of a leaf may go in the second stage, as far as queues are
// concerned.
func (j *judge) inSecond(leaf string) bool {
	return !j.disabled(leaf) && (leaf == j.ask.Queue || j.inReach(leaf) && (j.owns(leaf) || j.entitled() && !j.insideStarving(leaf)))
}

// noPlan says why an ask that may have victims finds none.
func (j *judge) noPlan() Result {
	r := Result{
		Outcome: Refused, Counts: make(map[string]int), RetryAt: j.wake(), Filtered: j.filtered(),
	}
	var kept [][]*world.Task
	for i := range j.w.Tasks {
		t := &j.w.Tasks[i]
		switch rule := j.rule(t); rule {
		case "":
			r.Candidates++
		case "guarantee":
			if kept = append(kept, []*world.Task{t}); j.bound(t) && j.surplus(t.Job) == 0 {
				kept[len(kept)-1] = staff(j.w, t.Job)
			}
			fallthrough
		default:
			r.Counts[rule]++
		}
	}
	r.Reason = j.obstacle(func(free *judge) bool {
		_, ok := free.best()
		return ok
	})
	r.ProtectedBy = j.protector(kept, nil)
	r.Closest, r.Lacks = j.closest()
	return r
}

// protector returns the first queue in tree order, and there the first type, that by itself keeps
// one of some units, or that some tasks cannot leave together, one of whom uses it there.
func (j *judge) protector(units [][]*world.Task, together []*world.Task) string {
	for _, q := range j.w.Queues() {
		for _, ty := range j.w.Types {
			if _, guaranteed := q.Guaranteed[ty]; !guaranteed {
				continue
			}
			lawful := func(d *docket) {
				if !d.lawful(q.Path, ty, d.after(q.Path, ty)) {
					d.report(Law2, "%s of %s", ty, q.Path)
				}
			}
			keeps := func(unit []*world.Task) bool { return !j.holds("", unit, lawful) }
			uses := func(t *world.Task) bool { return t.Size[ty] > 0 && world.Inside(t.Queue, q.Path) }
			if slices.ContainsFunc(units, keeps) || slices.ContainsFunc(together, uses) && keeps(together) {
				return q.Path + " " + ty
			}
		}
	}
	return ""
}

// plan returns the result that a cost is the cost of.
func (j *judge) plan(c Cost) Result {
	r := Result{Outcome: Preempts, Node: j.w.Nodes[c.Node].Name, Cost: c, OwnLeaf: j.mayTakeOwn() && j.takesOwn(j.named(c.Keys))}
	for _, key := range c.Keys {
		t := j.tasks[key]
		r.Victims = append(r.Victims, Victim{
			Key: key, Rank: j.rank(t),
			ForNode:     t.Node == r.Node && shares(t.Size, j.nodeNeed(r.Node)),
			ForHeadroom: j.givesHeadroom(t),
		})
	}
	return r
}
