// SPDX-License-Identifier: Apache-2.0

package moves_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// jobOf returns the job of a case, its members of the class of their place in the list.
func jobOf(t require.TestingT, c *victims.Cluster, j *world.Job) victims.Ask {
	leaf, ok := c.Tree().Lookup(j.Queue)
	require.True(t, ok)
	job := victims.Ask{
		Key: j.Name, Application: j.Application, Queue: leaf, Priority: j.Priority, NonPreemptible: j.NonPreemptible,
		MinMembers: j.MinMembers, MayNotPreempt: j.MayNot, PendingSince: j.PendingSince, LastAttempt: j.LastAttempt, DomainDepth: j.Domain,
	}
	for i := range j.Members {
		m := &j.Members[i]
		job.Members = append(job.Members, victims.Member{
			Key: m.Key, Size: world.VectorOf(c, m.Size), Originator: m.Originator, OptedOut: m.OptedOut, Class: i,
		})
	}
	return job
}

// forJobs makes a planner for jobs that may move everybody.
func forJobs(c *victims.Cluster) jobs.Planner {
	world.LetMove(c, 0, nil)
	return planner(c)
}

// decideJob decides about a job.
func decideJob(t *testing.T, p *jobs.Planner, j *world.Job) (d victims.Decision) {
	job := jobOf(t, p.Cluster, j)
	require.NoError(t, p.Decide(&d, &job, world.Epoch))
	return d
}

// A job with moves is lawful, and is not refused, nor stops more, than without.
func propertyJob(t *rapid.T) {
	shape := world.Small
	if rapid.Bool().Draw(t, "everything") {
		shape = shape.With(world.Everything)
	}
	k := world.JobCases(shape).Draw(t, "case")
	for i := range k.World.Nodes { // room to move to
		for name, v := range k.World.Nodes[i].Capacity {
			k.World.Nodes[i].Capacity[name] = v + rapid.Int64Range(0, 2).Draw(t, "more")
		}
	}
	c, err := world.Build(&k.World)
	require.NoError(t, err)
	job := jobOf(t, c, &k.Job)
	movable := map[string]bool{}
	for i := range k.World.Tasks {
		movable[k.World.Tasks[i].Key] = rapid.IntRange(0, 3).Draw(t, "movable") > 0
	}
	w := world.Case{World: k.World, Options: k.Options}
	p := planned(c, world.PlannerOf(c, &w.Options).Options)
	world.SetMinimums(c, k.Minimums)
	p.Filter = func(q *victims.Question) bool {
		i := slices.IndexFunc(k.World.Nodes, func(at world.Node) bool { return at.Name == c.NodeName(q.Node) })
		return q.Member.Class < 0 || k.World.Nodes[i].Has(k.Job.Members[q.Member.Class].Selector)
	}
	world.LetMove(c, -1, func(key string) bool { return movable[key] })
	p.Moves, p.MaxMoved = victims.MovesEntitled, rapid.Int64Range(0, 2).Draw(t, "most")
	if rapid.Bool().Draw(t, "any") {
		p.Moves = victims.MovesAny
	}

	version := c.Version()
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &job, k.Options.Now))
	require.Equal(t, version, c.Version())
	without := stay(t, &p, &job, k.Options.Now)
	say := fmt.Sprintf("%swithout moves %s%v", d.String(), without.String(), k)
	require.LessOrEqual(t, d.Outcome, without.Outcome, say)
	jobKinds[fmt.Sprint(d.Outcome, len(d.Plan.Moves) > 0)]++
	if d.Outcome == victims.Refused {
		return
	}
	audit := victims.Auditor{Cluster: c, Options: p.Options}
	require.Empty(t, audit.Audit(nil, &d, k.Options.Now), say)
	if d.Outcome == victims.Preempts && without.Outcome == victims.Preempts {
		require.LessOrEqual(t, len(d.Plan.Victims), len(without.Plan.Victims), say)
	}
	require.NoError(t, c.Apply(&d))
}

var jobKinds = map[string]int{}

func TestDecideJob_Lawful(t *testing.T) {
	seen := func() bool { return jobKinds["waits true"]+jobKinds["plan true"] > 0 }
	law.CheckUntil(t, seen, propertyJob)
	t.Log(jobKinds)
}

func FuzzDecideJob(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyJob)) }

// Two racks of two nodes. In each a task of a team within its guarantee keeps a job of two
// whole nodes out, which needs one rack. One of the tasks moves to the other rack.
func TestDecideJob_Rack(t *testing.T) {
	gpu := func(n int64) world.Amounts { return world.Amounts{"gpu": n} }
	w := &world.World{
		Types: []string{"gpu"},
		Root: world.Queue{Name: "root", Children: []world.Queue{
			{Name: "a", Guaranteed: gpu(16)}, {Name: "b", Guaranteed: gpu(16)},
		}},
		Nodes: []world.Node{
			{Name: "n1", Capacity: gpu(8), Domains: []string{"r1"}}, {Name: "n2", Capacity: gpu(8), Domains: []string{"r1"}},
			{Name: "n3", Capacity: gpu(8), Domains: []string{"r2"}}, {Name: "n4", Capacity: gpu(8), Domains: []string{"r2"}},
		},
		Tasks: []world.Task{
			{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(4), Job: "b"}, {Key: "b2", Queue: "root.b", Node: "n1", Size: gpu(2), Job: "b"},
			{Key: "b3", Queue: "root.b", Node: "n3", Size: gpu(2)},
		},
	}
	c, err := world.Build(w)
	require.NoError(t, err)
	p := forJobs(c)
	require.NoError(t, c.SetMinMembers("b", 2))
	d := decideJob(t, &p, &world.Job{Name: "a", Queue: "root.a", Domain: 1, Members: []world.Member{{Key: "a1", Size: gpu(8)}, {Key: "a2", Size: gpu(8)}}})
	require.Equal(t, "b3 moves from n3 to n1\n", said(&d))
	require.Equal(t, victims.Preempts, d.Outcome)
	for _, at := range d.Plan.Places {
		require.Contains(t, []string{"n3", "n4"}, at.NodeName)
	}
	require.NoError(t, c.Apply(&d))
	require.NoError(t, c.RemoveTask("b3"))
	started, err := c.StartReady(world.Epoch, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"b3+", "a1", "a2"}, started)
	require.Equal(t, int64(8), c.Tree().Usage(mustLookup(t, c, "root.b"))[0])
}

// Two members share a node, and each needs another task gone from there.
func TestDecideJob_OneNode(t *testing.T) {
	gpu := func(n int64) world.Amounts { return world.Amounts{"gpu": n} }
	c, err := world.Build(&world.World{
		Types: []string{"gpu"},
		Root: world.Queue{Name: "root", Children: []world.Queue{
			{Name: "a", Guaranteed: gpu(8)}, {Name: "b", Guaranteed: gpu(8)},
		}},
		Nodes: []world.Node{{Name: "n1", Capacity: gpu(8)}, {Name: "n2", Capacity: gpu(4)}},
		Tasks: []world.Task{{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2)}, {Key: "b2", Queue: "root.b", Node: "n1", Size: gpu(2)}},
	})
	require.NoError(t, err)
	p := forJobs(c)
	p.Filter = func(q *victims.Question) bool { return q.Member.Class < 0 || c.NodeName(q.Node) == "n1" }
	world.LetMove(c, -1, nil)
	d := decideJob(t, &p, &world.Job{Name: "a", Queue: "root.a", Members: []world.Member{{Key: "a1", Size: gpu(6)}, {Key: "a2", Size: gpu(2)}}})
	require.Equal(t, "b1 moves from n1 to n2\nb2 moves from n1 to n2\n", said(&d))
}

// A member that is leaving has no place, and can get none. The others that the job needs do,
// by moves, and law 4 is about them.
func TestDecideJob_LeavingMember(t *testing.T) {
	gpu := func(n int64) world.Amounts { return world.Amounts{"gpu": n} }
	for least := 1; least <= 2; least++ {
		c, err := world.Build(&world.World{
			Types: []string{"gpu"},
			Root: world.Queue{Name: "root", Children: []world.Queue{
				{Name: "a", Guaranteed: gpu(16)}, {Name: "b", Guaranteed: gpu(10)},
			}},
			Nodes: []world.Node{
				{Name: "n1", Capacity: gpu(8)}, {Name: "n2", Capacity: gpu(8)}, {Name: "n3", Capacity: gpu(5)}, {Name: "n4", Capacity: gpu(5)},
			},
			Tasks: []world.Task{
				{Key: "a1", Queue: "root.a", Node: "n3", Size: gpu(1), State: world.Releasing},
				{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(5)}, {Key: "b2", Queue: "root.b", Node: "n2", Size: gpu(5)},
			},
		})
		require.NoError(t, err)
		members := []world.Member{{Key: "a1", Size: gpu(1)}, {Key: "a2", Size: gpu(8)}, {Key: "a3", Size: gpu(8)}}
		p := forJobs(c)
		d := decideJob(t, &p, &world.Job{Name: "a", Queue: "root.a", MinMembers: least, Members: members})
		require.Equal(t, victims.Preempts, d.Outcome, d.String())
		require.Len(t, d.Plan.Moves, least, said(&d))
	}
}

func mustLookup(t *testing.T, c *victims.Cluster, path string) queue.ID {
	q, ok := c.Tree().Lookup(path)
	require.True(t, ok)
	return q
}

// What may move, and what may not.
func TestDecide_WhoMoves(t *testing.T) {
	gpu := func(n int64) world.Amounts { return world.Amounts{"gpu": n} }
	base := func() *world.World {
		return &world.World{
			Types: []string{"gpu"},
			Root: world.Queue{Name: "root", Children: []world.Queue{
				{Name: "a", Guaranteed: gpu(8)}, {Name: "b", Guaranteed: gpu(8)},
			}},
			Nodes: []world.Node{{Name: "n1", Capacity: gpu(8)}, {Name: "n2", Capacity: gpu(4)}},
			Tasks: []world.Task{{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2), Application: "b"}},
		}
	}
	for _, test := range []struct {
		name   string
		change func(*world.World, *world.Ask, *victims.Options)
		want   victims.Outcome
	}{
		{"a task within its guarantee", func(*world.World, *world.Ask, *victims.Options) {}, victims.Preempts},
		{"opted out", func(w *world.World, _ *world.Ask, _ *victims.Options) { w.Tasks[0].OptedOut = true }, victims.Preempts},
		{"higher", func(w *world.World, _ *world.Ask, _ *victims.Options) { w.Tasks[0].Priority = 1 }, victims.Refused},
		{"bound to its node", func(w *world.World, _ *world.Ask, _ *victims.Options) { w.Tasks[0].RequiredNode = true }, victims.Refused},
		{"of the application of the ask", func(_ *world.World, a *world.Ask, _ *victims.Options) { a.Application = "b" }, victims.Refused},
		{"behind a fence", func(w *world.World, _ *world.Ask, _ *victims.Options) {
			w.Root.Children[0].Properties = map[string]string{"preemption.policy": "fence"}
		}, victims.Refused},
		{"no node to go to", func(w *world.World, _ *world.Ask, _ *victims.Options) { w.Nodes[1].Capacity = gpu(1) }, victims.Refused},
		{"a node that takes no tasks", func(w *world.World, _ *world.Ask, _ *victims.Options) { w.Nodes[1].Unschedulable = true }, victims.Refused},
		{"a node kept for another", func(w *world.World, _ *world.Ask, _ *victims.Options) { w.Nodes[1].ReservedFor = "x" }, victims.Refused},
		{"not movable", func(w *world.World, _ *world.Ask, _ *victims.Options) {
			w.Tasks[0].Key = "stays"
		}, victims.Refused},
		{"one that would not stop", func(w *world.World, _ *world.Ask, _ *victims.Options) { w.Tasks[0].Key = "refuses" }, victims.Refused},
		{"an ask over its guarantee", func(w *world.World, _ *world.Ask, _ *victims.Options) { w.Root.Children[0].Guaranteed = gpu(0) }, victims.Refused},
		{"an ask over its guarantee that may move others", func(w *world.World, _ *world.Ask, o *victims.Options) {
			w.Root.Children[0].Guaranteed = gpu(0)
			o.Moves = victims.MovesAny
		}, victims.Preempts},
		{"a hard budget with nothing left", func(w *world.World, _ *world.Ask, _ *victims.Options) {
			w.Budgets, w.Tasks[0].Budgets = map[string]world.Budget{"p": {Hard: true}}, []string{"p"}
		}, victims.Refused},
		{"a lower one that could stop", func(w *world.World, a *world.Ask, _ *victims.Options) {
			w.Root.Children[1].Guaranteed = gpu(0)
			a.Priority = 5
		}, victims.Preempts},
		{"a gang that finds one rack", func(w *world.World, _ *world.Ask, _ *victims.Options) { gang(w, "r2", "r2") }, victims.Preempts},
		{"a gang that finds two racks", func(w *world.World, _ *world.Ask, _ *victims.Options) { gang(w, "r2", "r3") }, victims.Refused},
		{"a gang on two nodes", func(w *world.World, _ *world.Ask, _ *victims.Options) {
			gang(w, "r2", "r3")
			w.Nodes[1].Capacity = gpu(4)
			w.Tasks[1].Node = "n2"
		}, victims.Preempts},
		{"a gang whose second member is on the node", func(w *world.World, _ *world.Ask, _ *victims.Options) {
			gang(w, "r2", "r3")
			w.Nodes[1].Unschedulable, w.Tasks[0].Node = true, "n2"
			w.Nodes[2].Capacity = gpu(2)
		}, victims.Preempts},
		{"a gang on two nodes, of which nobody finds another place", func(w *world.World, _ *world.Ask, _ *victims.Options) {
			gang(w, "r2")
			w.Nodes[1].Capacity = gpu(4)
			w.Tasks[1].Node = "n2"
		}, victims.Refused},
		{"a gang on two nodes of a rack that finds two racks", func(w *world.World, _ *world.Ask, _ *victims.Options) {
			gang(w, "r1", "r2", "r3")
			w.Tasks[1].Node = "n2"
		}, victims.Refused},
		{"a gang on two nodes, one of which is in no rack", func(w *world.World, _ *world.Ask, _ *victims.Options) {
			gang(w, "r1", "r2", "r3")
			w.Nodes[0].Domains, w.Tasks[1].Node = nil, "n2"
		}, victims.Preempts},
		{"a gang on two nodes of a rack that finds one", func(w *world.World, _ *world.Ask, _ *victims.Options) {
			gang(w, "r1", "r2", "r2")
			w.Tasks[1].Node = "n2"
		}, victims.Preempts},
		{"in the own leaf", func(w *world.World, _ *world.Ask, _ *victims.Options) {
			w.Tasks[0].Queue = "root.a"
			w.Root.Children[0].Guaranteed = gpu(12)
		}, victims.Preempts},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, a := base(), world.Ask{Key: "a1", Queue: "root.a", Size: gpu(8), Application: "a"}
			o := victims.Options{Moves: victims.MovesEntitled}
			test.change(w, &a, &o)
			c, err := world.Build(w)
			require.NoError(t, err)
			world.LetMove(c, 0, func(key string) bool { return key != "stays" })
			if _, there := c.Lookup("refuses"); there {
				require.NoError(t, law.ErrOf(c.Spare("refuses", world.Epoch.Add(time.Second))))
			}
			ask, err := world.AskOf(c, &a)
			require.NoError(t, err)
			p := jobs.Planner{Cluster: c, Options: o}
			world.SetEveryMinimum(c, func(job string) int { return len(job) }) // that of "bb" is 2
			var d victims.Decision
			require.NoError(t, p.Decide(&d, &ask, world.Epoch))
			require.Equal(t, test.want, d.Outcome, d.String())
			require.Equal(t, test.want == victims.Preempts, len(d.Plan.Moves) > 0)
		})
	}
}

// gang makes the task of a world a gang of two, with a node of one device for each in a rack.
func gang(w *world.World, racks ...string) {
	w.Nodes[0].Domains = []string{"r1"}
	w.Nodes = w.Nodes[:1]
	for i, rack := range racks {
		w.Nodes = append(w.Nodes, world.Node{Name: fmt.Sprintf("n%d", i+2), Capacity: world.Amounts{"gpu": 1}, Domains: []string{rack}})
	}
	t := w.Tasks[0]
	t.Size, t.Job = world.Amounts{"gpu": 1}, "bb"
	w.Tasks = []world.Task{t, t}
	w.Tasks[1].Key = "b2"
}

// Of a gang on several nodes a node is freed of those who are there, and none of the others
// goes there.
func TestDecideJob_GangOnSeveralNodes(t *testing.T) {
	gpu := func(n int64) world.Amounts { return world.Amounts{"gpu": n} }
	for _, test := range []struct {
		name        string
		first, more int64 // of b1 on the node, and of b2 on another one
		want        string
	}{
		{"too little there", 2, 4, "b1 moves from n1 to n3\nb2 moves from n2 to n3\nc moves from n1 to n4\n"},
		{"room there beside", 4, 2, "b1 moves from n1 to n3\nb2 moves from n2 to n3\nc moves from n1 to n4\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &world.World{
				Types: []string{"gpu"},
				Root: world.Queue{Name: "root", Children: []world.Queue{
					{Name: "a", Guaranteed: gpu(10)}, {Name: "b", Guaranteed: gpu(10)},
				}},
				Nodes: []world.Node{{Name: "n1", Capacity: gpu(10)}, {Name: "n2", Capacity: gpu(4), Unschedulable: true}},
				Tasks: []world.Task{
					{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(test.first), Job: "b"},
					{Key: "b2", Queue: "root.b", Node: "n2", Size: gpu(test.more), Job: "b"},
					{Key: "c", Queue: "root.b", Node: "n1", Size: gpu(4)},
				},
			}
			for _, n := range []string{"n3", "n4"} {
				w.Nodes = append(w.Nodes, world.Node{Name: n, Capacity: gpu(6)})
			}
			c, err := world.Build(w)
			require.NoError(t, err)
			p := forJobs(c)
			require.NoError(t, c.SetMinMembers("b", 2))
			d := decideJob(t, &p, &world.Job{Name: "a", Queue: "root.a", Members: []world.Member{{Key: "a1", Size: gpu(10)}}})
			require.Equal(t, test.want, said(&d))
			a := victims.Auditor{Cluster: c, Options: p.Options}
			require.Empty(t, a.Audit(nil, &d, world.Epoch))
		})
	}
}
