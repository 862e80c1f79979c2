// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// clusterModel is the slow twin of a cluster: facts by key, and every sum
// computed anew by going through all of them.
type clusterModel struct {
	tree       *queue.Tree // for its shape only
	nodes      map[string]Node
	order      []string // of adding
	rows       map[NodeID]string
	tasks      map[string]modelTask // grants included
	guaranteed map[queue.ID]resources.Limit
	max        map[queue.ID]resources.Limit
	budgets    map[string]Budget
	unset      map[string]bool // of these budgets: tasks name them only
	minimums   map[string]int  // of jobs, those that were set
	placed     map[string]int  // and those of jobs that were placed
	asks       map[string]modelAsk
	waits      map[int][]modelVictim
	lastWait   int
	grants     []modelGrant                // in the order of giving
	blind      map[string]bool             // nodes with tasks of unknown size
	unknown    map[string]resources.Vector // usage of nodes without tasks
}

// modelTask is a task by the name of its node. Its amounts are its own.
type modelTask struct {
	Task
	node string
	told time.Time // when it was marked
}

func newClusterModel(tree *queue.Tree) *clusterModel {
	return &clusterModel{
		tree: tree, nodes: map[string]Node{}, rows: map[NodeID]string{}, tasks: map[string]modelTask{},
		guaranteed: map[queue.ID]resources.Limit{}, max: map[queue.ID]resources.Limit{},
		budgets: map[string]Budget{}, unset: map[string]bool{}, minimums: map[string]int{}, placed: map[string]int{},
		asks: map[string]modelAsk{}, waits: map[int][]modelVictim{}, blind: map[string]bool{}, unknown: map[string]resources.Vector{},
	}
}

func (m *clusterModel) clone() *clusterModel {
	c := *m
	c.nodes, c.rows, c.tasks = maps.Clone(m.nodes), maps.Clone(m.rows), maps.Clone(m.tasks)
	c.guaranteed, c.max, c.budgets = maps.Clone(m.guaranteed), maps.Clone(m.max), maps.Clone(m.budgets)
	c.minimums, c.placed, c.asks, c.waits = maps.Clone(m.minimums), maps.Clone(m.placed), maps.Clone(m.asks), maps.Clone(m.waits)
	c.blind, c.unknown, c.unset = maps.Clone(m.blind), maps.Clone(m.unknown), maps.Clone(m.unset)
	c.order, c.grants = slices.Clone(m.order), slices.Clone(m.grants)
	return &c
}

func (m *clusterModel) types() int { return m.tree.Schema().Len() }

// full returns a copy of v with an amount for every type.
func (m *clusterModel) full(v resources.Vector) resources.Vector {
	return append(resources.Vector(nil), append(v, make(resources.Vector, m.types())...)[:m.types()]...)
}

// sum returns the amount of type i of the tasks that count.
func (m *clusterModel) sum(i int, counts func(modelTask) bool) *big.Int {
	sum := new(big.Int)
	for _, t := range m.tasks {
		if counts(t) {
			sum.Add(sum, big.NewInt(t.Size[i]))
		}
	}
	return sum
}

// badSize returns what is wrong with amounts by themselves.
func (m *clusterModel) badSize(v resources.Vector) (wrong []error) {
	for i, amount := range v {
		if amount < 0 || i >= m.types() && amount != 0 {
			wrong = append(wrong, invalid.Amount)
		}
	}
	return wrong
}

// tooMuch reports whether a size would take the usage of all tasks but that of
// key out of range.
func (m *clusterModel) tooMuch(key string, size resources.Vector) (wrong []error) {
	for i := range m.types() {
		sum := m.sum(i, func(t modelTask) bool { return t.Key != key })
		for _, v := range m.unknown {
			sum.Add(sum, big.NewInt(v.At(i)))
		}
		if !sum.Add(sum, big.NewInt(size.At(i))).IsInt64() {
			wrong = append(wrong, invalid.Range)
		}
	}
	return wrong
}

func (m *clusterModel) badNode(n *Node) []error {
	wrong := m.badSize(n.Capacity)
	for i := range m.types() {
		sum := big.NewInt(n.Capacity.At(i))
		for name, other := range m.nodes {
			if name != n.Name {
				sum.Add(sum, big.NewInt(other.Capacity[i]))
			}
		}
		if !sum.IsInt64() {
			wrong = append(wrong, invalid.Range)
		}
	}
	return wrong
}

// badTask returns what is wrong with a task, or a grant, that is to be added.
func (m *clusterModel) badTask(t *Task) []error {
	wrong := append(m.badSize(t.Size), m.tooMuch(t.Key, t.Size)...)
	was, known := m.tasks[t.Key]
	if known && (t.State == Granted || was.State != Granted) {
		wrong = append(wrong, ErrDuplicate)
	}
	if t.Key == "" {
		wrong = append(wrong, invalid.Empty)
	}
	name, ok := m.nodeOf(t)
	switch {
	case t.NodeName == "" && t.Node == 0:
		wrong = append(wrong, invalid.Empty)
	case !ok:
		wrong = append(wrong, ErrUnknown)
	}
	if t.State == Granted && m.closed(name) {
		wrong = append(wrong, ErrRoom)
	}
	if t.Queue < 0 || int(t.Queue) >= m.tree.Len() {
		wrong = append(wrong, ErrUnknown)
	} else if !m.tree.IsLeaf(t.Queue) {
		wrong = append(wrong, invalid.Queue)
	}
	for _, when := range []time.Time{t.Created, t.Scheduled, t.Checkpoint, t.SparedUntil} {
		if badTime(when) && !when.IsZero() {
			wrong = append(wrong, invalid.Range)
		}
	}
	if t.Cost < 0 {
		wrong = append(wrong, invalid.Amount)
	}
	return append(wrong, m.badBudgets(t.Budgets)...)
}

func (m *clusterModel) badBudgets(names []string) (wrong []error) {
	seen := map[string]bool{}
	for _, name := range names {
		if name == "" {
			wrong = append(wrong, invalid.Empty)
		}
		if seen[name] {
			wrong = append(wrong, ErrDuplicate)
		}
		seen[name] = true
	}
	return wrong
}

// settleBudgets adds budgets that are only named, and forgets those that no task names.
func (m *clusterModel) settleBudgets() {
	named := map[string]bool{}
	for _, t := range m.tasks {
		for _, name := range t.Budgets {
			named[name] = true
			if _, ok := m.budgets[name]; !ok {
				m.budgets[name], m.unset[name] = Budget{}, true
			}
		}
	}
	for name := range m.unset {
		if !named[name] {
			delete(m.budgets, name)
			delete(m.unset, name)
		}
	}
}

// spend takes the victim of a plan off its budgets.
func (m *clusterModel) spend(key string) {
	for _, name := range m.tasks[key].Budgets {
		b := m.budgets[name]
		b.Left--
		m.budgets[name] = b
	}
}

// badTime reports whether a time is no count of nanoseconds since 1970.
func badTime(t time.Time) bool {
	ns := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(1e9))
	return !ns.IsInt64()
}

func (m *clusterModel) putTask(t Task) {
	t.Size = m.full(t.Size)
	name, _ := m.nodeOf(&t)
	t.NodeName = ""
	var told time.Time
	if was := m.tasks[t.Key]; was.State == Marked && t.State == Marked {
		told = was.told
	}
	m.tasks[t.Key] = modelTask{t, name, told}
}

// nodeOf returns the name of the node of a task that is told.
func (m *clusterModel) nodeOf(t *Task) (string, bool) {
	if t.NodeName != "" {
		return t.NodeName, true
	}
	name, ok := m.rows[t.Node]
	return name, ok
}

// closed reports whether a node, which may not be there, takes nothing.
func (m *clusterModel) closed(name string) bool {
	_, there := m.nodes[name]
	return !there || m.blind[name]
}

// tasksOn counts the tasks and grants of a node.
func (m *clusterModel) tasksOn(name string) (n int) {
	for _, t := range m.tasks {
		if t.node == name {
			n++
		}
	}
	return n
}

// settleRows takes note of rows that closed nodes got, and forgets those that
// are gone.
func (m *clusterModel) settleRows(c *Cluster) {
	named := map[string]bool{}
	for id, name := range m.rows {
		if _, there := m.nodes[name]; !there && m.tasksOn(name) == 0 && !m.blind[name] && m.unknown[name] == nil {
			delete(m.rows, id)
			continue
		}
		named[name] = true
	}
	for _, t := range m.tasks {
		named[t.node] = named[t.node] || m.nameRow(c, t.node)
	}
	for name := range m.blind {
		named[name] = named[name] || m.nameRow(c, name)
	}
	for name := range m.unknown {
		named[name] = named[name] || m.nameRow(c, name)
	}
	for key, t := range m.tasks {
		t.Node, _ = c.LookupNode(t.node)
		m.tasks[key] = t
	}
}

// nameRow takes note of the row that a name has got.
func (m *clusterModel) nameRow(c *Cluster, name string) bool {
	id, ok := c.LookupNode(name)
	if other, taken := m.rows[id]; !ok || taken {
		panic(fmt.Sprintf("node %q has row %d, %t, which %q has", name, id, ok, other))
	}
	m.rows[id] = name
	return true
}

func (m *clusterModel) putNode(n Node) {
	n.Capacity = m.full(n.Capacity)
	m.nodes[n.Name] = n
}

// clusterPicture is all that can be seen of a cluster but for its version.
type clusterPicture struct {
	nodes    []nodePicture
	tasks    []modelTask // by key
	queues   []queuePicture
	capacity resources.Vector
	budgets  []string
	grants   []askPicture
	marked   []string
}

type nodePicture struct {
	Node
	id           NodeID
	free, coming resources.Vector
	unknown      resources.Vector
	closed       bool
}

type queuePicture struct {
	usage, leaving  resources.Vector
	guaranteed, max resources.Limit
}

func (m *clusterModel) picture() (p clusterPicture) {
	sums := func(counts func(modelTask) bool) (v resources.Vector) {
		for i := range m.types() {
			v = append(v, m.sum(i, counts).Int64())
		}
		return v
	}
	p.capacity = make(resources.Vector, m.types())
	ids := map[string]NodeID{}
	for id, name := range m.rows {
		ids[name] = id
	}
	for _, name := range m.names() {
		n, closed := m.nodes[name], m.closed(name)
		n.Name = name
		used := sums(func(t modelTask) bool { return t.node == name })
		staying := sums(func(t modelTask) bool { return t.node == name && (t.State == Running || t.State == Granted) })
		row := nodePicture{Node: n, id: ids[name], closed: closed}
		row.Capacity, row.unknown = m.full(n.Capacity), m.full(m.unknown[name])
		for i, v := range row.Capacity {
			row.free = append(row.free, v-used[i]-row.unknown[i])
			row.coming = append(row.coming, v-staying[i]-row.unknown[i])
			if !closed {
				p.capacity[i] += v
			}
		}
		p.nodes = append(p.nodes, row)
	}
	for _, key := range slices.Sorted(maps.Keys(m.tasks)) {
		p.tasks = append(p.tasks, m.tasks[key])
	}
	for q := range queue.ID(m.tree.Len()) {
		p.queues = append(p.queues, queuePicture{
			usage: sums(func(t modelTask) bool { return m.below(t.Queue, q) }),
			leaving: sums(func(t modelTask) bool {
				return m.below(t.Queue, q) && (t.State == Releasing || t.State == Marked)
			}),
			guaranteed: m.guaranteed[q], max: m.max[q],
		})
	}
	for _, name := range slices.Sorted(maps.Keys(m.budgets)) {
		p.budgets = append(p.budgets, fmt.Sprint(name, m.budgets[name], m.unset[name]))
	}
	for key, t := range m.tasks {
		if t.State == Marked {
			p.marked = append(p.marked, fmt.Sprint(key, " ", instant(t.told)))
		}
	}
	slices.SortFunc(p.marked, func(a, b string) int {
		a, b = a[:strings.Index(a, " ")], b[:strings.Index(b, " ")]
		return cmp.Or(m.tasks[a].told.Compare(m.tasks[b].told), cmp.Compare(a, b))
	})
	for i, g := range m.grants {
		if m.of(g.ask)[0] == i {
			p.grants = append(p.grants, m.held(g.ask))
		}
	}
	return p
}

// names returns the nodes that are not closed in node order, and then the closed
// ones by name.
func (m *clusterModel) names() (names []string) {
	var closed []string
	for _, name := range m.rows {
		if m.closed(name) {
			closed = append(closed, name)
		}
	}
	for _, name := range m.order {
		if !m.closed(name) {
			names = append(names, name)
		}
	}
	slices.Sort(closed)
	return append(names, closed...)
}

// below reports whether a is on the path of leaf.
func (m *clusterModel) below(leaf, a queue.ID) bool {
	for q := range m.tree.Ancestors(leaf) {
		if q == a {
			return true
		}
	}
	return false
}

// lookAt returns the picture of a cluster, as its methods show it.
func lookAt(c *Cluster) (p clusterPicture) {
	closed := c.ClosedNodes(nil)
	slices.SortFunc(closed, func(a, b NodeID) int { return cmp.Compare(c.NodeName(a), c.NodeName(b)) })
	for _, id := range append(slices.Collect(c.Nodes()), closed...) {
		p.nodes = append(p.nodes, nodePicture{c.Node(id), id, c.Free(nil, id), c.ComingFree(nil, id), c.UnknownUsage(nil, id), c.Closed(id)})
	}
	for id := range c.Tasks() {
		t := c.Task(id)
		p.tasks = append(p.tasks, modelTask{Task: t, node: c.Node(t.Node).Name})
	}
	slices.SortFunc(p.tasks, func(a, b modelTask) int { return cmp.Compare(a.Key, b.Key) })
	for q := range queue.ID(c.Tree().Len()) {
		t := c.Tree()
		p.queues = append(p.queues, queuePicture{t.Usage(q), t.Leaving(q), t.Guaranteed(q), t.Max(q)})
	}
	p.capacity = c.Capacity()
	unknown := slices.Collect(c.UnknownBudgets())
	for name, b := range c.Budgets() {
		p.budgets = append(p.budgets, fmt.Sprint(name, b, slices.Contains(unknown, name)))
	}
	for key, at := range c.Marked() {
		p.marked = append(p.marked, fmt.Sprint(key, " ", instant(at)))
	}
	for g := range c.Grants() {
		var places []string
		for _, id := range g.Places {
			places = append(places, c.Key(id))
		}
		p.grants = append(p.grants, askPicture{g.Ask, places, g.Leaving, g.Returned, g.Since, g.Ready})
	}
	return p
}

// String writes a picture line by line.
func (p clusterPicture) String() string {
	var b strings.Builder
	for _, n := range p.nodes {
		fmt.Fprintf(&b, "node %d %s: capacity %v free %v coming %v unschedulable %t reserved %q rank %d in %q tag %d unknown %v closed %t\n",
			n.id, n.Name, n.Capacity, n.free, n.coming, n.Unschedulable, n.ReservedFor, n.Penalty, n.Domains, n.Tag, n.unknown, n.closed)
	}
	for _, t := range p.tasks {
		fmt.Fprintf(&b, "task %s of %s: queue %d node %s size %v priority %d created %s scheduled %s %v originator %t opted out %t required %t job %q fixed %t name %q tag %d cost %d saved %s budgets %q movable %t class %d refused %s\n",
			t.Key, t.Application, t.Queue, t.node, t.Size, t.Priority, instant(t.Created), instant(t.Scheduled), t.State,
			t.Originator, t.OptedOut, t.RequiredNode, t.Job, t.NonPreemptible,
			t.Name, t.Tag, t.Cost, instant(t.Checkpoint), t.Budgets, t.Movable, t.Class, instant(t.SparedUntil))
	}
	for q, u := range p.queues {
		fmt.Fprintf(&b, "queue %d: usage %v leaving %v guaranteed %s max %s\n", q, u.usage, u.leaving, bound(u.guaranteed), bound(u.max))
	}
	fmt.Fprintf(&b, "capacity %v budgets %v\n", p.capacity, p.budgets)
	for _, g := range p.grants {
		fmt.Fprintf(&b, "ask %q holds %q since %s, leaving %q returned %q ready %t\n", g.ask, g.places, instant(g.since), g.leaving, g.returned, g.ready)
	}
	fmt.Fprintf(&b, "marked %q\n", p.marked)
	return b.String()
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func bound(l resources.Limit) string {
	var parts []string
	for i := range resources.MaxTypes {
		if v, ok := l.Bound(i); ok {
			parts = append(parts, fmt.Sprint(i, ":", v))
		}
	}
	return strings.Join(parts, ",")
}
