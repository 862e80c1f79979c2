// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Explain decides and says why: for each queue, node and task the rule that decided, and for a refusal which single
// rule, relaxed, would give a place. It looks at every task and node, searches close nodes within the Steps of one
// decision, and decides a refusal again for every rule that may matter, within Steps in all. By default that is 9 times
// what the decision took, or what one may take if that is more. Moves are not looked at.
//
// Of a refused gang it explains each member without a place as if it asked alone, the alike together; not with
// ByPriority or Admit, which are for gangs only. Then it says which single change would give the gang its places. It
// tries no guarantees of its path, and no changes of single tasks.
//
// For each of these it decides again, within as many Steps. CutShort says if they end, or Stop ends it.
func (p *Planner) Explain(dst *victims.Explanation, ask *victims.Ask, now time.Time) error {
	if err := p.check(); err != nil {
		return err
	}
	if p.isLone(ask) {
		p.setLone()
		return p.lone.Explain(dst, ask, now)
	}
	*dst = victims.Explanation{Decision: dst.Decision}
	d := &dst.Decision
	if err := p.answer(d, ask, now); err != nil {
		return err
	}
	if err := d.Count(); err != nil {
		return err
	}
	if d.Outcome != victims.Refused || d.Refusal.Reason == victims.InFlight {
		return nil
	}
	left := lent.To(&p.Options).Rest(p.Cluster, d.Plan.Steps)
	part := left - left/2
	if err := p.explainMembers(dst, &part, now); err != nil {
		return err
	}
	return p.relax(dst, left/2+max(part, 0), now)
}

// explainMembers explains the members without a place, each kind as if it asked alone, while steps are left.
func (p *Planner) explainMembers(dst *victims.Explanation, left *int64, now time.Time) error {
	ask := &dst.Decision.Plan.Ask
	if len(ask.Members) == 0 || p.ByPriority || p.Admit != nil {
		return nil
	}
	reserved := make(map[string]bool)
	for who := range reservedFor(p.Cluster) {
		reserved[who] = true
	}
	for _, i := range slices.Concat(p.d.roster.unplaced, p.d.roster.further) {
		m := &ask.Members[i]
		at := -1
		if p.Blockers == nil && p.Predicate == nil && !reserved[m.Key] {
			at = slices.IndexFunc(dst.Members, func(f victims.MemberFinding) bool {
				first := &ask.Members[f.Members[0]]
				return m.Class == first.Class && resources.Equal(m.Size, first.Size) && !reserved[first.Key]
			})
		}
		if at >= 0 {
			dst.Members[at].Members = append(dst.Members[at].Members, i)
		} else {
			dst.Members = append(dst.Members, victims.MemberFinding{Members: []int{i}})
		}
	}
	p.setLone()
	defer p.lone.keepFor(ask.Key)()
	p.lone.Share(left)
	defer p.lone.Share(nil)
	for i := range dst.Members {
		if p.cuts(dst, *left) {
			dst.Members = dst.Members[:i]
			break
		}
		f := &dst.Members[i]
		alone := ask.MemberAsk(f.Members[0])
		if err := p.lone.Explain(&f.Alone, &alone, now); err != nil {
			return err
		}
		dst.CutShort = dst.CutShort || f.Alone.CutShort
	}
	return nil
}

// cuts reports whether an explanation ends before its time, and notes it.
func (p *Planner) cuts(e *victims.Explanation, left int64) bool {
	stops := left <= 0 || p.Stop != nil && p.Stop()
	e.CutShort = e.CutShort || stops
	return stops
}

// relax decides a refused gang again, each time with one thing otherwise, while steps are left.
func (p *Planner) relax(dst *victims.Explanation, left int64, now time.Time) error {
	cluster, options := p.Cluster, p.Options
	defer func() { p.Cluster, p.Options, p.without = cluster, options, victims.Relaxation{} }()
	options.Audit = false
	var again victims.Decision
	for _, r := range lent.To(&options).Relaxations(cluster, &dst.Decision.Plan.Ask) {
		if p.cuts(dst, left) {
			break
		}
		ask := dst.Decision.Plan.Ask
		p.Options, p.Cluster, p.without = options, p.aside.Of(cluster), victims.Relaxation{}
		if err := p.leaveOut(r, &ask); err != nil {
			return err
		}
		if err := p.answer(&again, &ask, now); err != nil {
			return err
		}
		if left -= p.d.effort.steps(); again.Outcome == victims.Refused || len(again.Plan.Places) == 0 {
			continue
		}
		lent.To(&r).Became(&again)
		dst.Relaxations = append(dst.Relaxations, r)
	}
	return nil
}

// leaveOut makes the cluster, the options and the ask what they would be without a rule. Law 4, storm freedom, fences
// and disabled queues are left out by the decision itself.
func (p *Planner) leaveOut(r victims.Relaxation, ask *victims.Ask) error {
	c := p.Cluster
	q, node := lent.To(&r).Row()
	switch r.Rule {
	case rulebook.RelaxMayNot:
		ask.MayNotPreempt = false
	case rulebook.RelaxDelay:
		ask.PendingSince = time.Time{}
	case rulebook.RelaxInterval:
		ask.LastAttempt = time.Time{}
	case rulebook.RelaxMax:
		return c.SetMax(q, resources.Limit{})
	case rulebook.RelaxGuarantee:
		return c.SetGuaranteed(q, resources.Limit{})
	case rulebook.RelaxBudget:
		return c.SetBudget(r.Budget, victims.Budget{Left: math.MaxInt32, Hard: true})
	case rulebook.RelaxUnschedulable:
		n := c.Node(node)
		n.Unschedulable = false
		return c.UpdateNode(&n)
	case rulebook.RelaxReservation:
		n := c.Node(node)
		n.ReservedFor = ""
		return c.UpdateNode(&n)
	default:
		if c, capped := rulebook.CapOf(r.Rule); capped {
			*lent.To(&p.Options).Caps()[c] = 0
		} else {
			p.without = r
		}
	}
	return nil
}
