// Package jobs places jobs as a whole or not at all, and decides which running
// tasks should stop for that. Training jobs start with all of their members:
// to preempt for some and then to fail the rest kills work for nothing.
//
// # Use
//
// A [Planner] answers one [Job] at a time with a [Decision]: its members fit as
// things are, they will fit once what is leaving already has gone, there is a
// [Plan], or there is a [Refusal] that says why not. Nothing happens until the
// plan is carried out:
//
//	planner := jobs.Planner{Cluster: cluster, Quotas: quotas, Minimum: minimum}
//	var d jobs.Decision
//	if err := planner.Decide(&d, &job, now); err != nil {
//		return err // something is wrong with the job itself
//	}
//	if d.Outcome != victims.Refused {
//		err = cluster.Apply(d.Plan.Change()) // grants members their nodes, marks victims
//	}
//
// The caller then stops the victims, tells the cluster as each has gone, and
// starts the members. [Rounds] does the bookkeeping of that: one round per job,
// whose space is held until its members start. Package jobs/koordinator has the
// labels of Koordinator, and what victims are told there.
//
// # Members
//
// Members that run, or hold a grant, are known by their keys: they keep their
// nodes and count. The minimum are the first members without a place, as many
// as Job.MinMembers lacks. They are placed all together. The others are
// admitted and placed one by one afterwards, in their order, on what is free
// then: they never cost a victim. A member that is leaving has no place, and can
// get none. While members hold grants that cannot start yet the job is in
// flight, and gets no other plan.
//
// A node that is reserved for a member's key takes that member only; one that is
// reserved for the name of the job takes all of them.
//
// # Quotas
//
// A [Allowance] bounds what jobs of a queue, and of those below it, may use. With
// rem the sum of the members of the minimum that have no place, U what is used,
// N the part of it that is non-preemptible, P the rest, and NR what of the
// non-preemptible runs or waits:
//
//	non-preemptible: N + rem <= min and U + rem <= max
//	preemptible:     min(min, NR) + P + rem <= max
//
// admit a job, at every queue of its path that has an entry and in every type of
// which rem has any. A non-preemptible job may have victims if N + rem <=
// min, for they make room under the max; a preemptible one only if it is
// admitted anyway. Amounts are coming ones: what is leaving is supply, and a job
// that fits once that has gone waits for it. It fits at once if the same holds
// of present amounts.
//
// # Who may be stopped
//
// A candidate runs, is not bound to its node, is preemptible, of another job and
// application (law 3), in reach (law 7), not disabled and not exempt. No queue ends
// below its guarantee, the members counted (law 2). Opting out is a matter of cost
// (law 1). The rest is the planner's [Trigger].
//
// [ByGuarantee], the default: a job is an ask with many members. Its queue must be
// under its guarantee by the time that the largest member asks, type by type (law
// 4): of the required members without a place, all but the largest amount of each
// type count as used. It must be pending for the delay of its queue, and no queue
// above it over its max. Candidates are of lower or equal effective priority (law
// 6), and outside of the needy queue. Lower tasks of the own leaf are an option
// (Rules.OwnLeaf), for jobs that have no plan otherwise. A job of one member is
// decided as the ask is. Refusals say which queue and type are in the way.
//
// [ByPriority]: candidates are of strictly lower effective priority, and guarantees
// only protect. The job's own leaf is within its reach, and there raw priorities
// compare; a disabled leaf is protected from its own jobs, too. It is for elastic
// quotas, and for clusters of priorities without guarantees.
//
// Both take for granted that a running member has the raw priority of its job, as
// grants have. If a host starts members at another one, lower tasks of the own leaf
// can take each other's places for ever. With [victims.OwnAny] jobs can storm even
// so: it is for plain trees.
//
// A running job that needs some of its members (Rules.Minimum) is a gang:
// members above the minimum go one by one, in any combination, and with one more
// it goes as a whole, wherever its members run. A gang with a member that is no
// candidate, or that holds a grant, cannot go as a whole. Members that are
// leaving are none.
//
// # What is planned
//
// Victims make room on the nodes of the members, under the maxima of the queues
// of their path, and under the max of the quotas there. Given the nodes, that is
// one covering problem, as [cover.Problem] has it: a need for every node, for
// what its members want beyond what is coming free there; a need for every queue
// that is short; the bounds of law 2; and tasks and gangs as units.
//
// Of all nodes and sets the plan is the one of least [victims.Cost]. Two parts of
// it differ from that of an ask. The need, beyond which freed amounts are excess,
// is what all nodes need together or what the neediest queue lacks, whichever is
// larger. And of plans that are alike otherwise, the nodes of the members are
// compared one after another, in the order of members; Cost.Node is 0.
//
// Small cases are searched completely, by branch and bound over the number of
// members of each size on each node. In others members of one size, or few of several
// sizes, are spread out by a dynamic programme: for each node and choice of members
// the cheapest victims, and from these the cheapest total. It is exact if nothing
// but nodes decides, and [Plan.Proof] says when that was so. Many members of several
// sizes fill host by host, with few large victims, and plans are made member by
// member, each where the least must go for it. If none comes of that, all go that may,
// and what is not needed comes back, the most valuable first.
//
// Every plan is minimal: no unit of it can be given back, and no gang goes as a
// whole if its surplus would do. An [Auditor], which shares nothing with the
// planner, has judged each from scratch and found it lawful.
//
// # Cost and memory
//
// A decision is linear in queues, nodes and tasks, and the searches come on top,
// each within a budget of steps. They work on an overlay of what they touch. A
// planner serves one goroutine at a time, and keeps its memory for the next
// decision.
//
// # Files
//
// A decision goes through the files in this order:
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
package jobs
