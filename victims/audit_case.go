// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
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
	tree *queue.Tree // with the guarantees that count
	plan *Plan
	ask  *Ask
	now  time.Time

	counting queue.Tree // what tree is, if not all of them count

	size   resources.Vector // the ask's, of full length
	wants  resources.Mask   // its types: an explicit zero is no wanted type
	grants []TaskID         // the one that the ask holds, and those given on its node later

	fence    queue.ID // the fence root of the ask's leaf
	inside   queue.ID // E, the lowest governing queue, if starving is set
	starving bool
	within   OwnLeaf          // what the queues say of the own leaf, else the option
	second   bool             // tasks of the own leaf may go
	own      bool             // some victim is of the ask's own leaf
	others   bool             // some is not
	free     resources.Vector // of the node, before the plan and without grants
	blockers []TaskID         // on the node, by key

	victims []TaskID // those that count: known, running, each once
	losses  rulebook.Losses
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
	x.a, x.c, x.plan, x.ask, x.now = a, a.Cluster, p, &p.Ask, now
	x.tree, _ = a.Cluster.Tree().Counting(&x.counting, a.Scarce)
	types := x.tree.Schema().Len()
	x.size = rows.Zeros(x.size, types)
	copy(x.size, x.ask.Size)
	x.wants = resources.Positive(x.size)
	x.freed = rows.Zeros(x.freed, types)
	x.taken = rows.Zeros(x.taken, types*x.tree.Len())
	x.drawn = rows.Zeros(x.drawn, len(x.c.budgets))
	x.marks = rows.More(x.marks, max(0, len(x.c.tasks)-len(x.marks)))
	x.victims, x.gangs, x.blockers, x.own, x.others = x.victims[:0], x.gangs[:0], x.blockers[:0], false, false
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

// known reports whether a victim is a task, by row and key.
func (x *auditCase) known(v *Victim) bool {
	id, ok := x.c.Lookup(v.Key)
	return ok && id == v.Task
}

// survey works out, for a well-formed plan, how things stand before it, and counts
// the victims that are tasks and run, each once.
func (x *auditCase) survey() {
	x.surveyNode()
	// Of several governing queues the lowest is E. IDs are in tree order, so it
	// is the largest one of the path. DESIGN.md, Storm freedom.
	x.starving = false
	for i := range x.wants.All() {
		if q, ok := x.tree.Governing(x.ask.Queue, i); ok && (!x.starving || q > x.inside) {
			x.inside, x.starving = q, true
		}
	}
	// Law 7: the nearest fence on the path, the leaf included, else the root.
	x.fence = queue.Root
	for q := range x.tree.Up(x.ask.Queue) {
		if x.tree.Policies(q).Preemption == queue.Fence {
			x.fence = q
			break
		}
	}
	// DESIGN.md, The own leaf: for an ask that requires its node the option does
	// nothing.
	x.within = x.a.OwnLeaf
	switch x.tree.Policies(x.ask.Queue).WithinQueue {
	case queue.Never:
		x.within = OwnNever
	case queue.Met:
		x.within = OwnMet
	case queue.Branch:
		x.within = OwnBranch
	}
	x.second = x.within != OwnNever && !x.required()
	for i := range x.plan.Victims {
		v := &x.plan.Victims[i]
		if !x.known(v) || x.marks[v.Task] != 0 {
			continue
		}
		x.marks[v.Task] = markListed
		r := &x.c.tasks[v.Task]
		own := x.owns(r.leaf)
		x.own, x.others = x.own || own, x.others || !own
		// What is leaving anyway is no room made by the plan.
		if r.state == Running {
			x.victims = append(x.victims, v.Task)
			x.count(v.Task, +1)
		}
	}
	x.listGangs()
}

// owns reports whether tasks of a leaf are those that the option of the own leaf is about:
// of the ask's leaf, or of its branch, which is all below E.
func (x *auditCase) owns(leaf queue.ID) bool {
	return leaf == x.ask.Queue || x.within == OwnBranch && x.starving && x.tree.Contains(x.inside, leaf)
}

func (x *auditCase) required() bool { return x.ask.RequiredNode != "" }

// nearby reports whether a task is where a victim has to be that helps: on the node of
// the plan, if there only.
func (x *auditCase) nearby(r *taskRow) bool {
	return !x.required() && !x.a.SameNode || r.node == x.plan.Node
}

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
func (x *auditCase) ofNode(l string) Violation {
	return Violation{Law: l, Node: x.c.nodes[x.plan.Node].name}
}

// What is used of queues and what is left of them. No sum can overflow: the cluster
// keeps its usage and capacities in range, and the victims are some of the tasks in them.

// present returns what q uses at present of type i, without the grants that do
// not count.
func (x *auditCase) present(q queue.ID, i int) int64 {
	u := x.tree.Usage(q)[i]
	for _, id := range x.grants {
		if x.tree.Contains(q, x.c.tasks[id].leaf) {
			u -= x.c.size(id)[i]
		}
	}
	return u
}

// usage returns what q uses of type i before the plan: coming usage, for what
// is leaving may be waited for, but present usage for an ask that holds a
// grant, which has done its waiting.
func (x *auditCase) usage(q queue.ID, i int) int64 {
	u := x.present(q, i)
	if len(x.grants) == 0 {
		u -= x.tree.Preempting(q)[i]
	}
	return u
}

// count adds a victim to what is freed and drawn, or takes it back.
func (x *auditCase) count(id TaskID, sign int64) {
	r := &x.c.tasks[id]
	for i, v := range x.c.size(id) {
		v *= sign
		if r.node == x.plan.Node {
			x.freed[i] += v
		}
		for q := range x.tree.Up(r.leaf) {
			x.taken[int(q)*len(x.size)+i] += v
		}
	}
	for _, row := range x.c.budgetsOf(id) {
		x.drawn[row] += sign
	}
}

// maxima calls each with the bounds on some types that the queues from q upwards have.
func (x *auditCase) maxima(q queue.ID, types resources.Mask, each func(q queue.ID, i int, most int64)) {
	for q := range x.tree.Up(q) {
		most := x.tree.Max(q)
		for i := range (most.Defined & types).All() {
			each(q, i, most.Value[i])
		}
	}
}

// gone returns what the victims have of type i below q.
func (x *auditCase) gone(q queue.ID, i int) int64 { return x.taken[int(q)*len(x.size)+i] }

// left returns what q uses of type i once the victims are gone.
func (x *auditCase) left(q queue.ID, i int) int64 { return x.usage(q, i) - x.gone(q, i) }

// promise returns what law 2 compares for a queue that guarantees g of type i:
// what is left, and what must be.
func (x *auditCase) promise(q queue.ID, i int, g int64) (have, want int64) {
	before, left := x.usage(q, i), x.left(q, i)
	want = min(g, before)
	if !x.tree.Contains(q, x.ask.Queue) {
		return left, want
	}
	// A guarantee once met stays met. A queue under its guarantee ends no lower, but in
	// types that the ask uses it may.
	if x.second && before < g && x.wants.Has(i) {
		want = min(want, left)
	}
	return left + x.size[i], want
}

// exempt asks the caller whether the task is exempt now. From the end of its
// exemption on it is not.
func (x *auditCase) exempt(id TaskID) bool {
	if x.a.Exempt == nil {
		return false
	}
	// The answer is asked for anew: an auditor that trusted the planner's would
	// share its mistakes.
	until, exempt := x.a.Exempt(Exemption{Cluster: x.c, Task: id, Ask: x.ask, Now: x.now})
	return exempt && (until.IsZero() || x.now.Before(until))
}

// priorities returns the priority of a task and the highest that law 6 allows
// it. It lifts both itself, queue by queue: package fence, which the planner
// asks, is under audit too. A task of the own leaf or branch must be strictly lower.
func (x *auditCase) priorities(r *taskRow, own bool) (have, most int64) {
	have, most = int64(r.priority), int64(x.ask.Priority)
	// For a required node priorities are raw. DESIGN.md, Required nodes.
	if !x.required() {
		c := x.tree.CommonAncestor(r.leaf, x.ask.Queue)
		have = finding.Climb{Tree: x.tree, Leaf: r.leaf, Below: c}.Lift(have)
		most = finding.Climb{Tree: x.tree, Leaf: x.ask.Queue, Below: c}.Lift(most)
	}
	if x.a.StrictPriority || own {
		most--
	}
	return have, most
}

// helped returns the types in which a task reduces an open need, as it was
// before the plan: the node's if the task is on the node, and that of a queue
// that contains both the task and the ask.
func (x *auditCase) helped(id TaskID) (types resources.Mask) {
	r := &x.c.tasks[id]
	// A type helps if the task has some of it and the ask wants some.
	useful := x.wants & resources.Positive(x.c.size(id))
	for i := range useful.All() {
		if r.node == x.plan.Node && x.free[i] < x.size[i] {
			types = types.With(i)
		}
	}
	x.maxima(x.tree.CommonAncestor(x.ask.Queue, r.leaf), useful, func(q queue.ID, i int, most int64) {
		if most-x.usage(q, i) < x.size[i] {
			types = types.With(i)
		}
	})
	return types
}

// poor reports whether law 5 forbids a task of a leaf, which helps in some
// types: in none of them does every queue, from its leaf to below the common
// ancestor, use more than it guarantees. It returns the first queue that does
// not, and the type.
func (x *auditCase) poor(leaf queue.ID, helped resources.Mask) (q queue.ID, i int, poor bool) {
	for j := range helped.All() {
		at, over := x.exceeds(leaf, j)
		if over {
			return 0, 0, false // one type that is over is enough
		}
		if !poor {
			q, i, poor = at, j, true
		}
	}
	return q, i, poor
}

// exceeds reports whether every queue from leaf to below the common ancestor
// with the ask uses more of type i than it is guaranteed, before the plan.
// Without a guarantee all usage is more. If not, it returns the first that
// does not.
func (x *auditCase) exceeds(leaf queue.ID, i int) (queue.ID, bool) {
	c := x.tree.CommonAncestor(leaf, x.ask.Queue)
	for q := range x.tree.Up(leaf) {
		if q == c {
			break
		}
		if g, ok := x.tree.Guaranteed(q).Bound(i); ok && x.usage(q, i) <= g {
			return q, false
		}
	}
	return 0, true
}

// An auditGang is a running job that has victims: its members above the minimum may go
// one by one, or else the whole job goes, on all its nodes. See DESIGN.md, Whole gangs.
type auditGang struct {
	job     int32 // its number in the cluster
	running int   // members that run, victims included
	taken   int   // victims
	minimum int   // so many members are needed
	surplus int   // how many may go one by one
	useful  bool  // some victim helps or blocks, on the node if the ask requires one
}

// whole reports whether the job goes as a whole, as a unit.
func (g *auditGang) whole() bool { return g.taken == g.running && g.taken > g.surplus }

// broken reports whether too few members are left to run on.
func (g *auditGang) broken() bool { return g.taken < g.running && g.taken > g.surplus }

// listGangs counts the jobs of the victims, in the order of the victims.
func (x *auditCase) listGangs() {
	for _, id := range x.victims {
		if g := x.gangAt(id); g != nil {
			g.taken++
			// One member that helps is reason enough to stop the job, if
			// stopping it as a whole is the only way.
			g.useful = g.useful || x.blocks(id) || x.helped(id) != 0 && x.nearby(&x.c.tasks[id])
		}
	}
}

// gangAt returns the gang of a task, or nil.
func (x *auditCase) gangAt(id TaskID) *auditGang { return x.gangOf(x.c.tasks[id].job) }

// gangOf returns the gang of a job, or nil if there are none. Few jobs have victims
// in a plan, so that a list is searched faster than a map.
func (x *auditCase) gangOf(job int32) *auditGang {
	if job == 0 || x.a.Minimum == nil {
		return nil
	}
	i := slices.IndexFunc(x.gangs, func(g auditGang) bool { return g.job == job })
	if i < 0 {
		// What is leaving neither counts nor protects, and a grant does not run.
		g := auditGang{job: job}
		for _, id := range x.c.membersOf(job) {
			if x.c.tasks[id].state == Running {
				g.running++
			}
		}
		// What the caller's function says below 0 means that nobody is needed.
		g.minimum = max(0, x.a.Minimum(x.c.jobs.name(job)))
		g.surplus = max(0, g.running-g.minimum)
		i, x.gangs = len(x.gangs), append(x.gangs, g)
	}
	return &x.gangs[i]
}

// brought reports whether a task goes with its whole job, because of another
// member or of itself. Then it need not help.
func (x *auditCase) brought(r *taskRow) bool {
	g := x.gangOf(r.job)
	return g != nil && g.whole() && g.useful
}

// member counts a victim of a gang, or takes it back.
func (x *auditCase) member(r *taskRow, n int) {
	if g := x.gangOf(r.job); g != nil {
		g.taken += n
	}
}

// give gives a victim back on trial, and take takes it again.
func (x *auditCase) give(id TaskID) {
	x.marks[id] = markGiven
	x.count(id, -1)
}

func (x *auditCase) take(id TaskID) {
	x.marks[id] = markJudged
	x.count(id, +1)
}

// withoutGiven returns the victims that are not given back.
func (x *auditCase) withoutGiven() []TaskID {
	x.rest = x.rest[:0]
	for _, id := range x.victims {
		if x.marks[id] != markGiven {
			x.rest = append(x.rest, id)
		}
	}
	return x.rest
}

// Cost returns what a plan costs at the instant now, whatever cost it states. It is 0 but
// for the node if nothing can be judged; see [Auditor.Audit].
func (a *Auditor) Cost(p *Plan, now time.Time) Cost {
	x := &a.x
	x.begin(a, p, now)
	defer x.end()
	if !x.holds((*audit).wellFormed) {
		return Cost{}
	}
	x.survey()
	return x.cost()
}

// cost sums up what the victims that count cost.
func (x *auditCase) cost() (c Cost) {
	x.losses.Begin(x.c.Capacity())
	for i, id := range x.victims {
		r := &x.c.tasks[id]
		// The ranks are law 6's own numbers, lifted queue by queue. The planner
		// has its ranks from package fence.
		have, most := x.priorities(r, false)
		rank := have - most
		if x.a.StrictPriority {
			rank-- // most is one less than the ask's
		}
		// The first value, not 0, is where a maximum begins: ranks and
		// priorities may be below it.
		if i == 0 {
			c.MaxRank, c.MaxPriority = rank, int64(r.priority)
		}
		c.MaxRank, c.MaxPriority = max(c.MaxRank, rank), max(c.MaxPriority, int64(r.priority))
		c.Victims++
		c.SumRanks += rank
		c.SumPriorities += int64(r.priority)
		if r.flags.has(flagOptedOut) {
			c.OptedOut++
		}
		if r.flags.has(flagOriginator) {
			c.Originators++
		}
		c.Own = c.Own.Add(resources.WideOf(x.c.costOf(id)))
		// By the exported method, which converts what is stored back to times:
		// a wrong conversion would show as a wrong cost.
		t := x.c.TaskView(id)
		c.Work = c.Work.Add(x.losses.Work(t.Size, t.Lost(x.now)))
		x.losses.Add(t.Size, t.Lost(x.now))
	}
	x.losses.Tell((*rulebook.Cost)(&c), x.c.Schema())
	for name, b := range x.c.Budgets() {
		// A hard budget is a law and no cost. What was overdrawn before is
		// nobody's fault: only what the plan adds counts.
		if row, _ := x.c.findBudget(name); !b.Hard {
			c.Overrun += max(0, x.drawn[row]-max(0, b.Left))
		}
	}
	for i := range x.gangs {
		// Fewer stay than are needed, also if fewer ran before.
		if g := &x.gangs[i]; g.running-g.taken < g.minimum {
			c.Jobs++
		}
	}
	c.Excess = x.excess()
	n := &x.c.nodes[x.plan.Node]
	c.NodePenalty, c.Node = n.rank, int(n.seq)
	return c
}

// excess returns the largest share of the cluster that is freed beyond need,
// over all types. The victims free what is taken of the root.
func (x *auditCase) excess() (most resources.Share) {
	for i, capacity := range x.c.Capacity() {
		// Shares of different totals are compared exactly, by cross products.
		// See resources.Share.
		share := resources.Share{Amount: max(0, x.gone(0, i)-x.need(i)), Of: capacity}
		if i == 0 || share.Compare(most) > 0 {
			most = share
		}
	}
	return most
}

// need returns what the ask lacks of a type before the plan: on the node, or
// below the queue that lacks most, at least 0.
func (x *auditCase) need(i int) (need int64) {
	// What is freed of a type that the ask does not want is all beyond need.
	if !x.wants.Has(i) {
		return 0
	}
	need = max(0, x.size[i]-x.free[i])
	x.maxima(x.ask.Queue, resources.Mask(0).With(i), func(q queue.ID, i int, most int64) {
		// Victims below a queue with too little headroom serve that and the
		// node at once, so that the larger need is the whole need.
		need = max(need, x.usage(q, i)+x.size[i]-most)
	})
	return need
}
