// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/judge/storm"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// Rules are whose rules the small worlds may follow.
var Rules = []string{"own", "any", "yunikorn", "kueue"}

// A Worlds is what was found in small worlds on the tree of a document.
type Worlds struct {
	Rules  string `json:"rules"`
	Worlds int    `json:"worlds"`
	States int    `json:"states"`
	Tasks  int    `json:"tasks"` // the worlds of so many tasks were all looked at
	Loop   *Loop  `json:"loop,omitempty"`
}

// A Loop is a loop: after the last step all is as it was before the first.
type Loop struct {
	Node  string `json:"node"` // the capacity of the only node
	Tasks []Task `json:"tasks"`
	Steps []Step `json:"steps"`
}

type Task struct {
	Key       string `json:"key"`
	Queue     string `json:"queue"`
	Resources string `json:"resources"`
	Priority  int    `json:"priority"`
	Runs      bool   `json:"runs"` // before the first step
}

type Step struct {
	Starts string   `json:"starts"`
	Stops  []string `json:"stops"`
}

// mostTasks is how many tasks a small world has at most.
const mostTasks = 6

// An explorer makes small worlds on a tree: up to three leaves of it, one node, a few
// tasks of one or two units of one type, of up to four by the rules of Kueue. The amounts of the tree are counted in
// units. That loses nothing: with tasks of whole units, usage is under a
// guarantee if it is under the next larger whole number, and within a max if it is
// within the next smaller one.
type explorer struct {
	doc    *scenario.Document
	tree   *queue.Tree
	rules  storm.Rules
	left   int // states that may still be looked at
	look   Worlds
	seen   map[string]bool // trees of worlds: leaves that are alike are looked at once
	kind   int             // the type
	unit   int64
	queues []queue.ID // of the world
	u      storm.Universe
}

// ownLeaves are the words for what may be taken of the own leaf.
var ownLeaves = map[string]storm.OwnLeaf{"met": storm.Met, "branch": storm.Branch}

// explore explores small worlds until there is a loop, or a number of states
// was looked at. Worlds of fewer tasks come first.
func explore(doc *scenario.Document, tree *queue.Tree, o Options) *Worlds {
	w := explorer{doc: doc, tree: tree, left: o.States, look: Worlds{Rules: o.Rules}}
	w.rules = storm.Rules{
		OwnLeaf: ownLeaves[doc.Options.OwnLeaf],
		Strict:  doc.Options.StrictPriority,
		Inside:  o.Rules == "yunikorn", Fair: o.Rules == "kueue",
	}
	if o.Rules == "any" {
		w.rules.OwnLeaf = storm.Any
	}
	leaves := slices.Collect(tree.Leaves(queue.Root))
	for tasks := 2; tasks <= mostTasks; tasks++ {
		w.seen = make(map[string]bool)
		for kind := range doc.Schema.Len() {
			w.kind = kind
			for _, w.unit = range w.units() {
				if !w.choose(leaves, nil, tasks) {
					return &w.look
				}
			}
		}
		w.look.Tasks = tasks
	}
	return &w.look
}

// units returns units that make the largest guarantee of the type three, two and
// one of them.
func (w *explorer) units() (all []int64) {
	most := int64(1)
	for q := range queue.ID(w.tree.Len()) {
		if g, ok := w.tree.Guaranteed(q).Bound(w.kind); ok {
			most = max(most, min(g, math.MaxInt64/64)) // a few units of it are an amount, too
		}
	}
	for parts := int64(2); parts >= 1; parts-- {
		all = append(all, 1+(most-1)/parts)
	}
	all = append(all, 1+(most-1)/3)
	slices.Sort(all)
	return slices.Compact(all)
}

// choose explores with up to three of some leaves. It returns false if there was
// a loop, or no states are left.
func (w *explorer) choose(leaves, chosen []queue.ID, tasks int) bool {
	if len(chosen) > 0 && !w.on(chosen, tasks) {
		return false
	}
	if len(chosen) == min(3, tasks) {
		return true
	}
	for i, leaf := range leaves {
		if !w.choose(leaves[i+1:], append(chosen[:len(chosen):len(chosen)], leaf), tasks) {
			return false
		}
	}
	return true
}

// on explores with these leaves, all of which have tasks.
func (w *explorer) on(leaves []queue.ID, tasks int) bool {
	if w.left--; w.left < 0 {
		return false // in a large tree most choices are alike, and counting them has a cost
	}
	w.queues = w.queues[:0]
	for q := range queue.ID(w.tree.Len()) {
		if slices.ContainsFunc(leaves, func(leaf queue.ID) bool { return w.tree.Contains(q, leaf) }) {
			w.queues = append(w.queues, q)
		}
	}
	w.u = storm.Universe{Rules: w.rules}
	for _, q := range w.queues {
		parent, _ := w.tree.Parent(q)
		of := storm.Queue{
			Parent:     slices.Index(w.queues, parent),
			Guaranteed: []int{-1}, Max: []int{-1},
			Fence: w.tree.Policies(q).PriorityFence == "fence", Offset: int(*w.tree.Policies(q).PriorityOffset),
			Keeps: w.tree.Policies(q).Preemption == queue.Fence, Disabled: w.tree.Policies(q).Preemption == queue.Disabled,
		}
		if own := string(w.tree.Policies(q).WithinQueue); own != "" && w.rules.OwnLeaf != storm.Any {
			of.Own = 1 + ownLeaves[own] // of never 1
		}
		if g, ok := w.tree.Guaranteed(q).Bound(w.kind); ok {
			of.Guaranteed[0] = w.up(g)
		}
		if m, ok := w.tree.Max(q).Bound(w.kind); ok {
			of.Max[0] = int(min(m/w.unit, 100))
		}
		w.u.Queues = append(w.u.Queues, of)
	}
	if alike := fmt.Sprint(w.u.Queues); w.seen[alike] && !w.doc.Options.FairShares {
		return true
	} else {
		w.seen[alike] = true
	}
	return w.tasks(leaves, 0, tasks)
}

// up returns an amount in units, rounded up.
func (w *explorer) up(amount int64) int {
	return int(min(amount/w.unit+min(1, amount%w.unit), 100))
}

// tasks adds tasks of the kinds from one on, and then explores. Each leaf has some.
func (w *explorer) tasks(leaves []queue.ID, kind, more int) bool {
	if more == 0 {
		for _, leaf := range leaves {
			at := slices.Index(w.queues, leaf)
			if !slices.ContainsFunc(w.u.Tasks, func(t storm.Task) bool { return t.Leaf == at }) {
				return true
			}
		}
		return w.nodes()
	}
	priorities := w.priorities()
	sizes := 2
	if w.rules.Fair {
		sizes = 4
	}
	for ; kind < len(leaves)*sizes*len(priorities); kind++ {
		w.u.Tasks = append(w.u.Tasks, storm.Task{
			Leaf:     slices.Index(w.queues, leaves[kind%len(leaves)]),
			Size:     []int{1 + kind/len(leaves)%sizes},
			Priority: int(priorities[kind/len(leaves)/sizes]),
		})
		ok := w.tasks(leaves, kind, more-1)
		w.u.Tasks = w.u.Tasks[:len(w.u.Tasks)-1]
		if !ok {
			return false
		}
	}
	return true
}

// priorities returns two or three that tasks may have: the least, the next and the
// largest of the classes and none.
func (w *explorer) priorities() []int32 {
	all := []int32{0}
	for i := range w.doc.Classes {
		all = append(all, w.doc.Classes[i].Value)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 1 {
		return []int32{0, 1}
	}
	return slices.Compact([]int32{all[0], all[1], all[len(all)-1]})
}

// nodes explores with a node of every size that some of the tasks fill and all do not.
func (w *explorer) nodes() bool {
	sum, least := 0, 4
	for _, t := range w.u.Tasks {
		sum, least = sum+t.Size[0], min(least, t.Size[0])
	}
	for capacity := least; capacity < sum; capacity++ {
		if w.left <= 0 {
			return false
		}
		w.u.Nodes = [][]int{{capacity}}
		if w.doc.Options.FairShares {
			w.share(capacity)
		}
		cycle, states := w.u.Storm()
		w.left -= states
		w.look.Worlds, w.look.States = w.look.Worlds+1, w.look.States+states
		if cycle != nil {
			w.look.Loop = w.story(cycle, capacity)
			return false
		}
	}
	return true
}

// share makes the fair shares of all tasks of the world the guarantees.
func (w *explorer) share(capacity int) {
	demand := make([]resources.Vector, w.tree.Len())
	for _, t := range w.u.Tasks {
		leaf := w.queues[t.Leaf]
		demand[leaf] = resources.Add(demand[leaf], demand[leaf], w.vector(t.Size[0]))
	}
	var shares queue.FairShares
	most := resources.Limit{Value: w.vector(capacity), Defined: 1 << w.kind}
	if err := shares.Divide(w.tree, demand, most); err != nil {
		return // sums of a few tasks are small: the guarantees stay
	}
	for i, q := range w.queues {
		w.u.Queues[i].Guaranteed[0] = -1
		if g, ok := shares.Guarantee(q).Bound(w.kind); ok {
			w.u.Queues[i].Guaranteed[0] = w.up(g)
		}
	}
}

// vector returns units of the type.
func (w *explorer) vector(units int) resources.Vector {
	v := make(resources.Vector, w.doc.Schema.Len())
	v[w.kind] = int64(units) * w.unit
	return v
}

// story returns a loop with names. The tasks are t1, t2 and so on.
func (w *explorer) story(c *storm.Cycle, capacity int) *Loop {
	name := func(task int) string { return fmt.Sprintf("t%d", task+1) }
	l := &Loop{Node: w.doc.Schema.Format(w.vector(capacity))}
	for i, t := range w.u.Tasks {
		l.Tasks = append(l.Tasks, Task{
			Key: name(i), Queue: w.tree.Path(w.queues[t.Leaf]), Resources: w.doc.Schema.Format(w.vector(t.Size[0])),
			Priority: t.Priority, Runs: c.Running[i] >= 0,
		})
	}
	for _, s := range c.Steps {
		step := Step{Starts: name(s.Tasks[0]), Stops: []string{}}
		for _, v := range s.Victims {
			step.Stops = append(step.Stops, name(v))
		}
		l.Steps = append(l.Steps, step)
	}
	return l
}
