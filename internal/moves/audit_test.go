// SPDX-License-Identifier: Apache-2.0

package moves_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// Each law about movers is found if it alone is broken: a lawful plan is judged in another
// world, or with other options, or is changed.
func TestAudit_EachLaw(t *testing.T) {
	gpu := func(n int64) world.Amounts { return world.Amounts{"gpu": n} }
	type judged struct {
		w    *world.World
		a    world.Ask
		p    *jobs.Planner
		plan *victims.Plan

		minimums map[string]int
		class    int
		refused  bool
		stays    bool // nobody may move
	}
	task := func(j *judged) *world.Task { return &j.w.Tasks[0] }
	for _, test := range []struct {
		law    string // "" for none
		change func(*judged)
	}{
		{"", func(*judged) {}},
		{"movable", func(j *judged) { j.stays = true }},
		{"refused", func(j *judged) { j.refused = true }},
		{"leaving", func(j *judged) { task(j).State = world.Releasing }},
		{"required-task", func(j *judged) { task(j).RequiredNode = true }},
		{"application", func(j *judged) { j.a.Application = "b" }},
		{"fence", func(j *judged) {
			j.w.Root.Children[0].Properties = map[string]string{"preemption.policy": "fence"}
		}},
		{"disabled", func(j *judged) {
			j.w.Root.Children[1].Properties = map[string]string{"preemption.policy": "disabled"}
		}},
		{"priority", func(j *judged) { task(j).Priority = 1 }},
		{"priority", func(j *judged) { j.p.StrictPriority = true }},
		{"exempt", func(j *judged) {
			j.p.Exempt = func(*victims.Question) (time.Time, bool) { return time.Time{}, true }
		}},
		{"max", func(j *judged) { j.w.Root.Children[1].Max, j.w.Root.Children[1].Guaranteed = gpu(1), gpu(1) }},
		{"budget", func(j *judged) {
			j.w.Budgets, task(j).Budgets = map[string]world.Budget{"p": {Hard: true}}, []string{"p"}
		}},
		{"filter", func(j *judged) {
			j.p.Filter = func(q *victims.Question) bool { return q.Member.Class == 0 }
			j.class = 1
		}},
		{"schedulable", func(j *judged) { j.w.Nodes[1].Unschedulable = true }},
		{"reserved", func(j *judged) { j.w.Nodes[1].ReservedFor = "x" }},
		{"room", func(j *judged) { j.w.Nodes[1].Capacity = gpu(1) }},
		{"blocker", func(j *judged) {
			j.p.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
				if q.Ask.Key == "b1+" {
					return append(dst, 1)
				}
				return dst
			}
		}},
		{"gang", func(j *judged) {
			task(j).Job = "b"
			j.w.Tasks = append(j.w.Tasks, world.Task{Key: "b2", Queue: "root.b", Node: "n2", Size: gpu(1), Job: "b"})
			j.minimums = map[string]int{"b": 2}
		}},
		{"moved", func(j *judged) {
			j.p.MaxMoved = 1
			task(j).Size = gpu(9)
			j.w.Nodes[1].Capacity = gpu(9)
		}},
		{"trigger", func(j *judged) { j.w.Root.Children[0].Guaranteed = gpu(0) }},
		{"trigger", func(j *judged) { j.w.Root.Children[0].Guaranteed = nil }},
		{"", func(j *judged) { j.w.Root.Children[0].Guaranteed = nil; j.p.Moves = victims.MovesAny }},
		{"known", func(j *judged) { j.plan.Moves[0].Key = "b9" }},
		{"once", func(j *judged) { j.plan.Moves = append(j.plan.Moves, j.plan.Moves[0]) }},
		{"node", func(j *judged) { j.plan.Moves[0].To = j.plan.Moves[0].From }},
		{"placed", func(j *judged) { j.plan.Moves[0].Grant = "a1" }},
		{"placed", func(j *judged) { // two movers, one grant
			other := *task(j)
			other.Key = "b2"
			j.w.Tasks = append(j.w.Tasks, other)
			j.w.Root.Children[1].Guaranteed = gpu(8)
			m := j.plan.Moves[0]
			m.Key, m.Task = "b2", m.Task+1
			j.plan.Moves = append(j.plan.Moves, m)
		}},
		{"helpful", func(j *judged) {
			other := *task(j)
			other.Key, other.Node = "b2", "n3"
			j.w.Tasks = append(j.w.Tasks, other)
			j.w.Nodes = append(j.w.Nodes, world.Node{Name: "n3", Capacity: gpu(4)})
			m := j.plan.Moves[0]
			m.Key, m.Task, m.From = "b2", m.Task+1, m.From+2
			m.Grant = "b2+"
			j.plan.Moves = append(j.plan.Moves, m)
		}},
	} {
		t.Run(test.law, func(t *testing.T) {
			j := judged{
				w: &world.World{
					Types: []string{"gpu"},
					Root: world.Queue{Name: "root", Children: []world.Queue{
						{Name: "a", Guaranteed: gpu(8)}, {Name: "b", Guaranteed: gpu(8)},
					}},
					Nodes: []world.Node{{Name: "n1", Capacity: gpu(8)}, {Name: "n2", Capacity: gpu(4)}},
					Tasks: []world.Task{{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2), Application: "b"}},
				},
				a: world.Ask{Key: "a1", Queue: "root.a", Size: gpu(8), Application: "a"},
			}
			build := func() (*victims.Cluster, victims.Ask) {
				c, err := world.Build(j.w)
				require.NoError(t, err)
				world.SetMinimums(c, j.minimums)
				world.LetMove(c, j.class, func(string) bool { return !j.stays })
				if j.refused {
					_, err := c.Spare(task(&j).Key, world.Epoch.Add(time.Second))
					require.NoError(t, err)
				}
				ask, err := world.AskOf(c, &j.a)
				require.NoError(t, err)
				return c, ask
			}
			c, ask := build()
			p := planner(c)
			j.p = &p
			var d victims.Decision
			require.NoError(t, p.Decide(&d, &ask, world.Epoch))
			require.Len(t, d.Plan.Moves, 1)

			j.plan = &d.Plan
			test.change(&j)
			c, ask = build()
			d.Plan.Ask, d.Plan.Version = ask, c.Version()
			auditor := victims.Auditor{Cluster: c, Options: p.Options}
			var laws []string
			for _, v := range auditor.Audit(nil, &d, world.Epoch) {
				require.NotEmpty(t, v.String())
				laws = append(laws, v.Law)
			}
			if test.law == "" {
				require.Empty(t, laws)
				return
			}
			require.Equal(t, test.law, laws[0])
		})
	}
}

// A gang that is stopped as a whole beside a move is judged as without one: if one member
// on the node may go alone, it would do, also if victims are on the node only.
func TestAudit_PartOfGang(t *testing.T) {
	gpu := func(n int64) world.Amounts { return world.Amounts{"gpu": n} }
	for _, same := range []bool{false, true} {
		c, err := world.Build(&world.World{
			Types: []string{"gpu"},
			Root:  world.Queue{Name: "root", Children: []world.Queue{{Name: "a", Guaranteed: gpu(8)}, {Name: "b"}}},
			Nodes: []world.Node{{Name: "n1", Capacity: gpu(4)}, {Name: "n2", Capacity: gpu(2)}, {Name: "n3", Capacity: gpu(2)}},
			Tasks: []world.Task{
				{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2)},
				{Key: "g1", Queue: "root.b", Node: "n1", Size: gpu(2), Job: "g"},
				{Key: "g2", Queue: "root.b", Node: "n2", Size: gpu(1), Job: "g"},
				{Key: "g3", Queue: "root.b", Node: "n2", Size: gpu(1), Job: "g"},
			},
		})
		require.NoError(t, err)
		ask, err := world.AskOf(c, &world.Ask{Key: "a1", Queue: "root.a", Size: gpu(4)})
		require.NoError(t, err)
		require.NoError(t, c.SetMinMembers("g", 3))
		p := planner(c)
		p.VictimsOnNode = same
		world.LetMove(c, 0, func(key string) bool { return key == "b1" })
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &ask, world.Epoch))
		require.Equal(t, "b1 moves from n1 to n3\n", said(&d))
		require.Len(t, d.Plan.Victims, 3)
		a := victims.Auditor{Cluster: c, Options: p.Options}
		require.Empty(t, a.Audit(nil, &d, world.Epoch))
		require.NoError(t, c.SetMinMembers("g", 1))
		found := a.Audit(nil, &d, world.Epoch)
		require.Len(t, found, 1)
		require.Equal(t, "minimal: job g: can be given back", found[0].String())
	}
}

// A gang that leaves the domain that its members shared is found, and so is one of its
// members that stays.
func TestAuditJob_Gang(t *testing.T) {
	gpu := func(n int64) world.Amounts { return world.Amounts{"gpu": n} }
	w := &world.World{
		Types: []string{"gpu"},
		Root: world.Queue{Name: "root", Children: []world.Queue{
			{Name: "a", Guaranteed: gpu(8)}, {Name: "b", Guaranteed: gpu(8)},
		}},
		Nodes: []world.Node{
			{Name: "n1", Capacity: gpu(8), Domains: []string{"r1"}}, {Name: "n2", Capacity: gpu(1), Domains: []string{"r2"}},
			{Name: "n3", Capacity: gpu(1), Domains: []string{"r2"}}, {Name: "n4", Capacity: gpu(1), Domains: []string{"r3"}},
		},
		Tasks: []world.Task{
			{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(1), Job: "b"}, {Key: "b2", Queue: "root.b", Node: "n1", Size: gpu(1), Job: "b"},
		},
	}
	c, err := world.Build(w)
	require.NoError(t, err)
	p := forJobs(c)
	require.NoError(t, c.SetMinMembers("b", 2))
	d := decideJob(t, &p, &world.Job{Name: "a", Queue: "root.a", Members: []world.Member{{Key: "a1", Size: gpu(8)}}})
	require.Equal(t, "b1 moves from n1 to n2\nb2 moves from n1 to n3\n", said(&d))
	audit := func() (laws []string) {
		a := victims.Auditor{Cluster: c, Options: p.Options}
		for _, v := range a.Audit(nil, &d, world.Epoch) {
			laws = append(laws, v.Law)
		}
		return laws
	}
	require.Empty(t, audit())
	to := d.Plan.Moves[1].To
	d.Plan.Moves[1].To, _ = c.LookupNode("n4")
	require.Equal(t, []string{"domain"}, audit())
	d.Plan.Moves[1].To = to
	d.Plan.Moves = d.Plan.Moves[:1]
	require.Equal(t, []string{"gang"}, audit())
}

// Law 4 binds jobs by guarantee as well: the queue is under its guarantee before the last
// member, the largest, comes.
func TestAuditJob_Trigger(t *testing.T) {
	gpu := func(n int64) world.Amounts { return world.Amounts{"gpu": n} }
	for _, test := range []struct {
		guaranteed      int64
		byPriority, any bool
		laws            []string
	}{
		{guaranteed: 4},
		{guaranteed: 3, laws: []string{"trigger"}},
		{guaranteed: 3, any: true},
		{guaranteed: 3, byPriority: true},
	} {
		c, err := world.Build(&world.World{
			Types: []string{"gpu"},
			Root: world.Queue{Name: "root", Children: []world.Queue{
				{Name: "a", Guaranteed: gpu(test.guaranteed)}, {Name: "b", Guaranteed: gpu(8)},
			}},
			Nodes: []world.Node{{Name: "n1", Capacity: gpu(8)}, {Name: "n2", Capacity: gpu(2)}},
			Tasks: []world.Task{{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2)}},
		})
		require.NoError(t, err)
		members := []world.Member{{Key: "a1", Size: gpu(5)}, {Key: "a2", Size: gpu(3)}}
		job := world.Job{Name: "a", Queue: "root.a", Priority: 1, Members: members}
		p := forJobs(c)
		p.ByPriority, p.Moves = test.byPriority, victims.MovesAny
		d := decideJob(t, &p, &job)
		require.Len(t, d.Plan.Moves, 1)
		if p.Moves = victims.MovesEntitled; test.any {
			p.Moves = victims.MovesAny
		}
		a := victims.Auditor{Cluster: c, Options: p.Options}
		var laws []string
		for _, v := range a.Audit(nil, &d, world.Epoch) {
			laws = append(laws, v.Law)
		}
		require.Equal(t, test.laws, laws, test)
		d = decideJob(t, &p, &job)
		require.Equal(t, test.laws == nil, len(d.Plan.Moves) > 0, test)
	}
}
