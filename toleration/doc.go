// SPDX-License-Identifier: Apache-2.0

// Package toleration lets a priority class promise its tasks that lower preemptors
// will spare them, for a time or for ever. Two annotations of the class say so:
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
// Preemptors of priority 9999 and below spare tasks of this class in their first ten
// minutes. One of 10000 and above never waits.
//
// # Rules
//
// Only the policy of the victim's class counts.
//
//   - minimum-preemptable-priority is the least priority of a preemptor that is never
//     tolerated; if absent, the value of the class + 1 ([DefaultMinimum]).
//   - toleration-seconds is how long a task is spared by preemptors below the minimum,
//     from when it was scheduled. At exactly the end it can be taken. Absent or 0: not
//     at all. Negative, or more than 9223372036 (292 years): for ever.
//   - A task that is not scheduled yet is not spared. One that is scheduled in the
//     future is spared until the seconds from then are over.
//   - Raw priorities are compared, the preemptor's with the minimum, whatever queues
//     add or fence off.
//   - A toleration only protects. If all that could make room is spared, an ask gets
//     none, whatever its queue is guaranteed. Its refusal counts exempt tasks and says
//     when time will help.
//
// Numbers are decimal, whole and in quotes; anything else is an error. See DESIGN.md,
// Toleration: policy. With yunikorn.apache.org/allow-preemption: "false" tasks of a
// class opt out (law 1).
//
// # Use
//
// [Classes.Set] parses annotations; show [Classes.Warnings] to the administrator. When
// a task arrives, look its class up and keep the [Policy], 16 bytes, beside the task:
//
//	planner.Exempt = func(e victims.Exemption) (until time.Time, exempt bool) {
//		return policies[e.Task].Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
//	}
//
// Answers allocate nothing. A [Policy] may be used by several goroutines, [Classes]
// while nobody changes them.
package toleration
