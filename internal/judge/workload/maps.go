// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// Maps is the decision as schedulers commonly make it: amounts are maps from
// type names to numbers, queues are found by path, and what would be left of
// the guarantees is tried out on a copy of all queues, twice per node. It is
// written plainly, as one would the first time, and not to be slow.
//
// Of the rules it knows what W without more to it needs: guarantees at every
// level, applications, and that victims come from outside the asking queue.
// Its answer there has the least cost, as the planner's has, where the fewest
// tasks that make room differ by one in size at most: so it is for k = 1, 4, 7
// and 10.
type Maps struct {
	queues map[string]*mapQueue // by path
	nodes  []*mapNode           // in node order
	types  []string
}

type amounts = map[string]int64

type mapQueue struct{ used, guaranteed amounts }

type mapNode struct {
	name  string
	free  amounts
	tasks []*mapTask
}

type mapTask struct {
	key, application, queue string
	size                    amounts
	scheduled               time.Time
}

// A MapPlan is the answer of [Maps].
type MapPlan struct {
	Node    string
	Victims []string // sorted
}

// NewMaps takes what a cluster consists of.
func NewMaps(c *victims.Cluster) *Maps {
	m := &Maps{queues: make(map[string]*mapQueue)}
	for i := range c.Schema().Len() {
		m.types = append(m.types, c.Schema().Name(i))
	}
	for q := range queue.ID(c.Tree().Len()) {
		bound := c.Tree().Guaranteed(q)
		m.queues[c.Tree().Path(q)] = &mapQueue{
			used:       m.amounts(c.Tree().Usage(q)),
			guaranteed: m.amounts(bound.Value[:min(bits.OnesCount64(uint64(bound.Defined)), len(bound.Value))]),
		}
	}
	nodes := make(map[victims.NodeID]*mapNode)
	for n := range c.Nodes() {
		nodes[n] = &mapNode{name: c.Node(n).Name, free: m.amounts(c.Free(nil, n))}
		m.nodes = append(m.nodes, nodes[n])
	}
	for id := range c.Tasks() {
		t := c.TaskView(id)
		nodes[t.Node].tasks = append(nodes[t.Node].tasks, &mapTask{
			key: t.Key, application: t.Application, queue: c.Tree().Path(t.Queue),
			size: m.amounts(t.Size), scheduled: t.Scheduled,
		})
	}
	return m
}

func (m *Maps) amounts(v []int64) amounts {
	a := make(amounts, len(v))
	for t, amount := range v {
		a[m.types[t]] = amount
	}
	return a
}

// Decide decides an ask that some queue guarantees its types and that fits
// nowhere as things are.
func (m *Maps) Decide(tree *queue.Tree, ask *victims.Ask) (best MapPlan, ok bool) {
	path, size := tree.Path(ask.Queue), m.amounts(ask.Size)
	var bestWork time.Duration
	for _, n := range m.nodes {
		need := make(amounts)
		for name, amount := range size {
			if lack := amount - n.free[name]; lack > 0 {
				need[name] = lack
			}
		}
		picked := m.pick(n, path, ask.Application, need)
		if picked == nil {
			continue
		}
		var work time.Duration
		for _, t := range picked {
			work += Now.Sub(t.scheduled)
		}
		c := cmp.Or(cmp.Compare(len(picked), len(best.Victims)), cmp.Compare(work, bestWork))
		if !ok || c < 0 {
			ok, bestWork, best = true, work, MapPlan{Node: n.name}
			for _, t := range picked {
				best.Victims = append(best.Victims, t.key)
			}
		}
	}
	slices.Sort(best.Victims)
	return best, ok
}

// pick returns the tasks of a node that should go, nil where none will do: as
// few as possible, and of those that are enough the youngest.
func (m *Maps) pick(n *mapNode, asking, application string, need amounts) []*mapTask {
	var list []*mapTask
	for _, t := range n.tasks {
		if t.application != application && t.queue != asking && !strings.HasPrefix(t.queue, asking+".") {
			list = append(list, t)
		}
	}

	// First the largest, to see how many are enough.
	slices.SortFunc(list, func(a, b *mapTask) int { return cmp.Or(-compareSize(a, b), compareAge(a, b)) })
	queues := m.snapshot()
	left := copyOf(need)
	var largest []*mapTask
	for _, t := range list {
		if !covered(left) && queues.remove(t) {
			subtract(left, t.size)
			largest = append(largest, t)
		}
	}
	if !covered(left) {
		return nil
	}

	// Then the youngest with which so many will do.
	slices.SortFunc(list, compareAge)
	queues = m.snapshot()
	left = copyOf(need)
	var youngest []*mapTask
	for _, t := range list {
		rest := len(largest) - len(youngest) - 1
		if rest >= 0 && enough(left, t, rest, largest[0]) && queues.remove(t) {
			subtract(left, t.size)
			youngest = append(youngest, t)
		}
	}
	if !covered(left) {
		return largest
	}
	return youngest
}

func compareSize(a, b *mapTask) int { return cmp.Compare(a.size["cpu"], b.size["cpu"]) }

func compareAge(a, b *mapTask) int {
	return cmp.Or(b.scheduled.Compare(a.scheduled), strings.Compare(a.key, b.key))
}

// snapshot is the queues by path, as they would be.
type snapshot map[string]*mapQueue

func (m *Maps) snapshot() snapshot {
	s := make(snapshot, len(m.queues))
	for path, q := range m.queues {
		s[path] = &mapQueue{used: copyOf(q.used), guaranteed: copyOf(q.guaranteed)}
	}
	return s
}

// remove takes a task out of its queues, and reports whether no queue is below
// its guarantee then. If one would be, nothing changes.
func (s snapshot) remove(t *mapTask) bool {
	for path := t.queue; path != ""; path = parent(path) {
		q := s[path]
		for name, g := range q.guaranteed {
			if t.size[name] > 0 && q.used[name]-t.size[name] < g {
				return false
			}
		}
	}
	for path := t.queue; path != ""; path = parent(path) {
		subtract(s[path].used, t.size)
	}
	return true
}

// parent returns the path of the queue above, "" for the root.
func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '.'))] }

// enough reports whether t and so many more of some size make up for what is left.
func enough(left amounts, t *mapTask, more int, of *mapTask) bool {
	for name, amount := range left {
		if amount > t.size[name]+int64(more)*of.size[name] {
			return false
		}
	}
	return true
}

func covered(left amounts) bool {
	for _, amount := range left {
		if amount > 0 {
			return false
		}
	}
	return true
}

// subtract takes away from a what b has of the same types.
func subtract(a, b amounts) {
	for name := range a {
		a[name] -= b[name]
	}
}

func copyOf(a amounts) amounts {
	b := make(amounts, len(a))
	for name, amount := range a {
		b[name] = amount
	}
	return b
}
