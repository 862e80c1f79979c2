// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/invalid"
)

// drawAskKey draws an ask that holds grants, or any key.
func (x *clusterMachine) drawAskKey(t *rapid.T) string {
	keys := slices.Sorted(maps.Keys(x.m.asks))
	return rapid.SampledFrom(append(slices.Repeat(keys, 4), taskKeys...)).Draw(t, "ask")
}

func (x *clusterMachine) noAsk(key string) []error {
	if _, ok := x.m.asks[key]; !ok {
		return []error{ErrUnknown}
	}
	return nil
}

// started notes that all grants of an ask run.
func (x *clusterMachine) started(ask string, now time.Time) (keys []string) {
	for _, i := range x.m.of(ask) {
		keys = append(keys, x.m.grants[i].key)
	}
	for _, key := range keys {
		x.change(key, func(task *modelTask) { task.State, task.Scheduled = Running, now })
		x.m.ungive(key)
	}
	return keys
}

func (x *clusterMachine) Start(t *rapid.T) {
	key, now := x.drawAskKey(t), drawTime(t)
	wrong := x.noAsk(key)
	if badTime(now) {
		wrong = append(wrong, invalid.Range)
	}
	if x.noAsk(key) == nil && !x.m.ready(key) {
		wrong = append(wrong, ErrRoom)
	}
	if x.judge(t, x.c.Start(key, now), strconv.Quote(key), wrong) {
		x.started(key, now)
	}
}

func (x *clusterMachine) StartReady(t *rapid.T) {
	now := drawTime(t)
	var wrong []error
	if badTime(now) {
		wrong = append(wrong, invalid.Range)
	}
	may := rapid.SliceOfDistinct(rapid.SampledFrom(taskKeys), func(key string) string { return key }).Draw(t, "may not")
	started, err := x.c.StartReady(now, func(task *Task) bool { return !slices.Contains(may, task.Key) })
	if len(wrong) == 0 && len(started) == 0 && err == nil {
		if x.c.Version() != x.version {
			t.Fatal("nothing has started, and it is another version")
		}
	} else if !x.judge(t, err, "start", wrong) {
		return
	}
	var want []string
	seen := map[string]bool{}
	for _, g := range slices.Clone(x.m.grants) {
		if seen[g.ask] {
			continue
		}
		seen[g.ask] = true
		all := x.m.of(g.ask)
		lets := !slices.ContainsFunc(all, func(i int) bool { return slices.Contains(may, x.m.grants[i].key) })
		if lets && x.m.ready(g.ask) {
			want = append(want, x.started(g.ask, now)...)
		}
	}
	if !slices.Equal(started, want) {
		t.Fatalf("%q have started, want %q", started, want)
	}
}

func (x *clusterMachine) Drop(t *rapid.T) {
	key := x.drawAskKey(t)
	wrong := x.noGrant(key)
	keys := []string{key}
	if x.noAsk(key) == nil {
		wrong, keys = nil, nil
		for _, i := range x.m.of(key) {
			keys = append(keys, x.m.grants[i].key)
		}
	}
	if x.judge(t, x.c.Drop(key), strconv.Quote(key), wrong) {
		for _, key := range keys {
			x.removed(key)
		}
	}
}

func (x *clusterMachine) Cancel(t *rapid.T) {
	key := x.drawAskKey(t)
	unmarked, err := x.c.Cancel(key)
	if !x.judge(t, err, strconv.Quote(key), x.noAsk(key)) {
		return
	}
	x.final()
	want, gone := x.m.cancel(key)
	for _, key := range gone {
		delete(x.tasks, key)
	}
	if !slices.Equal(unmarked, want) {
		t.Fatalf("%q run on, want %q", unmarked, want)
	}
}

func (x *clusterMachine) Spare(t *rapid.T) {
	key, until := drawKey(t), drawTime(t)
	wrong := x.noTask(key)
	if badTime(until) {
		wrong = append(wrong, invalid.Range)
	}
	if task, ok := x.m.tasks[key]; ok && task.State == Releasing {
		wrong = append(wrong, ErrState)
	}
	asks, err := x.c.Spare(key, until)
	if !x.judge(t, err, strconv.Quote(key), wrong) {
		return
	}
	x.final()
	marked := x.m.tasks[key].State == Marked
	var want []string
	for _, g := range x.m.grants {
		waits := slices.ContainsFunc(x.m.waits[g.wait], func(v modelVictim) bool { return v.key == key })
		if g.mover == "" && (waits || marked && x.m.needs(key, g)) {
			want = append(want, g.ask)
		}
	}
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(asks, want) {
		t.Fatalf("%q need it, want %q", asks, want)
	}
	if marked {
		x.m.unmark(key)
	}
	for _, g := range x.m.grants {
		if g.mover == key {
			x.removed(g.key)
			break
		}
	}
	task := x.m.tasks[key]
	task.SparedUntil = until
	x.m.tasks[key] = task
}
