package queue

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/sat"
)

// policies are the parsed properties of one queue, inheritance applied.
type policies struct {
	preemption      PreemptionPolicy
	priority        PriorityPolicy
	disabled        bool
	dynamic         bool
	offset          int32
	weight          int32
	delay           time.Duration
	quotaPreemption time.Duration
}

// parse reads the properties of a queue. inherited are the policies of the queue
// above, nil for the root. Each bad value is a warning.
func (p *policies) parse(properties map[string]string, inherited *policies, warn func(error)) {
	p.delay = DefaultPreemptionDelay
	p.weight = 1
	if inherited != nil {
		p.delay = inherited.delay
		p.disabled = inherited.disabled
	}
	// Sorted, for the order of the warnings.
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		value := properties[key]
		if bad := p.set(key, value); bad != "" {
			warn(fmt.Errorf("%w: %s %q: %s", ErrProperty, plain.Name(key), value, bad))
		}
	}
	if inherited == nil { // a preemption policy has no effect on the root
		p.preemption, p.disabled = PreemptionDefault, false
	}
	if p.preemption == PreemptionFence && p.quotaPreemption > 0 {
		warn(fmt.Errorf("%w: the %s fence, when the max is enforced (%s %v)",
			ErrNoEffect, PropertyPreemptionPolicy, PropertyQuotaPreemptionDelay, p.quotaPreemption))
	}
}

// set sets one property and returns what is wrong with its value, or "". A bad
// value changes nothing, but for a bad delay: see [Tree.PreemptionDelay].
func (p *policies) set(key, value string) (bad string) {
	switch key {
	case PropertyPreemptionPolicy:
		policy, ok := spelled(value, PreemptionDisabled)
		if !ok {
			return "want default, fence or disabled"
		}
		p.preemption, p.disabled = policy, policy == PreemptionDisabled
	case PropertyPreemptionDelay:
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			p.delay = DefaultPreemptionDelay
			return "want a duration, 0 or above; it counts as 30s"
		}
		p.delay = d
	case PropertyPriorityPolicy:
		policy, ok := spelled(value, PriorityFence)
		if !ok {
			return "want default or fence"
		}
		p.priority = policy
	case PropertyPriorityOffset:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return "want a 32-bit integer"
		}
		p.offset = int32(n)
	case PropertyQuotaPreemptionDelay:
		d, ok := parseDelay(value)
		if !ok {
			return "want a duration or seconds, 0 or above"
		}
		p.quotaPreemption = d
	case PropertyFairWeight:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 1 {
			return "want an integer from 1 to 2147483647"
		}
		p.weight = int32(n)
	default:
		return unknown(key)
	}
	return ""
}

// unknown returns what is wrong with a name that is none of ours, or "".
// Queues carry the properties of other features, too. But a misspelt name of
// preemption would have no effect, and nobody would notice.
func unknown(key string) (bad string) {
	for _, prefix := range []string{"preemption.", "priority.", "quota.preemption.", "fair."} {
		if strings.HasPrefix(key, prefix) {
			return "unknown property"
		}
	}
	return ""
}

// spelled returns the policy, from the zero one to last, that value spells.
func spelled[P interface {
	~uint8
	fmt.Stringer
}](value string, last P) (P, bool) {
	for p := P(0); p <= last; p++ {
		if p.String() == value {
			return p, true
		}
	}
	return 0, false
}

// parseDelay reads a Go duration or bare seconds, 0 or above. More than a
// [time.Duration] can hold counts as the longest one: a delay that is far too
// long must not become none.
func parseDelay(value string) (time.Duration, bool) {
	const longest = math.MaxInt64
	seconds, err := strconv.ParseInt(value, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return longest, seconds > 0
	case err == nil:
		return time.Duration(sat.Mul(seconds, int64(time.Second))), seconds >= 0
	}
	d, err := time.ParseDuration(value)
	return d, err == nil && d >= 0
}
