// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
)

// A round from its plan to the start of the job.
func ExampleRounds() {
	cluster := exampleCluster()
	planner := jobs.Planner{ByPriority: true, Cluster: cluster}
	rounds := jobs.Rounds{Cluster: cluster}
	var d jobs.Decision
	must(planner.Decide(&d, trainJob(cluster, 4), noon))

	// Victims are marked, and members hold their places. There is no second
	// round for the job while this one is under way.
	must(rounds.Begin(d.Plan.Change(), noon, noon.Add(10*time.Minute)))
	fmt.Println(rounds.Begin(d.Plan.Change(), noon, time.Time{}))

	// As each victim is seen to go, the tracker is told.
	must(rounds.Acknowledge("old-0"))
	_, err := rounds.Complete("new")
	fmt.Println(err)
	must(rounds.Acknowledge("report"))
	end, err := rounds.Complete("new")
	must(err)
	fmt.Println(end.Job, end.How, "gone:", end.Gone, "held:", end.Held)

	for _, member := range end.Held {
		must(cluster.StartAnyway(member, noon.Add(time.Minute)))
	}
	fmt.Print(cluster.Tree())
	// Output:
	// jobs: round of job new: a round is under way
	// jobs: round of job new: victim report: it has not gone yet
	// new completed gone: [old-0 report] held: [new-0 new-1]
	// root    used gpu=16
	//   train used gpu=8
	//   batch used gpu=8
}

// A victim does not go. At the deadline it keeps its place, and the members lose
// theirs.
func ExampleRounds_Expire() {
	cluster := exampleCluster()
	planner := jobs.Planner{ByPriority: true, Cluster: cluster}
	rounds := jobs.Rounds{Cluster: cluster}
	var d jobs.Decision
	must(planner.Decide(&d, trainJob(cluster, 4), noon))
	deadline := noon.Add(10 * time.Minute)
	must(rounds.Begin(d.Plan.Change(), noon, deadline))
	must(rounds.Acknowledge("old-0"))

	for _, end := range rounds.Expire(deadline) {
		fmt.Println(end.Job, end.How, "gone:", end.Gone, "back:", end.Back, "dropped:", end.Dropped)
	}
	// Output:
	// new expired gone: [old-0] back: [report] dropped: [new-0 new-1]
}

// Nobody knows any more whether a victim goes: its node is out of touch. The
// round ends, and what has not gone runs on.
func ExampleRounds_Fail() {
	cluster := exampleCluster()
	planner := jobs.Planner{ByPriority: true, Cluster: cluster}
	rounds := jobs.Rounds{Cluster: cluster}
	var d jobs.Decision
	must(planner.Decide(&d, trainJob(cluster, 4), noon))
	must(rounds.Begin(d.Plan.Change(), noon, time.Time{}))

	end, err := rounds.Fail("report")
	must(err)
	fmt.Println(end.Job, end.How, "gone:", end.Gone, "back:", end.Back, "dropped:", end.Dropped)

	// The job may have another round at once.
	must(planner.Decide(&d, trainJob(cluster, 4), noon))
	fmt.Println(d.Outcome, rounds.Begin(d.Plan.Change(), noon, time.Time{}))
	// Output:
	// new failed gone: [] back: [old-0 report] dropped: [new-0 new-1]
	// plan <nil>
}

// The job is deleted after its round is complete, and before its members start.
// What they hold is free again.
func ExampleRounds_Abandon() {
	cluster := exampleCluster()
	planner := jobs.Planner{ByPriority: true, Cluster: cluster}
	rounds := jobs.Rounds{Cluster: cluster}
	var d jobs.Decision
	must(planner.Decide(&d, trainJob(cluster, 4), noon))
	must(rounds.Begin(d.Plan.Change(), noon, time.Time{}))
	must(rounds.Acknowledge("old-0"))
	must(rounds.Acknowledge("report"))
	_, err := rounds.Complete("new")
	must(err)

	end, err := rounds.Abandon("new")
	must(err)
	fmt.Println(end.Job, end.How, "dropped:", end.Dropped)
	_, err = rounds.Abandon("new")
	fmt.Println(err)
	fmt.Print(cluster.Tree())
	// Output:
	// new abandoned dropped: [new-0 new-1]
	// jobs: round of job new: no round is under way
	// root    used gpu=8
	//   train used none
	//   batch used gpu=8
}
