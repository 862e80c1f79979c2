package workload

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The files of a trace: those of the Alibaba GPU cluster trace of 2023 (public
// data set clusterdata, folder cluster-trace-gpu-v2023).
const (
	TraceNodes = "openb_node_list_all_node.csv"
	TracePods  = "openb_pod_list_default.csv"
)

// tenants are the classes of service of a trace, with the priority of their
// pods and the weight by which the cluster is guaranteed to them.
var tenants = []struct {
	name     string
	priority int32
	weight   int64
}{
	{"Guaranteed", 300, 1},
	{"LS", 200, 7},
	{"Burstable", 100, 2},
	{"BE", 0, 0},
}

// leavesPerTenant is how many leaves a tenant has.
const leavesPerTenant = 4

// wholeGPU is a whole GPU in thousandths.
const wholeGPU = 1000

// A Trace is a moment of a production trace: what runs, and the asks that
// found no room, in order of creation.
//
// A trace is a sample of what ran, and has no tenants. So nothing ends, which
// fills the cluster, and these are the rules: a queue per class of service,
// with four leaves, "0" to "3"; a pod is in the leaf that the 64-bit FNV-1a
// hash of its name gives, modulo four. Guaranteed, LS and Burstable are
// guaranteed the cluster as 1 to 7 to 2, each leaf a quarter of that, rounded
// down, and BE nothing. Priorities are 300, 200, 100 and 0. Each pod is an
// application of its own. In order of creation, pods run on the first node
// that has room: the types are cpu, memory and gpu-milli, the GPUs of a node
// being one amount. The moment is [Now], an hour after the last creation.
type Trace struct {
	Cluster *victims.Cluster
	Asks    []victims.Ask

	planner  victims.Planner
	decision victims.Decision
}

// Decide decides all asks, each as if it were the only one, and returns for how
// many there is a plan.
func (t *Trace) Decide() (plans int) {
	t.planner.Cluster = t.Cluster
	for i := range t.Asks {
		must(t.planner.Decide(&t.decision, &t.Asks[i], Now))
		if t.decision.Outcome == victims.Preempts {
			plans++
		}
	}
	return plans
}

// ReadTrace reads the two files from a folder. Where they are not there the
// error is fs.ErrNotExist.
func ReadTrace(dir string) (*Trace, error) {
	nodes, err := readNodes(filepath.Join(dir, TraceNodes))
	if err != nil {
		return nil, err
	}
	pods, err := readPods(filepath.Join(dir, TracePods))
	if err != nil {
		return nil, err
	}
	return newTrace(nodes, pods)
}

// pod is a pod of a trace.
type pod struct {
	name    string
	size    resources.Vector
	tenant  int
	created int64 // seconds
}

// newTrace lets pods run where they can.
func newTrace(nodes []victims.Node, pods []pod) (*Trace, error) {
	schema, err := resources.NewSchema("cpu", "memory", "gpu-milli")
	must(err)
	var capacity resources.Vector
	for i := range nodes {
		capacity = resources.Add(capacity, capacity, nodes[i].Capacity)
	}
	tree, err := queue.New(schema, tenantQueues(capacity), queue.Strict)
	must(err)
	t := &Trace{Cluster: victims.NewCluster(tree)}
	for i := range nodes {
		if _, err := t.Cluster.AddNode(&nodes[i]); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(pods, func(a, b pod) int { return int(a.created - b.created) })
	for i := range pods {
		age := time.Hour + time.Duration(pods[len(pods)-1].created-pods[i].created)*time.Second
		if err := t.add(&pods[i], Now.Add(-age)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// tenantQueues returns the queues of tenants that share a capacity.
func tenantQueues(capacity resources.Vector) queue.Config {
	var weights int64
	for _, t := range tenants {
		weights += t.weight
	}
	root := queue.Config{Name: "root"}
	for _, t := range tenants {
		leaf := resources.ScaleRatio(nil, capacity, t.weight, leavesPerTenant*weights)
		q := queue.Config{Name: t.name, Guaranteed: guarantee(resources.Scale(nil, leaf, leavesPerTenant))}
		for i := range leavesPerTenant {
			q.Children = append(q.Children, queue.Config{Name: strconv.Itoa(i), Guaranteed: guarantee(leaf)})
		}
		root.Children = append(root.Children, q)
	}
	return root
}

// guarantee returns v as a bound; nothing is no guarantee.
func guarantee(v resources.Vector) resources.Limit {
	return resources.Limit{Value: v, Defined: resources.Positive(v)}
}

// add lets a pod run on the first node with room, or ask.
func (t *Trace) add(p *pod, created time.Time) error {
	h := fnv.New64a()
	h.Write([]byte(p.name))
	path := fmt.Sprintf("root.%s.%d", tenants[p.tenant].name, h.Sum64()%leavesPerTenant)
	leaf, _ := t.Cluster.Tree().Lookup(path)
	priority := tenants[p.tenant].priority
	var free resources.Vector
	for n := range t.Cluster.Nodes() {
		if free = t.Cluster.Free(free, n); resources.Fits(p.size, free) {
			_, err := t.Cluster.AddTask(&victims.Task{
				Key: p.name, Application: p.name, Queue: leaf, Node: n, Size: p.size,
				Priority: priority, Created: created, Scheduled: created,
			})
			return err
		}
	}
	t.Asks = append(t.Asks, victims.Ask{
		Key: p.name, Application: p.name, Queue: leaf, Size: p.size, Priority: priority, PendingSince: created,
	})
	return nil
}
