// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// TestTimingModel runs random events on a Timing and holds it to the log of
// them.
func TestTimingModel(t *testing.T) { rapid.Check(t, timingFollowsLog) }

func FuzzTimingModel(f *testing.F) {
	for i := range byte(4) {
		seed := make([]byte, 1<<13)
		rand.NewChaCha8([32]byte{i}).Read(seed)
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(timingFollowsLog))
}

func timingFollowsLog(t *rapid.T) {
	m := &timingMachine{now: timingEpoch}
	m.timing, m.tree = timed(t, []string{"gpu", "disk"}, timingConfig)
	for q := range queue.ID(m.tree.Len()) {
		m.paths = append(m.paths, m.tree.Path(q))
		if m.tree.IsLeaf(q) {
			m.use(q, resources.Vector{3, 3}, m.tree.Add, +1)
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"":             m.check,
		"wait":         m.wait,
		"use":          m.useSome,
		"set":          m.set,
		"set again":    m.setAgain,
		"set and wait": func(t *rapid.T) { m.set(t); m.wait(t) },
		"ask":          m.ask,
		"begin":        m.begin,
		"begin later":  func(t *rapid.T) { m.wait(t); m.begin(t) },
		"end":          m.end,
		"restart":      m.restart,
	})
}

// timingMachine is a Timing and the log of what happened to it.
type timingMachine struct {
	tree   *queue.Tree
	timing *Timing
	paths  []string // of all queues, in tree order
	now    time.Time
	log    timingLog
}

// check holds all that can be seen without asking to the log.
func (m *timingMachine) check(t *rapid.T) {
	var got strings.Builder
	for line := range strings.Lines(m.timing.String()) {
		got.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	if want := m.log.picture(m.paths); got.String() != want {
		t.Fatalf("timing\n%s\nwant\n%s", &got, want)
	}
	next, ok := m.timing.Next()
	if want, some := m.log.next(m.paths); ok != some || !next.Equal(want) {
		t.Fatalf("Next() = %v, %t, want %v, %t", next, ok, want, some)
	}
	for q := range queue.ID(m.tree.Len()) {
		stage, end := m.log.clock(m.paths[q])
		if got := m.timing.Running(q); got != (stage == "running") {
			t.Fatalf("Running(%s) = %t while it is %s", m.paths[q], got, stage)
		}
		got, ok := m.timing.deadlineOf(q)
		if waits := stage == "waits" || stage == "due"; ok != waits || !got.Equal(end) {
			t.Fatalf("Deadline(%s) = %v, %t, want %v, %t", m.paths[q], got, ok, end, waits)
		}
	}
}

// wait lets time pass, or run back.
func (m *timingMachine) wait(t *rapid.T) {
	minutes := rapid.SampledFrom([]int{5, 2, 1, 3, 60, -1, -5}).Draw(t, "minutes")
	m.now = m.now.Add(time.Duration(minutes) * time.Minute)
}

// useSome changes the usage of a leaf, or what of it leaves.
func (m *timingMachine) useSome(t *rapid.T) {
	leaf := rapid.SampledFrom(slices.Collect(m.tree.Leaves(queue.Root))).Draw(t, "leaf")
	size := resources.Vector(rapid.SliceOfN(rapid.Int64Range(0, 4), 2, 2).Draw(t, "size"))
	done := false
	switch rapid.SampledFrom([]string{"add", "remove", "mark", "unmark"}).Draw(t, "change") {
	case "add":
		done = m.use(leaf, size, m.tree.Add, +1)
	case "remove":
		done = m.use(leaf, size, m.tree.Remove, -1)
	case "mark":
		done = m.use(leaf, size, m.tree.Mark, -1)
	case "unmark":
		done = m.use(leaf, size, m.tree.Unmark, +1)
	}
	if !done {
		t.Skip("less than that is there")
	}
}

// use makes a change that adds sign times size to effective usage.
func (m *timingMachine) use(leaf queue.ID, size resources.Vector, change func(queue.ID, resources.Vector) error, sign int64) bool {
	if change(leaf, size) != nil {
		return false
	}
	m.log = append(m.log, timingEvent{what: "use", queue: m.paths[leaf], size: map[string]int64{
		"gpu": sign * size[0], "disk": sign * size[1],
	}})
	return true
}

// set changes max and delay of a queue. Bounds are few, so that they are lowered and raised
// alike.
func (m *timingMachine) set(t *rapid.T) {
	limits := make(map[string]int64)
	for _, name := range []string{"gpu", "disk"} {
		if limit := rapid.SampledFrom([]int64{2, 1, 3, 8, -1}).Draw(t, name); limit != -1 { // which is none
			limits[name] = limit
		}
	}
	m.tell(t, m.drawQueue(t), limits, drawTimingDelay(t))
}

// setAgain tells of a setting that differs at most in its delay.
func (m *timingMachine) setAgain(t *rapid.T) {
	q := m.drawQueue(t)
	limits, delay := m.log.setting(m.paths[q])
	if rapid.Bool().Draw(t, "another delay") {
		delay = drawTimingDelay(t)
	}
	m.tell(t, q, limits, delay)
}

func drawTimingDelay(t *rapid.T) time.Duration {
	return rapid.SampledFrom([]time.Duration{
		5 * time.Minute, 2 * time.Minute, 5 * time.Minute, 0, 1, math.MaxInt64,
	}).Draw(t, "delay")
}

// drawQueue draws a queue, those above others more often than there are of them.
func (m *timingMachine) drawQueue(t *rapid.T) queue.ID {
	q := rapid.SampledFrom([]string{"p", "x", "q", "y", "z", "b", "d", "e", "p", "x", "q", "y", "root"}).Draw(t, "queue")
	return timingQueue(t, m.tree, q)
}

func (m *timingMachine) tell(t *rapid.T, q queue.ID, limits map[string]int64, delay time.Duration) {
	most := resources.Limit{Value: make(resources.Vector, 2)}
	for i := range m.tree.Schema().Len() {
		if limit, ok := limits[m.tree.Schema().Name(i)]; ok {
			most.Value[i], most.Defined = limit, most.Defined|1<<i
		}
	}
	if bound, ok := most.Bound(0); ok && bound < 2 && m.paths[q] == "root.p.q" {
		t.Skip("it is guaranteed 2")
	}
	tell(t, m.tree, q, most, delay)
	m.timing.Observe(m.now)
	m.log = append(m.log, timingEvent{what: "set", queue: m.paths[q], at: m.now, max: limits, delay: delay})
}

// ask asks for all that is due.
func (m *timingMachine) ask(t *rapid.T) {
	m.log = append(m.log, timingEvent{what: "ask", at: m.now})
	var got []string
	for _, q := range m.timing.allDue(nil, m.now) {
		got = append(got, m.paths[q])
	}
	if want := m.log.ready(m.paths); !slices.Equal(got, want) {
		t.Fatalf("due %v, want %v", got, want)
	}
}

// begin begins what is first.
func (m *timingMachine) begin(t *rapid.T) {
	m.log = append(m.log, timingEvent{what: "ask", at: m.now})
	want := append(m.log.ready(m.paths), "nothing")[0]
	got := "nothing"
	if q, ok := m.timing.begin(m.now); ok {
		got = m.paths[q]
		m.log = append(m.log, timingEvent{what: "begin", queue: got, at: m.now})
	}
	if got != want {
		t.Fatalf("began %s, want %s", got, want)
	}
}

// end ends a run, or tries to.
func (m *timingMachine) end(t *rapid.T) {
	q := m.drawQueue(t)
	for a := range queue.ID(m.tree.Len()) {
		if m.log.running(m.paths[a]) && rapid.Bool().Draw(t, "this one") {
			q = a
		}
	}
	runs := m.log.running(m.paths[q])
	if err := m.timing.End(q, m.now); runs != (err == nil) {
		t.Fatalf("End(%s): %v, running is %t", m.paths[q], err, runs)
	}
	if runs {
		m.log = append(m.log, timingEvent{what: "end", queue: m.paths[q], at: m.now})
	}
}

// restart begins anew, with other settings: of all that happened, usage is left.
func (m *timingMachine) restart(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "restart") != 5 {
		t.Skip("not now")
	}
	for q := range queue.ID(m.tree.Len()) {
		tell(t, m.tree, q, resources.Limit{}, 0)
	}
	m.timing = &Timing{Cluster: m.timing.Cluster}
	m.log = slices.DeleteFunc(m.log, func(e timingEvent) bool { return e.what != "use" })
}
