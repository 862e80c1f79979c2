// SPDX-License-Identifier: Apache-2.0

package toleration_test

import (
	"fmt"
	"log"
	"time"

	"github.com/go-preempt/preempt/toleration"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// The first use case of the source design: a low class that only the
// system-critical class may preempt, and that no time makes preemptable by
// others.
func Example_onlyCriticalPreempts() {
	classes := parse(
		toleration.PriorityClass{Name: "system-critical", Value: 10_000},
		toleration.PriorityClass{Name: "high", Value: 9_000},
		toleration.PriorityClass{Name: "low", Value: 8_000},
		toleration.PriorityClass{Name: "low-non-preempted", Value: 8_000, Annotations: map[string]string{
			toleration.AnnotationMinimum: "10000",
			toleration.AnnotationSeconds: "-1",
		}},
	)
	scheduled, now := noon, noon.AddDate(1, 0, 0)
	for _, victim := range []string{"low", "low-non-preempted"} {
		policy := classes[victim].Policy
		fmt.Printf("%s %v\n", victim, policy)
		for _, preemptor := range []string{"high", "system-critical"} {
			priority := classes[preemptor].Priority
			fmt.Printf("  %s must spare it: %t\n", preemptor, spares(policy, scheduled, priority, now))
		}
	}

	// Output:
	// low tolerates nobody
	//   high must spare it: false
	//   system-critical must spare it: false
	// low-non-preempted tolerates priorities below 10000 for ever
	//   high must spare it: true
	//   system-critical must spare it: false
}

// The second use case: classes whose tasks are guaranteed 10 and 30 minutes
// before the high class may take them. The critical class never waits.
func Example_guaranteedRunningTime() {
	classes := parse(
		toleration.PriorityClass{Name: "system-critical", Value: 10_000},
		toleration.PriorityClass{Name: "high", Value: 9_000},
		toleration.PriorityClass{Name: "low-10min", Value: 8_000, Annotations: map[string]string{
			toleration.AnnotationMinimum: "10000",
			toleration.AnnotationSeconds: "600",
		}},
		toleration.PriorityClass{Name: "low-30min", Value: 8_000, Annotations: map[string]string{
			toleration.AnnotationMinimum: "10000",
			toleration.AnnotationSeconds: "1800",
		}},
	)
	high, critical := classes["high"].Priority, classes["system-critical"].Priority
	for _, victim := range []string{"low-10min", "low-30min"} {
		policy := classes[victim].Policy
		fmt.Printf("%s %v\n", victim, policy)
		until, _ := policy.Until(noon, high)
		fmt.Printf("  high may take it from %s\n", until.Format(time.TimeOnly))
		for _, age := range []time.Duration{0, 10*time.Minute - 1, 10 * time.Minute, 30 * time.Minute} {
			fmt.Printf("  after %v: high must spare it: %t, system-critical: %t\n", age,
				spares(policy, noon, high, noon.Add(age)), spares(policy, noon, critical, noon.Add(age)))
		}
	}

	// Output:
	// low-10min tolerates priorities below 10000 for 600s
	//   high may take it from 12:10:00
	//   after 0s: high must spare it: true, system-critical: false
	//   after 9m59.999999999s: high must spare it: true, system-critical: false
	//   after 10m0s: high must spare it: false, system-critical: false
	//   after 30m0s: high must spare it: false, system-critical: false
	// low-30min tolerates priorities below 10000 for 1800s
	//   high may take it from 12:30:00
	//   after 0s: high must spare it: true, system-critical: false
	//   after 9m59.999999999s: high must spare it: true, system-critical: false
	//   after 10m0s: high must spare it: true, system-critical: false
	//   after 30m0s: high must spare it: false, system-critical: false
}

// A class carries more than the policy: whether its tasks ask to be spared, and whether
// they may preempt others.
func ExampleParse() {
	for _, class := range []toleration.PriorityClass{
		{Name: "batch", Value: 100, PreemptionPolicy: "Never"},
		{Name: "database", Value: 500, Annotations: map[string]string{toleration.AnnotationAllowPreemption: "false"}},
		{Name: "training", Value: 8_000, Annotations: map[string]string{
			toleration.AnnotationMinimum: "10000",
			toleration.AnnotationSeconds: "600",
		}},
		{Name: "short", Annotations: map[string]string{toleration.AnnotationSeconds: "10m"}},
	} {
		c, err := toleration.Parse(class)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s: priority %d, opted out %t, may not preempt %t, %v\n", class.Name, c.Priority, c.OptedOut, c.MayNotPreempt, c.Policy)
	}

	// Output:
	// batch: priority 100, opted out false, may not preempt true, tolerates nobody
	// database: priority 500, opted out true, may not preempt false, tolerates nobody
	// training: priority 8000, opted out false, may not preempt false, tolerates priorities below 10000 for 600s
	// toleration: class "short": annotation preemption-toleration.scheduling.x-k8s.io/toleration-seconds: "10m": not a whole number
}

// What is legal and hardly meant is a warning.
func ExampleParse_warnings() {
	for _, class := range []toleration.PriorityClass{
		{Name: "misspelt", Value: 100, Annotations: map[string]string{
			"preemption-toleration.scheduling.x-k8s.io/toleration-second": "600",
		}},
		{Name: "no-seconds", Value: 100, Annotations: map[string]string{toleration.AnnotationMinimum: "200"}},
		{Name: "too-low", Value: 100, Annotations: map[string]string{
			toleration.AnnotationMinimum: "50", toleration.AnnotationSeconds: "600",
		}},
	} {
		c, err := toleration.Parse(class)
		fmt.Println(c.Warnings, err)
	}

	// Output:
	// [toleration: class "misspelt": unknown annotation: "preemption-toleration.scheduling.x-k8s.io/toleration-second"] <nil>
	// [toleration: class "no-seconds": the policy protects nobody: toleration-seconds is 0 or absent] <nil>
	// [toleration: class "too-low": the policy protects nobody: no preemptor of a task of priority 100 is below the minimum 50] <nil>
}

// Until answers for all instants: the zero time is never.
func ExamplePolicy_Until() {
	short := toleration.Policy{MinimumPreemptablePriority: 1000, Seconds: 600}
	ever := toleration.Policy{MinimumPreemptablePriority: 1000, Seconds: -1}
	for _, policy := range []toleration.Policy{short, ever} {
		for _, preemptor := range []int32{999, 1000} {
			until, exempt := policy.Until(noon, preemptor)
			fmt.Println(preemptor, exempt, until.Format(time.TimeOnly), until.IsZero())
		}
	}

	// Output:
	// 999 true 12:10:00 false
	// 1000 false 00:00:00 true
	// 999 true 00:00:00 true
	// 1000 false 00:00:00 true
}

// parse returns what classes mean, by name.
func parse(classes ...toleration.PriorityClass) map[string]toleration.Class {
	all := make(map[string]toleration.Class)
	for _, written := range classes {
		class, err := toleration.Parse(written)
		if err != nil {
			log.Fatal(err)
		}
		all[written.Name] = class
	}
	return all
}

// spares reports whether a preemptor must spare a task at an instant.
func spares(p toleration.Policy, scheduled time.Time, preemptor int32, now time.Time) bool {
	until, exempt := p.Until(scheduled, preemptor)
	return exempt && (until.IsZero() || until.After(now))
}
