// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/aside"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// turns asks the members of todo one after another, by the planner of asks: each sees the
// places and victims of those before it. If all have places, that is a plan for the job
// from which its search begins, and than which its answer is not dearer; if the budget has
// no room for a search it is the answer.
//
// It does so on a copy of the cluster, for others may read that at the same time.
type turns struct {
	asks    turnPlanner
	rules   victims.Options // of the job, as asks go by them
	aside   aside.Copy
	copy    *victims.Cluster // that of the decision at hand
	answer  victims.Decision
	members []victims.Ask // by place in todo
	applied int           // changes of the copy

	order  []int32                                                    // places in todo
	nodes  []victims.NodeID                                           // by place in todo
	gone   []victims.TaskID                                           // the victims of all
	proof  victims.Proof                                              // of the plan: of one member it is that of the ask
	failed int32                                                      // the place in todo that was refused, or -1
	least  resources.Vector                                           // scratch of relax
	exempt func(*victims.Question) (time.Time, bool)                  // see decision.exemptAsk
	block  func([]victims.TaskID, *victims.Question) []victims.TaskID // see decision.blockAsk
	of     *decision                                                  // whose these are
	hosts  []int32                                                    // by place in todo
	units  []int32                                                    // that go
	whole  []bool                                                     // by gang: it goes as a whole
	marked []bool                                                     // by task: it goes
	list   []victims.TaskID                                           // scratch of around
	jobs   map[string]bool                                            // of victims
}

// An engine decides asks, one at a time: the planner of package victims, which has no public name.
type engine interface {
	Set(*victims.Cluster, *victims.Options)
	Decide(*victims.Decision, *victims.Ask, time.Time) error
	Explain(*victims.Explanation, *victims.Ask, time.Time) error
	Keep(func(victims.TaskID) rulebook.Rule)
	Share(left *int64)
	Without(victims.Relaxation)
}

// A turnPlanner decides members of jobs as asks: it spares whom only a job has to.
type turnPlanner struct {
	engine
	cluster *victims.Cluster
}

// set gives the engine, which is made if there is none, a cluster and options.
func (x *turnPlanner) set(c *victims.Cluster, o *victims.Options) {
	if x.engine == nil {
		x.engine = lent.To(o).Planner()
	}
	x.cluster = c
	x.Set(c, o)
}

// ask decides an ask, and returns what that takes.
func (x *turnPlanner) ask(d *victims.Decision, ask *victims.Ask, now time.Time) (steps int64, err error) {
	err = x.Decide(d, ask, now)
	steps = d.Plan.Steps
	spared := func(v victims.Victim) bool { return keptByJob(x.cluster, ask.Job, v.Task) != 0 }
	if err == nil && slices.ContainsFunc(d.Plan.Victims, spared) { // they are rare
		defer x.keepFor(ask.Job)()
		err = x.Decide(d, ask, now)
		steps += d.Plan.Steps
	}
	return steps, err
}

// keepFor has x spare whom a job has to spare, until the function that it returns is called.
func (x *turnPlanner) keepFor(job string) (done func()) {
	c := x.cluster
	x.Keep(func(id victims.TaskID) rulebook.Rule { return keptByJob(c, job, id) })
	return func() { x.Keep(nil) }
}

// keptByJob returns the rule by which a job spares a task that its members as asks need not, or 0:
// they do not know who is not preemptible, nor jobs without an application.
func keptByJob(c *victims.Cluster, job string, id victims.TaskID) rulebook.Rule {
	switch t := c.TaskView(id); {
	case t.Job != "" && t.Job == job:
		return rulebook.RuleApplication
	case t.NonPreemptible:
		return rulebook.RuleNonPreemptible
	}
	return 0
}

// takesTurns reports whether the members may be asked in turn: whether the rules of the
// job are those of its members as asks. Those know nothing of domains, formulas, and
// predicates that are told of other members.
func (d *decision) takesTurns() bool {
	p := d.p
	later := d.rules.timed.Own() && d.rules.timed.Horizon.After(d.now) // asks know no other instant
	return !later && !p.ByPriority && d.job.DomainDepth == 0 && p.Admit == nil && p.Predicate == nil && len(d.todo) > 0
}

// inTurn asks the members of todo in turn, unless DecideAll has done that, and reports whether
// all have places and somebody goes.
func (d *decision) inTurn() bool {
	x, found := &d.turn, false
	if d.p.inOrder {
		found = d.takeOver(d.p.asked)
	} else {
		x.begin(d)
		found = d.askOrders()
	}
	// Each of them keeps the caps, and all of them might not.
	return found && len(x.gone) > 0 && lent.To(&d.p.Options).KeepsCaps(d.c, &d.caps, x.gone)
}

// takeOver makes parts, which were decided in turn, those of the first members, and reports
// whether these are all. If not, the member after them was refused.
func (d *decision) takeOver(parts []jointPart) bool {
	x, members := &d.turn, 0
	x.nodes, x.gone, x.proof, x.failed = rows.Zeros(x.nodes, len(d.todo)), x.gone[:0], victims.NoProof, -1
	for i := range parts {
		for _, at := range parts[i].Plan.Places {
			x.nodes[members+at.Member] = at.Node
		}
		for k := range parts[i].Plan.Victims {
			x.gone = append(x.gone, parts[i].Plan.Victims[k].Task)
		}
		members += len(parts[i].asks)
	}
	if members < len(d.todo) {
		x.failed = int32(members)
	}
	return x.failed < 0
}

// askOrders asks the members in their order and, if one is refused, with the largest last,
// as law 4 is counted. It reports whether all have places.
func (d *decision) askOrders() bool {
	x := &d.turn
	x.order = x.order[:0]
	for i := range d.todo {
		x.order = append(x.order, int32(i))
	}
	found := d.askAll(1)
	if !found && len(d.kinds) > 1 && !d.effort.Stopped {
		x.order = append(x.order[:0], d.sorted...)
		slices.Reverse(x.order)
		found = d.askAll(1)
	}
	return found
}

// begin makes the copy that of the cluster, and the planner one with the rules of the job.
func (x *turns) begin(d *decision) {
	x.copy = x.aside.Of(d.c)
	x.rules, x.rules.Audit = d.p.Options, false
	for cap, most := range lent.To(&x.rules).Caps() {
		*most = d.caps[cap]
	}
	x.rules.Filter = d.remembered()   // nobody is asked twice
	if d.rules.stage == outsideLeaf { // a queue may say otherwise; see askAll
		x.rules.WithinQueue = queue.Never
	}
	if x.of != d { // once per planner, and again if that was copied
		x.exempt, x.block, x.of = d.exemptAsk, d.blockAsk, d
	}
	if d.p.Exempt != nil {
		x.rules.Exempt = x.exempt
	}
	if d.p.Blockers != nil {
		x.rules.Blockers = x.block
	}
	x.members = x.members[:0]
	for _, m := range d.todo {
		x.members = append(x.members, d.job.MemberAsk(m))
	}
}

// blockAsk names who blocks a node for a member in turn: what the caller says of the job's.
func (d *decision) blockAsk(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
	if h := d.hostAt(q.Node); h >= 0 {
		dst = append(dst, d.blockers(int(d.byKey[q.Ask.Key]), h)...)
	}
	return dst
}

// exemptAsk exempts from members in turn whom the caller exempts from the job.
func (d *decision) exemptAsk(e *victims.Question) (until time.Time, exempt bool) {
	until, exempt = d.rules.Exempts(int32(e.Task))
	return until, exempt && (until.IsZero() || until.After(d.rules.timed.Horizon))
}

// askAll asks the members in x.order, each within a share of a budget that the caller has
// set, and reports whether all have places. The copy is then as it was.
func (d *decision) askAll(share int64) bool {
	x, a := &d.turn, &d.turn.answer
	defer x.undo()
	x.nodes, x.gone = rows.Zeros(x.nodes, len(d.todo)), x.gone[:0]
	d.effort.pass = 0
	for _, m := range x.order {
		if d.effort.exhausted() {
			x.failed, a.Refusal.Proven = m, false
			return false
		}
		if x.rules.Steps = 0; d.p.Steps > 0 {
			x.rules.Steps = max(d.effort.Left/share, 1)
		}
		x.asks.set(x.copy, &x.rules)
		x.asks.Without(d.p.without)
		steps, err := x.asks.ask(a, &x.members[m], d.now)
		x.failed = m
		if err != nil {
			a.Refusal.Proven = false
			return false
		}
		d.effort.turns(steps)
		if a.Outcome == victims.Refused || lent.To(a).Second() && d.rules.stage == outsideLeaf || d.effort.Stopped && m != x.order[len(x.order)-1] {
			return false
		}
		x.nodes[m], x.proof = a.Plan.Places[0].Node, a.Plan.Proof
		for i := range a.Plan.Victims {
			x.gone = append(x.gone, a.Plan.Victims[i].Task)
		}
		if err := x.copy.Apply(a); err != nil {
			a.Refusal.Proven = false
			return false
		}
		x.applied++
	}
	if x.failed = -1; len(d.todo) > 1 {
		x.proof = victims.NoProof
	}
	return true
}

// undo makes the copy what it was.
func (x *turns) undo() {
	for ; x.applied > 0; x.applied-- {
		if err := x.copy.Undo(); err != nil {
			panic(err) // nobody else has it
		}
	}
}

// find looks for the best plan of a case that is stated, leaves it in d.best, and reports
// whether there is one.
func (d *decision) find() bool {
	d.best.found, d.best.proven, d.best.proof = false, true, victims.NoProof
	d.search.seed, d.search.narrow = nil, false
	if !d.holdable() {
		return false
	}
	s, found := scope{all: true}, false
	if d.takesTurns() {
		if found = d.inTurn(); found {
			s = d.around()
		} else if d.hopeless() {
			return false
		}
	}
	if !d.gather(s) {
		if d.best.proven = false; !found {
			return false
		}
		s.all = false // the plan in turn is the answer
		d.gather(s)
	}
	if found && d.seeds() {
		d.search.seed, d.search.narrow = &d.turn, !s.all
		if d.search.narrow {
			d.effort.narrow()
		}
	} else if !s.all && !d.gather(scope{all: true}) {
		d.best.proven = false
		return false
	}
	return d.choose()
}

// holdable reports whether every member could be on some node that is empty.
func (d *decision) holdable() bool {
	d.pay(len(d.hosts) * len(d.kinds))
	for i := range d.kinds {
		k, some := &d.kinds[i], false
		for h := range d.hosts {
			if some = k.roomFor(d.c.NodeView(d.hosts[h].id).Capacity) && d.takes(int32(h), k); some {
				break
			}
		}
		if !some {
			return false
		}
	}
	return true
}

// hopeless reports whether a refusal in turn is one of the job. It is if the ask of a
// member alone has no plan, though the queues above E need no more of their guarantees
// than they would beside the other members: law 2 counts all that arrive.
func (d *decision) hopeless() bool {
	x := &d.turn
	if x.failed < 0 || d.rules.stage != outsideLeaf || !d.rules.needy.Governed {
		return false
	}
	if d.p.inOrder { // others were asked, and elsewhere
		x.begin(d)
		x.order = x.order[:0]
	}
	if relaxed, err := d.relax(); err != nil {
		return false
	} else if relaxed || len(x.order) == 0 || x.failed != x.order[0] {
		x.order = append(x.order[:0], x.failed)
		if d.askAll(8) { // most of the budget is for the search
			return false
		}
	}
	r := &x.answer.Refusal
	return r.Reason == rulebook.NoVictims && r.Proven
}

// relax takes what the other members bring off the guarantees of queues above E on the
// copy, and reports whether that changed any.
func (d *decision) relax() (changed bool, err error) {
	x := &d.turn
	size := x.members[x.failed].Size
	for q := range d.tree.Ancestors(d.rules.needy.Needy) {
		g := d.tree.Guaranteed(q)
		if q == d.rules.needy.Needy || g.Defined == 0 {
			continue
		}
		x.least = append(x.least[:0], g.Value...)
		for t := range g.Defined.All() {
			used := d.gate.usage(q, t, coming)
			x.least[t] = max(min(x.least[t], used)-(d.rem[t]-size.At(t)), 0)
		}
		if err := x.copy.SetGuaranteed(q, resources.Limit{Value: x.least, Defined: g.Defined}); err != nil {
			return true, err
		}
		changed = true
	}
	return changed, nil
}

// around returns the scope of a search that begins with the plan in turn: its victims and all
// tasks or, of more than the budget is for, those on the nodes of that plan.
func (d *decision) around() (s scope) {
	x, c := &d.turn, d.c
	x.marked = rows.Zeros(x.marked, int(slices.Max(x.gone))+1)
	if x.jobs == nil {
		x.jobs = make(map[string]bool)
	}
	clear(x.jobs)
	x.list = append(x.list[:0], x.gone...)
	for _, id := range x.gone {
		x.marked[id] = true
		if job := c.TaskView(id).Job; c.MinMembers(job) > 0 && !x.jobs[job] {
			x.jobs[job] = true
			x.list = slices.AppendSeq(x.list, c.JobTasks(job))
		}
	}
	left := d.effort.Left / 2
	switch {
	case len(d.todo) == 1:
	case !d.isLarge() && left >= int64(c.TaskLen())*candidateWork:
		s.all = true
	default:
		from := len(x.list)
		for i := 0; i < len(x.nodes) && left > int64(len(x.list)-from)*candidateWork; i++ {
			x.list = slices.AppendSeq(x.list, c.TasksOn(x.nodes[i]))
		}
	}
	slices.Sort(x.list)
	s.tasks, s.gangs = slices.Compact(x.list), x.jobs
	return s
}

// isLarge reports whether to gather all tasks takes half of what there is at least for the search
// that follows members in turn. That looks at few nodes then.
func (d *decision) isLarge() bool {
	most := int64(leastEffort)
	if d.effort.set {
		most = min(most, d.effort.most)
	}
	return d.search.quick || int64(d.c.TaskLen())*candidateWork > most/2
}

// seeds finds the plan in turn in the rows of the case, and reports whether all of it is
// there.
func (d *decision) seeds() bool {
	x := &d.turn
	x.hosts, x.units, x.whole = x.hosts[:0], x.units[:0], rows.Zeros(x.whole, len(d.gangs))
	for _, n := range x.nodes {
		x.hosts = append(x.hosts, d.hostAt(n))
	}
	// A gang of which all go is one unit. It is not, if members of it are not needed.
	found := 0
	for u := len(d.units) - d.wholes; u < len(d.units); u++ {
		if tasks := d.tasksOf(int32(u)); !slices.ContainsFunc(tasks, func(i int32) bool { return !d.goes(i) }) {
			x.whole[d.units[u].gang] = true
			x.units, found = append(x.units, int32(u)), found+len(tasks)
		}
	}
	for u, i := range d.tasks[:len(d.units)-d.wholes] {
		if g := d.units[u].gang; d.goes(i) && (g < 0 || !x.whole[g]) {
			x.units, found = append(x.units, int32(u)), found+1
		}
	}
	return found == len(x.gone)
}

// goes reports whether a candidate is a victim of the plan in turn.
func (d *decision) goes(i int32) bool {
	id := d.cands[i].id
	return int(id) < len(d.turn.marked) && d.turn.marked[id]
}
