// SPDX-License-Identifier: Apache-2.0

// Pending measures what it costs to decide a queue of thousands that wait: each again at
// every look, and by package pending. Both see the same events, and must give the same
// answers.
//
//	go run ./bench/pending -events 100000 -every 100
//
// The cluster has 200 nodes of 8 GPUs and is full; 3,900 asks and 550 gangs wait, in 16
// queues with guarantees. With -count the loop that decides each again counts, too, what
// kept whom in each refusal.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/pending"
	"github.com/go-preempt/preempt/victims"
)

func main() {
	log.SetFlags(0)
	events := flag.Int("events", 100_000, "how many events there are")
	every := flag.Int("every", 100, "after how many events the queue is looked at")
	count := flag.Bool("count", false, "the loop counts what kept whom")
	nodes := flag.Int("nodes", 200, "how many nodes of 8 GPUs there are")
	flag.Parse()
	var results []result
	for _, keeps := range []bool{false, true} {
		l := newLoad(*nodes)
		var d decider = &each{load: l, count: *count}
		if keeps {
			d = newQueued(l)
		}
		results = append(results, l.run(d, *events, *every))
	}
	a, b := results[0], results[1]
	fmt.Printf("events %d, a look every %d\n", *events, *every)
	fmt.Printf("each again: %8.1f s, %d decisions, %d plans\n", a.cpu.Seconds(), a.decided, a.plans)
	fmt.Printf("Pending:    %8.1f s, %d decisions, %d plans, %.1f %%\n", b.cpu.Seconds(), b.decided, b.plans, 100*b.cpu.Seconds()/a.cpu.Seconds())
	if a.answers != b.answers {
		log.Fatal("the answers differ")
	}
}

// A result is what a run has taken, and a digest of its answers.
type result struct {
	cpu            time.Duration // of deciding
	decided, plans int
	answers        uint64
}

// A decider decides what waits. Answers that are no refusals go to the load at once, which
// says whether the work has started.
type decider interface {
	addAsk(a victims.Ask)
	addJob(j victims.Ask)
	look(now time.Time)
	waiting() (asks, gangs int)
}

// each decides all that waits at every look.
type each struct {
	*load
	count bool
	asks  []victims.Ask
	gangs []victims.Ask
	ask   victims.Decision
	job   jobs.Decision
}

func (e *each) addAsk(a victims.Ask)       { e.asks = insert(e.asks, a, byPriority) }
func (e *each) addJob(j victims.Ask)       { e.gangs = append(e.gangs, j) }
func (e *each) waiting() (asks, gangs int) { return len(e.asks), len(e.gangs) }

func (e *each) look(now time.Time) {
	e.gangs = keep(e.gangs, func(j *victims.Ask) bool {
		must(e.jobPlanner.Decide(&e.job, j, now))
		if e.count {
			must(e.job.Count())
		}
		return !e.answerJob(j, &e.job)
	})
	e.asks = keep(e.asks, func(a *victims.Ask) bool {
		must(e.planner.Decide(&e.ask, a, now))
		if e.count {
			must(e.ask.Count())
		}
		return !e.answerAsk(a, &e.ask)
	})
}

// queued decides what waits by package pending.
type queued struct {
	*load
	asks  *pending.List[victims.Ask, victims.Decision]
	gangs *pending.List[victims.Ask, jobs.Decision]
	n, m  int
}

func newQueued(l *load) *queued {
	q := &queued{load: l, asks: pending.Asks(&l.planner), gangs: pending.Jobs(&l.jobPlanner)}
	q.asks.Order = byPriority
	return q
}

func (q *queued) addAsk(a victims.Ask)       { q.asks.Add(a); q.n++ }
func (q *queued) addJob(j victims.Ask)       { q.gangs.Add(j); q.m++ }
func (q *queued) waiting() (asks, gangs int) { return q.n, q.m }

func (q *queued) look(now time.Time) {
	for j, d := range q.gangs.All(now) {
		if q.answerJob(j, d) {
			q.gangs.Remove(j.Key)
			q.m--
		}
	}
	must(q.gangs.Err())
	for a, d := range q.asks.All(now) {
		if q.answerAsk(a, d) {
			q.asks.Remove(a.Key)
			q.n--
		}
	}
	must(q.asks.Err())
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
