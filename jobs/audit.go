// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/aside"
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims"
)

// An Auditor says which laws a plan for a job breaks, as [victims.Auditor] does for asks.
// Only Cluster must be set.
type Auditor struct {
	Cluster *victims.Cluster

	victims.Options

	trusts   bool // what the caller says of members that run, and what the search says of law 1
	together bool // members are asks that share a plan

	aside  aside.Copy // see AuditJoint
	plan   *victims.Plan
	charge victims.Charge
	of     *Auditor // whose laws is, made once
	laws   func(dst []victims.Violation, gone []victims.TaskID) []victims.Violation

	keys   []string         // of members, sorted
	done   []bool           // by member: it has a place, or is given one
	first  int              // the first member without a place, or -1
	placed []victims.TaskID // of members that have a place
}

// Audit appends to dst what is wrong at the instant now with plan p, in a fixed order, as
// [victims.Auditor.Audit] does. A plan without victims is judged by the room once what is
// leaving has gone. Law 1 is judged for one member. The cost is linear in nodes, queues and
// victims·depth·types, and in tasks with Admit.
func (a *Auditor) Audit(dst []victims.Violation, p *victims.Plan, now time.Time) []victims.Violation {
	if a.of != a { // once per auditor, and again if that was copied
		a.of, a.laws = a, a.own
	}
	a.plan = p
	defer func() { a.plan = nil }() // an auditor at rest keeps nothing of it alive
	found := len(dst)
	dst = a.named(dst)
	if dst = a.minimum(dst); len(dst) > found {
		return dst
	}
	a.state(now)
	return a.charge.Audit(dst)
}

// named appends names that are none, or not different.
func (a *Auditor) named(dst []victims.Violation) []victims.Violation {
	if a.plan.Ask.Key == "" {
		dst = append(dst, victims.Violation{Of: "job", Law: finding.LawKey})
	}
	a.keys = a.keys[:0]
	for i := range a.plan.Ask.Members {
		a.keys = append(a.keys, a.plan.Ask.Members[i].Key)
	}
	// Equal keys are neighbours then.
	slices.Sort(a.keys)
	for i, key := range a.keys {
		if key == "" || i > 0 && a.keys[i-1] == key {
			dst = append(dst, victims.Violation{Of: "job", Law: finding.LawKey, Member: key})
		}
	}
	return dst
}

// standing says which task or grant a member is, if it is one, and whether that is leaving.
func (a *Auditor) standing(i int) (id victims.TaskID, leaving, known bool) {
	key := a.plan.Ask.Members[i].Key
	if id, known = a.Cluster.Lookup(key); !known {
		id, known = a.Cluster.LookupGrant(key)
	}
	if known {
		state := a.Cluster.State(id)
		leaving = state == victims.Releasing || state == victims.Preempting
	}
	return id, leaving, known
}

// minimum appends placements that are not of the members whose turn it is: the first
// without a place make up the minimum, in their order; others come further.
func (a *Auditor) minimum(dst []victims.Violation) []victims.Violation {
	job := &a.plan.Ask
	missing := cmp.Or(job.MinMembers, len(job.Members))
	a.done, a.placed, a.first = rows.Zeros(a.done, len(job.Members)), a.placed[:0], -1
	for i := range job.Members {
		id, leaving, known := a.standing(i)
		switch a.done[i] = known; {
		case !known && a.first < 0:
			a.first = i
		case known && !leaving:
			missing--
			a.placed = append(a.placed, id)
		}
	}
	next, given := 0, 0
	for _, at := range a.plan.Places {
		inJob := 0 <= at.Member && at.Member < len(a.done)
		// A member has one place. One that is leaving can get none before it has gone.
		taken := !inJob || a.done[at.Member]
		if !taken && !at.Extra {
			for next < at.Member && a.done[next] {
				next++
			}
			taken = next != at.Member
			given++
		}
		if taken {
			v := victims.Violation{Of: "job", Law: finding.LawPlaced}
			if inJob {
				v.Member = job.Members[at.Member].Key
			}
			return append(dst, v)
		}
		a.done[at.Member] = true
	}
	// Neither fewer, which would be of no use, nor more at the cost of victims.
	if missing = max(missing, 0); given != missing {
		dst = append(dst, victims.Violation{Of: "job", Law: finding.LawMinimum, Have: int64(given), Want: int64(missing)})
	}
	return dst
}

// state makes a charge of the plan, whose placements are of members.
func (a *Auditor) state(now time.Time) {
	job, ch := &a.plan.Ask, &a.charge
	ch.Of, ch.Cluster, ch.Options, ch.Now, ch.Victims = "job", a.Cluster, a.Options, now, a.plan.Victims
	ch.Together, ch.Exchange, ch.Laws, ch.Ask = a.together, !a.trusts, a.laws, *job
	ch.Ask.Job = jobOf(job)
	for _, at := range a.plan.Places {
		ch.Wants = append(ch.Wants, victims.Want{Member: job.Member(at.Member), Index: at.Member, Node: at.Node, Further: at.Extra})
	}
}

// own appends what breaks the laws of jobs alone: of domains, and of members that run.
func (a *Auditor) own(dst []victims.Violation, _ []victims.TaskID) []victims.Violation {
	dst = a.domain(dst)
	for _, id := range a.placed {
		// Two jobs whose members run at another raw priority could take each other's members
		// for ever. What runs is the caller's to say.
		t := a.Cluster.TaskView(id)
		if have, want := t.Priority, a.plan.Ask.Priority; !a.trusts && t.State != victims.Granted && have != want {
			dst = append(dst, victims.Violation{Law: finding.LawMember, Member: t.Key, Have: int64(have), Want: int64(want)})
		}
	}
	return dst
}

// domain appends the members that do not share a domain with the first one, of the depth
// that the job requires. Members that have places already come before those of the plan, for
// they are bound to theirs.
func (a *Auditor) domain(dst []victims.Violation) []victims.Violation {
	depth := a.plan.Ask.DomainDepth
	if depth <= 0 {
		return dst
	}
	// The first member that is in a domain names it for all others.
	var common []string
	check := func(key string, node victims.NodeID) {
		list := a.Cluster.NodeView(node).Domains
		if len(list) >= depth && common == nil {
			common = list[:depth]
		}
		if len(list) < depth || !slices.Equal(list[:depth], common) {
			dst = append(dst, victims.Violation{Law: finding.LawDomain, Member: key, Node: a.Cluster.NodeName(node)})
		}
	}
	for _, id := range a.placed {
		check(a.Cluster.Key(id), a.Cluster.NodeOf(id))
	}
	for _, at := range a.plan.Places {
		check(a.plan.Ask.Members[at.Member].Key, at.Node)
	}
	return dst
}
