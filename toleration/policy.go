package toleration

import (
	"fmt"
	"math"
	"time"
)

// A Policy says which preemptors the tasks of a priority class tolerate, and
// for how long: a preemptor below the minimum cannot take such a task until
// the seconds since it was scheduled are over.
//
// Nothing in it is optional, for a minimum that is not set is
// [DefaultMinimum], and seconds that are not set are 0. It is 16 bytes without
// a pointer, to be kept beside every task. The zero Policy protects nobody.
type Policy struct {
	// MinimumPreemptablePriority is the least priority of a preemptor that is
	// never tolerated.
	MinimumPreemptablePriority int32
	// TolerationSeconds is how long a task is protected from preemptors below
	// the minimum, counted from the instant at which it was scheduled. 0
	// protects nobody; a negative number protects for ever.
	TolerationSeconds int64
}

// DefaultMinimum is the minimum of a class that sets none: its value + 1, or
// its value if no priority is higher. The class then tolerates preemptors
// of its own priority and below.
func DefaultMinimum(value int32) int32 {
	if value == math.MaxInt32 {
		return value
	}
	return value + 1
}

// mostSeconds is the largest number of seconds that a time.Duration holds.
const mostSeconds = math.MaxInt64 / int64(time.Second)

// Until reports whether the policy exempts a task that was scheduled at an
// instant from preemption by a preemptor of a raw priority, and from which
// instant on it can be taken. The zero time is never.
//
// The instant is the end of a half-open interval: then the exemption is over.
// It may lie in the past, since Until does not know the present. More seconds
// than a [time.Duration] holds, which is some 292 years, are for ever. A task
// that is not scheduled yet is exempt from nobody, whatever the seconds; the
// zero time, and any before it, means not yet. A task that was scheduled in
// the future is exempt until the seconds from then are over.
//
// Until is what the exemption functions of planners return. The rules are in
// DESIGN.md, Toleration: policy.
func (p Policy) Until(scheduled time.Time, preemptor int32) (until time.Time, exempt bool) {
	switch {
	case p.TolerationSeconds == 0, preemptor >= p.MinimumPreemptablePriority, !scheduled.After(time.Time{}):
		return time.Time{}, false
	case p.TolerationSeconds < 0, p.TolerationSeconds > mostSeconds:
		return time.Time{}, true
	}
	until = scheduled.Add(time.Duration(p.TolerationSeconds) * time.Second)
	if !until.After(scheduled) { // Add stops at the last instant that a Time holds
		return time.Time{}, true
	}
	return until, true // not the zero time, for it is after scheduled
}

// Tolerates reports whether a task that was scheduled at an instant is exempt
// now from preemption by a preemptor of a raw priority; see [Policy.Until].
func (p Policy) Tolerates(scheduled time.Time, preemptor int32, now time.Time) bool {
	until, exempt := p.Until(scheduled, preemptor)
	return exempt && (until.IsZero() || now.Before(until))
}

// String returns the policy as a phrase: "tolerates priorities below 10000 for
// 600s", "tolerates priorities below 10000 for ever" or "tolerates nobody".
func (p Policy) String() string {
	switch {
	case p.TolerationSeconds == 0:
		return "tolerates nobody"
	case p.TolerationSeconds < 0, p.TolerationSeconds > mostSeconds:
		return fmt.Sprintf("tolerates priorities below %d for ever", p.MinimumPreemptablePriority)
	}
	return fmt.Sprintf("tolerates priorities below %d for %ds", p.MinimumPreemptablePriority, p.TolerationSeconds)
}
