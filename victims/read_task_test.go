// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-preempt/preempt/resources"
)

// TestReadTask shows that ReadTask gives what Task gives, whatever was in its
// destination, that its size and budgets are copies, and that a warm
// destination costs no memory.
func TestReadTask(t *testing.T) {
	c := tableCluster(t)
	if err := c.SetBudget("web", Budget{}); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	id, err := c.AddTask(&Task{
		Key: "full", Queue: 1, Size: resources.Vector{1}, Job: "j", Budgets: []string{"web"}, Cost: 7, Tag: 9, Name: "n",
		Created: at, Scheduled: at, Checkpoint: at, OptedOut: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var read Task
	for other := range c.Tasks() {
		for _, id := range []TaskID{id, other} {
			c.ReadTask(&read, id)
			want := c.Task(id)
			if want.Budgets == nil {
				want.Budgets = []string{}
			}
			if read.Budgets == nil {
				read.Budgets = []string{}
			}
			if diff := cmp.Diff(want, read); diff != "" {
				t.Errorf("row %d: %s", id, diff)
			}
		}
	}
	c.ReadTask(&read, id)
	read.Size[0], read.Budgets[0] = 99, "other"
	if got := c.Task(id); got.Size[0] != 1 || got.Budgets[0] != "web" {
		t.Errorf("the cluster changed: %v %v", got.Size, got.Budgets)
	}
	if n := testing.AllocsPerRun(100, func() { c.ReadTask(&read, id) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
