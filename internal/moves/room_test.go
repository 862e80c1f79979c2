// SPDX-License-Identifier: Apache-2.0

package moves_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

func gpu(n int64) world.Amounts { return world.Amounts{"gpu": n} }

// townOf builds a cluster of one type with the queues root.a, guaranteed that much, and root.b.
func townOf(t *testing.T, most, a, b int64, nodes []world.Node, tasks ...world.Task) *victims.Cluster {
	w := &world.World{
		Types: []string{"gpu"},
		Root: world.Queue{Name: "root", Children: []world.Queue{
			{Name: "a", Guaranteed: gpu(a)}, {Name: "b", Guaranteed: gpu(b)},
		}},
		Nodes: nodes, Tasks: tasks,
	}
	if most > 0 {
		w.Root.Max = gpu(most)
	}
	c, err := world.Build(w)
	require.NoError(t, err)
	return c
}

// nodesOf names nodes n1, n2 and so on.
func nodesOf(capacities ...int64) (nodes []world.Node) {
	for i, v := range capacities {
		nodes = append(nodes, world.Node{Name: fmt.Sprint("n", i+1), Capacity: gpu(v)})
	}
	return nodes
}

func decideAsk(t *testing.T, p *jobs.Planner, a world.Ask) (d victims.Decision) {
	c := p.Cluster
	ask, err := world.AskOf(c, &a)
	require.NoError(t, err)
	version := c.Version()
	require.NoError(t, p.Decide(&d, &ask, world.Epoch))
	require.Equal(t, version, c.Version())
	if d.Outcome != victims.Refused {
		audit := victims.Auditor{Cluster: c, Options: p.Options}
		require.Empty(t, audit.Audit(nil, &d, world.Epoch), d.String())
	}
	return d
}

// A task that could go for headroom is not moved out of the way, so that one of the own leaf
// has to stop: neither from one node for another, nor if its node needs the room as well.
func TestDecide_WorkOfOthersFirst(t *testing.T) {
	for _, test := range []struct {
		name  string
		most  int64
		asks  int64
		nodes []world.Node
		tasks []world.Task
	}{
		{"another node", 8, 4, nodesOf(4, 9), []world.Task{
			{Key: "stays", Queue: "root.a", Node: "n1", Size: gpu(1), Priority: 9},
			{Key: "big", Queue: "root.a", Node: "n2", Size: gpu(1), Priority: 9},
		}},
		{"its node", 4, 2, nodesOf(4, 1), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			tasks := append(test.tasks,
				world.Task{Key: "other", Queue: "root.b", Node: "n1", Size: gpu(1), OptedOut: true},
				world.Task{Key: "own", Queue: "root.a", Node: "n1", Size: gpu(2)})
			c := townOf(t, test.most, 8, 0, test.nodes, tasks...)
			p := planned(c, victims.Options{WithinQueue: queue.Met})
			world.LetMove(c, 0, func(key string) bool { return key == "other" })
			d := decideAsk(t, &p, world.Ask{Key: "ask", Queue: "root.a", Size: gpu(test.asks), Priority: 5})
			require.Empty(t, d.Plan.Moves, d.String())
			require.Len(t, d.Plan.Victims, 1)
			require.Equal(t, "other", d.Plan.Victims[0].Key)
			require.True(t, d.Plan.Proof == victims.ProofCost)
		})
	}
}

// What the own leaf may give changes nothing where a plan exists without: others move and
// stop, though a single task of the own leaf would do.
func TestDecide_OwnLeafLast(t *testing.T) {
	nodes := nodesOf(2, 1, 2, 2)
	nodes[2].Unschedulable, nodes[3].Unschedulable = true, true
	c := townOf(t, 6, 8, 0, nodes,
		world.Task{Key: "own", Queue: "root.a", Node: "n1", Size: gpu(1)},
		world.Task{Key: "b1", Job: "b", Queue: "root.b", Node: "n3", Size: gpu(1)}, world.Task{Key: "b2", Job: "b", Queue: "root.b", Node: "n3", Size: gpu(1)},
		world.Task{Key: "stays", Queue: "root.b", Node: "n4", Size: gpu(2), Priority: 9})
	require.NoError(t, c.SetMinMembers("b", 2))
	for _, option := range []queue.WithinQueue{queue.Never, queue.Met} {
		for _, large := range []bool{false, true} {
			p := planned(c, victims.Options{WithinQueue: option})
			world.LetMove(c, 0, nil)
			ask := world.Ask{Key: "ask", Queue: "root.a", Size: gpu(2), Priority: 5}
			d := decideAsk(t, &p, ask)
			if large {
				a, err := world.AskOf(c, &ask)
				require.NoError(t, err)
				d = hasty(t, &p, &a, world.Epoch)
			}
			require.Equal(t, victims.Preempts, d.Outcome, d.String())
			require.Equal(t, "own moves from n1 to n2\n", said(&d))
			require.Len(t, d.Plan.Victims, 2)
		}
	}
}

// The grant of a mover has its key and "+", longer if that is taken, by whomever.
func TestDecide_KeyInUse(t *testing.T) {
	for _, test := range []struct{ taken, ask, want string }{
		{"c", "ask", "b1+"},
		{"b1+", "ask", "b1++"},
		{"c", "b1+", "b1++"},
		{"b1+", "b1++", "b1+++"},
	} {
		c := townOf(t, 0, 8, 3, nodesOf(4, 6),
			world.Task{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2), Priority: -1},
			world.Task{Key: test.taken, Queue: "root.b", Node: "n2", Size: gpu(3), Priority: 1})
		world.LetMove(c, 0, nil)
		p := planner(c)
		d := decideAsk(t, &p, world.Ask{Key: test.ask, Queue: "root.a", Size: gpu(4)})
		require.Len(t, d.Plan.Moves, 1, d.String())
		require.Equal(t, test.want, d.Plan.Moves[0].Grant)
		require.NoError(t, c.Apply(&d))
	}
	// Two movers of one plan do not get the same.
	c := townOf(t, 0, 8, 8, nodesOf(6, 4), world.Task{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2)}, world.Task{Key: "b1+", Queue: "root.b", Node: "n1", Size: gpu(2)})
	world.LetMove(c, 0, nil)
	p := planner(c)
	d := decideAsk(t, &p, world.Ask{Key: "ask", Queue: "root.a", Size: gpu(6)})
	require.Len(t, d.Plan.Moves, 2, d.String())
	require.Equal(t, "b1++", d.Plan.Moves[0].Grant)
	require.Equal(t, "b1+++", d.Plan.Moves[1].Grant)
	require.NoError(t, c.Apply(&d))
}

// Nobody of a gang goes to the node that is freed, and the auditor says so.
func TestDecide_GangLeavesTheNode(t *testing.T) {
	c := townOf(t, 0, 12, 20, nodesOf(10, 2, 4),
		world.Task{Key: "g0", Job: "g", Queue: "root.b", Node: "n1", Size: gpu(4)}, world.Task{Key: "g1", Job: "g", Queue: "root.b", Node: "n2", Size: gpu(2)},
		world.Task{Key: "fixed", Queue: "root.b", Node: "n1", Size: gpu(2), Priority: 9})
	require.NoError(t, c.SetMinMembers("g", 2))
	p := planner(c)
	world.LetMove(c, 0, func(key string) bool { return key != "fixed" })
	ask := world.Ask{Key: "ask", Queue: "root.a", Size: gpu(6)}
	require.Equal(t, victims.Refused, decideAsk(t, &p, ask).Outcome)

	// A fourth node takes it. Then the plan is changed.
	_, err := c.AddNode(&victims.Node{Name: "n4", Capacity: []int64{2}})
	require.NoError(t, err)
	d := decideAsk(t, &p, ask)
	require.Equal(t, "g0 moves from n1 to n3\ng1 moves from n2 to n4\n", said(&d))
	d.Plan.Moves[1].To = d.Plan.Moves[0].From
	audit := victims.Auditor{Cluster: c, Options: p.Options}
	found := audit.Audit(nil, &d, world.Epoch)
	require.Len(t, found, 1)
	require.Equal(t, "reserved", found[0].Law)
}

// A member that is leaving, or holds a grant, neither moves nor keeps its gang from that.
func TestDecide_GangOfThoseThatRun(t *testing.T) {
	for _, state := range []world.State{world.Releasing, world.Preempting, ""} {
		nodes := nodesOf(4, 2, 2)
		for i := range nodes {
			nodes[i].Domains = []string{fmt.Sprint("rack", i/2)} // it is in no rack with the others
		}
		tasks := []world.Task{{Key: "g0", Job: "g", Queue: "root.b", Node: "n1", Size: gpu(2)}}
		if state != "" {
			tasks = append(tasks, world.Task{Key: "g1", Job: "g", Queue: "root.b", Node: "n3", Size: gpu(2), State: state})
		}
		c := townOf(t, 0, 8, 4, nodes, tasks...)
		if state == "" {
			grant, err := world.AskOf(c, &world.Ask{Key: "g1", Job: "g", Queue: "root.b", Size: gpu(2)})
			require.NoError(t, err)
			n3, _ := c.LookupNode("n3")
			_, err = c.GrantPlace(&grant, n3, time.Time{})
			require.NoError(t, err)
		}
		require.NoError(t, c.SetMinMembers("g", 1))
		p := planner(c)
		world.LetMove(c, 0, nil)
		d := decideAsk(t, &p, world.Ask{Key: "ask", Queue: "root.a", Size: gpu(4)})
		require.Equal(t, "g0 moves from n1 to n2\n", said(&d))
	}
}

// If a function of the caller panics, or stops the goroutine, during a trial, cluster and planners
// are as they were.
func TestDecide_Panic(t *testing.T) {
	c := townOf(t, 0, 8, 4, nodesOf(4, 2), world.Task{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2)})
	p := planner(c)
	world.LetMove(c, 0, nil)
	before := c.Version()
	filter := func(*victims.Question) bool {
		if p.Cluster != c {
			panic("of the caller")
		}
		return true
	}
	p.Filter = filter
	ask, err := world.AskOf(c, &world.Ask{Key: "ask", Queue: "root.a", Size: gpu(4)})
	require.NoError(t, err)
	require.PanicsWithValue(t, "of the caller", func() { _ = p.Decide(new(victims.Decision), &ask, world.Epoch) })
	require.Nil(t, p.Stop)
	require.True(t, p.Filter(new(victims.Question)), "filter and cluster are the caller's again")
	job := jobOf(t, c, &world.Job{Name: "a", Queue: "root.a", Members: []world.Member{{Key: "a1", Size: gpu(4)}}})
	require.PanicsWithValue(t, "of the caller", func() { _ = p.Decide(new(victims.Decision), &job, world.Epoch) })
	require.True(t, p.Filter(new(victims.Question)), "filter and cluster are the caller's again")
	require.Equal(t, before, c.Version())
	require.Equal(t, 1, c.TaskLen())
}

// Who is told of decisions is told of each once, with its moves. A plan that breaks a law of moves
// is refused if plans are audited.
func TestDecide_ObservedAndAudited(t *testing.T) {
	c := townOf(t, 0, 8, 4, nodesOf(4, 2), world.Task{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2)})
	world.LetMove(c, 0, nil)
	for _, members := range []int{0, 1} {
		asked, seen := 0, []string{}
		p := planner(c)
		p.Filter = func(q *victims.Question) bool {
			if q.Ask.Key == "b1+" {
				asked++
			}
			return asked <= 1 // the audit asks again
		}
		p.Observe = func(d *victims.Decision) {
			seen = append(seen, fmt.Sprint(d.Outcome, d.Refusal.Reason, len(d.Plan.Moves)))
		}
		ask, err := world.AskOf(c, &world.Ask{Key: "ask", Queue: "root.a", Size: gpu(4)})
		require.NoError(t, err)
		for i := range members {
			ask.Members = append(ask.Members, victims.Member{Key: fmt.Sprint("m", i)})
		}
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &ask, world.Epoch))
		p.Audit, asked = true, 0
		require.NoError(t, p.Decide(&d, &ask, world.Epoch))
		require.Equal(t, []string{"plan1", "refused" + victims.Unlawful + "0"}, seen)
		require.Empty(t, d.Plan.Places)
	}
}

// Of several asks the option is an error, and so is a word that is none.
func TestDecide_NotHere(t *testing.T) {
	c := townOf(t, 0, 8, 4, nodesOf(4))
	ask, err := world.AskOf(c, &world.Ask{Key: "ask", Queue: "root.a", Size: gpu(4)})
	require.NoError(t, err)
	p := planner(c)
	_, err = p.DecideAll(nil, []victims.Ask{ask}, world.Epoch)
	require.EqualError(t, err, `jobs: Moves: "entitled": several asks are decided without moves: wrong state`)
	p.Moves = "some"
	require.EqualError(t, p.Decide(new(victims.Decision), &ask, world.Epoch), `victims: Moves: "some": unknown`)
}

// What waits is decided again once a mover has a place, though the ask itself has none there.
func TestPending(t *testing.T) {
	c := townOf(t, 0, 8, 4, nodesOf(4, 1), world.Task{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2)})
	world.LetMove(c, 0, nil)
	p := planner(c)
	waiting := jobs.Pending{Planner: &p}
	ask, err := world.AskOf(c, &world.Ask{Key: "ask", Queue: "root.a", Size: gpu(4)})
	require.NoError(t, err)
	waiting.Add(ask)
	said := func() (s []string) {
		for d, err := range waiting.Decide(world.Epoch) {
			require.NoError(t, err)
			s = append(s, fmt.Sprint(d.Outcome, len(d.Plan.Moves)))
		}
		return s
	}
	require.Equal(t, []string{"refused 0"}, said())
	require.Empty(t, said())
	require.NoError(t, c.UpdateNode(&victims.Node{Name: "n2", Capacity: []int64{2}}))
	require.Equal(t, []string{"plan 1"}, said())
}

// Text, summary and report say who moves, and the cost how many.
func TestDescribe(t *testing.T) {
	c := townOf(t, 0, 8, 4, nodesOf(8, 4),
		world.Task{Key: "mover", Queue: "root.b", Node: "n1", Size: gpu(4)}, world.Task{Key: "slow", Queue: "root.b", Node: "n1", Size: gpu(4)})
	world.LetMove(c, 0, func(key string) bool { return key == "mover" })
	p := planner(c)
	d := decideAsk(t, &p, world.Ask{Key: "ask", Queue: "root.a", Size: gpu(8)})
	require.Equal(t, `ask (root.a, gpu=8) runs on n1 once these have stopped or moved:
  mover moves from n1 to n2 (root.b, gpu=4)
  slow on n1 (root.b, gpu=4, priority 0) for room on the node
  cost: 1 victim, 1 move
  no legal plan costs less
`, d.String())
	require.Equal(t, `ask (root.a, gpu=8) runs on n1 once these have stopped or moved: slow, mover to n2`, d.Summary())
	text, err := json.Marshal(d)
	require.NoError(t, err)
	require.Contains(t, string(text), `"moves":[{"key":"mover","from":"n1","to":"n2","grant":"mover+"}],"cost":"1 victim, 1 move"`)
	audit := victims.Auditor{Cluster: c, Options: p.Options}
	require.Equal(t, d.Plan.Cost, audit.Cost(&d, world.Epoch))

	job := victims.Ask{Key: "job", Queue: d.Plan.Ask.Queue, Members: []victims.Member{{Key: "m", Size: []int64{8}}}}
	require.NoError(t, c.SetGuaranteed(mustLookup(t, c, "root.b"), resources.Limit{}))
	require.NoError(t, p.Decide(&d, &job, world.Epoch))
	require.Equal(t, `job job (root.a, priority 0) runs once these have stopped or moved: slow, mover to n2`, d.Summary())
	require.Contains(t, d.String(), "  member m (gpu=8) on n1\n  mover moves from n1 to n2 (root.b, gpu=4)\n  victim slow on n1")
}
