// SPDX-License-Identifier: Apache-2.0

package world

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/choices"
	"github.com/go-preempt/preempt/internal/judge/alike"
)

// Amounts are amounts of resource types by name. In a size or a capacity a
// type that is absent is 0; in a bound it is not bounded.
type Amounts map[string]int64

// A Case is a world and what is asked of it.
type Case struct {
	World   World
	Ask     Ask
	Options Options
}

// A World is a cluster.
type World struct {
	Types   []string
	Root    Queue
	Nodes   []Node // in node order
	Tasks   []Task
	Grants  []Grant           // in the order in which they were given
	Budgets map[string]Budget // by name
}

// A Budget says how many of its tasks may still be stopped.
type Budget struct {
	Left int64
	Hard bool
}

// A Queue is a queue and those below it.
type Queue struct {
	Name            string
	Guaranteed, Max Amounts
	Properties      map[string]string
	Children        []Queue
}

// A Node is a place where tasks run.
type Node struct {
	Name          string
	Capacity      Amounts
	Unschedulable bool
	ReservedFor   string // the key of an ask, or ""
	Labels        map[string]string
	Rank          int64
	Domains       []string // widest first
}

// Has reports whether the node has all of these labels, each with its value.
func (n *Node) Has(labels map[string]string) bool {
	for name, value := range labels {
		if have, ok := n.Labels[name]; !ok || have != value {
			return false
		}
	}
	return true
}

// A Task is something that runs, or is about to end.
type Task struct {
	Key, Application string
	Queue            string // a path: names from the root joined with dots
	Node             string
	Size             Amounts
	Priority         int32
	Created          time.Time
	Scheduled        time.Time // zero: not yet
	State            State

	Originator, OptedOut, RequiredNode bool

	Job            string // the gang it is a member of, or ""
	NonPreemptible bool   // no job may take it

	Checkpoint  time.Time // the last one; zero: none
	Cost        int64     // of the host's own
	Preemptions int       // how often before
	Budgets     []string
	Ports       []string // that it holds on its node
}

// A State is what a task is doing, in the words of package victims.
type State string

// The states of tasks. The amounts of all but running tasks are leaving.
const (
	Running    State = "running"
	Releasing  State = "releasing"
	Preempting State = "preempting"
)

// Leaving reports whether a task of the state is about to end.
func (s State) Leaving() bool { return s == Releasing || s == Preempting }

// An Ask is a task that has no node yet.
type Ask struct {
	Key, Application string
	Queue            string
	Size             Amounts
	Priority         int32
	PendingSince     time.Time
	LastAttempt      time.Time // zero: never
	RequiredNode     string
	MayNot           bool

	Originator, OptedOut bool

	Job            string
	NonPreemptible bool

	Selector    map[string]string // labels that its node must have
	Ports       []string          // that nobody else may hold on its node
	Cost        int64             // of the task that it becomes, like Budgets
	Preemptions int
	Budgets     []string
}

// A Grant is an ask that was given a node and has not started there.
type Grant struct {
	Ask  Ask
	Node string
}

// Options are the instant of a decision and what the caller of a planner chooses.
type Options struct {
	choices.Choices
	Now      time.Time
	Interval time.Duration
	// Exempt has the tasks that must not be taken before an instant, by key;
	// the zero instant is never.
	Exempt map[string]time.Time
	// Rules that end by themselves until Ended, or until Now, keep nobody.
	Ended time.Time
	// Minimums has the members that running jobs must keep, by name. If it is
	// nil, no minimum is known, and there are no gangs.
	Minimums map[string]int
	Levels   []string // what decides between plans, by their words; none: the default
	// OwnLeaf is what may be taken of the own leaf if no queue says it: "", Met or Branch.
	OwnLeaf string
	// Scarce are the types whose guarantees count. nil: all.
	Scarce []string
}

// The words for what an ask or a job may take of its own leaf.
const (
	Met = "met" // a guarantee once met stays met
	// Branch is Met for all leaves inside the starving queue.
	Branch = "branch"
)

// Counts reports whether guarantees of a type count.
func (o *Options) Counts(t string) bool { return o.Scarce == nil || slices.Contains(o.Scarce, t) }

// Exempts reports whether the task of that key is exempt now, and until when.
func (o *Options) Exempts(key string) (until time.Time, exempt bool) {
	until, ok := o.Exempt[key]
	return until, ok && (until.IsZero() || until.After(o.Now))
}

// Started returns the task that an ask becomes on a node.
func (a *Ask) Started(node string, now time.Time) Task {
	t := Task{Node: node, Created: a.PendingSince, Scheduled: now, State: Running, RequiredNode: a.RequiredNode != ""}
	asTask(&t, a)
	t.Size, t.Budgets, t.Ports = maps.Clone(a.Size), slices.Clone(a.Budgets), slices.Clone(a.Ports)
	return t
}

// What tasks and asks have alike.
var (
	asTask = alike.Copier[Task, Ask]()
	asAsk  = alike.Copier[Ask, Task]()
)

// A Place is a queue with its path.
type Place struct {
	Path string
	*Queue
}

// IsLeaf reports whether the queue may hold tasks.
func (p Place) IsLeaf() bool { return len(p.Children) == 0 }

// Queues returns every queue, parents before their children.
func (w *World) Queues() []Place { return places(make([]Place, 0, 16), "", &w.Root) }

func places(list []Place, above string, q *Queue) []Place {
	path := above + q.Name
	list = append(list, Place{path, q})
	for i := range q.Children {
		list = places(list, path+".", &q.Children[i])
	}
	return list
}

// Up returns the paths from a queue to the root, both included.
func Up(path string) []string {
	list := append(make([]string, 0, 1+strings.Count(path, ".")), path)
	for i := strings.LastIndexByte(path, '.'); i >= 0; i = strings.LastIndexByte(path, '.') {
		path = path[:i]
		list = append(list, path)
	}
	return list
}

// Inside reports whether the queue is above or in the subtree of it.
func Inside(path, above string) bool {
	rest, inside := strings.CutPrefix(path, above)
	return inside && (rest == "" || rest[0] == '.')
}

// Usage returns what every queue uses, by path: with what is leaving, and
// without if coming is set. Grants count as usage.
func (w *World) Usage(coming bool) map[string]Amounts {
	usage := make(map[string]Amounts)
	for _, q := range w.Queues() {
		usage[q.Path] = make(Amounts)
	}
	add := func(leaf string, size Amounts) {
		for _, q := range Up(leaf) {
			for t, v := range size {
				usage[q][t] += v
			}
		}
	}
	for _, t := range w.Tasks {
		if !coming || !t.State.Leaving() {
			add(t.Queue, t.Size)
		}
	}
	for _, g := range w.Grants {
		add(g.Ask.Queue, g.Ask.Size)
	}
	return usage
}

// Free returns the free space of every node, by name: beside what is leaving,
// and with its place if coming is set. Grants take space.
func (w *World) Free(coming bool) map[string]Amounts {
	free := make(map[string]Amounts)
	for _, n := range w.Nodes {
		free[n.Name] = maps.Clone(n.Capacity)
		if free[n.Name] == nil {
			free[n.Name] = make(Amounts)
		}
	}
	take := func(node string, size Amounts) {
		for t, v := range size {
			free[node][t] -= v
		}
	}
	for _, t := range w.Tasks {
		if !coming || !t.State.Leaving() {
			take(t.Node, t.Size)
		}
	}
	for _, g := range w.Grants {
		take(g.Node, g.Ask.Size)
	}
	return free
}

// Capacity returns the capacity of all nodes together.
func (w *World) Capacity() Amounts {
	total := make(Amounts)
	for _, n := range w.Nodes {
		for t, v := range n.Capacity {
			total[t] += v
		}
	}
	return total
}

// OwnLeaf returns what asks and jobs of a leaf may take of their own, as words: what the
// nearest queue says in any case of letters, else the option.
func (w *World) OwnLeaf(leaf, option string) string {
	queues := make(map[string]string)
	for _, q := range w.Queues() {
		queues[q.Path] = strings.ToLower(q.Properties["preemption.own-leaf"])
	}
	for _, q := range Up(leaf) {
		switch word := queues[q]; word {
		case "never":
			return ""
		case Met, Branch:
			return word
		}
	}
	return option
}

// SetOwnLeaf sets the option, and no queue says anything about the own leaf any more.
func (c *Case) SetOwnLeaf(word string) {
	c.Options.OwnLeaf, c.World.Root = word, c.World.Root.without("preemption.own-leaf")
}

// SetOwnLeaf is that of [Case].
func (c *JobCase) SetOwnLeaf(word string) {
	c.Options.OwnLeaf, c.World.Root = word, c.World.Root.without("preemption.own-leaf")
}

// without returns the queue and those below it, none of which says a property.
func (q *Queue) without(property string) Queue {
	x := *q
	x.Properties, x.Children = maps.Clone(q.Properties), slices.Clone(q.Children)
	delete(x.Properties, property)
	for i := range x.Children {
		x.Children[i] = x.Children[i].without(property)
	}
	return x
}
