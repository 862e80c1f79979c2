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
//   - minimum-preemptable-priority is the least priority of a preemptor that is never tolerated. By
//     default it is the value of the class + 1, or the value if that is the highest priority.
//   - toleration-seconds is how long a task is spared by preemptors below the minimum,
//     from when it was scheduled. At exactly the end it can be taken. Absent or 0: not
//     at all. Negative, or more than 9223372036 (292 years): for ever.
//   - A task that is not scheduled yet is not spared.
//   - The preemptor's raw priority is compared with the minimum.
//   - A toleration protects even from a queue below its guarantee. The refusal then
//     counts exempt tasks and says when time will help.
//
// Numbers are decimal, whole and in quotes; anything else is an error. See DESIGN.md,
// Toleration: policy.
//
// # Use
//
// [Classes.Set] parses annotations; show [Classes.Warnings] to the administrator. When a
// task arrives, look its class up and keep the [Policy] beside the task:
//
//	planner.Exempt = func(e victims.Exemption) (until time.Time, exempt bool) {
//		return policies[e.Task].Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
//	}
//
// Answers allocate nothing. Several goroutines may read Classes while nobody changes
// them.
package toleration
