// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A court is what an audit works out, and the memory for the next: how things are without
// the plan, and what its victims take, which changes while some are given back and exchanged
// on trial.
type court struct {
	charge
	out           []Violation
	tree          *queue.Tree // with the guarantees that count
	counting      queue.Tree  // what tree is, if not all of them count
	types         int
	trial, broken bool // nothing is reported; some law is broken

	grants []TaskID         // the one that the ask holds, and those given on its node later
	wants  resources.Mask   // of asked: an explicit zero is no wanted type
	asked  resources.Vector // by wants that are not further ones
	more   resources.Vector // by all
	last   resources.Vector // by the one that comes last

	fence    queue.ID // the fence root of the leaf
	inside   queue.ID // E, the lowest governing queue, if starving is set
	starving bool
	within   queue.WithinQueue // what the queues say of the own leaf, else the option
	second   bool              // tasks of the own leaf may go
	own      bool              // some victim is of it
	others   bool              // some is not
	blockers []TaskID          // by key

	nodes            []NodeID // of wants, each once
	slots            []int32  // by node: its place in nodes and one
	free, load, full []int64  // by place in nodes: before the plan; what wants ask there; and with further ones

	keys   []string // of the members of a gang, sorted
	done   []bool   // by member: it has a place, or is given one
	placed []TaskID // of members that have a place

	victims []TaskID // those that count: known, running, each once
	gangs   []courtGang
	losses  rulebook.Losses
	freed   []int64          // by victims, by place in nodes
	taken   []int64          // by victims, a row per queue
	drawn   []int64          // by victims, per row of budgets
	goal    resources.Vector // what a queue has over its max; else empty
	need    resources.Vector // what the victims free of it
	most    []int64          // what each queue can release of it, a row per queue
	asks    []int64          // what each is asked for, as the decision says, likewise
	fixed   []int64          // used by the non-preemptible before the plan, a row per queue
	short   []int64          // of queues of the path before the plan, by the caller's word, likewise
	asking  Admission        // what the caller is asked
	answer  resources.Vector // likewise

	question Question    // that functions of the caller are asked
	marks    []courtMark // by task
	touched  []int       // the places in nodes of what is given back on trial
	rest     []TaskID    // victims with a change, for the predicate
	spare    []TaskID    // members that may go one by one
	tries    int         // how many may still be given back
}

// A courtMark says what has been seen of a task.
type courtMark uint8

const (
	markListed courtMark = 1 + iota // the plan names it
	markJudged                      // and it was judged
	markGiven                       // and it is given back, on trial
)

// open begins with the charge, and reports whether it can be judged.
func (x *court) open(dst []Violation) bool {
	x.out = dst
	x.tree, _ = trees.Counting(x.c.Tree(), &x.counting, x.Scarce)
	x.types = x.tree.Schema().Len()
	x.trial, x.broken, x.own, x.others = false, false, false, false
	x.asked, x.more, x.last = rows.Zeros(x.asked, x.types), rows.Zeros(x.more, x.types), rows.Zeros(x.last, x.types)
	x.taken, x.drawn = rows.Zeros(x.taken, x.types*x.tree.Len()), rows.Zeros(x.drawn, len(x.c.budgets))
	x.marks = rows.More(x.marks, max(0, len(x.c.tasks)-len(x.marks)))
	x.slots = rows.More(x.slots, max(0, len(x.c.nodes)-len(x.slots)))
	x.nodes, x.victims, x.gangs, x.blockers, x.touched = x.nodes[:0], x.victims[:0], x.gangs[:0], x.blockers[:0], x.touched[:0]
	x.free, x.load, x.full, x.freed = x.free[:0], x.load[:0], x.full[:0], x.freed[:0]
	x.takeOffGrants()
	if x.wellFormed(); x.broken {
		return false
	}
	for i := range x.Wants {
		x.enter(&x.Wants[i])
	}
	x.survey()
	return true
}

// close forgets the charge, so that a court at rest keeps nothing of it alive.
func (x *court) close() {
	forget := func(id TaskID) {
		if 0 <= id && int(id) < len(x.marks) {
			x.marks[id] = 0
		}
	}
	for i := range x.Victims {
		forget(x.Victims[i].Task)
	}
	for i := range x.Movers {
		forget(x.Movers[i].Task)
	}
	for _, n := range x.nodes {
		x.slots[n] = 0
	}
	x.charge, x.out, x.tree = charge{Wants: x.Wants[:0]}, nil, nil
}

// fault reports a broken law.
func (x *court) fault(v Violation) {
	if x.broken = true; !x.trial {
		v.of = x.Of
		x.out = append(x.out, v)
	}
}

// faultBy reports a law that a task breaks, if it does.
func (x *court) faultBy(broken bool, key string, v Violation) {
	if broken {
		v.Victim = key
		x.fault(v)
	}
}

// ofQueue returns a violation by amounts of a queue.
func (x *court) ofQueue(law string, q queue.ID, i int, have, want int64) Violation {
	return Violation{Law: law, Queue: x.tree.Path(q), Type: x.tree.Schema().Name(i), Have: have, Want: want}
}

// ofWant returns a violation by a want: by its node and, of a job, its member.
func (x *court) ofWant(law string, w *want) Violation {
	v := x.ofMember(law, w)
	v.node = x.c.nodes[w.Node].name
	return v
}

func (x *court) ofMember(law string, w *want) Violation {
	v := Violation{Law: law}
	if x.Of == "job" {
		v.member = w.Key
	}
	return v
}

// wellFormed is what a charge must be to be judged at all.
func (x *court) wellFormed() {
	// Without a key no grant could be found again, and a task's key would make the ask its
	// own victim.
	if _, taken := x.c.Lookup(x.Ask.Key); x.Of == "ask" && (taken || x.Ask.Key == "") {
		x.fault(Violation{Law: finding.LawKey})
	}
	switch q := x.Ask.Queue; {
	case (q < 0 || int(q) >= x.tree.Len()) && x.Of == "quota":
		x.fault(Violation{Law: finding.LawQueue})
	case q < 0 || int(q) >= x.tree.Len():
		x.fault(Violation{Law: finding.LawLeaf}) // an ID of no queue has no name to report
	case x.Of != "quota" && !x.tree.IsLeaf(q):
		x.fault(Violation{Law: finding.LawLeaf, Queue: x.tree.Path(q)})
	}
	for n := range x.Wants {
		w := &x.Wants[n]
		for i, v := range w.Size {
			// With all wants, usage must stay in range; a type that the schema does not have
			// has no room.
			most := int64(0)
			if i < x.types {
				most = math.MaxInt64 - x.present(queue.Root, i) - x.more[i]
			}
			if v < 0 || v > most {
				of := x.ofMember(finding.LawSize, w)
				of.Type, of.Have, of.Want = x.tree.Schema().Name(i), v, most
				x.fault(of)
			} else if i < x.types {
				x.more[i] += v
			}
		}
		if !x.isNode(w.Node) {
			x.fault(x.ofMember(finding.LawNode, w))
		}
	}
	clear(x.more)
}

// isNode reports whether there is such a node. One that is closed takes nothing, and is none.
func (x *court) isNode(n NodeID) bool {
	return n > 0 && int(n) < len(x.c.nodes) && x.c.nodes[n].live && !x.c.nodes[n].closed()
}

// known reports whether a row and key are those of a task: rows are used again, and a plan
// may be old.
func (x *court) known(row TaskID, key string) bool {
	id, ok := x.c.Lookup(key)
	return ok && id == row
}

// takeOffGrants finds the grants that do not count for an ask that holds one: its own, and
// those given on that node after it. See DESIGN.md, Grants.
func (x *court) takeOffGrants() {
	x.grants = x.grants[:0]
	own, ok := x.c.LookupGrant(x.Ask.Key)
	if !ok || x.Of != "ask" { // who asks for a job holds none
		return
	}
	for id := range x.c.Granted() {
		later := len(x.grants) > 0 && x.c.tasks[id].node == x.c.tasks[own].node
		if id == own || later {
			x.grants = append(x.grants, id)
		}
	}
}

// held returns the node of the grant that the ask holds.
func (x *court) held() (NodeID, bool) {
	if len(x.grants) == 0 {
		return 0, false
	}
	return x.c.tasks[x.grants[0]].node, true
}

// place returns the place of a node in nodes, or -1 if no want is there.
func (x *court) place(n NodeID) int { return int(x.slots[n]) - 1 }

// enter counts a want.
func (x *court) enter(w *want) {
	if x.place(w.Node) < 0 {
		x.nodes = append(x.nodes, w.Node)
		x.slots[w.Node] = int32(len(x.nodes))
		for _, block := range [...]*[]int64{&x.free, &x.load, &x.full, &x.freed} {
			*block = rows.More(*block, x.types)
		}
		x.surveyNode(len(x.nodes) - 1)
	}
	at := x.place(w.Node)
	for i, v := range w.Size[:min(len(w.Size), x.types)] {
		x.more[i] += v
		x.full[at*x.types+i] += v
		if w.Further {
			continue
		}
		x.asked[i] += v
		x.load[at*x.types+i] += v
		if x.Together || v > x.last[i] {
			x.last[i] = v
		}
	}
}

// surveyNode works out what is free on a node before the plan: what will be once those
// leaving are gone, for they may be waited for; but what is, for an ask that holds a grant,
// which has done its waiting.
func (x *court) surveyNode(at int) {
	free, n := rows.At(x.free, at, x.types), x.nodes[at]
	on, held := x.held()
	if !held {
		x.c.ComingFree(free, n)
		return
	}
	x.c.Free(free, n)
	for _, id := range x.grants {
		if on == n {
			resources.Add(free, free, x.c.size(id))
		}
	}
}

// survey works out how things stand before the plan, and counts the victims that are tasks
// and run, each once.
func (x *court) survey() {
	if x.goal = x.goal[:0]; x.Of == "quota" {
		x.surveyGoal()
	}
	x.wants = resources.Positive(x.asked)
	// Of several governing queues the lowest is E. IDs are in tree order, so it is the
	// largest one of the path. DESIGN.md, Storm freedom.
	x.starving = false
	for i := range x.wants.All() {
		if q, ok := x.tree.Governing(x.Ask.Queue, i); ok && (!x.starving || q > x.inside) {
			x.inside, x.starving = q, true
		}
	}
	// Law 7: the nearest fence on the path, the leaf included, else the root.
	x.fence = queue.Root
	for q := range x.tree.Ancestors(x.Ask.Queue) {
		if x.tree.Policies(q).Preemption == queue.Fence {
			x.fence = q
			break
		}
	}
	x.surveyOwn()
	if x.Blockers != nil {
		for i := range x.Wants {
			x.blockers = x.Blockers(x.blockers, x.pose(i))
		}
		slices.SortFunc(x.blockers, func(a, b TaskID) int { return strings.Compare(x.c.tasks[a].key, x.c.tasks[b].key) })
		x.blockers = slices.Compact(x.blockers)
	}
	for i := range x.Victims {
		v := &x.Victims[i]
		if !x.known(v.Task, v.Key) || x.marks[v.Task] != 0 {
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
	x.need = rows.Zeros(x.need, len(x.goal))
	for i, v := range x.goal {
		x.need[i] = min(v, x.gone(x.Ask.Queue, i))
	}
	x.surveyAdmission()
	x.listGangs()
}

// surveyOwn works out whether tasks of the own leaf may go. For an ask that requires its
// node the option does nothing. See DESIGN.md, The own leaf.
func (x *court) surveyOwn() {
	// The option is for queues that do not say.
	x.within = cmp.Or(x.tree.Policies(x.Ask.Queue).WithinQueue, x.WithinQueue, queue.Never)
	if x.Together && len(x.Wants) > 1 && !x.ByPriority {
		x.within = queue.Never
	}
	x.second = x.within != queue.Never && !x.required()
}

// owns reports whether tasks of a leaf are those that the option of the own leaf is about:
// of the ask's leaf, or of its branch, which is all below E.
func (x *court) owns(leaf queue.ID) bool {
	return leaf == x.Ask.Queue || x.within == queue.Branch && !x.ByPriority && x.starving && x.tree.Contains(x.inside, leaf)
}

func (x *court) required() bool { return x.Ask.RequiredNode != "" }

// moving reports whether movers are judged.
func (x *court) moving() bool { return len(x.Movers) > 0 }

// single reports whether one place is asked for: some laws and options are for asks, and for
// jobs of one member.
func (x *court) single() bool { return len(x.Wants) == 1 && !x.Wants[0].Further }

// pose makes the question for a function of the caller one about a want.
func (x *court) pose(i int) *Question {
	q := &x.question
	*q = Question{Cluster: x.c, Now: x.Now, Ask: &x.Ask, Places: q.Places[:0], Victims: q.Victims[:0]}
	if i < len(x.Wants) {
		q.Member, q.Node = &x.Wants[i].Member, x.Wants[i].Node
	}
	return q
}

// accepted asks the predicate about a want, at the moment at which it would start, with those
// before it told.
func (x *court) accepted(i int, gone []TaskID) bool {
	if x.Predicate == nil {
		return true
	}
	q := x.pose(i)
	for n := range x.Wants[:i] {
		w := &x.Wants[n]
		q.Places = append(q.Places, Place{Member: w.Index, Key: w.Key, Node: w.Node, NodeName: x.c.nodes[w.Node].name, Extra: w.Further})
	}
	q.Victims = append(q.Victims, gone...)
	q.AfterVictims = x.Of == "job" || len(x.Victims) > 0 || !x.fitsNow()
	return x.Predicate(q)
}

// nearby reports whether a task is where a victim has to be that helps: on the node of the
// plan, if there only.
func (x *court) nearby(r *taskRow) bool {
	return !x.required() && !x.VictimsOnNode || x.place(r.node) >= 0
}

// blocks reports whether a task is named as a blocker.
func (x *court) blocks(id TaskID) bool { return slices.Contains(x.blockers, id) }

// What is used of queues and what is left of them. No sum can overflow: the cluster
// keeps its usage and capacities in range, and the victims are some of the tasks in them.

// present returns what q uses at present of type i, without the grants that do not count.
func (x *court) present(q queue.ID, i int) int64 {
	u := x.tree.Usage(q)[i]
	for _, id := range x.grants {
		if x.tree.Contains(q, x.c.tasks[id].leaf) {
			u -= x.c.size(id)[i]
		}
	}
	return u
}

// usage returns what q uses of type i before the plan: coming usage, for what is leaving may
// be waited for, but present usage for an ask that holds a grant, which has done its waiting.
func (x *court) usage(q queue.ID, i int) int64 {
	u := x.present(q, i)
	if len(x.grants) == 0 {
		u -= x.tree.Leaving(q)[i]
	}
	return u
}

// gone returns what the victims have of type i below q.
func (x *court) gone(q queue.ID, i int) int64 { return x.taken[int(q)*x.types+i] }

// left returns what q uses of type i once the victims are gone.
func (x *court) left(q queue.ID, i int) int64 { return x.usage(q, i) - x.gone(q, i) }

// promise returns what law 2 compares for a queue that guarantees g of type i: what is left,
// and what must be.
func (x *court) promise(q queue.ID, i int, g int64) (have, want int64) {
	before, left := x.usage(q, i), x.left(q, i)
	want = min(g, before)
	if !x.tree.Contains(q, x.Ask.Queue) {
		return left, want
	}
	// A guarantee once met stays met. A queue under its guarantee ends no lower, but in
	// types that the ask uses it may.
	if x.second && before < g && x.wants.Has(i) {
		want = min(want, left)
	}
	return left + x.asked[i], want // wants that are further ones do not count: nobody goes for them
}

// count adds a victim to what is freed and drawn, or takes it back.
func (x *court) count(id TaskID, sign int64) {
	r := &x.c.tasks[id]
	at := x.place(r.node)
	for i, v := range x.c.size(id) {
		v *= sign
		if at >= 0 {
			x.freed[at*x.types+i] += v
		}
		for q := range x.tree.Ancestors(r.leaf) {
			x.taken[int(q)*x.types+i] += v
		}
	}
	x.draw(id, sign)
}

// draw counts a task in its budgets, or takes it back.
func (x *court) draw(id TaskID, sign int64) {
	for _, row := range x.c.budgetsOf(id) {
		x.drawn[row] += sign
	}
}

// maxima calls each with the bounds on some types that the queues from q upwards have.
func (x *court) maxima(q queue.ID, types resources.Mask, each func(q queue.ID, i int, most int64)) {
	for q := range x.tree.Ancestors(q) {
		most := x.tree.Max(q)
		for i := range (most.Defined & types).All() {
			each(q, i, most.Value[i])
		}
	}
}

// helped returns the types in which a task reduces an open need, as it was before the plan:
// the node's if the task is on it, that of a queue that contains both the task and the ask,
// or the target.
func (x *court) helped(id TaskID) (types resources.Mask) {
	r := &x.c.tasks[id]
	has := resources.Positive(x.c.size(id))
	useful, at := x.wants&has, x.place(r.node)
	for i := range useful.All() {
		if at >= 0 && x.free[at*x.types+i] < x.load[at*x.types+i] {
			types |= 1 << i
		}
	}
	x.maxima(x.tree.CommonAncestor(x.Ask.Queue, r.leaf), useful, func(q queue.ID, i int, most int64) {
		if most-x.usage(q, i) < x.asked[i] {
			types |= 1 << i
		}
	})
	if x.Admit != nil {
		for q := range x.tree.Ancestors(x.tree.CommonAncestor(x.Ask.Queue, r.leaf)) {
			types |= resources.Positive(rows.At(x.short, int(q), x.types)) & useful
		}
	}
	return types | resources.Positive(x.goal)&has
}

// surveyAdmission works out what the non-preemptible use, and what the caller says that
// queues lack. The sums are added up from tasks; no planner is asked.
func (x *court) surveyAdmission() {
	if x.Admit == nil {
		return
	}
	n := x.types * x.tree.Len()
	x.fixed, x.short = rows.Zeros(x.fixed, n), rows.Zeros(x.short, n)
	for id := range x.c.Tasks() {
		r := &x.c.tasks[id]
		if !r.flags.has(flagNonPreemptible) || slices.Contains(x.grants, id) || r.state.leaving() && len(x.grants) == 0 {
			continue
		}
		for q := range x.tree.Ancestors(r.leaf) {
			fixed := resources.Vector(rows.At(x.fixed, int(q), x.types))
			resources.Add(fixed, fixed, x.c.size(id))
		}
	}
	for q := range x.tree.Ancestors(x.Ask.Queue) {
		lacks, _ := x.ask(q, x.asked, (*court).usage)
		copy(rows.At(x.short, int(q), x.types), lacks)
	}
}

// ask asks the caller's function about amounts more in a queue, with usage of some kind.
func (x *court) ask(q queue.ID, more resources.Vector, usage func(x *court, q queue.ID, i int) int64) (lacks resources.Vector, refused bool) {
	a := &x.asking
	*a = Admission{
		Queue: x.tree.Path(q), Wants: more, NonPreemptible: x.Ask.NonPreemptible, AfterLeaving: len(x.grants) == 0,
		Used: rows.Zeros(a.Used, x.types), UsedNonPreemptible: rows.At(x.fixed, int(q), x.types), Breaches: a.Breaches[:0],
	}
	for i := range a.Used {
		a.Used[i] = usage(x, q, i)
	}
	x.answer, refused = x.Admit(x.answer, a)
	return x.answer, refused
}

// busy reports whether a leaf is, or is below, a queue below the ask's that is being enforced
// already.
func (x *court) busy(leaf queue.ID) bool {
	for q := range x.tree.Ancestors(leaf) {
		if q == x.Ask.Queue || x.Enforced == nil {
			break
		}
		if x.Enforced(q) {
			return true
		}
	}
	return false
}

// poor reports whether law 5 forbids a task of a leaf, which helps in some types: in none of
// them does every queue, from its leaf to below the common ancestor, use more than it
// guarantees. It returns the first queue that does not, and the type.
func (x *court) poor(leaf queue.ID, helped resources.Mask) (at queue.ID, i int, poor bool) {
	c := x.tree.CommonAncestor(leaf, x.Ask.Queue)
	for j := range helped.All() {
		over := true
		for q := range x.tree.Ancestors(leaf) {
			if q == c {
				break
			}
			// Without a guarantee all usage is more.
			if g, ok := x.tree.Guaranteed(q).Bound(j); over && ok && x.usage(q, j) <= g {
				if over = false; !poor {
					at, i, poor = q, j, true
				}
			}
		}
		if over {
			return 0, 0, false // one type that is over is enough
		}
	}
	return at, i, poor
}

// untilLater returns the law of a rule that keeps a task for now and ends by itself, or "": it would not stop, it has
// run for less time than its queue lets it, or the caller says that it is exempt. The caller is asked anew: an
// auditor that trusted the planner's answer would share its mistakes.
func (x *court) untilLater(id TaskID) (law string) {
	r := &x.c.tasks[id]
	switch least := *x.c.tree.Policies(r.leaf).MinRuntime; {
	case x.Now.Before(instantOf(x.c.refused.at(int(id)))):
		return finding.LawRefused
	case x.Of == "quota":
		return ""
	case least > 0 && !r.scheduledAt().IsZero() && x.Now.Sub(r.scheduledAt()) < least:
		return finding.LawExempt
	case x.Exempt == nil:
		return ""
	}
	q := x.pose(0)
	q.Task = id
	if until, exempt := x.Exempt(q); exempt && (until.IsZero() || x.Now.Before(until)) {
		return finding.LawExempt
	}
	return ""
}

// priorities returns the priority of a task and the highest that law 6 allows it. It lifts
// both itself, queue by queue: package fence, which the planners ask, is under audit too.
// A task of the own leaf or branch must be strictly lower, and so for jobs by priority.
func (x *court) priorities(r *taskRow, own bool) (have, most int64) {
	have, most = int64(r.priority), int64(x.Ask.Priority)
	// For a required node priorities are raw. DESIGN.md, Required nodes.
	if !x.required() {
		c := x.tree.CommonAncestor(r.leaf, x.Ask.Queue)
		have = finding.Climb{Tree: x.tree, Leaf: r.leaf, Below: c}.Lift(have)
		most = finding.Climb{Tree: x.tree, Leaf: x.Ask.Queue, Below: c}.Lift(most)
	}
	if x.StrictPriority || x.ByPriority || own {
		most--
	}
	return have, most
}

// A courtGang is a running job that has victims: its members above the minimum may go one by
// one, or else the whole job goes, on all its nodes. See DESIGN.md, Whole gangs.
type courtGang struct {
	job      int32  // its number in the cluster
	running  int    // members that run, victims included
	taken    int    // victims
	minimum  int    // so many members are needed
	surplus  int    // how many may go one by one
	useful   bool   // some victim helps or blocks, on the node if the ask requires one
	together bool   // all that run are of one leaf, and none is bound to its node
	first    TaskID // of the victims
}

// whole reports whether the job goes as a whole, as a unit.
func (g *courtGang) whole() bool { return g.taken == g.running && g.taken > g.surplus }

// listGangs counts the jobs of the victims, in the order of the victims.
func (x *court) listGangs() {
	for _, id := range x.victims {
		if g := x.gangAt(id); g != nil {
			if g.taken++; g.taken == 1 {
				g.first = id
			}
			// One member that helps is reason enough to stop the job, if stopping it as a
			// whole is the only way.
			g.useful = g.useful || x.blocks(id) || x.helped(id) != 0 && x.nearby(&x.c.tasks[id])
		}
	}
}

// gangAt returns the gang of a task, or nil.
func (x *court) gangAt(id TaskID) *courtGang { return x.gangOf(x.c.tasks[id].job) }

// gangOf returns the gang of a job, or nil if there are none. Few jobs have victims in a
// plan, so that a list is searched faster than a map.
func (x *court) gangOf(job int32) *courtGang {
	if job == 0 || x.c.gangs == 0 {
		return nil
	}
	i := slices.IndexFunc(x.gangs, func(g courtGang) bool { return g.job == job })
	if i < 0 {
		// What is leaving neither counts nor protects, and a grant does not run.
		g, leaf := courtGang{job: job, together: true}, queue.ID(-1)
		for _, id := range x.c.membersOf(job) {
			if r := &x.c.tasks[id]; r.state == Running {
				if g.running++; g.running == 1 {
					leaf = r.leaf
				}
				g.together = g.together && leaf == r.leaf && !r.flags.has(flagRequiredNode) && x.untilLater(id) == ""
			}
		}
		g.minimum = int(x.c.minimumOf(job))
		g.surplus = max(0, g.running-g.minimum)
		i, x.gangs = len(x.gangs), append(x.gangs, g)
	}
	return &x.gangs[i]
}

// brought reports whether a task goes with its whole job, because of another member or of
// itself. Then it need not help.
func (x *court) brought(r *taskRow) bool {
	g := x.gangOf(r.job)
	return g != nil && g.whole() && g.useful
}

// member counts a victim of a gang, or takes it back.
func (x *court) member(r *taskRow, n int) {
	if g := x.gangOf(r.job); g != nil {
		g.taken += n
	}
}

// give gives a victim back on trial, and take takes it again, the last one first.
func (x *court) give(id TaskID) {
	x.marks[id] = markGiven
	x.touched = append(x.touched, x.place(x.c.tasks[id].node))
	x.count(id, -1)
}

func (x *court) take(id TaskID) {
	x.marks[id] = markJudged
	x.touched = x.touched[:len(x.touched)-1]
	x.count(id, +1)
}

// withoutGiven returns the victims that are not given back.
func (x *court) withoutGiven() []TaskID {
	x.rest = x.rest[:0]
	for _, id := range x.victims {
		if x.marks[id] != markGiven {
			x.rest = append(x.rest, id)
		}
	}
	return x.rest
}
