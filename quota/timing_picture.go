package quota

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
)

// String lists the queues that are not idle, in tree order, with what happens
// to them next. It says what was seen when the Timing was last asked: a clock that
// has ended since waits still.
//
//	root.a    running
//	root.a.x  due since 2026-01-01T00:05:00Z, after the run of root.a
//	root.b    waits until 2026-01-01T00:10:00Z
func (t *Timing) String() string {
	width := 0
	for q := range queue.ID(len(t.clocks)) {
		if t.clocks[q].stage != clockIdle {
			width = max(width, utf8.RuneCountInString(plain.Name(t.tree.Path(q))))
		}
	}
	var b strings.Builder
	for q := range queue.ID(len(t.clocks)) {
		if t.clocks[q].stage != clockIdle {
			fmt.Fprintf(&b, "%-*s  %s\n", width, plain.Name(t.tree.Path(q)), t.describe(q))
		}
	}
	return b.String()
}

// describe returns the stage of q in words.
func (t *Timing) describe(q queue.ID) string {
	c := &t.clocks[q]
	end := c.end.Format(time.RFC3339Nano)
	switch c.stage {
	case clockWaiting:
		if c.endless {
			return "waits for ever"
		}
		return "waits until " + end
	case clockDue:
		if a, blocked := t.runAbove(q); blocked {
			return fmt.Sprintf("due since %s, after the run of %s", end, plain.Name(t.tree.Path(a)))
		}
		return "due since " + end
	case clockRunning:
		return "running"
	}
	return "idle"
}
