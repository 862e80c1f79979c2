// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/bench/solvers/rules"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// like returns a job of so many members like an ask.
func like(ask *victims.Ask, members int) victims.Ask {
	job := victims.Ask{Key: "job", Application: ask.Application, Queue: ask.Queue, Priority: ask.Priority, PendingSince: ask.PendingSince}
	for i := range members {
		job.Members = append(job.Members, victims.Member{Key: fmt.Sprint("job-", i), Size: ask.Size})
	}
	return job
}

// comparedInTurn are the levels of which the costs of single plans make up that of all: the
// sums and the highest values. Own costs are left out, for no family has them.
func comparedInTurn(c *victims.Cost) rules.Levels {
	return rules.Levels{int64(c.OptedOut), c.Overrun, int64(c.Originators), c.MaxRank, c.MaxPriority, int64(c.Jobs), 0, int64(c.Victims), c.SumRanks, c.SumPriorities}
}

// A turn is what members asked one after another, each plan applied, came to.
type turn struct {
	levels rules.Levels
	took   time.Duration
	all    bool // every one has a place
}

// askInTurn asks as often as a job has members. It changes the cluster.
func askInTurn(s *workload.Subject, members int) (t turn, err error) {
	start := cpu()
	first := true
	for i := range members {
		s.Ask.Key = fmt.Sprint("in-turn-", i)
		s.Decide()
		switch s.Decision.Outcome {
		case victims.Preempts:
			for l, v := range comparedInTurn(&s.Decision.Plan.Cost) {
				switch {
				case l != rules.Rank && l != rules.Priority:
					t.levels[l] += v
				case first:
					t.levels[l] = v
				default:
					t.levels[l] = max(t.levels[l], v)
				}
			}
			first = false
		case victims.Fits:
		default:
			t.took = cpu() - start
			return t, nil
		}
		if err := s.Planner.Cluster.Apply(&s.Decision); err != nil {
			return t, err
		}
	}
	t.took, t.all = cpu()-start, true
	return t, nil
}

// bothWays decides a job in a cluster of its own, and asks its members in turn.
func bothWays(h workload.Hard, k int64, members int, steps int64) (d victims.Decision, took time.Duration, t turn, err error) {
	c := h.Build()
	s := h.Subject(c, k)
	planner := jobs.Planner{Cluster: c, Options: victims.Options{Filter: s.Planner.Filter, Steps: steps}}
	job := like(&s.Ask, members)
	if d, took, err = decide(&planner, &job); err != nil {
		return d, took, t, err
	}
	t, err = askInTurn(s, members)
	return d, took, t, err
}

// inTurnFamilies are loads, each with one difficulty.
var inTurnFamilies = []struct {
	name string
	hard workload.Hard
}{
	{"random", workload.Hard{}},
	{"shapes", workload.Hard{Shapes: 12}},
	{"types1", workload.Hard{Types: 1}},
	{"types8", workload.Hard{Types: 8}},
	{"opted", workload.Hard{OptOuts: 60}},
	{"prio", workload.Hard{Priorities: 10}},
	{"gangs", workload.Hard{Gangs: 4}},
	{"budgets", workload.Hard{Budgets: 6}},
	{"head", workload.Hard{Levels: 2}},
	{"zones", workload.Hard{Labels: 4}},
	{"all", workload.Hard{OptOuts: 30, Priorities: 5, Gangs: 3, Budgets: 8}},
}

// A tally is of one family: jobs beside their members in turn.
type tally struct {
	both, dearer, equal, cheaper, missed int
	victims, opted                       [2]int64
	took                                 [2]time.Duration
	worst                                time.Duration
	first                                map[string]int // the first level in which a dearer job is so
}

// inTurn compares jobs of 2 to 16 members with the same members asked in turn.
func (p *program) inTurn() error {
	nodes := p.size.Nodes
	if nodes == 0 {
		nodes = 200
	}
	for _, f := range inTurnFamilies {
		if !p.family.MatchString(f.name) {
			continue
		}
		t := tally{first: make(map[string]int)}
		for i := p.from; i < p.from+p.n; i++ {
			r := rand.New(rand.NewPCG(uint64(i), 99))
			h := f.hard
			h.Nodes, h.Tasks, h.Seed = nodes, []int{10, 30}[r.IntN(2)], r.Uint64()
			k := []int64{2, 4, 10}[r.IntN(3)]
			members := []int{2, 3, 4, 8, 16}[r.IntN(5)]
			missed, err := t.add(h, k, members, p.steps)
			if err != nil {
				return fmt.Errorf("%s#%d: %w", f.name, i, err)
			}
			if missed {
				p.print("  missed: %s %v k=%d members=%d\n", f.name, h, k, members)
			}
		}
		p.print("%-8s %d nodes: %d with both; job dearer %d %v, equal %d, cheaper %d, missed %d; victims %d : %d, opted %d : %d; ms mean %.1f : %.1f, worst job %v\n",
			f.name, nodes, t.both, t.dearer, t.first, t.equal, t.cheaper, t.missed, t.victims[0], t.victims[1], t.opted[0], t.opted[1],
			milliseconds(t.took[0])/float64(p.n), milliseconds(t.took[1])/float64(p.n), t.worst.Round(time.Millisecond))
	}
	return nil
}

// add decides one draw both ways. It reports a job that has no plan, though in turn all do.
func (t *tally) add(h workload.Hard, k int64, members int, steps int64) (missed bool, err error) {
	d, took, turn, err := bothWays(h, k, members, steps)
	if err != nil {
		return false, err
	}
	t.took[0] += took
	t.took[1] += turn.took
	t.worst = max(t.worst, took)
	if !turn.all {
		return false, nil
	}
	t.both++
	if d.Outcome == victims.Refused {
		t.missed++
		return true, nil
	}
	if d.Outcome != victims.Preempts {
		return false, nil
	}
	whole := comparedInTurn(&d.Plan.Cost)
	for l := range whole {
		if whole[l] > turn.levels[l] {
			t.first[rules.LevelNames[l]]++
		}
		if whole[l] != turn.levels[l] {
			break
		}
	}
	switch n := whole.Compare(&turn.levels); {
	case n > 0:
		t.dearer++
	case n < 0:
		t.cheaper++
	default:
		t.equal++
	}
	for i, l := range []*rules.Levels{&whole, &turn.levels} {
		t.victims[i] += l[rules.Count]
		t.opted[i] += l[rules.OptedOut]
	}
	return false, nil
}

// bySize compares jobs with their members in turn in clusters of one family and many sizes.
func (p *program) bySize() error {
	if len(p.sizes) == 0 {
		return fmt.Errorf("-mode sizes wants numbers of nodes")
	}
	for _, text := range p.sizes {
		nodes, err := strconv.Atoi(text)
		if err != nil || nodes < 1 {
			return fmt.Errorf("%q is no number of nodes", text)
		}
		for _, k := range []int64{10, 20} {
			for _, shapes := range []int{0, 30} {
				h := workload.Hard{Nodes: nodes, Tasks: 30, Shapes: shapes, Seed: 11}
				for _, members := range []int{2, 4, 8, 16} {
					if err := p.oneSize(h, k, members); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (p *program) oneSize(h workload.Hard, k int64, members int) error {
	d, took, turn, err := bothWays(h, k, members, p.steps)
	if err != nil {
		return err
	}
	note := ""
	if !turn.all {
		note = ", not all have a place"
	}
	p.print("%6d nodes k=%d shapes %2d, %2d members: job %v victims %d %v | asks in turn %v victims %d%s\n",
		h.Nodes, k, h.Shapes, members, took.Round(time.Millisecond), len(d.Plan.Victims), d.Plan.Proof, turn.took.Round(time.Millisecond), turn.levels[rules.Count], note)
	return nil
}
