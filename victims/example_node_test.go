// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// Blockers must go for the ask to run on a node, whatever the amounts: here
// those who hold the host port that it wants.
func ExampleOptions_blockers() {
	cluster := exampleCluster()
	ports := map[string]int{"etl": 443, "train": 443, "web-1": 443, "web-2": 8080}
	planner := jobs.Planner{Cluster: cluster}
	planner.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
		for id := range cluster.TasksOn(q.Node) {
			if port, ok := ports[cluster.Key(id)]; ok && port == ports[q.Ask.Key] {
				dst = append(dst, id)
			}
		}
		return dst
	}
	var d victims.Decision
	for _, key := range []string{"web-1", "web-2"} {
		ask := exampleAsk(cluster, key, 2000)
		check(planner.Decide(&d, &ask, exampleNow))
		fmt.Print(d)
	}
	// Output:
	// web-1 (root.shop, cpu=2) runs on n2 once these have stopped:
	//   train on n2 (root.batch, cpu=3, priority 0, rank -100), which blocks the node
	//   cost: highest rank -100, 1 victim, 1h of work lost, 3 cpu-hours, 8.3% of the cluster freed beyond need
	//   no legal plan costs less
	// web-2 (root.shop, cpu=2) runs on n1 once these have stopped:
	//   index on n1 (root.batch, cpu=2, priority 0, rank -100) for room on the node
	//   cost: highest rank -100, 1 victim, 1h of work lost, 2 cpu-hours
	//   no legal plan costs less
}

// A predicate judges a node together with a set of victims: here an ask wants a
// socket of the node for itself. What it accepts with some victims it accepts
// with more.
func ExampleOptions_predicate() {
	cluster := exampleCluster()
	sockets := map[string][]int{"etl": {0, 1}, "index": {1}, "train": {0}, "billing": {1}}
	planner := jobs.Planner{Cluster: cluster, Options: victims.Options{Predicate: func(p *victims.Question) bool {
		var used [2]bool
		for id := range cluster.TasksOn(p.Node) {
			for _, s := range sockets[cluster.Key(id)] {
				used[s] = used[s] || !slices.Contains(p.Victims, id)
			}
		}
		return !used[0] || !used[1]
	}}}
	// To stop index would make room enough. But etl would still be on both sockets.
	ask := exampleAsk(cluster, "web-1", 2000)
	var d victims.Decision
	check(planner.Decide(&d, &ask, exampleNow))
	fmt.Println(d.Outcome, "on", cluster.Node(d.Plan.Places[0].Node).Name, "without", d.Plan.Victims[0].Key)
	// Output:
	// plan on n1 without etl
}
