// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"testing"

	"github.com/go-preempt/preempt/resources"
)

var (
	sinkID     ID
	sinkBool   bool
	sinkVector resources.Vector
	sinkLimit  resources.Limit
)

// TestNoAllocs shows that only errors, pictures, copies and the changing of
// bounds allocate.
func TestNoAllocs(t *testing.T) {
	tree := mustNew(t, forest, lenient)
	z := mustLookup(t, tree, "root.a.y.z")
	size := vector("gpu=2 disk=1")
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	must(tree.Add(z, size))
	must(tree.SetMax(1, limit("gpu=5")))
	must(tree.SetGuaranteed(1, limit("gpu=5")))
	var shares FairShares
	demand, capacity := make([]resources.Vector, tree.Len()), limit("gpu=9 disk=4")
	for q := range tree.Leaves(Root) {
		demand[q] = vector("gpu=7 disk=3")
	}
	planned := tree.Clone()
	dst := make(resources.Vector, schema.Len())
	room := resources.Limit{Value: make(resources.Vector, schema.Len())}

	for _, test := range []struct {
		name string
		f    func()
	}{
		{"Add Remove", func() { must(tree.Add(z, size)); must(tree.Remove(z, size)) }},
		{"Mark Unmark", func() { must(tree.Mark(z, size)); must(tree.Unmark(z, size)) }},
		{"Usage", func() { sinkVector = tree.Usage(z) }},
		{"Leaving", func() { sinkVector = tree.Leaving(z) }},
		{"Effective", func() { sinkVector = tree.Effective(dst, z) }},
		{"Surplus", func() { sinkVector = tree.Surplus(dst, z) }},
		{"Headroom", func() { sinkLimit = tree.Headroom(room, z) }},
		{"Guaranteed", func() { sinkLimit = tree.Guaranteed(z) }},
		{"Max", func() { sinkLimit = tree.Max(z) }},
		{"Governing", func() { sinkID, sinkBool = tree.Governing(z, 0) }},
		{"Lookup", func() { sinkID, sinkBool = tree.Lookup("root.a.y.z") }},
		{"Parent", func() { sinkID, sinkBool = tree.Parent(z) }},
		{"CommonAncestor", func() { sinkID = tree.CommonAncestor(z, 2) }},
		{"Contains", func() { sinkBool = tree.Contains(1, z) }},
		{"Policies", func() { sinkBool = tree.Policies(z).Dynamic }},
		{"FairShares", func() { must(shares.Divide(tree, demand, capacity)) }},
		{"FairShares.Of", func() { sinkLimit = shares.Of(z) }},
		{"FairShares.Guarantee", func() { sinkLimit = shares.Guarantee(z) }},
		{"FairShares.SetGuarantees", func() { must(shares.SetGuarantees(planned)) }},
		{"All", func() {
			for q := range ID(tree.Len()) {
				sinkID += q
			}
		}},
		{"Up", func() {
			for q := range tree.Ancestors(z) {
				sinkID += q
			}
		}},
		{"Children", func() {
			for q := range tree.Children(Root) {
				sinkID += q
			}
		}},
		{"Leaves", func() {
			for q := range tree.Leaves(Root) {
				sinkID += q
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, test.f); n != 0 {
				t.Errorf("%v allocations, want 0", n)
			}
		})
	}
}

// TestOneAlloc shows that a missing destination is allocated once.
func TestOneAlloc(t *testing.T) {
	tree := mustNew(t, forest, lenient)
	for name, f := range map[string]func(){
		"Effective": func() { sinkVector = tree.Effective(nil, 4) },
		"Surplus":   func() { sinkVector = tree.Surplus(nil, 4) },
		"Headroom":  func() { sinkLimit = tree.Headroom(resources.Limit{}, 4) },
	} {
		t.Run(name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, f); n != 1 {
				t.Errorf("%v allocations, want 1", n)
			}
		})
	}
}
