// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// Count works out what a refusal counts: Counts, Candidates, Scarce, Filtered, Closest and Lacks. It is linear
// in tasks at worst, so Decide leaves it out. Describe and Report call it. It uses the planner that decided,
// with its functions of now. If the cluster has changed, the error wraps ErrStale.
func (d *Decision) Count() error {
	by := d.counts.by
	if by == nil {
		return nil
	}
	if by.CountedIn().version != d.counts.version {
		return fmt.Errorf("victims: what ask %q was refused for: %w", d.Plan.Ask.Key, ErrStale)
	}
	if err := by.CountRefusal(d, d.counts.stage); err != nil {
		return err
	}
	d.counts = uncounted{}
	return nil
}

// A counter is a planner that counts what its refusals count only if somebody asks.
type counter interface {
	// CountedIn returns the cluster that the planner decides over now.
	CountedIn() *Cluster
	// CountRefusal sets what d counts; the stage is that of countLater.
	CountRefusal(d *Decision, stage uint8) error
}

// countLater says who counts for a refusal if somebody asks by [Decision.Count], while the cluster
// is as it is now. The planner may tell itself whose tasks were candidates, as a stage.
func (d *Decision) countLater(by counter, stage uint8) {
	d.counts = uncounted{by, by.CountedIn().version, stage}
}

// CountedIn returns the cluster of the planner.
func (d *decision) CountedIn() *Cluster { return d.p.Cluster }

// CountRefusal counts for a refusal of the planner.
func (d *decision) CountRefusal(dst *Decision, s uint8) error {
	if err := d.reset(d.p, &dst.Plan.Ask, dst.Plan.At); err != nil {
		return err
	}
	d.prepareFindings(stage(s))
	d.count(&dst.Refusal)
	return nil
}

// uncounted is what it takes to count for a refusal: nothing if there is nothing to count,
// or it is counted.
type uncounted struct {
	by      counter
	version Version
	stage   uint8
}

// unplanned completes a refusal: if candidates were looked for, what kept whom can be
// counted, and exemptions may end. (DESIGN.md, Refusals.)
func (d *decision) unplanned(dst *Decision, told stage) {
	r := &dst.Refusal
	counted := rulebook.ReasonOf(r.Reason).Searched
	own := d.mayTakeOwn(dst)
	if d.without.Rule != "" || !counted && !own {
		return // a trial of Explain: only the outcome is read
	}
	if counted {
		dst.countLater(d, uint8(told))
		// Without another try in between things are as the search left them.
		if d.stage != told {
			d.prepare(told)
		}
	}
	// Only exemptions end by themselves, and what refused to stop. After a search that was
	// stopped another one would be as well.
	if !d.timed() || d.trial.meter.Stopped {
		return
	}
	stages := d.scratch.stages[:0]
	if counted && r.Also == "" { // else the ask may not take from others, whoever is exempt
		stages = append(stages, outsideLeaf)
	}
	if own {
		stages = append(stages, withOwnLeaf)
	}
	r.RetryAt = d.retryAt(stages)
}

// others reports whether the ask's own leaf, or branch, has tasks that are not of its
// application: those that the second stage counts.
func (d *decision) others() bool {
	e := &d.eligible
	for w := range d.tree.Leaves(queue.Root) {
		if !e.Owns(w) {
			continue
		}
		for _, id := range d.c.leaves[w] {
			if r := &d.c.tasks[id]; r.state != Granted && !(e.hasApp && r.app == e.app) {
				return true
			}
		}
	}
	return false
}

// tellSecond makes a refusal that of the second stage, which is what somebody can act on.
// What kept the first one from looking at other queues is told beside it. (DESIGN.md, The
// own leaf.)
func (d *decision) tellSecond(dst *Decision, reach bool) {
	first := dst.Refusal
	if reach {
		d.refuseForLack(dst)
	} else {
		d.refuse(dst, rulebook.NothingInReach)
	}
	r := &dst.Refusal
	r.OwnLeaf, r.Proven = true, r.Proven && first.Proven
	if rulebook.ReasonOf(first.Reason).Gate {
		r.Also = first.Reason // with its queue and type, which are there still
	}
}

// count counts what kept whom, and finds the node that came closest.
func (d *decision) count(r *Refusal) {
	if d.p.Filter != nil {
		r.Filtered = d.countFiltered()
	}
	s := survey{d: d, asMuch: d.scratch.amounts[:0]}
	at := d.elsewhere()
	if d.required() && len(d.nodes) > 0 {
		at = d.siteOf(d.nodes[0]) // its victims are members of jobs that help there
	}
	s.lackHeadroom(&at)
	// Digests know no caller's functions, no gangs and no budgets. With any of
	// those every task is asked about.
	if d.pruning() && !d.timed() && d.c.gangs == 0 && d.p.Blockers == nil && len(d.c.budgets) == 0 {
		s.lanes(r)
	} else {
		s.countRules(r)
		s.findClosest(r)
	}
	s.protect(r)
	r.Counts = r.Counts[:0]
	for rule, n := range s.counts {
		if n > 0 {
			r.Counts = append(r.Counts, Count{rulebook.Rule(rule).String(), n})
		}
	}
}

// countFiltered returns the number of nodes that the caller's filter refuses.
func (d *decision) countFiltered() (count int) {
	for _, n := range d.nodes {
		if d.usable(n) && !d.passes(n) {
			count++
		}
	}
	return count
}

// A survey looks at all tasks after a refusal.
type survey struct {
	d        *decision
	counts   [rulebook.NumRules]int // tasks by the rule that keeps them
	headroom resources.Vector       // what the headroom lacks with all its candidates gone
	lacking  resources.Share        // the dominant share that the closest node lacks
	asMuch   []int64                // see least.AsMuch; empty until there is a closest one
	even     bool                   // what a digest knows of a node decides about all tasks there
	same     rulebook.Rule          // that keeps every task on most nodes, but for those that their leaves keep
	alike    int                    // evictable tasks on such nodes
	drawn    []int64                // by row of budgets: the candidates in it
	least    resources.Vector       // what every leaf in reach has room for
}

// ruleFor returns the first rule that keeps a task from being a victim, for the
// node of a site, or 0 for a candidate. A task that could only go with its whole
// job counts at the first rule that keeps a member of it.
func (d *decision) ruleFor(id TaskID, s *site) rulebook.Rule {
	row := d.gangs.of(id)
	if d.c.tasks[id].state == Running && row >= 0 {
		switch g := &d.gangs.rows[row]; {
		// A rule that comes later than "of no help" must not hide it, or counts
		// would depend on what was asked first.
		case g.surplus == 0 && g.rule > rulebook.RuleNotHelping && !d.gangReduces(row):
			return rulebook.RuleNotHelping
		case g.surplus == 0 && g.rule != 0:
			return g.rule
		case g.rule == 0 && d.gangReduces(row):
			return 0
		case g.surplus == 0:
			return rulebook.RuleNotHelping
		}
		*s = d.siteIfOpen(d.c.tasks[id].node) // a look at other nodes has replaced it
	}
	if rule := d.eligible.rule(id); rule != 0 {
		return rule
	}
	if !d.helps(id, s) {
		return rulebook.RuleNotHelping
	}
	return d.eligible.protected(id)
}

// gangReduces reports whether some member of a gang reduces an open need, that
// of its own node or headroom.
func (d *decision) gangReduces(row int32) bool {
	for _, id := range d.gangs.rows[row].members {
		if s := d.siteIfOpen(d.c.tasks[id].node); d.helps(id, &s) {
			return true
		}
	}
	return false
}

// siteIfOpen is siteOf for a node that the ask can use, and for another a site
// that needs nothing.
func (d *decision) siteIfOpen(n NodeID) site {
	// Tasks on such a node can still make headroom, and are counted for that.
	if d.c.nodes[n].live && d.usable(n) && d.passes(n) {
		return d.siteOf(n)
	}
	return d.elsewhere()
}

// countRules counts every task at the first rule that keeps it from being a
// victim.
func (s *survey) countRules(r *Refusal) {
	d := s.d
	s.drawn = rows.Zeros(d.scratch.drawn, len(d.c.budgets))
	d.scratch.drawn = s.drawn
	for n := range d.c.nodes {
		for _, id := range d.c.nodes[n].tasks {
			// A grant is no task and no candidate.
			if d.c.tasks[id].state == Granted {
				continue
			}
			at := d.siteIfOpen(NodeID(n))
			switch rule := d.ruleFor(id, &at); rule {
			case 0:
				r.Candidates++
				s.draw(id)
			default:
				s.counts[rule]++
			}
		}
	}
	s.scarce(r)
}

// draw counts a candidate in its budgets.
func (s *survey) draw(id TaskID) {
	for _, b := range s.d.c.budgetsOf(id) {
		s.drawn[b]++
	}
}

// scarce names the hard budgets that have something left, but not enough for all of their
// candidates.
func (s *survey) scarce(r *Refusal) {
	c := s.d.c
	for _, row := range c.budgetOrder {
		if b := &c.budgets[row]; b.hard && 0 < b.left && b.left < s.drawn[row] {
			r.Scarce = append(r.Scarce, b.name)
		}
	}
}

// findClosest finds the usable node on which the least is lacking once all its
// candidates have gone, and what: by dominant share, then in node order. What
// the headroom lacks with all its candidates gone is lacking everywhere.
func (s *survey) findClosest(r *Refusal) {
	d := s.d
	for _, n := range d.nodes {
		if !d.usable(n) || !d.passes(n) {
			continue
		}
		at := d.siteOf(n)
		// It is not close at all, however little it lacks.
		if d.shut(&at) {
			continue
		}
		if d.p.VictimsOnNode {
			s.lackHeadroom(&at)
		}
		short := at.short
		for _, id := range d.c.nodes[n].tasks {
			if d.mayGo(id, &at) {
				short = resources.Sub(short, short, d.c.size(id))
			}
		}
		s.closer(r, n, short)
	}
}

// shut reports whether a node is out because of who blocks it: a grant, or a
// task that may not go.
func (d *decision) shut(s *site) bool {
	return s.out || slices.ContainsFunc(s.blockers, func(id TaskID) bool { return !d.mayGo(id, s) })
}

// mayGo reports whether a task may be a victim for the node of a site, alone or
// with its whole job.
func (d *decision) mayGo(id TaskID, s *site) bool {
	if d.candidate(id, s) {
		return true
	}
	if d.c.tasks[id].state != Running {
		return false
	}
	row := d.gangs.of(id)
	return row >= 0 && d.gangHelps(row, s)
}

// closer takes note of a node that lacks some amounts with all its candidates
// gone, if that is less than the closest one does. It changes short.
func (s *survey) closer(r *Refusal, n NodeID, short resources.Vector) {
	if r.Closest != noNode {
		for t, lack := range short {
			// One comparison of integers for most nodes, and a share of two
			// products for few.
			if max(lack, s.headroom[t]) >= s.asMuch[t] && s.asMuch[t] < noLimit {
				return
			}
		}
	}
	short = resources.Max(short, short, s.headroom)
	share := resources.DominantShare(short, s.d.c.total)
	if r.Closest == noNode || share.Compare(s.lacking) < 0 {
		r.Closest, s.lacking = n, share
		r.Lacks = append(r.Lacks[:0], short...)
		s.asMuch = least.AsMuch(s.asMuch[:0], share, s.d.c.total)
		s.d.scratch.amounts = s.asMuch
	}
}

// lackHeadroom finds the largest amount per type that a queue on the path lacks
// once all that could make headroom has gone, for the node of a site.
func (s *survey) lackHeadroom(at *site) {
	d := s.d
	d.scratch.lacks = rows.Zeros(d.scratch.lacks, d.c.types)
	s.headroom = d.scratch.lacks
	for i, q := range d.needs.queues {
		sum := append(d.scratch.sum[:0], d.needs.short[i]...)
		if d.p.VictimsOnNode && at.node != noNode {
			sum = s.lessNear(sum, q, at)
		} else {
			for w := range d.tree.Leaves(q) {
				for _, id := range d.c.leaves[w] {
					if d.mayGo(id, at) {
						sum = resources.Sub(sum, sum, d.c.size(id))
					}
				}
			}
		}
		d.scratch.sum = sum
		s.headroom = resources.Max(s.headroom, s.headroom, sum)
	}
}

// lessNear takes off a sum what may go below a queue: the candidates on a node, and all
// members of jobs that may go whole for one there.
func (s *survey) lessNear(sum resources.Vector, q queue.ID, at *site) resources.Vector {
	d, u := s.d, &s.d.problem
	u.meetNone()
	for _, id := range d.c.nodes[at.node].tasks {
		if d.c.tasks[id].state != Running {
			continue
		}
		if g := d.gangs.of(id); g >= 0 && d.gangHelps(g, at) {
			u.meet(g)
		} else if d.candidate(id, at) && d.tree.Contains(q, d.c.tasks[id].leaf) {
			sum = resources.Sub(sum, sum, d.c.size(id))
		}
	}
	for _, g := range u.met {
		for _, id := range d.gangs.rows[g].members {
			if d.tree.Contains(q, d.c.tasks[id].leaf) {
				sum = resources.Sub(sum, sum, d.c.size(id))
			}
		}
	}
	return sum
}

// ends appends the instants from which tasks may go that no other rule keeps than that they are
// refused or exempt.
func (e *eligibility) ends(dst []time.Time) []time.Time {
	for id := range e.c.Tasks() {
		if e.c.tasks[id].state == Granted {
			continue
		}
		switch rule := e.veto(id); {
		case rule == rulebook.RuleRefused:
			dst = append(dst, instantOf(e.c.refused.at(int(id))))
		case rule == 0 && e.mayExempt():
			if until, ok := e.exemption(id); ok && !until.IsZero() {
				dst = append(dst, until)
			}
		}
	}
	return dst
}

// firstEnd returns the first of some instants at which there is a plan, or the
// zero time. If more candidates never make a plan impossible, halving finds it.
func firstEnd(ends []time.Time, monotone bool, plans func(time.Time) bool) time.Time {
	slices.SortFunc(ends, time.Time.Compare)
	ends = slices.CompactFunc(ends, time.Time.Equal)
	// Each try is a decision of its own. With halving there are as few as the
	// logarithm of the instants.
	first := 0
	if monotone {
		first = sort.Search(len(ends), func(i int) bool { return plans(ends[i]) })
	} else {
		for first < len(ends) && !plans(ends[first]) {
			first++
		}
	}
	if first == len(ends) {
		return time.Time{}
	}
	return ends[first]
}

// help says what would help after a refusal. An answer other than a refusal needs a
// place as things are, or a plan. So what is named is what could bring a place,
// and what could undo the reason why there is no plan. (DESIGN.md, What would help.)
func (d *decision) help(dst *Decision) {
	if d.without.Rule != "" {
		return // a trial of Explain: only the outcome is read
	}
	r := &dst.Refusal
	if r.Proven {
		r.RetryAt = eligible.Sooner(r.RetryAt, d.filter.until, d.now)
	}
	h := &r.Help
	h.Time, h.MoreVictims = !r.RetryAt.IsZero() || !r.Proven, rulebook.ReasonOf(r.Reason).Cap
	w := rulebook.Wish{
		Key: d.ask.Key, Queue: d.ask.Queue, Node: d.ask.RequiredNode, Least: d.size, All: d.size,
		At: d.now, RetryAt: r.RetryAt, Reason: r.Reason, About: r.Queue, Type: r.Type, Counting: d.p.Counting(),
	}
	switch r.Reason {
	case rulebook.NoVictims:
		w.NeedsRoom = d.needs.open()
	case InFlight:
		id, _ := d.c.LookupGrant(d.ask.Key)
		d.scratch.place[0] = int32(d.c.tasks[id].node)
		w.Places = d.scratch.place[:]
	}
	defer func() { h.note(d.c, &w, &d.eligible.Rules) }()
	switch {
	case r.Reason == rulebook.UnknownNode:
		h.Node = d.ask.RequiredNode
		return
	case !r.Proven, d.p.Predicate != nil, r.Reason == rulebook.NoVictims && d.c.gangs > 0, d.mayTakeOwn(dst),
		d.p.MaxVictims > 0 && rulebook.ReasonOf(r.Reason).Searched:
		// Under a cap anything that makes a plan smaller may help. A predicate may look at anything. A gang may go as a whole once a member that
		// could not go is no more. And with the option of the own leaf, law 2 lets
		// go more if less is used.
		h.anything(d.c)
		w.Anything = true
		return
	}
	switch r.Reason {
	case rulebook.NoVictims:
		d.helpVictims(h)
	case InFlight: // the grant ends with its node
		d.helpPlace(h)
		h.Node = d.c.nodes[w.Places[0]].name
	default:
		if rulebook.ReasonOf(r.Reason).Place {
			d.helpPlace(h)
		}
		r.helpReason()
	}
}

// helpReason names what undoes the reason.
func (r *Refusal) helpReason() {
	h, e := &r.Help, rulebook.ReasonOf(r.Reason)
	h.Bounds, h.Policies, h.MoreVictims = h.Bounds || e.Bounds, h.Policies || e.Policies, h.MoreVictims || e.Cap
	if e.Less && !slices.Contains(h.Less, r.Queue) {
		h.Less = append(h.Less, r.Queue)
	}
}

// helpPlace names what could make the ask fit, or wait: less usage of a queue that
// has no headroom for it, and else room on a node. Of two that are both
// necessary one is enough to name.
func (d *decision) helpPlace(h *Help) {
	moment, held := coming, d.scratch.taken[:0]
	node := d.ask.RequiredNode
	if id, holds := d.c.LookupGrant(d.ask.Key); holds {
		moment, held = present, d.c.grantsFrom(held, id)
		d.scratch.taken = held
		node = d.c.nodes[d.c.tasks[id].node].name
	}
	for q := range d.tree.Ancestors(d.ask.Queue) {
		if !d.queueHasRoom(q, moment, held) {
			h.Less, h.Bounds = append(h.Less, q), true
			return
		}
	}
	h.Node, h.AnyNode, h.Labels = node, node == "", true
}

// helpVictims names what could give a lawful set of victims. A task that comes is
// of no help by itself: to stop it gives back no more than it has taken. But others
// of its queues may go then, if law 2 is what keeps them. Who is exempt now counts as
// one who may go: its time may pass unnoticed, if that alone does not help.
func (d *decision) helpVictims(h *Help) {
	h.Bounds, h.Policies, h.Priorities = true, !d.required(), true
	h.Less = append(h.Less, d.needs.queues...)
	if !d.headroomAlone() {
		h.Node, h.AnyNode, h.Labels = d.ask.RequiredNode, !d.required(), true
	}
	switch {
	case len(d.c.grants) > 0: // a grant that starts may be a victim
		h.More = append(h.More, queue.Root)
	case !d.required() && d.mayGive():
		h.More = append(h.More, d.mostAbove())
	}
	if len(d.c.budgets) > 0 {
		d.helpBudgets(h)
	}
}

// helpBudgets names the hard budgets of the tasks that might go if more was left in them, be
// it later.
func (d *decision) helpBudgets(h *Help) {
	for n := range d.c.nodes {
		if !d.c.digest.gauges[n].budgets {
			continue
		}
		at := d.siteIfOpen(NodeID(n))
		for _, id := range d.c.nodes[n].tasks {
			if d.c.tasks[id].state == Granted || d.eligible.veto(id) != 0 || !d.helps(id, &at) {
				continue
			}
			for _, row := range d.c.budgetsOf(id) {
				b := &d.c.budgets[row]
				if at, named := slices.BinarySearch(h.Budgets, b.name); b.hard && !named {
					h.Budgets = slices.Insert(h.Budgets, at, b.name)
				}
			}
		}
	}
}

// mayGive reports whether more usage of its queue may let some task go.
func (d *decision) mayGive() bool {
	e := &d.eligible
	for n := range d.c.nodes {
		// The lowest of a node is too high for most that have nobody.
		if g := &d.c.digest.gauges[n]; g.evictable == 0 || e.EvenRanks && e.LeastRank(g.minPriority) > e.Ceiling {
			continue
		}
		at := d.siteIfOpen(NodeID(n))
		for _, id := range d.c.nodes[n].tasks {
			if d.c.tasks[id].state != Granted && e.veto(id) == 0 && d.helps(id, &at) && e.protected(id) != rulebook.RuleBudget {
				return true
			}
		}
	}
	return false
}

// headroomAlone reports whether headroom is lacking whatever the node: for some
// node has room for the ask as soon as what is leaving has gone.
func (d *decision) headroomAlone() bool {
	return d.needs.open() && !d.nearby() && d.p.Blockers == nil && slices.ContainsFunc(d.nodes, func(n NodeID) bool {
		return d.hasRoom(n, coming, nil) && d.usable(n) && d.passes(n)
	})
}

// mostAbove returns the queue below which everything is whose usage law 2 asks
// about: the fence root, or the highest queue above it that has a guarantee.
func (d *decision) mostAbove() queue.ID {
	most := fence.Root(d.tree, d.ask.Queue)
	for q := range d.tree.Ancestors(most) {
		if d.tree.Guaranteed(q).Defined != 0 {
			most = q
		}
	}
	return most
}
