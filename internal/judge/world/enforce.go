// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// An EnforceCase is a world and a quota that is to be enforced in it.
type EnforceCase struct {
	World    World
	Queue    string  // whose usage must come under the max; inner queues included
	Max      Amounts // in place of its own
	Exact    bool    // no leaf may free more than its part
	Order    string  // "" or one of those below
	Minimums map[string]int
	Now      time.Time
	Refused  map[string]time.Time // until when tasks would not stop, by key
}

// Refuses reports whether a task would not stop.
func (c *EnforceCase) Refuses(key string) bool { return c.Refused[key].After(c.Now) }

// The orders of victims beside the default.
const (
	ClosestMatch = "closest-match"
	Pack         = "pack"
	Fewest       = "fewest"
	FewestOfAll  = "fewest-of-all"
)

// Target returns what has to go: usage over the max, by type, without zeros.
func (c *EnforceCase) Target() Amounts {
	target, used := make(Amounts), c.World.Usage(true)[c.Queue]
	for t, most := range c.Max {
		if over := used[t] - most; over > 0 {
			target[t] = over
		}
	}
	return target
}

// GoString keeps the log of a failing property short: it draws the case itself.
func (c *EnforceCase) GoString() string { return "a case" }

// String draws a case, so that a failing one can be worked out on paper.
func (c *EnforceCase) String() string {
	var b strings.Builder
	b.WriteString(c.World.String())
	for _, name := range slices.Sorted(maps.Keys(c.Minimums)) {
		fmt.Fprintf(&b, "gang   %s keeps %d\n", name, c.Minimums[name])
	}
	for _, key := range slices.Sorted(maps.Keys(c.Refused)) {
		fmt.Fprintf(&b, "task   %s would not stop until %s\n", key, c.Refused[key].Format(time.TimeOnly))
	}
	fmt.Fprintf(&b, "now    %s\n", c.Now.Format(time.TimeOnly))
	fmt.Fprintf(&b, "quota  %s max %v, which is %v over", c.Queue, c.Max, c.Target())
	flag(&b, c.Exact, "exact")
	flag(&b, c.Order != "", c.Order)
	b.WriteString("\n")
	return b.String()
}
