// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The line that no decision with moves is to pass: so many times the decision without, or
// lineNanos if that is more.
const movesTimes = 10

// A movesFamily is loads in which tasks may move.
type movesFamily struct {
	name   string
	change func(d *movesDraw, random *rand.Rand)
}

// A movesDraw is a load with room on some nodes, and an ask or a job.
type movesDraw struct {
	draw
	roomy     int  // of so many nodes one has half of its tasks
	protected bool // each queue is guaranteed what it uses
	members   int  // of a job; 0: it is an ask
}

var movesFamilies = []movesFamily{
	{"moves: others may stop", func(*movesDraw, *rand.Rand) {}},
	{"moves: all are protected", func(d *movesDraw, _ *rand.Rand) { d.protected = true }},
	{"moves: shapes", func(d *movesDraw, r *rand.Rand) { d.protected, d.Shapes = true, 2+r.IntN(30) }},
	{"moves: headroom short", func(d *movesDraw, r *rand.Rand) { d.Levels = 1 + r.IntN(2) }},
	{"moves: gangs", func(d *movesDraw, r *rand.Rand) { d.protected, d.Gangs = r.IntN(2) == 0, 2+r.IntN(8) }},
	{"moves: huge nodes", func(d *movesDraw, r *rand.Rand) {
		d.protected = r.IntN(2) == 0
		d.Nodes, d.Tasks = 2+r.IntN(2), logUniform(r, mostMovesOnNode)
		d.k = int64(logUniform(r, 2*d.Tasks))
	}},
	{"moves: jobs", func(d *movesDraw, r *rand.Rand) { d.protected, d.members = r.IntN(2) == 0, logUniform(r, 64) }},
}

// Sizes of the loads.
const (
	mostMovesNodes  = 20_000
	mostMovesTasks  = 200_000
	mostMovesOnNode = 50_000

	linesAgain = 10 // how often what passes the line is measured again
)

// moves draws loads and prints a table: how long decisions take beside the same without moves.
func (r *report) moves(w io.Writer, draws int) {
	fmt.Fprintln(w, "| family | draws | refused without | plans with moves | median, × without | worst, × without | slowest | beyond the line |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|")
	for i, f := range movesFamilies {
		random := rand.New(rand.NewPCG(uint64(i), 3))
		var ratios []float64
		var worst float64
		refused, moving, beyond := 0, 0, 0
		for range (draws + len(movesFamilies) - 1 - i) / len(movesFamilies) {
			d := movesDraw{draw: draw{Hard: workload.Hard{Types: of(random, 2, 4), Seed: random.Uint64()}}, roomy: of(random, 1, 10, 100)}
			d.Nodes = logUniform(random, min(r.big*4, mostMovesNodes))
			d.Tasks = logUniform(random, min(mostMovesTasks/d.Nodes, 1000))
			d.k = int64(logUniform(random, 2*d.Tasks))
			f.change(&d, random)
			x := d.build(random)
			with, without := r.once(x.with), r.once(x.without)
			for range linesAgain { // only a decision that takes so long each time does
				if with > movesTimes*without && with > lineNanos {
					with, without = min(with, r.once(x.with)), min(without, r.once(x.without))
				}
			}
			if x.refused {
				refused++
			}
			if len(x.d.Plan.Moves) > 0 {
				moving++
			}
			ratios, worst = append(ratios, with/without), max(worst, with)
			if with > movesTimes*without && with > lineNanos {
				beyond++
				fmt.Fprintf(os.Stderr, "%v/k=%d/members=%d/roomy=%d: %s with moves, %s without, %d steps\n",
					d.Hard, d.k, d.members, d.roomy, duration(with), duration(without), x.d.Plan.Steps)
			}
		}
		if len(ratios) > 0 {
			fmt.Fprintf(w, "| %s | %d | %d | %d | %s | %s | %s | %d |\n",
				f.name, len(ratios), refused, moving, number(median(ratios)), number(slices.Max(ratios)), duration(worst), beyond)
		}
	}
}

// A movesSubject decides with moves and without.
type movesSubject struct {
	with, without func()
	d             victims.Decision // with
	refused       bool             // without
}

// build makes the load.
func (d *movesDraw) build(random *rand.Rand) *movesSubject {
	c := d.Build()
	d.makeRoom(c, random)
	x := new(movesSubject)
	ask := d.Ask(c, max(d.k, 1))
	world.LetMove(c, 0, nil)
	if d.members > 0 {
		for i := range d.members {
			ask.Members = append(ask.Members, victims.Member{Key: fmt.Sprint("member", i)})
		}
		ask.Key, ask.Job = "job", ""
	}
	p := jobs.Planner{Cluster: c}
	moving := jobs.Planner{Cluster: c, Options: victims.Options{Moves: victims.MovesEntitled}}
	var stay victims.Decision
	x.without = func() { must(p.Decide(&stay, &ask, workload.Now)); x.refused = stay.Outcome == victims.Refused }
	x.with = func() { must(moving.Decide(&x.d, &ask, workload.Now)) }
	return x
}

// makeRoom takes half of the tasks off some nodes, and guarantees queues what they use.
func (d *movesDraw) makeRoom(c *victims.Cluster, random *rand.Rand) {
	var gone []string
	for n := range c.Nodes() {
		if int(n)%d.roomy != 0 && d.Nodes > 1 {
			continue
		}
		for id := range c.TasksOn(n) {
			if random.IntN(2) == 0 {
				gone = append(gone, c.Key(id))
			}
		}
	}
	for _, key := range gone {
		must(c.RemoveTask(key))
	}
	if d.protected {
		protect(c, 0)
	}
}

// protect guarantees each queue what it uses but for a loose amount of each type.
func protect(c *victims.Cluster, loose int64) {
	i := 0
	for q := range c.Tree().Leaves(queue.Root) {
		if i++; i == 1 {
			continue // it asks, and is guaranteed enough
		}
		kept := slices.Clone(c.Tree().Usage(q))
		for t := range kept {
			kept[t] = max(kept[t]-loose, 0)
		}
		must(c.SetGuaranteed(q, resources.Limit{Value: kept, Defined: resources.Mask(1)<<len(kept) - 1}))
	}
}
