// Package finding tells what an auditor found, in one way for the auditors of
// asks, of quotas and of jobs. Each auditor has its own laws and its own type
// of violation. What they share is here: the table with the words of the laws,
// the line that a person reads, the object that a program reads, and the lift of a
// priority.
package finding

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
)

// A Text is how a broken law is told. A finding with amounts is told as
// "amount Noun, want Relation amount", a finding without them as Text.
type Text struct {
	Word           string // stable
	Number         int    // in DESIGN.md, The seven laws; 0 for all others
	Noun, Relation string
	Text           string // a "%s" in it stands for Other of the finding
	Unit           Unit
}

// A Unit says what the amounts of a law are.
type Unit uint8

const (
	Resource Unit = iota // of the type of the finding; a finding without a type has no amounts
	Count                // of things that the noun names: "1 members run on"
	Level                // of the noun itself: "effective priority 1"
	Duration             // in nanoseconds
)

// Laws is the table of an auditor, by the numbers of its laws. Number 0 is no
// law.
type Laws []Text

// Has reports whether the table has a law of this number.
func (t Laws) Has(law uint8) bool { return law > 0 && int(law) < len(t) }

// Word returns the stable word of a law, or "Law(n)" for a number that the
// table does not have.
func (t Laws) Word(law uint8) string {
	if t.Has(law) {
		return t[law].Word
	}
	return "Law(" + strconv.Itoa(int(law)) + ")"
}

// A Finding is a law that is broken, and where.
type Finding struct {
	Law  uint8
	Who  []Subject // in the order in which they are told
	Tree *queue.Tree

	Queue    queue.ID // of Tree; told if HasQueue is set
	HasQueue bool
	Type     int // of the schema of Tree; told if HasType is set
	HasType  bool

	Have, Want int64  // what there is, and what it is compared with
	Other      string // the name of whatever else the text speaks of
}

// A Subject is somebody who is at fault.
type Subject struct{ What, Name string }

// Line tells a finding in a line: the law, who is at fault, and what is wrong,
// as in
//
//	guarantee (law 2): root.a: cpu 3 after the plan, want at least 5
//	leaving: victim t1: leaving already
func (t Laws) Line(f *Finding) string {
	var b strings.Builder
	b.WriteString(t.Word(f.Law))
	if t.Has(f.Law) && t[f.Law].Number > 0 {
		b.WriteString(" (law " + strconv.Itoa(t[f.Law].Number) + ")")
	}
	for _, s := range f.Who {
		b.WriteString(": " + s.What + " " + plain.Name(s.Name))
	}
	if f.HasQueue && f.Tree != nil {
		b.WriteString(": " + plain.Name(f.Tree.Path(f.Queue)))
	}
	return b.String() + ": " + t.complaint(f)
}

// complaint tells what is wrong.
func (t Laws) complaint(f *Finding) string {
	if !t.Has(f.Law) {
		return "unknown law"
	}
	l := &t[f.Law]
	if !l.measures(f) {
		return strings.Replace(l.Text, "%s", plain.Name(f.Other), 1)
	}
	have, want := l.amount(f, f.Have), l.amount(f, f.Want)
	if l.Unit == Level {
		have = l.Noun + " " + have
	} else {
		have += " " + l.Noun
	}
	if l.Unit == Resource && f.Tree != nil {
		have = f.Tree.Schema().Name(f.Type) + " " + have
	}
	return have + ", want " + l.Relation + " " + want
}

// measures reports whether a finding of this law has amounts.
func (l *Text) measures(f *Finding) bool {
	return l.Noun != "" && (f.HasType || l.Unit != Resource)
}

// amount returns the text of an amount for people.
func (l *Text) amount(f *Finding, n int64) string {
	switch {
	case l.Unit == Duration:
		return time.Duration(n).String()
	case l.Unit == Resource && f.Tree != nil:
		return f.Tree.Schema().Amount(f.Type, n)
	}
	return strconv.FormatInt(n, 10)
}

// A Climb is the way of a priority from a leaf up to the queue below another one.
type Climb struct {
	Tree        *queue.Tree
	Leaf, Below queue.ID
}

// Lift takes a priority up, queue by queue: each adds its offset, and a fence first
// forgets what is below it. Package fence says the same of leaves at once; it serves
// the planners, and so no auditor asks it.
func (c Climb) Lift(priority int64) int64 {
	for q := range c.Tree.Up(c.Leaf) {
		if q == c.Below {
			break
		}
		if c.Tree.PriorityPolicy(q) == queue.PriorityFence {
			priority = 0
		}
		priority += int64(c.Tree.PriorityOffset(q))
	}
	return priority
}
