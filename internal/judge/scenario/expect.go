// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// An Outcome is the first word of a result.
type Outcome string

const (
	OutcomePlan          Outcome = "plan"
	OutcomeFits          Outcome = "fits"
	OutcomeWaits         Outcome = "waits"
	OutcomeRefused       Outcome = "refused"
	OutcomeMet           Outcome = "met"
	OutcomeMetWithinMiss Outcome = "met-within-miss"
	OutcomePartial       Outcome = "partial"
	OutcomeImpossible    Outcome = "impossible"
)

var outcomes = []Outcome{OutcomePlan, OutcomeFits, OutcomeWaits, OutcomeRefused, OutcomeMet, OutcomeMetWithinMiss, OutcomePartial, OutcomeImpossible}

// An Expectation is what one result should be. What is nil is not expected;
// a list or map that is there may be empty and is then not nil.
//
// Types, queues and nodes that it names exist. Keys are not looked up, for
// tasks come and go.
type Expectation struct {
	At          *Path
	Outcome     Outcome
	Request     *int // an index of Requests
	Key         *string
	Node        *string    // empty: none
	Victims     [][]string // any one of these sets, each sorted
	VictimCount *int
	Placements  map[string]string // nodes by the keys of members
	Reason      *string
	Counts      map[string]int // by rule
	RetryAt     *time.Time
	Target      map[string]resources.Limit // by queue
	Shortfall   *resources.Limit
	Proven      *bool
	Proof       *Proof
	WaitsFor    []string // sorted
	Overrun     *int64
	OwnLeaf     *bool
	Moves       map[string]string // nodes to which tasks move, by their keys
	ProtectedBy *ProtectedBy      // of its fields those that are there
	Cause       *Cause            // likewise
}

// ProtectedBy is who keeps tasks from an ask or a job by a guarantee; see
// [victims.Protector].
type ProtectedBy struct {
	Queue   string `json:"queue,omitempty"`
	Type    string `json:"type,omitempty"`
	Job     string `json:"job,omitempty"`
	Minimum int    `json:"minimum,omitempty"`
}

// protectedBy reads who is expected to protect.
func (d *decoder) protectedBy(v value) ProtectedBy {
	o := d.object(v, "queue", "type", "job", "minimum")
	return ProtectedBy{
		Queue: optional(o, "queue", d.queueRef, ""), Type: optional(o, "type", d.name, ""),
		Job: optional(o, "job", d.name, ""), Minimum: optional(o, "minimum", d.count, 0),
	}
}

// A Cause is why an ask or a job could not run even in an empty cluster; see [victims.Cause].
type Cause struct {
	Kind  string `json:"kind,omitempty"` // no-node, too-large or above-max
	Type  string `json:"type,omitempty"`
	Most  string `json:"most,omitempty"` // a quantity
	Node  string `json:"node,omitempty"`
	Queue string `json:"queue,omitempty"`
}

// cause reads the cause that is expected.
func (d *decoder) cause(v value) Cause {
	o := d.object(v, "kind", "type", "most", "node", "queue")
	c := Cause{
		Kind: optional(o, "kind", oneOf(d, []string{"no-node", "too-large", "above-max"}), ""),
		Type: optional(o, "type", d.name, ""), Most: optional(o, "most", d.text, ""),
		Node: optional(o, "node", d.nodeRef, ""), Queue: optional(o, "queue", d.queueRef, ""),
	}
	if most, err := resources.ParseQuantity(c.Type, c.Most); err == nil && c.Most != "" {
		c.Most = resources.FormatQuantity(c.Type, most)
	}
	return c
}

// A Proof is how far a plan is proven to be the best.
type Proof string

const (
	ProofNone   Proof = "none"
	ProofLevels Proof = "levels"
	ProofCost   Proof = "cost"
)

var proofs = []Proof{ProofNone, ProofLevels, ProofCost}

// expectation returns what reads the expected results of some requests.
func (d *decoder) expectation(requests int) func(value) Expectation {
	return func(v value) Expectation { return d.expectationOf(v, requests) }
}

func (d *decoder) expectationOf(v value, requests int) Expectation {
	o := d.object(v, "outcome", "request", "key", "node", "victims", "victimsAnyOf", "victimCount",
		"placements", "reason", "counts", "retryAt", "target", "shortfall", "proven",
		"proof", "waitsFor", "overrun", "ownLeaf", "moves", "protectedBy", "cause")
	d.atMostOne(o, "victims", "victimsAnyOf", "victimCount")
	e := Expectation{
		At:          v.at,
		Outcome:     required(o, "outcome", oneOf(d, outcomes)),
		Request:     pointer(o, "request", d.requestRef(requests)),
		Key:         pointer(o, "key", d.name),
		Node:        pointer(o, "node", d.nodeOrNone),
		VictimCount: pointer(o, "victimCount", d.count),
		Placements:  optional(o, "placements", d.placements, nil),
		Reason:      pointer(o, "reason", d.text),
		Counts:      optional(o, "counts", d.counts, nil),
		RetryAt:     pointer(o, "retryAt", d.instant),
		Target:      optional(o, "target", d.target, nil),
		Shortfall:   pointer(o, "shortfall", d.limit),
		Proven:      pointer(o, "proven", d.boolean),
		Proof:       pointer(o, "proof", oneOf(d, proofs)),
		WaitsFor:    optional(o, "waitsFor", d.set, nil),
		Overrun:     pointer(o, "overrun", d.whole(0, math.MaxInt64)),
		OwnLeaf:     pointer(o, "ownLeaf", d.boolean),
		Moves:       optional(o, "moves", d.placements, nil),
		ProtectedBy: pointer(o, "protectedBy", d.protectedBy),
		Cause:       pointer(o, "cause", d.cause),
	}
	e.Victims = optional(o, "victimsAnyOf", d.sets, nil)
	if one := pointer(o, "victims", d.set); one != nil {
		e.Victims = [][]string{*one}
	}
	return e
}

// requestRef returns what reads the index of one of some requests.
func (d *decoder) requestRef(requests int) func(value) int {
	return func(v value) int {
		i := d.count(v)
		if v.kind == number && i >= requests {
			d.refer(v, d.known.doubt.requests, "no request of this index")
		}
		return i
	}
}

// oneOf returns what reads one of some words.
func oneOf[S ~string](d *decoder, words []S) func(value) S {
	return func(v value) S {
		if s := S(d.text(v)); v.kind == text && !slices.Contains(words, s) {
			d.fail(v, "%w: want one of %s", ErrValue, join(words))
		}
		return S(v.text)
	}
}

// set reads a list of different keys and sorts it.
func (d *decoder) set(v value) []string {
	keys := []string{}
	for _, r := range d.refs(v) {
		keys = append(keys, r.Key)
	}
	slices.Sort(keys)
	return keys
}

// sets reads a list of at least one set.
func (d *decoder) sets(v value) [][]string {
	var all [][]string
	for item := range d.list(v) {
		all = append(all, d.set(item))
	}
	if len(all) == 0 {
		d.fail(v, "%w: no set of victims could agree", ErrValue)
	}
	return all
}

// placements reads the nodes of members.
func (d *decoder) placements(v value) map[string]string {
	return fields(d, v, func(_, node value) string { return d.nodeRef(node) })
}

// counts reads numbers of candidates by rule.
func (d *decoder) counts(v value) map[string]int {
	return fields(d, v, func(_, n value) int { return d.count(n) })
}

// target reads amounts by queue.
func (d *decoder) target(v value) map[string]resources.Limit {
	return fields(d, v, func(queue, amounts value) resources.Limit {
		d.queueRef(queue)
		return d.limit(amounts)
	})
}
