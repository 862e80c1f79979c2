// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A sequence is what asks get one after another: each is decided and carried out before
// the next.
type sequence struct {
	served map[string]bool
	cost   victims.Cost
	own    bool // somebody takes from its own leaf, or branch
	steps  int64
}

// inSequence decides asks in turn on a copy of a cluster.
func inSequence(c *victims.Cluster, rules victims.Options, asks []victims.Ask, now time.Time) (*sequence, error) {
	p, s := jobs.Planner{Cluster: c.Clone(), Options: rules}, &sequence{served: make(map[string]bool)}
	for i := range asks {
		var d victims.Decision
		if _, holds := p.Cluster.LookupGrant(asks[i].Key); holds {
			continue // DecideAll calls it in flight
		}
		if err := p.Decide(&d, &asks[i], now); err != nil {
			return nil, err
		}
		s.steps += d.Plan.Steps
		if d.Outcome == victims.Refused {
			continue
		}
		s.served[asks[i].Key] = true
		s.own = s.own || d.Plan.WithinQueue
		addCost(&s.cost, &d.Plan.Cost)
		if err := p.Cluster.Apply(&d); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addCost adds a cost to a sum, as far as costs can be summed up.
func addCost(sum, c *victims.Cost) {
	if c.Victims == 0 {
		return
	}
	if sum.Victims == 0 {
		sum.MaxRank, sum.MaxPriority = c.MaxRank, c.MaxPriority
	}
	sum.OptedOut, sum.Overrun, sum.Originators = sum.OptedOut+c.OptedOut, sum.Overrun+c.Overrun, sum.Originators+c.Originators
	sum.MaxRank, sum.MaxPriority = max(sum.MaxRank, c.MaxRank), max(sum.MaxPriority, c.MaxPriority)
	sum.Jobs, sum.Own, sum.Victims = sum.Jobs+c.Jobs, sum.Own.Add(c.Own), sum.Victims+c.Victims
	sum.SumRanks, sum.SumPriorities = sum.SumRanks+c.SumRanks, sum.SumPriorities+c.SumPriorities
}

// dearerThan says what a joint answer costs more than its asks in turn, down to the sum of
// priorities, if both serve the same asks and nobody takes from its own leaf in turn.
func dearerThan(j *joint, s *sequence) (text string, compared bool) {
	var cost victims.Cost
	served := 0
	for i := range j.Parts {
		for _, k := range j.Parts[i].Asks {
			if !s.served[j.Asks[k].Key] {
				return "", false
			}
			served++
		}
		addCost(&cost, &j.Parts[i].Plan.Cost)
	}
	if served != len(s.served) || s.own {
		return "", false
	}
	// No victims are cheapest, whatever a highest rank of none is.
	if cost.Victims > 0 && (s.cost.Victims == 0 || cost.Compare(&s.cost) > 0) {
		return fmt.Sprintf("together %v, in turn %v", &cost, &s.cost), true
	}
	return "", true
}

// A joint answer is never dearer than its asks in turn, and lawful, in small worlds.
func TestTogether_NotDearerThanInTurn(t *testing.T) { law.Check3000(t, propertyNotDearer) }

func FuzzTogetherInTurn(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyNotDearer))
}

func propertyNotDearer(t *rapid.T) {
	b := newBrute(t, everything)
	b.got = new(joint)
	b.c.ByPriority, b.c.Quotas = false, nil
	for i := range b.c.World.Tasks {
		b.c.World.Tasks[i].NonPreemptible = false // asks may take who is, and jobs may not
	}
	for i := range b.c.World.Tasks {
		if k := &b.c.World.Tasks[i]; k.Job == b.c.Job.Name {
			k.Job = "" // likewise those of the own job
		}
	}
	h := newHarness(t, b.c)
	var asks []victims.Ask
	for i := range b.asks {
		a, err := world.AskOf(h.cluster, &b.asks[i])
		if err != nil {
			t.Fatal(err)
		}
		a.Class = i
		asks = append(asks, a)
	}
	before := h.cluster.Version()
	if err := decideAll(&h.planner, b.got, asks, b.c.Options.Now); err != nil {
		t.Fatalf("%v\n%v", err, b)
	}
	if before != h.cluster.Version() {
		t.Fatalf("the cluster has changed\n%v", b)
	}
	a := victims.Auditor{Cluster: h.cluster, Options: h.planner.Options}
	if found := b.got.audit(&a); len(found) > 0 {
		t.Fatalf("%+v\n%v", found, b)
	}
	s, err := inSequence(h.cluster, h.planner.Options, asks, b.c.Options.Now)
	if err != nil {
		t.Fatalf("%v\n%v", err, b)
	}
	if more, _ := dearerThan(b.got, s); more != "" {
		t.Fatalf("%s\n%v", more, b)
	}
}

// hardLoads are loads of up to 12,000 tasks, of several kinds.
func hardLoads() (loads []workload.Hard) {
	for _, nodes := range []int{10, 40, 100, 400} {
		for _, h := range []workload.Hard{
			{}, {Shapes: 12}, {OptOuts: 60}, {Priorities: 10}, {Gangs: 4}, {Budgets: 6}, {Levels: 2}, {OptOuts: 30, Priorities: 5, Gangs: 3, Budgets: 8},
		} {
			h.Nodes, h.Tasks, h.Seed = nodes, 30, uint64(len(loads))
			if len(loads)%3 == 0 {
				h.Tasks = 10
			}
			loads = append(loads, h)
		}
	}
	return loads
}

// A joint answer is never dearer than its asks in turn, and lawful, up to 12,000 tasks. It
// takes no more than three times their steps, or JointSteps.
func TestTogether_NotDearerAtAnySize(t *testing.T) {
	t.Parallel()
	compared, shared := 0, 0
	for i, h := range hardLoads() {
		if testing.Short() && h.Nodes > 40 {
			continue
		}
		random := rand.New(rand.NewPCG(uint64(i), 26))
		c := h.Build()
		subject := h.Subject(c, []int64{2, 4, 10}[random.IntN(3)])
		asks := make([]victims.Ask, 2+random.IntN(7))
		for k := range asks {
			asks[k] = subject.Ask
			asks[k].Key = fmt.Sprint("ask", k)
		}
		p := jobs.Planner{Cluster: c, Options: subject.Planner.Options}
		var j joint
		require.NoError(t, decideAll(&p, &j, asks, workload.Now))
		require.Empty(t, j.audit(&victims.Auditor{Cluster: c, Options: p.Options}), "%v", h)
		s, err := inSequence(c, p.Options, asks, workload.Now)
		require.NoError(t, err)
		more, ok := dearerThan(&j, s)
		require.Empty(t, more, "%v", h)
		if ok {
			compared++
		}
		if len(j.Parts) == 1 {
			shared++
		}
		requireWithin(t, &j, s, c)
	}
	t.Logf("%d compared, %d share all", compared, shared)
	require.Greater(t, compared, 10)
	require.Greater(t, shared, 3)
}

// A plan for all asks of a part begins with the turns, and nobody is asked in turn again: so
// what they leave of the budget is enough to find one in which these 20 asks of all sizes
// share a plan.
func TestTogether_BeginsWithTurns(t *testing.T) {
	h := workload.Hard{Nodes: 20, Tasks: 100, Seed: 1}
	c, random := h.Build(), rand.New(rand.NewPCG(1, 5))
	asks := make([]victims.Ask, 20)
	for i := range asks {
		asks[i] = h.Ask(c, max(int64(math.Exp(random.Float64()*math.Log(125))), 1))
		asks[i].Key = fmt.Sprint("ask", i)
	}
	p := jobs.Planner{Cluster: c}
	var j joint
	require.NoError(t, decideAll(&p, &j, asks, workload.Now))
	require.Equal(t, 1, len(j.Parts))
	require.Empty(t, j.Refused)
	require.Empty(t, j.audit(&victims.Auditor{Cluster: c}))
	s, err := inSequence(c, victims.Options{}, asks, workload.Now)
	require.NoError(t, err)
	more, compared := dearerThan(&j, s)
	require.Empty(t, more)
	require.True(t, compared)
	requireWithin(t, &j, s, c)
}

// requireWithin holds the steps of a call to their bound, which counts a look at each node
// for each ask.
func requireWithin(t *testing.T, j *joint, s *sequence, c *victims.Cluster) {
	t.Helper()
	perAsk := int64(c.NodeLen() + 2000)
	most := max(3*(s.steps+perAsk*int64(len(j.Asks))), jobs.JointSteps)
	require.LessOrEqual(t, j.Steps, most+most/4, "%d steps in turn", s.steps)
}

// Law 1: together nobody who opted out stops if nobody does in turn. Once the first ask has
// a place, law 2 lets more go for the second than for both of them at once: the root is
// below its guarantee, and what the asks use counts as theirs.
func TestTogether_Law1(t *testing.T) {
	schema, err := resources.NewSchema("cpu", "gpu", "memory")
	require.NoError(t, err)
	cpu := func(v int64) resources.Limit { return resources.Limit{Value: resources.Vector{v}, Defined: 1} }
	now := map[string]string{"preemption.delay": "0s"}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Guaranteed: cpu(14), Properties: now, Children: []queue.Config{
		{Name: "a", Properties: map[string]string{"priority.offset": "1"}, Children: []queue.Config{{Name: "ab", Guaranteed: cpu(3), Properties: now}}},
		{Name: "b", Properties: now},
	}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	n1, err := c.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{8, 9, 7}, Penalty: math.MinInt64})
	require.NoError(t, err)
	require.NoError(t, c.SetBudget("web", victims.Budget{Left: 2, Hard: true}))
	ab, _ := tree.Lookup("root.a.ab")
	b, _ := tree.Lookup("root.b")
	web := []string{"web"}
	for _, k := range []victims.Task{
		{Key: "t3", Queue: b, Size: resources.Vector{3, 1, 1}},
		{Key: "t17", Queue: b, Size: resources.Vector{2, 1, 1}, OptedOut: true, Job: "g"},
		{Key: "t24", Queue: b, Size: resources.Vector{1, 1, 1}, Budgets: web},
		{Key: "t31", Queue: b, Size: resources.Vector{2, 0, 1}, Job: "g", Cost: math.MaxInt64},
		{Key: "t38", Queue: b, Size: resources.Vector{0, 1, 1}, Job: "g"},
		{Key: "t10", Queue: ab, Size: resources.Vector{0, 1, 1}, Job: "h", Budgets: web},
		{Key: "t45", Queue: ab, Size: resources.Vector{0, 4, 0}, Job: "g"},
	} {
		k.Application, k.Node = "app-1", n1
		_, err := c.AddTask(&k)
		require.NoError(t, err)
	}
	ask := victims.Ask{Key: "x0", Application: "app-x", Queue: ab, Size: resources.Vector{1, 1}, Priority: 9}
	twin := ask
	twin.Key = "x1"
	asks, rules := []victims.Ask{ask, twin}, victims.Options{WithinQueue: queue.Branch}
	p := jobs.Planner{Cluster: c, Options: rules}
	var j joint
	require.NoError(t, decideAll(&p, &j, asks, noon))
	require.Equal(t, "plan x0@n1 -t24; plan x1@n1 -t3", tellJoint(&j))
	require.Empty(t, j.audit(&victims.Auditor{Cluster: c, Options: rules}))
	s, err := inSequence(c, rules, asks, noon)
	require.NoError(t, err)
	more, compared := dearerThan(&j, s)
	require.Empty(t, more)
	require.True(t, compared)
}

// Where the root is below its guarantee, law 2 lets no more of others go than asks bring, but
// in the second stage. So one ask may have to take from its own leaf what several need not,
// and it may do for less what is dear in the first stage. By asks and, with quotas, by jobs.
func TestTogether_SecondStage(t *testing.T) {
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	cpu := func(v int64) resources.Limit { return resources.Limit{Value: resources.Vector{v}, Defined: 1} }
	now := map[string]string{"preemption.delay": "0s"}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Guaranteed: cpu(40), Properties: now, Children: []queue.Config{
		{Name: "a", Guaranteed: cpu(40), Properties: now},
		{Name: "b", Properties: now},
	}})
	require.NoError(t, err)
	a, _ := tree.Lookup("root.a")
	b, _ := tree.Lookup("root.b")
	task := func(key string, leaf queue.ID, size int64, priority int32) victims.Task {
		return victims.Task{Key: key, Queue: leaf, Size: resources.Vector{size}, Priority: priority}
	}
	for _, test := range []struct {
		name        string
		alike       int // of the three asks
		size        int64
		tasks       []victims.Task
		first, want string // what the first ask takes by itself, and all of them together
	}{
		{
			"others before the own leaf: three bring enough, two do not", 3, 2,
			[]victims.Task{task("own", a, 6, 0), task("large", b, 6, 1)},
			"plan x0@n1 -own", "plan x0@n1 x1@n1 x2@n1 -large",
		},
		{
			"nobody of the own leaf goes", 3, 2,
			[]victims.Task{task("large", b, 6, 1)},
			"plan x0@n1 -large", "plan x0@n1 x1@n1 x2@n1 -large",
		},
		{
			"two in turn do for less", 2, 4,
			[]victims.Task{task("own", a, 4, 1), task("large1", b, 5, 0), task("large2", b, 5, 0), task("dear", b, 8, 5)},
			"plan x0@n1 -large1", "plan x0@n1 -large1; plan x1@n1 -large2; plan x2@n1 -own",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := victims.NewCluster(tree.Clone())
			full := int64(0)
			for i := range test.tasks {
				full += test.tasks[i].Size[0]
			}
			n1, err := c.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{full}})
			require.NoError(t, err)
			for _, k := range test.tasks {
				k.Application, k.Node = "app-1", n1
				_, err := c.AddTask(&k)
				require.NoError(t, err)
			}
			asks := make([]victims.Ask, 3)
			for i := range asks {
				asks[i] = victims.Ask{Key: fmt.Sprint("x", i), Application: "app-x", Queue: a, Size: resources.Vector{test.size}, Priority: 9}
				if i >= test.alike {
					asks[i].Priority = 8
				}
			}
			rules, admitting := victims.Options{WithinQueue: queue.Met}, victims.Options{WithinQueue: queue.Met, Admit: admitAll}
			for _, p := range []*jobs.Planner{{Cluster: c, Options: rules}, {Cluster: c, Options: admitting}} {
				var j joint
				require.NoError(t, decideAll(p, &j, asks[:1], noon))
				require.Equal(t, test.first, tellJoint(&j))
				require.NoError(t, decideAll(p, &j, asks, noon))
				require.Equal(t, test.want, tellJoint(&j))
				require.Empty(t, j.audit(&victims.Auditor{Cluster: c, Options: p.Options}))
			}
		})
	}
}

// A task that no job may take, or of the job of the ask, stays also if asks in turn would
// take it.
func TestTogether_Spares(t *testing.T) {
	for _, which := range []string{"fixed", "job=x"} {
		w := build(t, "queue a\nqueue b g=100\nnode n1 8\ntask v0 a n1 2 "+which+"\ntask v1 a n1 3\ntask v2 a n1 3\njob b 2,2,2")
		asks := w.asks()
		for i := range asks {
			asks[i].Job = "x"
		}
		var j joint
		require.NoError(t, decideAll(w.entitled(), &j, asks, noon))
		require.Equal(t, "plan j0@n1 j1@n1 j2@n1 -v1 -v2", tellJoint(&j), which)
		require.Empty(t, j.audit(w.second()))
	}
}

// asksBeside is a cluster of nodes with 16 tasks of 2 and room for nothing, whose queues may
// lose 40 in all, and asks for 1 to 30 beside each other: most have no place.
func asksBeside(t *testing.T, nodes, asks int) (*victims.Cluster, []victims.Ask) {
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	keeps := func(name string, v int64) queue.Config {
		return queue.Config{Name: name, Guaranteed: resources.Limit{Value: resources.Vector{v}, Defined: 1}}
	}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{
		keeps("a", 1<<40), keeps("b", int64(nodes)*30-40), keeps("c", 1<<40),
	}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	a, _ := tree.Lookup("root.a")
	b, _ := tree.Lookup("root.b")
	kept, _ := tree.Lookup("root.c")
	for i := range nodes {
		n, err := c.AddNode(&victims.Node{Name: fmt.Sprint("n", i), Capacity: resources.Vector{32}})
		require.NoError(t, err)
		for k := range 16 {
			task := victims.Task{Key: fmt.Sprint(i, "-", k), Queue: b, Node: n, Size: resources.Vector{2}, Priority: int32(k % 3)}
			if k == 15 {
				task.Queue, task.Priority = kept, 0
			}
			_, err := c.AddTask(&task)
			require.NoError(t, err)
		}
	}
	var list []victims.Ask
	for i := range asks {
		list = append(list, victims.Ask{Key: fmt.Sprint("a", i), Queue: a, Size: resources.Vector{int64(1 + i%30)}, Priority: 5})
	}
	return c, list
}

// Asks beside refused ones take no more than their bound, and Stop is asked all along.
func TestTogether_Bounded(t *testing.T) {
	for _, size := range []struct{ nodes, asks int }{{2, 50}, {20, 50}, {20, 100}, {200, 100}} {
		if testing.Short() && size.nodes > 20 {
			continue
		}
		c, asks := asksBeside(t, size.nodes, size.asks)
		s, err := inSequence(c, victims.Options{}, asks, noon)
		require.NoError(t, err)
		polls := int64(0)
		p := jobs.Planner{Cluster: c, Options: victims.Options{Stop: func() bool { polls++; return false }}}
		var j joint
		require.NoError(t, decideAll(&p, &j, asks, noon))
		requireWithin(t, &j, s, c)
		require.GreaterOrEqual(t, polls, j.Steps/1000)
		require.GreaterOrEqual(t, len(j.Asks)-len(j.Refused), len(s.served))
		t.Logf("%v: %d steps in turn, %d together, asked %d times", size, s.steps, j.Steps, polls)

		set := jobs.Planner{Cluster: c, Options: victims.Options{Steps: 2_000_000}}
		require.NoError(t, decideAll(&set, &j, asks, noon))
		require.LessOrEqual(t, j.Steps, int64(2_500_000))
	}
}

// The budget of the caller bounds the call. Each ask has an answer all the same.
func TestTogether_Steps(t *testing.T) {
	h := workload.Hard{Nodes: 100, Tasks: 30, Seed: 5}
	c := h.Build()
	ask := h.Ask(c, 4)
	asks := make([]victims.Ask, 8)
	for i := range asks {
		asks[i] = ask
		asks[i].Key = fmt.Sprint("ask", i)
	}
	for _, steps := range []int64{1, 1 << 10, 1 << 22, 1 << 24} {
		p := jobs.Planner{Cluster: c, Options: victims.Options{Steps: steps}}
		var j joint
		require.NoError(t, decideAll(&p, &j, asks, workload.Now))
		require.Empty(t, j.Refused)
		require.Empty(t, j.audit(&victims.Auditor{Cluster: c}))
		// An ask may pass what it gets until it has a plan.
		require.LessOrEqual(t, j.Steps, 2*steps+200_000*int64(len(asks)), "%d steps", steps)
		require.Equal(t, steps, p.Steps)
	}
}

// Once Stop says so, nothing more is searched, and it is not asked again.
func TestTogether_Stop(t *testing.T) {
	c, asks := asksBeside(t, 20, 50)
	for _, at := range []int{1, 2, 10, 100} {
		polls := 0
		p := jobs.Planner{Cluster: c, Options: victims.Options{Stop: func() bool { polls++; return polls >= at }}}
		before := c.Version()
		var j joint
		require.NoError(t, decideAll(&p, &j, asks, noon))
		require.Equal(t, before, c.Version())
		require.Equal(t, at, polls)
		require.Equal(t, len(asks), len(j.Refused)+servedBy(&j))
		require.Empty(t, j.audit(&victims.Auditor{Cluster: c}))
		for i := range j.Refused {
			if r := &j.Refused[i].Refusal; at == 1 && r.Proven {
				require.NotEqual(t, "no-victims", r.Reason)
			}
		}
		// What one decision takes that ends at once, for each ask, and what came before.
		require.LessOrEqual(t, j.Steps, int64(at*1500+len(asks)*5000), "stopped at question %d", at)
	}
}

func servedBy(j *joint) (n int) {
	for i := range j.Parts {
		n += len(j.Parts[i].Asks)
	}
	return n
}

// Of asks that are alike those that are refused are decided once: nodes are asked about no
// more often however many there are.
func TestTogether_Alike(t *testing.T) {
	asked := map[int]int{}
	for _, asks := range []int{30, 300} {
		w := build(t, "queue a\nqueue b g=1000\nnode n1 20\ntask v a n1 10\ntask w a n1 10\njob b 1,1")
		p := w.entitled()
		p.Exempt = nil // it might tell them apart
		p.Filter = func(*victims.Question) bool { asked[asks]++; return true }
		list := make([]victims.Ask, asks)
		for i := range list {
			list[i] = w.asks()[0]
			list[i].Key = fmt.Sprint("a", i)
		}
		var j joint
		require.NoError(t, decideAll(p, &j, list, noon))
		require.Equal(t, 20, servedBy(&j))
		require.Len(t, j.Refused, asks-20)
	}
	require.Equal(t, asked[30], asked[300])
	require.LessOrEqual(t, asked[300], 4*20)
}
