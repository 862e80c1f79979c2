// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Explain decides and says why. An ask without members is explained as by [victims.Planner.Explain]. Moves are not
// looked at.
//
// Of a refused gang it explains each member without a place as if it asked alone, the alike together: by the rules
// of lone asks, but for whom its job spares. With ByPriority or Admit, which are for gangs only, it does not. Then it
// says which single change would give the gang its places: it might preempt others; no delay, no interval, no cap on
// victims; no max of a queue on its path; no guarantee of a queue elsewhere; a hard budget with more left; a node that
// is schedulable, or not reserved.
//
// For each of these it decides again on a copy of the cluster, with the Steps of one decision. Stop ends that, too.
func (p *Planner) Explain(dst *victims.Explanation, ask *victims.Ask, now time.Time) error {
	if p.isLone(ask) {
		p.setLone()
		return p.lone.Explain(dst, ask, now)
	}
	*dst = victims.Explanation{Decision: dst.Decision}
	if err := lent.To(&p.Options).Check(); err != nil {
		return err
	}
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
	if err := p.explainMembers(dst, now); err != nil {
		return err
	}
	return p.relax(dst, now)
}

// explainMembers explains the members without a place, each kind as if it asked alone.
func (p *Planner) explainMembers(dst *victims.Explanation, now time.Time) error {
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
	for i := range dst.Members {
		f := &dst.Members[i]
		alone := ask.MemberAsk(f.Members[0])
		p.setLone()
		done := p.lone.keepFor(ask.Key)
		err := p.lone.Explain(&f.Alone, &alone, now)
		if done(); err != nil {
			return err
		}
	}
	return nil
}

// relax decides a refused gang again, each time with one thing otherwise.
func (p *Planner) relax(dst *victims.Explanation, now time.Time) error {
	cluster, options := p.Cluster, p.Options
	defer func() { p.Cluster, p.Options = cluster, options }()
	options.Audit = false
	var again victims.Decision
	for _, r := range relaxations(cluster, &options, &dst.Decision.Plan.Ask) {
		if p.Stop != nil && p.Stop() {
			break
		}
		ask := dst.Decision.Plan.Ask
		p.Options, p.Cluster = options, p.aside.Of(cluster)
		if err := p.without(r, &ask); err != nil {
			return err
		}
		if err := p.answer(&again, &ask, now); err != nil {
			return err
		}
		if again.Outcome == victims.Refused || len(again.Plan.Places) == 0 {
			continue
		}
		r.Outcome, r.Place, r.Victims = again.Outcome, again.Plan.Places[0].Node, len(again.Plan.Victims)
		for _, at := range again.Plan.Places {
			if len(ask.Members) > 0 && !at.Extra {
				r.Members++
			}
		}
		dst.Relaxed = append(dst.Relaxed, r)
	}
	return nil
}

// without makes the cluster, the options and the ask what they would be without a rule.
func (p *Planner) without(r victims.Relaxation, ask *victims.Ask) error {
	c := p.Cluster
	switch r.Rule {
	case rulebook.RelaxMayNot:
		ask.NeverPreempts = false
	case rulebook.RelaxDelay:
		ask.PendingSince = time.Time{}
	case rulebook.RelaxInterval:
		ask.LastAttempt = time.Time{}
	case rulebook.RelaxCap:
		p.MaxVictims = 0
	case rulebook.RelaxMax:
		return c.SetMax(r.Queue, resources.Limit{})
	case rulebook.RelaxGuarantee:
		return c.SetGuaranteed(r.Queue, resources.Limit{})
	case rulebook.RelaxBudget:
		return c.SetBudget(r.Budget, victims.Budget{Left: math.MaxInt32, Hard: true})
	case rulebook.RelaxUnschedulable:
		n := c.Node(r.Node)
		n.Unschedulable = false
		return c.UpdateNode(&n)
	case rulebook.RelaxReservation:
		n := c.Node(r.Node)
		n.ReservedFor = ""
		return c.UpdateNode(&n)
	}
	return nil
}

// relaxations returns what may have stood in the way of a gang, in the order in which it is told.
func relaxations(c *victims.Cluster, o *victims.Options, ask *victims.Ask) (all []victims.Relaxation) {
	for _, x := range rulebook.Relaxations() {
		switch x.Subject {
		case rulebook.OfAsk:
			if binds(x.Word, o, ask) {
				all = append(all, victims.Relaxation{Rule: x.Word})
			}
		case rulebook.OfQueue:
			for q := range queue.ID(c.Tree().Len()) {
				if bindsAt(x.Word, c.Tree(), q, ask.Queue) {
					all = append(all, victims.Relaxation{Rule: x.Word, Queue: q})
				}
			}
		case rulebook.OfBudget:
			for name, b := range c.Budgets() {
				if b.Hard {
					all = append(all, victims.Relaxation{Rule: x.Word, Budget: name})
				}
			}
		case rulebook.OfNode:
			for id := range c.Nodes() {
				if n := c.NodeView(id); x.Word == rulebook.RelaxUnschedulable && n.Unschedulable ||
					x.Word == rulebook.RelaxReservation && n.ReservedFor != "" && !isOf(ask, n.ReservedFor) {
					all = append(all, victims.Relaxation{Rule: x.Word, Node: id})
				}
			}
		}
	}
	return all
}

// binds reports whether a rule about the ask itself is there to be relaxed.
func binds(rule string, o *victims.Options, ask *victims.Ask) bool {
	switch rule {
	case rulebook.RelaxMayNot:
		return ask.NeverPreempts
	case rulebook.RelaxDelay:
		return !o.ByPriority && !ask.PendingSince.IsZero()
	case rulebook.RelaxInterval:
		return !o.ByPriority && o.RetryInterval > 0 && !ask.LastAttempt.IsZero()
	case rulebook.RelaxCap:
		return o.MaxVictims > 0
	}
	return false
}

// bindsAt reports whether a rule of a queue may bind asks of a leaf, or their victims.
func bindsAt(rule string, t *queue.Tree, q, leaf queue.ID) bool {
	switch onPath := t.Contains(q, leaf); rule {
	case rulebook.RelaxMax:
		return onPath && t.Max(q).Defined != 0
	case rulebook.RelaxGuarantee:
		// Of the path it also says what the gang is entitled to.
		return !onPath && t.Guaranteed(q).Defined != 0
	}
	return false
}

// isOf reports whether a name is that of an ask or of a member.
func isOf(ask *victims.Ask, name string) bool {
	return name == ask.Key || slices.ContainsFunc(ask.Members, func(m victims.Member) bool { return m.Key == name })
}
