// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Workload is nodes, in node order, and pods, by time of creation.
type Workload struct {
	Nodes []Node
	Pods  []Pod

	// Assumed says what a trace does not say and is assumed, a sentence each.
	Assumed []string
}

// A Node is a machine. Its GPUs are alike.
type Node struct {
	Name   string
	CPU    int64 // thousandths
	Memory int64 // MiB
	GPUs   int64
	Model  string // of the GPUs, or ""
}

// A Pod is one task, and how long it is wanted.
type Pod struct {
	Name   string
	CPU    int64    // thousandths
	Memory int64    // MiB
	GPU    int64    // thousandths: whole GPUs, or a share of one
	Models []string // of GPUs that will do; nil: any
	QoS    QoS

	Created, Deleted int64 // seconds
}

// wholeGPU is a whole GPU in thousandths.
const wholeGPU = 1000

// The resource types.
const (
	typeCPU = iota
	typeMemory
	typeGPU
)

// amounts returns thousandths of a CPU, MiB, and thousandths of a GPU.
func amounts(cpu, mib, gpu int64) resources.Vector {
	return resources.Vector{typeCPU: cpu, typeMemory: mib << 20, typeGPU: gpu}
}

// Size returns what the pod asks for.
func (p *Pod) Size() resources.Vector { return amounts(p.CPU, p.Memory, p.GPU) }

// Capacity returns what the node has.
func (n *Node) Capacity() resources.Vector { return amounts(n.CPU, n.Memory, n.GPUs*wholeGPU) }

// Capacity returns what all nodes have, nil without nodes.
func (w *Workload) Capacity() (sum resources.Vector) {
	for i := range w.Nodes {
		sum = resources.Add(sum, sum, w.Nodes[i].Capacity())
	}
	return sum
}

// NewCluster returns a cluster of the nodes, in their order, below whose root
// are the tenants who share them. Nothing runs there yet. Errors are what the
// cluster refuses: names that are empty or there twice, and amounts that sum
// over the range of int64.
func (w *Workload) NewCluster() (*victims.Cluster, error) {
	tree, err := newTree(w.Capacity())
	if err != nil {
		return nil, err
	}
	return w.fill(tree)
}

// fill returns a cluster of a tree and the nodes.
func (w *Workload) fill(tree *queue.Tree) (*victims.Cluster, error) {
	c := victims.NewCluster(tree)
	for i := range w.Nodes {
		n := &w.Nodes[i]
		if _, err := c.AddNode(&victims.Node{Name: n.Name, Capacity: n.Capacity()}); err != nil {
			return nil, err
		}
	}
	return c, nil
}
