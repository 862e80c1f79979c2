// SPDX-License-Identifier: Apache-2.0

package scenario

import "time"

// A Request is one step of a document. Exactly one of Ask, EnforceQuota, Job,
// Advance, Finish and Start holds something, the one that Kind names.
type Request struct {
	At     *Path
	Kind   Kind
	Then   Then // what follows a plan; 0 where nothing is decided
	Repeat int  // how often the ask is made; 0: once, under its own key

	Ask          *Ask
	EnforceQuota *EnforceQuota
	Job          *Job
	Advance      time.Duration // never negative
	Finish       []Ref         // each once
	Start        []Task        // of different keys

	Proposed *Proposal // what somebody else would do; nil: the document does not say
}

// A Proposal is somebody else's plan for what is asked. It is judged by who
// audits a document; a run passes it over.
type Proposal struct {
	At         *Path
	Node       string            // of an ask; empty: none
	Victims    []Ref             // each once
	Placements map[string]string // nodes by the keys of a job's members; nil: none
}

// A Kind is what a request asks for.
type Kind uint8

const (
	KindAsk Kind = 1 + iota
	KindEnforceQuota
	KindJob
	KindAdvance
	KindFinish
	KindStart
)

// requestKinds are the fields of a request that say of which kind it is.
var requestKinds = []string{"ask", "enforceQuota", "job", "advance", "finish", "start"}

// String returns the kind as documents spell it.
func (k Kind) String() string { return spell(requestKinds, uint8(k)) }

// Decides reports whether a request of the kind has a result.
func (k Kind) Decides() bool {
	return k == KindAsk || k == KindEnforceQuota || k == KindJob
}

// A Then is what happens after a plan.
type Then uint8

const (
	ThenFinish  Then = 1 + iota // the victims leave at once
	ThenLeave                   // the victims are marked and stay
	ThenNothing                 // a dry run
)

var thens = []string{"finish", "leave", "nothing"}

// String returns the word as documents spell it.
func (t Then) String() string { return spell(thens, uint8(t)) }

// A Ref names a task that must be there when its request is reached.
type Ref struct {
	At  *Path
	Key string
}

// maxRepeat is how often one request can ask the same.
const maxRepeat = 1_000_000

// request reads one request.
func (d *decoder) request(v value) Request {
	o := d.object(v, "ask", "repeat", "then", "enforceQuota", "job", "advance", "finish", "start", "proposed")
	r := Request{
		At:           v.at,
		Kind:         Kind(d.atMostOne(o, requestKinds...)),
		Ask:          pointer(o, "ask", d.ask),
		Repeat:       optional(o, "repeat", d.within(1, maxRepeat), 0),
		EnforceQuota: pointer(o, "enforceQuota", d.enforceQuota),
		Job:          pointer(o, "job", d.job),
		Advance:      optional(o, "advance", d.duration, 0),
		Finish:       optional(o, "finish", d.refs, nil),
		Start:        optional(o, "start", d.tasksBeside(make(seen)), nil),
		Proposed:     pointer(o, "proposed", d.proposal),
	}
	if v.kind == object && r.Kind == 0 && !o.strange {
		d.fail(v, "%w: a request has one of %s", ErrMissing, join(requestKinds))
	}
	if repeat := o.find("repeat"); repeat.kind != 0 && r.Kind != KindAsk && r.Kind != 0 {
		d.fail(repeat, "%w: only an ask is repeated", ErrValue)
	}
	if r.Kind.Decides() {
		r.Then = optional(o, "then", word[Then](d, thens), ThenFinish)
		return r
	}
	for _, name := range []string{"then", "proposed"} {
		if f := o.find(name); f.kind != 0 && r.Kind != 0 {
			d.fail(f, "%w: nothing is decided here", ErrValue)
		}
	}
	return r
}

// proposal reads a plan. Its victims are not looked up, for tasks come and go.
func (d *decoder) proposal(v value) Proposal {
	o := d.object(v, "node", "victims", "placements")
	return Proposal{
		At:         v.at,
		Node:       optional(o, "node", d.nodeOrNone, ""),
		Victims:    optional(o, "victims", d.refs, nil),
		Placements: optional(o, "placements", d.placements, nil),
	}
}

// refs reads the keys of tasks, each of them once.
func (d *decoder) refs(v value) []Ref {
	key := d.unique(make(seen))
	return each(d, func(v value) Ref { return Ref{At: v.at, Key: key(v)} })(v)
}
