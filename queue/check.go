package queue

import (
	"fmt"
	"math"

	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/resources"
)

// A promise is what one queue is guaranteed and what it may use at most.
type promise struct {
	name            string
	guaranteed, max resources.Limit
}

// badBounds returns what is wrong with the bounds of one queue by themselves.
func badBounds(s *resources.Schema, p promise) (problems []error) {
	for _, b := range []struct {
		name  string
		limit resources.Limit
	}{{"guaranteed", p.guaranteed}, {"max", p.max}} {
		for i := range b.limit.Defined.All() {
			v, _ := b.limit.Bound(i)
			switch {
			case i >= s.Len():
				problems = append(problems, fmt.Errorf("%w: %s of type %d of %d", ErrType, b.name, i, s.Len()))
			case v < 0:
				problems = append(problems, fmt.Errorf("%w: %s %s %s", ErrNegative, b.name, s.Name(i), s.Amount(i, v)))
			}
		}
	}
	for i, name := range s.All() {
		g, hasG := sound(p.guaranteed, i)
		m, hasM := sound(p.max, i)
		if hasG && hasM && g > m {
			problems = append(problems, fmt.Errorf("%w: %s: guaranteed %s, max %s",
				ErrAboveMax, name, s.Amount(i, g), s.Amount(i, m)))
		}
	}
	return problems
}

// sound returns the bound of l on type i, and whether there is one that can be
// compared with others. A negative one is a problem by itself.
func sound(l resources.Limit, i int) (int64, bool) {
	v, ok := l.Bound(i)
	return v, ok && v >= 0
}

// overCommitted returns how the children of a queue are promised more than it
// has: type by type, each child's max first, then the sum of the guarantees.
func overCommitted(s *resources.Schema, own promise, children []promise) (problems []error) {
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%w: %s", ErrOverCommitted, fmt.Sprintf(format, args...)))
	}
	for i, name := range s.All() {
		g, hasG := sound(own.guaranteed, i)
		m, hasM := sound(own.max, i)
		for _, child := range children {
			if v, ok := sound(child.max, i); ok && hasM && v > m {
				problem("%s: max %s of child %q is above the max %s", name, s.Amount(i, v), child.name, s.Amount(i, m))
			}
		}
		sum := sumOf(children, i)
		if hasG && sum.above(g) {
			problem("%s: children are guaranteed %s of the guaranteed %s", name, sum.text(s, i), s.Amount(i, g))
		}
		if hasM && sum.above(m) {
			problem("%s: children are guaranteed %s of the max %s", name, sum.text(s, i), s.Amount(i, m))
		}
	}
	return problems
}

// A sum is a sum of guarantees, which may be more than an int64 can hold.
type sum struct {
	amount int64
	more   bool // than amount, which is the largest there is
}

// sumOf returns what the children are guaranteed of type i.
func sumOf(children []promise, i int) (s sum) {
	for _, child := range children {
		if v, ok := sound(child.guaranteed, i); ok {
			s.more = s.more || v > math.MaxInt64-s.amount
			s.amount = sat.Add(s.amount, v)
		}
	}
	return s
}

func (s sum) above(bound int64) bool { return s.more || s.amount > bound }

func (s sum) text(schema *resources.Schema, i int) string {
	if s.more {
		return "more than " + schema.Amount(i, s.amount)
	}
	return schema.Amount(i, s.amount)
}

// warnOfCages warns of every fence with a guarantee and none below it. An ask
// below such a fence is governed by the fence or by a queue above it, so that
// every queue inside the fence is inside the queue that starves, too (DESIGN.md,
// Storm freedom). A guarantee of 0 lets nobody preempt and counts as none.
func (b *builder) warnOfCages() {
	t := b.tree
	below := make([]bool, t.Len()) // a queue below has a guarantee
	for q := ID(t.Len() - 1); q > Root; q-- {
		own := resources.Positive(t.Guaranteed(q).Value) != 0
		if own && !below[q] && !t.IsLeaf(q) && t.policies[q].preemption == PreemptionFence {
			b.warnings = append(b.warnings, warning{q, &Problem{Queue: t.Path(q),
				Err: fmt.Errorf("%w: %s is fence, and no queue below has a guarantee", ErrNeverPreempts, PropertyPreemptionPolicy)}})
		}
		below[t.parents[q]] = below[t.parents[q]] || own || below[q]
	}
}
