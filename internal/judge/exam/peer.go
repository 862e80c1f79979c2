// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// A Peer is a scheduler under examination.
type Peer interface {
	Rules() Rules
	// Load makes the scheduler's own objects of the cluster of a document; its
	// requests play no part. Each call makes new ones.
	Load(doc *scenario.Document) (World, error)
}

// A World is a cluster in a scheduler's own objects.
type World interface {
	// Decide decides an ask as the scheduler does, and leaves the world as it
	// was.
	Decide(ask *scenario.Ask) (Answer, error)
	// Facts reads back from the objects what they say, for the kinds of facts
	// that the scheduler knows.
	Facts() Facts
}

// An Answer is what a scheduler would do about an ask. Without victims the ask
// starts on the node, or waits there for what is leaving already. Without a
// node it is a refusal.
type Answer struct {
	Node    string
	Victims []string // sorted
}

// Refused reports whether the answer is a refusal.
func (a *Answer) Refused() bool { return a.Node == "" }

// Equal reports whether two answers are the same.
func (a *Answer) Equal(b *Answer) bool { return a.Node == b.Node && slices.Equal(a.Victims, b.Victims) }

// String returns the answer in words.
func (a *Answer) String() string {
	switch {
	case a.Refused():
		return "refused"
	case len(a.Victims) == 0:
		return "on " + a.Node
	}
	return fmt.Sprintf("on %s, victims %v", a.Node, a.Victims)
}

// Rules are what a scheduler says of itself.
type Rules struct {
	Name    string // of a column, short
	Version string // with the name of the module

	// StrictPriority: victims have a strictly lower priority. Documents are
	// judged by that, whatever they say themselves.
	StrictPriority bool
	// RawPriority: offsets and fences of priorities are not known. Documents are
	// judged without them.
	RawPriority bool
	// Knows has the kinds of facts that its objects can hold.
	Knows []What
	// Told has the features of documents that it can be told.
	Told []Feature
	// Promises has the kinds of faults that its own documentation rules out,
	// each with the place.
	Promises map[Fault]string
}

// ErrCannot is the error that a scheduler cannot be told what a document says.
var ErrCannot = errors.New("exam: the scheduler cannot be told")

// ErrFed is the error that the objects of a peer say something else than the
// document. It is a mistake of the adapter.
var ErrFed = errors.New("exam: the adapter fed something else")

// Load loads a document into a peer and reads back what the peer's objects say.
// Errors wrap [ErrCannot], [ErrFed], or are the peer's.
func Load(p Peer, doc *scenario.Document) (World, error) {
	rules := p.Rules()
	if f := rules.lacks(doc); f != "" {
		return nil, fmt.Errorf("%w: %s: %s", ErrCannot, rules.Name, f)
	}
	w, err := p.Load(doc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rules.Name, err)
	}
	if wrong := Differences(Told(doc).Of(rules.Knows), w.Facts()); len(wrong) > 0 {
		return nil, fmt.Errorf("%w: %s: %s (%d in all)", ErrFed, rules.Name, wrong[0], len(wrong))
	}
	return w, nil
}
