package victims

import (
	"slices"
	"sort"
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/search"
	"github.com/go-preempt/preempt/resources"
)

// A refuser completes the refusal of an ask that has no plan.
type refuser struct{ *decision }

// unplanned completes a refusal: if candidates were looked for, it counts what
// kept whom, and finds the node that came closest. (DESIGN.md, Refusals.)
func (d refuser) unplanned(dst *Decision, told stage) {
	r := &dst.Refusal
	counted := r.Reason == NoVictims || r.Reason == PredicateRefused
	own := d.mayTakeOwn(dst)
	// Counting takes longer than the decision did. Explain tries many and reads
	// none.
	if d.without.Rule != 0 || !counted && !own {
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
func (d refuser) others() bool {
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
func (d refuser) tellSecond(dst *Decision, reach bool) {
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
func (d refuser) count(r *Refusal) {
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
func (d refuser) countFiltered() (count int) {
	for _, n := range d.nodes {
		if d.usable(n) && !d.passes(n) {
			count++
		}
	}
	return count
}

// A survey looks at all tasks after a refusal.
type survey struct {
	d        refuser
	headroom resources.Vector // what the headroom lacks with all its candidates gone
	lacking  resources.Share  // the dominant share that the closest node lacks
	asMuch   []int64          // see search.Yardstick; empty until there is a closest one
	even     bool             // what a digest knows of a node decides about all tasks there
	same     sameRule
	drawn    []int64          // by row of budgets: the candidates in it
	least    resources.Vector // what every leaf in reach has room for
}

// ruleFor returns the first rule that keeps a task from being a victim, for the
// node of a site, or 0 for a candidate. A task that could only go with its whole
// job counts at the first rule that keeps a member of it.
func (d refuser) ruleFor(id TaskID, s *site) Rule {
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
	return d.eligible.Protected(id)
}

// gangReduces reports whether some member of a gang reduces an open need, that
// of its own node or headroom.
func (d refuser) gangReduces(row int32) bool {
	for _, id := range d.gangs.rows[row].members {
		if s := d.siteIfOpen(d.c.tasks[id].node); d.helps(id, &s) {
			return true
		}
	}
	return false
}

// siteIfOpen is siteOf for a node that the ask can use, and for another a site
// that needs nothing.
func (d refuser) siteIfOpen(n NodeID) site {
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
func (d refuser) shut(s *site) bool {
	return s.out || slices.ContainsFunc(s.blockers, func(id TaskID) bool { return !d.mayGo(id, s) })
}

// mayGo reports whether a task may be a victim for the node of a site, alone or
// with its whole job.
func (d refuser) mayGo(id TaskID, s *site) bool {
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
