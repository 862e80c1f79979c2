// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/toleration"
)

// A Finding is something that can go wrong. A note is one that may well be meant.
type Finding struct {
	Kind string `json:"kind"`
	Name string `json:"name"` // of a queue, class or budget
	Note bool   `json:"note,omitempty"`
	Text string `json:"text"`
}

// A linter looks for what can go wrong in a document, without deciding anything.
type linter struct {
	doc  *scenario.Document
	tree *queue.Tree // with the usage of the document's tasks
	// counting is tree with the guarantees that count.
	counting *queue.Tree
	all      []Finding
}

func (l *linter) add(kind, name, format string, args ...any) {
	l.all = append(l.all, Finding{Kind: kind, Name: name, Text: fmt.Sprintf(format, args...)})
}

func (l *linter) note(kind, name, format string, args ...any) {
	l.add(kind, name, format, args...)
	l.all[len(l.all)-1].Note = true
}

// findings returns all that was found: by kind, and then in the order of the document.
func findings(doc *scenario.Document, tree *queue.Tree) []Finding {
	l := linter{doc: doc, tree: tree, counting: tree, all: []Finding{}}
	if scarce := doc.Options.Scarce; scarce != 0 {
		l.counting, _ = trees.Counting(tree, new(queue.Tree), &scarce)
	}
	l.promises()
	if !doc.Options.FairShares { // else guarantees are the shares of the moment
		l.tooLarge()
		l.gangs()
		l.shielded()
		l.triggers()
	}
	l.classes()
	l.budgets()
	return l.all
}

// promises looks for guarantees that cannot all be met: below a queue by its max, and
// all of them by the nodes that take tasks.
func (l *linter) promises() {
	for t := range l.doc.Schema.Len() {
		kind := l.doc.Schema.Name(t)
		promised := make([]int64, l.tree.Len())
		for q := queue.ID(l.tree.Len() - 1); q >= 0; q-- { // children come after their parents
			children := promised[q]
			if g, ok := l.tree.Guaranteed(q).Bound(t); ok {
				promised[q] = max(promised[q], g)
			}
			if most, ok := l.tree.Max(q).Bound(t); ok && children > most {
				l.add("guarantees", l.tree.Path(q), "the queues below it are guaranteed %s of %s, and its max is %s",
					vectors.Text(l.doc.Schema, t, children), kind, vectors.Text(l.doc.Schema, t, most))
				promised[q] = most // those above are not to blame for it
			}
			if parent, ok := l.tree.Parent(q); ok {
				promised[parent] = resources.Add(nil, resources.Vector{promised[parent]}, resources.Vector{promised[q]})[0]
			}
		}
		var have resources.Vector
		for i := range l.doc.Nodes {
			if n := &l.doc.Nodes[i]; !n.Unschedulable {
				have = resources.Add(have, have, n.Capacity)
			}
		}
		if have != nil && promised[queue.Root] > have[t] {
			l.add("guarantees", l.tree.Path(queue.Root), "%s of %s is guaranteed, and the nodes have %s",
				vectors.Text(l.doc.Schema, t, promised[queue.Root]), kind, vectors.Text(l.doc.Schema, t, have[t]))
		}
	}
}

// tooLarge looks for queues that are over their guarantee and give nothing: each of
// their tasks is larger than what they have over it. (Law 2.)
func (l *linter) tooLarge() {
	types := l.doc.Schema.Len()
	least := make([]*scenario.Task, l.tree.Len()*types) // by queue and type: who has the least of it, but some
	for i := range l.doc.Tasks {
		task := &l.doc.Tasks[i]
		leaf, _ := l.tree.Lookup(task.Queue)
		for q := range l.tree.Ancestors(leaf) {
			for t, size := range task.Resources {
				if of := &least[int(q)*types+t]; size > 0 && (*of == nil || size < (*of).Resources[t]) {
					*of = task
				}
			}
		}
	}
	for q := range queue.ID(l.tree.Len()) {
		for t := range l.doc.Schema.Len() {
			g, ok := l.guaranteed(q).Bound(t)
			over := l.tree.Usage(q)[t] - g
			if task := least[int(q)*types+t]; ok && over > 0 && task != nil && task.Resources[t] > over {
				l.add("too-large", l.tree.Path(q), "it has %s of %s over its guarantee and gives none: its smallest task, %s, has %s",
					vectors.Text(l.doc.Schema, t, over), l.doc.Schema.Name(t), task.Key, vectors.Text(l.doc.Schema, t, task.Resources[t]))
			}
		}
	}
}

// gangs looks for gangs of more than what a queue above them may lose: they go whole or not at all, and
// shield what the queue has over its guarantee. (DESIGN.md, Whole gangs.)
func (l *linter) gangs() {
	for _, m := range l.doc.JobMinimums {
		sums, members := map[queue.ID]resources.Vector{}, 0
		for i := range l.doc.Tasks {
			task := &l.doc.Tasks[i]
			if task.Job != m.Job || task.State != scenario.StateRunning {
				continue
			}
			members++
			leaf, _ := l.tree.Lookup(task.Queue)
			for q := range l.tree.Ancestors(leaf) {
				sums[q] = resources.Add(sums[q], sums[q], task.Resources)
			}
		}
		if m.Members <= 0 || members > m.Members {
			continue // some may go one by one
		}
		for _, q := range slices.Sorted(maps.Keys(sums)) {
			for t := range l.doc.Schema.Len() {
				g, ok := l.guaranteed(q).Bound(t)
				if over := l.tree.Usage(q)[t] - g; ok && over > 0 && sums[q][t] > over {
					l.add("gang", l.tree.Path(q), "it has %s of %s over its guarantee and cannot give it by job %s, which has %s, needs %d members and goes whole or not at all",
						vectors.Text(l.doc.Schema, t, over), l.doc.Schema.Name(t), m.Job, vectors.Text(l.doc.Schema, t, sums[q][t]), m.Members)
					break
				}
			}
		}
	}
}

// guaranteed returns what a queue is guaranteed in the types that count.
func (l *linter) guaranteed(q queue.ID) resources.Limit {
	g := l.tree.Guaranteed(q)
	if scarce := l.doc.Options.Scarce; scarce != 0 {
		g.Defined &= scarce
	}
	return g
}

// shielded looks for queues that are over their guarantee of a type, and cannot be taken from because of
// another one that is not scarce: every task that has some of the first has more of the second than the queue
// has over its guarantee of that. (Law 2. DESIGN.md, Scarce types.)
func (l *linter) shielded() {
	scarce, err := l.doc.Scarce(l.tree)
	if err != nil {
		return // amounts beyond all bounds: nothing can be said
	}
	for q := range queue.ID(l.tree.Len()) {
		g := l.guaranteed(q)
		for t := range g.Defined.All() {
			if l.tree.Usage(q)[t] > g.Value[t] {
				l.shieldedIn(q, t, g.Defined&^scarce)
			}
		}
	}
}

// shieldedIn tells of a queue and a type that it has borrowed if one of some other types keeps all who use it.
func (l *linter) shieldedIn(q queue.ID, t int, others resources.Mask) {
	g, s := l.guaranteed(q), l.doc.Schema
	for u := range (others &^ (1 << t)).All() {
		over := max(l.tree.Usage(q)[u]-g.Value[u], 0)
		users, kept := 0, 0
		for i := range l.doc.Tasks {
			task := &l.doc.Tasks[i]
			if leaf, _ := l.tree.Lookup(task.Queue); task.Resources[t] > 0 && l.tree.Contains(q, leaf) {
				if users++; task.Resources[u] > over {
					kept++
				}
			}
		}
		if users > 0 && users == kept {
			l.add("scarce", l.tree.Path(q), "it has %s of %s over its guarantee and gives none, because of its guarantee of %s, of which there is enough: see the option scarce",
				vectors.Text(s, t, l.tree.Usage(q)[t]-g.Value[t]), s.Name(t), s.Name(u))
			return
		}
	}
}

// triggers looks for leaves whose asks can never preempt, and for the fences that are
// why.
func (l *linter) triggers() {
	for leaf := range l.tree.Leaves(queue.Root) {
		path := l.tree.Path(leaf)
		governed, zero, fenced := false, "", queue.Root
		may := false
		for t := range l.doc.Schema.Len() {
			needy, ok := l.counting.Governing(leaf, t)
			if !ok {
				continue
			}
			governed = true
			if g, _ := l.tree.Guaranteed(needy).Bound(t); g == 0 {
				zero = fmt.Sprintf("%s guarantees 0 of %s", l.tree.Path(needy), l.doc.Schema.Name(t))
				continue
			}
			switch root := fence.Root(l.tree, leaf); {
			case l.anybody(root, needy):
				may = true
			case l.anybody(queue.Root, needy):
				fenced = root
			}
		}
		switch {
		case may:
		case fenced != queue.Root:
			l.add("fence", l.tree.Path(fenced), "asks of %s may take nobody: who is outside the queue that is guaranteed something is outside the fence", path)
		case !governed:
			l.note("no-trigger", path, "it has no guarantee, nor has a queue above it, so its asks take from no other queue")
		case zero != "":
			l.add("no-trigger", path, "its asks never take from another queue: %s", zero)
		default:
			l.add("no-trigger", path, "its asks may take nobody: no leaf that may give is outside the queue that is guaranteed something")
		}
	}
}

// anybody reports whether there is a leaf below a queue and outside another whose
// tasks are not protected.
func (l *linter) anybody(below, outside queue.ID) bool {
	for leaf := range l.tree.Leaves(below) {
		if !l.tree.Contains(outside, leaf) && l.tree.Policies(leaf).Preemption != queue.Disabled {
			return true
		}
	}
	return false
}

// classes looks for priority classes whose tasks no ask can take, whatever its class and
// the queues.
func (l *linter) classes() {
	highest, who := int32(0), "no class"
	for i := range l.doc.Classes {
		if c := &l.doc.Classes[i]; c.Value > highest && c.PreemptionPolicy != "Never" {
			highest, who = c.Value, "class "+c.Name
		}
	}
	gain := l.gain()
	for i := range l.doc.Classes {
		c := &l.doc.Classes[i]
		if int64(c.Value) > int64(highest)+gain {
			l.add("class", c.Name, "no ask can stop its tasks: its value is %d, and the highest that may preempt is %d, of %s", c.Value, highest, who)
			continue
		}
		class, err := toleration.Parse(toleration.PriorityClass{Name: c.Name, Value: c.Value, Annotations: c.Annotations})
		if p := class.Policy; l.doc.Options.Toleration && err == nil && p.Seconds < 0 && p.MinimumPreemptablePriority > highest {
			l.add("class", c.Name, "no ask can stop its tasks, ever: they tolerate all below %d, and the highest that may preempt is %d, of %s",
				class.Policy.MinimumPreemptablePriority, highest, who)
		}
	}
}

// gain returns at least how much queues can lift an ask over a victim: offsets
// above and below, and every priority if there are fences.
func (l *linter) gain() (gain int64) {
	var up, down int64
	for q := range queue.ID(l.tree.Len()) {
		offset := int64(*l.tree.Policies(q).PriorityOffset)
		up, down = up+max(0, offset), down+max(0, -offset)
		if l.tree.Policies(q).PriorityFence == "fence" {
			return 1 << 40
		}
	}
	return up + down
}

// budgets looks for budgets from which nothing can be drawn.
func (l *linter) budgets() {
	for i := range l.doc.Budgets {
		b := &l.doc.Budgets[i]
		if b.Left > 0 {
			continue
		}
		tasks := 0
		for i := range l.doc.Tasks {
			if slices.Contains(l.doc.Tasks[i].Budgets, b.Name) {
				tasks++
			}
		}
		what := "each plan that stops one of its tasks overruns it"
		if b.Hard {
			what = "none of its tasks can be stopped"
		}
		l.add("budget", b.Name, "nothing is left of it (%d), so %s: %d tasks", b.Left, what, tasks)
	}
}
