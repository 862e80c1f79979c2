// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/victims"
)

func TestDescribe(t *testing.T) {
	const queues = "queue q\nqueue low\n"
	for _, test := range []struct{ name, town, want string }{
		{"fits", queues + "node n1 4/1\njob q 2/1,1,1 min=1", `job j (root.q, priority 10) fits: 3 members placed, 2 of them beyond the minimum
  member j0 (cpu=2 gpu=1) on n1
  member j1 (cpu=1) on n1, beyond the minimum
  member j2 (cpu=1) on n1, beyond the minimum
`},
		{"waits", queues + "node n1 4\ntask v low n1 4 state=releasing\njob q 4", `job j (root.q, priority 10) waits for what is leaving already: 1 member placed
  member j0 (cpu=4) on n1
`},
		{"plan", "queue q max=12\nqueue low\nnode n1 4\nnode n2 8\n" +
			"task a low n1 2 p=3 opted originator\ntask b low n1 2 job=g p=3\ntask c low n1 0 job=g p=3\nkeep g 1\ntask d q n2 8 job=h\ntask e low n2 0 job=h p=-2\nkeep h 2\njob q 4,8",
			`job j (root.q, priority 10) runs once these have stopped: 2 members placed
  member j0 (cpu=4) on n1
  member j1 (cpu=8) on n2
  victim a on n1 (root.low, cpu=2, priority 3, rank -7, opted out, originator) for room on the node
  victim b on n1 (root.low, cpu=2, priority 3, rank -7, surplus of job g) for room on the node
  all of job h, which would be left below its minimum:
    victim d on n2 (root.q, cpu=8, priority 0, rank -10) for room on the node and under a max
    victim e on n2 (root.low, none, priority -2, rank -12)
  cost: 1 opted out, 1 originator, highest rank -7, highest priority 3, 1 job stopped, 4 victims, ranks sum up to -36, 4h of work lost, 12 cpu-hours
  no legal plan costs less
`},
		{"refused", queues + "node n1 4\ntask v low n1 2 until=5m\ntask w low n1 2 fixed\njob q 1,2,2", `job j (root.q, priority 10) is refused (no-victims): no legal set of victims makes room for all members
  1 not preemptible (non-preemptible)
  1 exempt (exempt)
  not even the first of 3 members could be placed
`},
		{"a budget and own costs", "budget web 1\n" + queues + "node n1 6\ntask v low n1 3 web=web cost=4\ntask w low n1 3 web=web cost=1\njob q 6", `job j (root.q, priority 10) runs once these have stopped: 1 member placed
  member j0 (cpu=6) on n1
  victim v on n1 (root.low, cpu=3, priority 0, rank -10) for room on the node
  victim w on n1 (root.low, cpu=3, priority 0, rank -10) for room on the node
  cost: 1 beyond soft budgets, highest rank -10, own cost 5, 2 victims, ranks sum up to -20, 2h of work lost, 6 cpu-hours
  no legal plan costs less
`},
		{"a hard budget", "budget web 0 hard\n" + queues + "node n1 4\ntask v low n1 4 web=web\njob q 4", `job j (root.q, priority 10) is refused (no-victims): no legal set of victims makes room for all members
  1 more than a hard budget has left (budget)
`},
		{"under a max", "queue q max=4\nnode n1 8\ntask v q n1 4\njob q 4", `job j (root.q, priority 10) runs once these have stopped: 1 member placed
  member j0 (cpu=4) on n1
  victim v on n1 (root.q, cpu=4, priority 0, rank -10) for room under a max
  cost: highest rank -10, 1 victim, 1h of work lost, 4 cpu-hours
  no legal plan costs less
`},
		{"under a quota", "queue q quota=4:4\nnode n1 8\ntask v q n1 4\njob q 4 fixed", `job j (root.q, priority 10) runs once these have stopped: 1 member placed
  member j0 (cpu=4) on n1
  victim v on n1 (root.q, cpu=4, priority 0, rank -10) for room under a quota
  cost: highest rank -10, 1 victim, 1h of work lost, 4 cpu-hours
  no legal plan costs less
`},
		{"the min of a quota", "queue q quota=3:9\nnode n1 4\njob q 4 fixed", `job j (root.q, priority 10) is refused (quota-min): it may not have so much that is not preemptible
  non-preemptible-min: root.q: cpu: 0 used and 4 asked for are above 3 by 1
`},
		{"the max of a quota", "queue q quota=0:3\nnode n1 4\njob q 4", `job j (root.q, priority 10) is refused (quota-max): a quota is passed
  preemptible-max: root.q: cpu: 0 used and 4 asked for are above 3 by 1
`},
		{"guarantee", "queue q\nqueue low g=4\nnode n1 4\ntask v low n1 4 originator\ntask w low n1 0 opted\njob q 4", `job j (root.q, priority 10) is refused (no-victims): no legal set of victims makes room for all members
  1 of no help with what is short (not-helping)
  1 needed for a guarantee (guarantee), first that of root.low, cpu=4
`},
		{"a domain", queues + "node n1 4 in=b1/r1\nnode n2 4 in=b1/r2\ntask v low n1 4\njob q 4,4 domain=2", `job j (root.q, priority 10) is refused (no-victims): no legal set of victims makes room for all members
  1 could be taken
  domain b1, r1 came closest: with everybody gone who could it has room for 1 of 2 members, and lacks cpu=4
  the first 1 of 2 members could be placed
`},
		{"a domain without a legal set", "queue q\nqueue low g=4\nnode n1 8 in=r1\ntask v low n1 4\ntask w low n1 4\njob q 4,4 domain=1", `job j (root.q, priority 10) is refused (no-victims): no legal set of victims makes room for all members
  2 needed for a guarantee (guarantee), first that of root.low, cpu=4
  domain r1 came closest: there would be room for 2 members, but no legal set of victims makes it
  the first 1 of 2 members could be placed
`},
		{"no domain", queues + "node n1 4\njob q 4 domain=2", "job j (root.q, priority 10) is refused (domain): no domain of that depth can have all its members\n"},
		{"must not preempt", queues + "node n1 4\ntask v low n1 4\njob q 4 never", "job j (root.q, priority 10) is refused (may-not-preempt): it must not preempt others\n"},
		{"in flight", queues + "node n1 4\ntask j0 q n1 1 job=j app=j state=releasing\ntask v low n1 3\njob q 1,1",
			"job j (root.q, priority 10) is refused (in-flight): members are leaving still, or cannot start yet where they were placed\n"},
		{"out of reach", "queue q policy=disabled\nnode n1 4\ntask v q n1 4\njob q 4",
			"job j (root.q, priority 10) is refused (nothing-in-reach): no queue that it could take from is in reach\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, test.town)
			require.Equal(t, test.want, w.decide().String())
		})
	}
}

// What is described later is what was decided: rows of tasks that have gone, and
// of nodes, may be those of others by then.
func TestDescribe_Later(t *testing.T) {
	w := build(t, "queue q\nqueue low\nqueue other\nnode n1 4\ntask v low n1 4 p=3\njob q 4")
	d := w.decide()
	first := d.String()
	require.NoError(t, w.cluster.RemoveTask("v"))
	require.NoError(t, law.ErrOf(w.cluster.RemoveNode("n1")))
	_, err := w.cluster.AddNode(&victims.Node{Name: "n9", Capacity: w.size("9")})
	require.NoError(t, err)
	w.addTask(parseLine("task newcomer other n9 1 p=7"))
	require.Equal(t, first, d.String())
}

// What the caller's functions refuse is told apart from what laws do.
func TestDescribe_Callers(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4\nnode n2 4\ntask v low n1 4\ntask w low n2 4\njob q 4,4")
	p := w.planner()
	var d victims.Decision
	p.Predicate = func(q *victims.Question) bool { return w.cluster.NodeName(q.Node) != "n2" }
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.NoError(t, d.Count())
	require.Equal(t, `job j (root.q, priority 10) is refused (predicate): the predicate refuses the places that could be made free
  2 could be taken
  the first 1 of 2 members could be placed
`, d.String())

	p.Predicate = nil
	p.Filter = func(q *victims.Question) bool { return w.cluster.NodeName(q.Node) == "n1" }
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.NoError(t, d.Count())
	require.Equal(t, `job j (root.q, priority 10) is refused (no-victims): no legal set of victims makes room for all members
  1 of no help with what is short (not-helping)
  1 could be taken
  the filter refuses 1 node
  the first 1 of 2 members could be placed
`, d.String())
	require.Equal(t, "nothing is decided\n", (&victims.Decision{}).String())
}
