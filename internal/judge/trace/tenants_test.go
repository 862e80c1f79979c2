// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

func TestTree(t *testing.T) {
	// 1, 7, 2 and 0 tenths of 4005 CPUs in thousandths, of 100 bytes, and of no
	// GPU; each rounded down as far as the rest can make good for it.
	tree, err := newTree(resources.Vector{typeCPU: 4005, typeMemory: 100, typeGPU: 0})
	if err != nil {
		t.Fatal(err)
	}
	const want = `root none
root.guaranteed cpu=0.4 memory=10
root.guaranteed.0 cpu=0.1 memory=2
root.guaranteed.1 cpu=0.1 memory=2
root.guaranteed.2 cpu=0.1 memory=3
root.guaranteed.3 cpu=0.1 memory=3
root.ls cpu=2.803 memory=70
root.ls.0 cpu=0.7 memory=17
root.ls.1 cpu=0.701 memory=17
root.ls.2 cpu=0.701 memory=18
root.ls.3 cpu=0.701 memory=18
root.burstable cpu=0.802 memory=20
root.burstable.0 cpu=0.2 memory=5
root.burstable.1 cpu=0.2 memory=5
root.burstable.2 cpu=0.201 memory=5
root.burstable.3 cpu=0.201 memory=5
root.be none
root.be.0 none
root.be.1 none
root.be.2 none
root.be.3 none
`
	var got strings.Builder
	for q := range queue.ID(tree.Len()) {
		fmt.Fprintln(&got, tree.Path(q), tree.Schema().FormatLimit(tree.Guaranteed(q)))
		if tree.Max(q).Defined != 0 {
			t.Errorf("%s has a maximum", tree.Path(q))
		}
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

// The parts sum to the whole, and each is within a unit per weight of its share.
func TestParts(t *testing.T) { rapid.Check(t, partsProperty) }

func FuzzParts(f *testing.F) { f.Fuzz(rapid.MakeFuzz(partsProperty)) }

func partsProperty(t *rapid.T) {
	v := resources.Vector{rapid.Int64Range(0, 1<<62).Draw(t, "amount")}
	weights := rapid.SliceOfN(rapid.Int64Range(0, 1000), 1, 6).Draw(t, "weights")
	weights = append(weights, rapid.Int64Range(1, 1000).Draw(t, "positive"))
	var total, sum int64
	for _, w := range weights {
		total += w
	}
	for i, part := range parts(v, weights) {
		sum += part[0]
		share := ratio.Of(v[0], weights[i], total)
		if d := part[0] - share; d < -int64(len(weights)) || d > int64(len(weights)) {
			t.Errorf("part %d is %d, and %d of %d of %d are %d", i, part[0], weights[i], total, v[0], share)
		}
		if weights[i] == 0 && part[0] != 0 {
			t.Errorf("part %d is %d without a weight", i, part[0])
		}
	}
	if sum != v[0] {
		t.Errorf("parts of %d sum to %d", v[0], sum)
	}
}

func TestLeaf(t *testing.T) {
	tree, err := newTree(amounts(1000, 1000, 1000))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pod  Pod
		want string
	}{
		// The hashes are those of the FNV reference: 0xaf63dc4c8601ec8c of "a",
		// 0x85944171f73967e8 of "foobar", 0xcbf29ce484222325 of nothing.
		{Pod{Name: "a", QoS: Guaranteed}, "root.guaranteed.0"},
		{Pod{Name: "a", QoS: BestEffort}, "root.be.0"},
		{Pod{Name: "foobar", QoS: LatencySensitive}, "root.ls.0"},
		{Pod{Name: "", QoS: Burstable}, "root.burstable.1"},
	} {
		if got := tree.Path(c.pod.Leaf()); got != c.want {
			t.Errorf("pod %q is in %s, want %s", c.pod.Name, got, c.want)
		}
	}
}

// Pods of a class spread over all leaves of its tenant, and over no other.
func TestLeafSpreads(t *testing.T) {
	tree, err := newTree(amounts(1000, 1000, 1000))
	if err != nil {
		t.Fatal(err)
	}
	tenants := slices.Collect(tree.Children(queue.Root))
	for q := range QoS(Classes) {
		var got []queue.ID
		for i := range 50 {
			p := Pod{Name: strconv.Itoa(i), QoS: q}
			got = append(got, p.Leaf())
		}
		slices.Sort(got)
		if want := slices.Collect(tree.Leaves(tenants[q])); !slices.Equal(slices.Compact(got), want) {
			t.Errorf("pods of class %d are in leaves %v, want %v", q, got, want)
		}
	}
}
