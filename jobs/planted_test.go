// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// Where there is a plan, in a cluster of a few nodes, one is found, however
// tight it is and however the members differ: a plan is drawn first, and then
// the cluster around it.
func TestPlanted(t *testing.T) { rapid.Check(t, propertyPlanted) }

func FuzzPlanted(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyPlanted))
}

func propertyPlanted(t *rapid.T) {
	p := plant(t)
	for _, law := range oracle.JobBreaks(p.c, p.places, p.falls) {
		if law != oracle.Minimal { // it may take more than it must
			t.Fatalf("what was planted, %v for %v, breaks %s\n%v", p.falls, p.places, law, p.c)
		}
	}
	h := newHarness(t, p.c)
	if len(p.c.Refused) > 0 {
		h.planner.Predicate = h.accepts
	}
	h.decide("planted")
	if h.d.Outcome == victims.Refused {
		t.Fatalf("%s (%v) after %d steps, and there is %v for %v\n%v",
			h.said(), h.d.Refusal.Proven, h.d.Plan.Steps, p.falls, p.places, p.c)
	}
	h.lawful("planted")
}

// On nodes that are more than full, eight members of different sizes have a way
// that is found neither member by member nor by giving back.
//
// Of cpus, the nodes have 27, the job wants 21, and b keeps 6. The job's 21 are
// all of the max of a, so that all of a.x goes. Of g three would be left then,
// its minimum, but they have 7: all of g goes. 6 are t3-0 and t3-3 and no others.
func TestTight(t *testing.T) {
	w := build(t, `
queue a max=21/30
queue a.x
queue a.j
queue b g=6
queue b.z
node n0 6/5
node n1 5/9
node n2 3/11
node n3 13/15
task t0-0 a.x n0 5/1 p=2 job=g
task t0-1 b.z n0 3/3 p=5 job=g
task t0-2 a.x n0 5/0 p=5 job=g
task t1-0 b.z n1 4/1 p=5 job=h
task t1-1 b.z n1 1/1 p=2 job=g
task t1-2 b.z n1 3/3 p=0 job=g
task t2-0 a.x n2 4/3 p=5 job=h
task t3-0 b.z n3 3/4 p=2
task t3-1 a.x n3 3/1 p=5 job=h
task t3-2 b.z n3 4/4 p=1
task t3-3 b.z n3 3/5 p=0
task t3-4 a.x n3 4/0 p=4 job=g
keep g 3
keep h 1
job a.j 1/0,2/6,6/6,6/5,2/2,0/6,1/5,3/0 p=9`)
	d := w.decide()
	require.Equal(t, victims.Preempts, d.Outcome, w.brief(d))
	var falls []string
	for _, v := range d.Plan.Victims {
		falls = append(falls, v.Key)
	}
	require.Equal(t, []string{
		"t0-0", "t0-1", "t0-2", "t1-0", "t1-1", "t1-2", "t2-0", "t3-1", "t3-2", "t3-4",
	}, falls)
}

// planted is a case and a plan for it.
type planted struct {
	c      *world.JobCase
	places []string // of the members
	falls  []string
}

const plantedTasks = 12

// plant draws tasks of two queues on nodes, which of them fall, and members on
// the same nodes. Nodes, the max of the job's side and the guarantee of the
// other have what the plan needs, and seldom more.
func plant(t *rapid.T) *planted {
	g := planter{
		T: t, types: []string{"gpu", "disk"},
		gone: make(map[string]bool), on: make(map[string]world.Amounts), in: make(map[string]world.Amounts),
	}
	g.c = &world.JobCase{ByPriority: true, Options: world.Options{Now: world.Epoch}}
	g.c.World.Types = g.types
	g.drawTasks(rapid.IntRange(2, 4).Draw(t, "nodes"))
	g.drawFalls()
	g.drawJob(rapid.IntRange(5, 8).Draw(t, "members"))
	g.drawBounds()
	return &g.planted
}

// planter draws a plan and a case. The amounts that it adds up are of what is
// there once the plan is carried out.
type planter struct {
	*rapid.T
	planted
	types []string
	gone  map[string]bool
	on    map[string]world.Amounts // by node
	in    map[string]world.Amounts // by the queue below the root
}

func (g *planter) drawTasks(nodes int) {
	for n := range nodes {
		g.c.World.Nodes = append(g.c.World.Nodes, world.Node{Name: fmt.Sprintf("n%d", n)})
	}
	for i := range plantedTasks {
		key := fmt.Sprintf("t%d", i)
		g.c.World.Tasks = append(g.c.World.Tasks, world.Task{
			Key: key, Application: "app-" + key, Node: g.node(), State: world.Running,
			Queue:     rapid.SampledFrom([]string{"root.a.x", "root.b.z"}).Draw(g.T, "queue"),
			Size:      g.size(),
			Priority:  rapid.Int32Range(0, 5).Draw(g.T, "priority"),
			Job:       rapid.SampledFrom([]string{"", "", "", "g1", "g2"}).Draw(g.T, "gang"),
			Scheduled: world.Epoch,
		})
	}
}

func (g *planter) node() string {
	return rapid.SampledFrom(g.c.World.Nodes).Draw(g.T, "node").Name
}

func (g *planter) size() world.Amounts {
	size := make(world.Amounts)
	for _, typ := range g.types {
		size[typ] = rapid.Int64Range(0, 6).Draw(g.T, typ)
	}
	return size
}

// drawFalls draws what falls: of a gang no more than leaves it its minimum, or
// all of it.
func (g *planter) drawFalls() {
	g.c.Minimums = map[string]int{"g1": 1, "g2": 3}
	left, fell := make(map[string]int), make(map[string]bool)
	for i := range g.c.World.Tasks {
		v := &g.c.World.Tasks[i]
		g.gone[v.Key] = rapid.IntRange(0, 3).Draw(g.T, "falls") > 0
		if g.gone[v.Key] {
			fell[v.Job] = true
		} else {
			left[v.Job]++
		}
	}
	for i := range g.c.World.Tasks {
		v := &g.c.World.Tasks[i]
		if v.Job != "" && fell[v.Job] && left[v.Job] < g.c.Minimums[v.Job] {
			g.gone[v.Key] = true
		}
		if g.gone[v.Key] {
			g.falls = append(g.falls, v.Key)
			continue
		}
		g.place(v.Node, v.Queue[:len("root.a")], v.Size)
	}
	slices.Sort(g.falls)
}

func (g *planter) drawJob(members int) {
	g.c.Job = world.Job{Name: "j", Application: "app-j", Queue: "root.a.j", Priority: 9}
	for i := range members {
		m := world.Member{Key: fmt.Sprintf("j%d", i), Size: g.size()}
		g.c.Job.Members = append(g.c.Job.Members, m)
		n := g.node()
		g.places = append(g.places, n)
		g.place(n, "root.a", m.Size)
	}
	if rapid.IntRange(0, 3).Draw(g.T, "picky") == 0 {
		g.drawRefused()
	}
}

// drawRefused has the predicate refuse nodes to members, but none of the plan.
func (g *planter) drawRefused() {
	g.c.Refused = make(map[string][]string)
	for i, m := range g.c.Job.Members {
		if n := g.node(); n != g.places[i] {
			g.c.Refused[m.Key] = []string{n}
		}
	}
}

// place notes what runs on a node and below a queue in the end.
func (g *planter) place(node, queue string, size world.Amounts) {
	if g.on[node] == nil {
		g.on[node] = make(world.Amounts)
	}
	if g.in[queue] == nil {
		g.in[queue] = make(world.Amounts)
	}
	for _, typ := range g.types {
		g.on[node][typ] += size[typ]
		g.in[queue][typ] += size[typ]
	}
}

func (g *planter) drawBounds() {
	spare := func() int64 { return rapid.SampledFrom([]int64{0, 0, 0, 1}).Draw(g.T, "spare") }
	for i := range g.c.World.Nodes {
		n := &g.c.World.Nodes[i]
		n.Capacity = make(world.Amounts)
		for _, typ := range g.types {
			n.Capacity[typ] = g.on[n.Name][typ] + spare()
		}
	}
	most, least := make(world.Amounts), make(world.Amounts)
	for _, typ := range g.types {
		if rapid.Bool().Draw(g.T, "max") {
			most[typ] = g.in["root.a"][typ] + spare()
		}
		if rapid.Bool().Draw(g.T, "guaranteed") {
			least[typ] = max(g.in["root.b"][typ]-spare(), 0)
		}
	}
	g.c.World.Root = world.Queue{Name: "root", Children: []world.Queue{
		{Name: "a", Max: most, Children: []world.Queue{{Name: "x"}, {Name: "j"}}},
		{Name: "b", Guaranteed: least, Children: []world.Queue{{Name: "z"}}},
	}}
}
