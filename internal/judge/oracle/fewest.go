// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/binary"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// Fewest returns the fewest opted-out victims that a lawful plan can have, and
// whether there is a lawful plan at all: law 1, for worlds that are too large
// to look at every set.
//
// Sets that leave the same needs open, and the same room under the guarantees,
// are equally good from there on. So candidates are offered one after another,
// and of all sets only what they leave is kept, with the fewest opted-out
// victims that lead to it. It asks for no precondition but law 4, and knows
// neither gangs nor budgets, ports or the option of the own leaf.
func Fewest(c *world.Case) (fewest int, ok bool) {
	j := newJudge(&c.World, &c.Ask, &c.Options)
	d := &docket{judge: j}
	if d.trigger(); j.ask.RequiredNode == "" && len(d.found) > 0 {
		return 0, false
	}
	for _, n := range j.w.Nodes {
		if !j.usable(&n) {
			continue
		}
		if k, found := j.fewestOn(n.Name); found && (!ok || k < fewest) {
			fewest, ok = k, true
		}
	}
	return fewest, ok
}

// ledger is what a set of victims leaves: what is still needed of each row, and
// how much room there still is under each guarantee.
type ledger struct {
	needs, rooms []int64
}

func (j *judge) fewestOn(node string) (fewest int, ok bool) {
	candidates := j.candidates(node)
	start, effects := j.ledger(node, candidates)

	// Candidates that did not opt out come first: a plan of those is best.
	states := map[string]state{start.key(): {ledger: start}}
	for _, optedOut := range []bool{false, true} {
		for i, v := range candidates {
			if v.OptedOut != optedOut {
				continue
			}
			for _, s := range values(states) {
				next, lawful := s.take(effects[i], optedOut)
				if !lawful {
					continue
				}
				if old, seen := states[next.key()]; !seen || next.optedOut < old.optedOut {
					states[next.key()] = next
				}
			}
		}
	}
	for _, s := range states {
		if s.met() && (!ok || s.optedOut < fewest) {
			fewest, ok = s.optedOut, true
		}
	}
	return fewest, ok
}

// state is a ledger with the fewest opted-out victims that lead to it.
type state struct {
	ledger
	optedOut int
}

func values(states map[string]state) (list []state) {
	for _, s := range states {
		if !s.met() { // what meets all needs wants no more victims
			list = append(list, s)
		}
	}
	return list
}

// ledger returns what no victims leave, and what each candidate takes off it.
func (j *judge) ledger(node string, candidates []*world.Task) (start ledger, effects []ledger) {
	effects = make([]ledger, len(candidates))
	need := func(short int64, counts func(v *world.Task) bool, t string) {
		start.needs = append(start.needs, short)
		for i, v := range candidates {
			var amount int64
			if counts(v) {
				amount = v.Size[t]
			}
			effects[i].needs = append(effects[i].needs, amount)
		}
	}
	for _, t := range j.w.Types {
		if short := j.nodeNeed(node)[t]; short > 0 {
			need(short, func(v *world.Task) bool { return v.Node == node }, t)
		}
		for _, q := range j.path {
			if short := j.headroomNeed(q)[t]; short > 0 {
				need(short, func(v *world.Task) bool { return world.Inside(v.Queue, q) }, t)
			}
		}
	}
	if j.ask.RequiredNode != "" {
		return start, effects
	}
	for _, q := range j.w.Queues() {
		for _, t := range j.w.Types {
			g, ok := q.Guaranteed[t]
			room := j.coming[q.Path][t] - min(g, j.coming[q.Path][t])
			if world.Inside(j.ask.Queue, q.Path) {
				room += j.ask.Size[t]
			}
			if !ok || freedBelow(candidates, q.Path, t) <= room {
				continue // it cannot bind
			}
			start.rooms = append(start.rooms, room)
			for i, v := range candidates {
				effects[i].rooms = append(effects[i].rooms, freedBelow([]*world.Task{v}, q.Path, t))
			}
		}
	}
	return start, effects
}

// take returns what is left once the effect is taken off too, and whether that
// is lawful.
func (s state) take(effect ledger, optedOut bool) (next state, lawful bool) {
	next.optedOut = s.optedOut
	if optedOut {
		next.optedOut++
	}
	for i, v := range s.needs {
		next.needs = append(next.needs, max(v-effect.needs[i], 0))
	}
	for i, v := range s.rooms {
		if effect.rooms[i] > v {
			return state{}, false
		}
		next.rooms = append(next.rooms, v-effect.rooms[i])
	}
	return next, true
}

// met reports whether nothing is needed any more.
func (l ledger) met() bool {
	for _, v := range l.needs {
		if v > 0 {
			return false
		}
	}
	return true
}

// key is the ledger as the key of a map.
func (l ledger) key() string {
	var b []byte
	for _, v := range l.needs {
		b = binary.AppendVarint(b, v)
	}
	for _, v := range l.rooms {
		b = binary.AppendVarint(b, v)
	}
	return string(b)
}
