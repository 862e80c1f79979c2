// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// refuseAt says which queue and type the reason of a refusal is about, if it is about a queue, and notes the bound, or
// the delay that it is about.
func (d *Decision) refuseAt(c *Cluster, q queue.ID, t int) {
	r := &d.Refusal
	r.Queue, r.Type, r.told.About, r.told.Bound = "", 0, 0, 0
	switch rulebook.ReasonOf(r.Reason).About {
	case rulebook.AboutMax:
		r.told.Bound, _ = c.tree.Max(q).Bound(t)
	case rulebook.AboutGuarantee:
		r.ProtectedBy = c.protectorOf(q, t)
		r.told.Bound = r.ProtectedBy.guaranteed
	case rulebook.AboutDelay:
		r.told.Bound = int64(*c.tree.Policies(d.Plan.Ask.Queue).PreemptionDelay)
		return
	default:
		return
	}
	r.Queue, r.Type, r.told.About = c.tree.Path(q), t, q
}

// Count works out what a refusal counts; see Refusal.Counts. Then texts and JSON tell it. It is linear in tasks at worst,
// and uses the planner that decided: not while that decides, and with the functions of its last decision. If the cluster
// has changed, the error wraps ErrStale.
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
	d.Refusal.ProtectedBy.minimum = by.CountedIn().MinMembers(d.Refusal.ProtectedBy.Job)
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
		r.told.Also(r, &first)
	}
}

// count counts what kept whom, and finds the node that came closest.
func (d *decision) count(r *Refusal) {
	if d.p.Filter != nil {
		r.Filtered = d.countFiltered()
	}
	s := survey{d: d}
	at := d.elsewhere()
	if d.required() && len(d.nodes) > 0 {
		at = d.siteOf(d.nodes[0]) // its victims are members of jobs that help there
	}
	s.lackHeadroom(&at)
	s.countRules(r)
	s.findClosest(r)
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
	closest  NodeID
	headroom resources.Vector // what the headroom lacks with all its candidates gone
	lacking  resources.Share  // the dominant share that the closest node lacks
	drawn    []int64          // by row of budgets: the candidates in it
}

// ruleFor returns the first rule that keeps a task from being a victim, for the
// node of a site, or 0 for a candidate. A task that could only go with its whole
// job counts at the first rule that keeps a member of it.
func (d *decision) ruleFor(id TaskID, s *site) rulebook.Rule {
	row := d.gangs.of(id)
	if d.c.tasks[id].state == Running && row >= 0 {
		rule, decides := d.ruleForGang(row)
		*s = d.siteIfOpen(d.c.tasks[id].node) // a look at other nodes has replaced it
		if decides {
			return rule
		}
	}
	if rule := d.eligible.rule(id); rule != 0 {
		return rule
	}
	if !d.helps(id, s) {
		return rulebook.RuleNotHelping
	}
	return d.eligible.protected(id)
}

// ruleForGang returns the first rule that keeps a gang, or 0, and whether that decides for a member.
func (d *decision) ruleForGang(row int32) (rule rulebook.Rule, decides bool) {
	switch g := &d.gangs.rows[row]; {
	// A rule that comes later than "of no help" must not hide it, or counts
	// would depend on what was asked first.
	case g.surplus == 0 && g.rule > rulebook.RuleNotHelping && !d.gangReduces(row):
		return rulebook.RuleNotHelping, true
	case g.surplus == 0 && g.rule != 0:
		return g.rule, true
	case g.rule == 0 && d.gangReduces(row):
		return 0, true
	case g.surplus == 0:
		return rulebook.RuleNotHelping, true
	}
	return 0, false
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

// eachRule tells the first rule that keeps each task from being a victim, 0 for candidates, and sums up
// what the candidates of each node free that are in no job.
func (d *decision) eachRule(tell func(id TaskID, rule rulebook.Rule)) {
	d.scratch.freed = rows.Zeros(d.scratch.freed, len(d.c.nodes)*d.c.types)
	for n := range d.c.nodes {
		at, freed := d.siteIfOpen(NodeID(n)), d.c.row(d.scratch.freed, NodeID(n))
		for _, id := range d.c.nodes[n].tasks {
			r := &d.c.tasks[id]
			if r.state == Granted {
				continue // it is no task and no candidate
			}
			if r.job != 0 {
				at = d.siteIfOpen(NodeID(n)) // a look at its job may have replaced it
			}
			rule := d.ruleFor(id, &at)
			if rule == 0 && r.job == 0 { // what members of jobs free depends on who else goes
				resources.Add(freed, freed, d.c.size(id))
			}
			tell(id, rule)
		}
	}
}

// countRules counts every task at the first rule that keeps it from being a
// victim.
func (s *survey) countRules(r *Refusal) {
	d := s.d
	s.drawn = rows.Zeros(d.scratch.drawn, len(d.c.budgets))
	d.scratch.drawn = s.drawn
	d.eachRule(func(id TaskID, rule rulebook.Rule) {
		if rule != 0 {
			s.counts[rule]++
			return
		}
		r.Candidates++
		s.draw(id)
	})
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
		short := d.lacksAt(at.short, &at)
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

// lacksAt sets dst to what a node that the ask can use lacks with all its candidates gone, and returns it.
func (d *decision) lacksAt(dst resources.Vector, s *site) resources.Vector {
	dst = resources.Sub(dst, s.short, d.c.row(d.scratch.freed, s.node))
	if d.c.digest.gauges[s.node].jobs {
		for _, id := range d.c.nodes[s.node].tasks {
			if d.c.tasks[id].job != 0 && d.mayGo(id, s) {
				dst = resources.Sub(dst, dst, d.c.size(id))
			}
		}
	}
	return dst
}

// closer takes note of a node that lacks some amounts with all its candidates
// gone, if that is less than the closest one does. It changes short.
func (s *survey) closer(r *Refusal, n NodeID, short resources.Vector) {
	short = resources.Max(short, short, s.headroom)
	share := resources.DominantShare(short, s.d.c.total)
	if s.closest == noNode || share.Compare(s.lacking) < 0 {
		r.Closest, s.closest, s.lacking = s.d.c.nodes[n].name, n, share
		r.Lacks = append(r.Lacks[:0], short...)
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
	d := s.d
	d.problem.meetNone()
	for _, id := range d.c.nodes[at.node].tasks {
		if d.c.tasks[id].state != Running {
			continue
		}
		if g := d.gangs.of(id); g >= 0 && d.gangHelps(g, at) {
			d.meet(g)
		} else if d.candidate(id, at) && d.tree.Contains(q, d.c.tasks[id].leaf) {
			sum = resources.Sub(sum, sum, d.c.size(id))
		}
	}
	for _, g := range d.problem.met {
		for _, id := range d.gangs.rows[g].members {
			if d.tree.Contains(q, d.c.tasks[id].leaf) {
				sum = resources.Sub(sum, sum, d.c.size(id))
			}
		}
	}
	return sum
}
