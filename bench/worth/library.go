// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A library is the same cluster, told to the library, and what decides and judges there.
type library struct {
	w       *world
	cluster *victims.Cluster
	nodes   []victims.NodeID
	places  map[victims.NodeID]int
	rows    map[string]int // of tasks that run, by key

	planner  jobs.Planner
	auditor  victims.Auditor
	decision victims.Decision
	found    []victims.Violation

	proven bool // the last plan said that none is cheaper in the levels of a bill
}

// instant turns seconds of a simulation into a time.
func instant(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// newLibrary tells the library about the queues, the nodes and the budgets of a world
// that has no tasks yet.
func newLibrary(w *world, types ...string) (*library, error) {
	schema, err := resources.NewSchema(types...)
	if err != nil {
		return nil, err
	}
	tree, err := queue.New(schema, w.config(0))
	if err != nil {
		return nil, err
	}
	x := &library{
		w: w, cluster: victims.NewCluster(tree),
		places: make(map[victims.NodeID]int), rows: make(map[string]int),
	}
	for i := range w.nodes {
		n := victims.Node{Name: fmt.Sprintf("n%03d", i), Capacity: slices.Clone(w.nodes[i].free), Tag: uint64(w.nodes[i].pool)}
		id, err := x.cluster.AddNode(&n)
		if err != nil {
			return nil, err
		}
		x.nodes, x.places[id] = append(x.nodes, id), i
	}
	for b := range w.budgets {
		if err := x.budget(b); err != nil {
			return nil, err
		}
	}
	// What is configured is the same for the planner and for those who judge.
	rules := victims.Options{WithinQueue: queue.Met, Filter: func(q *victims.Question) bool {
		return q.Member.Class == 0 || w.nodes[x.places[q.Node]].pool == q.Member.Class
	}}
	x.planner = jobs.Planner{Cluster: x.cluster, Options: rules}
	x.auditor = victims.Auditor{Cluster: x.cluster, Options: rules}
	return x, nil
}

// config returns a queue with all below it. A world has its queues in preorder, as trees
// have, so that numbers are the same.
func (w *world) config(q int) queue.Config {
	c := queue.Config{Name: w.queues[q].name, Properties: map[string]string{}}
	if q == 0 {
		c.Properties["preemption.delay"] = "0s"
	}
	if w.queues[q].fence {
		c.Properties["preemption.policy"] = "fence"
	}
	c.Guaranteed.Value = make(resources.Vector, len(w.queues[q].guaranteed))
	for i, g := range w.queues[q].guaranteed {
		if g != undefined {
			c.Guaranteed.Value[i] = g
			c.Guaranteed.Defined |= 1 << i
		}
	}
	for child := range w.queues {
		if w.queues[child].parent == q {
			c.Children = append(c.Children, w.config(child))
		}
	}
	return c
}

// budget tells how many tasks of a service may still be stopped.
func (x *library) budget(b int) error {
	return x.cluster.SetBudget(x.w.budgets[b].name, victims.Budget{Left: int64(x.w.budgets[b].left()), Hard: true})
}

func (x *library) budgetNames(b int) []string {
	if b < 0 {
		return nil
	}
	return []string{x.w.budgets[b].name}
}

// started tells of a task that has started, which the world has already.
func (x *library) started(id int) error {
	t := &x.w.tasks[id]
	v := victims.Task{
		Key: t.key, Application: t.app, Queue: queue.ID(t.queue), Node: x.nodes[t.node], Size: t.size, Priority: t.priority,
		Created: instant(t.scheduled), Scheduled: instant(t.scheduled), OptedOut: t.optedOut, Cost: t.cost, Budgets: x.budgetNames(t.budget),
		Movable: true, Class: t.of.pool,
	}
	if t.gang >= 0 {
		v.Job = x.w.gangs[t.gang].name
		if err := x.cluster.SetMinMembers(v.Job, x.w.gangs[t.gang].minimum); err != nil {
			return err
		}
	}
	if _, err := x.cluster.AddTask(&v); err != nil {
		return err
	}
	x.rows[t.key] = id
	return x.changed(t)
}

// gone tells of a task that has gone from the world.
func (x *library) gone(id int) error {
	t := &x.w.tasks[id]
	delete(x.rows, t.key)
	if err := x.cluster.RemoveTask(t.key); err != nil {
		return err
	}
	return x.changed(t)
}

func (x *library) changed(t *task) error {
	if t.budget < 0 {
		return nil
	}
	return x.budget(t.budget)
}

// decide asks the library. Fits is set if nobody has to stop.
func (x *library) decide(a *work) (got answer, ok, fits bool, err error) {
	got, ok, fits, err = x.decideBy(&x.planner, a)
	x.proven = ok && x.decision.Plan.Proof != victims.NoProof
	return got, ok, fits, err
}

func (x *library) decideBy(planner *jobs.Planner, a *work) (got answer, ok, fits bool, err error) {
	d := &x.decision
	ask := x.asked(a)
	if err := planner.Decide(d, &ask, instant(x.w.now)); err != nil || d.Outcome == victims.Refused {
		return got, false, false, err
	}
	got.places = make([]int, len(a.sizes))
	for _, p := range d.Plan.Places {
		got.places[p.Member] = x.places[p.Node]
	}
	for i := range d.Plan.Victims {
		got.victims = append(got.victims, x.rows[d.Plan.Victims[i].Key])
	}
	return got, true, d.Outcome == victims.Fits, nil
}

// leastWork is the library with an option: of plans that stop nobody more important the one
// that loses the least work, however many stop.
func (x *library) leastWork() rule {
	planner := jobs.Planner{Cluster: x.cluster, Options: x.planner.Options}
	levels := slices.DeleteFunc(victims.DefaultLevels(), func(l string) bool { return l == "work" })
	planner.Levels = slices.Insert(levels, slices.Index(levels, "victims"), "work")
	return rule{name: leastWorkName, plan: func(_ *world, a *work) (got answer, ok bool, err error) {
		got, ok, _, err = x.decideBy(&planner, a)
		return got, ok, err
	}}
}

func (a *work) key(member int) string { return fmt.Sprintf("%s/%d", a.name, member) }

// asked returns work as the library is asked about it: for one place, or for those of a gang.
func (x *library) asked(a *work) victims.Ask {
	if a.minimum == 0 {
		return x.ask(a)
	}
	return x.job(a)
}

func (x *library) ask(a *work) victims.Ask {
	return victims.Ask{
		Key: a.key(0), Application: a.app, Queue: queue.ID(a.leaf), Size: a.sizes[0], Priority: a.priority,
		Class: a.pool, OptedOut: a.optedOut, Cost: a.cost, Budgets: x.budgetNames(a.budget),
	}
}

func (x *library) job(a *work) victims.Ask {
	j := victims.Ask{Key: a.name, Application: a.app, Queue: queue.ID(a.leaf), Priority: a.priority}
	for i, size := range a.sizes {
		j.Members = append(j.Members, victims.Member{
			Key: a.key(i), Size: size, OptedOut: a.optedOut, Class: a.pool, Cost: a.cost, Budgets: x.budgetNames(a.budget),
		})
	}
	return j
}

// audit returns the words of the laws that an answer breaks, whoever gave it, each once.
func (x *library) audit(a *work, got *answer) (words []string) {
	p := victims.Plan{Ask: x.asked(a)}
	for i, node := range got.places {
		p.Places = append(p.Places, victims.Place{Member: i, Node: x.nodes[node]})
	}
	for _, v := range got.victims {
		key := x.w.tasks[v].key
		row, _ := x.cluster.Lookup(key)
		p.Victims = append(p.Victims, victims.Victim{Task: row, Key: key})
	}
	x.found = x.auditor.Audit(x.found[:0], &victims.Decision{Plan: p}, instant(x.w.now))
	return x.lawsFound()
}

// second reports whether a lawful answer is one only by the option of the own leaf: then it
// comes after all others.
func (x *library) second(a *work, got *answer) bool {
	within := x.auditor.WithinQueue
	defer func() { x.auditor.WithinQueue = within }()
	x.auditor.WithinQueue = queue.Never
	return len(x.audit(a, got)) > 0
}

// lawsFound returns the words of the laws that the last audit found broken.
func (x *library) lawsFound() (words []string) {
	for i := range x.found {
		if law := x.found[i].Law; !slices.Contains(words, law) {
			words = append(words, law)
		}
	}
	return words
}
