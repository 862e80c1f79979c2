// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Job is a job and the planner that is asked about it.
type Job struct {
	Name    string
	Planner jobs.Planner
	Job     victims.Ask
}

// JobFamilies are loads of random sizes with one difficulty each, all of them at once, and
// "gpu", which is a cluster of devices.
var JobFamilies = []string{"plain", "prio", "opted", "gangs", "budgets", "costs", "head", "law2", "domain", "minimum", "law4", "all", "gpu"}

// A Size says how large draws of jobs are. 0 leaves it to the draw.
type Size struct {
	Nodes   int // half of it at least; of devices exactly
	Tasks   int // on each node
	Members int // half of it at least; of devices exactly
}

// OfJobs draws number i of a family.
func OfJobs(family string, i int, size Size) (*Job, error) {
	if !slices.Contains(JobFamilies, family) {
		return nil, fmt.Errorf("draws: no family %q", family)
	}
	r := rand.New(rand.NewPCG(seed(family), uint64(i)+1<<32))
	if family == "gpu" {
		return gpu(r, i, size)
	}
	return mixed(r, family, i, size)
}

func mixed(r *rand.Rand, family string, i int, size Size) (*Job, error) {
	nodes, tasks, members := 4+r.IntN(9), 4+r.IntN(8), 2+r.IntN(7)
	if size.Nodes > 0 {
		nodes = size.Nodes/2 + r.IntN(size.Nodes/2+1)
	}
	if size.Tasks > 0 {
		tasks = size.Tasks
	}
	if size.Members > 0 {
		members = size.Members/2 + r.IntN(size.Members/2+1)
	}
	on := func(name string) bool { return family == name || family == "all" && r.IntN(3) == 0 }
	w := workload.Hard{Nodes: nodes, Tasks: tasks, Types: of(r, 1, 2, 4), Shapes: of(r, 0, 4), Priorities: 1, Seed: r.Uint64()}
	if on("prio") {
		w.Priorities = of(r, 2, 5, 20)
	}
	if on("opted") {
		w.OptOuts = of(r, 10, 50, 90)
	}
	minimum := 0
	if on("gangs") {
		w.Gangs = 2 + r.IntN(5)
		minimum = w.Gangs - of(r, 0, 0, 1, w.Gangs-1)
	}
	if on("budgets") {
		w.Budgets = of(r, 2, 5, 20)
	}
	w.OwnCosts = on("costs")
	if on("head") {
		w.Levels = 1 + r.IntN(3)
	}
	byPriority := r.IntN(2) == 1
	w.OwnLeaf = byPriority && r.IntN(2) == 1
	c := w.Build()
	d := &Job{Planner: jobs.Planner{Cluster: c, Options: victims.Options{ByPriority: byPriority}}}
	if w.Gangs > 0 {
		if err := needEach(c, minimum); err != nil {
			return nil, err
		}
	}
	d.Job = victims.Ask{Key: "job", Application: "job", Queue: workload.Leaf0(c.Tree()), Priority: 100, PendingSince: workload.Now.Add(-time.Hour)}
	if w.Priorities > 1 && r.IntN(2) == 0 {
		d.Job.Priority = int32(w.Priorities) / 2
	}
	kinds := of(r, 1, 1, 2, members) // sizes that differ
	most := int64(of(r, 1500, 2500, 5000))
	var sizes []resources.Vector
	for range kinds {
		v := make(resources.Vector, c.Schema().Len())
		for t := range v {
			v[t] = 200 + r.Int64N(most)
		}
		sizes = append(sizes, v)
	}
	for m := range members {
		d.Job.Members = append(d.Job.Members, victims.Member{Key: fmt.Sprint("job-", m), Size: sizes[m%kinds]})
	}
	if on("minimum") {
		d.Job.MinMembers = 1 + r.IntN(members)
	}
	racks := 0
	if on("domain") {
		racks = 2 + r.IntN(3)
		d.Job.DomainDepth = 1
		if err := inRacks(c, racks, r); err != nil {
			return nil, err
		}
	}
	if family == "law4" {
		d.Planner.ByPriority = false
		if err := d.onTheEdge(r); err != nil {
			return nil, err
		}
	}
	if on("law2") {
		if err := bind(c, &workload.Subject{Ask: victims.Ask{Queue: d.Job.Queue}}, r); err != nil {
			return nil, err
		}
	}
	if w.Budgets > 0 && r.IntN(2) == 0 {
		if err := harden(c, nil, r); err != nil {
			return nil, err
		}
	}
	d.Name = fmt.Sprintf("%s#%d %v/members=%d/kinds=%d/min=%d/racks=%d/gangmin=%d/prio=%d/byprio=%v", family, i, w, members, kinds, d.Job.MinMembers, racks, minimum, d.Job.Priority, d.Planner.ByPriority)
	return d, nil
}

// inRacks puts most nodes into racks.
func inRacks(c *victims.Cluster, racks int, r *rand.Rand) error {
	for n := range c.Nodes() {
		node := c.Node(n)
		node.Domains = []string{fmt.Sprint("rack", r.IntN(racks))}
		if r.IntN(12) == 0 {
			node.Domains = nil
		}
		if err := c.UpdateNode(&node); err != nil {
			return err
		}
	}
	return nil
}

// onTheEdge guarantees the job's queue just enough for law 4, or just not.
func (d *Job) onTheEdge(r *rand.Rand) error {
	c := d.Planner.Cluster
	g := resources.Limit{Value: make(resources.Vector, c.Schema().Len())}
	edge := r.IntN(3) == 0
	for t := range g.Value {
		if r.IntN(4) == 0 {
			continue
		}
		g.Defined |= 1 << t
		var sum, most int64
		for _, m := range d.Job.Members {
			sum += m.Size[t]
			most = max(most, m.Size[t])
		}
		used := c.Tree().Usage(d.Job.Queue)[t]
		g.Value[t] = max(0, used+sum-most+1+r.Int64N(1000))
		if edge {
			g.Value[t] = max(0, used+sum-most+r.Int64N(2))
		}
	}
	return c.SetGuaranteed(d.Job.Queue, g)
}

// A gpuDraw is a cluster of nodes of 8 devices, full or nearly, and who runs there: tasks of
// 1, 2, 4 and 8, some of them in gangs.
type gpuDraw struct {
	cluster    *victims.Cluster
	leaves     []queue.ID
	racks      int
	priorities int
	optedOut   int // per cent
	gangShare  int // per cent of the tasks with which a gang begins
	spare      bool

	tasks, gangs, left int
	gang               victims.Task // the gang that is being placed
	gangAge            time.Duration
}

// gpu draws a gang of 2 to 64 members of 1 to 8 devices, and its cluster.
func gpu(r *rand.Rand, i int, size Size) (*Job, error) {
	members := of(r, 2, 4, 8, 16, 32, 64)
	if size.Members > 0 {
		members = size.Members
	}
	amount := int64(of(r, 1, 2, 4, 8))
	nodes := of(r, 8, 16, 32, 64)
	if size.Nodes > 0 {
		nodes = size.Nodes
	}
	for int64(nodes)*8 < int64(members)*amount*5/4 {
		nodes *= 2
	}
	g := new(gpuDraw)
	g.priorities = of(r, 1, 1, 3, 10)
	g.optedOut = of(r, 0, 0, 10)
	byPriority := r.IntN(3) == 0
	unlike := r.IntN(4) == 0
	g.gangShare = of(r, 0, 30, 70)
	g.spare = r.IntN(2) == 0
	domain := r.IntN(4) == 0
	d := &Job{}
	var sum int64
	for m := range members {
		s := amount
		if unlike {
			s = int64(of(r, 1, 2, 4, 8))
		}
		sum += s
		d.Job.Members = append(d.Job.Members, victims.Member{Key: fmt.Sprint("job-", m), Size: resources.Vector{s}})
	}
	asks, err := g.queues(int64(nodes)*8, sum)
	if err != nil {
		return nil, err
	}
	g.racks = max(2, nodes/16)
	if domain {
		for int64(nodes/g.racks)*8 < sum*5/4 && g.racks > 2 {
			g.racks--
		}
	}
	for n := range nodes {
		if err := g.node(n, r); err != nil {
			return nil, err
		}
	}
	d.Planner = jobs.Planner{Cluster: g.cluster, Options: victims.Options{ByPriority: byPriority}}
	d.Job.Key, d.Job.Application, d.Job.Queue, d.Job.Priority = "job", "job", asks, int32(g.priorities)
	d.Job.PendingSince = workload.Now.Add(-time.Hour)
	if domain {
		d.Job.DomainDepth = 1
	}
	d.Name = fmt.Sprintf("gpu#%d nodes=%d/tasks=%d/members=%d/size=%d/unlike=%v/prios=%d/opted=%d/gangs=%d%%/spare=%v/domain=%v/racks=%d/byprio=%v",
		i, nodes, g.tasks, members, amount, unlike, g.priorities, g.optedOut, g.gangShare, g.spare, domain, g.racks, byPriority)
	return d, nil
}

// queues makes the tree for a cluster of total devices and a job of sum, and returns the
// queue of the job.
func (g *gpuDraw) queues(total, sum int64) (asks queue.ID, err error) {
	schema, err := resources.NewSchema("gpu")
	if err != nil {
		return 0, err
	}
	limit := func(v int64) resources.Limit { return resources.Limit{Value: resources.Vector{v}, Defined: 1} }
	now := map[string]string{"preemption.delay": "0s"}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Properties: now, Children: []queue.Config{
		{Name: "train", Guaranteed: limit(min(total, sum+8)), Properties: now},
		{Name: "batch", Properties: now},
		{Name: "svc", Guaranteed: limit(total / 8), Properties: now},
		{Name: "res", Guaranteed: limit(total / 8), Properties: now},
	}})
	if err != nil {
		return 0, err
	}
	g.cluster = victims.NewCluster(tree)
	for _, name := range []string{"root.batch", "root.batch", "root.svc", "root.res"} {
		q, _ := tree.Lookup(name)
		g.leaves = append(g.leaves, q)
	}
	asks, _ = tree.Lookup("root.train")
	return asks, nil
}

// node adds a node and fills it.
func (g *gpuDraw) node(n int, r *rand.Rand) error {
	id, err := g.cluster.AddNode(&victims.Node{Name: fmt.Sprint("n", n), Capacity: resources.Vector{8}, Domains: []string{fmt.Sprint("rack", n%g.racks)}})
	if err != nil {
		return err
	}
	free := int64(8)
	if r.IntN(10) == 0 {
		free -= int64(1 + r.IntN(3)) // some stays free
	}
	for free > 0 {
		size := int64(of(r, 1, 2, 2, 4, 8))
		t := victims.Task{Queue: g.leaves[r.IntN(len(g.leaves))], Priority: r.Int32N(int32(g.priorities)), OptedOut: r.IntN(100) < g.optedOut}
		age := drawAge(r)
		if g.left == 0 && r.IntN(100) < g.gangShare {
			if err := g.begin(&t, age, r); err != nil {
				return err
			}
		}
		if g.left > 0 && g.gang.Size[0] <= free {
			g.left--
			t.Queue, t.Priority, t.Job, t.Application = g.gang.Queue, g.gang.Priority, g.gang.Job, g.gang.Job
			size, age = g.gang.Size[0], g.gangAge
		} else {
			t.Application = fmt.Sprint("app", g.tasks)
			if size > free {
				size = 1
			}
		}
		free -= size
		t.Key, t.Node, t.Size = fmt.Sprint("t", g.tasks), id, resources.Vector{size}
		t.Created = workload.Now.Add(-age)
		t.Scheduled = t.Created
		g.tasks++
		if _, err := g.cluster.AddTask(&t); err != nil {
			return err
		}
	}
	return nil
}

// begin begins a gang, which is like t.
func (g *gpuDraw) begin(t *victims.Task, age time.Duration, r *rand.Rand) error {
	g.gangs++
	g.left = of(r, 2, 4, 8)
	g.gang, g.gangAge = *t, age
	g.gang.Size = resources.Vector{int64(of(r, 1, 2, 4, 8))}
	g.gang.Job = fmt.Sprint("gang", g.gangs)
	needs := g.left
	if g.spare {
		needs = 1 + r.IntN(g.left)
	}
	return g.cluster.SetMinMembers(g.gang.Job, needs)
}

// drawAge is from minutes to days, small ones as likely as large ones.
func drawAge(r *rand.Rand) time.Duration {
	m := []time.Duration{5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour, 48 * time.Hour}[r.IntN(5)]
	return m/2 + time.Duration(r.Int64N(int64(m)))
}
