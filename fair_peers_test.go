// SPDX-License-Identifier: Apache-2.0

package preempt_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A sharing is a case for all rules: queues side by side below a root, and a
// capacity of one type.
type sharing struct {
	name     string
	capacity float64
	queues   []sharer
}

// A sharer is a queue. A max of 0 is none.
type sharer struct{ weight, guaranteed, max, demand float64 }

// sharings are the ten cases of docs/fair-shares.md.
var sharings = []sharing{
	{"two alike want all", 8, []sharer{{1, 0, 0, 9}, {1, 0, 0, 9}}},
	{"weights 3 : 1", 8, []sharer{{3, 0, 0, 9}, {1, 0, 0, 9}}},
	{"the first wants 1", 9, []sharer{{1, 0, 0, 1}, {1, 0, 0, 9}, {1, 0, 0, 9}}},
	{"a heavy one wants little", 10, []sharer{{9, 0, 0, 4}, {1, 0, 0, 99}}},
	{"nobody wants anything in the second", 8, []sharer{{1, 0, 0, 9}, {3, 0, 0, 0}}},
	{"weights 2 : 3 : 5, and a remainder", 7, []sharer{{2, 0, 0, 9}, {3, 0, 0, 9}, {5, 0, 0, 9}}},
	{"the first is guaranteed 6", 8, []sharer{{1, 6, 0, 9}, {1, 0, 0, 9}}},
	{"the first is guaranteed 6 and wants 2", 8, []sharer{{1, 6, 0, 2}, {1, 0, 0, 9}}},
	{"8 and 4 are guaranteed of 6", 6, []sharer{{1, 8, 0, 9}, {1, 4, 0, 9}}},
	{"the first may have 1", 8, []sharer{{1, 0, 1, 9}, {1, 0, 0, 9}}},
}

// The tables of docs/fair-shares.md are what the rules give: ours by the library,
// those of others by the formulas below.
func TestFairShares_Peers(t *testing.T) {
	const file, from, to = "docs/fair-shares.md", "<!-- cases -->\n", "<!-- end of cases -->"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), from)
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, to)
	require.True(t, ok)

	var b strings.Builder
	b.WriteString("| case | there are | wanted | here | KAI | Kueue | Volcano | YARN |\n|---|---|---|---|---|---|---|---|\n")
	for i := range sharings {
		s := &sharings[i]
		var wanted []float64
		for _, q := range s.queues {
			wanted = append(wanted, q.demand)
		}
		fmt.Fprintf(&b, "| %s | %v | %s | **%s** |", s.name, s.capacity, shared(wanted), shared(s.here(t)))
		for _, rule := range []func() []float64{s.kai, s.kueue, s.volcano, s.yarn} {
			fmt.Fprintf(&b, " %s |", shared(rule()))
		}
		b.WriteString("\n")
	}
	golden.Compare(t, file, before+from+b.String()+to+after)
}

// shared writes shares beside each other.
func shared(list []float64) string {
	var all []string
	for _, v := range list {
		all = append(all, strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64))
	}
	return strings.Join(all, " / ")
}

// here returns what the library makes of a case.
func (s *sharing) here(t *testing.T) (shares []float64) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	root := queue.Config{Name: "root"}
	demand := []resources.Vector{nil}
	for i, q := range s.queues {
		c := queue.Config{
			Name: "q" + strconv.Itoa(i), Properties: map[string]string{"fair.weight": fmt.Sprint(q.weight)},
			Guaranteed: resources.Limit{Value: resources.Vector{int64(q.guaranteed)}, Defined: 1},
		}
		if q.max > 0 {
			c.Max = resources.Limit{Value: resources.Vector{int64(q.max)}, Defined: 1}
		}
		root.Children = append(root.Children, c)
		demand = append(demand, resources.Vector{int64(q.demand)})
	}
	tree, err := queue.New(schema, root)
	require.NoError(t, err)
	var f queue.FairShares
	require.NoError(t, f.Divide(tree, demand, resources.Limit{Value: resources.Vector{int64(s.capacity)}, Defined: 1}))
	for q := range tree.Children(queue.Root) {
		shares = append(shares, float64(f.Of(q).Value[0]))
	}
	return shares
}

// requestable is what a queue wants and may have.
func (q *sharer) requestable() float64 {
	if q.max > 0 {
		return min(q.demand, q.max)
	}
	return q.demand
}

// kai is the rule of KAI: every queue has its quota as far as it asks for that,
// and the rest is dealt out in rounds by weight, rounded down to whole units for
// those who want more. At last whole units go by remainder. Priorities and usage
// in the past are left out. (KAI-Scheduler, docs/fairness/README.md: Fair-Share
// Algorithm; plugin proportion, resource_division.)
func (s *sharing) kai() []float64 {
	shares, left := make([]float64, len(s.queues)), s.capacity
	for i := range s.queues {
		shares[i] = min(s.queues[i].guaranteed, s.queues[i].requestable())
		left -= shares[i]
	}
	remainders := make([]float64, len(s.queues))
	for again := true; again && left > 0; {
		again = false
		total, round := 0.0, left
		for i := range s.queues {
			if q := &s.queues[i]; q.requestable() > shares[i] {
				total += q.weight
			}
		}
		for i := range s.queues {
			q := &s.queues[i]
			open := q.requestable() - shares[i]
			if open <= 0 {
				continue
			}
			part := round * q.weight / total
			give := open
			if remainders[i] = 0; open > part {
				give = math.Floor(part)
				remainders[i] = part - give
			}
			again = again || open < part
			shares[i], left = shares[i]+give, left-give
		}
	}
	for left > 0 && slices.Max(remainders) > 0 {
		i := slices.Index(remainders, slices.Max(remainders))
		give := min(1, left)
		shares[i], left, remainders[i] = shares[i]+give, left-give, 0
	}
	return shares
}

// kueue is where fair sharing in Kueue tends to: nominal quotas first, and what is
// borrowed beyond them in proportion to weights, for the share value of a queue is
// what it borrows, divided by its weight, and those of lower value are admitted
// first. Shares are compared and not computed, so there are no whole units.
// (Kueue, documentation of preemption: fair sharing; KEP 1714.)
func (s *sharing) kueue() []float64 {
	shares, left := make([]float64, len(s.queues)), s.capacity
	for i := range s.queues {
		shares[i] = min(s.queues[i].guaranteed, s.queues[i].requestable())
		left -= shares[i]
	}
	base := slices.Clone(shares)
	fill(s.queues, left, func(i int, level float64) float64 {
		shares[i] = min(base[i]+s.queues[i].weight*level, s.queues[i].requestable())
		return shares[i] - base[i]
	})
	return shares
}

// fill finds the level at which amounts that rise with it sum to a whole, or lets
// all rise as far as they can.
func fill(queues []sharer, whole float64, at func(i int, level float64) float64) {
	low, high := 0.0, 1e6
	for range 200 {
		level, sum := (low+high)/2, 0.0
		for i := range queues {
			sum += at(i, level)
		}
		if sum > whole {
			high = level
		} else {
			low = level
		}
	}
	for i := range queues {
		at(i, max(low, 0))
	}
}

// volcano is the plugin proportion of Volcano: rounds in which all who want more
// get a part of what is left, by weight. Nobody gets more than is left beside the
// guarantees of others, and nobody less than its own guarantee, wanted or not.
// (Volcano, plugin proportion; design of resource reservation for queues.)
func (s *sharing) volcano() []float64 {
	shares, met := make([]float64, len(s.queues)), make([]bool, len(s.queues))
	guaranteed := 0.0
	for _, q := range s.queues {
		guaranteed += q.guaranteed
	}
	for left := s.capacity; left > 1e-9; {
		total := 0.0
		for i, q := range s.queues {
			if !met[i] {
				total += q.weight
			}
		}
		if total == 0 {
			break
		}
		given := 0.0
		for i := range s.queues {
			q := &s.queues[i]
			if met[i] {
				continue
			}
			old := shares[i]
			shares[i] += left * q.weight / total
			shares[i] = min(shares[i], max(0, s.capacity-guaranteed+q.guaranteed), q.requestable())
			shares[i] = max(shares[i], q.guaranteed)
			met[i] = q.requestable() <= shares[i] || shares[i] == old
			given += shares[i] - old
		}
		left -= given
	}
	return shares
}

// yarn is the instantaneous fair share of YARN's Fair Scheduler, of the queues in
// which anything runs: weight times a ratio, but at least min and at most max
// resources, in whole units. What a queue demands plays no part. (Hadoop, Fair
// Scheduler; class ComputeFairShares.)
func (s *sharing) yarn() []float64 {
	shares := make([]float64, len(s.queues))
	at := func(ratio float64) (sum float64) {
		for i := range s.queues {
			q := &s.queues[i]
			if shares[i] = 0; q.demand == 0 {
				continue
			}
			shares[i] = max(q.weight*ratio, q.guaranteed)
			if q.max > 0 {
				shares[i] = min(shares[i], q.max)
			}
			shares[i] = math.Floor(shares[i])
			sum += shares[i]
		}
		return sum
	}
	low, high := 0.0, 1.0
	for at(high) < s.capacity && high < 1e6 {
		high *= 2
	}
	for range 25 {
		ratio := (low + high) / 2
		if sum := at(ratio); sum == s.capacity {
			high = ratio
			break
		} else if sum < s.capacity {
			low = ratio
		} else {
			high = ratio
		}
	}
	at(high)
	return shares
}
