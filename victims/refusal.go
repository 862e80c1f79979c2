// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// Count works out what a refusal counts: Counts, Candidates, Filtered, ShortBudgets, Closest and Lacks; of a gang
// also Placeable and Domain. It is linear in tasks at worst, so Decide leaves it out. Describe and Report call it. It uses the planner that decided,
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
// counted, and rules may end. (DESIGN.md, Refusals.)
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
	// After a search that was stopped another one would be as well.
	if !d.eligible.timed.Any() || d.trial.meter.Stopped {
		return
	}
	stages := d.scratch.stages[:0]
	if counted && r.Also == "" { // else the ask may not take from others, whoever is exempt
		stages = append(stages, outsideLeaf)
	}
	if own {
		stages = append(stages, withOwnLeaf)
	}
	r.RetryAt = d.retryAt(stages, r.Proven)
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
	r.told.OwnLeaf, r.Proven = true, r.Proven && first.Proven
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
	if d.pruning() && !d.eligible.timed.Any() && d.eligible.keeps == nil && d.c.gangs == 0 && d.p.Blockers == nil && len(d.c.budgets) == 0 {
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
			r.ShortBudgets = append(r.ShortBudgets, b.name)
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

// lanes is countRules and findClosest in one pass over the digests, for
// callers who exempt nobody. It reads rows of tasks only if the ask's application
// has tasks in the cluster. A node whose digest shows that one rule keeps all
// tasks that their leaves do not keep is counted without reading its lanes.
func (s *survey) lanes(r *Refusal) {
	d := s.d
	s.least = d.eligible.LeastRoom(d.scratch.least)
	d.scratch.least = s.least
	// With an application, an own leaf or a max that is short tasks differ by
	// more than the digest knows.
	s.even = !d.eligible.hasApp && !d.eligible.OwnLeaf() && !d.needs.open()
	if 2*r.Filtered > len(d.nodes) {
		s.same = rulebook.RuleNotHelping // as on most nodes
	}
	for _, n := range d.c.order {
		s.node(r, n)
	}
	if d.c.hasClosed() {
		for n := range d.c.nodes {
			// Nobody can run there, but who runs there counts.
			if d.c.nodes[n].live && d.c.nodes[n].closed() {
				s.node(r, NodeID(n))
			}
		}
	}
	if s.alike > 0 {
		s.addAlike(r)
	}
}

// node counts the tasks of a node, and compares it with the closest one.
//
// Most refused asks are refused for one reason on nearly all nodes. Those nodes are
// summed up and not looked into. If another node has another rule, its lanes are
// read.
func (s *survey) node(r *Refusal, n NodeID) {
	d := s.d
	gauge := &d.c.digest.gauges[n]
	s.counts[rulebook.RuleLeaving] += int(gauge.leaving)
	s.counts[rulebook.RuleRequiredNode] += int(gauge.required)
	usable := d.usable(n) && d.passes(n)
	rule := s.ruleForAll(n, usable)
	if s.same == 0 {
		s.same = rule
	}
	if gauge.evictable == 0 || rule != 0 && rule == s.same {
		s.alike += int(gauge.evictable)
		if usable && !s.isFar(n) {
			s.closer(r, n, d.siteOf(n).short)
		}
		return
	}
	at := d.siteIfOpen(n)
	short := at.short
	s.countLanes(r, n, &at)
	if usable {
		s.closer(r, n, short)
	}
}

// ruleForAll returns the rule that keeps every evictable task of a node whose
// leaf no rule keeps, or 0 if its digest does not tell.
func (s *survey) ruleForAll(n NodeID, usable bool) rulebook.Rule {
	d, e := s.d, &s.d.eligible
	gauge := &d.c.digest.gauges[n]
	switch {
	case !s.even:
		return 0
	// If the lowest task is too high in the leaf that ranks lowest, every task
	// is.
	case e.LeastRank(gauge.minPriority) > e.Ceiling:
		return rulebook.RulePriority
	case !e.EvenRanks || e.LeastRank(gauge.maxPriority) > e.Ceiling:
		return 0
	// No rule up to here keeps any. Nobody helps where the ask cannot run.
	case !usable:
		return rulebook.RuleNotHelping
	}
	// If the smallest amounts are too large for every bound, so is every task. If
	// they help, so does every task.
	free, least := d.c.row(d.c.coming, n), d.c.row(d.c.digest.least, n)
	for _, t := range d.types {
		if least[t] > 0 && free[t] < d.size[t] {
			if d.eligible.TooLarge(least) {
				return rulebook.RuleGuarantee
			}
			break
		}
	}
	return 0
}

// isFar reports whether a node lacks so much of some type, with nobody gone, that
// it is not the closest.
func (s *survey) isFar(n NodeID) bool {
	d := s.d
	if len(s.asMuch) == 0 {
		return false // it is the first one
	}
	free := d.c.row(d.c.coming, n)
	for _, t := range d.types {
		if most := s.asMuch[t]; max(d.size[t]-free[t], 0) >= most && most < noLimit {
			return true
		}
	}
	return false
}

// addAlike counts the tasks of which one rule keeps all whom their leaves do not:
// what leaves keep, and was not counted yet, is among them.
func (s *survey) addAlike(r *Refusal) {
	d := s.d
	var kept [rulebook.NumRules]int
	for w := range d.tree.Leaves(queue.Root) {
		// A leaf's veto comes before any rule of a lane, and the cluster counts
		// each leaf's evictable tasks anyway.
		if veto := d.eligible.Leaves[w].Veto; veto != 0 {
			kept[veto] += int(d.c.evictable[w])
		}
	}
	for rule, n := range kept {
		if n > 0 {
			// Some of them were counted when lanes were read, and are not among
			// those that were summed up.
			s.alike -= n - s.counts[rule]
			s.counts[rule] = n
		}
	}
	s.counts[s.same] += s.alike
}

// countLanes counts the tasks of a node lane by lane, each at the first rule that keeps
// it, and takes what its candidates would free off what the node is short of.
func (s *survey) countLanes(r *Refusal, n NodeID, at *site) {
	d, e := s.d, &s.d.eligible
	digest := &d.c.digest.nodes[n]
	// Of a required node only the tasks on it make headroom.
	headroom := d.needs.open() && (d.usable(n) || !d.required())
	for i := range digest.lanes {
		l, size := &digest.lanes[i], digest.size(i, d.c.types)
		// Most sizes fit what any leaf has to give, and then none of the leaves is asked.
		types, ample := resources.Positive(size), resources.Fits(size, s.least)
		candidates := int64(0)
		for j := l.first; j < l.end; j++ {
			leaf := &e.Leaves[digest.leaves[j]]
			helps := types & at.mask
			if headroom {
				helps |= types & d.needs.masks[leaf.Level]
			}
			switch {
			// The order of rules is that of Veto, and a test holds the two
			// together.
			case e.hasApp && d.c.tasks[digest.ids[j]].app == e.app:
				s.counts[rulebook.RuleApplication]++
			case leaf.Veto != 0:
				s.counts[leaf.Veto]++
			case leaf.Rank.Of(l.priority) > leaf.Ceiling:
				s.counts[rulebook.RulePriority]++
			case helps == 0:
				s.counts[rulebook.RuleNotHelping]++
			case !ample && !resources.Fits(size, leaf.Room):
				s.counts[rulebook.RuleGuarantee]++
			default:
				candidates++
			}
		}
		r.Candidates += int(candidates)
		if candidates == 0 || at.node == noNode {
			continue // what it frees is of no use there
		}
		for t, v := range size {
			at.short[t] -= candidates * v
		}
	}
}
