// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
)

// This file is what happens to a pod from its creation to its end.

// second goes through what happens in the next second in which anything does.
// What is put off by no time at all comes in another round of the same second.
func (x *player) second() error {
	x.now, x.freed = x.calendar.first().at, false
	if err := x.each(ends, x.end); err != nil {
		return err
	}
	if err := x.each(leaves, x.leave); err != nil {
		return err
	}
	if x.freed {
		if err := x.start(); err != nil {
			return err
		}
		if err := x.retry(); err != nil {
			return err
		}
	}
	if err := x.each(arrives, x.arrive); err != nil {
		return err
	}
	return x.each(matures, x.mature)
}

// each calls do for the pod of each event of a kind that comes next.
func (x *player) each(kind eventKind, do func(int32) error) error {
	for {
		i, ok := x.calendar.take(x.now, kind)
		if !ok {
			return nil
		}
		if err := do(i); err != nil {
			return fmt.Errorf("second %d: %w", x.now, err)
		}
	}
}

// arrive puts a pod that is new, or comes back, at the end of the line and lets
// it ask.
func (x *player) arrive(i int32) error {
	p := &x.pods[i]
	if !p.stopped {
		x.created++
		x.fair.want(p, +1)
	}
	p.state, p.since, p.matures = pending, x.now, 0
	x.line = append(x.line, i)
	return x.decide(i)
}

// mature lets a pending pod ask that has become old enough to preempt.
func (x *player) mature(i int32) error {
	if p := &x.pods[i]; p.state != pending || p.matures != x.now {
		return nil // placed, or stopped, since it was told to come back now
	}
	return x.decide(i)
}

// leave takes a victim out whose time of grace is over. It is created anew, as
// a controller would do, and asks after those who were waiting.
func (x *player) leave(i int32) error {
	p := &x.pods[i]
	if p.state != leaving {
		return nil // it has ended while it was leaving
	}
	p.state, x.freed = absent, true
	x.calendar.add(event{x.now, arrives, i})
	return x.cluster.RemoveTask(p.Name)
}

// end takes a pod out that is wanted no longer.
func (x *player) end(i int32) error {
	p := &x.pods[i]
	x.figures.LastSecond = x.now
	was := p.state
	p.state = absent
	x.fair.want(p, -1)
	switch was {
	case pending:
		x.line = without(x.line, i)
		return nil
	case granted:
		x.granted = without(x.granted, i)
	}
	x.freed = true
	return x.watch.end(p.leaf, func() error {
		if was == granted {
			return x.cluster.Drop(p.Name)
		}
		return x.cluster.RemoveTask(p.Name)
	})
}

// without removes pod i from a list in which it is once.
func without(list []int32, i int32) []int32 {
	at := slices.Index(list, i)
	return slices.Delete(list, at, at+1)
}

// start lets the pods that hold a grant ask whether they can start now.
func (x *player) start() error {
	for _, i := range slices.Clone(x.granted) {
		if err := x.decide(i); err != nil {
			return err
		}
	}
	return nil
}

// retry lets the first pods of the line ask again.
func (x *player) retry() error {
	for range min(x.Retries, len(x.line)) {
		i := x.line[0]
		if err := x.decide(i); err != nil {
			return err
		}
		if x.pods[i].state == pending {
			x.line = append(x.line[1:], i)
		}
	}
	return nil
}
