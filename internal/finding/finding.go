// SPDX-License-Identifier: Apache-2.0

// Package finding tells what an auditor found, in one way for the auditors of asks, jobs,
// quotas and moves: the law-book, the line that a person reads, the object that a program
// reads, and the lift of a priority.
package finding

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Text is how a broken law is told. A finding with amounts is told as
// "amount Noun, want Relation amount", a finding without them as Text.
type Text struct {
	Number         int // in DESIGN.md, The seven laws; 0 for all others
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

// A Finding is a law that is broken, and where. What is not at fault is "".
type Finding struct {
	Of  string // what was judged: "ask", "job" or "quota"
	Law string
	Who []Subject // in the order in which they are told

	Queue, Type string // the path of the queue, and the name of the resource type
	Have, Want  int64  // what there is, and what it is compared with
	Other       string // the name of whatever else the text speaks of
}

// A Subject is somebody who is at fault.
type Subject struct{ What, Name string }

// text returns how the law is told, and whether there is such a law.
func (f *Finding) text() (Text, bool) {
	if t, ok := books[f.Of][f.Law]; ok {
		return t, true
	}
	if c, capped := rulebook.CapOf(f.Law); capped {
		return Text{Noun: c.Entry().Noun + "s", Relation: "at most", Unit: Count}, true
	}
	t, ok := book[f.Law]
	return t, ok
}

// Line tells a finding in a line: the law, who is at fault, and what is wrong,
// as in
//
//	guarantee (law 2): root.a: cpu 3 after the plan, want at least 5
//	leaving: victim t1: leaving already
func (f *Finding) Line() string {
	var b strings.Builder
	b.WriteString(plain.Name(f.Law))
	if t, _ := f.text(); t.Number > 0 {
		b.WriteString(" (law " + strconv.Itoa(t.Number) + ")")
	}
	for _, s := range f.Who {
		b.WriteString(": " + s.What + " " + plain.Name(s.Name))
	}
	if f.Queue != "" {
		b.WriteString(": " + plain.Name(f.Queue))
	}
	return b.String() + ": " + f.complaint()
}

// complaint tells what is wrong.
func (f *Finding) complaint() string {
	t, ok := f.text()
	if !ok {
		return "unknown law"
	}
	if !f.measures(t) {
		return strings.Replace(t.Text, "%s", plain.Name(f.Other), 1)
	}
	have, want := f.amount(t, f.Have), f.amount(t, f.Want)
	if t.Unit == Level {
		have = t.Noun + " " + have
	} else {
		have += " " + t.Noun
	}
	if t.Unit == Resource {
		have = f.Type + " " + have
	}
	return have + ", want " + t.Relation + " " + want
}

// measures reports whether a finding of this law has amounts.
func (f *Finding) measures(t Text) bool {
	return t.Noun != "" && (f.Type != "" || t.Unit != Resource)
}

// amount returns the text of an amount for people.
func (f *Finding) amount(t Text, n int64) string {
	switch {
	case t.Unit == Duration:
		return time.Duration(n).String()
	case t.Unit == Resource:
		if s, err := resources.NewSchema(f.Type); err == nil {
			return vectors.Text(s, 0, n)
		}
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
	for q := range c.Tree.Ancestors(c.Leaf) {
		if q == c.Below {
			break
		}
		if c.Tree.Policies(q).PriorityFence == "fence" {
			priority = 0
		}
		priority += int64(*c.Tree.Policies(q).PriorityOffset)
	}
	return priority
}
