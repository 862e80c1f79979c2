// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// A twin is a policy as the source design has it, with what may be absent, and
// the value of its class. It is written for reading, and calculates with
// numbers of any size.
type twin struct {
	value            int64
	minimum, seconds *big.Int
}

// tolerates reports whether a policy spares a task at an instant.
func tolerates(p Policy, scheduled time.Time, preemptor int32, now time.Time) bool {
	until, exempt := p.Until(scheduled, preemptor)
	return exempt && (until.IsZero() || now.Before(until))
}

// A moment is nanoseconds since 1970.
func moment(t time.Time) *big.Int {
	ns := big.NewInt(t.Unix())
	ns.Mul(ns, big.NewInt(int64(time.Second)))
	return ns.Add(ns, big.NewInt(int64(t.Nanosecond())))
}

// tolerates answers in the order of the sentences of DESIGN.md, Toleration: policy.
func (w *twin) tolerates(scheduled time.Time, preemptor int32, now time.Time) bool {
	minimum := big.NewInt(min(w.value+1, math.MaxInt32))
	if w.minimum != nil {
		minimum = w.minimum
	}
	switch {
	case big.NewInt(int64(preemptor)).Cmp(minimum) >= 0:
		return false // a preemptor at or above the minimum is never tolerated
	case w.seconds == nil || w.seconds.Sign() == 0:
		return false // no seconds, no toleration
	case scheduled.IsZero():
		return false // not yet scheduled: not protected at all
	case w.seconds.Sign() < 0:
		return true // for ever
	}
	length := new(big.Int).Mul(w.seconds, big.NewInt(int64(time.Second)))
	if !length.IsInt64() {
		return true // huge values are for ever
	}
	return moment(now).Cmp(length.Add(length, moment(scheduled))) < 0
}

// decimal is how whole numbers are written.
var decimal = regexp.MustCompile(`^[+-]?[0-9]+$`)

// parseTwin reads annotations, and whether they are well formed.
func parseTwin(value int32, annotations map[string]string) (w twin, ok bool) {
	w.value = int64(value)
	for _, a := range []struct {
		key  string
		bits uint
		to   **big.Int
	}{{AnnotationMinimum, 32, &w.minimum}, {AnnotationSeconds, 64, &w.seconds}} {
		text, there := annotations[a.key]
		if !there {
			continue
		}
		if !decimal.MatchString(text) {
			return twin{}, false
		}
		n, _ := new(big.Int).SetString(text, 10)
		most := new(big.Int).Lsh(big.NewInt(1), a.bits-1) // two's complement: [-most, most)
		if n.Cmp(new(big.Int).Neg(most)) < 0 || n.Cmp(most) >= 0 {
			return twin{}, false
		}
		*a.to = n
	}
	return w, true
}

// priorities are near the ends, near each other, or anything.
func priorities() *rapid.Generator[int32] {
	return rapid.OneOf(
		rapid.Int32Range(-3, 3),
		rapid.Int32Range(7_998, 8_002),
		rapid.Int32Range(math.MaxInt32-3, math.MaxInt32),
		rapid.Int32Range(math.MinInt32, math.MinInt32+3),
		rapid.Int32(),
	)
}

// seconds are few, at the edges of a Duration and of int64, or anything.
func seconds() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(-2, 5),
		rapid.Int64Range(mostSeconds-2, mostSeconds+2),
		rapid.Int64Range(math.MaxInt64-2, math.MaxInt64),
		rapid.Int64Range(math.MinInt64, math.MinInt64+2),
		rapid.Int64(),
	)
}

// numbers are texts that are numbers, or nearly.
func numbers() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Map(seconds(), func(n int64) string { return fmt.Sprint(n) }),
		rapid.Map(priorities(), func(n int32) string { return fmt.Sprint(n) }),
		rapid.StringMatching(`[+-]?0{0,2}[0-9]{1,20}`),
		rapid.StringMatching(`[+\- .e_x0-9]{0,5}`),
		rapid.SampledFrom(malformed),
		rapid.String(),
	)
}

// annotations are of a policy, most of the time.
func annotations() *rapid.Generator[map[string]string] {
	return rapid.MapOf(rapid.OneOf(
		rapid.SampledFrom([]string{AnnotationMinimum, AnnotationSeconds}),
		rapid.SampledFrom([]string{AnnotationMinimum, AnnotationSeconds, annotationPrefix, annotationPrefix + "seconds", "x"}),
	), numbers())
}

// instants are around a few, so that differences of some seconds are frequent,
// or anywhere in more years than a Duration has.
func instants() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		base := rapid.OneOf(
			rapid.SampledFrom([]int64{1_767_225_600, 0, -62_135_596_800, 1 << 40}),
			rapid.Int64Range(-1<<36, 1<<36),
		).Draw(t, "base")
		s := base + rapid.Int64Range(-5, 5).Draw(t, "seconds")
		ns := rapid.SampledFrom([]int64{0, 1, 2, 999_999_998, 999_999_999}).Draw(t, "nanoseconds")
		if at := time.Unix(s, ns); at.After(time.Time{}) {
			return at
		}
		return time.Time{}
	})
}

// picture writes annotations in one order.
func picture(annotations map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		fmt.Fprintf(&b, "%s: %q\n", key, annotations[key])
	}
	return b.String()
}
