// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/queue"
)

// Fresh builds a new cluster of what is there, and finds no difference, digests
// included: nothing depends on how the cluster came to be.
func (x *clusterMachine) Fresh(t *rapid.T) {
	for _, id := range append(slices.Collect(x.c.Nodes()), x.c.ClosedNodes(nil)...) {
		if x.m.blind[x.c.NodeName(id)] || x.m.unknown[x.c.NodeName(id)] != nil {
			return // what was not taken cannot be told again
		}
	}
	for i := range x.c.budgets {
		if b := &x.c.budgets[i]; b.unset && b.left != 0 {
			return // nor can what was drawn on a budget that nobody has set
		}
	}
	fresh := rebuilt(x.c)
	if got, want := withoutRows(x.c), withoutRows(fresh); got != want {
		t.Fatalf("cluster\n%s\nbuilt anew\n%s", got, want)
	}
}

// rebuilt returns a new cluster of what a cluster shows.
func rebuilt(c *Cluster) *Cluster {
	tree := c.Tree().Clone()
	for q := range tree.Leaves(queue.Root) {
		must(tree.Unmark(q, slices.Clone(tree.Leaving(q))))
		must(tree.Remove(q, slices.Clone(tree.Usage(q))))
	}
	fresh := NewCluster(tree)
	for name, b := range c.Budgets() {
		if row, _ := c.findBudget(name); !c.budgets[row].unset {
			must(fresh.SetBudget(name, b))
		}
	}
	closed := c.ClosedNodes(nil)
	for _, id := range append(slices.Collect(c.Nodes()), closed...) {
		n := c.Node(id)
		_, err := fresh.AddNode(&n)
		must(err)
	}
	for id := range c.Tasks() {
		if task := c.Task(id); task.State != Granted {
			task.NodeName = c.NodeName(task.Node)
			_, err := fresh.AddTask(&task)
			must(err)
		}
	}
	for id := range c.Granted() {
		g := c.Task(id)
		node, _ := fresh.LookupNode(c.NodeName(g.Node))
		row, err := fresh.insert(&Task{
			Key: g.Key, Application: g.Application, Queue: g.Queue, Node: node, Size: g.Size, Priority: g.Priority,
			Created: g.Created, State: Granted, Originator: g.Originator, OptedOut: g.OptedOut, RequiredNode: g.RequiredNode,
			Job: g.Job, NonPreemptible: g.NonPreemptible, Name: g.Name, Tag: g.Tag, Cost: g.Cost, Budgets: g.Budgets, Movable: g.Movable, Class: g.Class,
		})
		must(err)
		held := c.grantOf(id)
		fresh.joinAsk(row, c.asks[held.ask].key, held.mover, c.asks[held.ask].needs)
	}
	for _, id := range closed {
		must(law.ErrOf(fresh.RemoveNode(c.NodeName(id))))
	}
	return fresh
}

// withoutRows is all that can be seen of a cluster, and its digests, but for the
// numbers of rows and what plans have left behind.
func withoutRows(c *Cluster) string {
	c.settle()
	p := lookAt(c)
	var b strings.Builder
	for i, n := range p.nodes {
		fmt.Fprintln(&b, n.Name, c.digest.gauges[n.id], c.row(c.digest.all, n.id))
		for j, id := range c.digest.nodes[n.id].ids {
			fmt.Fprint(&b, " ", c.Key(id), " ", c.digest.nodes[n.id].times[j])
		}
		p.nodes[i].id = 0
	}
	p.marked = nil
	for i, g := range p.grants {
		p.grants[i] = askPicture{ask: g.ask, places: g.places}
	}
	return p.String() + b.String()
}

var longMachine = flag.Int("cluster.steps", 0, "run the machine of changes for so many steps on 100 seeds")

// TestClusterModelLong is TestClusterModel for as long as one likes:
//
//	go test ./victims -run ClusterModelLong -cluster.steps 10000 -timeout 0
func TestClusterModelLong(t *testing.T) {
	if *longMachine == 0 {
		t.Skip("set -cluster.steps")
	}
	must(flag.Set("rapid.steps", fmt.Sprint(*longMachine)))
	must(flag.Set("rapid.checks", "100"))
	rapid.Check(t, clusterFollowsModel)
}
