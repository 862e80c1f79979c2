package main

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A trace has no tenants, so they are assigned by rule:
//
//   - There is a tenant per class of service, named for it in lower case. Its
//     pods have the priority of the class.
//   - Below it are leaves "0" to "3". A pod is in the one that the FNV-1a hash
//     (64 bits) of its name gives, modulo their number.
//   - The capacity of the cluster is guaranteed to the tenants in proportion to
//     the weights of their classes, and what a tenant is guaranteed in equal
//     parts to its leaves. The parts sum exactly. Best effort pods are
//     guaranteed nothing, and nobody has a maximum.
//   - Every pod is an application of its own.
//
// So best effort pods run on what the others leave unused, and have to give it
// back, and so has a leaf that runs on what is guaranteed to another.

// A QoS is a class of service, an index of classes.
type QoS uint8

// The classes of service.
const (
	Guaranteed QoS = iota
	LatencySensitive
	Burstable
	BestEffort
)

// classes are the classes as a trace spells them.
var classes = [...]struct {
	name     string
	priority int32
	weight   int64
}{
	Guaranteed:       {"Guaranteed", 300, 1},
	LatencySensitive: {"LS", 200, 7},
	Burstable:        {"Burstable", 100, 2},
	BestEffort:       {"BE", 0, 0},
}

// leavesPerTenant is the number of leaves of a tenant.
const leavesPerTenant = 4

// The resource types. The GPUs of a node are one amount in thousandths: that a
// share must come from a single device, and whole GPUs from idle ones, is left
// out.
const (
	typeCPU = iota
	typeMemory
	typeGPU
)

func newSchema() *resources.Schema {
	s, err := resources.NewSchema("cpu", "memory", "gpu-milli")
	if err != nil {
		panic(err) // there are three names and none is there twice
	}
	return s
}

// amounts returns thousandths of a CPU, MiB, and thousandths of a GPU.
func amounts(cpu, mib, gpu int64) resources.Vector {
	return resources.Vector{typeCPU: cpu, typeMemory: mib << 20, typeGPU: gpu}
}

func (p *Pod) size() resources.Vector { return amounts(p.CPU, p.Memory, p.GPU) }

func (n *Node) capacity() resources.Vector { return amounts(n.CPU, n.Memory, n.GPUs*wholeGPU) }

// newTree returns the queues of the tenants, who share the capacity.
func newTree(capacity resources.Vector) (*queue.Tree, error) {
	var weights []int64
	for _, c := range classes {
		weights = append(weights, c.weight)
	}
	equal := slices.Repeat([]int64{1}, leavesPerTenant)
	root := queue.Config{Name: "root"}
	for i, part := range parts(capacity, weights) {
		tenant := queue.Config{Name: strings.ToLower(classes[i].name), Guaranteed: guarantee(part)}
		for k, part := range parts(part, equal) {
			tenant.Children = append(tenant.Children, queue.Config{Name: strconv.Itoa(k), Guaranteed: guarantee(part)})
		}
		root.Children = append(root.Children, tenant)
	}
	return queue.New(newSchema(), root, queue.Strict)
}

// guarantee returns v as a limit. A part of nothing is no guarantee.
func guarantee(v resources.Vector) resources.Limit {
	return resources.Limit{Value: v, Defined: resources.Positive(v)}
}

// parts divides v in proportion to weights of which none is negative and some
// are positive. The parts sum to v: of what is left, each takes as much as its
// weight is of those that are left, rounded down.
func parts(v resources.Vector, weights []int64) []resources.Vector {
	var left int64
	for _, w := range weights {
		left += w
	}
	all := make([]resources.Vector, len(weights))
	for i, w := range weights {
		all[i] = resources.ScaleRatio(nil, v, w, left) // 0 where w is 0, left or not
		v = resources.Sub(nil, v, all[i])
		left -= w
	}
	return all
}

// leafOf returns the leaf of a pod in a tree of newTree.
func leafOf(p *Pod) queue.ID {
	h := fnv.New64a()
	h.Write([]byte(p.Name))
	// In preorder the leaves of a tenant follow it, and then comes the next.
	tenant := 1 + queue.ID(p.QoS)*(1+leavesPerTenant)
	return tenant + 1 + queue.ID(h.Sum64()%leavesPerTenant)
}
