package quota

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Setting is what enforcement has to know of the configuration of a queue. The
// zero Setting bounds nothing and is never enforced.
type Setting struct {
	Max   resources.Limit
	Delay time.Duration // from a lowered max to its enforcement; 0 is off
}

// The kinds of problems with a [Setting] that are not those of a bound by
// itself.
var (
	ErrDelay      = errors.New("negative delay")                      // -5m0s
	ErrGuaranteed = errors.New("max not above guaranteed with delay") // guaranteed cpu=5 max cpu=5 delay 5m0s
)

// Check reports what keeps s from being set for queue q of the tree, whose
// guarantee alone is read. So it can be asked before [queue.Tree.SetMax] is.
//
// An error is a negative delay; a bound that is negative or of a type that the
// schema does not have; a max below what the queue is guaranteed; and, with a
// delay, one that is no higher than that, in any type that both define. All
// problems are reported at once, each naming the queue and wrapping
// [ErrDelay], [queue.ErrType], [queue.ErrNegative], [queue.ErrAboveMax] or
// [ErrGuaranteed].
func (s Setting) Check(tree *queue.Tree, q queue.ID) error {
	var problems []error
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("quota: %s: %w", plain.Name(tree.Path(q)), fmt.Errorf(format, args...)))
	}
	if s.Delay < 0 {
		report("%w: %v", ErrDelay, s.Delay)
	}
	schema, guaranteed := tree.Schema(), tree.Guaranteed(q)
	for i := range s.Max.Defined.All() {
		m, _ := s.Max.Bound(i)
		g, promised := guaranteed.Bound(i)
		switch {
		case i >= schema.Len():
			report("%w: max of type %d of %d", queue.ErrType, i, schema.Len())
		case m < 0:
			report("%w: max %s %s", queue.ErrNegative, plain.Line(schema.Name(i)), schema.Amount(i, m))
		case promised && m < g:
			report("%w: %s: guaranteed %s, max %s", queue.ErrAboveMax,
				plain.Line(schema.Name(i)), schema.Amount(i, g), schema.Amount(i, m))
		case promised && m == g && s.Delay > 0:
			// "With delay > 0, max must be above guaranteed in every type that
			// both define."
			report("%w: %s: guaranteed %s, max %s, delay %v", ErrGuaranteed,
				plain.Line(schema.Name(i)), schema.Amount(i, g), schema.Amount(i, m), s.Delay)
		}
	}
	return errors.Join(problems...)
}
