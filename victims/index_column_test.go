// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/rulebook"
)

// TestColumn holds a column to a map, and to having no memory while it is zero.
func TestColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var col column[int64]
		for i := range 5 {
			if col.set(i, 9, 0); cap(col) != 0 {
				t.Fatalf("a column of zeros has memory for %d", cap(col))
			}
		}
		want := map[int]int64{}
		for range between(t, "sets", 0, 30) {
			row, v := between(t, "row", 0, 40), rapid.Int64Range(0, 3).Draw(t, "value")
			col.set(row, 20, v)
			want[row] = v
			if rapid.Bool().Draw(t, "shrink") {
				col = col[:0] // what was there must not come back
				clear(want)
			}
			for row := range 42 {
				if col.at(row) != want[row] {
					t.Fatalf("row %d is %d, want %d", row, col.at(row), want[row])
				}
			}
		}
	})
}

// TestLost shows from when on the work of a task is lost.
func TestLost(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	never := time.Time{}
	for _, tt := range []struct {
		name                  string
		scheduled, checkpoint time.Time
		want                  time.Duration
	}{
		{"no checkpoint", at(10), never, 90 * time.Second},
		{"a checkpoint", at(10), at(60), 40 * time.Second},
		{"a checkpoint of an earlier run", at(10), at(5), 90 * time.Second},
		{"a checkpoint in the future", at(10), at(101), 0},
		{"scheduled in the future", at(101), at(5), 0},
		{"never scheduled", never, at(5), 0},
		{"scheduled now", at(100), never, 0},
		{"longer than a Duration", at(-9e10), never, 1<<63 - 1},
	} {
		task := Task{Scheduled: tt.scheduled, Checkpoint: tt.checkpoint}
		if got := rulebook.Lost(task.Scheduled, task.Checkpoint, at(100)); got != uint64(tt.want) {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
