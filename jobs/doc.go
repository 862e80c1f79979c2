// SPDX-License-Identifier: Apache-2.0

// Package jobs has the [Planner], for all asks. It places gangs, such as training jobs, as a whole or not at all,
// and says which running tasks should stop for that. A [Pending] holds what waits.
//
// # Use
//
// Package victims has the cluster, asks and decisions, and shows how to use the planner. An ask may have members.
// [victims.Cluster.StartReady] starts all that have room.
//
// # Members
//
// Members that run or hold a grant keep their nodes and count. The first of the others are placed together: as many as
// are missing to Ask.MinMembers. The rest are placed one by one, without victims, now or later. To top up a gang that
// runs, decide it again, or leave it in a [Pending]. A leaving member gets no place. Once all
// that it needs have places the job is in flight until it can start, and gets no other plan.
//
// A node may be reserved for a member's key, or by the job's name for all members.
//
// # Who may be stopped
//
// The laws are those of asks (DESIGN.md, Jobs: laws), and Planner.ByPriority may change what entitles a job.
// Non-preemptible tasks are never victims. A running job goes member by member down to its minimum, and then as
// a whole. It is spared as a whole if one member is no candidate or holds a grant.
//
// Running members must have the raw priority of their job, or tasks of one leaf can stop each other for ever.
//
// # Moves
//
// With Options.Moves Movable tasks start again on another node instead of stopping: use it if fragments block large
// work. A task moves only for room that the plan needs, to a node with room for it once what is leaving has gone.
// Nobody moves or stops for a mover. A gang moves as a whole, to nodes that share domains as narrow as before. Stop
// [victims.Plan.Moves] like victims; [victims.Cluster.StartReady] starts them. See DESIGN.md, Moves.
//
// # The plan
//
// Victims make room on the members' nodes, under maxima, and by the word of Admit. The plan needs each of them. Of all
// nodes and sets it has the least [victims.Cost] that was found; [victims.Plan.Proof] says if it is the least of all.
// See DESIGN.md, Jobs: plans.
//
// A decision is linear in queues, nodes and tasks; a search within a budget of steps follows. Goroutines and
// memory are as in package victims.
package jobs

// The files of this package. A decision goes through them in this order:
//
//	planner.go          the question, and the order in which it is answered
//	case.go             the case, which engines read and never write: members
//	case_host.go          nodes, and which members they take
//	case_domain.go        domains, and the area of one of them
//	case_rule.go          law 2, who may go, and what queues are short of
//	case_unit.go          units: tasks that go alone, jobs that go as a whole
//	search.go           the ladder of engines; the best plan; the budget
//	search_pack.go        without victims
//	search_turn.go        the members asked one after another, by the planner of asks
//	search_spread.go      members that are alike, or few: a dynamic programme over hosts
//	search_grow.go        likewise, member by member
//	search_gangs.go       the case as a problem of package gangs, which improves the plan
//	search_gangs_price.go what that costs there, and which sums bind
//	search_complete.go    small cases: every way to place the members
//	search_domain.go      domain by domain
//	search_bound.go       what engines share: what a plan costs at least
//	search_cover.go       who must go for members with places; package units solves it
//	search_partial.go     a plan under construction, and how it becomes minimal
//	search_further.go   members beyond the minimum
//	refuse.go           why there is no plan, and what would help
//	refuse_count.go     which rules keep tasks
//	pending.go          what waits, and what of it to decide again
