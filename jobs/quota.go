package jobs

import (
	"errors"
	"fmt"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// The kinds of problems with quotas. Each comes wrapped in a [*QuotaError] that
// names the queue.
var (
	ErrMinAboveMax = errors.New("min above max") // min gpu=10 max gpu=4
	ErrAmount      = errors.New("bad amount")    // min cpu=-1, 1 of a type that the schema does not have
)

// A Quota is what the jobs of a queue and of those below it may use.
//
// Min is kept for the non-preemptible and bounds them: a type that it does not
// define is 0. Max bounds all: a type that it does not define has no bound.
// Both are compared only in types of which a job has members to place.
type Quota struct {
	Min, Max resources.Limit
	// Waiting is what non-preemptible members ask for that wait to be placed in
	// the queue itself. What waits in queues below is said in their entries,
	// and counts here as well.
	Waiting resources.Vector
}

// A QuotaError is something wrong with the quota of one queue.
type QuotaError struct {
	Queue string // the path of the queue
	Err   error  // wraps one of the sentinels; names type and amounts
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("jobs: quota of %s: %v", plain.Name(e.Queue), e.Err)
}

// Unwrap returns what is wrong, without the queue.
func (e *QuotaError) Unwrap() error { return e.Err }

// Quotas are the quotas of the queues of a tree. A queue without an entry
// bounds nothing, and one with an entry that says nothing does: its min is 0 in
// every type. The nil Quotas has no entries.
//
// Quotas may be read by several goroutines at once, but not while they are
// changed.
type Quotas struct {
	// Validation says what a min above the max is, type by type. Strictly it is
	// an error. Leniently, which is the default, it is one of [Quotas.Warnings]:
	// real configurations have it, and every formula holds all the same.
	Validation queue.Validation

	tree    *queue.Tree
	entries []entry // by queue
}

// entry is the quota of a queue, if it has one.
type entry struct {
	quota Quota
	set   bool
}

// NewQuotas returns quotas for the queues of a tree, without any entry. They
// serve clones of the tree as well.
func NewQuotas(tree *queue.Tree) *Quotas {
	return &Quotas{tree: tree, entries: make([]entry, tree.Len())}
}

// Set replaces the quota of q by a copy of quota, which becomes an entry if q
// had none.
//
// Errors are amounts that are negative or of a type that the schema does not
// have, and with [queue.Strict] a min above the max. All are reported at once,
// each a [*QuotaError], amounts in the order of Min, Max, Waiting and types
// before types whose min is above the max; then nothing changes. A queue that
// the tree does not have is a caller's bug, and panics.
func (s *Quotas) Set(q queue.ID, quota Quota) error {
	e := &s.entries[q]
	problems := s.badAmounts(&quota)
	if s.Validation == queue.Strict {
		problems = append(problems, s.inverted(&quota)...)
	}
	if err := s.join(q, problems); err != nil {
		return err
	}
	*e = entry{
		quota: Quota{
			Min:     resources.Merge(resources.Limit{}, quota.Min, resources.Limit{}),
			Max:     resources.Merge(resources.Limit{}, quota.Max, resources.Limit{}),
			Waiting: resources.Copy(nil, quota.Waiting[:min(len(quota.Waiting), s.tree.Schema().Len())]),
		},
		set: true,
	}
	return nil
}

// Delete takes the entry of q away, if it has one.
func (s *Quotas) Delete(q queue.ID) { s.entries[q] = entry{} }

// Lookup returns the quota of q, and whether it has one. Its bounds and amounts
// are views.
func (s *Quotas) Lookup(q queue.ID) (Quota, bool) {
	if s == nil {
		return Quota{}, false
	}
	e := &s.entries[q]
	return e.quota, e.set
}

// Warnings returns what is wrong with the entries as they are and is accepted
// leniently, in tree order, each a [*QuotaError].
func (s *Quotas) Warnings() (warnings []error) {
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
func (s *Quotas) badAmounts(quota *Quota) (problems []error) {
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
func (s *Quotas) inverted(quota *Quota) (problems []error) {
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
func (s *Quotas) join(q queue.ID, problems []error) error {
	for i, err := range problems {
		problems[i] = s.at(q, err)
	}
	return errors.Join(problems...)
}

func (s *Quotas) at(q queue.ID, err error) error {
	return &QuotaError{Queue: s.tree.Path(q), Err: err}
}
