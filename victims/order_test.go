// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// orderCapacity has none of the third type.
var orderCapacity = resources.Vector{8, 100, 0}

type orderOf = func(a, b *victims.Task) int

var (
	byOptedOut   = victims.ByFlag(func(t *victims.Task) bool { return t.OptedOut })
	byOriginator = victims.ByFlag(func(t *victims.Task) bool { return t.Originator })
	byPriority   = victims.By(func(t *victims.Task) int32 { return t.Priority })
	byCreated    = victims.ByTime(func(t *victims.Task) time.Time { return t.Created })
	bySize       = victims.BySize(func(t *victims.Task) resources.Vector { return t.Size }, orderCapacity)
	byKey        = victims.By(func(t *victims.Task) string { return t.Key })
)

// orders are all orders of tasks, and a few compositions.
var orders = []struct {
	name  string
	order orderOf
	total bool // 0 for a task and itself only
}{
	{"ByFlag", byOptedOut, false},
	{"By number", byPriority, false},
	{"ByTime", byCreated, false},
	{"BySize", bySize, false},
	{"By key", byKey, true},
	{"Reverse", victims.Reverse(byCreated), false},
	{"Then of none", victims.Then[*victims.Task](), false},
	{"Then of two", victims.Then(byPriority, bySize), false},
	{"Then of all", victims.Then(byOriginator, byPriority, byOptedOut, byCreated, bySize, byKey), true},
	{"Then of Then", victims.Then(victims.Then(byCreated), victims.Then(byPriority, byKey)), true},
}

// A row has two tasks, and the first is to be stopped first.
func TestOrders(t *testing.T) {
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	tests := []struct {
		name          string
		order         orderOf
		first, second victims.Task
	}{
		{"false before true", byOptedOut, victims.Task{Priority: 9}, victims.Task{OptedOut: true}},
		{"lower priority first", byPriority, victims.Task{Priority: -1 << 31}, victims.Task{Priority: 1<<31 - 1}},
		{"later first", byCreated, victims.Task{Created: at(1)}, victims.Task{Created: at(0)}},
		{"some time before never", byCreated, victims.Task{Created: at(1)}, victims.Task{}},
		{"1900 before never", byCreated, victims.Task{Created: time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)}, victims.Task{}},
		{"before the year 1, and before never", byCreated, victims.Task{Created: time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)}, victims.Task{}},
		{"smaller first", bySize, victims.Task{Size: resources.Vector{1}}, victims.Task{Size: resources.Vector{2}}},
		{"by dominant share", bySize, victims.Task{Size: resources.Vector{3, 10}}, victims.Task{Size: resources.Vector{1, 50}}},
		{"nothing before something", bySize, victims.Task{}, victims.Task{Size: resources.Vector{0, 1}}},
		{"without capacity it is a lot", bySize, victims.Task{Size: resources.Vector{16}}, victims.Task{Size: resources.Vector{0, 0, 3}}},
		{"by key", byKey, victims.Task{Key: "t10"}, victims.Task{Key: "t9"}},
		{"reversed", victims.Reverse(byKey), victims.Task{Key: "t9"}, victims.Task{Key: "t10"}},
		{"then: the first order decides", victims.Then(byPriority, byKey),
			victims.Task{Key: "b", Priority: 1}, victims.Task{Key: "a", Priority: 2}},
		{"then: the next if it has no opinion", victims.Then(byPriority, byKey),
			victims.Task{Key: "a", Priority: 1}, victims.Task{Key: "b", Priority: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Negative(t, test.order(&test.first, &test.second))
			require.Positive(t, test.order(&test.second, &test.first))
		})
	}
}

// If tasks are alike, there is no opinion.
func TestOrders_Equal(t *testing.T) {
	tests := []struct {
		name  string
		order orderOf
		a, b  victims.Task
	}{
		{"one instant in two places", byCreated, victims.Task{Created: now}, victims.Task{Created: now.In(time.FixedZone("", 3600))}},
		{"neither has a time", byCreated, victims.Task{Key: "a"}, victims.Task{Key: "b"}},
		{"the same share of another type", bySize, victims.Task{Size: resources.Vector{4}}, victims.Task{Size: resources.Vector{0, 50}}},
		{"only what dominates counts", bySize, victims.Task{Size: resources.Vector{4, 1}}, victims.Task{Size: resources.Vector{4, 49}}},
		{"no orders", victims.Then[*victims.Task](), victims.Task{Key: "a"}, victims.Task{Key: "b"}},
		{"priority is all that counts", byPriority, victims.Task{Key: "a", OptedOut: true}, victims.Task{Key: "b", Originator: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Zero(t, test.order(&test.a, &test.b))
			require.Zero(t, test.order(&test.b, &test.a))
		})
	}
}

// drawOrderTask draws a task of few different kinds, so that many are alike.
func drawOrderTask(t *rapid.T, i int) victims.Task {
	of := func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(t, label) }
	when := func(label string) time.Time {
		if of(label, 3) == 0 {
			return time.Time{}
		}
		return now.Add(time.Duration(of(label, 3)) * time.Minute)
	}
	task := victims.Task{
		Key:     fmt.Sprintf("t%d", i*7%10),
		Created: when("created"), Scheduled: when("scheduled"),
		Priority: int32(of("priority", 3)) - 1,
		OptedOut: of("opted out", 2) == 1, Originator: of("originator", 2) == 1,
	}
	for range of("types", 4) {
		task.Size = append(task.Size, int64(of("amount", 3)))
	}
	return task
}

// Every order is a strict weak order: what it calls equal are classes, and
// among classes it is total.
func TestOrders_StrictWeak(t *testing.T) { rapid.Check(t, propertyOrders) }

func FuzzOrders(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyOrders))
}

func propertyOrders(t *rapid.T) {
	var tasks []victims.Task
	for i := range 6 {
		tasks = append(tasks, drawOrderTask(t, i))
	}
	for _, o := range orders {
		sign := func(a, b *victims.Task) int { return min(max(o.order(a, b), -1), 1) }
		for i := range tasks {
			a := &tasks[i]
			if sign(a, a) != 0 {
				t.Fatalf("%s: %+v is not equal to itself", o.name, *a)
			}
			for j := range tasks {
				b := &tasks[j]
				if sign(a, b) != -sign(b, a) {
					t.Fatalf("%s: %+v and %+v compare as %d and %d", o.name, *a, *b, sign(a, b), sign(b, a))
				}
				if o.total && i != j && sign(a, b) == 0 {
					t.Fatalf("%s: %+v and %+v are equal", o.name, *a, *b)
				}
				for k := range tasks {
					c := &tasks[k]
					if sign(a, b) <= 0 && sign(b, c) <= 0 && sign(a, c) != min(sign(a, b), sign(b, c)) {
						t.Fatalf("%s: not transitive over\n%+v\n%+v\n%+v", o.name, *a, *b, *c)
					}
				}
			}
		}
	}
}

// Then is the lexical order of its parts.
func TestThen_IsLexical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawOrderTask(t, 0), drawOrderTask(t, 1)
		var parts []orderOf
		want := 0
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			o := orders[rapid.IntRange(0, len(orders)-1).Draw(t, "order")].order
			parts = append(parts, o)
			if want == 0 {
				want = o(&a, &b)
			}
		}
		if got := victims.Then(parts...)(&a, &b); got != want {
			t.Fatalf("%d, want %d: %+v %+v", got, want, a, b)
		}
	})
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
		require.Equal(t, test.want, task.Lost(test.now), test.name)
	}
}
