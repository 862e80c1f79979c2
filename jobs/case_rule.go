// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// rules are the rules about one victim by itself, for one job. Those that jobs
// share with asks are asked of a [victims.Eligible]; here is what jobs add.
type rules struct {
	eligible victims.Eligible
	minimum  func(job string) int // Planner.Minimum
	own      victims.OwnLeaf
	ask      victims.Ask // the first member without a place, for the caller's exemptions
	now      time.Time
	horizon  time.Time // exemptions that end until then count as ended
	leaves   []leafRow
	strict   bool
	stage    stage
	needy    queue.Trigger // what guarantees say; E
	lawful   bool          // law 4 lets the job take from others
}

// A leafRow is what the tasks of a leaf have in common, so that a task costs a
// lookup.
type leafRow struct {
	level  int32   // see needs
	bounds []int32 // see victims.Rooms.Chain
	erodes []int32 // see victims.Rooms.Erodes
	// room is what all of its bounds leave, per type; MaxInt64 if none does.
	room resources.Vector
}

// begin makes the rules those of a planner at an instant.
func (r *rules) begin(p *Planner, now time.Time) {
	r.eligible.Exempt, r.minimum, r.own = p.Exempt, p.Minimum, p.OwnLeaf
	r.now, r.horizon, r.strict, r.stage = now, now, p.StrictPriority, byPriority
}

// prepare works out what the tasks of every leaf have in common, and reports
// whether any leaf is in reach. Law 2 counts all members of todo as arriving.
func (r *rules) prepare(c *jobCase) bool {
	r.setAsk(c)
	who := victims.Preemptor{Ask: &r.ask, Arriving: c.rem}
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
	reach := r.eligible.Reset(c.c, &who, r.now)
	r.eligible.EndExemptions(r.horizon)
	c.rooms = &r.eligible.Rooms
	r.leaves = rows.Zeros(r.leaves, c.tree.Len())
	for w := range c.tree.Leaves(queue.Root) {
		leaf := &r.leaves[w]
		leaf.level = c.needs.level(c.tree, w)
		leaf.bounds, leaf.erodes = c.rooms.Chain(w), c.rooms.Erodes(w)
		leaf.room = c.rooms.Least(w)
	}
	return reach
}

// setAsk describes the first member without a place to those who exempt tasks
// from it.
func (r *rules) setAsk(c *jobCase) {
	j := c.job
	r.ask = victims.Ask{Key: j.Name, Application: j.Application, Queue: j.Queue, Priority: j.Priority, Job: j.Name}
	if len(c.unplaced) > 0 {
		r.ask = j.ask(c.unplaced[0])
	}
}

// shared are the rules of package victims by the names that they have here.
var shared = [...]victims.Rule{
	victims.RuleLeaving:      victims.RuleLeaving,
	victims.RuleRequiredNode: victims.RuleRequiredNode,
	victims.RuleApplication:  victims.RuleApplication,
	victims.RuleFence:        victims.RuleFence,
	victims.RuleDisabled:     victims.RuleDisabled,
	victims.RuleInside:       victims.RuleInside,
	victims.RulePriority:     victims.RulePriority,
}

// veto returns the first rule that keeps a task from being a victim wherever it
// helps, or 0. It does not ask whether the task is exempt.
func (r *rules) veto(c *victims.Cluster, id victims.TaskID, t *victims.Head) victims.Rule {
	rule := shared[r.eligible.Veto(id)]
	// The order is that in which refusals count: what the task does comes before
	// whose it is, and that before how it compares. Package victims has no word
	// for a task that no job may take, so that is put in before the priority.
	switch {
	case rule == victims.RuleLeaving, rule == victims.RuleRequiredNode:
		return rule
	case t.HasJob && c.Job(id) == r.ask.Job:
		return victims.RuleApplication // law 3: nor of the same job
	case t.NonPreemptible && (rule == 0 || rule == victims.RulePriority):
		return victims.RuleNonPreemptible
	}
	return rule
}

// exempt reports whether the caller exempts a task that no rule vetoes, taking
// exemptions that end at the horizon or before as ended.
func (r *rules) exempt(id victims.TaskID) bool {
	return r.eligible.Exempt != nil && r.eligible.Rule(id) == victims.RuleExempt
}

// A moment says which amounts count: those of now, or those that will be once
// what is already leaving has gone.
type moment uint8

const (
	present moment = 1 + iota
	coming
)

// public returns the moment in the words of a predicate.
func (m moment) public() victims.Moment {
	if m == present {
		return victims.Present
	}
	return victims.Coming
}

// A gate is what the queues on the path of the job let in, by their max and by
// their quotas. It has one moment at a time: that of the last read.
type gate struct {
	tree     *queue.Tree
	leaf     queue.ID
	ledger   Ledger
	breaches []Breach // of the last question
}

// begin makes the gate that of the job of a case.
func (g *gate) begin(c *jobCase, quotas *Allowances) {
	g.tree, g.leaf = c.tree, c.job.Queue
	g.ledger.Cluster, g.ledger.Quotas = c.c, quotas
}

// read reads the accounts of the quotas on the path at a moment.
func (g *gate) read(m moment) {
	g.ledger.Present = m == present
	g.ledger.Read(g.leaf)
}

// admits reports whether the quotas admit a claim, as they were last read and
// changed.
func (g *gate) admits(claim Claim) bool {
	g.breaches = g.ledger.Admit(g.breaches[:0], claim)
	return len(g.breaches) == 0
}

// mayPreempt reports whether the quotas let a claim trigger preemption.
func (g *gate) mayPreempt(claim Claim) bool {
	g.breaches = g.ledger.MayPreempt(g.breaches[:0], claim)
	return len(g.breaches) == 0
}

// account returns the account of a queue, or nil if it has no quota.
func (g *gate) account(q queue.ID) *Account {
	accounts := g.ledger.Accounts()
	for i := range accounts {
		if accounts[i].Queue == q {
			return &accounts[i]
		}
	}
	return nil
}

// usage returns what a queue uses of a type at a moment.
func (g *gate) usage(q queue.ID, t int, m moment) int64 {
	used := g.tree.Usage(q)[t]
	if m == coming {
		used -= g.tree.Preempting(q)[t] // all that is leaving, whoever wants it gone
	}
	return used
}

// hasHeadroom reports whether no queue of the path would pass its max with
// amounts more than it uses at a moment.
func (g *gate) hasHeadroom(more resources.Vector, m moment) bool {
	return g.underMaxima(resources.Positive(more), more, m)
}

// underMaxima reports whether no queue of the path passes its max in some types
// with amounts more than it uses at a moment.
func (g *gate) underMaxima(types resources.Mask, more resources.Vector, m moment) bool {
	for q := range g.tree.Up(g.leaf) {
		most := g.tree.Max(q)
		for t := range (most.Defined & types).All() {
			if g.usage(q, t, m)+more.At(t) > most.Value[t] {
				return false
			}
		}
	}
	return true
}

// needs are what victims must free below the queues of the path, wherever they
// run: for a max, and for the max of a quota. They are the same for all ways to
// place the members, whose sum is what counts. The queues are nested, so what a
// task helps is told by one number, its level: the first of them that it is
// below.
type needs struct {
	queues []queue.ID         // that are short, from the leaf upwards
	short  []resources.Vector // what each lacks, in types of rem
	// The types in which a queue is short for its max, and for that of its quota.
	headroom, quota []resources.Mask
	masks           []resources.Mask // the types in which those from a level on are short
	most            resources.Vector // the largest lack per type
}

// open reports whether any queue is short.
func (n *needs) open() bool { return len(n.queues) > 0 }

// prepare finds what queues are short of for all members of todo. What forbids
// the job to preempt has been checked before. So of the quotas only the max is
// left, and that only for a non-preemptible job.
func (n *needs) prepare(c *jobCase) {
	n.queues, n.short = n.queues[:0], n.short[:0]
	n.headroom, n.quota = n.headroom[:0], n.quota[:0]
	n.most = c.block(1)
	for q := range c.tree.Up(c.job.Queue) {
		n.add(c, q)
	}
	n.masks = rows.Zeros(n.masks, len(n.queues)+1)
	for i := len(n.queues) - 1; i >= 0; i-- {
		n.masks[i] = n.masks[i+1] | n.headroom[i] | n.quota[i]
	}
}

// add adds what queue q is short of, if anything.
func (n *needs) add(c *jobCase, q queue.ID) {
	short := resources.Vector(c.block(1))
	var headroom, quota resources.Mask
	most := c.tree.Max(q)
	for t := range (most.Defined & c.wants).All() {
		if lack := c.gate.usage(q, t, coming) + c.rem[t] - most.Value[t]; lack > 0 {
			short[t] = lack
			headroom = headroom.With(t)
		}
	}
	// The max and the quota of a queue lack what they lack of one and the same
	// tasks: what goes for the one makes room for the other. So the larger counts.
	if a := c.gate.account(q); a != nil {
		for t, lack := range a.Need(c.block(1), c.claim()) {
			if lack > 0 {
				short[t] = max(short[t], lack)
				quota = quota.With(t)
			}
		}
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

// level returns the first queue that is short and contains leaf, or the number
// of such queues.
func (n *needs) level(t *queue.Tree, leaf queue.ID) int32 {
	for i, q := range n.queues {
		if t.Contains(q, leaf) {
			return int32(i)
		}
	}
	return int32(len(n.queues))
}

// cut takes a candidate off what the queues above it lack, given as one row per
// queue, or puts it back if sign is +1.
func (n *needs) cut(short []int64, c *candidate, sign int64) {
	if !n.open() {
		return
	}
	types := len(short) / len(n.queues)
	for i := int(c.leaf.level); i < len(n.queues); i++ {
		addTo(short[i*types:(i+1)*types], c.size, sign)
	}
}
