package jobs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The kinds of problems with quotas. Each comes wrapped in a [*AllowanceError] that
// names the queue.
var (
	ErrMinAboveMax = errors.New("min above max") // min gpu=10 max gpu=4
	ErrAmount      = errors.New("bad amount")    // min cpu=-1, 1 of a type that the schema does not have
)

// An Allowance is what the jobs of a queue and of those below it may use.
//
// Min is kept for the non-preemptible and bounds them: a type that it does not
// define is 0. Max bounds all: a type that it does not define has no bound.
// Both are compared only in types of which a job has members to place.
type Allowance struct {
	Min, Max resources.Limit
	// Waiting is what non-preemptible members ask for that wait to be placed in
	// the queue itself. What waits in queues below is said in their entries,
	// and counts here as well.
	Waiting resources.Vector
}

// A AllowanceError is something wrong with the quota of one queue.
type allowanceError struct {
	Queue string // the path of the queue
	Err   error  // wraps one of the sentinels; names type and amounts
}

func (e *allowanceError) Error() string {
	return fmt.Sprintf("jobs: quota of %s: %v", plain.Name(e.Queue), e.Err)
}

// Unwrap returns what is wrong, without the queue.
func (e *allowanceError) Unwrap() error { return e.Err }

// Allowances are the quotas of the queues of a tree. A queue without an entry
// bounds nothing, and one with an entry that says nothing does: its min is 0 in
// every type. The nil Quotas has no entries.
//
// Quotas may be read by several goroutines at once, but not while they are
// changed.
type Allowances struct {
	// Validation says what a min above the max is, type by type. Strictly it is
	// an error. Leniently, which is the default, it is one of [Quotas.Warnings]:
	// real configurations have it, and every formula holds all the same.
	Validation queue.Validation

	tree    *queue.Tree
	entries []entry // by queue
}

// entry is the quota of a queue, if it has one.
type entry struct {
	quota Allowance
	set   bool
}

// NewAllowances returns quotas for the queues of a tree, without any entry. They
// serve clones of the tree as well.
func NewAllowances(tree *queue.Tree) *Allowances {
	return &Allowances{tree: tree, entries: make([]entry, tree.Len())}
}

// Set replaces the quota of q by a copy of quota, which becomes an entry if q
// had none.
//
// Errors are amounts that are negative or of a type that the schema does not
// have, and with [queue.Strict] a min above the max. All are reported at once,
// each a [*AllowanceError], amounts in the order of Min, Max, Waiting and types
// before types whose min is above the max; then nothing changes. A queue that
// the tree does not have is a caller's bug, and panics.
func (s *Allowances) Set(q queue.ID, quota Allowance) error {
	e := &s.entries[q]
	problems := s.badAmounts(&quota)
	if s.Validation == queue.Strict {
		problems = append(problems, s.inverted(&quota)...)
	}
	if err := s.join(q, problems); err != nil {
		return err
	}
	*e = entry{
		quota: Allowance{
			Min:     resources.Merge(resources.Limit{}, quota.Min, resources.Limit{}),
			Max:     resources.Merge(resources.Limit{}, quota.Max, resources.Limit{}),
			Waiting: resources.Copy(nil, quota.Waiting[:min(len(quota.Waiting), s.tree.Schema().Len())]),
		},
		set: true,
	}
	return nil
}

// Delete takes the entry of q away, if it has one.
func (s *Allowances) Delete(q queue.ID) { s.entries[q] = entry{} }

// Lookup returns the quota of q, and whether it has one. Its bounds and amounts
// are views.
func (s *Allowances) Lookup(q queue.ID) (Allowance, bool) {
	if s == nil {
		return Allowance{}, false
	}
	e := &s.entries[q]
	return e.quota, e.set
}

// Warnings returns what is wrong with the entries as they are and is accepted
// leniently, in tree order, each a [*AllowanceError].
func (s *Allowances) Warnings() (warnings []error) {
	if s == nil {
		return nil
	}
	for q := range s.tree.All() {
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
			problems = append(problems, fmt.Errorf("%w: %s %d of type %d of %d", ErrAmount, name, v, i, schema.Len()))
		case v < 0:
			problems = append(problems, fmt.Errorf("%w: %s %s %s", ErrAmount, name, schema.Name(i), schema.Amount(i, v)))
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
				ErrMinAboveMax, schema.Name(i), schema.Amount(i, least), schema.Amount(i, most)))
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

// An Account is what is counted at one queue that has a quota, in its whole
// subtree. Vectors are views into the ledger.
type Account struct {
	Queue queue.ID
	Quota Allowance
	Used  resources.Vector // U; P, the part of the preemptible, is U - N
	// NonPreemptible is N, the part of Used whose tasks no other job may take.
	NonPreemptible resources.Vector
	// Waiting is what non-preemptible members ask for that wait below the
	// queue: NR is N + Waiting.
	Waiting resources.Vector
}

// A Ledger has the accounts of the path of one leaf: what the formulas of
// admission speak of. After Read its accounts are values of their own, from
// which a caller takes tasks that are to go, or to which it adds members that
// are to come, to see what the formulas say then.
//
// A Ledger serves one goroutine at a time. Its memory is reused, so that a warm
// one allocates nothing.
type Ledger struct {
	Cluster *victims.Cluster
	Quotas  *Allowances // nil: none
	// Present counts what is leaving as usage still. By default amounts are
	// coming ones: what is leaving is supply. Grants count in both.
	Present bool

	accounts []Account
	block    []int64
}

// Read reads the accounts of the queues from leaf to the root that have a
// quota, replacing what was there. Without any the cost is the depth; else it
// is linear in the queues and tasks below the uppermost one.
func (l *Ledger) Read(leaf queue.ID) {
	tree := l.Cluster.Tree()
	l.accounts = l.accounts[:0]
	for q := range tree.Up(leaf) {
		if quota, ok := l.Quotas.Lookup(q); ok {
			l.accounts = append(l.accounts, Account{Queue: q, Quota: quota})
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
			a.Used = resources.Copy(a.Used, tree.Usage(a.Queue))
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
		for q := a.Queue; q < tree.End(a.Queue); {
			if inner != nil && q == inner.Queue {
				q = tree.End(q)
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
	if quota, ok := l.Quotas.Lookup(q); ok {
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

// Accounts returns the accounts that were read, the innermost first, as a view.
func (l *Ledger) Accounts() []Account { return l.accounts }

// Remove takes a task that is counted out of the accounts of the queues that it
// is below: its queue, its size and whether it is non-preemptible are looked at.
func (l *Ledger) Remove(t *victims.Task) { l.change(t, resources.Sub) }

// Add counts a task, as Remove takes one out. Sums beyond the range of int64
// saturate, and then are wrong for good.
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
