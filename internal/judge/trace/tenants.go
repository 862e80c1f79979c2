// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A QoS is a class of service. Below the root of the cluster the tenants are in
// the order of their classes.
type QoS uint8

// The classes of service.
const (
	Guaranteed QoS = iota
	LatencySensitive
	Burstable
	BestEffort
)

// Classes is the number of classes.
const Classes = len(classes)

// classes are the classes as a trace spells them.
var classes = [...]struct {
	name     string
	priority int32
	weight   int64
	about    string
}{
	Guaranteed:       {"Guaranteed", 300, 1, "guaranteed service"},
	LatencySensitive: {"LS", 200, 7, "latency-sensitive pods"},
	Burstable:        {"Burstable", 100, 2, "burstable pods"},
	BestEffort:       {"BE", 0, 0, "best-effort pods, on what the others leave"},
}

// About says what the pods of a class are, for people.
func (q QoS) About() string { return classes[q].about }

// Guaranteed reports whether a part of the cluster is guaranteed to the tenant of
// a class.
func (q QoS) Guaranteed() bool { return classes[q].weight > 0 }

// Tenant returns the name of the tenant of a class.
func (q QoS) Tenant() string { return strings.ToLower(classes[q].name) }

// Priority returns the priority of the pods of a class.
func (q QoS) Priority() int32 { return classes[q].priority }

// leavesPerTenant is the number of leaves of a tenant.
const leavesPerTenant = 4

// newSchema returns the types that nodes have and pods ask for.
func newSchema() (*resources.Schema, error) { return resources.NewSchema("cpu", "memory", "gpu-milli") }

// newTree returns the queues of the tenants, who share the capacity.
func newTree(capacity resources.Vector) (*queue.Tree, error) {
	schema, err := newSchema()
	if err != nil {
		return nil, err
	}
	var weights []int64
	for _, c := range classes {
		weights = append(weights, c.weight)
	}
	equal := slices.Repeat([]int64{1}, leavesPerTenant)
	root := queue.Config{Name: "root"}
	for i, part := range parts(capacity, weights) {
		tenant := queue.Config{Name: QoS(i).Tenant(), Guaranteed: guarantee(part)}
		for k, part := range parts(part, equal) {
			tenant.Children = append(tenant.Children, queue.Config{Name: strconv.Itoa(k), Guaranteed: guarantee(part)})
		}
		root.Children = append(root.Children, tenant)
	}
	return queue.New(schema, root)
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
		all[i] = ratio.OfVector(v, w, left) // 0 where w is 0, left or not
		v = resources.Sub(nil, v, all[i])
		left -= w
	}
	return all
}

// Leaf returns the leaf of the pod in a tree of [Workload.NewCluster].
func (p *Pod) Leaf() queue.ID {
	h := fnv.New64a()
	h.Write([]byte(p.Name))
	// In preorder the leaves of a tenant follow it, and then comes the next.
	tenant := 1 + queue.ID(p.QoS)*(1+leavesPerTenant)
	return tenant + 1 + queue.ID(h.Sum64()%leavesPerTenant)
}
