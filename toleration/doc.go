// Package toleration lets a priority class promise its tasks that lower
// preemptors will spare them, for a time or for ever.
//
// Preemption by priority alone knows one answer: who is lower goes. A class of
// low priority may still deserve better. A batch task that is stopped every
// few minutes never finishes; a test cluster may be given up for critical work
// and for nothing else. A preemption toleration policy says so, in two
// annotations of the priority class of the victims:
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
// Tasks of this class are spared by preemptors of priority 9999 and below in
// their first ten minutes: the class tolerates those preemptors, and its tasks
// are exempt from being their victims. A preemptor of 10000 and above never
// waits.
//
// # The rules
//
// The policy is that of the class of the victim. The preemptor's class may
// have one too; it plays no part here.
//
//   - minimum-preemptable-priority is the least priority of a preemptor that is
//     never tolerated. If it is absent, it is the value of the class + 1: the
//     class tolerates its equals and those below, and nobody above. (There is
//     nothing above 2147483647, and so that class tolerates those below.)
//   - toleration-seconds is how long a task is spared by preemptors below the
//     minimum. Absent or 0: not at all, whatever the minimum. Negative: for
//     ever. Positive: from the instant at which the task was scheduled until so
//     many seconds later. At exactly that instant it can be taken.
//   - A task that is nominated to a node and not yet scheduled there is not
//     spared: its time has not begun. A task whose time of scheduling lies in
//     the future is spared until the seconds from then are over.
//   - More than 9223372036 seconds, which are 292 years, are for ever.
//   - Priorities are compared as they are, the preemptor's own with the
//     minimum. What queues add to them or fence off is not looked at, and
//     neither is the priority of the victim, which may differ from its class's.
//   - A toleration only protects. Whoever could not be taken without it cannot
//     be taken with it: one of higher priority, or of a queue at its
//     guarantee. Nor does its end cause anything: the task may be taken then,
//     if somebody asks.
//
// Numbers are decimal and whole, in quotes, without blanks, fractions, exponents
// or units: "600", "-1". The minimum has 32 bits, the seconds have 64. Anything
// else is an error when the class is read, and not a class without a policy.
//
// # Two uses
//
// A class that gives way to critical work only. Everybody below 10000 waits for
// ever, and the class of value 10000 takes what it needs:
//
//	value: 8000   minimum-preemptable-priority: "10000"   toleration-seconds: "-1"
//
// Classes with a guaranteed running time. High work of priority 9000 takes
// tasks of the plain low class at once, and those of the others after 10 and
// after 30 minutes; critical work of 10000 takes all of them at once:
//
//	value: 8000
//	value: 8000   minimum-preemptable-priority: "10000"   toleration-seconds: "600"
//	value: 8000   minimum-preemptable-priority: "10000"   toleration-seconds: "1800"
//
// Both are examples of this package that run, and the examples of
// victims.Planner run them as asks of a cluster.
//
// # What goes wrong
//
// Some policies are legal and protect nobody. [Classes.Warnings] tells of
// them:
//
//   - a minimum without seconds;
//   - a minimum at or below the value of the class: no preemptor that could
//     take its tasks is below. If victims must have a strictly lower
//     priority, as in Kubernetes, that includes value + 1, and so every policy
//     without a minimum;
//   - a name under the prefix that is neither of the two, which is then
//     misspelt.
//
// And some protect too much. A toleration is a promise: if all that could make
// room is spared, an ask gets none, whatever its queue is guaranteed. Its
// refusal counts the tasks that were exempt, and says when time will help; for
// tasks that are spared for ever it never does.
//
// # Opting out
//
// A class may also carry yunikorn.apache.org/allow-preemption: "false". That is
// another thing: its tasks ask to be spared, and are, unless no plan does
// without them. What is neither "true" nor "false" is an error.
//
// # For the author of a scheduler
//
// Register the classes with [Classes.Set], which is when annotations are
// parsed, and show [Classes.Warnings]. When a task arrives, look its class up by
// name and keep the [Policy] beside the task: 16 bytes, without a pointer. A
// class that is changed later changes the policy of no task that is there,
// unless the caller looks it up again. [Policy.Tolerates] answers for one
// instant, and [Policy.Until] for all: it has the shape of the exemption
// functions that planners take, who then also know when to try again.
//
//	planner.Exempt = func(e victims.Exemption) (until time.Time, exempt bool) {
//		return policies[e.Task].Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
//	}
//
// The answers take nanoseconds and allocate nothing. The package has no clock:
// the present is an argument. A [Policy] may be used by several goroutines at
// once; [Classes] may while nobody changes them.
package toleration
