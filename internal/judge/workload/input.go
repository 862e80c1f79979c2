// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An Input is what a cluster is built from, in the order of adding. Sizes of
// tasks and capacities of nodes are shared: they must not be modified.
type Input struct {
	Schema *resources.Schema
	Queues queue.Config
	Nodes  []victims.Node
	Tasks  []victims.Task
}

// Build makes a cluster of an input.
func (in *Input) Build() *victims.Cluster {
	tree, err := queue.NewLenient(in.Schema, in.Queues)
	must(err)
	c := victims.NewCluster(tree)
	for i := range in.Nodes {
		_, err := c.AddNode(&in.Nodes[i])
		must(err)
	}
	for i := range in.Tasks {
		_, err := c.AddTask(&in.Tasks[i])
		must(err)
	}
	return c
}

// Input returns what the cluster of the workload is built from.
func (w W) Input() *Input {
	schema, err := resources.NewSchema(types...)
	must(err)
	in := &Input{Schema: schema, Queues: w.queues()}
	tree, err := queue.NewLenient(schema, in.Queues)
	must(err)
	var leaves []queue.ID
	var apps []string
	for q := range tree.Leaves(queue.Root) {
		apps = append(apps, fmt.Sprint("app", len(leaves)-1))
		leaves = append(leaves, q)
	}
	var sizes []resources.Vector
	for i := range w.Tasks {
		sizes = append(sizes, w.size(i))
	}
	capacity := w.capacity()

	random := rand.New(rand.NewPCG(1, 2))
	in.Tasks = make([]victims.Task, 0, w.Nodes*w.Tasks)
	for n := range w.Nodes {
		in.Nodes = append(in.Nodes, victims.Node{Name: fmt.Sprint("n", n), Capacity: capacity})
		for i := range w.Tasks {
			created := Now.Add(-time.Duration(random.Int64N(int64(time.Hour))))
			leaf := w.leaf(n, i)
			t := victims.Task{
				Key: fmt.Sprintf("n%d-%d", n, i), Application: apps[leaf],
				Queue: leaves[leaf], Node: nodeAt(n), Size: sizes[i], Created: created, Scheduled: created,
			}
			if w.Mixed {
				t.Priority = random.Int32N(10)
				t.OptedOut = random.Int64N(10) == 0
				t.Originator = random.Int64N(20) == 0
			}
			in.Tasks = append(in.Tasks, t)
		}
	}
	return in
}

func childName(i int) string { return fmt.Sprint("q", i) }

// nodeAt returns the row that a new cluster gives the node that is added at a place, from 0
// on: row 0 is no node.
func nodeAt(place int) victims.NodeID { return victims.NodeID(1 + place) }
