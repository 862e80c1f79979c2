// SPDX-License-Identifier: Apache-2.0

// Package jobs places jobs as a whole or not at all, and decides which running tasks
// should stop for that. Use it for gangs, such as training jobs that start with all
// members.
//
// # Use
//
// A [Planner] answers one [Job] at a time with a [Decision]: its members fit, they
// wait for what is leaving already, there is a [Plan], or there is a [Refusal] that
// says why not:
//
//	planner := jobs.Planner{Cluster: cluster, Rules: victims.Rules{Minimum: minimum}}
//	var d jobs.Decision
//	if err := planner.Decide(&d, &job, now); err != nil {
//		return err // something is wrong with the job itself
//	}
//	if d.Outcome != victims.Refused {
//		err = cluster.Apply(d.Plan.Change()) // grants members their nodes, marks victims
//	}
//
// Then stop the victims, tell the cluster as each has gone, and start the members, which
// makes them running tasks of the job:
//
//	err = cluster.RemoveTask(victim.Key)
//	for _, p := range d.Plan.Placements {
//		err = cluster.Start(p.Key, now)
//	}
//
// From then on Rules.Minimum is asked about the job. [Rounds] does the bookkeeping of that. Package jobs/koordinator reads Koordinator's
// labels.
//
// # Members
//
// Members that run or hold a grant keep their nodes and count. The first others, as
// many as Job.MinMembers lacks, are placed together. The rest are admitted and placed
// one by one afterwards, on what is free then: they never cost a victim. A member that
// is leaving gets no place. While members hold grants that cannot start yet the job is
// in flight, and gets no other plan.
//
// A node that is reserved for a member's key takes that member only. One that is
// reserved for the name of the job takes all of them.
//
// # Who may be stopped
//
// What entitles a job, and who may be its victim, is the planner's [Trigger]. The laws
// are those of asks; see DESIGN.md, Jobs: laws. Never a victim: members of the job,
// tasks of its application, of disabled queues, out of reach, exempt, bound to a node
// or not preemptible. A running job with a minimum (Rules.Minimum) goes in parts above
// it, and else as a whole; it cannot go as a whole if a member is no candidate or
// holds a grant.
//
// Running members must have the raw priority of their job, as grants have. Else lower
// tasks of one leaf can take each other's places for ever.
//
// An [Allowance] also bounds what jobs of a queue may use; see [Ledger.Admit].
//
// # The plan
//
// Victims make room on the members' nodes, under maxima of queues, and under
// allowances. Of all nodes and sets the plan has the least [victims.Cost], with two
// differences: excess is beyond what all nodes together need, or the neediest queue
// lacks if that is more; and nodes are compared one after another in the order of
// members (Cost.Node is 0). No unit of a plan can be given back. The search is exact
// in small cases; [Plan.Proof] says when. See DESIGN.md, Jobs: plans.
//
// A decision is linear in queues, nodes and tasks, and searches within a budget of
// steps follow. Goroutines and memory are as in package victims.
package jobs

// The files of this package. A decision goes through them in this order:
//
//	planner.go          the question, and the order in which it is answered
//	case.go             the case, which engines read and never write: members
//	case_host.go          nodes, and which members they take
//	case_domain.go        domains, and the case of one of them
//	case_rule.go          law 2, who may go, and what queues are short of
//	case_unit.go          units: tasks that go alone, jobs that go as a whole
//	search.go           the ladder of engines; the best plan; the budget
//	search_pack.go        without victims
//	search_spread.go      members that are alike, or few: a dynamic programme over hosts
//	search_sizes.go       members of several sizes, host by host
//	search_grow.go        likewise, member by member
//	search_complete.go    small cases: every way to place the members
//	search_domain.go      domain by domain
//	search_bound.go       what engines share: what a plan costs at least
//	search_cover.go       who must go for members with places; package cover solves it
//	search_partial.go     a plan under construction, and how it becomes minimal
//	search_further.go   members beyond the minimum
//	audit.go            the plan judged from scratch; the other audit files have laws
//	refuse.go           why there is no plan
//	describe.go         both in words, and for machines
//	rounds.go           plans carried out
