// SPDX-License-Identifier: Apache-2.0

// Pending measures what it costs to decide a queue of thousands that wait: each again at
// every look, and by jobs.Pending. Both see the same events, and must give the same answers.
//
//	go run ./bench/pending -events 100000 -every 100
//
// The cluster has 200 nodes of 8 GPUs and is full; 3,900 asks and 550 gangs wait, in 16
// queues with guarantees. With -count the loop that decides each again counts, too, what
// kept whom in each refusal. With -within met asks may take from their own queue.
package main

import (
	"flag"
	"fmt"
	"iter"
	"log"
	"slices"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

func main() {
	log.SetFlags(0)
	events := flag.Int("events", 100_000, "how many events there are")
	every := flag.Int("every", 100, "after how many events the queue is looked at")
	count := flag.Bool("count", false, "the loop counts what kept whom")
	nodes := flag.Int("nodes", 200, "how many nodes of 8 GPUs there are")
	within := flag.String("within", string(queue.Never), "what asks may take from their own queue: never, met or branch")
	flag.Parse()
	var results []result
	for _, keeps := range []bool{false, true} {
		l := newLoad(*nodes, queue.WithinQueue(*within))
		var d decider = &each{load: l, count: *count}
		if keeps {
			d = newQueued(l)
		}
		results = append(results, l.run(d, *events, *every))
	}
	a, b := results[0], results[1]
	fmt.Printf("events %d, a look every %d\n", *events, *every)
	fmt.Printf("each again: %8.1f s, %d decisions, %d plans\n", a.cpu.Seconds(), a.decided, a.plans)
	fmt.Printf("Pending:    %8.1f s, %d decisions, %d plans: %.1f %% of the time, %.1f %% of the decisions\n",
		b.cpu.Seconds(), b.decided, b.plans, 100*b.cpu.Seconds()/a.cpu.Seconds(), 100*float64(b.decided)/float64(a.decided))
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

// A decider decides what waits, in one order. Answers that are no refusals go to the load at once.
type decider interface {
	add(a victims.Ask)
	look(now time.Time)
	all() iter.Seq[*victims.Ask]
}

// order has gangs first, as they come, then asks by priority.
func order(a, b *victims.Ask) int {
	gangs := func(a *victims.Ask) int { return min(len(a.Members), 1) }
	if gangs(a)+gangs(b) > 0 {
		return gangs(b) - gangs(a)
	}
	return int(b.Priority) - int(a.Priority)
}

// each decides all that waits at every look.
type each struct {
	*load
	count bool
	asks  []victims.Ask
	d     victims.Decision
}

func (e *each) add(a victims.Ask) {
	at, _ := slices.BinarySearchFunc(e.asks, a, func(a, b victims.Ask) int {
		if c := order(&a, &b); c != 0 {
			return c
		}
		return -1 // behind its equals
	})
	e.asks = slices.Insert(e.asks, at, a)
}

func (e *each) all() iter.Seq[*victims.Ask] {
	return func(yield func(*victims.Ask) bool) {
		for i := range e.asks {
			if _, holds := e.c.LookupGrant(first(&e.asks[i])); !holds && !yield(&e.asks[i]) {
				return
			}
		}
	}
}

func (e *each) look(now time.Time) {
	e.asks = slices.DeleteFunc(e.asks, func(a victims.Ask) bool {
		_, runs := e.c.Lookup(first(&a))
		return runs
	})
	for a := range e.all() {
		must(e.planner.Decide(&e.d, a, now))
		if e.count {
			must(e.d.Count())
		}
		e.answer(&e.d)
	}
}

// first returns the key of the first task of an ask. Others have a place if it has one.
func first(a *victims.Ask) string {
	if len(a.Members) > 0 {
		return a.Members[0].Key
	}
	return a.Key
}

// queued decides what waits by jobs.Pending.
type queued struct {
	*load
	list jobs.Pending
}

func newQueued(l *load) *queued {
	return &queued{load: l, list: jobs.Pending{Planner: &l.planner, Order: order}}
}

func (q *queued) add(a victims.Ask)           { q.list.Add(a) }
func (q *queued) all() iter.Seq[*victims.Ask] { return q.list.All() }

func (q *queued) look(now time.Time) {
	for d, err := range q.list.Decide(now) {
		must(err)
		q.answer(d)
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
