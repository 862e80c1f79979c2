// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/resources"
)

// A Fact is something that a document says, and that the objects of a peer can
// be asked for.
type Fact struct {
	What What
	Of   string // a queue, a node or a task
	Type string // a resource type; "": none
}

// String returns the fact in words.
func (f Fact) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s of %s %s", f.What, f.Of, f.Type))
}

// A What is a kind of fact.
type What string

// The kinds of facts. Amounts are whole numbers of base units. Zeros are left
// out, but of guarantees and maxima, where zero is not the same as none.
const (
	QueueGuaranteed What = "guaranteed"
	QueueMax        What = "max"
	QueueUsage      What = "usage"   // with what is leaving
	QueueLeaving    What = "leaving" // part of the usage
	NodeCapacity    What = "capacity"
	NodeFree        What = "free" // beside what is leaving
	NodeOpen        What = "open" // schedulable
	TaskNode        What = "node"
	TaskSize        What = "size"
	TaskPriority    What = "priority"
	TaskQueue       What = "queue"
	TaskApplication What = "application"
	TaskOptedOut    What = "opted out"
	TaskOriginator  What = "originator"
	TaskRequired    What = "requires its node"
	TaskLeaving     What = "is leaving"
	TaskBudgets     What = "budgets"
	BudgetLeft      What = "left"
)

// Facts are what there is to know of a world.
type Facts map[Fact]string

// Amounts notes amounts by type, without zeros.
func (f Facts) Amounts(what What, of string, amounts map[string]int64) {
	for name, amount := range amounts {
		if amount != 0 {
			f[Fact{what, of, name}] = strconv.FormatInt(amount, 10)
		}
	}
}

// Bounds notes amounts by type, with zeros.
func (f Facts) Bounds(what What, of string, amounts map[string]int64) {
	for name, amount := range amounts {
		f[Fact{what, of, name}] = strconv.FormatInt(amount, 10)
	}
}

// Flag notes a fact that is true; what is not true is not noted.
func (f Facts) Flag(what What, of string, is bool) {
	if is {
		f[Fact{What: what, Of: of}] = "true"
	}
}

// Of returns the facts of some kinds.
func (f Facts) Of(kinds []What) Facts {
	some := maps.Clone(f)
	maps.DeleteFunc(some, func(fact Fact, _ string) bool { return !slices.Contains(kinds, fact.What) })
	return some
}

// Differences returns a line for each fact in which two worlds differ, sorted.
func Differences(told, read Facts) (lines []string) {
	for fact, value := range told {
		if is, ok := read[fact]; !ok {
			lines = append(lines, fmt.Sprintf("%v: the document says %s, and the scheduler nothing", fact, value))
		} else if is != value {
			lines = append(lines, fmt.Sprintf("%v: the document says %s, and the scheduler %s", fact, value, is))
		}
	}
	for fact, value := range read {
		if _, ok := told[fact]; !ok {
			lines = append(lines, fmt.Sprintf("%v: the document says nothing, and the scheduler %s", fact, value))
		}
	}
	slices.Sort(lines)
	return lines
}

// Told returns what a document says. Usage and free space are summed up here,
// from the tasks alone, so that no cluster of anybody is trusted.
func Told(doc *scenario.Document) Facts {
	f := make(Facts)
	usage, leaving, used := make(amounts), make(amounts), make(amounts)
	for i := range doc.Tasks {
		t := &doc.Tasks[i]
		f.task(doc, t)
		gone := t.State != scenario.StateRunning
		for q := range above(t.Queue) {
			usage.add(q, doc.Schema, t.Resources)
			if gone {
				leaving.add(q, doc.Schema, t.Resources)
			}
		}
		used.add(t.Node, doc.Schema, t.Resources)
	}
	for i := range doc.Grants { // they hold their place
		g := &doc.Grants[i]
		for q := range above(g.Queue) {
			usage.add(q, doc.Schema, g.Resources)
		}
		used.add(g.Node, doc.Schema, g.Resources)
	}
	f.queue(doc, &doc.Root, doc.Root.Name)
	for q := range usage {
		f.Amounts(QueueUsage, q, usage[q])
		f.Amounts(QueueLeaving, q, leaving[q])
	}
	for i := range doc.Nodes {
		n := &doc.Nodes[i]
		capacity, free := make(map[string]int64), make(map[string]int64)
		for t := range doc.Schema.Len() {
			name := doc.Schema.Name(t)
			capacity[name] = n.Capacity[t]
			free[name] = n.Capacity[t] - used[n.Name][name]
		}
		f.Amounts(NodeCapacity, n.Name, capacity)
		f.Amounts(NodeFree, n.Name, free)
		f.Flag(NodeOpen, n.Name, !n.Unschedulable)
	}
	for i := range doc.Budgets {
		b := &doc.Budgets[i]
		f[Fact{What: BudgetLeft, Of: b.Name}] = strconv.FormatInt(b.Left, 10)
	}
	return f
}

// task notes what a document says of a task.
func (f Facts) task(doc *scenario.Document, t *scenario.Task) {
	f.Amounts(TaskSize, t.Key, ByType(doc.Schema, t.Resources))
	for what, value := range map[What]string{
		TaskNode: t.Node, TaskQueue: t.Queue, TaskApplication: t.Application,
		TaskPriority: strconv.Itoa(int(t.Priority)),
	} {
		f[Fact{What: what, Of: t.Key}] = value
	}
	f.Flag(TaskOptedOut, t.Key, OptedOut(doc, t))
	f.Flag(TaskOriginator, t.Key, t.Originator)
	f.Flag(TaskRequired, t.Key, t.RequiredNode != "")
	f.Flag(TaskLeaving, t.Key, t.State != scenario.StateRunning)
	for _, b := range t.Budgets {
		f[Fact{TaskBudgets, t.Key, b}] = "true"
	}
}

// queue notes the bounds of a queue and of those below it.
func (f Facts) queue(doc *scenario.Document, q *scenario.Queue, path string) {
	f.Bounds(QueueGuaranteed, path, Bounds(doc.Schema, q.Guaranteed))
	f.Bounds(QueueMax, path, Bounds(doc.Schema, q.Max))
	for i := range q.Children {
		f.queue(doc, &q.Children[i], path+"."+q.Children[i].Name)
	}
}

// amounts are amounts by resource type, by the name of a queue or a node.
type amounts map[string]map[string]int64

func (a amounts) add(name string, schema *resources.Schema, size resources.Vector) {
	if a[name] == nil {
		a[name] = make(map[string]int64)
	}
	for t := range schema.Len() {
		a[name][schema.Name(t)] += size[t]
	}
}

// above returns the paths of a queue and of those above it.
func above(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			if !yield(path) {
				return
			}
			i := strings.LastIndexByte(path, '.')
			if i < 0 {
				return
			}
			path = path[:i]
		}
	}
}

// ByType returns amounts by the names of their types, without zeros.
func ByType(schema *resources.Schema, v resources.Vector) map[string]int64 {
	all := make(map[string]int64)
	for t := range schema.Len() {
		if v[t] != 0 {
			all[schema.Name(t)] = v[t]
		}
	}
	return all
}

// Bounds returns a bound by the names of the types on which it is defined.
func Bounds(schema *resources.Schema, l resources.Limit) map[string]int64 {
	all := make(map[string]int64)
	for t := range schema.Len() {
		if l.Defined.Has(t) {
			all[schema.Name(t)] = l.Value[t]
		}
	}
	return all
}

// OptedOut reports whether a task opted out, itself or by its class.
func OptedOut(doc *scenario.Document, t *scenario.Task) bool {
	if t.AllowPreemption != nil {
		return !*t.AllowPreemption
	}
	for i := range doc.Classes {
		if doc.Classes[i].Name == t.Class {
			return doc.Classes[i].Annotations["yunikorn.apache.org/allow-preemption"] == "false"
		}
	}
	return false
}
