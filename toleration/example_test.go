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
	var classes toleration.Classes
	set(&classes,
		toleration.Config{Name: "system-critical", Value: 10_000},
		toleration.Config{Name: "high", Value: 9_000},
		toleration.Config{Name: "low", Value: 8_000},
		toleration.Config{Name: "low-non-preempted", Value: 8_000, Annotations: map[string]string{
			toleration.AnnotationMinimum: "10000",
			toleration.AnnotationSeconds: "-1",
		}},
	)
	scheduled, now := noon, noon.AddDate(1, 0, 0)
	for _, victim := range []string{"low", "low-non-preempted"} {
		policy := lookup(&classes, victim).Policy
		fmt.Printf("%s %v\n", victim, policy)
		for _, preemptor := range []string{"high", "system-critical"} {
			priority := lookup(&classes, preemptor).Value
			fmt.Printf("  %s must spare it: %t\n", preemptor, policy.Tolerates(scheduled, priority, now))
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
	var classes toleration.Classes
	set(&classes,
		toleration.Config{Name: "system-critical", Value: 10_000},
		toleration.Config{Name: "high", Value: 9_000},
		toleration.Config{Name: "low-10min", Value: 8_000, Annotations: map[string]string{
			toleration.AnnotationMinimum: "10000",
			toleration.AnnotationSeconds: "600",
		}},
		toleration.Config{Name: "low-30min", Value: 8_000, Annotations: map[string]string{
			toleration.AnnotationMinimum: "10000",
			toleration.AnnotationSeconds: "1800",
		}},
	)
	high, critical := lookup(&classes, "high").Value, lookup(&classes, "system-critical").Value
	for _, victim := range []string{"low-10min", "low-30min"} {
		policy := lookup(&classes, victim).Policy
		fmt.Printf("%s %v\n", victim, policy)
		until, _ := policy.Until(noon, high)
		fmt.Printf("  high may take it from %s\n", until.Format(time.TimeOnly))
		for _, age := range []time.Duration{0, 10*time.Minute - 1, 10 * time.Minute, 30 * time.Minute} {
			fmt.Printf("  after %v: high must spare it: %t, system-critical: %t\n", age,
				policy.Tolerates(noon, high, noon.Add(age)), policy.Tolerates(noon, critical, noon.Add(age)))
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

func ExampleParseAnnotations() {
	policy, err := toleration.ParseAnnotations(8_000, map[string]string{
		toleration.AnnotationMinimum: "10000",
		toleration.AnnotationSeconds: "600",
	})
	fmt.Println(policy, err)

	_, err = toleration.ParseAnnotations(8_000, map[string]string{toleration.AnnotationSeconds: "10m"})
	fmt.Println(err)

	// Output:
	// tolerates priorities below 10000 for 600s <nil>
	// toleration: annotation preemption-toleration.scheduling.x-k8s.io/toleration-seconds: "10m": not a whole number
}

// Until answers for all instants: the zero time is never.
func ExamplePolicy_Until() {
	short := toleration.Policy{MinimumPreemptablePriority: 1000, TolerationSeconds: 600}
	ever := toleration.Policy{MinimumPreemptablePriority: 1000, TolerationSeconds: -1}
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

// Classes carry more than the policy: whether their tasks ask to be spared, and
// whether they may preempt others.
func ExampleClasses() {
	var classes toleration.Classes
	set(&classes,
		toleration.Config{Name: "batch", Value: 100, PreemptionPolicy: "Never"},
		toleration.Config{Name: "database", Value: 500, Annotations: map[string]string{
			toleration.AnnotationAllowPreemption: "false",
		}},
	)
	for _, name := range []string{"batch", "database", ""} {
		c := lookup(&classes, name)
		fmt.Printf("%q: value %d, opted out %t, may not preempt %t, %v\n", c.Name, c.Value, c.OptedOut, c.MayNot, c.Policy)
	}
	_, err := classes.Lookup("gold")
	fmt.Println(err)

	// Output:
	// "batch": value 100, opted out false, may not preempt true, tolerates nobody
	// "database": value 500, opted out true, may not preempt false, tolerates nobody
	// "": value 0, opted out false, may not preempt false, tolerates nobody
	// toleration: class "gold": unknown class
}

func ExampleClasses_Warnings() {
	classes := toleration.Classes{StrictPriority: true}
	set(&classes,
		toleration.Config{Name: "no-seconds", Value: 100, Annotations: map[string]string{
			toleration.AnnotationMinimum: "200",
		}},
		toleration.Config{Name: "no-minimum", Value: 100, Annotations: map[string]string{
			toleration.AnnotationSeconds: "600",
		}},
		toleration.Config{Name: "misspelt", Value: 100, Annotations: map[string]string{
			"preemption-toleration.scheduling.x-k8s.io/toleration-second": "600",
		}},
	)
	for _, warning := range classes.Warnings() {
		fmt.Println(warning)
	}

	// Output:
	// toleration: class "misspelt": unknown annotation: "preemption-toleration.scheduling.x-k8s.io/toleration-second"
	// toleration: class "no-minimum": the policy protects nobody: no preemptor of a task of priority 100 is below the minimum 101
	// toleration: class "no-seconds": the policy protects nobody: toleration-seconds is 0 or absent
}

func set(classes *toleration.Classes, configs ...toleration.Config) {
	for _, config := range configs {
		if err := classes.Set(config); err != nil {
			log.Fatal(err)
		}
	}
}

func lookup(classes *toleration.Classes, name string) toleration.Class {
	c, err := classes.Lookup(name)
	if err != nil {
		log.Fatal(err)
	}
	return c
}
