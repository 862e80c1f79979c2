// SPDX-License-Identifier: Apache-2.0

// Package lent has what types for users lend to packages of the module, which users do not see: what a
// queue.Tree keeps (see package trees), and how planners fill a victims.Decision.
package lent

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
)

// A Box is what a type embeds, under an unexported name, to lend what is in it.
type Box struct{ tree Tree }

func (b *Box) lend() *Tree { return &b.tree }

// Of returns what is in the box that is embedded.
func Of(tree interface{ lend() *Tree }) *Tree { return tree.lend() }

// A Side is what a type embeds, under an unexported name, to lend the methods of a T; see [To].
type Side[T any] struct{}

func (Side[T]) lend() (t T) { return t }

// To returns the T of x, with what only packages of the module may do to x.
func To[X interface{ lend() T }, T interface{ For(X) T }](x X) T { return x.lend().For(x) }

// In returns what is in a box.
func In(b *Box) *Tree { return &b.tree }

// A Tree has the amounts of a queue.Tree, in blocks of one amount per queue and type, row by
// row, so that a walk up the tree touches a few cache lines and a copy of everything is a
// copy of memory. Queues are in tree order.
type Tree struct {
	Strict   bool // what is over-committed is an error
	ReadOnly bool // it shows another tree, which alone can be changed
	Warnings []*Problem

	Ends []int32 // the subtree of q is [q, Ends[q])
	// Says returns the properties that give a queue its policies, below a queue that has its own.
	Says func(q int32) map[string]string
	// SaysItself reports whether a queue says itself what a property says.
	SaysItself func(q int32, property string) bool

	Usage, Leaving  []int64
	Guaranteed, Max Bounds
	Ignored         resources.Mask // the types whose guarantees do not count
}

// A Problem is something wrong with one queue, as package queue tells it.
type Problem struct {
	Queue string // its path
	Kind  error  // of those that package queue exports
	Err   error  // names type and amounts
}

func (p *Problem) Error() string { return fmt.Sprintf("queue: %s: %v", plain.Name(p.Queue), p.Err) }

// Is reports whether the problem is of a kind.
func (p *Problem) Is(kind error) bool { return kind == p.Kind }

// Unwrap returns what is wrong, without the queue.
func (p *Problem) Unwrap() error { return p.Err }

// What may be wrong with bounds, policies and properties, for those who tell it at its place.
var (
	ErrType          = errors.New("not a type")           // a bound of a type that the schema does not have
	ErrNegative      = errors.New("negative bound")       // guaranteed cpu=-1
	ErrAboveMax      = errors.New("guaranteed above max") // guaranteed cpu=2 max cpu=1, in one queue
	ErrProperty      = errors.New("bad property")         // preemption.polcy, or preemption.delay "soon"
	ErrOverCommitted = errors.New("over-committed")       // children of cpu=2 are guaranteed 1 and 2
)

// Bounds are the limits of all queues: a block, and a mask per queue.
type Bounds struct {
	Values  []int64 // 0 if there is no bound
	Defined []resources.Mask
}

// Set replaces the limit of a queue of so many types; l may be a view of it. Types of l
// beyond these are dropped.
func (b *Bounds) Set(queue, types int, l resources.Limit) {
	b.Defined[queue] = 0
	for i := range types {
		v, ok := l.Bound(i)
		b.Values[queue*types+i] = v
		if ok {
			b.Defined[queue] |= 1 << i
		}
	}
}

// CopyFrom makes x a copy of from that can be changed, in the memory of x.
func (x *Tree) CopyFrom(from *Tree) {
	mine := *x
	*x = *from
	x.ReadOnly = false
	x.Usage = copyInto(mine.Usage, from.Usage)
	x.Leaving = copyInto(mine.Leaving, from.Leaving)
	x.Guaranteed = mine.Guaranteed.copyFrom(&from.Guaranteed)
	x.Max = mine.Max.copyFrom(&from.Max)
}

func (b *Bounds) copyFrom(from *Bounds) Bounds {
	return Bounds{Values: copyInto(b.Values, from.Values), Defined: append(b.Defined[:0], from.Defined...)}
}

// copyInto returns a copy of a block in the memory of another. Its capacity is its length, so
// that there is no row beyond the last.
func copyInto(memory, block []int64) []int64 { return slices.Clip(append(memory[:0], block...)) }
