// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	placed = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) // when the task was scheduled
	never  = time.Time{}                                  // not yet, or for ever
)

const century = 100 * 365 * 24 * time.Hour

// The class is worth 8000, and only priorities from 10000 on may take its tasks
// before their time.
func TestPolicy_Seconds(t *testing.T) {
	for _, test := range []struct {
		name    string
		seconds int64
		after   time.Duration // since the task was scheduled
		want    bool          // tolerates priority 9999
	}{
		{"zero, at once", 0, 0, false},
		{"zero, later", 0, time.Second, false},
		{"zero, before it was scheduled", 0, -1, false},
		{"one, at once", 1, 0, true},
		{"one, a nanosecond before the end", 1, time.Second - 1, true},
		{"one, the exact end", 1, time.Second, false},
		{"one, a nanosecond after", 1, time.Second + 1, false},
		{"600, at once", 600, 0, true},
		{"600, a nanosecond before the end", 600, 10*time.Minute - 1, true},
		{"600, the exact end", 600, 10 * time.Minute, false},
		{"600, a nanosecond after", 600, 10*time.Minute + 1, false},
		{"600, a century after", 600, century, false},
		{"600, scheduled in an hour", 600, -time.Hour, true},
		{"negative, at once", -1, 0, true},
		{"negative, a century after", -1, century, true},
		{"negative, scheduled in an hour", -1, -time.Hour, true},
		{"the most negative", math.MinInt64, century, true},
		{"292 years, a century after", 9_223_372_036, century, true},
		{"292 years, the last nanosecond", 9_223_372_036, 9_223_372_036*time.Second - 1, true},
		{"292 years, the end", 9_223_372_036, 9_223_372_036 * time.Second, false},
		{"a second more, 292 years after", 9_223_372_037, math.MaxInt64, true},
		{"wraps to 2 as nanoseconds", 1 << 55, century, true},
		{"wraps to less than a second as nanoseconds", 18_446_744_074, century, true},
		{"the largest", math.MaxInt64, math.MaxInt64, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := Policy{MinimumPreemptablePriority: 10_000, Seconds: test.seconds}
			require.Equal(t, test.want, tolerates(p, placed, 9999, placed.Add(test.after)))
			require.False(t, tolerates(p, placed, 10_000, placed.Add(test.after)), "at the minimum")
			require.False(t, tolerates(p, never, 9999, placed.Add(test.after)), "not scheduled yet")
		})
	}
}

func TestPolicy_Minimum(t *testing.T) {
	const least, most = math.MinInt32, math.MaxInt32
	for _, test := range []struct {
		minimum, preemptor int32
		want               bool
	}{
		{10_000, 9_999, true},
		{10_000, 10_000, false},
		{10_000, 10_001, false},
		{10_000, most, false},
		{10_000, least, true},
		{0, -1, true},
		{0, 0, false},
		{-5, -6, true},
		{-5, -5, false},
		{most, most - 1, true},
		{most, most, false},
		{least, least, false},
		{least, most, false},
	} {
		for _, seconds := range []int64{600, -1, math.MaxInt64} {
			p := Policy{test.minimum, seconds}
			require.Equal(t, test.want, tolerates(p, placed, test.preemptor, placed), "%v: %d", p, test.preemptor)
		}
	}
}

// Until tells the end, and for ever by the zero time.
func TestPolicy_Until(t *testing.T) {
	early := time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC) // the first instant that is one
	last := time.Unix(1<<62, 999_999_999)
	for _, test := range []struct {
		name      string
		policy    Policy
		scheduled time.Time
		until     time.Time
		exempt    bool
	}{
		{"no policy", Policy{}, placed, never, false},
		{"for a while", Policy{9, 600}, placed, placed.Add(10 * time.Minute), true},
		{"ended long ago", Policy{9, 600}, time.Unix(0, 0), time.Unix(600, 0), true},
		{"before 1970", Policy{9, 600}, time.Unix(-601, 5), time.Unix(-1, 5), true},
		{"for ever", Policy{9, -600}, placed, never, true},
		{"most seconds that are not for ever", Policy{9, 9_223_372_036}, placed,
			time.Date(2318, 4, 13, 11, 47, 16, 0, time.UTC), true},
		{"huge", Policy{9, 9_223_372_037}, placed, never, true},
		{"at the minimum", Policy{8, -1}, placed, never, false},
		{"not scheduled yet", Policy{9, 600}, never, never, false},
		{"not scheduled yet, for ever", Policy{9, -1}, never, never, false},
		{"before all time", Policy{9, 600}, never.Add(-time.Second), never, false},
		{"ten minutes before all time", Policy{9, 600}, never.Add(-10 * time.Minute), never, false},
		{"the first instant", Policy{9, 600}, early, early.Add(10 * time.Minute), true},
		{"far in the future", Policy{9, 600}, last, last.Add(10 * time.Minute), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			until, exempt := test.policy.Until(test.scheduled, 8)
			require.Equal(t, test.exempt, exempt)
			require.True(t, test.until.Equal(until), "until %v, want %v", until, test.until)
		})
	}
}

// The end of time is not wrapped around: who is scheduled there is protected.
func TestPolicy_EndOfTime(t *testing.T) {
	for _, seconds := range []int64{1, 600, 9_223_372_036} {
		for _, before := range []time.Duration{1, time.Second, time.Hour, math.MaxInt64} {
			p := Policy{9, seconds}
			scheduled := endOfTime().Add(-before)
			require.True(t, tolerates(p, scheduled, 8, scheduled), "%d seconds, %v before the end", seconds, before)
		}
	}
}

// endOfTime is the last instant that a Time can hold. It counts seconds from
// the zero time, and Unix from 1970.
func endOfTime() time.Time { return time.Unix(math.MaxInt64+time.Time{}.Unix(), 999_999_999) }

func TestDefaultMinimum(t *testing.T) {
	for _, test := range []struct{ value, want int32 }{
		{8000, 8001}, {0, 1}, {-1, 0}, {-10, -9},
		{math.MaxInt32 - 1, math.MaxInt32}, {math.MaxInt32, math.MaxInt32}, {math.MinInt32, math.MinInt32 + 1},
	} {
		require.Equal(t, test.want, defaultMinimum(test.value))
	}
}

func TestPolicy_String(t *testing.T) {
	for _, test := range []struct {
		policy Policy
		want   string
	}{
		{Policy{}, "tolerates nobody"},
		{Policy{MinimumPreemptablePriority: 5}, "tolerates nobody"},
		{Policy{-5, 600}, "tolerates priorities below -5 for 600s"},
		{Policy{10_000, 9_223_372_036}, "tolerates priorities below 10000 for 9223372036s"},
		{Policy{10_000, 9_223_372_037}, "tolerates priorities below 10000 for ever"},
		{Policy{10_000, -1}, "tolerates priorities below 10000 for ever"},
	} {
		require.Equal(t, test.want, test.policy.String())
	}
}
