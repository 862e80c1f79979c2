// SPDX-License-Identifier: Apache-2.0

package rulebook

// The reasons why there is no plan, for an ask or a job. What each of them means is told
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

// Reasons returns all reasons, in the order in which they are looked for.
func Reasons() []string {
	return []string{
		InFlight, UnknownNode, QuotaMin, QuotaMax, MayNotPreempt, TooEarly, TooSoon, OverMax, NotGuaranteed,
		OverGuarantee, HeadroomInside, NothingInReach, NoVictims, PredicateRefused, NoDomain, Unlawful,
	}
}
