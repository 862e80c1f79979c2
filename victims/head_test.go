// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A head says what a view says, of tasks and of grants.
func TestHead_IsPartOfTheView(t *testing.T) {
	c := tableCluster(t)
	rapid.Check(t, func(t *rapid.T) {
		flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
		task := Task{
			Key: "drawn", Queue: 2, Node: NodeID(rapid.IntRange(0, 1).Draw(t, "node")),
			Size:       vec{rapid.Int64Range(0, 9).Draw(t, "gpu"), rapid.Int64Range(0, 9).Draw(t, "disk")},
			Priority:   rapid.Int32().Draw(t, "priority"),
			State:      rapid.SampledFrom([]State{Running, Releasing, Preempting}).Draw(t, "state"),
			Originator: flag("originator"), OptedOut: flag("opted out"),
			RequiredNode: flag("required node"), NonPreemptible: flag("non-preemptible"),
		}
		if flag("created") {
			task.Created = time.Unix(0, rapid.Int64Range(-5, 5).Draw(t, "created at")).UTC()
		}
		if flag("of a job") {
			task.Job = "job"
		}
		if flag("in a budget") {
			task.Budgets = []string{"web"}
		}
		id, err := c.AddTask(&task)
		if err != nil {
			t.Fatal(err)
		}
		compareHead(t, c, id)
		if err := c.RemoveTask(task.Key); err != nil {
			t.Fatal(err)
		}
	})
	id, err := c.Grant(&Ask{Key: "granted", Queue: 1, Size: vec{1, 0}, Priority: 3, Job: "job"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	compareHead(t, c, id)
}

func compareHead(t interface{ Errorf(string, ...any) }, c *Cluster, id TaskID) {
	view := c.TaskView(id)
	want := Head{
		Size: view.Size, Queue: view.Queue, Node: view.Node, Priority: view.Priority, State: view.State,
		Originator: view.Originator, OptedOut: view.OptedOut, RequiredNode: view.RequiredNode, NonPreemptible: view.NonPreemptible,
		HasCreated: !view.Created.IsZero(), HasJob: view.Job != "", HasBudgets: len(view.Budgets) > 0,
	}
	head := c.Head(id)
	if want.HasCreated {
		want.Created = view.Created.UnixNano()
	} else {
		head.Created = 0 // it says nothing
	}
	if diff := cmp.Diff(want, head); diff != "" {
		t.Errorf("%s: head of %v (-want +got):\n%s", fmt.Sprint(view.State), view.Key, diff)
	}
}
