// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
)

// plainCluster is a Kubernetes cluster as it comes: no queues, so that all pods
// are in one leaf that is guaranteed nothing.
func plainCluster(nodes ...string) *victims.Cluster {
	schema, err := resources.NewSchema("cpu")
	check(err)
	tree, err := queue.New(schema, queue.Config{
		Name: "root", Policies: queue.Policies{PreemptionDelay: new(time.Duration)}, Children: []queue.Config{{Name: "pods"}},
	})
	check(err)
	c := victims.NewCluster(tree)
	for _, name := range nodes {
		_, err := c.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{4000}})
		check(err)
	}
	return c
}

// podAsk returns the ask of a pod.
func podAsk(key string, cpu int64, priority int32) victims.Ask {
	return victims.Ask{Key: key, Application: key, Queue: 1, Size: resources.Vector{cpu}, Priority: priority}
}

// One queue without guarantees. A pod disruption budget is a soft budget, and preemptionPolicy: Never is MayNotPreempt.
func ExampleKubernetes() {
	cluster := plainCluster("n1", "n2")
	check(cluster.SetBudget("zk", victims.Budget{Left: 0}))
	for _, t := range []victims.Task{
		{Key: "zk-0", NodeName: "n1", Size: resources.Vector{4000}, Priority: 10, Budgets: []string{"zk"}},
		{Key: "cache", NodeName: "n2", Size: resources.Vector{2000}, Priority: 20},
		{Key: "batch", NodeName: "n2", Size: resources.Vector{2000}, Priority: 20},
	} {
		t.Queue = 1
		addExample(cluster, &t)
	}
	planner := jobs.Planner{Cluster: cluster, Options: victims.Kubernetes()}
	var d victims.Decision
	decide := func(ask victims.Ask) {
		check(planner.Decide(&d, &ask, exampleNow))
		check(d.Count())
		fmt.Print(d)
	}
	decide(podAsk("web", 4000, 100))
	decide(podAsk("peer", 2000, 10)) // takes its equals from nobody
	never := podAsk("never", 4000, 100)
	never.MayNotPreempt = true
	decide(never)
	// Output:
	// web (root.pods, cpu=4) runs on n2 once these have stopped:
	//   batch on n2 (root.pods, cpu=2, priority 20, rank -80) for room on the node
	//   cache on n2 (root.pods, cpu=2, priority 20, rank -80) for room on the node
	//   cost: highest rank -80, highest priority 20, 2 victims, ranks sum up to -160, 2h of work lost, 4 cpu-hours
	//   no legal plan costs less
	// peer (root.pods, cpu=2) is refused (no-victims): no legal set of victims makes room
	//   of other queues it may take nothing (not-guaranteed): no queue on its path is guaranteed anything that it asks for
	//   3 too high in effective priority (priority)
	//   closest: n1, which would still lack cpu=2
	// never (root.pods, cpu=4) is refused (may-not-preempt): it must not preempt others
}

// tolerant returns a planner over a plain cluster that spares what a class
// tolerates, one node per class, with a pod of it that was scheduled now.
func tolerant(classes ...toleration.PriorityClass) *jobs.Planner {
	policies := make(map[string]toleration.Policy)
	cluster := plainCluster()
	for _, config := range classes {
		class, err := toleration.Parse(config)
		check(err)
		policies[config.Name] = class.Policy
		_, err = cluster.AddNode(&victims.Node{Name: "of-" + config.Name, Capacity: resources.Vector{4000}})
		check(err)
		_, err = cluster.AddTask(&victims.Task{
			Key: config.Name, Application: config.Name, NodeName: "of-" + config.Name, Queue: 1,
			Size: resources.Vector{4000}, Priority: class.Priority, OptedOut: class.OptedOut, Scheduled: exampleNow,
		})
		check(err)
	}
	planner := jobs.Planner{Cluster: cluster, Options: victims.Kubernetes()}
	planner.Exempt = func(e *victims.Question) (time.Time, bool) {
		return policies[cluster.Key(e.Task)].Until(cluster.Scheduled(e.Task), e.Ask.Priority)
	}
	return &planner
}

// answers prints what asks of two classes are told at some ages of the pods.
func answers(planner *jobs.Planner, ages ...time.Duration) {
	var d victims.Decision
	for _, age := range ages {
		for _, ask := range []victims.Ask{podAsk("high", 4000, 9_000), podAsk("critical", 4000, 10_000)} {
			check(planner.Decide(&d, &ask, exampleNow.Add(age)))
			fmt.Print("after ", age, ", ", ask.Key, ": ", d.Outcome)
			for _, v := range d.Plan.Victims {
				fmt.Print(" ", v.Key)
			}
			if r := &d.Refusal; !r.RetryAt.IsZero() {
				fmt.Print(", again after ", r.RetryAt.Sub(exampleNow))
			}
			fmt.Println()
		}
	}
}

// The first use of preemption toleration: a class that gives way to critical
// work only.
func ExampleOptions_onlyCritical() {
	answers(tolerant(toleration.PriorityClass{Name: "low-non-preempted", Value: 8_000, Annotations: map[string]string{
		toleration.AnnotationMinimum: "10000",
		toleration.AnnotationSeconds: "-1",
	}}), 0, 365*24*time.Hour)
	// Output:
	// after 0s, high: refused
	// after 0s, critical: plan low-non-preempted
	// after 8760h0m0s, high: refused
	// after 8760h0m0s, critical: plan low-non-preempted
}

// The second use of preemption toleration: classes with a guaranteed running
// time.
func ExampleOptions_runningTime() {
	class := func(name, seconds string) toleration.PriorityClass {
		return toleration.PriorityClass{Name: name, Value: 8_000, Annotations: map[string]string{
			toleration.AnnotationMinimum: "10000",
			toleration.AnnotationSeconds: seconds,
		}}
	}
	answers(tolerant(class("low-30min", "1800"), class("low-10min", "600")), 0, 10*time.Minute, 30*time.Minute)
	// Output:
	// after 0s, high: refused, again after 10m0s
	// after 0s, critical: plan low-30min
	// after 10m0s, high: plan low-10min
	// after 10m0s, critical: plan low-30min
	// after 30m0s, high: plan low-30min
	// after 30m0s, critical: plan low-30min
}
