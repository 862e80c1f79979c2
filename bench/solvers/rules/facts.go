// SPDX-License-Identifier: Apache-2.0

// Package rules has the rules of plans once more, written from DESIGN.md: who may go, what
// is needed, what a set of victims costs, and whether it is lawful.
//
// It uses no code of the planners and none of the auditors. [Facts] are read row by row from a
// cluster, and all that is asked of them is in whole numbers. What is not in the model is an
// error, [ErrModel]: fences, exemptions, predicates, scarce types, required nodes, tasks that
// leave, grants, and the own leaf of an ask that is entitled.
package rules

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// ErrModel is the kind of errors about what the model does not know.
var ErrModel = errors.New("rules: not in the model")

// A Task is a running task. Nodes, queues, gangs and budgets are positions in Facts.
type Task struct {
	ID                   victims.TaskID
	Node, Queue          int
	Size                 []int64
	Priority             int64
	Rank                 int64
	OptedOut, Originator bool
	Gang                 int // of its job, if that has a minimum; or NoGang
	Budgets              []int
	Own                  int64         // its own cost
	Time                 time.Duration // that is lost with it
	Work                 *big.Int      // the same by weight
	Eligible             bool          // it may be a victim, as far as it alone is concerned
}

// NoGang is the gang of a task that goes by itself.
const NoGang = -1

// A Gang is a running job that needs Minimum of its members.
type Gang struct {
	Members []int
	Minimum int
}

// Surplus is how many members may go one by one.
func (g *Gang) Surplus() int { return max(0, len(g.Members)-g.Minimum) }

// A Budget is a disruption budget. Left is at least 0.
type Budget struct {
	Left int64
	Hard bool
}

// A HeadNeed is what a queue of the path lacks of headroom, by type.
type HeadNeed struct {
	Queue int
	Need  []int64
}

// A Room is what law 2 lets a queue lose of a type.
type Room struct {
	Queue, Type int
	Amount      int64
}

// Facts are a cluster as one ask sees it, or one job.
type Facts struct {
	Types    int
	Tasks    []Task
	Gangs    []Gang
	Budgets  []Budget
	On       [][]int // by node: its tasks
	Nodes    []victims.NodeID
	Free     [][]int64 // by node
	Open     []bool    // by node: it takes who asks
	Blockers [][]int   // by node: tasks that must go
	Capacity []int64   // of all nodes
	Asked    []int64   // what is asked for, together
	Wanted   []int     // the types of that with an amount
	Head     []HeadNeed
	Rooms    []Room // those that can bind
	Refused  string // why no plan may be looked for, or ""

	queues []queueFacts
	leaf   int // that asks
}

// queueFacts are a queue, with what it defines only.
type queueFacts struct {
	parent     int // or -1
	onPath     bool
	guaranteed map[int]int64
	max        map[int]int64
	used       []int64
	offset     int64
}

// asked is what asks: an ask, or the required members of a job together.
type asked struct {
	leaf        queue.ID
	priority    int64
	application string
	class       int
	sum, most   []int64 // of the members: the sum, and the largest amount of each type
	job         bool
	byPriority  bool
	blockers    func(n victims.NodeID) []victims.TaskID
}

// OfAsk reads what there is for an ask.
func OfAsk(p *jobs.Planner, ask *victims.Ask, now time.Time) (*Facts, error) {
	if p.Predicate != nil || p.VictimsOnNode || ask.RequiredNode != "" {
		return nil, fmt.Errorf("%w: an option of the ask", ErrModel)
	}
	a := asked{leaf: ask.Queue, priority: int64(ask.Priority), application: ask.Application, class: ask.Class}
	a.sum = widened(ask.Size, p.Cluster.Schema().Len())
	a.most = a.sum
	if p.Blockers != nil {
		a.blockers = func(n victims.NodeID) []victims.TaskID {
			q := lent.To(&p.Options).Question(p.Cluster, ask, now)
			q.Node = n
			return p.Blockers(nil, q)
		}
	}
	return read(p.Cluster, &p.Options, &a, now)
}

// ofClass returns the question whether those of a class may run on a node.
func ofClass(c *victims.Cluster, class int, n victims.NodeID) *victims.Question {
	q := lent.To(new(victims.Options)).Question(c, &victims.Ask{Class: class}, time.Time{})
	q.Node = n
	return q
}

// widened returns a copy of v with an amount of every type.
func widened(v []int64, types int) []int64 {
	w := make([]int64, types)
	copy(w, v)
	return w
}

func read(c *victims.Cluster, r *victims.Options, a *asked, now time.Time) (*Facts, error) {
	if r.Exempt != nil || r.Scarce != nil {
		return nil, fmt.Errorf("%w: exemptions, scarce types", ErrModel)
	}
	f := &Facts{Types: c.Schema().Len(), Asked: a.sum, leaf: int(a.leaf)}
	for t, v := range f.Asked {
		if v > 0 {
			f.Wanted = append(f.Wanted, t)
		}
	}
	if err := f.readQueues(c.Tree()); err != nil {
		return nil, err
	}
	f.readNodes(c, r, a)
	if err := f.readTasks(c, r, a, now); err != nil {
		return nil, err
	}
	own, needy, err := f.gate(r, a)
	if err != nil || f.Refused != "" {
		return f, err
	}
	f.choose(r, a, own, needy)
	f.need(a, own, needy)
	if f.Refused == "" {
		f.bound(own || a.byPriority && cmp.Or(r.WithinQueue, queue.Never) != queue.Never)
	}
	return f, nil
}

func (f *Facts) readQueues(tree *queue.Tree) error {
	for q := range queue.ID(tree.Len()) {
		p := tree.Policies(q)
		if p.PriorityFence == "fence" || p.Preemption == queue.Fence || p.Preemption == queue.Disabled || p.WithinQueue != "" {
			return fmt.Errorf("%w: the policy of queue %s", ErrModel, tree.Path(q))
		}
		x := queueFacts{parent: -1, guaranteed: make(map[int]int64), max: make(map[int]int64), used: make([]int64, f.Types)}
		if up, ok := tree.Parent(q); ok {
			x.parent = int(up)
		}
		if p.PriorityOffset != nil {
			x.offset = int64(*p.PriorityOffset)
		}
		for t := range f.Types {
			if v, ok := tree.Guaranteed(q).Bound(t); ok {
				x.guaranteed[t] = v
			}
			if v, ok := tree.Max(q).Bound(t); ok {
				x.max[t] = v
			}
		}
		f.queues = append(f.queues, x)
	}
	for q := f.leaf; q >= 0; q = f.queues[q].parent {
		f.queues[q].onPath = true
	}
	return nil
}

// readNodes reads nodes as if nothing ran. Blockers are rows until the tasks are read.
func (f *Facts) readNodes(c *victims.Cluster, r *victims.Options, a *asked) {
	f.Capacity = make([]int64, f.Types)
	for n := range c.Nodes() {
		node := c.Node(n)
		free := widened(node.Capacity, f.Types)
		for t, v := range free {
			f.Capacity[t] += v
		}
		f.Nodes = append(f.Nodes, n)
		f.Free = append(f.Free, free)
		f.On = append(f.On, nil)
		f.Open = append(f.Open, !node.Unschedulable && node.ReservedFor == "" && (a.job || r.Filter == nil || r.Filter(ofClass(c, a.class, n))))
		var blockers []int
		if a.blockers != nil {
			for _, id := range a.blockers(n) {
				blockers = append(blockers, int(id))
			}
		}
		f.Blockers = append(f.Blockers, blockers)
	}
}

func (f *Facts) readTasks(c *victims.Cluster, r *victims.Options, a *asked, now time.Time) error {
	gangs, budgets := make(map[string]int), make(map[string]int)
	index := make(map[victims.TaskID]int)
	for id := range c.Tasks() {
		row := c.TaskView(id)
		if row.State != victims.Running || row.RequiredNode {
			return fmt.Errorf("%w: task %s leaves, has a grant or requires its node", ErrModel, row.Key)
		}
		t := Task{
			ID: id, Node: f.At(row.Node), Queue: int(row.Queue), Size: widened(row.Size, f.Types), Priority: int64(row.Priority),
			OptedOut: row.OptedOut, Originator: row.Originator, Gang: NoGang, Own: row.Cost,
			Eligible: row.Application == "" || row.Application != a.application,
		}
		if a.job && row.NonPreemptible {
			t.Eligible = false
		}
		t.Time, t.Work = f.lost(&row, now)
		i := len(f.Tasks)
		index[id] = i
		if minimum := c.MinMembers(row.Job); minimum > 0 {
			j, ok := gangs[row.Job]
			if !ok {
				j = len(f.Gangs)
				gangs[row.Job] = j
				f.Gangs = append(f.Gangs, Gang{Minimum: minimum})
			}
			t.Gang = j
			f.Gangs[j].Members = append(f.Gangs[j].Members, i)
		}
		for _, name := range row.Budgets {
			j, ok := budgets[name]
			if !ok {
				j = len(f.Budgets)
				budgets[name] = j
				b, _ := c.Budget(name)
				f.Budgets = append(f.Budgets, Budget{max(b.Left, 0), b.Hard})
			}
			t.Budgets = append(t.Budgets, j)
		}
		f.On[t.Node] = append(f.On[t.Node], i)
		for k, v := range t.Size {
			f.Free[t.Node][k] -= v
			for q := t.Queue; q >= 0; q = f.queues[q].parent {
				f.queues[q].used[k] += v
			}
		}
		f.Tasks = append(f.Tasks, t)
	}
	for _, list := range f.Blockers {
		for k, id := range list {
			list[k] = index[victims.TaskID(id)]
		}
	}
	return nil
}

// lost returns the time that is lost with a task, and that by the weight of the task:
// DESIGN.md, Cost.
func (f *Facts) lost(row *victims.Task, now time.Time) (time.Duration, *big.Int) {
	weight := big.NewInt(1)
	for t, v := range row.Size {
		if f.Capacity[t] <= 0 {
			continue
		}
		w := new(big.Int).Mul(big.NewInt(v), big.NewInt(1_000_000_000))
		w.Add(w, big.NewInt(f.Capacity[t]-1))
		w.Div(w, big.NewInt(f.Capacity[t]))
		if w.Cmp(weight) > 0 {
			weight = w
		}
	}
	from := row.Scheduled
	if from.IsZero() {
		return 0, new(big.Int)
	}
	if row.Checkpoint.After(from) {
		from = row.Checkpoint
	}
	time := max(0, now.Sub(from))
	return time, weight.Mul(weight, big.NewInt(int64(time)))
}

// At returns the position of a node, or -1.
func (f *Facts) At(n victims.NodeID) int { return slices.Index(f.Nodes, n) }

// inside reports whether queue q is at or below another.
func (f *Facts) inside(q, of int) bool {
	for ; q >= 0; q = f.queues[q].parent {
		if q == of {
			return true
		}
	}
	return false
}

func (f *Facts) depth(q int) (d int) {
	for ; f.queues[q].parent >= 0; q = f.queues[q].parent {
		d++
	}
	return d
}

// none is no queue: the needy queue of a job by priority.
const none = -1

// gate is law 4. It returns whether only the own leaf may give, and the needy queue.
func (f *Facts) gate(r *victims.Options, a *asked) (own bool, needy int, err error) {
	if a.byPriority {
		return false, none, nil
	}
	needy = none
	entitled, under := false, true
	for _, t := range f.Wanted {
		for q := f.leaf; q >= 0; q = f.queues[q].parent {
			g, ok := f.queues[q].guaranteed[t]
			if !ok {
				continue
			}
			entitled = true
			under = under && f.queues[q].used[t]+a.sum[t]-a.most[t] < g
			if needy == none || f.depth(q) > f.depth(needy) {
				needy = q
			}
			break
		}
	}
	switch entitled = entitled && under; {
	case entitled && cmp.Or(r.WithinQueue, queue.Never) != queue.Never, r.WithinQueue == queue.Branch:
		return false, none, fmt.Errorf("%w: the own leaf beside others", ErrModel)
	case !entitled && cmp.Or(r.WithinQueue, queue.Never) == queue.Never:
		f.Refused = "law 4"
	}
	return !entitled, needy, nil
}

// choose says who may go, and works out ranks.
func (f *Facts) choose(r *victims.Options, a *asked, own bool, needy int) {
	for i := range f.Tasks {
		t := &f.Tasks[i]
		// Both are lifted to below their common ancestor.
		victim, asks := t.Priority, a.priority
		common := t.Queue
		for ; !f.queues[common].onPath; common = f.queues[common].parent {
			victim += f.queues[common].offset
		}
		for q := f.leaf; q != common; q = f.queues[q].parent {
			asks += f.queues[q].offset
		}
		t.Rank = victim - asks
		switch {
		case own:
			t.Eligible = t.Eligible && t.Queue == f.leaf && t.Rank < 0
		case a.byPriority:
			t.Eligible = t.Eligible && t.Rank < 0
		default:
			lower := t.Rank < 0 || t.Rank == 0 && !r.StrictPriority
			t.Eligible = t.Eligible && lower && t.Queue != f.leaf && !f.inside(t.Queue, needy)
		}
	}
}

// need works out what queues of the path lack of headroom, from the leaf up.
func (f *Facts) need(a *asked, own bool, needy int) {
	for q := f.leaf; q >= 0; q = f.queues[q].parent {
		need := make([]int64, f.Types)
		short := false
		for _, t := range f.Wanted {
			if m, ok := f.queues[q].max[t]; ok && f.queues[q].used[t]+f.Asked[t] > m {
				need[t] = f.queues[q].used[t] + f.Asked[t] - m
				short = true
			}
		}
		if !short {
			continue
		}
		if !a.byPriority && !own && f.inside(q, needy) {
			f.Refused = "headroom inside"
			return
		}
		f.Head = append(f.Head, HeadNeed{q, need})
	}
}

// bound lists the rooms of law 2 that can bind. Within the own leaf a queue of the path
// keeps a guarantee that is met, and one that is not may fall in types that are asked for.
func (f *Facts) bound(own bool) {
	for q := range f.queues {
		x := &f.queues[q]
		for _, t := range slices.Sorted(maps.Keys(x.guaranteed)) {
			g := x.guaranteed[t]
			room := x.used[t] - min(g, x.used[t])
			if x.onPath {
				room += f.Asked[t]
				if own && x.used[t] < g && f.Asked[t] > 0 {
					continue
				}
			}
			var all int64
			for i := range f.Tasks {
				if f.Tasks[i].Eligible && f.inside(f.Tasks[i].Queue, q) {
					all += f.Tasks[i].Size[t]
				}
			}
			if all > room {
				f.Rooms = append(f.Rooms, Room{q, t, room})
			}
		}
	}
}
