// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

func TestAmounts(t *testing.T) {
	n := Node{CPU: 32000, Memory: 3, GPUs: 2}
	p := Pod{CPU: 1500, Memory: 1, GPU: 460}
	if diff := cmp.Diff(resources.Vector{32000, 3145728, 2000}, n.Capacity()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(resources.Vector{1500, 1048576, 460}, p.Size()); diff != "" {
		t.Error(diff)
	}
}

func TestNewCluster(t *testing.T) {
	w := Workload{Nodes: []Node{{Name: "b", CPU: 1000, Memory: 1}, {Name: "a", CPU: 3000, GPUs: 2}}}
	c, err := w.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for n := range c.Nodes() {
		fmt.Fprintln(&got, c.Node(n).Name, c.Free(nil, n))
	}
	if diff := cmp.Diff("b [1000 1048576 0]\na [3000 0 2000]\n", got.String()); diff != "" {
		t.Error(diff)
	}
	sum := resources.Vector{4000, 1048576, 2000}
	if diff := cmp.Diff(sum, w.Capacity()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(sum, c.Capacity()); diff != "" {
		t.Error(diff)
	}
	// A tenth of 4 cores.
	guaranteed, ok := c.Tree().Lookup("root.guaranteed")
	if g := c.Tree().Guaranteed(guaranteed).Value; !ok || g[typeCPU] != 400 {
		t.Errorf("guaranteed %v, found %t", g, ok)
	}
	if c.TaskLen() > 0 {
		t.Errorf("%d tasks", c.TaskLen())
	}
}

func TestNewClusterErrors(t *testing.T) {
	var large []Node // 8 times an eighth of the range of int64
	for i := range 8 {
		large = append(large, Node{Name: fmt.Sprint("n", i), Memory: maxAmount})
	}
	for _, c := range []struct {
		name  string
		nodes []Node
		want  string
	}{
		{"capacity", large, "out of range"},
		{"no name", []Node{{}}, "empty name"},
		{"a name twice", []Node{{Name: "n"}, {Name: "n"}}, `node "n"`},
	} {
		_, err := (&Workload{Nodes: c.nodes}).NewCluster()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	if c, err := (&Workload{Nodes: large[:7]}).NewCluster(); err != nil || c.NodeLen() != 7 {
		t.Errorf("seven eighths: %v", err)
	}
}

// The tenants are in the order of their classes, and callers count on it.
func TestTenants(t *testing.T) {
	tree, err := newTree(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for q := range tree.Children(queue.Root) {
		got = append(got, trees.Name(tree, q))
	}
	want := []struct {
		class    QoS
		tenant   string
		priority int32
	}{
		{Guaranteed, "guaranteed", 300}, {LatencySensitive, "ls", 200}, {Burstable, "burstable", 100}, {BestEffort, "be", 0},
	}
	if len(got) != len(want) || Classes != len(want) {
		t.Fatalf("tenants %q of %d classes, want %d", got, Classes, len(want))
	}
	for i, w := range want {
		if int(w.class) != i || got[i] != w.tenant || w.class.Tenant() != w.tenant || w.class.Priority() != w.priority {
			t.Errorf("tenant %d is %q, of class %d %q, %d; want %+v",
				i, got[i], w.class, w.class.Tenant(), w.class.Priority(), w)
		}
	}
}
