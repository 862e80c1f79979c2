// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The kinds of problems with allowances, which name the queue.
var (
	errMinAboveMax = errors.New("min above max") // min gpu=10 max gpu=4
	errAmount      = errors.New("bad amount")    // min cpu=-1, 1 of a type that the schema does not have
)

// An Allowance bounds what the jobs of a queue and of those below it may use, in types
// of which a job has members to place. Koordinator's ElasticQuota is one.
//
// Min is kept for the non-preemptible and bounds them; undefined is 0. Max bounds all;
// undefined is no bound.
type Allowance struct {
	Min, Max resources.Limit
	// Waiting is what non-preemptible members that wait in the queue itself ask for.
	// It counts in the queues above as well.
	Waiting resources.Vector
}

// An allowanceError is something wrong with the quota of one queue.
type allowanceError struct {
	Queue string // the path of the queue
	Err   error  // wraps one of the sentinels; names type and amounts
}

func (e *allowanceError) Error() string {
	return fmt.Sprintf("jobs: quota of %s: %v", plain.Name(e.Queue), e.Err)
}

// Unwrap returns what is wrong, without the queue.
func (e *allowanceError) Unwrap() error { return e.Err }

// Allowances are those of the queues of a tree. A queue without an entry bounds nothing;
// an empty entry has a min of 0.
type Allowances struct {
	// Strict: a min above the max is an error. Else it is a warning
	// ([Allowances.Warnings]).
	Strict bool

	tree    *queue.Tree
	entries []entry // by queue
}

// entry is the quota of a queue, if it has one.
type entry struct {
	quota Allowance
	set   bool
}

// NewAllowances returns allowances without entries, for a tree and its clones.
func NewAllowances(tree *queue.Tree) *Allowances {
	return &Allowances{tree: tree, entries: make([]entry, tree.Len())}
}

// Set makes a copy of quota the entry of q. Errors are amounts that are negative or of an
// unknown type, and if strict a min above the max: joined, in the order of Min, Max,
// Waiting, types. They change nothing. An unknown queue panics.
func (s *Allowances) Set(q queue.ID, quota Allowance) error {
	e := &s.entries[q]
	problems := s.badAmounts(&quota)
	if s.Strict {
		problems = append(problems, s.inverted(&quota)...)
	}
	if err := s.join(q, problems); err != nil {
		return err
	}
	*e = entry{
		quota: Allowance{
			Min:     resources.AddOnlyExisting(resources.Limit{}, quota.Min, nil),
			Max:     resources.AddOnlyExisting(resources.Limit{}, quota.Max, nil),
			Waiting: slices.Clone(quota.Waiting[:min(len(quota.Waiting), s.tree.Schema().Len())]),
		},
		set: true,
	}
	return nil
}

// Delete takes the entry of q away.
func (s *Allowances) Delete(q queue.ID) { s.entries[q] = entry{} }

// Lookup returns the allowance of q, as views.
func (s *Allowances) Lookup(q queue.ID) (Allowance, bool) {
	if s == nil {
		return Allowance{}, false
	}
	e := &s.entries[q]
	return e.quota, e.set
}

// Warnings returns what is accepted but wrong, in tree order.
func (s *Allowances) Warnings() (warnings []error) {
	if s == nil {
		return nil
	}
	for q := range queue.ID(s.tree.Len()) {
		for _, err := range s.inverted(&s.entries[q].quota) {
			warnings = append(warnings, s.at(q, err))
		}
	}
	return warnings
}

// badAmounts returns the amounts of a quota that are none.
func (s *Allowances) badAmounts(quota *Allowance) (problems []error) {
	bad := func(name string, i int, v int64) {
		schema := s.tree.Schema()
		switch {
		case i >= schema.Len():
			problems = append(problems, fmt.Errorf("%w: %s %d of type %d of %d", errAmount, name, v, i, schema.Len()))
		case v < 0:
			problems = append(problems, fmt.Errorf("%w: %s %s %s", errAmount, name, schema.Name(i), vectors.Text(schema, i, v)))
		}
	}
	for i := range quota.Min.Defined.All() {
		v, _ := quota.Min.Bound(i)
		bad("min", i, v)
	}
	for i := range quota.Max.Defined.All() {
		v, _ := quota.Max.Bound(i)
		bad("max", i, v)
	}
	for i, v := range quota.Waiting {
		if v != 0 { // zeros of no type mean nothing
			bad("waiting", i, v)
		}
	}
	return problems
}

// inverted returns the types in which the min of a quota is above its max.
func (s *Allowances) inverted(quota *Allowance) (problems []error) {
	schema := s.tree.Schema()
	for i := range (quota.Min.Defined & quota.Max.Defined).All() {
		least, _ := quota.Min.Bound(i)
		most, _ := quota.Max.Bound(i)
		if least > most && most >= 0 && i < schema.Len() { // a negative one is a problem by itself
			problems = append(problems, fmt.Errorf("%w: %s: min %s, max %s",
				errMinAboveMax, schema.Name(i), vectors.Text(schema, i, least), vectors.Text(schema, i, most)))
		}
	}
	return problems
}

// join returns problems as those of q, in one error.
func (s *Allowances) join(q queue.ID, problems []error) error {
	for i, err := range problems {
		problems[i] = s.at(q, err)
	}
	return errors.Join(problems...)
}

func (s *Allowances) at(q queue.ID, err error) error {
	return &allowanceError{Queue: s.tree.Path(q), Err: err}
}

// A Claim is what a job asks of allowances.
type Claim struct {
	// Rem is the sum of the members not yet placed, exact. Only positive amounts
	// count.
	Rem            resources.Vector
	NonPreemptible bool
}

// The comparisons that admit a job, in their order. See DESIGN.md, Jobs: admission.
const (
	nonPreemptibleMin = "non-preemptible-min" // N + rem <= min, for non-preemptible jobs
	usedMax           = "used-max"            // U + rem <= max, for non-preemptible jobs
	preemptibleMax    = "preemptible-max"     // min(min, NR) + P + rem <= max, for preemptible jobs
)

// A Breach is a formula that a claim breaks at one queue in one type: Withheld + Used
// + Rem is above Bound.
type Breach struct {
	Formula  string // non-preemptible-min, used-max or preemptible-max: see [Ledger.Admit]
	Queue    queue.ID
	Type     int
	Withheld int64 // min(min, NR) for preemptible-max, else 0
	Used     int64 // N, U or P, as the formula has it
	Rem      int64 // positive
	Bound    int64 // the min (0 if not defined) or the max
}

// over returns by how much the sum is above the bound, saturated.
func (b *Breach) over() int64 { return sat.Sub(b.Rem, room(b.Bound, b.Used, b.Withheld)) }

// Text says what is broken, with the names and units of the tree, as in
//
//	used-max: root.a: cpu: 15 used and 6 asked for are above the max of 20 by 1
func (b *Breach) Text(tree *queue.Tree) string {
	s := tree.Schema()
	amount := func(v int64) string { return vectors.Text(s, b.Type, v) }
	sum := amount(b.Used) + " used and "
	bound := "max"
	switch b.Formula {
	case nonPreemptibleMin:
		sum, bound = amount(b.Used)+" used by the non-preemptible and ", "min"
	case preemptibleMax:
		sum = fmt.Sprintf("%s withheld for the non-preemptible, %s used by the preemptible and ",
			amount(b.Withheld), amount(b.Used))
	}
	return plain.Line(fmt.Sprintf("%s: %s: %s: %s%s asked for are above the %s of %s by %s", b.Formula,
		plain.Name(tree.Path(b.Queue)), s.Name(b.Type), sum, amount(b.Rem), bound, amount(b.Bound), amount(b.over())))
}

// room returns what a bound leaves for a claim: bound - used - withheld. The
// operands are not negative, so that only a sum far above the bound can
// saturate; it stays negative then.
func room(bound, used, withheld int64) int64 { return sat.Sub(sat.Sub(bound, used), withheld) }

// Admit appends to dst what keeps the claim from being admitted, and returns dst. A
// claim is admitted if at every queue of the path that has an entry
//
//	non-preemptible-min: N + rem <= min, and
//	used-max:            U + rem <= max, for non-preemptible jobs
//	preemptible-max:     min(min, NR) + P + rem <= max, for others
//
// with the letters of [Account]. Breaches come by queue, the leaf's first, then by
// formula, then by type. The cost is accounts·types.
func (l *Ledger) Admit(dst []Breach, claim Claim) []Breach {
	for i := range l.accounts {
		a := &l.accounts[i]
		if claim.NonPreemptible {
			dst = a.check(dst, nonPreemptibleMin, claim.Rem)
			dst = a.check(dst, usedMax, claim.Rem)
		} else {
			dst = a.check(dst, preemptibleMax, claim.Rem)
		}
	}
	return dst
}

// MayPreempt is [Ledger.Admit] for the claim to have victims: for the non-preemptible
// only N + rem <= min counts.
func (l *Ledger) MayPreempt(dst []Breach, claim Claim) []Breach {
	if !claim.NonPreemptible {
		return l.Admit(dst, claim)
	}
	for i := range l.accounts {
		dst = l.accounts[i].check(dst, nonPreemptibleMin, claim.Rem)
	}
	return dst
}

// check appends the types in which rem breaks a formula.
func (a *Account) check(dst []Breach, f string, rem resources.Vector) []Breach {
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
func (a *Account) breach(f string, t int, rem int64) (b Breach, bounded bool) {
	b = Breach{Formula: f, Queue: a.Queue, Type: t, Rem: rem}
	least, _ := a.Allowance.Min.Bound(t) // absent: 0
	switch f {
	case nonPreemptibleMin:
		b.Used, b.Bound = a.NonPreemptible.At(t), least
		return b, true
	case usedMax:
		b.Used = a.Used.At(t)
	case preemptibleMax:
		n := a.NonPreemptible.At(t)
		b.Used = a.Used.At(t) - n
		b.Withheld = min(least, sat.Add(n, a.Waiting.At(t)))
	}
	b.Bound, bounded = a.Allowance.Max.Bound(t) // absent: unlimited
	return b, bounded
}

// Need sets dst to what preemptible tasks below the queue must free so that the claim
// is under the max there (used-max or preemptible-max), and returns it. No victim
// helps with the min.
func (a *Account) Need(dst resources.Vector, claim Claim) resources.Vector {
	f := preemptibleMax
	if claim.NonPreemptible {
		f = usedMax
	}
	dst = resources.Max(dst, claim.Rem, nil)
	for t, v := range dst {
		b, bounded := a.breach(f, t, v)
		if !bounded || v == 0 {
			dst[t] = 0
			continue
		}
		dst[t] = max(b.over(), 0)
	}
	return dst
}

// An Account is what is counted at a queue with an allowance, in its subtree. The vectors
// are views.
type Account struct {
	Queue     queue.ID
	Allowance Allowance
	Used      resources.Vector // U; P, the part of the preemptible, is U - N
	// NonPreemptible is N, the part of Used whose tasks no other job may take.
	NonPreemptible resources.Vector
	// Waiting is what waiting non-preemptible members ask for; NR is N + Waiting.
	Waiting resources.Vector
}

// A Ledger has the accounts of the path of one leaf. [Ledger.Read] them, then remove and
// add tasks to see what the formulas say. It serves one goroutine at a time.
type Ledger struct {
	Cluster    *victims.Cluster
	Allowances *Allowances // nil: none
	// Present counts what is leaving as usage. Grants always count.
	Present bool

	accounts []Account
	block    []int64
}

// Read replaces the accounts by those from leaf to the root. The cost is linear in the
// queues and tasks below the uppermost queue with an allowance.
func (l *Ledger) Read(leaf queue.ID) {
	tree := l.Cluster.Tree()
	l.accounts = l.accounts[:0]
	for q := range tree.Ancestors(leaf) {
		if quota, ok := l.Allowances.Lookup(q); ok {
			l.accounts = append(l.accounts, Account{Queue: q, Allowance: quota})
		}
	}
	if len(l.accounts) == 0 {
		return
	}
	n := tree.Schema().Len()
	l.block = slices.Grow(l.block[:0], 3*n*len(l.accounts))[:3*n*len(l.accounts)]
	clear(l.block)
	rest := l.block
	cut := func() resources.Vector {
		v := rest[:n:n]
		rest = rest[n:]
		return v
	}
	for i := range l.accounts {
		a := &l.accounts[i]
		a.Used, a.NonPreemptible, a.Waiting = cut(), cut(), cut()
		if l.Present {
			a.Used = append(a.Used[:0], tree.Usage(a.Queue)...)
		} else {
			a.Used = tree.Effective(a.Used, a.Queue)
		}
	}
	l.sum(tree)
}

// sum adds up what is non-preemptible and what waits. The queues of the accounts
// contain each other, so that what is below one of them and not below the one
// before is added once, and then what the one before has.
func (l *Ledger) sum(tree *queue.Tree) {
	var inner *Account
	for i := range l.accounts {
		a := &l.accounts[i]
		for q := a.Queue; q < trees.End(tree, a.Queue); {
			if inner != nil && q == inner.Queue {
				q = trees.End(tree, q)
				continue
			}
			l.sumOf(a, q)
			q++
		}
		if inner != nil {
			a.NonPreemptible = resources.Add(a.NonPreemptible, a.NonPreemptible, inner.NonPreemptible)
			a.Waiting = resources.Add(a.Waiting, a.Waiting, inner.Waiting)
		}
		inner = a
	}
}

// sumOf adds what is in queue q itself to an account.
func (l *Ledger) sumOf(a *Account, q queue.ID) {
	if quota, ok := l.Allowances.Lookup(q); ok {
		// NR may saturate: it is compared with a min, and the smaller one counts.
		a.Waiting = resources.Add(a.Waiting, a.Waiting, quota.Waiting)
	}
	for id := range l.Cluster.TasksIn(q) {
		t := l.Cluster.TaskView(id)
		if t.NonPreemptible && (l.Present || t.State == victims.Running || t.State == victims.Granted) {
			a.NonPreemptible = resources.Add(a.NonPreemptible, a.NonPreemptible, t.Size)
		}
	}
}

// Accounts returns the accounts, the innermost first, as a view.
func (l *Ledger) Accounts() []Account { return l.accounts }

// Remove takes a task out of the accounts above its queue.
func (l *Ledger) Remove(t *victims.Task) { l.change(t, resources.Sub) }

// Add counts a task. Sums that saturate stay wrong.
func (l *Ledger) Add(t *victims.Task) { l.change(t, resources.Add) }

func (l *Ledger) change(t *victims.Task, op func(dst, x, y resources.Vector) resources.Vector) {
	tree := l.Cluster.Tree()
	for i := range l.accounts {
		a := &l.accounts[i]
		if !tree.Contains(a.Queue, t.Queue) {
			continue
		}
		a.Used = op(a.Used, a.Used, t.Size)
		if t.NonPreemptible {
			a.NonPreemptible = op(a.NonPreemptible, a.NonPreemptible, t.Size)
		}
	}
}
