// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// writeDot writes a scene as a graph in the language of Graphviz: the tree, the
// nodes as clusters of their tasks, and who leaves for whom and comes where.
// Unlike the picture it leaves nothing out.
func writeDot(w io.Writer, s *scene) {
	g := graph{scene: s, w: w, names: make(map[string]string)}
	g.printf("digraph plan {\n")
	g.printf("  rankdir=LR;\n  fontname=\"sans-serif\";\n")
	g.printf("  label=%s;\n", dotQuote(plain.Line(s.run.Document.Name), s.headline, s.verdict))
	g.printf("  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", fontsize=10];\n")
	g.queues()
	g.nodes()
	g.budgets()
	g.flow()
	g.printf("}\n")
}

// A graph is a scene that is written as one.
type graph struct {
	*scene
	w     io.Writer
	names map[string]string // of boxes, by the keys of tasks and arrivals
	depth int               // of the tree
}

func (g *graph) printf(format string, args ...any) { fmt.Fprintf(g.w, format, args...) }

// queues writes the tree.
func (g *graph) queues() {
	tree := g.cluster.Tree()
	for q := range queue.ID(tree.Len()) {
		lines := []string{plain.Name(trees.Name(tree, q)), "uses " + g.amounts(tree.Usage(q))}
		if l := tree.Guaranteed(q); l.Defined != 0 {
			lines = append(lines, "guaranteed "+g.limit(l))
		}
		if l := g.most(q); l.Defined != 0 {
			lines = append(lines, "max "+g.limit(l))
		}
		look := ""
		if g.decided && q == g.asker {
			look = ", penwidth=2"
		}
		g.printf("  q%d [label=%s%s];\n", q, dotQuote(lines...), look)
		if above, ok := tree.Parent(q); ok {
			g.printf("  q%d -> q%d [arrowhead=none];\n", above, q)
		}
		g.depth = max(g.depth, trees.Depth(tree, q))
	}
}

// nodes writes every node with what is on it and comes to it.
func (g *graph) nodes() {
	for i, id := range slices.Collect(g.cluster.Nodes()) {
		n := g.cluster.Node(id)
		lines := []string{plain.Name(n.Name), g.amounts(n.Capacity)}
		lacks := g.filtered(id)
		if lacks != "" {
			lines = append(lines, lacks)
		}
		g.printf("  subgraph cluster_n%d {\n    label=%s;\n", i, dotQuote(lines...))
		if lacks != "" {
			g.printf("    style=dashed;\n")
		}
		// What nobody sees keeps a node to the right of the tree, and there at
		// all if it is empty.
		g.printf("    n%d [style=invis, label=\"\", width=0, height=0];\n", i)
		for _, t := range g.tasksOn(id) {
			g.box(t.Key, g.look(&t), t.Size, g.about(&t))
		}
		for _, a := range g.comesTo(id) {
			g.box(a.key, dotComes, a.size, "")
		}
		g.printf("  }\n  q0 -> n%d [style=invis, minlen=%d];\n", i, g.depth+1)
	}
}

// What tasks look like.
const (
	dotGoes   = `fillcolor="#cf222e", fontcolor=white`
	dotComes  = `fillcolor="#1a7f37", fontcolor=white`
	dotHeld   = `color="#1a7f37", style="rounded,dashed"`
	dotLeaves = `fillcolor="#a8b1bb"`
	dotStays  = `fillcolor="#c9def2"`
	dotBlocks = `, penwidth=3`
	dotKept   = `, penwidth=2`
)

// look returns what a task looks like.
func (g *graph) look(t *victims.Task) string {
	look := map[taskPart]string{victim: dotGoes, held: dotHeld, leaving: dotLeaves, stays: dotStays}[g.part(t)]
	switch {
	case g.blocks[t.Key]:
		look += dotBlocks
	case g.keptBy(t) != "":
		look += dotKept
	}
	return look
}

// box writes a task, and what is particular about it.
func (g *graph) box(key, look string, size resources.Vector, about string) {
	name := fmt.Sprintf("t%d", len(g.names))
	g.names[key] = name
	lines := []string{plain.Name(key), g.amounts(size)}
	if about != "" {
		lines = append(lines, about)
	}
	g.printf("    %s [label=%s, %s];\n", name, dotQuote(lines...), look)
}

// budgets writes what becomes of the budgets of victims.
func (g *graph) budgets() {
	for i := range g.aside.Budgets {
		u := &g.aside.Budgets[i]
		g.printf("  b%d [shape=note, label=%s];\n", i, dotQuote("budget "+plain.Name(u.Name), spent(u)))
	}
}

// flow writes who leaves for whom and who comes where.
func (g *graph) flow() {
	if !g.places {
		return
	}
	for i := range g.victims {
		g.printf("  %s -> q%d [color=\"#cf222e\", constraint=false];\n", g.names[g.victims[i].Key], g.asker)
	}
	for i := range g.comes {
		g.printf("  q%d -> %s [color=\"#1a7f37\"];\n", g.asker, g.names[g.comes[i].key])
	}
}

// dotQuote returns lines of text as a quoted label, in which a backslash means
// something.
func dotQuote(lines ...string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	quoted := make([]string, len(lines))
	for i := range lines {
		quoted[i] = quote.Replace(lines[i])
	}
	return `"` + strings.Join(quoted, `\n`) + `"`
}
