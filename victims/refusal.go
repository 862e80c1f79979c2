// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"
	"sort"
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/search"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// unplanned completes a refusal: if candidates were looked for, it counts what
// kept whom, and finds the node that came closest. (DESIGN.md, Refusals.)
func (d *decision) unplanned(dst *Decision, told stage) {
	r := &dst.Refusal
	counted := r.Reason == NoVictims || r.Reason == PredicateRefused
	own := d.mayTakeOwn(dst)
	// Counting takes longer than the decision did. Explain tries many and reads
	// none.
	if d.without.Rule != "" || !counted && !own {
		return // a trial of Explain: only the outcome is read
	}
	if counted {
		// Without another try in between things are as the search left them.
		if d.stage != told {
			d.prepare(told)
		}
		d.count(r)
	}
	// Only exemptions end by themselves. After a search that was stopped
	// another one would be as well.
	if d.p.Exempt == nil || d.trial.meter.Stopped {
		return
	}
	stages := d.scratch.stages[:0]
	if counted && r.Also == 0 { // else the ask may not take from others, whoever is exempt
		stages = append(stages, outsideLeaf)
	}
	if own {
		stages = append(stages, withOwnLeaf)
	}
	r.RetryAt = d.retryAt(stages)
}

// others reports whether the ask's own leaf has tasks that are not of its application:
// those that the second stage counts.
func (d *decision) others() bool {
	e := &d.eligible
	for _, id := range d.c.leaves[d.ask.Queue] {
		if r := &d.c.tasks[id]; r.state != Granted && !(e.hasApp && r.app == e.app) {
			return true
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
		d.refuse(dst, NothingInReach)
	}
	r := &dst.Refusal
	r.OwnLeaf, r.Proven = true, r.Proven && first.Proven
	switch first.Reason {
	case OverMax, NotGuaranteed, OverGuarantee, HeadroomInside:
		r.Also = first.Reason // with its queue and type, which are there still
	}
}

// count counts what kept whom, and finds the node that came closest.
func (d *decision) count(r *Refusal) {
	if d.p.Filter != nil {
		r.Filtered = d.countFiltered()
	}
	s := survey{d: d}
	s.lackHeadroom()
	// Digests know no caller's functions, no gangs and no budgets. With any of
	// those every task is asked about.
	if d.pruning() && d.p.Exempt == nil && d.p.Minimum == nil && d.p.Blockers == nil && len(d.c.budgets) == 0 {
		s.lanes(r)
		return
	}
	s.countRules(r)
	s.findClosest(r)
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
	headroom resources.Vector // what the headroom lacks with all its candidates gone
	lacking  resources.Share  // the dominant share that the closest node lacks
	asMuch   []int64          // see search.Yardstick; empty until there is a closest one
	even     bool             // what a digest knows of a node decides about all tasks there
	same     Rule             // that keeps every task on most nodes, but for those that their leaves keep
	alike    int              // evictable tasks on such nodes
	drawn    []int64          // by row of budgets: the candidates in it
	least    resources.Vector // what every leaf in reach has room for
}

// ruleFor returns the first rule that keeps a task from being a victim, for the
// node of a site, or 0 for a candidate. A task that could only go with its whole
// job counts at the first rule that keeps a member of it.
func (d *decision) ruleFor(id TaskID, s *site) Rule {
	row := d.gangs.of(id)
	if d.c.tasks[id].state == Running && row >= 0 {
		switch g := &d.gangs.rows[row]; {
		// A rule that comes later than "of no help" must not hide it, or counts
		// would depend on what was asked first.
		case g.surplus == 0 && g.rule > RuleNotHelping && !d.gangReduces(row):
			return RuleNotHelping
		case g.surplus == 0 && g.rule != 0:
			return g.rule
		case g.rule == 0 && d.gangReduces(row):
			return 0
		case g.surplus == 0:
			return RuleNotHelping
		}
		*s = d.siteIfOpen(d.c.tasks[id].node) // a look at other nodes has replaced it
	}
	if rule := d.eligible.Rule(id); rule != 0 {
		return rule
	}
	if !d.helps(id, s) {
		return RuleNotHelping
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
				d.helpBudgets(&r.Help, id)
				s.draw(id)
			case RuleExempt, RuleBudget, RuleGuarantee:
				d.helpBudgets(&r.Help, id)
				fallthrough
			default:
				r.Counts[rule]++
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
	if r.HasClosest {
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
	if !r.HasClosest || share.Compare(s.lacking) < 0 {
		r.Closest, r.HasClosest, s.lacking = n, true, share
		r.Lacks = append(r.Lacks[:0], short...)
		s.asMuch = search.AsMuch(s.asMuch[:0], share, s.d.c.total)
		s.d.scratch.amounts = s.asMuch
	}
}

// lackHeadroom finds the largest amount per type that a queue on the path lacks
// once all that could make headroom has gone.
func (s *survey) lackHeadroom() {
	d := s.d
	s.asMuch = d.scratch.amounts[:0]
	d.scratch.wanted = rows.Zeros(d.scratch.wanted, d.c.types)
	s.headroom = d.scratch.wanted
	at := d.elsewhere()
	if d.required() && len(d.nodes) > 0 {
		at = d.siteOf(d.nodes[0]) // its victims are members of jobs that help there
	}
	for i, q := range d.needs.queues {
		sum := append(d.scratch.sum[:0], d.needs.short[i]...)
		for w := range d.tree.Leaves(q) {
			for _, id := range d.c.leaves[w] {
				if d.mayGo(id, &at) {
					sum = resources.Sub(sum, sum, d.c.size(id))
				}
			}
		}
		d.scratch.sum = sum
		s.headroom = resources.Max(s.headroom, s.headroom, sum)
	}
}

// ends appends the instants at which exemptions of tasks end that no other rule
// keeps.
func (e *Eligible) ends(dst []time.Time) []time.Time {
	for id := range e.c.Tasks() {
		if e.c.tasks[id].state != Granted && e.Veto(id) == 0 {
			if until, ok := e.Exemption(id); ok && !until.IsZero() {
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
	h := &r.Help
	h.Time = !r.RetryAt.IsZero() || !r.Proven
	switch {
	case r.Reason == UnknownNode:
		h.Node = d.ask.RequiredNode
		return
	case !r.Proven, d.p.Predicate != nil, r.Reason == NoVictims && d.p.Minimum != nil, d.mayTakeOwn(dst):
		// A predicate may look at anything. A gang may go as a whole once a member that
		// could not go is no more. And with the option of the own leaf, law 2 lets
		// go more if less is used.
		h.Anything(d.c)
		return
	}
	switch r.Reason {
	case OverMax, HeadroomInside: // so that it neither fits nor waits
		h.Less, h.Bounds = append(h.Less, r.Queue), true
	case NoVictims:
		d.helpVictims(r)
	default:
		d.helpPlace(h)
		d.helpTrigger(r)
	}
}

// helpTrigger names what could let an ask look for victims that must not.
func (d *decision) helpTrigger(r *Refusal) {
	h := &r.Help
	switch r.Reason {
	case TooEarly:
		h.Policies = true
	case NotGuaranteed:
		h.Bounds = true
	case OverGuarantee:
		h.Bounds = true
		if !slices.Contains(h.Less, r.Queue) {
			h.Less = append(h.Less, r.Queue)
		}
	case NothingInReach: // a guarantee says what is inside the starving queue
		h.Bounds, h.Policies = true, true
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
	for q := range d.tree.Up(d.ask.Queue) {
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
func (d *decision) helpVictims(r *Refusal) {
	h := &r.Help
	h.Bounds, h.Policies, h.Priorities = true, !d.required(), true
	h.Less = append(h.Less, d.needs.queues...)
	if !d.headroomAlone() {
		h.Node, h.AnyNode, h.Labels = d.ask.RequiredNode, !d.required(), true
	}
	switch {
	case len(d.c.grants) > 0: // a grant that starts may be a victim
		h.More = append(h.More, queue.Root)
	case r.Candidates+r.Counts[RuleExempt]+r.Counts[RuleGuarantee] > 0 && !d.required():
		h.More = append(h.More, d.mostAbove())
	}
}

// headroomAlone reports whether headroom is lacking whatever the node: for some
// node has room for the ask as soon as what is leaving has gone.
func (d *decision) headroomAlone() bool {
	return d.needs.open() && !d.required() && d.p.Blockers == nil && slices.ContainsFunc(d.nodes, func(n NodeID) bool {
		return d.hasRoom(n, coming, nil) && d.usable(n) && d.passes(n)
	})
}

// mostAbove returns the queue below which everything is whose usage law 2 asks
// about: the fence root, or the highest queue above it that has a guarantee.
func (d *decision) mostAbove() queue.ID {
	most := fence.Root(d.tree, d.ask.Queue)
	for q := range d.tree.Up(most) {
		if d.tree.Guaranteed(q).Defined != 0 {
			most = q
		}
	}
	return most
}

// helpBudgets names the hard budgets of a task that might go if more was left in
// them, be it later.
func (d *decision) helpBudgets(h *Help, id TaskID) {
	for _, row := range d.c.budgetsOf(id) {
		b := &d.c.budgets[row]
		if !b.hard {
			continue
		}
		if at, named := slices.BinarySearch(h.Budgets, b.name); !named {
			h.Budgets = slices.Insert(h.Budgets, at, b.name)
		}
	}
}

// A Help says what would help a refused ask. Until something that it names happens,
// the answer stays a refusal. What it names need not be enough. See DESIGN.md, What
// would help.
//
// Keep the Help of each waiting ask, and decide again after these events:
//
//   - a task or grant goes, shrinks or is told to stop: [Help.IfLess];
//   - one comes, grows, starts, or may stay after all: [Help.IfMore]. One that moves
//     goes and comes;
//   - a node is added, changed or removed: [Help.IfNode];
//   - a budget has more left, or is no longer hard: [Help.IfBudget];
//   - time passes: Time;
//   - you set Bounds, Policies (a new tree sets both), Priorities or Labels;
//   - you change the ask, its grant or the planner's options: in any case.
type Help struct {
	// Node is the name of the only node on which room would help. AnyNode: room on any
	// node that the Filter allows would.
	Node    string
	AnyNode bool
	// Less has queues in which less usage would help, More those in which more would,
	// queues below included.
	Less, More []queue.ID
	// Budgets are hard budgets in which more left would help.
	Budgets []string
	// Time alone would help; see Refusal.RetryAt.
	Time bool
	// What would help if set otherwise. Bounds: guarantees and maxima. Policies: also
	// offsets and delays. Priorities: also all else of a task but amounts, queue and
	// node. Labels: what the planner's functions answer.
	Bounds, Policies, Priorities, Labels bool
}

// IfLess reports whether to ask again after something of a leaf on a node is less; see
// [Help].
func (h *Help) IfLess(c *Cluster, leaf queue.ID, node NodeID) bool {
	return h.IfNode(c.NodeName(node)) || anyAbove(c.tree, h.Less, leaf)
}

// IfMore reports whether to ask again after something of a leaf is more; see [Help].
func (h *Help) IfMore(c *Cluster, leaf queue.ID) bool { return anyAbove(c.tree, h.More, leaf) }

// IfNode reports whether to ask again after an event of this node; see [Help].
func (h *Help) IfNode(name string) bool { return h.AnyNode || h.Node != "" && h.Node == name }

// IfBudget reports whether to ask again after an event of this budget; see [Help].
func (h *Help) IfBudget(name string) bool { return slices.Contains(h.Budgets, name) }

// anyAbove reports whether a leaf is one of some queues or below one.
func anyAbove(t *queue.Tree, queues []queue.ID, leaf queue.ID) bool {
	return slices.ContainsFunc(queues, func(q queue.ID) bool { return t.Contains(q, leaf) })
}

// CopyFrom copies into the memory of h.
func (h *Help) CopyFrom(from *Help) {
	less, more, budgets := h.Less[:0], h.More[:0], h.Budgets[:0]
	*h = *from
	h.Less, h.More = append(less, from.Less...), append(more, from.More...)
	h.Budgets = append(budgets, from.Budgets...)
}

// Anything makes h name all that can happen to a cluster but time, for a host that
// knows no better.
func (h *Help) Anything(c *Cluster) {
	h.AnyNode, h.Bounds, h.Policies, h.Priorities, h.Labels = true, true, true, true, true
	h.Less, h.More = append(h.Less[:0], queue.Root), append(h.More[:0], queue.Root)
	h.Budgets = h.Budgets[:0]
	for _, row := range c.budgetOrder {
		if b := &c.budgets[row]; b.hard {
			h.Budgets = append(h.Budgets, b.name)
		}
	}
}

// cleared returns a help that names nothing, with the memory of h.
func (h *Help) cleared() Help {
	return Help{Less: h.Less[:0], More: h.More[:0], Budgets: h.Budgets[:0]}
}

// A helpReport is a [Help] for machines.
type helpReport struct {
	Node       string   `json:"node,omitempty"`
	AnyNode    bool     `json:"anyNode,omitempty"`
	Less       []string `json:"less,omitempty"` // queues, like More
	More       []string `json:"more,omitempty"`
	Budgets    []string `json:"budgets,omitempty"`
	Time       bool     `json:"time,omitempty"`
	Bounds     bool     `json:"bounds,omitempty"`
	Policies   bool     `json:"policies,omitempty"`
	Priorities bool     `json:"priorities,omitempty"`
	Labels     bool     `json:"labels,omitempty"`
}

// Report returns what would help for encoding/json.
func (h *Help) Report(c *Cluster) any {
	paths := func(queues []queue.ID) (names []string) {
		for _, q := range queues {
			names = append(names, c.tree.Path(q))
		}
		return names
	}
	return helpReport{
		Node: h.Node, AnyNode: h.AnyNode, Less: paths(h.Less), More: paths(h.More),
		Budgets: slices.Clone(h.Budgets), Time: h.Time,
		Bounds: h.Bounds, Policies: h.Policies, Priorities: h.Priorities, Labels: h.Labels,
	}
}
