package toleration

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

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
