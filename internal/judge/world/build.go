// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/judge/alike"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Build makes the cluster of a world. Queues, nodes, tasks and grants are added
// in the order of the world; the tree is lenient.
func Build(w *World) (*victims.Cluster, error) {
	schema, err := resources.NewSchema(w.Types...)
	if err != nil {
		return nil, err
	}
	tree, err := queue.NewLenient(schema, config(schema, &w.Root))
	if err != nil {
		return nil, err
	}
	c := victims.NewCluster(tree)
	if err := AddNodes(c, w.Nodes); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(w.Budgets)) {
		if err := c.SetBudget(name, victims.Budget(w.Budgets[name])); err != nil {
			return nil, err
		}
	}
	for i := range w.Tasks {
		if err := AddTask(c, &w.Tasks[i]); err != nil {
			return nil, err
		}
	}
	if err := AddGrants(c, w.Grants); err != nil {
		return nil, err
	}
	return c, nil
}

// AddNodes adds nodes of a world to a cluster, in their order.
func AddNodes(c *victims.Cluster, nodes []Node) error {
	for _, n := range nodes {
		_, err := c.AddNode(&victims.Node{
			Name: n.Name, Capacity: vector(c.Schema(), n.Capacity),
			Unschedulable: n.Unschedulable, ReservedFor: n.ReservedFor, Penalty: n.Rank, Domains: n.Domains,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// AddGrants gives asks of a world their places in a cluster, in their order.
func AddGrants(c *victims.Cluster, grants []Grant) error {
	for i := range grants {
		g := &grants[i]
		ask, err := AskOf(c, &g.Ask)
		if err != nil {
			return err
		}
		node, ok := c.LookupNode(g.Node)
		if !ok {
			return fmt.Errorf("world: grant %q: no node %q", g.Ask.Key, g.Node)
		}
		if _, err := c.GrantPlace(&ask, node, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// What is called the same in worlds and clusters.
var (
	copyTask = alike.Copier[victims.Task, Task]()
	copyAsk  = alike.Copier[victims.Ask, Ask]()
)

// AddTask adds a task of a world to a cluster.
func AddTask(c *victims.Cluster, t *Task) error {
	leaf, ok := c.Tree().Lookup(t.Queue)
	if !ok {
		return fmt.Errorf("world: task %q: no queue %q", t.Key, t.Queue)
	}
	node, ok := c.LookupNode(t.Node)
	if !ok {
		return fmt.Errorf("world: task %q: no node %q", t.Key, t.Node)
	}
	task := victims.Task{Queue: leaf, Node: node, Size: vector(c.Schema(), t.Size), State: states[t.State]}
	copyTask(&task, t)
	_, err := c.AddTask(&task)
	return err
}

// LetMove makes tasks of a cluster movable, of a class for the filter: those of which may is true,
// or all if it is nil.
func LetMove(c *victims.Cluster, class int, may func(key string) bool) {
	for id := range c.Tasks() {
		t := c.Task(id)
		if t.State == victims.Granted || may != nil && !may(t.Key) {
			continue
		}
		t.Movable, t.Class = true, class
		if _, err := c.SetTask(&t); err != nil {
			panic(err) // it is else as it was
		}
	}
}

// "" is what the zero Task has.
var states = map[State]victims.State{
	"": victims.Running, Running: victims.Running, Releasing: victims.Releasing, Preempting: victims.Marked,
}

// AskOf returns the ask as the planner of a cluster takes it.
func AskOf(c *victims.Cluster, a *Ask) (victims.Ask, error) {
	leaf, ok := c.Tree().Lookup(a.Queue)
	if !ok {
		return victims.Ask{}, fmt.Errorf("world: ask %q: no queue %q", a.Key, a.Queue)
	}
	ask := victims.Ask{Queue: leaf, Size: vector(c.Schema(), a.Size), MayNotPreempt: a.MayNot}
	copyAsk(&ask, a)
	return ask, nil
}

// PlannerOf returns a planner over a cluster with the options of a case, whose minimums the
// cluster then has. The instant is an argument of its decisions; exemptions follow theirs.
func PlannerOf(c *victims.Cluster, o *Options) *jobs.Planner {
	SetMinimums(c, o.Minimums)
	p := &jobs.Planner{
		Cluster: c,
		Options: victims.Options{
			Levels: o.Levels, RetryInterval: o.Interval, WithinQueue: OwnLeaves[o.OwnLeaf], Scarce: o.Counting(c),
		},
	}
	o.Choices.Set(&p.Options)
	if o.Exempt != nil {
		p.Exempt = func(e *victims.Question) (time.Time, bool) {
			at := Options{Now: e.Now, Exempt: o.Exempt}
			return at.Exempts(e.Cluster.Key(e.Task))
		}
	}
	return p
}

// Counting returns the types whose guarantees count as the planner of a cluster takes them.
func (o *Options) Counting(c *victims.Cluster) *resources.Mask {
	if o.Scarce == nil {
		return nil
	}
	types := new(resources.Mask)
	for _, name := range o.Scarce {
		if i, ok := c.Schema().Index(name); ok {
			*types |= 1 << i
		}
	}
	return types
}

// OwnLeaves are the words for what may be taken of the own leaf as package victims has them.
var OwnLeaves = map[string]queue.WithinQueue{"": queue.Never, Met: queue.Met, Branch: queue.Branch}

// CasePlanner returns a planner for a case over a cluster that was built of its
// world, with all that the case says: options, labels, ports and gangs.
func CasePlanner(c *victims.Cluster, k *Case) *jobs.Planner {
	p := PlannerOf(c, &k.Options)
	if len(k.Ask.Selector) > 0 {
		p.Filter = k.Filter(c)
	}
	if len(k.Ask.Ports) > 0 {
		p.Blockers = k.Blockers(c)
	}
	return p
}

func config(s *resources.Schema, q *Queue) queue.Config {
	c := queue.Config{
		Name: q.Name, Guaranteed: limit(s, q.Guaranteed), Max: limit(s, q.Max), Properties: q.Properties,
	}
	for i := range q.Children {
		c.Children = append(c.Children, config(s, &q.Children[i]))
	}
	return c
}

func limit(s *resources.Schema, a Amounts) resources.Limit {
	l := resources.Limit{Value: make(resources.Vector, s.Len())}
	for i := range s.Len() {
		if v, ok := a[s.Name(i)]; ok {
			l.Value[i] = v
			l.Defined |= 1 << i
		}
	}
	return l
}

func vector(s *resources.Schema, a Amounts) resources.Vector {
	v := make(resources.Vector, s.Len())
	for i := range s.Len() {
		v[i] = a[s.Name(i)]
	}
	return v
}

// LimitOf returns amounts as a bound of a cluster.
func LimitOf(c *victims.Cluster, a Amounts) resources.Limit { return limit(c.Schema(), a) }

// VectorOf returns amounts as a vector of a cluster.
func VectorOf(c *victims.Cluster, a Amounts) resources.Vector { return vector(c.Schema(), a) }

// AmountsOf returns a vector of a cluster as amounts, without its zeros.
func AmountsOf(c *victims.Cluster, v resources.Vector) Amounts {
	a := make(Amounts)
	for i := range c.Schema().Len() {
		if i < len(v) && v[i] != 0 {
			a[c.Schema().Name(i)] = v[i]
		}
	}
	return a
}

// CauseOf returns why work could never run in the words of the oracle: "no-node",
// "too-large n1 cpu 4" or "above-max root.a cpu 4"; "" if it could.
func CauseOf(c *victims.Cluster, r *victims.Cause) string {
	switch r.Kind {
	case "too-large":
		return fmt.Sprintf("%s %s %s %d", r.Kind, r.Node, c.Schema().Name(r.Type), r.Most)
	case "above-max":
		return fmt.Sprintf("%s %s %s %d", r.Kind, r.Queue, c.Schema().Name(r.Type), r.Most)
	}
	return r.Kind
}
