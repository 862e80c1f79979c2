// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// From the plan to the start of the job. Its members start together.
func Example_apply() {
	cluster := exampleCluster()
	planner := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: cluster}
	var d victims.Decision
	must(planner.Decide(&d, trainJob(cluster, 4), noon))

	// Victims are marked, and members hold their places. While they cannot start the job gets
	// no second plan.
	must(cluster.Apply(&d))
	must(planner.Decide(&d, trainJob(cluster, 4), noon))
	fmt.Println(d.Outcome, d.Refusal.Reason)

	// As each victim is seen to go, the cluster is told.
	must(cluster.RemoveTask("old-0"))
	fmt.Println(cluster.Start("new", noon))
	must(cluster.RemoveTask("report"))
	started, err := cluster.StartReady(noon.Add(time.Minute), nil)
	must(err)
	fmt.Println(started, "and needs", cluster.MinMembers("new"))
	fmt.Print(cluster.Tree())
	// Output:
	// refused in-flight
	// victims: start of "new": "new-0" on node "n1": no room
	// [new-0 new-1] and needs 2
	// root    used gpu=16
	//   train used gpu=8
	//   batch used gpu=8
}

// A victim does not go. Once the grace is over it runs on, and the members lose their places.
func Example_cancel() {
	cluster := exampleCluster()
	planner := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: cluster}
	var d victims.Decision
	must(planner.Decide(&d, trainJob(cluster, 4), noon))
	must(cluster.Apply(&d))
	must(cluster.RemoveTask("old-0"))

	now := noon.Add(10 * time.Minute)
	for g := range cluster.Grants() {
		if now.Sub(g.Since) >= 10*time.Minute && !g.Ready {
			unmarked, err := cluster.Cancel(g.Ask)
			must(err)
			fmt.Println(g.Ask, "is cancelled, and these run on:", unmarked)
			break // it is another cluster now
		}
	}
	// Output:
	// new is cancelled, and these run on: [report]
}
