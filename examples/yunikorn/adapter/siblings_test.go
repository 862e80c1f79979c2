// SPDX-License-Identifier: Apache-2.0

//go:build preempt

package objects

import (
	"testing"
	"time"

	"github.com/apache/yunikorn-core/pkg/common/resources"

	pq "github.com/go-preempt/preempt/queue"
)

// A parent has the guarantee, and one of its leaves uses all of it. Nobody there is stopped
// for another leaf, unless the one has a guarantee of its own and is over it: then YuniKorn
// stops somebody, and the library does not, for the parent would be as starved as it is.
// With shares of the guarantee each leaf gets half of it; with the own branch who matters
// more takes from who matters less.
func TestSiblings(t *testing.T) {
	EngineFresh = true
	for _, test := range []struct {
		name     string
		native   bool
		one      string // what the leaf that uses all is guaranteed
		shares   bool
		own      string
		priority int32
		plan     bool
	}{
		{name: "YuniKorn", native: true, priority: 9},
		{name: "YuniKorn, over its guarantee", native: true, one: "5", plan: true},
		{name: "the library", priority: 9},
		{name: "the library, over its guarantee", one: "5", priority: 9},
		{name: "shares", shares: true, plan: true},
		{name: "own branch, equals", own: "branch"},
		{name: "own branch", own: "branch", priority: 9, plan: true},
		{name: "own branch, over its guarantee", own: "branch", one: "5", priority: 9, plan: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			rules := engineRules
			EngineNative, engineShares, engineRules.WithinQueue = test.native, test.shares, pq.WithinQueue(test.own)
			defer func() { EngineNative, engineShares, engineRules = false, false, rules }()
			size := map[string]resources.Quantity{"first": 5}
			queues := NewAppQueueMapping()
			n1, n2 := newNode(nodeID1, size), newNode(nodeID2, size)
			root, err := createRootQueue(map[string]string{"first": "10"})
			check(t, err)
			parent, err := createManagedQueueGuaranteed(root, "parent", true, nil, map[string]string{"first": "10"}, queues)
			check(t, err)
			var own map[string]string
			if test.one != "" {
				own = map[string]string{"first": test.one}
			}
			one, err := createManagedQueueGuaranteed(parent, "one", false, nil, own, queues)
			check(t, err)
			two, err := createManagedQueueGuaranteed(parent, "two", false, nil, nil, queues)
			check(t, err)
			a, b, err := creatApp1(one, n1, n2, size, queues)
			check(t, err)
			app, ask, err := creatApp2(two, size, "alloc3", queues)
			check(t, err)
			ask.priority = test.priority
			_, ok := NewPreemptor(app, two.getHeadRoom(), 30*time.Second, ask, getNodeIteratorFn(n1, n2)(), true).TryPreemption()
			gone := 0
			for _, v := range []*Allocation{a, b} {
				if v.IsPreempted() {
					gone++
				}
			}
			if ok != test.plan || test.plan && gone != 1 || !test.plan && gone != 0 {
				t.Errorf("a plan: %v, and %d of 2 go; want %v", ok, gone, test.plan)
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
