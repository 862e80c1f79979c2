package victims_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// orderCapacity has none of the third type.
var orderCapacity = resources.Vector{8, 100, 0}

// orders are all orders of tasks, and a few compositions.
var orders = []struct {
	name  string
	order victims.OrderFunc
	total bool // 0 for a task and itself only
}{
	{"ByOptedOut", victims.ByOptedOut, false},
	{"ByOriginator", victims.ByOriginator, false},
	{"ByPriority", victims.ByPriority, false},
	{"ByCreated", victims.ByCreated, false},
	{"ByScheduled", victims.ByScheduled, false},
	{"BySize", victims.BySize(orderCapacity), false},
	{"ByKey", victims.ByKey, true},
	{"Reluctance", victims.Reluctance, true},
	{"Then of none", victims.Then(), false},
	{"Then of two", victims.Then(victims.ByPriority, victims.BySize(orderCapacity)), false},
	{"Then of all", victims.Then(victims.ByOriginator, victims.ByPriority, victims.ByOptedOut, victims.ByCreated,
		victims.ByScheduled, victims.BySize(orderCapacity), victims.ByKey), true},
	{"Then of Then", victims.Then(victims.Then(victims.ByCreated), victims.Reluctance), true},
}

// A row has two tasks, of which the first is to be stopped first.
func TestOrders(t *testing.T) {
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	tests := []struct {
		name          string
		order         victims.OrderFunc
		first, second victims.Task
	}{
		{"opted in before opted out", victims.ByOptedOut, victims.Task{Priority: 9}, victims.Task{OptedOut: true}},
		{"plain before originators", victims.ByOriginator, victims.Task{Priority: 9}, victims.Task{Originator: true}},
		{"lower priority first", victims.ByPriority, victims.Task{Priority: -1 << 31}, victims.Task{Priority: 1<<31 - 1}},
		{"created later first", victims.ByCreated, victims.Task{Created: at(1)}, victims.Task{Created: at(0)}},
		{"created some time before never", victims.ByCreated, victims.Task{Created: at(1)}, victims.Task{}},
		{"scheduled later first", victims.ByScheduled, victims.Task{Scheduled: at(1)}, victims.Task{Scheduled: at(0)}},
		{"not scheduled yet before all", victims.ByScheduled, victims.Task{}, victims.Task{Scheduled: at(1)}},
		{"not scheduled yet before 1900", victims.ByScheduled, victims.Task{}, victims.Task{Scheduled: time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)}},
		{"smaller first", victims.BySize(orderCapacity), victims.Task{Size: resources.Vector{1}}, victims.Task{Size: resources.Vector{2}}},
		{"by dominant share", victims.BySize(orderCapacity), victims.Task{Size: resources.Vector{3, 10}}, victims.Task{Size: resources.Vector{1, 50}}},
		{"nothing before something", victims.BySize(orderCapacity), victims.Task{}, victims.Task{Size: resources.Vector{0, 1}}},
		{"without capacity it is a lot", victims.BySize(orderCapacity), victims.Task{Size: resources.Vector{16}}, victims.Task{Size: resources.Vector{0, 0, 3}}},
		{"by key", victims.ByKey, victims.Task{Key: "t10"}, victims.Task{Key: "t9"}},

		{"reluctance: opted out is the last resort", victims.Reluctance,
			victims.Task{Originator: true, Priority: 9, Scheduled: at(-9)}, victims.Task{OptedOut: true}},
		{"reluctance: then originators", victims.Reluctance,
			victims.Task{Priority: 9, Scheduled: at(-9)}, victims.Task{Originator: true}},
		{"reluctance: then priority", victims.Reluctance,
			victims.Task{Priority: 8, Scheduled: at(-9)}, victims.Task{Priority: 9}},
		{"reluctance: then work lost", victims.Reluctance,
			victims.Task{Key: "z", Scheduled: at(-8)}, victims.Task{Key: "a", Scheduled: at(-9)}},
		{"reluctance: then key", victims.Reluctance, victims.Task{Key: "a", Created: at(0)}, victims.Task{Key: "b", Created: at(1)}},

		{"then: the first order decides", victims.Then(victims.ByPriority, victims.ByKey),
			victims.Task{Key: "b", Priority: 1}, victims.Task{Key: "a", Priority: 2}},
		{"then: the next where it has no opinion", victims.Then(victims.ByPriority, victims.ByKey),
			victims.Task{Key: "a", Priority: 1}, victims.Task{Key: "b", Priority: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Negative(t, test.order(&test.first, &test.second))
			require.Positive(t, test.order(&test.second, &test.first))
		})
	}
}

// Where tasks are alike, there is no opinion.
func TestOrders_Equal(t *testing.T) {
	tests := []struct {
		name  string
		order victims.OrderFunc
		a, b  victims.Task
	}{
		{"one instant in two places", victims.ByCreated, victims.Task{Created: now}, victims.Task{Created: now.In(time.FixedZone("", 3600))}},
		{"scheduled at one instant", victims.ByScheduled, victims.Task{Scheduled: now}, victims.Task{Scheduled: now.In(time.FixedZone("", 3600))}},
		{"neither is scheduled", victims.ByScheduled, victims.Task{Key: "a"}, victims.Task{Key: "b"}},
		{"the same share of another type", victims.BySize(orderCapacity), victims.Task{Size: resources.Vector{4}}, victims.Task{Size: resources.Vector{0, 50}}},
		{"only what dominates counts", victims.BySize(orderCapacity), victims.Task{Size: resources.Vector{4, 1}}, victims.Task{Size: resources.Vector{4, 49}}},
		{"no orders", victims.Then(), victims.Task{Key: "a"}, victims.Task{Key: "b"}},
		{"priority is all that counts", victims.ByPriority, victims.Task{Key: "a", OptedOut: true}, victims.Task{Key: "b", Originator: true}},
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
		var parts []victims.OrderFunc
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

// Of two tasks of a leaf that would each do, the planner takes the one that
// Reluctance puts first.
func TestReluctance_IsTheCostOfOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := []*victims.Task{}
		f := &fixture{c: exampleCluster()}
		batch, _ := f.c.Tree().Lookup("root.batch")
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		node, err := f.c.AddNode(&victims.Node{Name: "n3", Capacity: resources.Vector{12000}})
		must(err)
		for i := range 3 {
			task := drawOrderTask(t, i)
			task.Queue, task.Node, task.Size = batch, node, resources.Vector{4000}
			if !task.Scheduled.IsZero() { // at 0 to 2 minutes from now
				task.Scheduled = task.Scheduled.Add(-3 * time.Minute)
			}
			tasks = append(tasks, &task)
			_, err := f.c.AddTask(&task)
			must(err)
		}
		for _, key := range []string{"etl", "index", "train", "billing"} {
			must(f.c.RemoveTask(key))
		}
		for _, name := range []string{"n1", "n2"} {
			must(f.c.RemoveNode(name))
		}
		slices.SortFunc(tasks, victims.Reluctance)

		ask := exampleAsk(f.c, "x", 3000)
		var d victims.Decision
		must((&victims.Planner{Cluster: f.c}).Decide(&d, &ask, exampleNow))
		if got := keysOf(&d); len(got) != 1 || got[0] != tasks[0].Key {
			t.Fatalf("victims %v, want %s\n%+v\n%+v\n%+v", got, tasks[0].Key, *tasks[0], *tasks[1], *tasks[2])
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
