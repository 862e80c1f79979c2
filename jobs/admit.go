package jobs

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Claim is what a job asks of the quotas on its path. Members that are placed
// already are no part of it: they are usage.
type Claim struct {
	// Rem is the sum of the members not yet placed. Only types of which it has
	// a positive amount are compared. It must be exact, not a sum that
	// saturated.
	Rem            resources.Vector
	NonPreemptible bool
}

// A Formula is one of the comparisons that admit a job. (DESIGN.md, Jobs: admission.)
type Formula uint8

const (
	// NonPreemptibleMin is N + rem <= min, for jobs that are not preemptible.
	NonPreemptibleMin Formula = 1 + iota
	// UsedMax is U + rem <= max, for jobs that are not preemptible.
	UsedMax
	// PreemptibleMax is min(min, NR) + P + rem <= max, for preemptible jobs:
	// what the non-preemptible use, and ask for, is withheld from them up to
	// the min, whether it is in use or not.
	PreemptibleMax
)

var formulaWords = word.Table{Of: "jobs.Formula", Words: []string{NonPreemptibleMin: "non-preemptible-min", UsedMax: "used-max", PreemptibleMax: "preemptible-max"}}

// String returns the stable word for the formula: non-preemptible-min, used-max
// or preemptible-max.
func (f Formula) String() string { return formulaWords.Word(uint8(f)) }

// MarshalText returns the stable word for the formula, and nothing for 0. A number that
// has no word is an error.
func (f Formula) MarshalText() ([]byte, error) { return formulaWords.Text(uint8(f)) }

// UnmarshalText sets the formula whose text is given. Any other text is an error
// and changes nothing.
func (f *Formula) UnmarshalText(text []byte) error { return word.Set(f, formulaWords, text) }

// A Breach is a formula that a claim breaks, at one queue and in one type:
// Withheld + Used + Rem is above Bound.
type Breach struct {
	Formula  Formula
	Queue    queue.ID
	Type     int
	Withheld int64 // min(min, NR) for PreemptibleMax, else 0
	Used     int64 // N, U or P, as the formula has it
	Rem      int64 // positive
	Bound    int64 // the min, which is 0 if it is not defined, or the max
}

// Over returns by how much the sum is above the bound: a positive amount, at
// most the largest there is.
func (b *Breach) Over() int64 { return sat.Sub(b.Rem, room(b.Bound, b.Used, b.Withheld)) }

// Text says what is broken, with the names and units of the tree, as in
//
//	used-max: root.a: cpu: 15 used and 6 asked for are above the max of 20 by 1
func (b *Breach) Text(tree *queue.Tree) string {
	s := tree.Schema()
	amount := func(v int64) string { return s.Amount(b.Type, v) }
	sum := amount(b.Used) + " used and "
	bound := "max"
	switch b.Formula {
	case NonPreemptibleMin:
		sum, bound = amount(b.Used)+" used by the non-preemptible and ", "min"
	case PreemptibleMax:
		sum = fmt.Sprintf("%s withheld for the non-preemptible, %s used by the preemptible and ",
			amount(b.Withheld), amount(b.Used))
	}
	return plain.Line(fmt.Sprintf("%v: %s: %s: %s%s asked for are above the %s of %s by %s", b.Formula,
		plain.Name(tree.Path(b.Queue)), s.Name(b.Type), sum, amount(b.Rem), bound, amount(b.Bound), amount(b.Over())))
}

// room returns what a bound leaves for a claim: bound - used - withheld. The
// operands are not negative, so that only a sum far above the bound can
// saturate; it stays negative then.
func room(bound, used, withheld int64) int64 { return sat.Sub(sat.Sub(bound, used), withheld) }

// Admit appends to dst what keeps the claim from being admitted, and returns
// dst. A claim to which nothing is appended is admitted:
//
//	non-preemptible: N + rem <= min and U + rem <= max
//	preemptible:     min(min, NR) + P + rem <= max
//
// at every queue of the path that has an entry. Breaches come queue by queue,
// the leaf's first, in the order of the Formula constants and then of types. The
// cost is accounts times types.
func (l *Ledger) Admit(dst []Breach, claim Claim) []Breach {
	for i := range l.accounts {
		a := &l.accounts[i]
		if claim.NonPreemptible {
			dst = a.check(dst, NonPreemptibleMin, claim.Rem)
			dst = a.check(dst, UsedMax, claim.Rem)
		} else {
			dst = a.check(dst, PreemptibleMax, claim.Rem)
		}
	}
	return dst
}

// MayPreempt appends to dst what keeps the claim from triggering preemption, as
// Admit does:
//
//	non-preemptible: N + rem <= min, for victims make room under the max
//	preemptible:     as Admit, for it is no more than what is left over
func (l *Ledger) MayPreempt(dst []Breach, claim Claim) []Breach {
	if !claim.NonPreemptible {
		return l.Admit(dst, claim)
	}
	for i := range l.accounts {
		dst = l.accounts[i].check(dst, NonPreemptibleMin, claim.Rem)
	}
	return dst
}

// check appends the types in which rem breaks a formula.
func (a *Account) check(dst []Breach, f Formula, rem resources.Vector) []Breach {
	for t, v := range rem {
		if v <= 0 {
			continue
		}
		if b, bounded := a.breach(f, t, v); bounded && v > room(b.Bound, b.Used, b.Withheld) {
			dst = append(dst, b)
		}
	}
	return dst
}

// breach returns the amounts of a formula in type t, broken or not, and whether
// it bounds the type.
func (a *Account) breach(f Formula, t int, rem int64) (b Breach, bounded bool) {
	b = Breach{Formula: f, Queue: a.Queue, Type: t, Rem: rem}
	least, _ := a.Quota.Min.Bound(t) // absent: 0
	switch f {
	case NonPreemptibleMin:
		b.Used, b.Bound = a.NonPreemptible.At(t), least
		return b, true
	case UsedMax:
		b.Used = a.Used.At(t)
	case PreemptibleMax:
		n := a.NonPreemptible.At(t)
		b.Used = a.Used.At(t) - n
		b.Withheld = min(least, sat.Add(n, a.Waiting.At(t)))
	}
	b.Bound, bounded = a.Quota.Max.Bound(t) // absent: unlimited
	return b, bounded
}

// Need sets dst to what preemptible tasks below the queue must free so that the
// claim is under the max there, and returns it: UsedMax for the non-preemptible,
// PreemptibleMax for the others. It says nothing of the min, which no victim
// helps. dst is allocated if it is too short.
func (a *Account) Need(dst resources.Vector, claim Claim) resources.Vector {
	f := PreemptibleMax
	if claim.NonPreemptible {
		f = UsedMax
	}
	dst = resources.Max(dst, claim.Rem, nil)
	for t, v := range dst {
		b, bounded := a.breach(f, t, v)
		if !bounded || v == 0 {
			dst[t] = 0
			continue
		}
		dst[t] = max(b.Over(), 0)
	}
	return dst
}
