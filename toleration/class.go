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
	PreemptionPolicy string            // "Never", or "PreemptLowerPriority", which "" means too
	Annotations      map[string]string // others than those of the constants are ignored
}

// The preemption policies of a priority class, as Kubernetes spells them.
const (
	policyLower = "PreemptLowerPriority"
	policyNever = "Never"
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

// ErrUnknown: a class was never set.
var ErrUnknown = errors.New("unknown class")

// The other kinds of problems, and of warnings.
var (
	errName   = errors.New("empty name")
	errPolicy = errors.New("bad preemption policy")      // "never"
	errNumber = errors.New("not a whole number")         // "", " 600", "1.5", "1e3", "0x10", "10m"
	errRange  = errors.New("out of range")               // "2147483648" as a minimum
	errBool   = errors.New(`neither "true" nor "false"`) // "yes" for allow-preemption
	errUnread = errors.New("unknown annotation")         // probably misspelt
	errIdle   = errors.New("the policy protects nobody") // that runs at the priority of its class
)

// A Problem is something wrong with a class, or with one of its annotations.
type Problem struct {
	Class      string // the name; "" from ParseAnnotations
	Annotation string // its name, or ""
	Err        error

	text string // the value of the annotation as given
}

func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString("toleration: ")
	if p.Class != "" || p.Annotation == "" {
		fmt.Fprintf(&b, "class %q: ", p.Class)
	}
	if p.Annotation != "" {
		fmt.Fprintf(&b, "annotation %s: %q: ", p.Annotation, p.text)
	}
	return b.String() + p.Err.Error()
}

// Unwrap returns what is wrong, without class and annotation.
func (p *Problem) Unwrap() error { return p.Err }

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
// *[Problem] and changes nothing.
func (c *Classes) Set(config Config) error {
	r, err := register(config)
	if err != nil {
		p, ok := err.(*Problem)
		if !ok {
			p = &Problem{Err: err}
		}
		p.Class = config.Name
		return p
	}
	if c.byName == nil {
		c.byName = make(map[string]registered)
	}
	c.byName[config.Name] = r
	return nil
}

func register(config Config) (r registered, err error) {
	r.class = Class{Name: config.Name, Value: config.Value, MayNot: config.PreemptionPolicy == policyNever}
	if config.Name == "" {
		return r, errName
	}
	switch config.PreemptionPolicy {
	case "", policyLower, policyNever:
	default:
		return r, fmt.Errorf("%w: %q: want %s or %s", errPolicy,
			config.PreemptionPolicy, policyLower, policyNever)
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
		return &Problem{Class: name, Err: ErrUnknown}
	}
	delete(c.byName, name)
	return nil
}

// Lookup returns the class of a name, and the zero Class for "". An unknown name wraps
// [ErrUnknown].
func (c *Classes) Lookup(name string) (Class, error) {
	r, ok := c.byName[name]
	if !ok && name != "" {
		return Class{}, &Problem{Class: name, Err: ErrUnknown}
	}
	return r.class, nil
}

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

// ParseAnnotations returns the policy of a class of the given value. An empty annotation
// is malformed. Other names are ignored. The error is a *[Problem], of the minimum first.
func ParseAnnotations(value int32, annotations map[string]string) (Policy, error) {
	p := Policy{MinimumPreemptablePriority: defaultMinimum(value)}
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
		err = fmt.Errorf("%w: want %d to %d", errRange, -most-1, most)
	case err != nil:
		err = errNumber
	default:
		return n, nil
	}
	return 0, &Problem{Annotation: key, Err: err, text: text}
}

// parseOptedOut returns whether the tasks of a class have opted out.
func parseOptedOut(annotations map[string]string) (bool, error) {
	switch text, ok := annotations[AnnotationAllowPreemption]; {
	case !ok, text == "true":
		return false, nil
	case text == "false":
		return true, nil
	default:
		return false, &Problem{Annotation: AnnotationAllowPreemption, Err: errBool, text: text}
	}
}

// unknown reports whether an annotation has a name under our prefix that means
// nothing.
func unknown(key string) bool {
	return strings.HasPrefix(key, annotationPrefix) && key != AnnotationMinimum && key != AnnotationSeconds
}

// A Policy says which preemptors tasks of a class tolerate, and for how long. The zero
// Policy protects nobody.
type Policy struct {
	// MinimumPreemptablePriority is the least that is never tolerated.
	MinimumPreemptablePriority int32
	// TolerationSeconds is how long a task is protected from others, since it was
	// scheduled: 0 not at all, negative for ever.
	TolerationSeconds int64
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

// Until reports whether a task that was scheduled at an instant (zero: not yet) is exempt
// from a preemptor of a raw priority, and from when on it can be taken; zero is never.
// That may be past.
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

// Warnings returns what is legal and hardly meant, each a *[Problem], by name of class:
// policies that protect from nobody, then unknown annotations, by name, that begin as
// those of a policy do.
func (c *Classes) Warnings() []error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(c.byName)) {
		r := c.byName[name]
		if err := c.idle(&r); err != nil {
			all = append(all, &Problem{Class: name, Err: err})
		}
		for _, key := range r.unknown {
			all = append(all, &Problem{Class: name, Err: fmt.Errorf("%w: %q", errUnread, key)})
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
		return fmt.Errorf("%w: toleration-seconds is 0 or absent", errIdle)
	case int64(p.MinimumPreemptablePriority) <= lowest:
		return fmt.Errorf("%w: no preemptor of a task of priority %d is below the minimum %d",
			errIdle, value, p.MinimumPreemptablePriority)
	}
	return nil
}
