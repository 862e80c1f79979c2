// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// A family is hard loads that have something in common. It changes a draw, which
// is of random sizes and asks for 4, 10 or 20 tasks of mean size.
type family struct {
	name   string
	change func(d *draw, random *rand.Rand)
}

// A draw is a load, and an ask for k tasks of mean size.
type draw struct {
	workload.Hard
	k     int64
	every int // if it is positive, one node in so many passes the filter
}

// families are what the line for any load is held to.
var families = []family{
	{"random sizes", func(*draw, *rand.Rand) {}},
	{"8 types", func(d *draw, _ *rand.Rand) { d.Types = 8 }},
	{"16 types", func(d *draw, _ *rand.Rand) { d.Types = 16 }},
	{"32 types", func(d *draw, _ *rand.Rand) { d.Types = 32 }},
	{"2 to 100 shapes", func(d *draw, r *rand.Rand) { d.Shapes = 2 + r.IntN(99) }},
	{"headroom short, shapes", func(d *draw, r *rand.Rand) { d.Levels, d.Shapes = 1+r.IntN(3), 2+r.IntN(30) }},
	{"headroom short, random sizes", func(d *draw, r *rand.Rand) { d.Levels = 1 + r.IntN(3) }},
	{"huge nodes", func(d *draw, r *rand.Rand) {
		tasks := d.Nodes * d.Tasks
		d.Nodes = max(1, d.Nodes/of(r, 10, 100, d.Nodes))
		d.Tasks = tasks / d.Nodes
	}},
	{"opted out and originators", func(d *draw, r *rand.Rand) { d.OptOuts, d.Priorities = 10+r.IntN(81), 1+r.IntN(20) }},
	{"priorities", func(d *draw, r *rand.Rand) { d.Priorities = 2 + r.IntN(19) }},
	{"gangs", func(d *draw, r *rand.Rand) { d.Gangs, d.Shapes = 2+r.IntN(8), of(r, 0, 10) }},
	{"budgets", func(d *draw, r *rand.Rand) { d.Budgets, d.Shapes = 2+r.IntN(10), of(r, 0, 10) }},
	{"own costs", func(d *draw, r *rand.Rand) { d.OwnCosts, d.Shapes = true, of(r, 0, 10) }},
	{"filters", func(d *draw, r *rand.Rand) { d.every = of(r, 3, 10, 1000) }},
	{"all together", func(d *draw, r *rand.Rand) {
		d.Types, d.Shapes, d.Levels = of(r, 2, 4, 8), of(r, 0, 3, 10, 100), of(r, 0, 0, 1, 2, 3)
		d.OptOuts, d.Priorities = of(r, 0, 0, 50, 90), of(r, 1, 3, 20)
		d.Gangs, d.Budgets, d.OwnCosts = of(r, 0, 0, 4), of(r, 0, 0, 5), of(r, 0, 0, 1) == 1
	}},
}

// of returns one of some numbers.
func of(r *rand.Rand, list ...int) int { return list[r.IntN(len(list))] }

// mostOnNode is how many tasks a node of a random size has at most.
const mostOnNode = 20_000

// logUniform returns a number from 1 to the most; small ones are as likely as large ones.
func logUniform(r *rand.Rand, most int) int {
	return min(int(math.Exp(r.Float64()*math.Log(float64(most)+1))), most)
}

// The line that no load is to pass: so many times the floor, or so many nanoseconds if
// that is more.
const (
	lineFloors = 100
	lineNanos  = 50e6
)

// A survey is what was found out about a family.
type survey struct {
	draws, plans, levels, cost, beyond int
	ratios                             []float64
	worst                              float64 // in nanoseconds
	against                            thorough
}

// thorough is how decisions compare with those of a hundredfold budget.
type thorough struct{ missed, oneMore, more, levels int }

// surveys draws loads and prints a table: how long decisions take beside the
// floor, which of them pass the line, and how much is proven.
func (r *report) surveys(w io.Writer, draws int) {
	fmt.Fprintln(w, "| family | draws | plans | levels proven | cost proven | median, × floor | worst, × floor | slowest | beyond the line | thorough: levels | plans missed | one victim more | more |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for i, f := range families {
		n := draws / len(families)
		if i < draws%len(families) {
			n++
		}
		s := r.survey(i, n)
		if s.draws == 0 {
			continue
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %s | %s | %s | %d | %d | %d | %d | %d |\n",
			f.name, s.draws, s.plans, s.levels, s.cost, number(median(s.ratios)), number(slices.Max(s.ratios)), duration(s.worst), s.beyond,
			s.against.levels, s.against.missed, s.against.oneMore, s.against.more)
	}
}

// survey decides some draws of a family. They are the same every time.
func (r *report) survey(which, draws int) (s survey) {
	random := rand.New(rand.NewPCG(uint64(which), 1))
	for range draws {
		r.decideDraw(&s, r.draw(which, random))
	}
	return s
}

// draw returns the next draw of a family.
func (r *report) draw(which int, random *rand.Rand) *draw {
	d := draw{Hard: workload.Hard{Nodes: r.small, Tasks: r.tasks, Seed: random.Uint64()}, k: int64(of(random, 4, 10, 20))}
	if r.sizes {
		d.Nodes = logUniform(random, r.big)
		d.Tasks = logUniform(random, min(r.big*r.tasks/d.Nodes, mostOnNode))
		d.k = int64(logUniform(random, 2*d.Tasks))
	}
	families[which].change(&d, random)
	return &d
}

// answers decides draws without measuring time, and prints a line for each: what was
// decided, what it costs level by level, and in how many steps. So two versions of
// the library can be compared line by line.
func (r *report) answers(w io.Writer, draws int) {
	for i := range draws {
		which := i % len(families)
		// Each draw has numbers of its own, so that a few are the first of many.
		random := rand.New(rand.NewPCG(uint64(which), uint64(2+i/len(families))))
		d := draw{Hard: workload.Hard{Nodes: of(random, r.small, r.small, r.small/5), Tasks: r.tasks, Seed: random.Uint64()}, k: int64(of(random, 4, 10, 20))}
		families[which].change(&d, random)
		subject := d.subject(d.Build())
		subject.Decide()
		dec := &subject.Decision
		fmt.Fprintf(w, "%s/%d\t%v", families[which].name, i/len(families), dec.Outcome)
		if dec.Outcome == victims.Preempts {
			c := &dec.Plan.Cost
			fmt.Fprintf(w, "\t%v\tsteps %d\t[%d %d %d %d %d %d %v %d %d %d]\texcess %v work %v\n", dec.Plan.Proof, dec.Plan.Steps,
				c.OptedOut, c.Overrun, c.Originators, c.MaxRank, c.MaxPriority, c.Jobs, c.Own, c.Victims, c.SumRanks, c.SumPriorities, c.Excess, c.Work)
			continue
		}
		fmt.Fprintf(w, "\tproven %v\tsteps %d\n", dec.Refusal.Proven, dec.Plan.Steps)
	}
}

// decideDraw measures one draw.
func (r *report) decideDraw(s *survey, d *draw) {
	c := d.Build()
	subject := d.subject(c)
	times := r.clock.times(workload.NewFloor(c).Pass, subject.Decide)
	types := float64(max(d.Types, 4))
	nanos := slices.Min(times[1])
	ratio := nanos / slices.Min(times[0])
	s.draws++
	s.ratios, s.worst = append(s.ratios, ratio), max(s.worst, nanos)
	if ratio > lineFloors && nanos > lineNanos {
		s.beyond++
		if r.sizes {
			fmt.Fprintf(os.Stderr, "%v/k=%d: %s × floor, %s\n", d.Hard, d.k, number(ratio), duration(nanos))
		}
	}
	if r.sizes {
		d.checkSteps(s, subject, c)
	}
	proof := subject.Decision.Plan.Proof
	if subject.Decision.Outcome == victims.Preempts {
		s.plans++
	} else if subject.Decision.Refusal.Proven {
		proof = victims.ProofCost
	}
	if proof >= victims.ProofLevels {
		s.levels++
	}
	if proof >= victims.ProofCost {
		s.cost++
	}
	if r.sizes {
		return // a large cluster takes too long a hundred times over
	}
	more := subject
	if proof < victims.ProofLevels { // else no steps find less
		more = d.subject(c)
		more.Planner.Steps = 100 * max(3<<20, 8*int64(c.TaskLen())*int64(types))
		more.Decide()
	}
	s.against.compare(&subject.Decision, &more.Decision)
}

// checkSteps counts a decision that takes more than twice its budget.
func (d *draw) checkSteps(s *survey, decided *workload.Subject, c *victims.Cluster) {
	steps := decided.Decision.Plan.Steps
	if budget := lent.To(new(victims.Options)).DefaultSteps(c); steps > 2*budget {
		s.beyond++
		fmt.Fprintf(os.Stderr, "%v/k=%d: %d steps of %d\n", d.Hard, d.k, steps, budget)
	}
}

// subject returns the decision about the draw.
func (d *draw) subject(c *victims.Cluster) *workload.Subject {
	s := d.Subject(c, d.k)
	if d.every > 0 {
		s.Planner.Filter = func(q *victims.Question) bool { return int(q.Node-1)%d.every == 0 }
	}
	return s
}

// compare notes how a decision compares with one of a larger budget.
func (t *thorough) compare(some, all *victims.Decision) {
	if all.Outcome != victims.Preempts {
		return
	}
	if all.Plan.Proof >= victims.ProofLevels {
		t.levels++
	}
	switch more := len(some.Plan.Victims) - len(all.Plan.Victims); {
	case some.Outcome != victims.Preempts:
		t.missed++
	case more == 1:
		t.oneMore++
	case more > 1:
		t.more++
	}
}
