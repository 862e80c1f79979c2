// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// The engine of lone asks, by file. Here an ask is decided; plan_place has places without victims. plan_search goes from
// node to node: plan_quick rules them out by sums, and internal/least by bounds. plan_problem and plan_rows state a
// node as a least.Problem: law 2, hard budgets, the cap and what gangs can spare are its limits ([decision.takesOf],
// [decision.countsOf], [decision.addGang]), which least keeps while it searches; [decision.offer] holds every set
// to them again. plan_headroom has victims on any node, plan_predicate the caller's word, plan_needless who can stay
// after all. [decision.proof] says what is shown, [decision.allow] what all that may take.

// decide answers an ask: without victims if that is possible, else by the plan
// of least cost, else with the option of the own leaf, else by a refusal.
//
// An ask with a required node, such as that of a daemon set, is decided alike,
// with these differences: that node only is usable, whether it is schedulable
// or reserved or not ([decision.usable]); no delay and no guarantee is asked
// for ([decision.precondition]); raw priorities are compared, and neither
// guarantees nor fences nor disabled queues protect, for the ask can run
// nowhere else ([eligible.Taker]); victims for headroom must be on the node,
// too ([decision.helps]). (DESIGN.md, Required nodes.)
func (d *decision) decide(dst *Decision) {
	d.trial.meter.Used = 0
	if d.place(dst) {
		return
	}
	if !d.precondition(dst) {
		if !d.prepare(outsideLeaf) {
			d.refuse(dst, rulebook.NothingInReach) // law 7
		} else if d.choose() {
			d.planned(dst)
			return
		} else {
			d.refuseForLack(dst)
		}
	}
	told := outsideLeaf
	if d.mayTakeOwn(dst) {
		reach := d.prepare(withOwnLeaf)
		if reach && d.choose() {
			d.planned(dst)
			return
		}
		if d.others() {
			told = withOwnLeaf
			d.tellSecond(dst, reach)
		}
	}
	d.unplanned(dst, told)
	if d.trial.meter.Stopped {
		dst.Refusal.Proven, dst.Refusal.RetryAt = false, time.Time{}
	}
	d.help(dst)
	dst.Plan.Steps = d.trial.meter.Used
}

// A stage says whose tasks are candidates.
type stage uint8

const (
	outsideLeaf stage = 1 + iota // those of other leaves
	withOwnLeaf                  // and less important ones of the ask's own, or of its branch
)

// mayTakeOwn reports whether the option of the own leaf has a say after a
// refusal. (DESIGN.md, The own leaf.)
func (d *decision) mayTakeOwn(dst *Decision) bool {
	return d.own != queue.Never && !d.required() && !d.trial.meter.Stopped && !rulebook.ReasonOf(dst.Refusal.Reason).Barred
}

// prepare states whose tasks are candidates, and reports whether any leaf is in
// reach.
func (d *decision) prepare(s stage) bool {
	who := eligible.Taker{
		Strict: d.p.StrictPriority, OnNode: d.required(),
		Starving: d.starving, HasStarving: d.hasE,
	}
	if s == withOwnLeaf {
		who.OwnLeaf, who.Own = true, d.own
		lawful := d.trigger()
		who.Starving, who.HasStarving = d.starving, d.hasE
		who.OnlyOwnLeaf = !lawful // law 4 lets it take from nobody else
	}
	d.needs.reset(d.c.types)
	for q := range d.tree.Ancestors(d.ask.Queue) {
		d.needs.lack(d.tree, q, d.max(q), d.size)
	}
	d.needs.whole = d.p.Predicate != nil
	d.needs.settle()
	d.c.settle()
	reach := d.eligible.reset(d, &who)
	d.laws = len(d.eligible.Rooms.Bounds)
	d.lawful.reset(d)
	d.gangs.reset(d)
	d.budgets.reset(d)
	d.stage = s
	return reach
}

// refuse sets dst to a refusal that is certain.
func (d *decision) refuse(dst *Decision, r string) {
	dst.Outcome = Refused
	dst.Plan.Version = Version{} // there is nothing to apply
	dst.Refusal.Reason = r
	dst.Refusal.Proven = true
}

// refuseForLack sets dst to the refusal of an ask for which no lawful set of
// victims was found, but for what is counted.
func (d *decision) refuseForLack(dst *Decision) {
	reason := rulebook.NoVictims
	if d.trial.refusals > 0 {
		reason = rulebook.PredicateRefused
	}
	d.refuse(dst, reason)
	dst.Refusal.Proven = d.search.Shown
	if reason == rulebook.NoVictims && d.caps != (rulebook.Caps{}) && d.without.Rule == "" && !d.trial.meter.Stopped {
		d.tellCap(&dst.Refusal)
	}
}

// tellCap looks for a plan without one of the caps, and tells this as the reason if there is one.
func (d *decision) tellCap(r *Refusal) {
	c, bars := d.caps.Bars(func() bool {
		if !d.choose() {
			return false
		}
		site := d.siteOf(d.best.node())
		d.giveBack(&site)
		return true
	})
	if bars {
		r.Reason, r.told.Beyond = c.Entry().Word, d.c.capped(d.best.victims)[c]
	}
	d.best.Found = false
}

// planned sets dst to the best plan, without whom it does not need.
func (d *decision) planned(dst *Decision) {
	site := d.siteOf(d.best.node())
	d.giveBack(&site)
	dst.Outcome = Preempts
	dst.Refusal.clear()
	p := &dst.Plan
	p.Version = d.c.version
	p.Cost, p.Proof, p.Steps = d.best.cost, d.proof(), d.trial.meter.Used
	dst.second = d.stage == withOwnLeaf
	d.seat(p, d.best.node())
	for _, id := range d.best.victims {
		d.addVictim(p, &site, id)
		p.WithinQueue = p.WithinQueue || d.eligible.Owns(d.c.tasks[id].leaf) && !d.required()
	}
	slices.SortFunc(p.Victims, func(a, b Victim) int { return strings.Compare(a.Key, b.Key) })
	d.eligible.tell(&p.Cost, d.best.victims)
	shift := rulebook.Shift{Tree: d.tree, Leaf: d.ask.Queue, Arriving: d.size, Gone: d.scratch.sum}
	p.Ends = shift.Endings(p.Ends, len(d.best.victims), func(i int) (queue.ID, resources.Vector) {
		id := d.best.victims[i]
		return d.c.tasks[id].leaf, d.c.size(id)
	})
}

// seat gives the ask its place.
func (d *decision) seat(p *Plan, n NodeID) {
	p.Places = append(p.Places[:0], Place{Key: d.ask.Key, Node: n, NodeName: d.c.nodes[n].name})
}

// addVictim adds a task to the victims of a plan, in memory that the plan had.
func (d *decision) addVictim(p *Plan, s *site, id TaskID) {
	n := len(p.Victims)
	if n == cap(p.Victims) {
		p.Victims = append(p.Victims, Victim{})
	}
	p.Victims = p.Victims[:n+1]
	v := &p.Victims[n]
	r := &d.c.tasks[id]
	size := append(v.Size[:0], d.c.size(id)...)
	types := resources.Positive(size)
	*v = Victim{
		Task: id, Key: r.key, Name: d.c.names.at(int(id)), Path: d.tree.Path(r.leaf), NodeName: d.c.nodes[r.node].name,
		Priority: r.priority, Size: size, Job: d.c.jobs.name(r.job),
		OptedOut: r.flags.has(flagOptedOut), Originator: r.flags.has(flagOriginator),
		Rank:        d.eligible.rankOf(id),
		ForNode:     r.node == s.node && s.mask&types != 0,
		ForHeadroom: d.needs.masks[d.eligible.Leaves[r.leaf].Level]&types != 0,
		Blocks:      slices.Contains(s.blockers, id),
	}
}

// retryAt returns the first instant at which, all else equal, the decision is a plan because rules have ended;
// zero if there is none. If it is certain that there is none now, one for which too few steps were left counts
// as if it had one: there is none before what it returns.
func (d *decision) retryAt(stages []stage, certain bool) time.Time {
	ends := d.scratch.ends[:0]
	for _, s := range stages {
		if d.prepare(s) {
			ends = d.eligible.ends(ends)
		}
	}
	d.scratch.ends = ends
	plans := func(end time.Time) bool {
		return slices.ContainsFunc(stages, func(s stage) bool {
			if !d.prepare(s) {
				return false
			}
			d.eligible.timed.Horizon = end
			return d.choose() || certain && !d.search.Shown && d.trial.meter.Over()
		})
	}
	if d.p.Predicate == nil {
		return eligible.FirstEnd(ends, plans)
	}
	ends = eligible.Ends(ends)
	if i := slices.IndexFunc(ends, plans); i >= 0 { // a predicate may refuse what is more
		return ends[i]
	}
	return time.Time{}
}

// ends appends the instants from which tasks may go that no rule keeps but those that end.
func (e *eligibility) ends(dst []time.Time) []time.Time {
	for id := range e.c.Tasks() {
		if e.c.tasks[id].state != Granted && e.veto(id) == 0 {
			dst = e.timed.AppendEnd(dst, e.c.stayOf(id))
		}
	}
	return dst
}

// root notes why a refused ask could not run even in an empty cluster.
func (d *decision) root(r *Refusal) {
	if r.Reason == InFlight || r.Reason == rulebook.UnknownNode || r.Reason == Unlawful {
		return
	}
	d.may = d.may[:0]
	for _, n := range d.nodes {
		if d.usable(n) && d.passes(n) {
			if d.may = append(d.may, n); d.c.holdsEmpty(n, d.size) {
				break
			}
		}
	}
	r.Cause = d.c.causeOf(d.size, d.ask.Queue, d.may)
}

// holdsEmpty reports whether a node would hold a size with nothing on it.
func (x *index) holdsEmpty(n NodeID, size resources.Vector) bool {
	for t, v := range size {
		if v > x.row(x.capacity, n)[t] {
			return false
		}
	}
	return true
}

// causeOf returns why work of a size and leaf could not run even in an empty cluster. The nodes are those that
// it may use, in node order, up to the first that would hold it.
func (x *index) causeOf(size resources.Vector, leaf queue.ID, nodes []NodeID) Cause {
	switch n := len(nodes); {
	case n == 0:
		return Cause{Kind: "no-node"}
	case !x.holdsEmpty(nodes[n-1], size):
		return x.tooLarge(size, nodes)
	}
	for t, v := range size {
		root := Cause{}
		for q := range x.tree.Ancestors(leaf) {
			if most, ok := x.tree.Max(q).Bound(t); ok && v > most && (root.Kind == "" || most < root.Most) {
				root = Cause{Kind: "above-max", Type: t, Most: most, Queue: x.tree.Path(q)}
			}
		}
		if root.Kind != "" {
			return root
		}
	}
	return Cause{}
}

// tooLarge returns what nodes lack, of which none would hold a size.
func (x *index) tooLarge(size resources.Vector, nodes []NodeID) Cause {
	for t, v := range size {
		best := nodes[0]
		for _, n := range nodes {
			if x.row(x.capacity, n)[t] > x.row(x.capacity, best)[t] {
				best = n
			}
		}
		if most := x.row(x.capacity, best)[t]; most < v {
			return Cause{Kind: "too-large", Type: t, Most: most, Node: x.nodes[best].name}
		}
	}
	lack := func(n NodeID) (short resources.Vector) {
		return resources.Short(nil, resources.Limit{Value: size, Defined: resources.Positive(size)}, x.row(x.capacity, n))
	}
	best := nodes[0]
	for _, n := range nodes[1:] {
		if resources.DominantShare(lack(n), x.total).Compare(resources.DominantShare(lack(best), x.total)) < 0 {
			best = n
		}
	}
	t := slices.IndexFunc(lack(best), func(v int64) bool { return v > 0 })
	return Cause{Kind: "too-large", Type: t, Most: x.row(x.capacity, best)[t], Node: x.nodes[best].name}
}

// A side is what a [Decision] lends to planners of other packages, as lent.To(d).
type side = lent.Side[*filler]

// A filler is a decision as planners of other packages see it, which call its methods.
//
//lint:ignore U1000 by lent.To
type filler Decision

func (*filler) For(d *Decision) *filler                    { return (*filler)(d) }
func (f *filler) Begin(ask *Ask, c *Cluster, at time.Time) { (*Decision)(f).begin(ask, c, at) }
func (f *filler) Keep(v resources.Vector) resources.Vector { return (*Decision)(f).keep(v) }
func (f *filler) CountLater(by counter, stage uint8)       { (*Decision)(f).countLater(by, stage) }
func (f *filler) Second() bool                             { return f.second }
func (f *filler) CostText(s *resources.Schema) string      { return f.Plan.costText(s) }
func (f *filler) Clear()                                   { f.Refusal.clear(); f.Plan.Steps = 0 }
func (f *filler) HelpReason()                              { f.Refusal.helpReason() }
func (f *filler) HelpNodes()                               { f.Refusal.Help.anyNode = true }
func (f *filler) HelpLess(path string)                     { f.Refusal.Help.helpLess(path) }
func (f *filler) HelpTime()                                { f.Refusal.helpTime() }
func (f *filler) RefuseAt(c *Cluster, q queue.ID, t int)   { (*Decision)(f).refuseAt(c, q, t) }
func (f *filler) At(o Obstacle, c *Cluster, q queue.ID) Obstacle {
	return (*Decision)(f).obstacleAt(o, c, q)
}
func (f *filler) NoteWhole(c *Cluster)                                 { (*Decision)(f).noteWhole(c) }
func (f *filler) Anything(c *Cluster)                                  { f.Refusal.Help.anything(c) }
func (f *filler) Note(c *Cluster, w *rulebook.Wish, e *eligible.Rules) { f.Refusal.Help.note(c, w, e) }
