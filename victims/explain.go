// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An Explanation is a decision with all that led to it, with names and paths.
type Explanation struct {
	Decision Decision
	Queues   []QueueFinding // in tree order
	Nodes    []NodeFinding  // in node order
	Tasks    []TaskFinding  // by key; without grants
	// Relaxations has, for a refusal, every single rule without which it would not be one, in a fixed order (DESIGN.md,
	// Explanations and audits). It is empty for an ask that holds a grant. Of a gang fewer rules are tried; see
	// jobs.Planner.Explain.
	Relaxations []Relaxation
	// CutShort: its steps ended, or Stop said so, before all rules were tried, or all members explained.
	CutShort bool
	// Members explains those of a refused gang without a place, the alike together. Queues, Nodes and Tasks are empty
	// then.
	Members []MemberFinding

	explanationSide
	amounts []int64 // memory of the vectors above
}

// clear makes e ready to be filled; memory is kept.
func (e *Explanation) clear() {
	e.Queues, e.Nodes, e.Tasks, e.Relaxations = e.Queues[:0], e.Nodes[:0], e.Tasks[:0], e.Relaxations[:0]
	e.Members, e.CutShort = e.Members[:0], false
	e.amounts = e.amounts[:0]
}

// copyOf returns a copy of a vector that the explanation owns.
func (e *Explanation) copyOf(v resources.Vector) resources.Vector {
	from := len(e.amounts)
	e.amounts = append(e.amounts, v...)
	return e.amounts[from:len(e.amounts):len(e.amounts)]
}

// A QueueFinding says what a queue is to an ask. Starving, Rule and Room are unset if that requires a node.
type QueueFinding struct {
	Queue    string
	Starving bool             // it is the lowest queue that governs a type of the ask
	Rule     string           // of a leaf, what keeps all its tasks, or ""
	Room     resources.Limit  // what law 2 lets go, in types that it guarantees
	Lacks    resources.Vector // headroom; nil: none
	// Of a leaf.
	Tasks, Candidates int

	row                 queue.ID
	leaf, onPath, fence bool // it is one; of the ask; its fence root
}

// A TaskFinding says what a task is to an ask.
type TaskFinding struct {
	Key    string
	Rule   string // what keeps it; "" for a candidate
	Victim bool

	task        TaskID
	leaf        queue.ID
	queue, node string // path and name
}

// A MemberFinding says what the rules say to members of a gang that are alike.
type MemberFinding struct {
	Members []int       // of the ask, ascending
	Alone   Explanation // of the first of them, if it asked for a place of its own
}

// Explain decides and says why.
func (p *planner) Explain(dst *Explanation, ask *Ask, now time.Time) error {
	if err := p.Decide(&dst.Decision, ask, now); err != nil {
		return err
	}
	dst.clear()
	d, left := &p.d, p.rest(p.Cluster, dst.Decision.Plan.Steps)
	if p.left != nil {
		*p.left -= dst.Decision.Plan.Steps
	} else {
		p.left = &left
		defer func() { p.left = nil }()
	}
	s := outsideLeaf
	if dst.Decision.Outcome == Preempts {
		s = d.stage // the one that the plan was found in
	} else if dst.Decision.Refusal.told.OwnLeaf {
		s = withOwnLeaf // the one that is told
	}
	if err := dst.Decision.Count(); err != nil {
		return err
	}
	if err := d.reset(p, ask, now); err != nil {
		return err
	}
	d.prepareFindings(s)
	d.findQueues(dst)
	d.findTasks(dst)
	d.findNodes(dst)
	if r := &dst.Decision; r.Outcome == Refused && r.Refusal.Reason != InFlight {
		d.findRelaxations(dst)
	}
	return nil
}

// prepareFindings prepares what a decision prepares on its way, though a
// precondition may have ended that way early.
func (d *decision) prepareFindings(s stage) {
	if !d.required() {
		d.trigger()
	}
	if _, held := d.c.LookupGrant(d.ask.Key); held {
		// Its place counts as used already: it needs nothing beside that.
		d.wants, d.types = 0, d.types[:0]
		clear(d.size)
	}
	d.prepare(s)
}

// findTasks says of each task which rule keeps it, and counts those of each queue.
func (d *decision) findTasks(e *Explanation) {
	keyed := d.scratch.keyed[:0]
	d.eachRule(func(id TaskID, rule rulebook.Rule) {
		keyed = append(keyed, keyedTask{id: id, rule: rule})
		f := &e.Queues[d.c.tasks[id].leaf]
		if f.Tasks++; rule == 0 {
			f.Candidates++
		}
	})
	d.scratch.keyed = keyed
	d.sortByKey(keyed)
	for _, k := range keyed {
		r := &d.c.tasks[k.id]
		e.Tasks = append(e.Tasks, TaskFinding{
			task: k.id, leaf: r.leaf, Key: r.key, Rule: k.rule.String(), queue: d.tree.Path(r.leaf), node: d.c.nodes[r.node].name,
		})
	}
	for _, v := range e.Decision.Plan.Victims {
		at, _ := slices.BinarySearchFunc(e.Tasks, v.Key, func(t TaskFinding, key string) int {
			return strings.Compare(t.Key, key)
		})
		e.Tasks[at].Victim = true
	}
}

// A keyedTask is a task with the first bytes of its key after those that all keys begin with, as a number.
type keyedTask struct {
	start uint64
	id    TaskID
	rule  rulebook.Rule
}

// sortByKey sorts tasks by key. To sort findings, which are larger, by comparing keys takes half the time
// of an explanation.
func (d *decision) sortByKey(list []keyedTask) {
	first, alike := "", 0 // all keys begin with so many bytes of the first
	for i := range list {
		key := d.c.tasks[list[i].id].key
		if i == 0 {
			first, alike = key, len(key)
		}
		for !strings.HasPrefix(key, first[:alike]) {
			alike--
		}
	}
	for i := range list {
		rest := d.c.tasks[list[i].id].key[alike:]
		for k := range 8 {
			if list[i].start <<= 8; k < len(rest) {
				list[i].start |= uint64(rest[k])
			}
		}
	}
	d.scratch.unkeyed = resized(d.scratch.unkeyed, len(list))
	sortByStart(list, d.scratch.unkeyed)
	// Mostly that was all.
	for from, to := 0, 0; from < len(list); from = to {
		for to = from + 1; to < len(list) && list[to].start == list[from].start; {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(list[from:to], func(a, b keyedTask) int {
				return strings.Compare(d.c.tasks[a.id].key, d.c.tasks[b.id].key)
			})
		}
	}
}

// sortByStart sorts tasks by start, eleven bits after eleven bits, the last ones first: those of equal bits stay
// in the order that they have.
func sortByStart(list, spare []keyedTask) {
	const bits = 11
	for shift := 0; shift < 64; shift += bits {
		var next [1 << bits]int32 // by value of the bits: how many, then where the next one goes
		for i := range list {
			next[list[i].start>>shift%(1<<bits)]++
		}
		at := int32(0)
		for v, n := range next {
			next[v], at = at, at+n
		}
		for i := range list {
			to := &next[list[i].start>>shift%(1<<bits)]
			spare[*to] = list[i]
			*to++
		}
		list, spare = spare, list // after six times list is the first again
	}
}

// findQueues says of each queue what it is to the ask, but for its tasks.
func (d *decision) findQueues(e *Explanation) {
	required := d.required()
	root := fence.Root(d.tree, d.ask.Queue)
	for q := range queue.ID(d.tree.Len()) {
		f := QueueFinding{
			Queue:    d.tree.Path(q),
			Starving: d.hasE && q == d.starving,
			row:      q,
			leaf:     d.tree.IsLeaf(q),
			onPath:   d.tree.Contains(q, d.ask.Queue),
			fence:    !required && q == root,
		}
		if f.leaf {
			f.Rule = d.eligible.Leaves[q].Veto.String()
		}
		if b, ok := d.eligible.Rooms.Row(q); ok && !required {
			room := d.eligible.Rooms.Bounds[b].Room
			f.Room = resources.Limit{Value: e.copyOf(room.Value), Defined: room.Defined}
		}
		if i := slices.Index(d.needs.queues, q); i >= 0 {
			f.Lacks = e.copyOf(d.needs.short[i])
		}
		e.Queues = append(e.Queues, f)
	}
}

// findRelaxations decides again, each time without one rule that may have
// stood in the way.
func (d *decision) findRelaxations(e *Explanation) {
	var again Decision
	goesOn := func() bool {
		d.trial.meter.Ask()
		e.CutShort = e.CutShort || *d.p.left <= 0 || d.trial.meter.Stopped
		return !e.CutShort
	}
	note := func() {
		r := d.without
		r.became(&again)
		e.Relaxations = append(e.Relaxations, r)
	}
	for _, r := range d.p.relaxations(d.c, d.ask) {
		if !goesOn() {
			break
		}
		d.without = r
		d.begin(&again)
		d.decide(&again)
		if *d.p.left -= d.trial.meter.Used; again.Outcome != Refused {
			note()
		}
	}
	d.without = Relaxation{}
	tasks := e.taskRelaxations()
	planned := make(map[Relaxation]bool)
	for _, s := range d.lacking(e) {
		d.without = Relaxation{}
		d.prepareFindings(s)
		for _, r := range tasks {
			if planned[r] || !goesOn() {
				continue
			}
			d.without = r
			d.eligible.relax(r)
			d.gangs.reset(d)
			d.trial.meter.Used = 0
			plan := d.decideTask(&again, e, s)
			if *d.p.left -= d.trial.meter.Used; plan {
				planned[r], d.without = true, r
				note()
			}
		}
	}
	d.without = Relaxation{}
}

// lacking returns the stages in which candidates may have been too few. With the option of
// the own leaf, what another rule keeps in one stage may go in the other. The second stage
// is made after an obstacle as well, which is told if the own leaf has nobody else.
func (d *decision) lacking(e *Explanation) (stages []stage) {
	if rulebook.ReasonOf(e.Decision.Refusal.Reason).Searched {
		stages = append(stages, outsideLeaf)
	}
	if d.mayTakeOwn(&e.Decision) {
		stages = append(stages, withOwnLeaf)
	}
	return stages
}

// relaxations returns the rules of an ask or a gang, of queues, budgets and nodes that may have stood in its way, in
// the order in which they are told.
func (o *Options) relaxations(c *Cluster, ask *Ask) (all []Relaxation) {
	for _, x := range rulebook.Relaxations() {
		add := func(binds bool, r Relaxation) {
			if r.Rule = x.Word; binds {
				all = append(all, r)
			}
		}
		switch x.Subject {
		case rulebook.OfAsk:
			add(o.binds(x.Word, c.tree, queue.Root, ask), Relaxation{})
		case rulebook.OfQueue:
			for q := range queue.ID(c.tree.Len()) {
				add(o.binds(x.Word, c.tree, q, ask), Relaxation{Queue: c.tree.Path(q), queue: q})
			}
		case rulebook.OfBudget:
			for name, b := range c.Budgets() {
				add(b.Hard, Relaxation{Budget: name})
			}
		case rulebook.OfNode:
			for _, id := range c.order {
				n := &c.nodes[id]
				reserved := n.reservedFor != "" && n.reservedFor != ask.Key &&
					!slices.ContainsFunc(ask.Members, func(m Member) bool { return m.Key == n.reservedFor })
				add(x.Word == rulebook.RelaxUnschedulable && n.unschedulable || x.Word == rulebook.RelaxReservation && reserved, Relaxation{Node: n.name, node: id})
			}
		}
	}
	return all
}

// binds reports whether a rule of an ask, or of a queue, may bind it or its victims.
func (o *Options) binds(rule string, t *queue.Tree, q queue.ID, ask *Ask) bool {
	if c, capped := rulebook.CapOf(rule); capped {
		return *o.caps()[c] > 0
	}
	switch onPath := t.Contains(q, ask.Queue); rule {
	case rulebook.RelaxMayNot:
		return ask.MayNotPreempt
	case rulebook.RelaxDelay:
		return !ask.PendingSince.IsZero()
	case rulebook.RelaxInterval:
		return o.RetryInterval > 0
	case rulebook.RelaxUngoverned, rulebook.RelaxInside:
		return !o.ByPriority
	case rulebook.RelaxMax:
		return onPath && t.Max(q).Defined != 0
	case rulebook.RelaxTrigger:
		return onPath && !o.ByPriority
	case rulebook.RelaxFence:
		return q == fence.Root(t, ask.Queue) && q != queue.Root
	case rulebook.RelaxGuarantee: // of its path it also says what a gang is entitled to
		return t.Guaranteed(q).Defined != 0 && !(onPath && len(ask.Members) > 0)
	default:
		return (rule != rulebook.RelaxDisabled || t.Policies(q).Preemption == queue.Disabled) && says(t, q, rule, q)
	}
}

// taskRelaxations returns the rules that keep single tasks and can be relaxed.
func (e *Explanation) taskRelaxations() (all []Relaxation) {
	for _, x := range rulebook.Relaxations() {
		for i := range e.Tasks {
			if t := &e.Tasks[i]; x.Subject == rulebook.OfTask && t.Rule == x.Word {
				all = append(all, Relaxation{Rule: x.Word, Key: t.Key, task: t.task})
			}
		}
	}
	return all
}

// decideTask decides again with a rule of a single task relaxed, if the
// ask was refused for lack of candidates, and reports whether there is a plan.
func (d *decision) decideTask(dst *Decision, e *Explanation, s stage) bool {
	id := d.without.task
	n := d.c.tasks[id].node
	at := d.siteIfOpen(n)
	if d.ruleFor(id, &at) != 0 {
		return false // another rule keeps it as well
	}
	d.begin(dst)
	if e.Decision.Refusal.Proven && d.p.Predicate == nil && d.c.gangs == 0 && d.own == queue.Never && !d.needs.open() {
		// One more candidate on a node is nothing to the others, on which
		// there is no plan.
		d.best.Found = false
		d.trial.reset()
		d.trial.meter.Used = 0
		d.allow()
		d.pose()
		d.search.Try(int32(n))
		if d.best.Found {
			d.planned(dst)
		}
		return d.best.Found
	}
	d.decide(dst)
	outcome := dst.Outcome
	d.prepareFindings(s) // for the next one
	return outcome != Refused
}

// A Relaxation is a rule without which an ask would not be refused, the queue, node, task or budget that it is
// about, and the decision then.
type Relaxation struct {
	Rule   string // a stable word; see DESIGN.md, Explanations and audits
	Queue  string
	Node   string
	Key    string // of the task
	Budget string

	Outcome Outcome // Fits, Waits or Preempts
	Place   string  // the node of the first member
	Members int     // of a gang, that would have a place; else 0
	Victims int     // how many

	queue queue.ID
	node  NodeID
	task  TaskID

	relaxationSide
}

// became notes the decision without the rule.
func (r *Relaxation) became(d *Decision) {
	p := &d.Plan
	r.Outcome, r.Place, r.Victims = d.Outcome, p.Places[0].NodeName, len(p.Victims)
	for _, at := range p.Places {
		if len(p.Ask.Members) > 0 && !at.Extra {
			r.Members++
		}
	}
}

// A relaxationSide is what a [Relaxation] lends to planners of other packages.
type relaxationSide = lent.Side[*relaxing]

// A relaxing is a relaxation as planners of other packages see it, which call its methods.
//
//lint:ignore U1000 by lent.To
type relaxing Relaxation

func (*relaxing) For(r *Relaxation) *relaxing        { return (*relaxing)(r) }
func (r *relaxing) Row() (queue.ID, NodeID)          { return r.queue, r.node }
func (r *relaxing) Became(d *Decision)               { (*Relaxation)(r).became(d) }
func (r *relaxing) Waives(o string, q queue.ID) bool { return (*Relaxation)(r).waives(o, q) }
func (r *relaxing) Lifts(t *queue.Tree, asking queue.ID) func(rulebook.Rule, queue.ID) bool {
	return (*Relaxation)(r).lifts(t, asking)
}

// The methods below ask whether a rule is relaxed. In a decision the zero
// Relaxation relaxes nothing.

func (r Relaxation) isOf(rule string, q queue.ID) bool { return r.Rule == rule && r.queue == q }

func (r Relaxation) isAt(rule string, n NodeID) bool { return r.Rule == rule && r.node == n }

func (r Relaxation) budget(name string) bool {
	return r.Rule == rulebook.RelaxBudget && r.Budget == name
}

// waives reports whether an obstacle at a queue does not count. Without storm freedom
// nothing is inside the starving queue.
func (r Relaxation) waives(o string, q queue.ID) bool {
	x := rulebook.RelaxationOf(r.Rule)
	return x.Obstacle == o && (x.Subject != rulebook.OfQueue || r.queue == q)
}

// lifts says of a rule that keeps all tasks of leaf w from asks of another leaf whether it does not count.
func (r Relaxation) lifts(t *queue.Tree, asking queue.ID) func(rule rulebook.Rule, w queue.ID) bool {
	return func(rule rulebook.Rule, w queue.ID) bool {
		return rule.String() == r.Rule && (r.opens(t, asking, w) || says(t, w, r.Rule, r.queue))
	}
}

// opens reports whether leaf w, which is outside the fence of asking, would
// be inside without the fence that is relaxed.
func (r Relaxation) opens(t *queue.Tree, asking, w queue.ID) bool {
	if r.Rule != rulebook.RelaxFence || w == asking || r.queue != fence.Root(t, asking) {
		return false
	}
	parent, ok := t.Parent(r.queue)
	return ok && t.Contains(fence.Root(t, parent), w)
}

// says reports whether the property that makes a rule is said for queue q by another, or by itself.
func says(t *queue.Tree, q queue.ID, rule string, by queue.ID) bool {
	property := rulebook.RelaxationOf(rule).Property
	for at := range t.Ancestors(q) {
		if lent.Of(t).SaysItself(int32(at), property) {
			return at == by
		}
	}
	return false
}

// A table is rows of cells, the first of which is its header.
type table [][]string

func (t *table) row(cells ...string) { *t = append(*t, cells) }

// writeTo writes the rows on a line each, columns aligned and no blanks at the
// end.
func (t table) writeTo(b *strings.Builder) {
	// An ask that was refused before any node was looked at has no table of nodes. A
	// header without rows would say that there are no nodes.
	if len(t) == 1 {
		return
	}
	var lines strings.Builder
	w := tabwriter.NewWriter(&lines, 0, 0, 2, ' ', 0)
	for _, row := range t {
		// Columns are aligned by what the longest cell needs. The last one is
		// not padded, for it is a sentence.
		fmt.Fprintf(w, "  %s\n", strings.Join(row, "\t")) // which cannot fail, nor can Flush
	}
	w.Flush()
	for line := range strings.Lines(lines.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// String returns tables of queues, nodes, tasks and Relaxations, for people.
func (e Explanation) String() string { return e.describe() }

func (e *Explanation) describe() string {
	// The wide before the narrow: queues say what may be taken at all, nodes where, and
	// tasks who.
	var b strings.Builder
	s := e.Decision.units()
	for i := range e.Members {
		f := &e.Members[i]
		fmt.Fprintf(&b, "%s, asked alone: %s\n", f.names(&e.Decision.Plan.Ask), f.Alone.Decision.summary())
		b.WriteString(indented(f.Alone.describe()))
	}
	queues := table{{"queue", "tasks", "candidates", "may lose", "finding"}}
	for i := range e.Queues {
		f := &e.Queues[i]
		tasks, candidates, room := "", "", ""
		// Only leaves have tasks. An empty cell says that the question does not
		// arise, and 0 that there are none.
		if f.leaf {
			tasks, candidates = fmt.Sprint(f.Tasks), fmt.Sprint(f.Candidates)
		}
		// What law 2 lets a queue lose matters only if it might lose something:
		// not if a rule keeps all of its tasks, and not at the starving queue
		// itself.
		if f.Room.Defined != 0 && f.Rule == "" && !f.Starving {
			room = plain.Line(s.FormatLimit(f.Room))
		}
		queues.row(plain.Name(f.Queue), tasks, candidates, room, e.queueText(f))
	}
	queues.writeTo(&b)
	nodes := table{{"node", "finding"}}
	for i := range e.Nodes {
		nodes.row(plain.Name(e.Nodes[i].Node), e.nodeText(&e.Nodes[i]))
	}
	nodes.writeTo(&b)
	tasks := table{{"task", "queue", "node", "finding"}}
	for i := range e.Tasks {
		f := &e.Tasks[i]
		tasks.row(plain.Name(f.Key), plain.Name(f.queue), plain.Name(f.node), e.taskText(f))
	}
	tasks.writeTo(&b)
	switch {
	// An ask in flight waits for its own victims. No rule stands in its way,
	// and so none is relaxed for it.
	case e.Decision.Outcome != Refused || e.Decision.Refusal.Reason == InFlight, e.CutShort && len(e.Relaxations) == 0:
	// That there is no line must be said: it means that no change of one thing
	// helps, which is an answer and no gap.
	case len(e.Relaxations) == 0 && len(e.Decision.Plan.Ask.Members) > 0:
		b.WriteString("no single rule about the whole, a queue, a budget or a node stands in the way\n")
	case len(e.Relaxations) == 0:
		b.WriteString("no single rule stands in the way: there is more than one, or too little to take\n")
	case len(e.Decision.Plan.Ask.Members) > 0:
		b.WriteString("it would have its places\n")
	default:
		b.WriteString("it would have a place\n")
	}
	for i := range e.Relaxations {
		b.WriteString("  " + e.Relaxations[i].String() + "\n")
	}
	if e.CutShort {
		b.WriteString("cut short: not all rules were tried\n")
	}
	return b.String()
}

// names names the members, the first of many.
func (f *MemberFinding) names(ask *Ask) string {
	const most = 4
	var names []string
	for _, m := range f.Members[:min(len(f.Members), most)] {
		names = append(names, ask.Members[m].Key)
	}
	text := plain.Names(names)
	if more := len(f.Members) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// An explanationSide is what an [Explanation] lends to programs that show it, as lent.To(e).
//
//lint:ignore U1000 by lent.To
type explanationSide = lent.Side[*explaining]

// An explaining is an explanation of which each finding can be read by itself, as in [Explanation.String].
//
//lint:ignore U1000 by lent.To
type explaining Explanation

func (*explaining) For(e *Explanation) *explaining { return (*explaining)(e) }
func (e *explaining) Queue(i int) string           { return (*Explanation)(e).queueText(&e.Queues[i]) }
func (e *explaining) Node(i int) string            { return (*Explanation)(e).nodeText(&e.Nodes[i]) }
func (e *explaining) Task(i int) string            { return (*Explanation)(e).taskText(&e.Tasks[i]) }

// queueText says what a queue is to the ask; "" for one that plays no part.
func (e *Explanation) queueText(f *QueueFinding) string {
	// A queue may be several things at once, and each is said: the asking queue
	// may be fenced in and lack headroom.
	var parts []string
	part := func(on bool, text string) {
		if on {
			parts = append(parts, text)
		}
	}
	asks := f.row == e.Decision.Plan.Ask.Queue
	r := &e.Decision.Refusal
	// Being over the guarantee is why it was refused, so it stands here instead
	// of "starving", of which it is the opposite.
	sated := r.Reason == rulebook.OverGuarantee && r.Queue == f.Queue
	part(f.Rule != "" && !asks, ruleText(e, f.Rule, f.row))
	part(asks, "the asking queue")
	part(f.onPath && !asks, "on the path")
	part(sated, "has its guarantee")
	part(f.Starving && !sated, "starving")
	part(f.fence && f.row != queue.Root, "fenced in")
	part(f.Lacks != nil, "lacks headroom "+quantities(e.Decision.units(), f.Lacks))
	for i := range e.Decision.Plan.Ends {
		end := &e.Decision.Plan.Ends[i]
		part(end.Queue == f.Queue, end.Describe(e.Decision.units()))
	}
	return strings.Join(parts, ", ")
}

// ruleText writes a rule that keeps tasks of a queue, and what it says.
func ruleText(e *Explanation, rule string, q queue.ID) string {
	text := rulebook.RuleOf(rule).Ask
	switch {
	// The rule has one word for both, since both are law 7. Its text tells them
	// apart.
	case rule == "fence" && q == e.Decision.Plan.Ask.Queue:
		return "in the asking queue, from which it takes nothing"
	case rule == "fence":
		text = "beyond the fence"
	// "exempt: exempt" helps nobody.
	case strings.HasPrefix(text, rule):
		return text
	}
	return rule + ": " + text
}

// taskText says what a task is to the ask.
func (e *Explanation) taskText(f *TaskFinding) string {
	switch {
	case f.Victim:
		return "victim"
	case f.Rule != "":
		return ruleText(e, f.Rule, f.leaf)
	}
	return "candidate"
}

// String is as in [Explanation.String].
func (f Relaxation) String() string {
	// Every outcome but these two is a place, which needs no victims and no
	// waiting.
	how := "at once"
	switch f.Outcome {
	case Waits:
		how = "once what is leaving has gone"
	case Preempts:
		how = "with " + counted(f.Victims, "victim")
	}
	x := rulebook.RelaxationOf(f.Rule)
	text := x.Text
	switch x.Subject {
	case rulebook.OfQueue:
		text = fmt.Sprintf(text, plain.Name(f.Queue))
	case rulebook.OfNode:
		text = fmt.Sprintf(text, plain.Name(f.Node))
	case rulebook.OfTask:
		text = fmt.Sprintf(text, plain.Name(f.Key))
	case rulebook.OfBudget:
		text = fmt.Sprintf(text, plain.Name(f.Budget))
	}
	if f.Members > 0 {
		return fmt.Sprintf("%s (%v): %s, %s", text, f.Rule, counted(f.Members, "member"), how)
	}
	return fmt.Sprintf("%s (%v): on %s, %s", text, f.Rule, plain.Name(f.Place), how)
}
