// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/judge/alike"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// Losses has the fields (a) to (h) of DESIGN.md, Cost, in their order, and the keys: what victims cost whoever
// takes them.
type Losses struct {
	OptedOut      int
	Overrun       int64 // of soft budgets
	Originators   int
	MaxRank       int64
	MaxPriority   int64
	Jobs          int      // stopped, for they end below their minimum
	Own           *big.Int // the victims' own costs
	Preemptions   int64    // of the victims before, if that counts
	Victims       int
	SumRanks      int64
	SumPriorities int64
	Work          *big.Int // nanoseconds by weight
	Excess        *big.Rat // a share of the cluster's capacity
	Keys          []string // sorted
}

type level struct {
	word    string
	off     bool
	compare func(c, d *Losses) int
}

// levels are those of DESIGN.md, Cost, by their words and in their order: what of two losses is less. Those that
// are off count only if they are named.
var levels = []level{
	{word: "opted-out", compare: func(c, d *Losses) int { return cmp.Compare(c.OptedOut, d.OptedOut) }},
	{word: "overrun", compare: func(c, d *Losses) int { return cmp.Compare(c.Overrun, d.Overrun) }},
	{word: "originators", compare: func(c, d *Losses) int { return cmp.Compare(c.Originators, d.Originators) }},
	{word: "rank", compare: func(c, d *Losses) int { return cmp.Compare(c.MaxRank, d.MaxRank) }},
	{word: "priority", compare: func(c, d *Losses) int { return cmp.Compare(c.MaxPriority, d.MaxPriority) }},
	{word: "jobs", compare: func(c, d *Losses) int { return cmp.Compare(c.Jobs, d.Jobs) }},
	{word: "own-cost", compare: func(c, d *Losses) int { return c.Own.Cmp(d.Own) }},
	{word: "preemptions", off: true, compare: func(c, d *Losses) int { return cmp.Compare(c.Preemptions, d.Preemptions) }},
	{word: "victims", compare: func(c, d *Losses) int { return cmp.Compare(c.Victims, d.Victims) }},
	{word: "sum-ranks", compare: func(c, d *Losses) int {
		return cmp.Or(cmp.Compare(c.Victims, d.Victims), cmp.Compare(c.SumRanks, d.SumRanks))
	}},
	{word: "sum-priorities", compare: func(c, d *Losses) int {
		return cmp.Or(cmp.Compare(c.Victims, d.Victims), cmp.Compare(c.SumPriorities, d.SumPriorities))
	}},
	{word: "work", compare: func(c, d *Losses) int { return c.Work.Cmp(d.Work) }},
	{word: "excess", compare: func(c, d *Losses) int { return c.Excess.Cmp(d.Excess) }},
}

// byDefault has the words of the levels that count if nobody says otherwise.
var byDefault = func() (words []string) {
	for _, l := range levels {
		if !l.off {
			words = append(words, l.word)
		}
	}
	return words
}()

// compareBy orders losses by levels, named by their words and the most important first; nil is the order of
// DESIGN.md. The number of victims counts whatever is named: before the first sum over victims, and in the end.
func (c *Losses) compareBy(words []string, d *Losses) (order int) {
	if len(words) == 0 {
		words = byDefault
	}
	for _, word := range words {
		at := slices.IndexFunc(levels, func(l level) bool { return l.word == word })
		if at < 0 {
			panic("oracle: no level " + word)
		}
		order = cmp.Or(order, levels[at].compare(c, d))
	}
	return cmp.Or(order, cmp.Compare(c.Victims, d.Victims))
}

// LossesOf returns what a planner or an auditor says of losses, without keys.
func LossesOf(c *victims.Cost) (l Losses) {
	asLosses(&l, c)
	l.Own, _ = new(big.Int).SetString(c.Own.String(), 10)
	l.Work, _ = new(big.Int).SetString(c.Work.String(), 10)
	l.Excess = big.NewRat(c.Excess.Amount, max(c.Excess.Of, 1))
	return l
}

var asLosses = alike.Copier[Losses, victims.Cost]()

// A Cost is that of a plan for an ask.
type Cost struct {
	Losses
	NodePenalty int64
	Node        int // the place in node order
}

// CostOf returns the cost of victims for a place of the ask on a node. Keys
// must be of tasks and the node must be known.
func CostOf(c *world.Case, node string, victims []string) Cost {
	j := newJudge(&c.World, &c.Ask, &c.Options)
	var tasks []*world.Task
	for _, key := range victims {
		tasks = append(tasks, j.tasks[key])
	}
	return j.cost(node, tasks)
}

// cost returns the cost of a set of victims for a place on a node.
func (j *judge) cost(node string, victims []*world.Task) Cost {
	c := Cost{Losses: j.costOf(victims)}
	c.Excess = j.beyond(j.needed(node), victims)
	c.Node = slices.IndexFunc(j.w.Nodes, func(n world.Node) bool { return n.Name == node })
	c.NodePenalty = j.w.Nodes[c.Node].Rank
	return c
}

// costOf returns the parts of a cost that are of the victims alone, wherever the
// place is.
func (j *judge) costOf(victims []*world.Task) Losses {
	c := Losses{Victims: len(victims), Work: new(big.Int), Own: new(big.Int), Keys: keysOf(victims)}
	for name, b := range j.w.Budgets {
		if !b.Hard {
			c.Overrun += overrun(b, taken(victims, name))
		}
	}
	for _, job := range j.jobsOf(victims) {
		if j.stops(job, victims) {
			c.Jobs++
		}
	}
	for i, v := range victims {
		rank, priority := j.rank(v), int64(v.Priority)
		if v.OptedOut {
			c.OptedOut++
		}
		if v.Originator {
			c.Originators++
		}
		if i == 0 || rank > c.MaxRank {
			c.MaxRank = rank
		}
		if i == 0 || priority > c.MaxPriority {
			c.MaxPriority = priority
		}
		c.SumRanks += rank
		c.SumPriorities += priority
		if slices.Contains(j.o.Levels, "preemptions") {
			c.Preemptions += int64(v.Preemptions)
		}
		c.Own.Add(c.Own, big.NewInt(v.Cost))
		c.Work.Add(c.Work, j.work(v))
	}
	return c
}

// work is what stopping a task loses: time by weight.
func (j *judge) work(t *world.Task) *big.Int {
	weight, known := j.weights[t]
	if !known {
		weight = j.weight(t)
		j.weights[t] = weight
	}
	work := big.NewInt(int64(lost(t, j.o.Now)))
	return work.Mul(work, weight)
}

// weight is how much of the cluster a task is: the largest over its types of the share of
// the capacity of all nodes, in billionths and rounded up, at least 1.
func (j *judge) weight(t *world.Task) *big.Int {
	most := big.NewInt(1)
	for name, v := range t.Size {
		capacity := j.capacity[name]
		if capacity == 0 {
			continue
		}
		share := new(big.Int).Mul(big.NewInt(v), big.NewInt(1_000_000_000))
		share.Add(share, big.NewInt(capacity-1))
		if share.Div(share, big.NewInt(capacity)); share.Cmp(most) > 0 {
			most = share
		}
	}
	if limit := big.NewInt(math.MaxInt64); most.Cmp(limit) > 0 {
		return limit
	}
	return most
}

// lost is the time that stopping a task loses: the time since it was scheduled,
// or since its last checkpoint if that is later.
func lost(t *world.Task, now time.Time) time.Duration {
	since := t.Scheduled
	if t.Checkpoint.After(since) {
		since = t.Checkpoint
	}
	if t.Scheduled.IsZero() || since.After(now) {
		return 0
	}
	return now.Sub(since)
}

// needed returns for each type the larger of the node's need and every headroom
// need; types that are not needed are absent.
func (j *judge) needed(node string) world.Amounts {
	needed := j.nodeNeed(node)
	for _, q := range j.path {
		for t, short := range j.headroomNeed(q) {
			needed[t] = max(needed[t], short)
		}
	}
	return needed
}

// beyond returns the largest share, over all types, of the capacity of all
// nodes that is freed beyond what is needed.
func (j *judge) beyond(needed world.Amounts, victims []*world.Task) *big.Rat {
	beyond := make(world.Amounts)
	for _, t := range j.w.Types {
		for _, v := range victims {
			beyond[t] += v.Size[t]
		}
		beyond[t] = max(beyond[t]-needed[t], 0)
	}
	return j.dominantShare(beyond)
}

// dominantShare returns the largest share of the capacity of all nodes that the
// amounts have; a type without capacity counts as a capacity of 1.
func (j *judge) dominantShare(amounts world.Amounts) *big.Rat {
	most := new(big.Rat)
	for t, v := range amounts {
		if share := big.NewRat(v, max(j.capacity[t], 1)); share.Cmp(most) > 0 {
			most = share
		}
	}
	return most
}
