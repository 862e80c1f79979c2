package toleration

import (
	"errors"
	"fmt"
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
