// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// lineTurns is how many times as long a job may take as its members asked in turn, unless
// it is below lineNanos.
const lineTurns = 10

const mostMembers = 64

// A team is a job of alike members, and the same members as asks.
type team struct {
	job     victims.Ask
	planner jobs.Planner
	d       victims.Decision
	asks    *workload.Subject
	victims int // of the members in turn
	served  int // of them
}

// team makes the draw's ask a job of some members.
func (d *draw) team(c *victims.Cluster, members int) *team {
	s := d.subject(c)
	a := &s.Ask
	x := &team{asks: s, planner: jobs.Planner{Cluster: c, Options: s.Planner.Options}}
	x.job = victims.Ask{Key: "job", Application: a.Application, Queue: a.Queue, Priority: a.Priority, PendingSince: a.PendingSince}
	for i := range members {
		x.job.Members = append(x.job.Members, victims.Member{Key: fmt.Sprint("member-", i), Size: a.Size, Class: a.Class})
	}
	return x
}

// decide decides the job.
func (x *team) decide() { must(x.planner.Decide(&x.d, &x.job, workload.Now)) }

// inTurn decides and applies the members one after another, and undoes it.
func (x *team) inTurn() {
	x.victims, x.served = 0, 0
	for i := range x.job.Members {
		x.asks.Ask.Key = x.job.Members[i].Key
		x.asks.Decide()
		if x.asks.Decision.Outcome == victims.Refused {
			break
		}
		must(x.planner.Cluster.Apply(&x.asks.Decision))
		x.victims += len(x.asks.Decision.Plan.Victims)
		x.served++
	}
	for range x.served {
		must(x.planner.Cluster.Undo())
	}
}

// jobs compares jobs of every family of hard loads with their members in turn.
func (r *report) jobs() {
	section := r.section("a job of 8 alike members, against its members asked in turn")
	for i, f := range families {
		random := rand.New(rand.NewPCG(uint64(i), 3))
		d := draw{Hard: workload.Hard{Nodes: r.big, Tasks: r.tasks, Seed: random.Uint64()}, k: 10}
		f.change(&d, random)
		x := d.team(d.Build(), min(8, r.members))
		ratio, nanos := r.clock.ratio(x.decide, x.inTurn)
		section.add(Row{
			Name: f.name + fmt.Sprintf(": `%v/k=%d`", d.Hard, d.k), Figure: ratio, Unit: "× in turn", Remark: x.remark(nanos),
		}.atMost(max(lineTurns, lineNanos*ratio/nanos)))
	}
}

// remark says what was decided, and in what time.
func (x *team) remark(nanos float64) string {
	if x.d.Outcome == victims.Refused {
		return duration(nanos) + ", refused: " + x.d.Refusal.Reason
	}
	return fmt.Sprintf("%s, %s, %d in turn, proof: %v", duration(nanos), counted(len(x.d.Plan.Victims)), x.victims, x.d.Plan.Proof)
}

// jobSurveys draws loads and prints a table: how long jobs of 1 to 64 members take beside
// their members in turn, and how many victims both have if both are served.
func (r *report) jobSurveys(w io.Writer, draws int) {
	fmt.Fprintln(w, "| family | jobs | both served | victims | in turn | jobs with more | median, × in turn | worst | slowest | beyond the line |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for i, f := range families {
		n := draws / len(families)
		if i < draws%len(families) {
			n++
		}
		if n == 0 {
			continue
		}
		s := r.jobSurvey(i, n)
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %s | %s | %s | %d |\n", f.name, n, s.both, s.victims, s.inTurn, s.more,
			number(median(s.ratios)), number(slices.Max(s.ratios)), duration(s.worst), s.beyond)
	}
}

// A jobSurvey is what was found out about the jobs of a family.
type jobSurvey struct {
	both, victims, inTurn, more, beyond int
	ratios                              []float64
	worst                               float64 // in nanoseconds
}

// jobSurvey decides jobs in some draws of a family. They are the same every time.
func (r *report) jobSurvey(which, draws int) (s jobSurvey) {
	random := rand.New(rand.NewPCG(uint64(which), 4))
	for range draws {
		d := r.draw(which, random)
		x := d.team(d.Build(), logUniform(random, r.members))
		times := r.clock.times(x.inTurn, x.decide)
		nanos := slices.Min(times[1])
		ratio := nanos / slices.Min(times[0])
		s.ratios, s.worst = append(s.ratios, ratio), max(s.worst, nanos)
		if ratio > lineTurns && nanos > lineNanos {
			s.beyond++
			fmt.Fprintf(os.Stderr, "%v/k=%d, %d members: %s × in turn, %s\n", d.Hard, d.k, len(x.job.Members), number(ratio), duration(nanos))
		}
		if x.d.Outcome == victims.Refused || x.served < len(x.job.Members) {
			continue
		}
		s.both, s.victims, s.inTurn = s.both+1, s.victims+len(x.d.Plan.Victims), s.inTurn+x.victims
		if len(x.d.Plan.Victims) > x.victims {
			s.more++
		}
	}
	return s
}
