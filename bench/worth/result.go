// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"
)

// A result is what was found on a load. Cells has the library first.
type result struct {
	Load  string `json:"load"`
	What  string `json:"what"`
	Works int    `json:"arrivals"` // tasks and gangs
	Asked int    `json:"asked"`    // moments at which the library or a rule has a plan
	Gangs int    `json:"gangs"`    // of these, those for a gang
	Left  string `json:"leftOut,omitempty"`
	Cells []cell `json:"rules"`
}

// A cell is what was found about a rule on a load. Works lost are in seconds of tasks.
type cell struct {
	Rule  string `json:"rule"`
	Plans int    `json:"plans"`
	// Silent: no plan, though the library has one.
	Silent int `json:"noAnswer"`
	// Of its plans each is counted once, under the first of these that holds.
	Broken     int `json:"breaksPromise"`
	Unentitled int `json:"notEntitled"`
	Needless   int `json:"needlessVictim"`
	Lawful     int `json:"lawful"`
	// Alone: lawful, and the library has none.
	Alone   int   `json:"lawfulWhereLibraryHasNone"`
	Victims int   `json:"victims"` // of all its plans
	Lost    int64 `json:"lostSeconds"`
	Units   int64 `json:"lostUnitSeconds"` // times GPUs, or cores
	Both    pair  `json:"bothLawful"`
	// Words counts plans by the laws that they break.
	Words map[string]int `json:"laws"`
}

// A pair compares the lawful plans of a rule with those of the library for the same.
type pair struct {
	Plans   int `json:"plans"`
	Cheaper int `json:"cheaper"` // than the library's
	Same    int `json:"same"`
	Dearer  int `json:"dearer"`
	// Refuted counts plans of the library that said that none is cheaper, and one was.
	Refuted int `json:"cheaperThanProven"`

	Victims     int   `json:"victims"`
	OursVictims int   `json:"victimsOfLibrary"`
	Lost        int64 `json:"lostSeconds"`
	OursLost    int64 `json:"lostSecondsOfLibrary"`
	Units       int64 `json:"lostUnitSeconds"`
	OursUnits   int64 `json:"lostUnitSecondsOfLibrary"`
}

// What the rules of the library are called.
const (
	ourName       = "this library"
	leastWorkName = "this library, least work lost first"
)

func newResult(l *load, rules []rule) *result {
	r := &result{Load: l.name, What: l.what, Works: len(l.work), Cells: []cell{{Rule: ourName, Words: map[string]int{}}}}
	for i := range rules {
		r.Cells = append(r.Cells, cell{Rule: rules[i].name, Words: map[string]int{}})
	}
	return r
}

// A verdict is what a plan is called.
type verdict int

const (
	lawful verdict = iota
	needless
	unentitled
	broken
)

// judge turns the words of broken laws into a verdict. To be lawful a plan breaks none.
func judge(words []string) verdict {
	v := lawful
	for _, word := range words {
		switch word {
		case "minimal", "helpful": // somebody stops for nothing
			v = max(v, needless)
		case "trigger", "storm": // not under the guarantee, or taken from inside the queue that is
			v = max(v, unentitled)
		default: // guarantee, surplus, budget, gang, opted-out, priority, fence, application, filter, room, …
			v = max(v, broken)
		}
	}
	return v
}

// A bill is what a set of victims costs, in the levels of the library's cost that come
// before waste: DESIGN.md, Cost, (a) to (f2). There are no originators, soft budgets and
// offsets in these loads, so that their levels are equal. Before all levels comes whether
// the own queue gives: the library takes from there only if there is no plan otherwise.
type bill struct {
	inside   int // lawful only by the option of the own leaf
	optedOut int
	highest  int32
	gangs    int // stopped
	own      int64
	victims  int
	sum      int64 // of priorities

	// What is lost is not compared: seconds of tasks, and the same times the amount of the
	// first type that each task had, in units.
	lost, lostUnits int64
}

func (b *bill) compare(o *bill) int {
	return cmp.Or(cmp.Compare(b.inside, o.inside), cmp.Compare(b.optedOut, o.optedOut), cmp.Compare(b.highest, o.highest), cmp.Compare(b.gangs, o.gangs),
		cmp.Compare(b.own, o.own), cmp.Compare(b.victims, o.victims), cmp.Compare(b.sum, o.sum))
}

func (w *world) billOf(a *work, victims []int) (b bill) {
	p := w.priceOf(victims)
	b.optedOut, b.highest, b.victims, b.lost = p.optedOut, p.highest, p.victims, p.lost
	left := make(map[int]int) // of gangs
	for _, v := range victims {
		t := &w.tasks[v]
		b.own += t.cost
		b.lostUnits += t.lost(w.now) * t.size[0] / w.unit
		b.sum += int64(t.priority)
		if t.gang >= 0 {
			if _, known := left[t.gang]; !known {
				left[t.gang] = w.running(t.gang)
			}
			left[t.gang]--
		}
	}
	for g, n := range left {
		if n < w.gangs[g].minimum {
			b.gangs++
		}
	}
	return b
}

// compare asks the rules on the same state as the library, and counts.
//
// What waits is asked about again and again. As long as the library has no plan and nobody
// else has a lawful one, that counts once.
func (p *player) compare(a *work, ours answer, planned bool) error {
	w := p.world
	answers, has := []answer{ours}, []bool{planned}
	for i := range p.rules {
		got, ok, err := p.rules[i].plan(w, a)
		if err != nil {
			return err
		}
		answers, has = append(answers, got), append(has, ok)
	}
	verdicts, words, bills := make([]verdict, len(has)), make([][]string, len(has)), make([]bill, len(has))
	worthIt := planned
	for i := range answers {
		if !has[i] {
			continue
		}
		bills[i], words[i] = w.billOf(a, answers[i].victims), p.lib.audit(a, &answers[i])
		// The audit of gangs does not ask whether somebody was stopped who had asked to be
		// spared. If the library spares more by a lawful plan, it was avoidable.
		if planned && verdicts[0] == lawful && bills[i].optedOut > bills[0].optedOut && !slices.Contains(words[i], "opted-out") {
			words[i] = append(words[i], "opted-out")
		}
		verdicts[i] = judge(words[i])
		if verdicts[i] == lawful && p.lib.second(a, &answers[i]) {
			bills[i].inside = 1
		}
		worthIt = worthIt || verdicts[i] == lawful || !a.counted
	}
	if !worthIt {
		return nil
	}
	a.counted = true
	p.result.Asked++
	if a.minimum > 0 {
		p.result.Gangs++
	}
	for i := range answers {
		c := &p.result.Cells[i]
		switch {
		case has[i]:
			c.count(words[i], verdicts[i], &bills[i])
			if verdicts[i] != lawful {
				continue
			}
			if !planned {
				c.Alone++
			} else if verdicts[0] == lawful {
				c.Both.add(&bills[i], &bills[0], p.lib.proven)
			}
		case planned:
			c.Silent++
		}
	}
	return nil
}

// count counts a plan by its verdict, and by the laws that it breaks.
func (c *cell) count(words []string, v verdict, b *bill) {
	c.Plans++
	c.Victims, c.Lost, c.Units = c.Victims+b.victims, c.Lost+b.lost, c.Units+b.lostUnits
	switch v {
	case broken:
		c.Broken++
	case unentitled:
		c.Unentitled++
	case needless:
		c.Needless++
	case lawful:
		c.Lawful++
	}
	for _, word := range words {
		c.Words[word]++
	}
}

func (p *pair) add(theirs, ours *bill, proven bool) {
	p.Plans++
	switch order := theirs.compare(ours); {
	case order < 0:
		p.Cheaper++
		if proven {
			p.Refuted++
		}
	case order == 0:
		p.Same++
	default:
		p.Dearer++
	}
	p.Victims, p.OursVictims = p.Victims+theirs.victims, p.OursVictims+ours.victims
	p.Lost, p.OursLost = p.Lost+theirs.lost, p.OursLost+ours.lost
	p.Units, p.OursUnits = p.Units+theirs.lostUnits, p.OursUnits+ours.lostUnits
}
