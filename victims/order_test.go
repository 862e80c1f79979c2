// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A row has the traits of two tasks that are alike in all before, and the first is to be
// stopped first, whatever they have after.
func TestTraits_Compare(t *testing.T) {
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	share := func(amount, of int64) resources.Share { return resources.Share{Amount: amount, Of: of} }
	for _, test := range []struct {
		name          string
		first, second victims.Traits
	}{
		{"originators last", victims.Traits{Priority: 9, OptedOut: true, Key: "z"}, victims.Traits{Originator: true}},
		{"lower priority first", victims.Traits{Priority: -1 << 31, OptedOut: true}, victims.Traits{Priority: 1<<31 - 1}},
		{"opted-out last", victims.Traits{Share: share(1, 2)}, victims.Traits{OptedOut: true, Created: at(1)}},
		{"younger first", victims.Traits{Created: at(1), Share: share(1, 2)}, victims.Traits{Created: at(0)}},
		{"some time before never", victims.Traits{Created: at(1)}, victims.Traits{}},
		{"1900 before never", victims.Traits{Created: time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)}, victims.Traits{}},
		{"before the year 1, and before never", victims.Traits{Created: time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)}, victims.Traits{}},
		{"smaller first", victims.Traits{Share: share(1, 3), Key: "z"}, victims.Traits{Share: share(1, 2)}},
		{"nothing before something", victims.Traits{Key: "z"}, victims.Traits{Share: share(1, 100)}},
		{"by key", victims.Traits{Key: "t10"}, victims.Traits{Key: "t9"}},
		{"one instant in two places", victims.Traits{Created: now, Key: "a"}, victims.Traits{Created: now.In(time.FixedZone("", 3600)), Key: "b"}},
		{"one share in two ways", victims.Traits{Share: share(1, 2), Key: "a"}, victims.Traits{Share: share(2, 4), Key: "b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Negative(t, test.first.Compare(test.second))
			require.Positive(t, test.second.Compare(test.first))
			require.Zero(t, test.first.Compare(test.first))
			require.Zero(t, test.second.Compare(test.second))
		})
	}
}

// drawTraits draws traits of few different kinds, so that many are alike.
func drawTraits(t *rapid.T) victims.Traits {
	of := func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(t, label) }
	x := victims.Traits{
		Originator: of("originator", 2) == 1, Priority: int32(of("priority", 3)) - 1, OptedOut: of("opted out", 2) == 1,
		Share: resources.Share{Amount: int64(of("amount", 3)), Of: int64(of("of", 3))}, Key: string(rune('a' + of("key", 3))),
	}
	if of("created", 3) > 0 {
		x.Created = now.Add(time.Duration(of("minutes", 3)) * time.Minute)
	}
	return x
}

// Compare is a strict weak order: what it calls equal are classes, and among classes it is
// total.
func TestTraits_StrictWeak(t *testing.T) { rapid.Check(t, propertyTraits) }

func FuzzTraits(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyTraits))
}

func propertyTraits(t *rapid.T) {
	var all []victims.Traits
	for range 6 {
		all = append(all, drawTraits(t))
	}
	for _, a := range all {
		for _, b := range all {
			if a.Compare(b) != -b.Compare(a) {
				t.Fatalf("%+v and %+v compare as %d and %d", a, b, a.Compare(b), b.Compare(a))
			}
			for _, c := range all {
				if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) != min(a.Compare(b), b.Compare(c)) {
					t.Fatalf("not transitive over\n%+v\n%+v\n%+v", a, b, c)
				}
			}
		}
	}
}

// TestTask_Lost: the time since a task was scheduled, if it was.
func TestTask_Lost(t *testing.T) {
	first := time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC)
	last := time.Date(2250, 1, 1, 0, 0, 0, 0, time.UTC) // 550 years later, of which 133 are leap years
	for _, test := range []struct {
		name           string
		scheduled, now time.Time
		want           uint64
	}{
		{"an hour", last.Add(-time.Hour), last, uint64(time.Hour)},
		{"just now", last, last, 0},
		{"in the future", last.Add(1), last, 0},
		{"never", time.Time{}, last, 0},
		{"longer than a duration holds", first, last, uint64(550*365+133) * uint64(24*time.Hour)},
		{"beyond what a cluster holds", first.AddDate(-1000, 0, 0), last, 1<<63 - 1},
		{"and now is", first, last.AddDate(1000, 0, 0), 1<<63 - 1},
	} {
		task := victims.Task{Scheduled: test.scheduled}
		require.Equal(t, test.want, rulebook.Lost(task.Scheduled, task.Checkpoint, test.now), test.name)
	}
}
