// SPDX-License-Identifier: Apache-2.0

// Package toleration lets a priority class promise its tasks that lower preemptors will
// spare them, for a time or for ever. Annotations of the class say so:
//
//	apiVersion: scheduling.k8s.io/v1
//	kind: PriorityClass
//	metadata:
//	  name: low-non-preempted-10min
//	  annotations:
//	    preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority: "10000"
//	    preemption-toleration.scheduling.x-k8s.io/toleration-seconds: "600"
//	value: 8000
//
// Preemptors below 10000 spare tasks of this class in their first ten minutes.
//
// # Rules
//
// Only the policy of the victim's class counts.
//
//   - minimum-preemptable-priority is the least raw priority of a preemptor that need not
//     spare them. By default it is the value of the class + 1, or the value if that is the
//     highest priority. With StrictPriority that default protects nobody.
//   - toleration-seconds is how long preemptors below the minimum spare a task, from when
//     it was scheduled. At exactly the end it can be taken. Absent or 0: not at all.
//     Negative, or more than 9223372036 (292 years): for ever.
//   - A task that is not scheduled yet is not spared.
//   - A toleration protects even from a queue below its guarantee. The refusal then
//     counts exempt tasks and says when time will help.
//
// Numbers are decimal, whole and in quotes; anything else is an error. See DESIGN.md,
// Toleration: policy.
//
// # Use
//
// [Parse] reads a class; keep what it means in a map of your own, and show the warnings to
// the administrator. When a task arrives, keep the [Policy] of its class beside it:
//
//	planner.Exempt = func(e *victims.Question) (until time.Time, exempt bool) {
//		return policies[e.Task].Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
//	}
package toleration
