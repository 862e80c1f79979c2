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

// A Config is a priority class as its author writes it down.
type Config struct {
	Name             string // not empty
	Value            int32
	PreemptionPolicy string            // PreemptLowerPriority, which "" means too, or PreemptNever
	Annotations      map[string]string // see the Annotation constants; others are ignored
}

// The preemption policies of a priority class, as Kubernetes spells them.
const (
	PreemptLowerPriority = "PreemptLowerPriority"
	PreemptNever         = "Never"
)

// A Class is what a priority class means for preemption. The zero Class is that of a
// task without one.
type Class struct {
	Name     string
	Value    int32
	Policy   Policy // of its tasks as victims
	OptedOut bool   // allow-preemption is false
	MayNot   bool   // its tasks must not preempt others
}

// The kinds of problems with classes, wrapped in a *[ClassError].
var (
	ErrName             = errors.New("empty name")
	ErrPreemptionPolicy = errors.New("bad preemption policy") // "never"
	ErrUnknown          = errors.New("unknown class")         // Lookup or Remove of a name that was never set
)

// A ClassError is a problem with one class.
type ClassError struct {
	Class string // the name
	Err   error  // wraps one of the kinds above, or is an *AnnotationError
}

func (e *ClassError) Error() string {
	err := e.Err
	if a, ok := errors.AsType[*AnnotationError](err); ok {
		return fmt.Sprintf("toleration: class %q: annotation %s: %q: %v", e.Class, a.Key, a.Text, a.Err)
	}
	return fmt.Sprintf("toleration: class %q: %v", e.Class, err)
}

// Unwrap returns what is wrong, without the class.
func (e *ClassError) Unwrap() error { return e.Err }

// Classes resolves the names of priority classes. The zero value has none.
type Classes struct {
	// StrictPriority is as in victims.Rules. Only warnings go by it.
	StrictPriority bool

	byName map[string]registered
}

// registered is a class with what warnings go by.
type registered struct {
	class   Class
	written bool     // it has an annotation of a policy
	unknown []string // annotations under our prefix that mean nothing, sorted
}

// Set reads a class and registers it, also in place of one of its name. The error is a
// *[ClassError] and changes nothing.
func (c *Classes) Set(config Config) error {
	r, err := register(config)
	if err != nil {
		return &ClassError{Class: config.Name, Err: err}
	}
	if c.byName == nil {
		c.byName = make(map[string]registered)
	}
	c.byName[config.Name] = r
	return nil
}

func register(config Config) (r registered, err error) {
	r.class = Class{Name: config.Name, Value: config.Value, MayNot: config.PreemptionPolicy == PreemptNever}
	if config.Name == "" {
		return r, ErrName
	}
	switch config.PreemptionPolicy {
	case "", PreemptLowerPriority, PreemptNever:
	default:
		return r, fmt.Errorf("%w: %q: want %s or %s", ErrPreemptionPolicy,
			config.PreemptionPolicy, PreemptLowerPriority, PreemptNever)
	}
	if r.class.Policy, err = ParseAnnotations(config.Value, config.Annotations); err != nil {
		return r, err
	}
	if r.class.OptedOut, err = parseOptedOut(config.Annotations); err != nil {
		return r, err
	}
	r.note(config.Annotations)
	return r, nil
}

// Remove forgets a class; policies that were looked up stay. An unknown name wraps
// [ErrUnknown].
func (c *Classes) Remove(name string) error {
	if _, ok := c.byName[name]; !ok {
		return &ClassError{Class: name, Err: ErrUnknown}
	}
	delete(c.byName, name)
	return nil
}

// Lookup returns the class of a name, and the zero Class for "". An unknown name wraps
// [ErrUnknown].
func (c *Classes) Lookup(name string) (Class, error) {
	r, ok := c.byName[name]
	if !ok && name != "" {
		return Class{}, &ClassError{Class: name, Err: ErrUnknown}
	}
	return r.class, nil
}

// The annotations of a priority class that are read.
const (
	AnnotationPrefix = "preemption-toleration.scheduling.x-k8s.io/"

	// AnnotationMinimum is a decimal number of 32 bits.
	AnnotationMinimum = AnnotationPrefix + "minimum-preemptable-priority"
	// AnnotationSeconds is a decimal number of 64 bits.
	AnnotationSeconds = AnnotationPrefix + "toleration-seconds"
	// AnnotationAllowPreemption is true or false, and YuniKorn's. If false, tasks have
	// opted out.
	AnnotationAllowPreemption = "yunikorn.apache.org/allow-preemption"
)

// The kinds of malformed annotations, wrapped in an *[AnnotationError].
var (
	ErrNumber = errors.New("not a whole number")         // "", " 600", "1.5", "1e3", "0x10", "10m"
	ErrRange  = errors.New("out of range")               // "2147483648" as a minimum
	ErrBool   = errors.New(`neither "true" nor "false"`) // "yes" for allow-preemption
)

// An AnnotationError is a problem with one annotation.
type AnnotationError struct {
	Key  string
	Text string // the value as given
	Err  error  // wraps one of the kinds above
}

func (e *AnnotationError) Error() string {
	return fmt.Sprintf("toleration: annotation %s: %q: %v", e.Key, e.Text, e.Err)
}

// Unwrap returns what is wrong, without key and text.
func (e *AnnotationError) Unwrap() error { return e.Err }

// ParseAnnotations returns the policy of a class of the given value. An absent
// annotation is not set; an empty one is malformed. Other names are ignored. The error
// is an *[AnnotationError], of the minimum first.
func ParseAnnotations(value int32, annotations map[string]string) (Policy, error) {
	p := Policy{MinimumPreemptablePriority: DefaultMinimum(value)}
	if text, ok := annotations[AnnotationMinimum]; ok {
		n, err := parseInt(AnnotationMinimum, text, 32)
		if err != nil {
			return Policy{}, err
		}
		p.MinimumPreemptablePriority = int32(n)
	}
	if text, ok := annotations[AnnotationSeconds]; ok {
		n, err := parseInt(AnnotationSeconds, text, 64)
		if err != nil {
			return Policy{}, err
		}
		p.TolerationSeconds = n
	}
	return p, nil
}

// parseInt reads a decimal number, with or without a sign.
func parseInt(key, text string, bits int) (int64, error) {
	n, err := strconv.ParseInt(text, 10, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		most := int64(math.MaxInt64) >> (64 - bits)
		err = fmt.Errorf("%w: want %d to %d", ErrRange, -most-1, most)
	case err != nil:
		err = ErrNumber
	default:
		return n, nil
	}
	return 0, &AnnotationError{Key: key, Text: text, Err: err}
}

// parseOptedOut returns whether the tasks of a class have opted out.
func parseOptedOut(annotations map[string]string) (bool, error) {
	switch text, ok := annotations[AnnotationAllowPreemption]; {
	case !ok, text == "true":
		return false, nil
	case text == "false":
		return true, nil
	default:
		return false, &AnnotationError{Key: AnnotationAllowPreemption, Text: text, Err: ErrBool}
	}
}

// unknown reports whether an annotation has a name under our prefix that means
// nothing.
func unknown(key string) bool {
	return strings.HasPrefix(key, AnnotationPrefix) && key != AnnotationMinimum && key != AnnotationSeconds
}

// A Policy says which preemptors tasks of a class tolerate, and for how long. The zero
// Policy protects nobody.
type Policy struct {
	// MinimumPreemptablePriority is the least priority of a preemptor that is never
	// tolerated.
	MinimumPreemptablePriority int32
	// TolerationSeconds is how long a task is protected from others, since it was
	// scheduled: 0 not at all, negative for ever.
	TolerationSeconds int64
}

// DefaultMinimum is the minimum of a class that sets none: its value + 1, or its value
// if that is the highest priority.
func DefaultMinimum(value int32) int32 {
	if value == math.MaxInt32 {
		return value
	}
	return value + 1
}

// mostSeconds is the largest number of seconds that a time.Duration holds.
const mostSeconds = math.MaxInt64 / int64(time.Second)

// Until reports whether a task that was scheduled at an instant (zero: not yet) is
// exempt from a preemptor of a raw priority, and from which instant on it can be
// taken; zero is never. That instant may lie in the past.
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

// Tolerates reports whether a task is exempt now; see [Policy.Until].
func (p Policy) Tolerates(scheduled time.Time, preemptor int32, now time.Time) bool {
	until, exempt := p.Until(scheduled, preemptor)
	return exempt && (until.IsZero() || now.Before(until))
}

// String returns the policy as in "tolerates priorities below 10000 for 600s", "...
// for ever" or "tolerates nobody".
func (p Policy) String() string {
	switch {
	case p.TolerationSeconds == 0:
		return "tolerates nobody"
	case p.TolerationSeconds < 0, p.TolerationSeconds > mostSeconds:
		return fmt.Sprintf("tolerates priorities below %d for ever", p.MinimumPreemptablePriority)
	}
	return fmt.Sprintf("tolerates priorities below %d for %ds", p.MinimumPreemptablePriority, p.TolerationSeconds)
}

// The kinds of warnings, wrapped in a *[ClassError].
var (
	// ErrProtectsNobody: a policy cannot protect a task that runs at the priority of
	// its class: it has no seconds, or its minimum is at or below the value (value + 1
	// if StrictPriority).
	ErrProtectsNobody = errors.New("the policy protects nobody")
	// ErrUnknownAnnotation: a name under [AnnotationPrefix] is probably misspelt.
	ErrUnknownAnnotation = errors.New("unknown annotation")
)

// note keeps what the warnings about a class go by.
func (r *registered) note(annotations map[string]string) {
	_, minimum := annotations[AnnotationMinimum]
	_, seconds := annotations[AnnotationSeconds]
	r.written = minimum || seconds
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if unknown(key) {
			r.unknown = append(r.unknown, key)
		}
	}
}

// Warnings returns what is legal and hardly meant, by name of class: policies that
// protect nobody, then unknown annotations by name.
func (c *Classes) Warnings() []error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(c.byName)) {
		r := c.byName[name]
		if err := c.idle(&r); err != nil {
			all = append(all, &ClassError{Class: name, Err: err})
		}
		for _, key := range r.unknown {
			all = append(all, &ClassError{Class: name, Err: fmt.Errorf("%w: %q", ErrUnknownAnnotation, key)})
		}
	}
	return all
}

// idle returns why the policy of a class cannot protect its tasks, or nil.
func (c *Classes) idle(r *registered) error {
	p, value := r.class.Policy, int64(r.class.Value)
	// The lowest priority that may take a task of the class at all.
	lowest := value
	if c.StrictPriority {
		lowest++
	}
	switch {
	case !r.written:
		return nil
	case p.TolerationSeconds == 0:
		return fmt.Errorf("%w: toleration-seconds is 0 or absent", ErrProtectsNobody)
	case int64(p.MinimumPreemptablePriority) <= lowest:
		return fmt.Errorf("%w: no preemptor of a task of priority %d is below the minimum %d",
			ErrProtectsNobody, value, p.MinimumPreemptablePriority)
	}
	return nil
}
