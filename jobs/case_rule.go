// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// rules are the rules about one victim by itself, for one job: those that jobs share with
// asks, and what jobs add.
type rules struct {
	eligible eligible.Rules
	exempts  func(*victims.Question) (until time.Time, exempt bool)
	own      queue.WithinQueue
	ask      victims.Ask // the first member without a place
	asked    *victims.Question
	first    *victims.Member // the same, for the caller's exemptions
	now      time.Time
	weights  rulebook.Losses
	timed    eligible.Timed
	without  *victims.Relaxation // of the planner
	cluster  *victims.Cluster    // likewise
	options  *victims.Options
	strict   bool
	stage    stage
	needy    trigger.Guarantees // what guarantees say; E
	lawful   bool               // law 4 lets the job take from others
}

// begin makes the rules those of a planner at an instant.
func (r *rules) begin(p *Planner, now time.Time) {
	r.timed.Reset(p.Cluster.Tree(), now)
	if r.exempts = p.Exempt; r.exempts != nil {
		r.timed.Exempts = r
	}
	r.without = &p.without
	r.now, r.strict, r.stage = now, p.StrictPriority, byPriority
	r.weights.Set(p.Cluster.Capacity())
	r.cluster, r.options = p.Cluster, &p.Options
	r.eligible.Unnamed = lent.To(r.options).Unnamed()
}

// beginLeaf makes the rules those of jobs of a leaf.
func (r *rules) beginLeaf(p *Planner, leaf queue.ID) {
	r.own = eligible.WithinQueue(p.Cluster.Tree(), leaf, p.WithinQueue)
	if p.sharing {
		r.own = queue.Never
	}
}

// prepare works out what the tasks of every leaf have in common, and reports
// whether any leaf is in reach. Law 2 counts all members of todo as arriving.
func (r *rules) prepare(c *jobCase) bool {
	r.setAsk(c)
	who := eligible.Taker{Tree: c.tree, Leaf: r.ask.Queue, Priority: r.ask.Priority, Arriving: c.rem, Lacking: c.needs.queues}
	switch r.stage {
	case byPriority:
		// The job's own leaf is in its reach: of jobs of equal priority there each would
		// replace the other for ever.
		who.Strict, who.OwnLeaf, who.Own = true, true, r.own
	case withOwnLeaf:
		who.OwnLeaf, who.Own, who.OnlyOwnLeaf = true, r.own, !r.lawful
		fallthrough
	case outsideLeaf:
		who.Strict, who.Starving, who.HasStarving = r.strict, r.needy.Needy, r.needy.Governed
	}
	if r.without.Rule != "" {
		lifts := lent.To(r.without).Lifts(c.tree, r.ask.Queue)
		who.Waived, r.timed.Waived = lifts, func(rule rulebook.Rule, t eligible.Stay) bool { return lifts(rule, t.Leaf) }
	}
	c.rooms = &r.eligible.Rooms
	return r.eligible.Reset(&who)
}

// setAsk describes the first member without a place to those who exempt tasks
// from it.
func (r *rules) setAsk(c *jobCase) {
	j := c.job
	r.ask = victims.Ask{Key: j.Key, Application: j.Application, Queue: j.Queue, Priority: j.Priority, Job: j.Key}
	r.asked, r.first = &c.asked, &j.Members[0]
	if len(c.unplaced) > 0 {
		r.ask, r.first = j.MemberAsk(c.unplaced[0]), &j.Members[c.unplaced[0]]
	}
}

// veto returns the first rule that keeps a task from being a victim wherever it
// helps, and does not end by itself, or 0.
func (r *rules) veto(t *victims.Task) rulebook.Rule {
	rule := r.eligible.Veto(&eligible.Traits{
		Leaf: t.Queue, Priority: t.Priority, Leaving: isLeaving(t.State), RequiredNode: t.RequiredNode,
		SameApplication: t.Application != "" && t.Application == r.ask.Application,
	})
	// The order is that in which refusals count: what the task does comes before
	// whose it is, and that before how it compares. Asks know of no
	// task that no job may take, so that is put in before the priority.
	switch {
	case rule == rulebook.RuleLeaving, rule == rulebook.RuleRequiredNode:
		return rule
	case t.Job != "" && t.Job == r.ask.Job:
		return rulebook.RuleApplication // law 3: nor of the same job
	case t.NonPreemptible && (rule == 0 || rule == rulebook.RulePriority):
		return rulebook.RuleNonPreemptible
	}
	return rule
}

// rule is veto with the rules that end by themselves.
func (r *rules) rule(id victims.TaskID, t *victims.Task) rulebook.Rule {
	if rule := r.veto(t); rule != 0 {
		return rule
	}
	return r.timed.Keeps(lent.To(r.options).Stay(r.cluster, id))
}

// Exempts asks the caller; see [eligible.Exempter].
func (r *rules) Exempts(task int32) (until time.Time, exempt bool) {
	r.asked.Task, r.asked.Member = victims.TaskID(task), r.first
	return r.exempts(r.asked)
}

// work returns the work that stopping a task loses: its time by its weight.
func (r *rules) work(t *victims.Task) resources.Wide {
	return r.weights.Work(t.Size, rulebook.Lost(t.Scheduled, t.Checkpoint, r.now))
}

// levels returns what stopping a task costs, but for work and excess.
func (r *rules) levels(id victims.TaskID, t *victims.Task) cost.Levels {
	x := lent.To(r.options).Loss(r.cluster, id)
	x.Rank = r.eligible.Rank(t.Queue, t.Priority)
	return r.eligible.LevelsOf(&x)
}

// A moment says which amounts count: those of now, or those that will be once
// what is already leaving has gone.
type moment uint8

const (
	present moment = 1 + iota
	coming
)

// A gate is what the queues on the path of the job let in, by their max and by the word of
// the caller. It has one moment at a time: that of the last read.
type gate struct {
	c     *victims.Cluster
	tree  *queue.Tree
	leaf  queue.ID
	admit func(dst resources.Vector, a *victims.Admission) (lacks resources.Vector, refused bool)

	asking      victims.Admission // what the caller is asked, and what is broken
	path        []queue.ID        // from the leaf up
	used, fixed []int64           // below each of them, and by the non-preemptible
	lacks       resources.Vector
}

// begin makes the gate that of the job of a case.
func (g *gate) begin(c *jobCase, p *Planner) {
	g.c, g.tree, g.leaf, g.admit = c.c, c.tree, c.job.Queue, p.Admit
	g.path, g.asking.NonPreemptible = g.path[:0], c.job.NonPreemptible
}

// read reads what the queues of the path use at a moment. If the caller is asked the cost is
// linear in tasks.
func (g *gate) read(m moment) {
	types := g.tree.Schema().Len()
	g.asking.AfterLeaving, g.path, g.used = m == coming, g.path[:0], g.used[:0]
	for q := range g.tree.Ancestors(g.leaf) {
		g.path = append(g.path, q)
		for t := range types {
			g.used = append(g.used, g.usage(q, t, m))
		}
	}
	g.fixed = rows.Zeros(g.fixed, len(g.used))
	if g.admit == nil {
		return
	}
	for w := range g.tree.Leaves(queue.Root) {
		fixed := rows.At(g.fixed, g.level(w), types)
		for id := range g.c.TasksIn(w) {
			if t := g.c.TaskView(id); t.NonPreemptible && (m == present || !isLeaving(t.State)) {
				addTo(fixed, t.Size, +1)
			}
		}
	}
	for i := range g.fixed[min(types, len(g.fixed)):] {
		g.fixed[types+i] += g.fixed[i]
	}
}

// level returns the place in the path of the first queue that contains a leaf.
func (g *gate) level(leaf queue.ID) int {
	return slices.IndexFunc(g.path, func(q queue.ID) bool { return g.tree.Contains(q, leaf) })
}

// change adds to what is used what a task of a leaf has, or takes it off if sign is -1.
func (g *gate) change(leaf queue.ID, size resources.Vector, nonPreemptible bool, sign int64) {
	types := len(g.used) / len(g.path)
	for i := g.level(leaf); i < len(g.path); i++ {
		addTo(rows.At(g.used, i, types), size, sign)
		if nonPreemptible {
			addTo(rows.At(g.fixed, i, types), size, sign)
		}
	}
}

// remove takes a task off what was read.
func (g *gate) remove(id victims.TaskID) {
	t := g.c.TaskView(id)
	g.change(t.Queue, t.Size, t.NonPreemptible, -1)
}

// ask asks the caller, if there is one, about amounts more at a place in the path.
func (g *gate) ask(i int, wants resources.Vector) (lacks resources.Vector, refused bool) {
	if g.admit == nil {
		return nil, false
	}
	a, types := &g.asking, len(g.used)/len(g.path)
	a.Queue, a.Wants = g.tree.Path(g.path[i]), wants
	a.Used, a.UsedNonPreemptible = rows.At(g.used, i, types), rows.At(g.fixed, i, types)
	g.lacks, refused = g.admit(g.lacks, a)
	return g.lacks, refused
}

// admits reports whether the caller lets amounts more in at every queue, and notes what is
// broken.
func (g *gate) admits(wants resources.Vector) bool {
	admitted := true
	g.asking.Breaches = g.asking.Breaches[:0]
	for i := range g.path {
		lacks, refused := g.ask(i, wants)
		admitted = admitted && !refused && resources.Positive(lacks) == 0
	}
	return admitted
}

// forbids reports whether the caller refuses amounts more whoever goes, and notes what is
// broken where he does.
func (g *gate) forbids(wants resources.Vector) bool {
	forbidden := false
	g.asking.Breaches = g.asking.Breaches[:0]
	for i := range g.path {
		from := len(g.asking.Breaches)
		if _, refused := g.ask(i, wants); refused {
			forbidden = true
		} else {
			g.asking.Breaches = g.asking.Breaches[:from]
		}
	}
	return forbidden
}

// usage returns what a queue uses of a type at a moment.
func (g *gate) usage(q queue.ID, t int, m moment) int64 {
	used := g.tree.Usage(q)[t]
	if m == coming {
		used -= g.tree.Leaving(q)[t] // all that is leaving, whoever wants it gone
	}
	return used
}

// hasHeadroom reports whether no queue of the path would pass its max with amounts more than
// what was read. A max of a type that is not wanted binds nobody here.
func (g *gate) hasHeadroom(more resources.Vector) bool {
	for i, q := range g.path {
		most, used := g.tree.Max(q), rows.At(g.used, i, len(g.used)/len(g.path))
		for t := range (most.Defined & resources.Positive(more)).All() {
			if used[t]+more[t] > most.Value[t] {
				return false
			}
		}
	}
	return true
}

// needs are what victims must free below the queues of the path, wherever they
// run: for a max, and by the word of the caller. They are the same for all ways to
// place the members, whose sum is what counts. The queues are nested, so what a
// task helps is told by one number, its level: the first of them that it is
// below.
type needs struct {
	queues []queue.ID         // that are short, from the leaf upwards
	short  []resources.Vector // what each lacks, in types of rem
	// The types in which a queue is short for its max, and by the word of the caller.
	headroom, quota []resources.Mask
	masks           []resources.Mask // the types in which those from a level on are short
	most            resources.Vector // the largest lack per type
}

// open reports whether any queue is short.
func (n *needs) open() bool { return len(n.queues) > 0 }

// prepare finds what queues are short of for all members of todo.
func (n *needs) prepare(c *jobCase) {
	n.queues, n.short = n.queues[:0], n.short[:0]
	n.headroom, n.quota = n.headroom[:0], n.quota[:0]
	n.most = c.block(1)
	level := 0
	for q := range c.tree.Ancestors(c.job.Queue) {
		n.add(c, q, level)
		level++
	}
	n.masks = rows.Zeros(n.masks, len(n.queues)+1)
	for i := len(n.queues) - 1; i >= 0; i-- {
		n.masks[i] = n.masks[i+1] | n.headroom[i] | n.quota[i]
	}
}

// add adds what queue q of the path is short of, if anything.
func (n *needs) add(c *jobCase, q queue.ID, level int) {
	short := resources.Vector(c.block(1))
	var headroom, quota resources.Mask
	most := c.tree.Max(q)
	for t := range (most.Defined & c.wants).All() {
		if lack := c.gate.usage(q, t, coming) + c.rem[t] - most.Value[t]; lack > 0 {
			short[t] = lack
			headroom |= 1 << t
		}
	}
	// The max of a queue and the caller's word lack what they lack of one and the same tasks:
	// what goes for the one makes room for the other. So the larger counts.
	lacks, _ := c.gate.ask(level, c.rem)
	for t := range (resources.Positive(lacks) & c.wants).All() {
		short[t] = max(short[t], lacks[t])
		quota |= 1 << t
	}
	if headroom|quota == 0 {
		return
	}
	n.queues = append(n.queues, q)
	n.short = append(n.short, short)
	n.headroom = append(n.headroom, headroom)
	n.quota = append(n.quota, quota)
	n.most = resources.Max(n.most, n.most, short)
}

// cut takes a candidate off what the queues above it lack, given as one row per
// queue, or puts it back if sign is +1.
func (n *needs) cut(short []int64, c *candidate, sign int64) {
	if !n.open() {
		return
	}
	types := len(short) / len(n.queues)
	for i := int(c.leaf.Level); i < len(n.queues); i++ {
		addTo(short[i*types:(i+1)*types], c.size, sign)
	}
}
