// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

func TestTimingEndWithoutRun(t *testing.T) {
	s := newTimingScript(t)
	s.act(t, "0s use x gpu=8")
	s.act(t, "0s set x max gpu=5 delay 10m")
	x := timingQueue(t, s.tree, "x")
	for _, stage := range []string{"9m due -> none", "10m due -> x"} {
		s.act(t, stage)
		before := s.timing.String()
		err := s.timing.End(x, timingEpoch.Add(time.Hour))
		require.ErrorIs(t, err, errNotRunning)
		require.EqualError(t, err, "quota: root.p.x: no run to end")
		require.Equal(t, before, s.timing.String())
	}
	s.act(t, "10m begin -> x")
	s.act(t, "10m end x")
	require.ErrorIs(t, s.timing.End(x, timingEpoch), errNotRunning)
	s.act(t, "0s next -> 20m0s") // and no error told an instant
}

// TestTimingPanics: no cluster, and an ID that its tree does not have, are bugs of the caller.
func TestTimingPanics(t *testing.T) {
	require.PanicsWithValue(t, "quota: Timing without a Cluster (nil): see victims.NewCluster", func() { new(Timing).Observe(timingEpoch) })
	timing := newTimingScript(t).timing
	for _, q := range []queue.ID{-1, 9} {
		require.Panics(t, func() { _ = timing.End(q, timingEpoch) })
		require.Panics(t, func() { timing.Running(q) })
		require.Panics(t, func() { timing.deadlineOf(q) })
	}
}

// TestTimingEndsOfTime: no sum of an instant and a delay wraps, and no clock is
// cut short.
func TestTimingEndsOfTime(t *testing.T) {
	const forEver = time.Duration(math.MaxInt64) // 292 years
	// The last second of a time.Time. The seconds of one count from the year 1.
	last := time.Unix(math.MaxInt64-62135596800, 0)
	var zero time.Time
	for _, test := range []struct {
		name  string
		now   time.Time
		delay time.Duration
		end   string // "" for a clock that does not end
	}{
		{"now", timingEpoch, forEver, "2318-04-12T23:47:16.854775807Z"},
		{"a nanosecond", timingEpoch, 1, "2026-01-01T00:00:00.000000001Z"},
		{"the end of int64", time.Unix(0, math.MaxInt64), forEver, "2554-07-21T23:34:33.709551614Z"},
		{"the zero time", zero, forEver, "0293-04-11T23:47:16.854775807Z"},
		{"before the zero time", zero.AddDate(-1000, 0, 0), time.Second, "0001-01-01T00:00:01Z"},
		{"the last second", last, time.Nanosecond, last.Add(1).UTC().Format(time.RFC3339Nano)},
		{"past the last second", last, time.Second, ""},
		{"into the last second", last.Add(-time.Minute), time.Minute, last.UTC().Format(time.RFC3339Nano)},
		{"long past it", last.Add(-time.Minute), forEver, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newTimingScript(t)
			s.act(t, "0s use x gpu=8")
			x := timingQueue(t, s.tree, "x")
			max := resources.Limit{Value: resources.Vector{5}, Defined: 1}
			tell(t, s.tree, x, max, test.delay)
			s.timing.Observe(test.now)
			require.Empty(t, s.timing.allDue(nil, test.now))

			end, ok := s.timing.deadlineOf(x)
			next, some := s.timing.Next()
			require.Equal(t, end, next)
			require.Equal(t, ok, some)
			if test.end == "" {
				require.False(t, ok)
				require.Equal(t, "root.p.x  waits for ever\n", s.timing.String())
				require.Empty(t, s.timing.allDue(nil, last.Add(time.Second-1)))
				return
			}
			require.True(t, ok)
			require.Equal(t, test.end, end.Format(time.RFC3339Nano))
			require.Empty(t, s.timing.allDue(nil, end.Add(-1)))
			require.Equal(t, []queue.ID{x}, s.timing.allDue(nil, end))
		})
	}
}

// TestTimingReadsWallTime: the monotonic part and the place of an instant play
// no part.
func TestTimingReadsWallTime(t *testing.T) {
	s := newTimingScript(t)
	s.act(t, "0s use x gpu=8")
	x := timingQueue(t, s.tree, "x")
	max := resources.Limit{Value: resources.Vector{5}, Defined: 1}
	now := time.Now().In(time.FixedZone("", 3600)) // has a monotonic part
	tell(t, s.tree, x, max, time.Minute)
	s.timing.Observe(now)
	end, ok := s.timing.deadlineOf(x)
	require.True(t, ok)
	require.Equal(t, now.Round(0).UTC().Add(time.Minute), end)
	require.Equal(t, []queue.ID{x}, s.timing.allDue(nil, end.Local()))
}

// TestTimingAppends: the destination is kept.
func TestTimingAppends(t *testing.T) {
	s := newTimingScript(t)
	s.act(t, "0s use x gpu=8")
	s.act(t, "0s set x max gpu=5 delay 10m")
	x := timingQueue(t, s.tree, "x")
	require.Equal(t, []queue.ID{7, x}, s.timing.allDue([]queue.ID{7}, timingEpoch.Add(time.Hour)))
}

func TestTimingPicture(t *testing.T) {
	s := newTimingScript(t)
	require.Empty(t, s.timing.String())
	for line := range strings.Lines(`
		0s     use x gpu=8
		0s     use y gpu=8
		0s     set p max gpu=5 delay 5m
		0s     set x max gpu=5 delay 6m
		0s     set y max gpu=5 delay 7m
		0s     set b max gpu=5 delay 1h0.5s
		5m     begin -> p
		6m30s  due -> none
	`) {
		if strings.TrimSpace(line) != "" {
			s.act(t, line)
		}
	}
	require.Equal(t, `root.p      running
root.p.x    due since 2026-01-01T00:06:00Z, after the run of root.p
root.p.q.y  waits until 2026-01-01T00:07:00Z
root.b      waits until 2026-01-01T01:00:00.5Z
`, s.timing.String())
	s.act(t, "7m end p")
	s.act(t, "7m due -> y x")
	require.Equal(t, `root.p      waits until 2026-01-01T00:12:00Z
root.p.x    due since 2026-01-01T00:06:00Z
root.p.q.y  due since 2026-01-01T00:07:00Z
root.b      waits until 2026-01-01T01:00:00.5Z
`, s.timing.String())
}

// TestTimingPictureQuotes: a name can't break a line.
func TestTimingPictureQuotes(t *testing.T) {
	timing, tree := timed(t, []string{"gpu"}, queue.Config{Name: "ro\not"})
	tell(t, tree, queue.Root, resources.Limit{}, time.Minute)
	timing.Observe(timingEpoch)
	require.Equal(t, `"ro\not"  waits until 2026-01-01T00:01:00Z`+"\n", timing.String())
}

// TestTimingNoAllocs: what a host calls again and again allocates nothing.
func TestTimingNoAllocs(t *testing.T) {
	s := newTimingScript(t)
	s.act(t, "0s use x gpu=8")
	s.act(t, "0s use b gpu=8")
	s.act(t, "0s set b max gpu=5 delay 10m")
	x := timingQueue(t, s.tree, "x")
	tell(t, s.tree, x, resources.Limit{Value: resources.Vector{5}, Defined: 1}, time.Minute)
	dst := make([]queue.ID, 0, s.tree.Len())
	now := timingEpoch.Add(time.Hour)
	observe := func(gpu int64) bool {
		s.tree.Max(x).Value[0] = gpu
		s.timing.Observe(now)
		return s.timing.maxOf(x).Value[0] == gpu
	}
	for _, test := range []struct {
		name string
		f    func() bool
	}{
		{"Observe", func() bool { return observe(5) && observe(6) }},
		{"all due", func() bool { return len(s.timing.allDue(dst, now)) == 1 }},
		{"Next", func() bool { _, ok := s.timing.Next(); return ok }},
		{"Deadline", func() bool { _, ok := s.timing.deadlineOf(x); return !ok }},
		{"Running", func() bool { return !s.timing.Running(x) }},
		{"Due End", func() bool {
			now = now.Add(time.Hour)
			for q := range s.timing.Due(now) {
				return s.timing.End(q, now) == nil
			}
			return false
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			right := true
			n := testing.AllocsPerRun(100, func() { right = right && test.f() })
			require.True(t, right)
			require.Zero(t, n)
		})
	}
}
