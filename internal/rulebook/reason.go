// SPDX-License-Identifier: Apache-2.0

package rulebook

import "slices"

// The reasons why there is no plan, for an ask or a job, beside those of caps. What each of them means is told
// at victims.Refusal.
const (
	InFlight         = "in-flight"
	UnknownNode      = "unknown-node"
	QuotaMin         = "quota-min"
	QuotaMax         = "quota-max"
	MayNotPreempt    = "may-not-preempt"
	TooEarly         = "too-early"
	TooSoon          = "too-soon"
	OverMax          = "over-max"
	NotGuaranteed    = "not-guaranteed"
	OverGuarantee    = "over-guarantee"
	HeadroomInside   = "headroom-inside"
	NothingInReach   = "nothing-in-reach"
	NoVictims        = "no-victims"
	PredicateRefused = "predicate"
	NoDomain         = "domain"
	Unlawful         = "unlawful"
)

// What a reason is about: its two %s. Of a queue they are its name and the bound.
type About uint8

const (
	AboutNothing   About = iota
	AboutMax             // a queue that is short of room under its max
	AboutGuarantee       // a queue that has its guarantee
	AboutNode            // the node that is required; one %s
	AboutDelay           // the preemption delay of the queue; one %s
	AboutCap             // how many a plan would have of what a cap counts; one %s
)

// A ReasonEntry is a row of the table of reasons.
type ReasonEntry struct {
	Word      string // stable
	Ask, Gang string // what would have to be otherwise, in a sentence each; the same if Gang is ""
	About     About
	// Searched: victims were looked for, so who kept them can be counted. Gate: it forbids to look,
	// and is told beside what the own leaf lacks. Barred: nobody may go, of the own leaf neither. Moves: to move
	// tasks may help.
	Searched, Gate, Barred, Moves bool
	// Bounds, Policies, Less and Place say what helps: another guarantee or max, another policy,
	// less usage of the queue that it is about, and a place as things are.
	Bounds, Policies, Less, Place bool
}

// reasonTable has the reasons in the order in which they are looked for. It is all that is said
// of them anywhere; what else has a list of them, tests of it hold against this one.
var reasonTable = []ReasonEntry{
	{Word: InFlight, Ask: "a place is held for it, and it cannot start there yet",
		Gang: "members are leaving still, or cannot start yet where they were placed", Barred: true},
	{Word: UnknownNode, Ask: "the node %s that it requires is not in the cluster", About: AboutNode, Barred: true},
	{Word: QuotaMin, Ask: "it may not have so much that is not preemptible"},
	{Word: QuotaMax, Ask: "a quota is passed"},
	{Word: MayNotPreempt, Ask: "it must not preempt others", Barred: true, Place: true},
	{Word: TooEarly, Ask: "it has not been pending for %s, the preemption delay of its queue", About: AboutDelay,
		Barred: true, Policies: true, Place: true},
	{Word: TooSoon, Ask: "preemption was tried for it a short while ago", Barred: true, Place: true},
	{Word: OverMax, Ask: "%s is over its max of %s already", About: AboutMax, Gate: true, Bounds: true, Less: true},
	{Word: NotGuaranteed, Ask: "no queue on its path is guaranteed anything that it asks for",
		Gang: "no queue on its path is guaranteed anything that its members ask for",
		Gate: true, Moves: true, Bounds: true, Place: true},
	{Word: OverGuarantee, Ask: "%s has its guaranteed %s already",
		Gang:  "%s has its guaranteed %s already, or would have it before the last member",
		About: AboutGuarantee, Gate: true, Moves: true, Bounds: true, Less: true, Place: true},
	{Word: HeadroomInside, Ask: "it would exceed the max of %s, %s, and only tasks inside the starving queue could make room there",
		About: AboutMax, Gate: true, Bounds: true, Less: true},
	// A guarantee says what is inside the starving queue.
	{Word: NothingInReach, Ask: "no queue that it could take from is in reach", Moves: true, Bounds: true, Policies: true, Place: true},
	{Word: NoVictims, Ask: "no legal set of victims makes room", Gang: "no legal set of victims makes room for all members",
		Searched: true, Moves: true},
	// Here are those of caps.
	{Word: PredicateRefused, Ask: "the predicate refuses the nodes that could be made free",
		Gang: "the predicate refuses the places that could be made free", Searched: true, Moves: true},
	{Word: NoDomain, Ask: "no domain of that depth can have all its members"},
	{Word: Unlawful, Ask: "a plan was found that breaks a law, which is a defect of the planner",
		Gang: "the plan that was found did not pass the audit"},
}

// Reasons returns all reasons, in the order in which they are looked for.
func Reasons() (all []string) {
	for i := range reasonTable {
		if reasonTable[i].Word == PredicateRefused {
			for _, c := range capTable {
				all = append(all, c.Word)
			}
		}
		all = append(all, reasonTable[i].Word)
	}
	return all
}

// ReasonOf returns the row of a word; of none, one that says so.
func ReasonOf(word string) ReasonEntry {
	if i := slices.IndexFunc(reasonTable, func(e ReasonEntry) bool { return e.Word == word }); i >= 0 {
		return reasonTable[i]
	}
	if c, capped := CapOf(word); capped {
		return ReasonEntry{Word: word, Ask: c.Entry().Ask, About: AboutCap, Searched: true, Moves: true}
	}
	return ReasonEntry{Ask: "nothing is decided"}
}
