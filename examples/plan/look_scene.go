// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A sceneLook is what a picture shows, for a page that draws it itself. Lengths
// are shares of wholes, and amounts are in base units.
type sceneLook struct {
	Headline string       `json:"headline"`
	Verdict  string       `json:"verdict"`
	Remarks  []string     `json:"remarks,omitempty"`
	Types    []string     `json:"types"`
	Type     string       `json:"type"`   // of all lengths
	Suffix   string       `json:"suffix"` // that makes an amount in base units a quantity
	Whole    int64        `json:"whole"`  // that the bars of queues are of
	Queues   []queueLook  `json:"queues"`
	Nodes    []nodeLook   `json:"nodes"`
	More     int          `json:"more,omitempty"` // nodes that are left out
	Budgets  []budgetLook `json:"budgets,omitempty"`
	Relax    []relaxLook  `json:"relax,omitempty"`

	// Explained is set if there are findings: if a decision is shown.
	Explained bool `json:"explained,omitempty"`
	Card      bool `json:"card,omitempty"` // there is a plan to make a card of
}

// A budgetLook is a budget, and what victims draw on it.
type budgetLook struct {
	Text    string `json:"text"`
	Left    int64  `json:"left"`
	Victims int64  `json:"victims"`
}

// A queueLook is a queue. Before the plan it uses the first three amounts, after
// it the first and the last.
type queueLook struct {
	Name       string  `json:"name"`
	Path       string  `json:"path"`
	Depth      int     `json:"depth"`
	Tint       string  `json:"tint"`
	Letter     string  `json:"letter,omitempty"` // of a leaf and its tasks: there are more letters than tints
	Asks       bool    `json:"asks,omitempty"`
	Stays      int64   `json:"stays"`
	Goes       int64   `json:"goes"`
	Leaves     int64   `json:"leaves"`
	Comes      int64   `json:"comes"`
	Guaranteed *bound  `json:"guaranteed,omitempty"`
	Max        *bound  `json:"max,omitempty"`
	Account    string  `json:"account"`
	Title      string  `json:"title"`
	Why        string  `json:"why,omitempty"`
	Guarantee  *change `json:"guarantee,omitempty"` // its place; the value is for the page to choose
}

// A bound is an amount, and its text.
type bound struct {
	Amount int64  `json:"amount"`
	Text   string `json:"text"`
}

// A nodeLook is a node with all that is on it.
type nodeLook struct {
	Name   string     `json:"name"`
	About  []string   `json:"about"`
	Why    string     `json:"why,omitempty"`
	Chosen bool       `json:"chosen,omitempty"`
	Group  string     `json:"group,omitempty"` // what stands above it and those beside it: its domain
	Out    bool       `json:"out,omitempty"`   // who asks may not run there
	Whole  int64      `json:"whole"`           // its capacity
	Tasks  []taskLook `json:"tasks"`
	Comes  []taskLook `json:"comes,omitempty"`
}

// A taskLook is a task, a grant or an arrival.
type taskLook struct {
	Key    string `json:"key"`
	Part   string `json:"part"`   // its class: the tint of its queue, or what becomes of it
	Letter string `json:"letter"` // of its queue
	Title  string `json:"title"`
	Why    string `json:"why,omitempty"`
	Size   int64  `json:"size"`

	Spared  bool    `json:"spared,omitempty"`  // it opted out
	Blocks  bool    `json:"blocks,omitempty"`  // it is in the way, whatever the amounts
	Falls   bool    `json:"falls,omitempty"`   // it stops with its whole job
	Kept    bool    `json:"kept,omitempty"`    // by a hard budget
	Protect *change `json:"protect,omitempty"` // what makes it opt out, or no longer
	Node    *change `json:"node,omitempty"`    // the place of its node; the value is for the page to choose
}

// sceneLookOf returns what a drawing is to show. The step is the one that it is
// of, nil if it is of none. Unless all nodes are wanted, they are those that a
// picture shows, for a page of thousands of tasks is slow.
func sceneLookOf(d *drawing, step *scenario.Step, all bool) *sceneLook {
	l := &sceneLook{Headline: d.headline, Verdict: d.verdict, Remarks: d.remarks, Whole: d.whole(), Card: len(d.victims) > 0}
	for i := range d.cluster.Schema().Len() {
		l.Types = append(l.Types, plain.Line(d.cluster.Schema().Name(i)))
	}
	if d.kind >= 0 {
		l.Type = plain.Line(d.cluster.Schema().Name(d.kind))
		l.Suffix = strings.TrimPrefix(resources.FormatQuantity(d.cluster.Schema().Name(d.kind), 1), "1")
	}
	why := d.findings(step)
	for q := range queue.ID(d.cluster.Tree().Len()) {
		l.Queues = append(l.Queues, d.queueLook(q, why.queues[q]))
	}
	ids := slices.Collect(d.cluster.Nodes())
	if !all {
		l.More = max(0, len(ids)-mostNodes)
		ids = d.pickNodes(ids)
	}
	for _, g := range d.groups(ids) {
		for _, id := range g.nodes {
			n := d.nodeLook(id, why)
			n.Group = g.name
			l.Nodes = append(l.Nodes, n)
		}
	}
	for i := range d.aside.Budgets {
		u := &d.aside.Budgets[i]
		l.Budgets = append(l.Budgets, budgetLook{plain.Name(u.Name) + ", " + spent(u), max(0, u.Budget.Left), u.Victims})
	}
	l.Explained = step != nil
	if step != nil && step.Asked != nil && step.Asked.Explanation != nil {
		l.Relax = relaxLooks(d, step.Request, step.Asked.Explanation)
	}
	return l
}

// queueLook returns a queue.
func (d *drawing) queueLook(q queue.ID, why string) queueLook {
	tree := d.cluster.Tree()
	l := queueLook{
		Name: plain.Name(trees.Name(tree, q)), Path: d.queue(q), Depth: trees.Depth(tree, q), Tint: d.tint(q), Letter: d.letter(q),
		Asks: d.decided && q == d.asker, Title: d.queueTitle(q), Why: why,
	}
	if d.kind < 0 {
		return l
	}
	s := d.stock(q, d.kind)
	l.Stays, l.Goes, l.Leaves, l.Comes, l.Account = s.stays, s.goes, s.leaves, s.comes, d.account(q, d.kind)
	text := func(amount int64) string { return vectors.Text(d.cluster.Schema(), d.kind, amount) }
	if g, ok := tree.Guaranteed(q).Bound(d.kind); ok {
		l.Guaranteed = &bound{g, text(g)}
		if at := d.placeOfQueue(q); !d.run.Document.Options.FairShares {
			l.Guarantee = &change{At: append(at, "resources", "guaranteed", d.cluster.Schema().Name(d.kind))}
		}
	}
	if m, ok := d.most(q).Bound(d.kind); ok {
		l.Max = &bound{m, text(m)}
	}
	return l
}

// placeOfQueue returns where a queue is in the document.
func (s *scene) placeOfQueue(q queue.ID) []any {
	tree := s.cluster.Tree()
	up := slices.Collect(tree.Ancestors(q))
	place := []any{"queues"}
	at := &s.run.Document.Root
	for _, a := range slices.Backward(up[:len(up)-1]) {
		i := slices.IndexFunc(at.Children, func(c scenario.Queue) bool { return c.Name == trees.Name(tree, a) })
		place, at = append(place, "queues", i), &at.Children[i]
	}
	return place
}

// nodeLook returns a node.
func (d *drawing) nodeLook(id victims.NodeID, why findings) nodeLook {
	node := d.cluster.Node(id)
	n := nodeBox{id: id}
	l := nodeLook{Name: plain.Name(node.Name), About: d.aboutNode(&n), Why: why.nodes[id], Tasks: []taskLook{}, Out: d.filtered(id) != ""}
	amount := func(v []int64) int64 {
		if d.kind < 0 {
			return 0
		}
		return v[d.kind]
	}
	l.Whole = amount(node.Capacity)
	for _, t := range d.tasksOn(id) {
		look := taskLook{
			Key: plain.Name(t.Key), Part: d.look(&t), Letter: d.letter(t.Queue), Title: d.describe(&t), Why: why.tasks[t.Key],
			Size: amount(t.Size), Spared: t.OptedOut,
			Blocks: d.blocks[t.Key], Falls: d.falls[t.Key], Kept: d.keptBy(&t) != "",
		}
		d.changes(&look, t.Key)
		l.Tasks = append(l.Tasks, look)
	}
	for _, a := range d.comesTo(id) {
		l.Chosen = true
		l.Comes = append(l.Comes, taskLook{
			Key: plain.Name(a.key), Part: "comes", Letter: d.letter(d.asker), Title: plain.Name(a.key) + ": its place, " + d.amounts(a.size), Size: amount(a.size),
		})
	}
	return l
}

// changes adds what can be changed about a task.
func (d *drawing) changes(l *taskLook, key string) {
	value := "false"
	if l.Spared {
		value = "true"
	}
	l.Protect = d.changeTask(key, "allowPreemption", []byte(value))
	l.Node = d.changeTask(key, "node", []byte("null"))
}
