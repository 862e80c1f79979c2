package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
  cost: 1 opted out, 1 originator, highest rank -7, highest priority 3, 1 job stopped, 4 victims, ranks sum up to -36, 4h0m0s of work lost
  no legal plan costs less
`},
		{"refused", queues + "node n1 4\ntask v low n1 2 until=5m\ntask w low n1 2 fixed\njob q 1,2,2", `job j (root.q, priority 10) is refused (no-victims): no legal set of victims makes room for all members
  1 not preemptible (non-preemptible)
  1 exempt (exempt)
  the first 0 of 3 members could be placed
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, test.town)
			require.Equal(t, test.want, w.decide().Describe(w.cluster))
		})
	}
}

// What is described later is what was decided: rows of tasks that have gone, and
// of nodes, may be those of others by then.
func TestDescribe_Later(t *testing.T) {
	w := build(t, "queue q\nqueue low\nqueue other\nnode n1 4\ntask v low n1 4 p=3\njob q 4")
	d := w.decide()
	first := d.Describe(w.cluster)
	require.NoError(t, w.cluster.RemoveTask("v"))
	require.NoError(t, w.cluster.RemoveNode("n1"))
	_, err := w.cluster.AddNode(&victims.Node{Name: "n9", Capacity: w.size("9")})
	require.NoError(t, err)
	w.addTask(parseLine("task newcomer other n9 1 p=7"))
	require.Equal(t, first, d.Describe(w.cluster))
}
