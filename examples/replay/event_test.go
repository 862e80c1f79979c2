// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
)

func TestCalendar(t *testing.T) {
	var c calendar
	for _, e := range []event{{20, ends, 1}, {10, arrives, 2}, {10, matures, 0}, {10, arrives, 1}, {10, ends, 3}} {
		c.add(e)
	}
	take := func(at int64, kind eventKind, want int32, wantOK bool) {
		t.Helper()
		if pod, ok := c.take(at, kind); ok != wantOK || ok && pod != want {
			t.Errorf("take(%d, %d) = %d, %v; want %d, %v", at, kind, pod, ok, want, wantOK)
		}
	}
	take(10, arrives, 0, false) // something ends first
	take(20, ends, 0, false)    // something is earlier
	take(10, ends, 3, true)
	take(10, ends, 0, false)
	take(10, arrives, 1, true)
	take(10, arrives, 2, true)
	take(10, matures, 0, true)
	if got, want := c.first(), (event{20, ends, 1}); got != want || c.empty() {
		t.Errorf("%v is left, want %v", got, want)
	}
	take(20, ends, 1, true)
	if !c.empty() {
		t.Error("the calendar is not empty")
	}
	take(20, ends, 0, false)
}

// A calendar gives events out in order, in whatever order they are added.
func TestCalendarOrder(t *testing.T) { rapid.Check(t, calendarProperty) }

func FuzzCalendarOrder(f *testing.F) { f.Fuzz(rapid.MakeFuzz(calendarProperty)) }

func calendarProperty(t *rapid.T) {
	want := rapid.SliceOf(rapid.Custom(func(t *rapid.T) event {
		return event{
			at:   rapid.Int64Range(0, 5).Draw(t, "at"),
			kind: eventKind(rapid.IntRange(int(ends), int(matures)).Draw(t, "kind")),
			pod:  rapid.Int32Range(0, 5).Draw(t, "pod"),
		}
	})).Draw(t, "events")
	var c calendar
	for _, e := range want {
		c.add(e)
	}
	var got []event
	for !c.empty() {
		e := c.first()
		pod, ok := c.take(e.at, e.kind)
		if !ok || pod != e.pod {
			t.Fatalf("take = %d, %v where %v is first", pod, ok, e)
		}
		got = append(got, e)
	}
	// As the order reads: by time, kind, pod.
	slices.SortFunc(want, func(a, b event) int {
		key := func(e event) int64 { return e.at*1000 + int64(e.kind)*100 + int64(e.pod) }
		return int(key(a) - key(b))
	})
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(event{})); diff != "" && len(want) > 0 {
		t.Error(diff)
	}
}
