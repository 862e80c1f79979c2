// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// costLadder is costs from the cheapest to the costliest. Each differs from the
// one before in one more field, and is better in all fields after that: each
// field decides before the next. (DESIGN.md, Cost.)
var costLadder = func() (ladder []costRung) {
	ladder = append(ladder,
		costRung{"no victims", Cost{OptedOut: 9, MaxRank: 9, Node: 1}},
		costRung{"no victims, node", Cost{Node: 2}},
		costRung{"no victims, node rank", Cost{NodePenalty: 1}},
	)
	least := Cost{MaxRank: -9, MaxPriority: -9, Victims: 1, SumRanks: -9, SumPriorities: -9, NodePenalty: -9}
	step := func(field string, change func(c *Cost)) {
		c := least
		change(&c)
		ladder = append(ladder, costRung{field, c})
	}
	step("victims", func(c *Cost) {})
	step("node", func(c *Cost) { c.Node = 1 })
	step("node rank", func(c *Cost) { c.NodePenalty = -8 })
	step("excess", func(c *Cost) { c.Excess = resources.Share{Amount: 1, Of: 1000} })
	step("excess as a share", func(c *Cost) { c.Excess = resources.Share{Amount: 1, Of: 999} })
	step("work", func(c *Cost) { c.Work = resources.WideOf(1) })
	step("work beyond 64 bits", func(c *Cost) { c.Work = resources.Wide{Hi: 1} })
	step("sum of priorities", func(c *Cost) { c.SumPriorities = -8 })
	step("sum of ranks", func(c *Cost) { c.SumRanks = -8 })
	step("number of victims", func(c *Cost) { c.Victims, c.SumRanks = 2, -18 })
	step("own cost", func(c *Cost) { c.Own = resources.WideOf(1) })
	step("own cost beyond 64 bits", func(c *Cost) {
		for range 3 {
			c.Own = c.Own.Add(resources.WideOf(math.MaxInt64))
		}
	})
	step("jobs", func(c *Cost) { c.Jobs = 1 })
	step("highest priority", func(c *Cost) { c.MaxPriority = -8 })
	step("highest rank", func(c *Cost) { c.MaxRank = -8 })
	step("originators", func(c *Cost) { c.Originators = 1 })
	step("overrun", func(c *Cost) { c.Overrun = 1 })
	step("opted out", func(c *Cost) { c.OptedOut = 1 })
	step("opted out, once more", func(c *Cost) { c.OptedOut = 2 })
	return ladder
}()

type costRung struct {
	field string
	cost  Cost
}

func TestCostCompare(t *testing.T) {
	for i, a := range costLadder {
		for j, b := range costLadder {
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = +1
			}
			if got := a.cost.Compare(&b.cost); got != want {
				t.Errorf("%s against %s: %d, want %d", a.field, b.field, got, want)
			}
		}
	}
	// Shares are equal by value.
	half, quarters := Cost{Victims: 1, Excess: resources.Share{Amount: 1, Of: 2}}, Cost{Victims: 1, Excess: resources.Share{Amount: 2, Of: 4}}
	if c := half.Compare(&quarters); c != 0 {
		t.Errorf("%v against %v: %d, want 0", half.Excess, quarters.Excess, c)
	}
}

// drawCost draws costs that often agree in some fields.
func drawCost(t *rapid.T, label string) *Cost {
	few := rapid.IntRange(0, 1)
	rank := rapid.Int64Range(-1, 0)
	return &Cost{
		OptedOut: few.Draw(t, label), Overrun: -rank.Draw(t, "overrun"), Originators: few.Draw(t, "originators"),
		MaxRank: rank.Draw(t, "rank"), MaxPriority: rank.Draw(t, "priority"), Jobs: few.Draw(t, "jobs"),
		Own: resources.WideOf(-rank.Draw(t, "own")), Victims: few.Draw(t, "victims"),
		SumRanks: rank.Draw(t, "ranks"), SumPriorities: rank.Draw(t, "priorities"),
		Excess:      resources.Share{Amount: rank.Draw(t, "excess") + 1, Of: 2},
		Work:        resources.WideOf(int64(few.Draw(t, "work"))),
		NodePenalty: rank.Draw(t, "node rank"), Node: few.Draw(t, "node"),
	}
}

// costIsAnOrder: comparing is a strict weak order, for any three costs.
func costIsAnOrder(t *rapid.T) {
	a, b, c := drawCost(t, "a"), drawCost(t, "b"), drawCost(t, "c")
	if a.Compare(a) != 0 {
		t.Fatalf("%v differs from itself", a)
	}
	if a.Compare(b) != -b.Compare(a) {
		t.Fatalf("%v and %v are compared in two ways", a, b)
	}
	if x, y := a.Compare(b), b.Compare(c); x <= 0 && y <= 0 && a.Compare(c) != min(x, y) {
		t.Fatalf("%v, %v, %v: %d and %d, but %d", a, b, c, x, y, a.Compare(c))
	}
}

func TestCostIsAnOrder(t *testing.T) { rapid.Check(t, costIsAnOrder) }
func FuzzCostIsAnOrder(f *testing.F) {
	seedDraws(f)
	f.Fuzz(rapid.MakeFuzz(costIsAnOrder))
}

func TestCostString(t *testing.T) {
	for _, tt := range []struct {
		cost Cost
		want string
	}{
		{Cost{MaxRank: 3, Node: 7}, "no victims"},
		{Cost{Victims: 1, SumRanks: -5}, "1 victim"},
		{Cost{Victims: 2, SumRanks: -5}, "2 victims, ranks sum up to -5"},
		{
			Cost{
				OptedOut: 1, Overrun: 8, Originators: 2, MaxRank: -3, MaxPriority: 4, Jobs: 5,
				Own: resources.WideOf(math.MaxInt64).Add(resources.WideOf(math.MaxInt64)).Add(resources.WideOf(2)), Victims: 6,
				SumRanks: -7, Excess: resources.Share{Amount: 3, Of: 12}, Work: resources.Wide(wide.Mul(uint64(10*time.Minute), 250_000_000)), Node: 11,
				LostTime: 10 * time.Minute, LostType: "gpu", LostAmount: resources.WideOf(int64(30 * time.Minute)),
			},
			"1 opted out, 8 beyond soft budgets, 2 originators, highest rank -3, highest priority 4, 5 jobs stopped, " +
				"own cost 18446744073709551616, 6 victims, ranks sum up to -7, 10m of work lost, 0.5 gpu-hours, 25% of the cluster freed beyond need",
		},
	} {
		if got := tt.cost.String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestWork(t *testing.T) {
	const longest = math.MaxInt64
	twice := resources.WideOf(longest).Add(resources.WideOf(longest))
	for _, tt := range []struct {
		work resources.Wide
		ns   int64
		fits bool
	}{
		{resources.Wide{}, 0, true},
		{resources.WideOf(-5), 0, true},
		{resources.WideOf(math.MinInt64), 0, true},
		{resources.WideOf(int64(time.Hour)).Add(resources.WideOf(int64(time.Second))), int64(time.Hour + time.Second), true},
		{resources.WideOf(longest), longest, true},
		{resources.WideOf(longest).Add(resources.WideOf(1)), 0, false},
		{twice, 0, false},
		{twice.Add(twice), 0, false}, // its low half is small
	} {
		ns, ok := wide.Uint128(tt.work).Int64()
		if ok != tt.fits || ok && ns != tt.ns {
			t.Errorf("%v: %v, %t, want %v, %t", tt.work, ns, ok, tt.ns, tt.fits)
		}
	}
}

// TestCostLost is what a cost says of work: the time, and amounts by time in a unit of its type.
func TestCostLost(t *testing.T) {
	amounts := func(n int64, d time.Duration) resources.Wide { return resources.Wide(wide.Mul(uint64(n), uint64(d))) }
	for _, tt := range []struct {
		cost Cost
		want string
	}{
		{Cost{}, "1 victim"},
		{Cost{Work: resources.WideOf(1)}, "1 victim"}, // of a bound no times are known
		{Cost{LostTime: time.Hour + time.Second}, "1h0m1s of work lost"},
		{Cost{LostTime: math.MaxInt64}, "centuries of work lost"},
		{Cost{LostTime: 3 * time.Hour, LostType: "gpu", LostAmount: amounts(8, 3*time.Hour)}, "3h of work lost, 24 gpu-hours"},
		{Cost{LostType: "gpu"}, "1 victim"},
		{Cost{LostTime: 1, LostType: "gpu", LostAmount: amounts(1, 20*time.Minute)}, "1ns of work lost, 0.333 gpu-hours"},
		{Cost{LostTime: 1, LostType: "gpu", LostAmount: amounts(1, 90*time.Second)}, "1ns of work lost, 90 gpu-seconds"},
		{Cost{LostTime: 1, LostType: "cpu", LostAmount: amounts(12_345, time.Hour)}, "1ns of work lost, 12.3 cpu-hours"},
		{Cost{LostTime: 1, LostType: "memory", LostAmount: amounts(3<<29, time.Hour)}, "1ns of work lost, 1.5Gi memory-hours"},
		{Cost{LostTime: 1, LostType: "gpu", LostAmount: resources.Wide{Hi: 1 << 63}}, "1ns of work lost, centuries of gpu"},
	} {
		if tt.cost.Victims = 1; !strings.HasSuffix(", "+tt.cost.String(), ", "+tt.want) {
			t.Errorf("%q, want %q", tt.cost.String(), tt.want)
		}
	}
}

// workIsExact: however long the parts, work adds up and compares as integers do.
func workIsExact(t *rapid.T) {
	var sums [2]resources.Wide
	var want [2]*big.Int
	for i := range sums {
		want[i] = new(big.Int)
		for _, d := range rapid.SliceOfN(rapid.Int64(), 0, 9).Draw(t, "durations") {
			sums[i] = sums[i].Add(resources.WideOf(d))
			want[i].Add(want[i], big.NewInt(max(d, 0)))
		}
		if d, ok := wide.Uint128(sums[i]).Int64(); ok != want[i].IsInt64() || ok && d != want[i].Int64() {
			t.Fatalf("%v, %t, want %v", d, ok, want[i])
		}
	}
	if got := sums[0].Compare(sums[1]); got != want[0].Cmp(want[1]) {
		t.Fatalf("%v against %v: %d", want[0], want[1], got)
	}
}

func TestWorkIsExact(t *testing.T) { rapid.Check(t, workIsExact) }
func FuzzWorkIsExact(f *testing.F) {
	seedDraws(f)
	f.Fuzz(rapid.MakeFuzz(workIsExact))
}

// TestWorkOfAll shows that the longest work of as many tasks as a cluster can
// have stays in range: doubling the longest 31 times makes it larger each time.
func TestWorkOfAll(t *testing.T) {
	w := resources.Wide{Lo: math.MaxUint64}
	for i := range 31 {
		if next := w.Add(w); next.Compare(w) <= 0 {
			t.Fatalf("wrapped at 2^%d tasks", i+1)
		} else {
			w = next
		}
	}
}
