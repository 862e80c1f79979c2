package queue

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// ErrGone is what [Move.Usage] reports for a leaf whose usage has no place in the
// other tree.
var ErrGone = errors.New("the leaf is gone")

// A Move says where the queues and the types of one tree are in another one, by
// name. Use it if queues come, go or change what they cannot change in a tree:
// properties, types, the order. Make a new tree of the changed [Config], and take
// over what the old one knows.
//
// A Move is made of what never changes in a tree. It stays right while bounds and
// usage change.
type Move struct {
	from, to *Tree
	queues   []ID  // where each queue of from is in to; noQueue if nowhere
	types    []int // where each type of from is in to
}

const noQueue ID = -1

// NewMove returns the Move from one tree to another, which may have more types
// than the first. A type that it lacks is an error, a [*Problem]; all are joined.
// The cost is linear in queues and types of both.
func NewMove(from, to *Tree) (*Move, error) {
	if from == nil || to == nil || from.Len() == 0 || to.Len() == 0 {
		panic("queue: NewMove of a Tree without queues (nil or zero): see New")
	}
	m := &Move{from: from, to: to, queues: slices.Repeat([]ID{noQueue}, from.Len())}
	var problems []error
	for _, name := range from.schema.All() {
		i, ok := to.schema.Index(name)
		if !ok {
			problems = append(problems, &Problem{Queue: to.Path(Root), Err: fmt.Errorf("%w: %q", ErrType, name)})
		}
		m.types = append(m.types, i)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if from.names[Root] == to.names[Root] {
		m.match(Root, Root)
	}
	return m, nil
}

// match notes that a is b, and matches the children of both.
func (m *Move) match(a, b ID) {
	m.queues[a] = b
	if m.from.IsLeaf(a) || m.to.IsLeaf(b) {
		return
	}
	byName := make(map[string]ID)
	for c := range m.to.Children(b) {
		byName[m.to.names[c]] = c
	}
	for c := range m.from.Children(a) {
		if d, ok := byName[m.from.names[c]]; ok {
			m.match(c, d)
		}
	}
}

// Queue returns the queue that has the path of q in the other tree, and whether
// there is one.
func (m *Move) Queue(q ID) (ID, bool) {
	to := m.queues[m.from.known(q)]
	return max(to, 0), to != noQueue
}

// Leaf returns the leaf that has the path of q in the other tree. There is none if
// q is no leaf, if no queue there has that path, or if that queue has children now.
func (m *Move) Leaf(q ID) (ID, bool) {
	to, ok := m.Queue(q)
	if !ok || !m.from.IsLeaf(q) || !m.to.IsLeaf(to) {
		return 0, false
	}
	return to, true
}

// Gone yields, in tree order, the leaves of the first tree for which
// [Move.Leaf] has none: their tasks have no place in the other one.
func (m *Move) Gone() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for q := range m.from.Leaves(Root) {
			if _, ok := m.Leaf(q); !ok && !yield(q) {
				return
			}
		}
	}
}

// Vector sets dst to v, an amount of the types of the first tree, in the types of
// the other one, and returns it in their number. Types beyond those of the first
// tree are dropped. dst must not overlap v.
func (m *Move) Vector(dst, v resources.Vector) resources.Vector {
	n := m.to.schema.Len()
	dst = slices.Grow(dst[:0], n)[:n]
	clear(dst)
	for i, at := range m.types {
		dst[at] = v.At(i)
	}
	return dst
}

// Usage adds what every leaf of the first tree uses, and what of that is marked to
// leave, to the same leaf of the other tree.
//
// A leaf that is gone and used, usage that would pass the range of int64 there, and
// a tree that belongs to another owner are errors. All are joined, each is a [*Problem], and then nothing
// changes. The cost is leaves times depth times types.
func (m *Move) Usage() error {
	if m.to.owned {
		return &Problem{Queue: m.to.Path(Root), Err: ErrOwned}
	}
	if err := m.check(); err != nil {
		return err
	}
	var size, leaving resources.Vector
	for q := range m.from.Leaves(Root) {
		to, ok := m.Leaf(q)
		if !ok {
			continue // check found it unused
		}
		size = m.Vector(size, m.from.Usage(q))
		leaving = m.Vector(leaving, m.from.Preempting(q))
		m.to.along(m.to.usage, to, size, +1)
		m.to.along(m.to.preempting, to, leaving, +1)
	}
	return nil
}

// check returns the errors of Usage.
func (m *Move) check() error {
	var problems []error
	for q := range m.Gone() {
		if used := m.from.Usage(q); !resources.IsZero(used) {
			problems = append(problems, &Problem{Queue: m.from.Path(q), Err: fmt.Errorf("%w: used %s", ErrGone, m.from.schema.Format(used))})
		}
	}
	there := m.to.Usage(Root)
	for i, v := range m.Vector(nil, m.from.Usage(Root)) {
		if s := m.to.schema; v > math.MaxInt64-there[i] {
			problems = append(problems, &Problem{Queue: m.to.Path(Root), Err: fmt.Errorf("%w: %s %s where the root uses %s",
				ErrRange, s.Name(i), s.Amount(i, v), s.Amount(i, there[i]))})
		}
	}
	return errors.Join(problems...)
}
