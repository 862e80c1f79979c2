// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const annotationPrefix = "preemption-toleration.scheduling.x-k8s.io/"

// The annotations of a priority class that are read.
const (
	// AnnotationMinimum is a decimal number of 32 bits.
	AnnotationMinimum = annotationPrefix + "minimum-preemptable-priority"
	// AnnotationSeconds is a decimal number of 64 bits.
	AnnotationSeconds = annotationPrefix + "toleration-seconds"
	// AnnotationAllowPreemption is true or false, and YuniKorn's. If false, tasks have
	// opted out.
	AnnotationAllowPreemption = "yunikorn.apache.org/allow-preemption"
)

// The preemption policies of a priority class, as Kubernetes spells them.
const (
	policyLower = "PreemptLowerPriority"
	policyNever = "Never"
)

// A PriorityClass is one as its author writes it down.
type PriorityClass struct {
	Name             string // not empty
	Value            int32
	PreemptionPolicy string            // "Never", or "PreemptLowerPriority", which "" means too
	Annotations      map[string]string // others than those of the constants are ignored
}

// A Class is what a priority class means; zero: no class.
type Class struct {
	Priority      int32
	Policy        Policy // of its tasks as victims
	OptedOut      bool   // of its tasks: allow-preemption is false
	MayNotPreempt bool   // of its asks
	// Warnings are a policy that protects nobody, then unknown annotations, by name, that begin as those of a
	// policy do.
	Warnings []error
}

// What may be wrong with a class, and what is worth a warning.
var (
	errName   = errors.New("empty name")
	errPolicy = errors.New("bad preemption policy")      // "never"
	errNumber = errors.New("not a whole number")         // "", " 600", "1.5", "1e3", "0x10", "10m"
	errRange  = errors.New("out of range")               // "2147483648" as a minimum
	errBool   = errors.New(`neither "true" nor "false"`) // "yes" for allow-preemption
	errUnread = errors.New("unknown annotation")         // probably misspelt
	errIdle   = errors.New("the policy protects nobody") // that runs at the priority of its class
)

// Parse reads a priority class. The error names the class, the annotation (the minimum first) and its text;
// errors.Unwrap gives what is wrong alone. An empty annotation is malformed.
func Parse(c PriorityClass) (Class, error) {
	class := Class{Priority: c.Value, MayNotPreempt: c.PreemptionPolicy == policyNever}
	class.Policy.MinimumPreemptablePriority = defaultMinimum(c.Value)
	if c.Name == "" {
		return Class{}, c.problem(errName)
	}
	switch c.PreemptionPolicy {
	case "", policyLower, policyNever:
	default:
		return Class{}, c.problem(fmt.Errorf("%w: %q: want %s or %s", errPolicy, c.PreemptionPolicy, policyLower, policyNever))
	}
	for _, key := range []string{AnnotationMinimum, AnnotationSeconds, AnnotationAllowPreemption} {
		if text, ok := c.Annotations[key]; ok {
			if err := class.set(key, text); err != nil {
				return Class{}, fmt.Errorf("toleration: class %q: annotation %s: %q: %w", c.Name, key, text, err)
			}
		}
	}
	class.warn(&c)
	return class, nil
}

func (c *PriorityClass) problem(err error) error {
	return fmt.Errorf("toleration: class %q: %w", c.Name, err)
}

// set reads one annotation.
func (c *Class) set(key, text string) error {
	switch key {
	case AnnotationMinimum:
		n, err := parseInt(text, 32)
		c.Policy.MinimumPreemptablePriority = int32(n)
		return err
	case AnnotationSeconds:
		n, err := parseInt(text, 64)
		c.Policy.Seconds = n
		return err
	}
	c.OptedOut = text == "false"
	if text != "true" && text != "false" {
		return errBool
	}
	return nil
}

// parseInt reads a decimal number, with or without a sign.
func parseInt(text string, bits int) (int64, error) {
	n, err := strconv.ParseInt(text, 10, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		most := int64(math.MaxInt64) >> (64 - bits)
		return 0, fmt.Errorf("%w: want %d to %d", errRange, -most-1, most)
	case err != nil:
		return 0, errNumber
	}
	return n, nil
}

// warn adds the warnings of a class that is read.
func (c *Class) warn(as *PriorityClass) {
	if err := c.idle(as); err != nil {
		c.Warnings = append(c.Warnings, as.problem(err))
	}
	for _, key := range slices.Sorted(maps.Keys(as.Annotations)) {
		if strings.HasPrefix(key, annotationPrefix) && key != AnnotationMinimum && key != AnnotationSeconds {
			c.Warnings = append(c.Warnings, as.problem(fmt.Errorf("%w: %q", errUnread, key)))
		}
	}
}

// idle returns why the policy of a class cannot protect its tasks, or nil.
func (c *Class) idle(as *PriorityClass) error {
	_, minimum := as.Annotations[AnnotationMinimum]
	_, seconds := as.Annotations[AnnotationSeconds]
	switch {
	case !minimum && !seconds:
		return nil
	case c.Policy.Seconds == 0:
		return fmt.Errorf("%w: toleration-seconds is 0 or absent", errIdle)
	case c.Policy.MinimumPreemptablePriority <= c.Priority:
		return fmt.Errorf("%w: no preemptor of a task of priority %d is below the minimum %d",
			errIdle, c.Priority, c.Policy.MinimumPreemptablePriority)
	}
	return nil
}

// A Policy says which preemptors spare tasks, and for how long. The zero Policy protects nobody.
type Policy struct {
	// MinimumPreemptablePriority is the least raw priority of a preemptor that need not spare them.
	MinimumPreemptablePriority int32
	// Seconds is how long others spare a task, since it was scheduled: 0 not at all, negative for ever.
	Seconds int64
}

// defaultMinimum is the minimum of a class that sets none: its value + 1, or its value
// if that is the highest priority.
func defaultMinimum(value int32) int32 {
	if value == math.MaxInt32 {
		return value
	}
	return value + 1
}

// mostSeconds is the largest number of seconds that a time.Duration holds.
const mostSeconds = math.MaxInt64 / int64(time.Second)

// Until reports whether a task that was scheduled at an instant (zero: not yet) is spared by a preemptor of a raw
// priority, and until when; zero: it never ends. At the end itself, which may be past, the task can be taken.
func (p Policy) Until(scheduled time.Time, preemptor int32) (until time.Time, exempt bool) {
	switch {
	case p.Seconds == 0, preemptor >= p.MinimumPreemptablePriority, !scheduled.After(time.Time{}):
		return time.Time{}, false
	case p.Seconds < 0, p.Seconds > mostSeconds:
		return time.Time{}, true
	}
	until = scheduled.Add(time.Duration(p.Seconds) * time.Second)
	if !until.After(scheduled) { // Add stops at the last instant that a Time holds
		return time.Time{}, true
	}
	return until, true // not the zero time, for it is after scheduled
}

// String returns the policy as in "tolerates priorities below 10000 for 600s", "... for ever" or "tolerates
// nobody".
func (p Policy) String() string {
	switch {
	case p.Seconds == 0:
		return "tolerates nobody"
	case p.Seconds < 0, p.Seconds > mostSeconds:
		return fmt.Sprintf("tolerates priorities below %d for ever", p.MinimumPreemptablePriority)
	}
	return fmt.Sprintf("tolerates priorities below %d for %ds", p.MinimumPreemptablePriority, p.Seconds)
}
