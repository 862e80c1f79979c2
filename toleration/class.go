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

// A Class is what a priority class means for preemption. The zero Class is
// that of a task without one: it protects from nobody, it has not opted out,
// and it may preempt.
type Class struct {
	Name     string
	Value    int32
	Policy   Policy // of its tasks as victims
	OptedOut bool   // its tasks ask to be spared: allow-preemption is false
	MayNot   bool   // its tasks must not preempt others: the preemption policy is Never
}

// The kinds of problems with classes. They come wrapped in a [*ClassError].
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

// Classes resolves the names of priority classes. The zero value is ready and
// has none.
//
// Classes may be read by several goroutines at once, but not while they are
// changed.
type Classes struct {
	// StrictPriority says that victims have a strictly lower priority than
	// their preemptors, as the option of the planners does that these classes
	// serve. Only warnings go by it.
	StrictPriority bool

	byName map[string]registered
}

// registered is a class with what warnings go by.
type registered struct {
	class   Class
	written bool     // it has an annotation of a policy
	unknown []string // annotations under our prefix that mean nothing, sorted
}

// Set reads a class and registers it, in place of the one of its name if there
// is one. This is the one time that its annotations are parsed. The Config is
// not kept.
//
// The error is a [*ClassError], which wraps an [*AnnotationError] if an
// annotation is malformed. It leaves the classes as they were.
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

// Remove forgets a class. Policies that were looked up before stay what they
// are. An unknown name is a [*ClassError] of [ErrUnknown].
func (c *Classes) Remove(name string) error {
	if _, ok := c.byName[name]; !ok {
		return &ClassError{Class: name, Err: ErrUnknown}
	}
	delete(c.byName, name)
	return nil
}

// Lookup returns the class of a name: the zero Class for the empty one, which
// is that of a task without a class. An unknown name is a [*ClassError] of
// [ErrUnknown]. It is meant for when a task arrives; the policy of the class
// is then kept with the task.
func (c *Classes) Lookup(name string) (Class, error) {
	r, ok := c.byName[name]
	if !ok && name != "" {
		return Class{}, &ClassError{Class: name, Err: ErrUnknown}
	}
	return r.class, nil
}

// The annotations of a priority class that are read here. Those of a policy
// share AnnotationPrefix, under which other names are not known.
const (
	AnnotationPrefix = "preemption-toleration.scheduling.x-k8s.io/"

	// AnnotationMinimum is a decimal number of 32 bits.
	AnnotationMinimum = AnnotationPrefix + "minimum-preemptable-priority"
	// AnnotationSeconds is a decimal number of 64 bits.
	AnnotationSeconds = AnnotationPrefix + "toleration-seconds"
	// AnnotationAllowPreemption is true or false. It is YuniKorn's. If a class
	// does not allow preemption, its tasks have opted out: that is a strong
	// suggestion, and a policy is a promise.
	AnnotationAllowPreemption = "yunikorn.apache.org/allow-preemption"
)

// The kinds of malformed annotations. They come wrapped in an
// [*AnnotationError].
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

// ParseAnnotations returns the policy that the annotations of a priority class
// of the given value spell. An annotation that is absent is not set, and the
// zero seconds that follow protect nobody; one that is there and empty is
// malformed. Annotations with other names are ignored.
//
// The error is an [*AnnotationError], of the minimum first. Nothing is returned
// with it: a typing error must not pass for a class without a policy.
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

// The kinds of warnings. They come wrapped in a [*ClassError].
var (
	// ErrProtectsNobody: a policy was written down, and it cannot protect a task
	// that runs at the priority of its class.
	ErrProtectsNobody = errors.New("the policy protects nobody")
	// ErrUnknownAnnotation: a name under [AnnotationPrefix] means nothing,
	// and is probably misspelt.
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

// Warnings returns what is legal in the classes and hardly meant, sorted by
// the names of the classes. Each is a [*ClassError] of one of the kinds of
// warnings: policies that protect nobody, and then unknown annotations, sorted
// by name. Show them to the administrator when classes were read.
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
