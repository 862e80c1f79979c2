// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// A rule that says nothing changes nothing, and two ways to say one thing come
// to one decision. These properties need no second planner to compare with, so
// they hold worlds of any size, and every engine.

// same is two ways to say one thing: what the second does to a case or a planner.
type same struct {
	name     string
	features world.Features
	second   func(h *harness)
	sizes    bool // decisions are the same in large worlds, too
}

func TestSame(t *testing.T) {
	for _, x := range []same{
		{"a filter that lets all", 0, func(h *harness) {
			h.planner.Filter = func(*victims.Question) bool { return true }
		}, true},
		{"no filter", 0, func(h *harness) { h.planner.Filter = nil }, true},
		{"one class for each member", world.WithLabels, (*harness).classEach, false},
		{"classes by other numbers", world.WithLabels, (*harness).renumber, true},
		{"a predicate that accepts all", everything, func(h *harness) {
			h.planner.Predicate = func(*victims.Question) bool { return true }
		}, true},
		{"exemptions that have ended", world.WithOwnLeaf, func(h *harness) {
			before := h.planner.Exempt
			h.planner.Exempt = func(e *victims.Question) (time.Time, bool) {
				if until, exempt := before(e); exempt {
					return until, true
				}
				return e.Now, true
			}
		}, true},
		{"budgets that nobody could use up", everything &^ world.WithBudgets, func(h *harness) {
			h.c.World.Budgets = map[string]world.Budget{"a": {Left: math.MaxInt64}, "b": {Left: math.MaxInt64, Hard: true}}
			for i := range h.c.World.Tasks {
				h.c.World.Tasks[i].Budgets = []string{"a", "b"}[:i%3]
			}
			h.rebuild()
		}, false},
		{"own costs of nobody who may go", world.WithRanks, func(h *harness) {
			for i := range h.c.World.Tasks {
				if v := &h.c.World.Tasks[i]; v.State != world.Running || v.RequiredNode || v.NonPreemptible {
					v.Cost = math.MaxInt64
				}
			}
			h.rebuild()
		}, true},
		{"domains that are not asked for", everything &^ world.WithDomains, func(h *harness) {
			for i := range h.c.World.Nodes {
				h.c.World.Nodes[i].Domains = []string{"d", h.c.World.Nodes[i].Name}
			}
			h.rebuild()
		}, true},
		{"the own leaf without tasks in it", world.WithCosts | world.WithRanks, func(h *harness) {
			for i := range h.c.World.Tasks {
				if h.c.World.Tasks[i].Queue == h.c.Job.Queue {
					return
				}
			}
			if r := h.d.Refusal.Reason; r == "over-max" || r == "headroom-inside" {
				return // these refuse nothing with the option, whoever is there
			}
			// Law 2 lets queues of the path end lower with the option, whoever goes: by priority
			// in its one stage, else if there is no plan without. It may keep who is exempt now
			// later, so that the end of an exemption is a time to ask again with the option only.
			if h.planner.ByPriority || slices.ContainsFunc(h.d.Refusal.Counts, func(n victims.Count) bool { return n.Rule == "guarantee" || n.Rule == "exempt" }) {
				return
			}
			h.planner.WithinQueue = queue.Met
		}, true},
		{"minimums of jobs that do not run", everything, func(h *harness) {
			h.c.Minimums = maps.Clone(h.c.Minimums)
			if h.c.Minimums == nil {
				h.c.Minimums = map[string]int{}
			}
			h.c.Minimums["nobody"], h.c.Minimums[h.c.Job.Name] = 7, 7
		}, true},
		{"quotas that bound nothing", world.WithGrants, (*harness).boundNothing, true},
		{"in used memory", everything, func(h *harness) {}, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { x.check(t, world.Small) })
			if x.sizes {
				rapid.Check(t, func(t *rapid.T) { x.check(t, world.Large) })
			}
		})
	}
}

func (x *same) check(t *rapid.T, shape world.Shape) {
	h := newHarness(t, world.JobCases(shape.With(x.features)).Draw(t, "case"))
	h.decide("first")
	first, cost, proof := h.said(), h.d.Plan.Cost, h.d.Plan.Proof
	refused := h.d.Refusal
	refused.Counts = slices.Clone(refused.Counts) // whose memory the next decision has
	x.second(h)
	h.decide("second")
	if got := h.said(); got != first || h.d.Plan.Proof != proof && h.planner.Predicate == nil {
		t.Fatalf("%s (%v), and %s (%v)\n%v", first, proof, got, h.d.Plan.Proof, h.c)
	}
	if h.d.Plan.Cost.Compare(&cost) != 0 {
		t.Fatalf("%s costs %v, and %v\n%v", first, &cost, &h.d.Plan.Cost, h.c)
	}
	if got := h.d.Refusal; !slices.Equal(got.Counts, refused.Counts) || got.Placeable != refused.Placeable || !got.RetryAt.Equal(refused.RetryAt) {
		t.Fatalf("%s: %v, and %v\n%v", first, refused, got, h.c)
	}
}

// classEach gives every member a class of its own, about which the filter says
// what it said of the one before.
func (h *harness) classEach() {
	was := make([]int, len(h.job.Members))
	for i := range h.job.Members {
		was[i], h.job.Members[i].Class = h.job.Members[i].Class, i
	}
	before := h.planner.Filter
	h.planner.Filter = func(q *victims.Question) bool {
		m := *q.Member
		m.Class = was[m.Class]
		return before(&victims.Question{Ask: q.Ask, Member: &m, Node: q.Node})
	}
}

// renumber gives classes numbers of another kind, in the same order.
func (h *harness) renumber() {
	for i := range h.job.Members {
		h.job.Members[i].Class = h.job.Members[i].Class*1000 - 1<<20
	}
	before := h.planner.Filter
	h.planner.Filter = func(q *victims.Question) bool {
		m := *q.Member
		m.Class = (m.Class + 1<<20) / 1000
		return before(&victims.Question{Ask: q.Ask, Member: &m, Node: q.Node})
	}
}

// boundNothing gives queues without a quota one that is as large as can be, if
// the job is preemptible: what is not needs a min.
func (h *harness) boundNothing() {
	if h.job.NonPreemptible {
		return
	}
	for q := queue.Root + 1; int(q) < h.cluster.Tree().Len(); q++ {
		if path := h.cluster.Tree().Path(q); h.quotas[path] == nil {
			h.quotas[path] = &koordinator.ElasticQuota{}
		}
	}
}

// A node that the filter refuses to everybody is one that takes no new tasks,
// but for what is counted.
func TestFilter_IsLikeUnschedulable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHarness(t, world.JobCases(world.Small.With(everything&^world.WithLabels)).Draw(t, "case"))
		i := rapid.IntRange(0, len(h.c.World.Nodes)-1).Draw(t, "node")
		closed := h.c.World.Nodes[i].Name
		h.planner.Filter = func(q *victims.Question) bool { return h.cluster.NodeName(q.Node) != closed }
		h.decide("filtered")
		first, proof := h.said(), h.d.Plan.Proof
		h.c.World.Nodes[i].Unschedulable = true
		h.rebuild()
		h.decide("unschedulable")
		if got := h.said(); got != first && proof == victims.ProofCost && h.d.Plan.Proof == victims.ProofCost {
			t.Fatalf("%s: %s, and unschedulable: %s\n%v", closed, first, got, h.c)
		}
	})
}

// Who is in a hard budget with nothing left might as well be exempt for ever, if
// no job goes as a whole.
func TestBudget_SpentIsLikeExempt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.JobCases(world.Small.With(everything&^world.WithBudgets)).Draw(t, "case")
		c.Minimums = nil
		c.World.Budgets = map[string]world.Budget{"web": {Hard: true}}
		exempt := maps.Clone(c.Options.Exempt)
		if exempt == nil {
			exempt = map[string]time.Time{}
		}
		for i := range c.World.Tasks {
			v := &c.World.Tasks[i]
			if v.Budgets = nil; rapid.IntRange(0, 2).Draw(t, "in a budget") == 0 {
				v.Budgets = []string{"web"}
				exempt[v.Key] = time.Time{}
			}
		}
		h := newHarness(t, c)
		h.decide("spent")
		first, refused := h.said(), h.d.Outcome == victims.Refused
		c.Options.Exempt = exempt
		h.decide("exempt")
		if refused && h.d.Outcome == victims.Refused {
			return // for reasons that may differ: a budget is asked later
		}
		if got := h.said(); got != first {
			t.Fatalf("%s, and exempt: %s\n%v", first, got, c)
		}
	})
}

// A rank that all nodes have more costs all plans as much.
func TestNodeRank_Shift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.JobCases(world.Small.With(everything)).Draw(t, "case")
		for i := range c.World.Nodes {
			c.World.Nodes[i].Rank = rapid.Int64Range(-3, 3).Draw(t, "rank")
		}
		h := newHarness(t, c)
		h.decide("before")
		first, rank := h.said(), h.d.Plan.Cost.NodePenalty
		members, _ := h.places()
		more := rapid.SampledFrom([]int64{1, -1, 1 << 40, -1 << 40}).Draw(t, "more")
		for i := range c.World.Nodes {
			c.World.Nodes[i].Rank += more
		}
		h.rebuild()
		h.decide("after")
		if got := h.said(); got != first {
			t.Fatalf("%s, and with %d more %s\n%v", first, more, got, c)
		}
		if h.d.Outcome == victims.Preempts && h.d.Plan.Cost.NodePenalty != rank+more*int64(len(members)) {
			t.Fatalf("rank %d, and %d with %d more for %d members\n%v", rank, h.d.Plan.Cost.NodePenalty, more, len(members), c)
		}
	})
}

// Own costs in another currency are the same costs.
func TestOwnCost_Scale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.JobCases(world.Small.With(everything)).Draw(t, "case")
		for i := range c.World.Tasks {
			c.World.Tasks[i].Cost = rapid.Int64Range(0, 4).Draw(t, "cost")
		}
		h := newHarness(t, c)
		h.decide("before")
		first := h.said()
		by := rapid.SampledFrom([]int64{2, 10, 1 << 58}).Draw(t, "by") // the largest needs more than 64 bits in sum
		for i := range c.World.Tasks {
			c.World.Tasks[i].Cost *= by
		}
		h.rebuild()
		h.decide("after")
		if got := h.said(); got != first {
			t.Fatalf("%s, and times %d: %s\n%v", first, by, got, c)
		}
	})
}

// If all nodes are in one domain, requiring it changes neither the outcome nor
// what it costs.
func TestDomain_OfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.JobCases(world.Small.With(everything&^world.WithDomains)).Draw(t, "case")
		for i := range c.World.Nodes {
			c.World.Nodes[i].Domains = []string{"hall"}
		}
		h := newHarness(t, c)
		h.decide("anywhere")
		first, cost, proof := h.said(), h.d.Plan.Cost, h.d.Plan.Proof
		c.Job.Domain = 1
		h.rebuild()
		h.decide("in the hall")
		if proof == victims.ProofCost && h.d.Plan.Proof == victims.ProofCost && (h.said() != first || h.d.Plan.Cost.Compare(&cost) != 0) {
			t.Fatalf("%s for %v, and in one domain %s for %v\n%v", first, &cost, h.said(), &h.d.Plan.Cost, c)
		}
	})
}

// A job that has a plan without its own leaf has one if its own leaf may give:
// what is lawful then is lawful still.
func TestOwnLeaf_GivesMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.JobCases(world.Small.With(everything)).Draw(t, "case")
		c.SetOwnLeaf("")
		h := newHarness(t, c)
		var before victims.Outcome
		for _, own := range []queue.WithinQueue{queue.Never, queue.Met, queue.Branch} {
			h.planner.WithinQueue = own
			h.decide("own leaf")
			if own == queue.Never {
				before = h.d.Outcome
			} else if h.d.Outcome > before {
				t.Fatalf("%v without its own leaf, and %s with %v\n%v", before, h.said(), own, h.c)
			}
		}
	})
}

// Of a job that needs nobody any more, members go one by one.
func TestMinimum_Zero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHarness(t, world.JobCases(world.Small.With(everything)).Draw(t, "case"))
		h.c.Minimums = nil
		h.rebuild()
		h.decide("no minimums")
		first := h.said()
		world.SetEveryMinimum(h.cluster, func(string) int { return 2 })
		world.SetEveryMinimum(h.cluster, func(string) int { return 0 })
		h.decide("minimums of 0")
		if got := h.said(); got != first {
			t.Fatalf("%s, and with minimums of 0 %s\n%v", first, got, h.c)
		}
	})
}
