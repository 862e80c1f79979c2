// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// What a quota does here is at least what package quota does: in a random state in
// which a queue is over a max that was lowered, the victims of the enforcer, in
// every order, are one of the sets that are lawful here.
func TestQuotasOfTheLibrary(t *testing.T) { rapid.Check(t, propertyQuotas) }

func FuzzQuotasOfTheLibrary(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyQuotas)) }

func propertyQuotas(t *rapid.T) {
	u := drawUniverse(t)
	u.drawLowered(t)
	w := u.world()
	state := rapid.IntRange(0, w.states()-1).Filter(func(state int) bool { return w.set(state) }).Draw(t, "state")
	w.set(state)
	here := make(map[int][]string) // lawful sets by queue
	for _, p := range w.quotaActs(nil) {
		if p.victims != 0 {
			here[p.quota-1] = append(here[p.quota-1], fmt.Sprintf("%b", p.victims))
		}
	}
	for i, q := range w.quotas {
		if w.lowered>>i&1 == 0 {
			continue
		}
		for _, order := range []quota.Order{quota.YoungestFirst, quota.ClosestMatch, quota.Pack, quota.Fewest, quota.FewestOfAll} {
			set := enforced(t, w, q, order)
			if set != "0" && !slices.Contains(here[q], set) {
				t.Fatalf("%+v: state %v, queue %d, order %v: the enforcer takes %s, lawful here: %v", *u, w.place, q, order, set, here[q])
			}
		}
	}
}

// enforced returns the victims of package quota, as a set of tasks.
func enforced(t *rapid.T, w *world, q int, order quota.Order) string {
	l := clusterOf(t, w)
	cluster := l.auditor.Cluster
	e := quota.Enforcer{Cluster: cluster, Order: order}
	most := resources.Limit{Value: make(resources.Vector, w.types)}
	for i := range w.types {
		if m := w.most(q, i); m < w.first(q, i) || m < 1<<20 {
			most.Value[i], most.Defined = int64(m), most.Defined|1<<i
		}
	}
	id := queue.Root
	if q > 0 {
		id = leafOf(w, cluster.Tree(), q)
	}
	if cluster.SetMax(id, most) != nil {
		return "0" // a max below a guarantee
	}
	var d victims.Decision
	require.NoError(t, e.Enforce(&d, id, time.Unix(0, 0)))
	set := uint64(0)
	for _, v := range d.Plan.Victims {
		n, err := strconv.Atoi(v.Key)
		require.NoError(t, err)
		set |= 1 << n
	}
	return fmt.Sprintf("%b", set)
}

// A max is lowered once, what is over it goes by any lawful set, and who goes
// waits until there is room under it.
func TestQuotaActs(t *testing.T) {
	u := &Universe{
		Queues: []Queue{{}, {Guaranteed: []int{1}, Lowered: []int{2}}},
		Nodes:  [][]int{{4}},
		Tasks:  []Task{{Leaf: 1, Size: []int{1}}, {Leaf: 1, Size: []int{2}}, {Leaf: 1, Size: []int{1}}},
	}
	w := u.world()
	require.Equal(t, 16, w.states(), "each of three tasks runs or waits, with the old max and with the new")
	all := 7 // all run
	require.True(t, w.set(all))
	require.Equal(t, []plan{{quota: 2, lowers: 1}}, w.quotaActs(nil))
	lowered := w.after(&plan{quota: 2, lowers: 1})
	require.Equal(t, 15, lowered)
	require.True(t, w.set(lowered), "over its max it is a state all the same")
	var sets []int
	for _, p := range w.quotaActs(nil) {
		sets = append(sets, int(p.victims))
	}
	require.Equal(t, []int{0b001, 0b010, 0b011, 0b100, 0b101, 0b110}, sets, "all but those that leave less than is guaranteed")
	require.True(t, w.set(8+2+1)) // the large one and a small one run
	require.Len(t, w.quotaActs(nil), 2, "3 of 2: one of them goes")
	require.True(t, w.set(8+2)) // the large one alone
	require.Empty(t, w.quotaActs(nil), "2 of 2")
	c, looked := u.Storm()
	require.Nil(t, c)
	require.Equal(t, 16, looked)
}
