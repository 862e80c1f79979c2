// SPDX-License-Identifier: Apache-2.0

package main

import (
	"container/heap"
	"fmt"
	"slices"
)

// A load is a world without tasks, the names of its types, and what arrives there.
type load struct {
	name, what string
	types      []string
	world      *world
	work       []*work // by time of arrival
}

// A player lets a load happen. The state goes on with what the library decides: victims
// have gone at once, and wait again with the work that they have not lost.
type player struct {
	*load
	lib    *library
	events events
	seq    int
	result *result
	rules  []rule
	mover  *mover // asked instead of the rules, if it is there
}

type eventKind int

const (
	ends eventKind = iota // what ends makes room for what arrives in the same second
	saves
	asks
)

// An event is something that happens at a second.
type event struct {
	at   int64
	kind eventKind
	seq  int
	of   *work // nil: checkpoints of all that writes them
	run  int   // of an end: it is that of this run
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, k int) bool {
	if e[i].at != e[k].at {
		return e[i].at < e[k].at
	}
	if e[i].kind != e[k].kind {
		return e[i].kind < e[k].kind
	}
	return e[i].seq < e[k].seq
}
func (e events) Swap(i, k int) { e[i], e[k] = e[k], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
	// What is refused asks again after a minute, and each time after twice as long.
	firstRetry = minute
	// mostAttempts is how often it asks: what has waited for a day and a half by then
	// gives up.
	mostAttempts = 12
)

// play lets a load happen and returns what was found.
func play(l *load) (*result, error) {
	p, err := newPlayer(l)
	if err != nil {
		return nil, err
	}
	return p.result, p.run()
}

// newPlayer returns a player that asks everybody.
func newPlayer(l *load) (*player, error) {
	lib, err := newLibrary(l.world, l.types...)
	if err != nil {
		return nil, err
	}
	p := &player{load: l, lib: lib, rules: []rule{greedy("greedy", false)}}
	if slices.ContainsFunc(l.work, func(a *work) bool { return a.minimum > 0 }) {
		p.rules = append(p.rules, greedy("greedy that knows gangs", true))
	}
	p.rules = append(p.rules, kubeScheduler(), yuniKorn(), lib.leastWork())
	p.result = newResult(l, p.rules)
	return p, nil
}

// run lets the load happen until the last of it has arrived.
func (p *player) run() error {
	l := p.load
	for _, a := range l.work {
		a.gang = -1
		p.at(event{at: a.arrives, kind: asks, of: a})
	}
	p.at(event{at: hour, kind: saves})
	last := l.work[len(l.work)-1].arrives
	for len(p.events) > 0 && p.events[0].at <= last {
		e := heap.Pop(&p.events).(event)
		l.world.now = e.at
		var err error
		switch {
		case e.kind == saves:
			err = p.save()
		case e.kind == asks:
			err = p.offer(e.of)
		case e.of.run == e.run && len(e.of.rows) > 0: // and was not stopped before
			err = p.clear(e.of)
		}
		if err != nil {
			return fmt.Errorf("%s: second %d: %w", l.name, e.at, err)
		}
	}
	return nil
}

func (p *player) at(e event) {
	p.seq++
	e.seq = p.seq
	heap.Push(&p.events, e)
}

// save is the checkpoint of the hour.
func (p *player) save() error {
	w := p.world
	for n := range w.nodes {
		for _, id := range w.nodes[n].tasks {
			if t := &w.tasks[id]; t.of.saves {
				t.saved = w.now
				if err := p.lib.cluster.SetCheckpoint(t.key, instant(w.now)); err != nil {
					return err
				}
			}
		}
	}
	p.at(event{at: w.now + hour, kind: saves})
	return nil
}

// offer asks everybody about what waits, and does what the library says.
func (p *player) offer(a *work) error {
	got, ok, fits, err := p.lib.decide(a)
	if err != nil {
		return err
	}
	if !fits {
		compare := func() error { return p.compare(a, got, ok) }
		if p.mover != nil {
			compare = func() error { return p.mover.compare(a) }
		}
		if err := compare(); err != nil {
			return err
		}
	}
	if !ok {
		if a.attempts++; a.attempts < mostAttempts {
			p.at(event{at: p.world.now + firstRetry<<(a.attempts-1), kind: asks, of: a})
		}
		return nil
	}
	if err := p.stop(got.victims); err != nil {
		return err
	}
	return p.start(a, got.places)
}

// stop stops victims. A task, and a gang of which too few are left, wait again. A gang that
// has enough goes on without them.
func (p *player) stop(victims []int) error {
	for _, v := range victims {
		t := &p.world.tasks[v]
		if t.gone {
			continue // with the rest of its gang
		}
		a := t.of
		if err := p.leave(v); err != nil {
			return err
		}
		if a.minimum > 0 && len(a.rows) >= a.minimum {
			continue
		}
		done := p.world.now - a.since - t.lost(p.world.now)
		if err := p.clear(a); err != nil {
			return err
		}
		a.left, a.attempts = a.left-done, 0
		p.at(event{at: p.world.now + firstRetry, kind: asks, of: a})
	}
	return nil
}

// leave takes one task out.
func (p *player) leave(id int) error {
	a := p.world.tasks[id].of
	p.world.remove(id)
	for i, row := range a.rows {
		if row == id {
			a.rows = append(a.rows[:i], a.rows[i+1:]...)
			break
		}
	}
	return p.lib.gone(id)
}

// clear takes out all that runs of a work.
func (p *player) clear(a *work) error {
	for len(a.rows) > 0 {
		if err := p.leave(a.rows[0]); err != nil {
			return err
		}
	}
	return nil
}

// start starts a task or a gang.
func (p *player) start(a *work, places []int) error {
	w := p.world
	a.run++
	a.since, a.attempts, a.counted = w.now, 0, false
	if a.minimum > 0 && a.gang < 0 {
		a.gang = len(w.gangs)
		w.gangs = append(w.gangs, gang{name: a.name, minimum: a.minimum})
	}
	for i, node := range places {
		id := w.add(task{
			key: a.key(i), app: a.app, queue: a.leaf, node: node, gang: a.gang, budget: a.budget, size: a.sizes[i],
			priority: a.priority, optedOut: a.optedOut, cost: a.cost, scheduled: w.now, of: a, member: i,
		})
		a.rows = append(a.rows, id)
		if err := p.lib.started(id); err != nil {
			return err
		}
	}
	p.at(event{at: w.now + max(a.left, 1), kind: ends, of: a, run: a.run})
	return nil
}
