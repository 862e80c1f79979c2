// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// A Verdict is what somebody else's plan is, beside that of this library.
type Verdict uint8

const (
	// Same: it is the plan of this library, or one that differs only in how
	// ties between nodes and between keys are broken. Both may be a refusal.
	Same Verdict = 1 + iota
	// Cheaper: it is lawful, and this library did not find it.
	Cheaper
	// Dearer: it is lawful, and there is a lawful plan of less cost.
	Dearer
	// Lawful: it is lawful, and its cost could not be worked out.
	Lawful
	// Breaks: it breaks a law.
	Breaks
	// Refuses: it is a refusal, though there is a lawful plan.
	Refuses
)

var verdictWords = []string{"same", "cheaper", "dearer", "lawful", "breaks law", "refuses though lawful"}

// String returns the stable words for the verdict.
func (v Verdict) String() string { return spell(verdictWords, uint8(v)) }

// Judged is what there is to say about somebody else's plan for a request. The
// Result of the same step is the plan of this library.
type Judged struct {
	Verdict Verdict
	Broken  []Broken // in the order of the auditor; of none unless the verdict is Breaks

	// Outcome and Cost are what the plan comes to, if it is lawful; else 0 and
	// nil. The cost of a plan without victims is that of no victims.
	Outcome victims.Outcome
	Cost    *victims.Cost
	// Least is the cost of the plan of this library, nil if it refuses. Proven
	// says that no lawful plan costs less, or that there is none.
	Least  *victims.Cost
	Proven bool
	// OwnLeaf is set if the plan of an ask is lawful only by the option of the own
	// leaf, though there is one without it: then it is dearer, whatever it costs.
	OwnLeaf bool
}

// Broken is a law that a plan breaks, and where.
type Broken struct {
	Law    string `json:"law"`              // its stable word
	Number int    `json:"number,omitempty"` // of the seven laws; 0: none of them
	Text   string `json:"text"`             // a line for people
}

// String returns the words for the judgement: those of the verdict, followed by
// the laws that are broken, as in "breaks law 2, 6, minimal": those with numbers
// first.
func (j *Judged) String() string {
	if j.Verdict != Breaks {
		return j.Verdict.String()
	}
	laws := slices.Clone(j.Broken)
	slices.SortStableFunc(laws, func(a, b Broken) int {
		return cmp.Or(-cmp.Compare(min(a.Number, 1), min(b.Number, 1)), cmp.Compare(a.Number, b.Number))
	})
	var words []string
	for _, b := range laws {
		word := b.Law
		if b.Number > 0 {
			word = strconv.Itoa(b.Number)
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return fmt.Sprintf("%v %s", j.Verdict, strings.Join(words, ", "))
}

// Defect reports whether the judgement shows a defect of this library: it says
// to have proven that there is nothing cheaper, and here is something.
func (j *Judged) Defect() bool { return j.Verdict == Cheaper && j.Proven }

// Fails reports whether something is broken: a law, a promise to an ask that
// was refused, or this library.
func (j *Judged) Fails() bool {
	return j.Verdict == Breaks || j.Verdict == Refuses || j.Defect()
}

// compare sets the verdict of a lawful plan, by what both come to and, as options have it, cost.
func (j *Judged) compare(by *victims.Options, ours victims.Outcome, proven bool) {
	j.Proven = proven
	order := cmp.Compare(j.Outcome, ours) // fits, waits, plan, refused
	switch {
	case j.Outcome == victims.Refused:
		j.Verdict, j.Outcome = Lawful, 0
		return
	case ours == victims.Refused:
		order = -1
	case order == 0 && j.OwnLeaf:
		order = 1
	case order == 0 && ours == victims.Preempts:
		theirs, least := *j.Cost, *j.Least
		theirs.Node, least.Node = 0, 0 // node order is how ties are broken
		order = lent.To(by).CompareCosts(&theirs, &least)
	}
	switch {
	case order < 0:
		j.Verdict = Cheaper
	case order > 0:
		j.Verdict = Dearer
	default:
		j.Verdict = Same
	}
}
