package victims

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An auditCase is what an audit judges, and the memory for the next: how things
// are without the plan, which stays as it is once surveyed, and what the victims
// take, which changes while victims are given back and exchanged on trial. It
// says what is, and judges nothing.
type auditCase struct {
	a    *Auditor
	c    *Cluster
	tree *queue.Tree
	plan *Plan
	ask  *Ask
	now  time.Time

	size   resources.Vector // the ask's, of full length
	wants  resources.Mask   // its types: an explicit zero is no wanted type
	grants []TaskID         // the one that the ask holds, and those given on its node later

	fence    queue.ID // the fence root of the ask's leaf
	inside   queue.ID // E, the lowest governing queue, if starving is set
	starving bool
	second   bool             // tasks of the own leaf may go
	takes    auditOrigins     // whence the victims are
	free     resources.Vector // of the node, before the plan and without grants
	blockers []TaskID         // on the node, by key

	victims []TaskID // those that count: known, running, each once
	gangs   []auditGang
	freed   resources.Vector // by the victims on the node
	taken   []int64          // by the victims, a row of amounts per queue
	drawn   []int64          // by the victims, per row of budgets
	rest    []TaskID         // victims with a change, for the predicate
	marks   []auditMark      // by task
}

// An auditMark says what has been seen of a task.
type auditMark uint8

const (
	markListed auditMark = 1 + iota // the plan names it
	markJudged                      // and it was judged
	markGiven                       // and it is given back, on trial
)

func (x *auditCase) begin(a *Auditor, p *Plan, now time.Time) {
	x.a, x.c, x.tree, x.plan, x.ask, x.now = a, a.Cluster, a.Cluster.Tree(), p, &p.Ask, now
	types := x.tree.Schema().Len()
	x.size = rows.Zeros(x.size, types)
	copy(x.size, x.ask.Size)
	x.wants = resources.Positive(x.size)
	x.freed = rows.Zeros(x.freed, types)
	x.taken = rows.Zeros(x.taken, types*x.tree.Len())
	x.drawn = rows.Zeros(x.drawn, len(x.c.budgets))
	x.victims, x.gangs, x.blockers, x.takes = x.victims[:0], x.gangs[:0], x.blockers[:0], auditOrigins{}
	x.takeOffGrants()
}

// end forgets the plan, so that an auditor at rest keeps nothing of it alive.
func (x *auditCase) end() {
	for i := range x.plan.Victims {
		if id := int(x.plan.Victims[i].Task); 0 <= id && id < len(x.marks) {
			x.marks[id] = 0
		}
	}
	x.plan, x.ask = nil, nil
}

// auditOrigins says whence victims are: of the ask's own leaf, or of others.
type auditOrigins struct{ own, others bool }

// list counts the victims that are tasks and run, each once.
func (x *auditCase) list() {
	for i := range x.plan.Victims {
		v := &x.plan.Victims[i]
		if !x.known(v) || x.mark(v.Task) != 0 {
			continue
		}
		for int(v.Task) >= len(x.marks) {
			x.marks = append(x.marks, 0)
		}
		x.marks[v.Task] = markListed
		r := &x.c.tasks[v.Task]
		own := r.leaf == x.ask.Queue
		x.takes.own, x.takes.others = x.takes.own || own, x.takes.others || !own
		// What is leaving anyway is no room made by the plan.
		if r.state == Running {
			x.victims = append(x.victims, v.Task)
			x.count(v.Task, +1)
		}
	}
}

// known reports whether a victim is a task, by row and key.
func (x *auditCase) known(v *Victim) bool {
	id, ok := x.c.Lookup(v.Key)
	return ok && id == v.Task
}

func (x *auditCase) mark(id TaskID) auditMark {
	if int(id) < len(x.marks) {
		return x.marks[id]
	}
	return 0
}

// survey works out, for a well-formed plan, how things stand before it.
func (x *auditCase) survey() {
	// Of several governing queues the lowest is E. IDs are in tree order, so it
	// is the largest one of the path. DESIGN.md, Storm freedom.
	x.surveyNode()
	x.starving = false
	for i := range x.wants.All() {
		if q, ok := x.tree.Governing(x.ask.Queue, i); ok && (!x.starving || q > x.inside) {
			x.inside, x.starving = q, true
		}
	}
	// Law 7: the nearest fence on the path, the leaf included, else the root.
	x.fence = queue.Root
	for q := range x.tree.Up(x.ask.Queue) {
		if x.tree.PreemptionPolicy(q) == queue.PreemptionFence {
			x.fence = q
			break
		}
	}
	// DESIGN.md, The own leaf: for an ask that requires its node the option does
	// nothing.
	x.second = x.a.OwnLeaf != OwnNever && !x.required()
}

func (x *auditCase) required() bool { return x.ask.RequiredNode != "" }

// takeOffGrants finds the grants that do not count for an ask that holds one:
// its own, and those given on that node after it. See DESIGN.md, Grants.
func (x *auditCase) takeOffGrants() {
	x.grants = x.grants[:0]
	own, ok := x.c.LookupGrant(x.ask.Key)
	if !ok {
		return
	}
	for id := range x.c.Grants() {
		later := len(x.grants) > 0 && x.c.tasks[id].node == x.c.tasks[own].node
		if id == own || later {
			x.grants = append(x.grants, id)
		}
	}
}

// held returns the node of the grant that the ask holds.
func (x *auditCase) held() (NodeID, bool) {
	if len(x.grants) == 0 {
		return 0, false
	}
	return x.c.tasks[x.grants[0]].node, true
}

// surveyNode works out what is free on the node before the plan: what will be
// once those leaving are gone, for they may be waited for; but what is, for an
// ask that holds a grant, which has done its waiting.
func (x *auditCase) surveyNode() {
	n := x.plan.Node
	if at, held := x.held(); held {
		x.free = x.c.Free(x.free, n)
		for _, id := range x.grants {
			if at == n {
				x.free = resources.Add(x.free, x.free, x.c.size(id))
			}
		}
	} else {
		x.free = x.c.ComingFree(x.free, n)
	}
	if x.a.Blockers == nil {
		return
	}
	x.blockers = x.a.Blockers(x.blockers, x.ask, n)
	slices.SortFunc(x.blockers, func(a, b TaskID) int {
		return strings.Compare(x.c.tasks[a].key, x.c.tasks[b].key)
	})
	x.blockers = slices.Compact(x.blockers)
}

// blocks reports whether a task is named as a blocker of the node.
func (x *auditCase) blocks(id TaskID) bool { return slices.Contains(x.blockers, id) }

// ofNode returns a violation by the node of the plan.
func (x *auditCase) ofNode(l Law) Violation {
	return Violation{Law: l, Node: x.c.nodes[x.plan.Node].name}
}
