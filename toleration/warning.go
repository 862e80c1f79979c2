package toleration

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

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
