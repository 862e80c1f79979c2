// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Budgets are overrun as little as any plan can: every set of victims on every
// node is tried. A scheduler like Kubernetes' gives victims back greedily
// instead. The test tells in how many clusters that overruns more:
//
//	go test ./victims -run Budgets_Least -v -rapid.checks=10000
func TestBudgets_Least(t *testing.T) {
	var plans, overruns, worse int
	law.CheckMany(t, 300, func(t *rapid.T) {
		k := drawKube(t)
		d := k.decide(t)
		least, ok := k.least()
		if plan := d.Outcome == victims.Preempts; plan != ok {
			t.Fatalf("%v, and that there is a plan is %t\n%+v", d.Outcome, ok, k)
		}
		if !ok {
			return
		}
		if d.Plan.Cost.Overrun != least || k.overrun(k.named(&d.Plan)) != least {
			t.Fatalf("%v\noverrun could be %d\n%+v", &d.Plan.Cost, least, k)
		}
		greedy := k.overrun(k.greedy())
		if greedy < least {
			t.Fatalf("greedy overruns by %d, the least is %d\n%+v", greedy, least, k)
		}
		plans++
		if greedy > 0 {
			overruns++
		}
		if greedy > least {
			worse++
		}
	})
	t.Logf("of %d clusters with a plan, the greedy reprieve overruns budgets in %d, and in %d by more than need be",
		plans, overruns, worse)
}

func FuzzBudgets_Least(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		k := drawKube(t)
		d := k.decide(t)
		if least, ok := k.least(); ok && d.Plan.Cost.Overrun != least {
			t.Fatalf("%v\noverrun could be %d\n%+v", &d.Plan.Cost, least, k)
		}
	}))
}

// A reprieve that keeps the most important pod first may pay for it with two
// budgets: big is kept, and small-1 and small-2 go.
func TestBudgets_GreedyIsNotLeast(t *testing.T) {
	k := &kube{
		left: []int64{0, 0},
		nodes: [][]kubePod{{
			{key: "big", size: resources.Vector{6, 0}, priority: 2, budgets: []int{0}},
			{key: "small-1", size: resources.Vector{3, 0}, priority: 1, budgets: []int{1}},
			{key: "small-2", size: resources.Vector{3, 0}, priority: 1, budgets: []int{1}},
		}},
		size: resources.Vector{6, 0}, priority: 10,
	}
	require.Equal(t, int64(2), k.overrun(k.greedy()))
	d := k.decide(t)
	require.Equal(t, []string{"big"}, keysOf(d))
	require.Equal(t, int64(1), d.Plan.Cost.Overrun)
}

// room is what every node of a kube has.
var room = resources.Vector{12, 12}

// A kube is a cluster as Kubernetes knows it: one leaf, no guarantees, nodes
// that are alike, budgets that are soft.
type kube struct {
	left     []int64 // of the budgets
	nodes    [][]kubePod
	size     resources.Vector // of the ask
	priority int32
}

type kubePod struct {
	key      string
	size     resources.Vector
	priority int32
	minutes  int // since it was started
	budgets  []int
}

// drawKube draws a cluster in which most nodes are almost full.
func drawKube(t *rapid.T) *kube {
	draw := func(label string, least, most int) int { return rapid.IntRange(least, most).Draw(t, label) }
	k := &kube{priority: int32(draw("priority", 1, 3))}
	k.size = resources.Vector{int64(draw("cpu", 4, 10)), int64(draw("memory", 4, 10))}
	for range draw("budgets", 1, 3) {
		k.left = append(k.left, int64(draw("left", 0, 2)))
	}
	for n := range draw("nodes", 1, 3) {
		var pods []kubePod
		for i := range draw("pods", 3, 7) {
			p := kubePod{
				key:      fmt.Sprintf("n%d-%d", n, i),
				size:     resources.Vector{int64(draw("cpu", 1, 5)), int64(draw("memory", 0, 5))},
				priority: int32(draw("priority", 0, 2)), minutes: draw("minutes", 0, 5),
			}
			for b := range k.left {
				if draw("in a budget", 0, 2) == 0 {
					p.budgets = append(p.budgets, b)
				}
			}
			if fitsKube(p.size, pods) {
				pods = append(pods, p)
			}
		}
		k.nodes = append(k.nodes, pods)
	}
	return k
}

// fitsKube reports whether there is room beside pods.
func fitsKube(size resources.Vector, pods []kubePod) bool {
	free := slices.Clone(room)
	for _, p := range pods {
		resources.Sub(free, free, p.size)
	}
	return resources.Fits(size, free)
}

// decide has the planner decide, with the option that makes it Kubernetes'.
func (k *kube) decide(t require.TestingT) *victims.Decision {
	schema, err := resources.NewSchema("cpu", "memory")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "pods"}}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	for b, left := range k.left {
		require.NoError(t, c.SetBudget(fmt.Sprint(b), victims.Budget{Left: left}))
	}
	for n, pods := range k.nodes {
		node, err := c.AddNode(&victims.Node{Name: fmt.Sprint(n), Capacity: room})
		require.NoError(t, err)
		for _, p := range pods {
			task := victims.Task{
				Key: p.key, Application: p.key, Queue: 1, Node: node, Size: p.size, Priority: p.priority,
				Scheduled: now.Add(-time.Duration(p.minutes) * time.Minute),
			}
			for _, b := range p.budgets {
				task.Budgets = append(task.Budgets, fmt.Sprint(b))
			}
			_, err := c.AddTask(&task)
			require.NoError(t, err)
		}
	}
	planner := jobs.Planner{Cluster: c, Options: victims.Options{WithinQueue: queue.Met, StrictPriority: true, Audit: true}}
	ask := victims.Ask{Key: "ask", Application: "ask", Queue: 1, Size: k.size, Priority: k.priority}
	var d victims.Decision
	require.NoError(t, planner.Decide(&d, &ask, now))
	return &d
}

// named returns the pods that a plan stops.
func (k *kube) named(p *victims.Plan) (gone []kubePod) {
	for _, v := range p.Victims {
		pods := k.nodes[p.Places[0].Node-1] // rows start with 1
		i := slices.IndexFunc(pods, func(q kubePod) bool { return q.key == v.Key })
		gone = append(gone, pods[i])
	}
	return gone
}

// overrun is by how much budgets are overrun if pods go.
func (k *kube) overrun(gone []kubePod) (sum int64) {
	for b, left := range k.left {
		var taken int64
		for _, p := range gone {
			if slices.Contains(p.budgets, b) {
				taken++
			}
		}
		sum += max(0, taken-left)
	}
	return sum
}

// least returns the least overrun of all sets of victims, and whether there is
// a set that makes room. An ask that fits has no victims.
func (k *kube) least() (least int64, ok bool) {
	for _, pods := range k.nodes {
		if fitsKube(k.size, pods) {
			return 0, false
		}
		for set := range 1 << len(pods) {
			var gone, stay []kubePod
			for i, p := range pods {
				if set>>i&1 == 1 {
					gone = append(gone, p)
				} else {
					stay = append(stay, p)
				}
			}
			if slices.ContainsFunc(gone, func(p kubePod) bool { return p.priority >= k.priority }) || !fitsKube(k.size, stay) {
				continue
			}
			if n := k.overrun(gone); !ok || n < least {
				least, ok = n, true
			}
		}
	}
	return least, ok
}

// reprieved is what a greedy reprieve comes to on a node.
type reprieved struct {
	gone      []kubePod
	violating int // victims, by its own count
}

// greedy returns the victims on the best node, as Kubernetes chooses it: the
// fewest violating victims, then the least highest priority, then the least sum
// of priorities, then the fewest.
func (k *kube) greedy() []kubePod {
	var best *reprieved
	for _, pods := range k.nodes {
		if r := k.reprieve(pods); r != nil && (best == nil || compareReprieved(r, best) < 0) {
			best = r
		}
	}
	return best.gone
}

// reprieve takes all pods of lower priority off a node, and gives back who fits:
// first those whose going would violate a budget, each time the most important
// first. It returns nil if the ask does not fit with all of them gone.
func (k *kube) reprieve(pods []kubePod) *reprieved {
	var stay, lower []kubePod
	for _, p := range pods {
		if p.priority < k.priority {
			lower = append(lower, p)
		} else {
			stay = append(stay, p)
		}
	}
	if !fitsKube(k.size, stay) {
		return nil
	}
	slices.SortStableFunc(lower, func(a, b kubePod) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(b.minutes, a.minutes))
	})
	left := slices.Clone(k.left)
	var groups [2][]kubePod // violating, and others
	for _, p := range lower {
		group := 1
		for _, b := range p.budgets {
			if left[b]--; left[b] < 0 {
				group = 0
			}
		}
		groups[group] = append(groups[group], p)
	}
	var r reprieved
	for group, list := range groups {
		for _, p := range list {
			if fitsKube(k.size, append(slices.Clone(stay), p)) {
				stay = append(stay, p)
				continue
			}
			r.gone = append(r.gone, p)
			if group == 0 {
				r.violating++
			}
		}
	}
	return &r
}

func compareReprieved(a, b *reprieved) int {
	highest := func(r *reprieved) (p int32) {
		for _, v := range r.gone {
			p = max(p, v.priority)
		}
		return p
	}
	sum := func(r *reprieved) (n int) {
		for _, v := range r.gone {
			n += int(v.priority)
		}
		return n
	}
	return cmp.Or(cmp.Compare(a.violating, b.violating), cmp.Compare(highest(a), highest(b)),
		cmp.Compare(sum(a), sum(b)), cmp.Compare(len(a.gone), len(b.gone)))
}
