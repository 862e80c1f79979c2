// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"slices"
	"sort"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// CountedIn returns the cluster of the planner.
func (d *decision) CountedIn() *victims.Cluster { return d.p.Cluster }

// CountRefusal counts for a refusal of the planner: Counts, Candidates, Filtered, Placeable and
// the domain. That takes several searches.
func (d *decision) CountRefusal(dst *victims.Decision, s uint8) error {
	if err := d.begin(d.p, &dst.Plan.Ask, dst.Plan.At); err != nil {
		return err
	}
	d.place()
	d.domains.settle(&d.jobCase)
	if d.gate.read(coming); !d.p.ByPriority {
		d.entitle(d.atGate())
	}
	d.rules.stage = stage(s)
	d.prepare(len(d.unplaced))
	d.count(&dst.Refusal)
	return nil
}

// count counts for a refusal of the case.
func (d *decision) count(r *victims.Refusal) {
	r.Filtered = d.filtered()
	d.countRules(r)
	d.protect(r)
	// If a quota or the predicate refuses, it is not law 2 that does.
	if r.Reason == rulebook.NoVictims || lent.To(r).DomainFull {
		d.countGuaranteed(r)
	}
	r.Counts = r.Counts[:0]
	for rule, n := range d.counts {
		if n > 0 {
			r.Counts = append(r.Counts, victims.Count{Rule: rulebook.Rule(rule).String(), Tasks: n})
		}
	}
	d.closestDomain(r)
	// What follows searches again for fewer members, and overwrites the case. So all that is
	// said of the case itself comes before.
	d.effort.eager = true // any plan will do
	// Without its last member a plan is mostly one for those before it. Law 2 may say
	// otherwise; then this is some end of a row of plans.
	r.Placeable = sort.Search(len(d.unplaced), func(n int) bool { return !d.plans(n + 1) })
}

// countRules counts every task at the first rule that keeps it from being a
// victim.
func (d *decision) countRules(r *victims.Refusal) {
	next := 0
	clear(d.counts[:])
	for w := range d.tree.Leaves(0) {
		for id := range d.c.TasksIn(w) {
			d.pay(lookWork)
			t := d.c.TaskView(id)
			// Candidates were gathered by the same walk, so they come up in turn.
			isCandidate := next < len(d.cands) && d.cands[next].id == id
			if isCandidate {
				next++
			}
			switch {
			case isCandidate:
				d.counts[d.ruleFor(int32(next-1))]++
			case t.State != victims.Granted: // a grant is no task, and is not counted
				d.counts[d.rules.rule(id, &t)]++
			}
		}
	}
	// Rule 0 is none. Counting it with the others saves a case.
	r.Candidates = d.counts[0]
	d.counts[0] = 0
}

// ruleFor returns the first rule that keeps a candidate, or 0.
func (d *decision) ruleFor(i int32) rulebook.Rule {
	c := &d.cands[i]
	g := c.gang
	switch {
	// It can go neither alone nor with its job, of which a member may not go.
	case g >= 0 && d.gangs[g].surplus == 0 && !d.gangs[g].whole():
		return rulebook.RuleGang
	case !d.mayHelp(c):
		return rulebook.RuleNotHelping
	case !d.grades[i].usable:
		return d.ruleOfSums(c)
	}
	return 0
}

// ruleOfSums returns the rule of a candidate that can go neither alone nor with
// its job: what keeps it alone if it could be spared, else what keeps the job.
func (d *decision) ruleOfSums(c *candidate) rulebook.Rule {
	if c.gang < 0 || d.gangs[c.gang].surplus > 0 {
		return d.keptAlone(c)
	}
	if d.gangs[c.gang].spent {
		return rulebook.RuleBudget
	}
	return rulebook.RuleGuarantee
}

// mayHelp reports whether a candidate counts for a need that there may be: in
// a type that a queue lacks, or that members want and its host has not for all
// of them.
func (d *decision) mayHelp(c *candidate) bool {
	size := resources.Positive(c.size)
	return d.needs.masks[c.leaf.Level]&size != 0 || c.host >= 0 && d.wants&size != 0 && d.takesAny(c.host)
}

// closestDomain notes the domain that has room for the most members with
// everybody gone who could; of equals the first. Members are placed one by one, the
// largest first, each on the first host with room.
func (d *decision) closestDomain(r *victims.Refusal) {
	if d.job.DomainDepth == 0 {
		return
	}
	best, most := int32(-1), -1
	d.domains.each(func(row int32) bool {
		// More, and not as many: of equals the first stays.
		if n := d.roomIn(row, nil); n > most {
			best, most = row, n
		}
		return false
	})
	if best < 0 {
		return
	}
	names, _ := d.domains.namesOf(&d.jobCase, d.domains.list[best].node)
	r.Domain = append(r.Domain[:0], names...)
	r.Lacks = rows.Zeros(r.Lacks, d.types)
	lent.To(r).DomainRoom = d.roomIn(best, r.Lacks)
}

// roomIn counts the members that find room in a domain, and adds the sizes of
// the others to lacks unless that is nil.
func (d *decision) roomIn(row int32, lacks resources.Vector) (members int) {
	hosts := d.domains.hostsOf(row)
	d.space = d.space[:0]
	for _, h := range hosts {
		d.space = append(d.space, d.hosts[h].all...)
	}
	for _, m := range d.sorted {
		k := d.kindAt(m)
		found := false
		for n, h := range hosts {
			left := d.row(d.space, n)
			if found = k.roomFor(left) && d.takes(h, k); found {
				resources.Sub(left, left, k.size)
				members++
				break
			}
		}
		if !found && lacks != nil {
			resources.Add(lacks, lacks, k.size)
		}
	}
	return members
}

// countGuaranteed moves candidates that no rule keeps by itself to the count of
// the guarantee, if law 2 is what refuses the job: with all of them gone there
// is room for every member, but some queue can't give all of its own. It is
// those below such a queue, in a type that it would lose too much of.
//
// Each of them may go alone. That not all of them may is what a caller has to
// know, and no order of taking them says it better.
func (d *decision) countGuaranteed(r *victims.Refusal) {
	d.free = d.free[:0]
	for i := range d.cands {
		if d.ruleFor(int32(i)) == 0 {
			d.free = append(d.free, int32(i))
		}
	}
	if !d.roomWithout(d.free) {
		return
	}
	// All of them are taken out of the rooms at once. What ends below zero is a
	// queue that cannot give so much, and whoever it would lose is counted.
	d.leaveRooms(d.free, -1)
	for _, i := range d.free {
		if d.lostTooMuch(&d.cands[i]) {
			if d.counts[rulebook.RuleGuarantee] == 0 {
				r.ProtectedBy = victims.Protector{} // of the count, which there is now
			}
			d.counts[rulebook.RuleGuarantee]++
			r.Candidates--
		}
	}
	d.protectTogether(r)
	d.leaveRooms(d.free, +1)
}

// lostTooMuch reports whether a queue above a candidate ends below its
// guarantee, by what is left in its room, in a type that the candidate has.
func (d *decision) lostTooMuch(c *candidate) bool {
	for _, b := range c.leaf.Bounds {
		bound := &d.rooms.Bounds[b]
		for t := range (bound.Room.Defined & resources.Positive(c.size)).All() {
			if bound.Room.Value.At(t) < 0 {
				return true
			}
		}
	}
	return false
}

// roomWithout reports whether all members fit with some candidates gone, whatever
// guarantees say. A search that takes too long for an answer says no.
func (d *decision) roomWithout(gone []int32) bool {
	d.space, d.lack = d.space[:0], d.lack[:0]
	for h := range d.hosts {
		d.space = append(d.space, d.hosts[h].free...)
	}
	for _, short := range d.needs.short {
		d.lack = append(d.lack, short...)
	}
	for _, i := range gone {
		c := &d.cands[i]
		if c.host >= 0 {
			addTo(d.row(d.space, int(c.host)), c.size, +1)
		}
		d.needs.cut(d.lack, c, -1)
	}
	for _, lack := range d.lack {
		if lack > 0 {
			return false
		}
	}
	return d.packAmounts()
}

// protect names who keeps tasks that are counted as needed for a guarantee: the first queue, and
// there the first type, that by itself keeps one, alone or with its job.
func (d *decision) protect(r *victims.Refusal) {
	if d.counts[rulebook.RuleGuarantee] == 0 {
		return
	}
	d.free = d.free[:0]
	for i := range d.cands {
		if d.ruleFor(int32(i)) == rulebook.RuleGuarantee {
			d.free = append(d.free, int32(i))
		}
	}
	job := ""
	q, t, found := d.rooms.First(func(row int32, _ queue.ID, t int) (keeps bool) {
		last, room := int32(-1), d.rooms.Bounds[row].Room.Value[t]
		for _, i := range d.free {
			gang, all := d.cands[i].gang, []int32{i}
			if gang < 0 || d.gangs[gang].surplus > 0 {
				gang = -1
			} else if gang == last {
				continue // its members count alike
			} else {
				all = d.members[d.gangs[gang].first:d.gangs[gang].end]
			}
			last = gang
			if d.lostAt(all, row, t) > room {
				keeps = true
				if gang >= 0 && (job == "" || d.gangs[gang].name < job) {
					job = d.gangs[gang].name
				}
			}
		}
		return keeps
	})
	if r.ProtectedBy = (victims.Protector{}); found {
		r.ProtectedBy = lent.To(r).Protector(d.c, q, t)
		r.ProtectedBy.Job = job
	}
}

// protectTogether names a queue that cannot give all of the free candidates, if it comes before the
// one that is named. They are taken out of the rooms.
func (d *decision) protectTogether(r *victims.Refusal) {
	q, t, found := d.rooms.First(func(row int32, _ queue.ID, t int) bool {
		return d.rooms.Bounds[row].Room.Value[t] < 0 && d.lostAt(d.free, row, t) > 0
	})
	if !found {
		return
	}
	named := &r.ProtectedBy
	if at, ok := d.tree.Lookup(named.Queue); !ok || q < at || q == at && t < named.Type {
		*named = lent.To(r).Protector(d.c, q, t)
	}
}

// lostAt returns what law 2 counts of some candidates at a bound.
func (d *decision) lostAt(cands []int32, row int32, t int) (gone int64) {
	for _, i := range cands {
		c := &d.cands[i]
		if slices.Contains(c.leaf.Bounds, row) {
			gone += c.size.At(t)
		}
	}
	return gone
}
