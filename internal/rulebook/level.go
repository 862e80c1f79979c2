// SPDX-License-Identifier: Apache-2.0

// Package rulebook has what the rules of asks, jobs and quotas share, and what no
// caller of theirs needs to name.
package rulebook

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/resources"
)

// A Level is one part of the cost of a plan: its number as a level of package cost.
type Level uint8

// The levels, in the order and with the letters of victims.Cost.
const (
	LevelOptedOut      Level                  = iota // (a)
	LevelOverrun                                     // (a2)
	LevelOriginators                                 // (b)
	LevelRank                                        // (c) the highest
	LevelPriority                                    // (d) the highest
	LevelJobs                                        // (d)
	LevelOwn                                         // (d2)
	LevelOwnLow                                      // its low half, which has no word
	LevelPreemptions                                 // (d3), if it counts
	LevelVictims                                     // (e)
	LevelSumRanks                                    // (f)
	LevelSumPriorities                               // (f2)
	LevelWork          = Level(cost.ByWork)          // (g)
	LevelExcess        = Level(cost.ByExcess)        // (h)
)

// A levelEntry is a row of the table of levels.
//
// A level is a sum over victims of what is not below zero, unless it says otherwise: bounds take it
// that victims add to it, and that none is the least. So no bound has to name it. Levels that may be
// negative come after the number of victims.
type levelEntry struct {
	word     string // stable
	most     bool   // the largest of the victims
	negative bool   // it may be below zero
	off      bool   // it does not count unless it is named
	wide     bool   // it is not kept in one number, so at and set do not know it
}

// levelTable has all levels by number. What orders, joins and tells costs goes by it.
var levelTable = [...]levelEntry{
	LevelOptedOut:      {word: "opted-out"},
	LevelOverrun:       {word: "overrun"},
	LevelOriginators:   {word: "originators"},
	LevelRank:          {word: "rank", most: true, negative: true},
	LevelPriority:      {word: "priority", most: true, negative: true},
	LevelJobs:          {word: "jobs"},
	LevelOwn:           {word: "own-cost", wide: true},
	LevelOwnLow:        {wide: true},
	LevelPreemptions:   {word: "preemptions", off: true},
	LevelVictims:       {word: "victims"},
	LevelSumRanks:      {word: "sum-ranks", negative: true},
	LevelSumPriorities: {word: "sum-priorities", negative: true},
	LevelWork:          {word: "work", wide: true},
	LevelExcess:        {word: "excess", wide: true},
}

// Words returns the words of the levels that count by default, in their order.
func Words() (all []string) {
	for l := range levelTable {
		if word := levelTable[l].word; word != "" && !levelTable[l].off {
			all = append(all, word)
		}
	}
	return all
}

// AllWords returns the words of all levels: those that count by default, and then the others.
func AllWords() []string {
	all := Words()
	for l := range levelTable {
		if levelTable[l].off {
			all = append(all, levelTable[l].word)
		}
	}
	return all
}

// LevelOf returns the level of a word, and whether there is one.
func LevelOf(word string) (Level, bool) {
	at := slices.IndexFunc(levelTable[:], func(e levelEntry) bool { return e.word == word })
	return Level(at), at >= 0 && word != ""
}

// NegativeSum reports whether the level is a sum that may be below zero, so that a set has less of
// it than its parts. Among sets of one number it cannot mislead.
func (l Level) NegativeSum() bool { return levelTable[l].negative && !levelTable[l].most }

// Off reports whether the level does not count unless it is named.
func (l Level) Off() bool { return levelTable[l].off }

// Unnamed has a bit for each level that is off and not among some words: plans have 0 there.
func Unnamed(words []string) (off uint16) {
	for l := range levelTable {
		if e := &levelTable[l]; e.off && !slices.Contains(words, e.word) {
			off |= 1 << l
		}
	}
	return off
}

// IsSum reports whether the level is a sum by itself, and no low half.
func (l Level) IsSum() bool { return !levelTable[l].most && levelTable[l].word != "" }

// PlanOrder returns the order of victims.Cost as levels of package cost.
func PlanOrder() cost.Order {
	o := cost.Order{Carry: 1 << LevelOwnLow, Overrun: int(LevelOverrun), Count: int(LevelVictims)}
	for l := range levelTable {
		if levelTable[l].most {
			o.Max |= 1 << l
		}
	}
	return o
}

// CompareAt compares costs at one level. Of own costs the high half stands for both.
func CompareAt(c, d *Cost, l Level) int {
	switch l {
	case LevelOwnLow:
		return 0
	case LevelOwn:
		return c.Own.Compare(d.Own)
	case LevelWork:
		return c.Work.Compare(d.Work)
	case LevelExcess:
		return c.Excess.Compare(d.Excess)
	}
	return cmp.Compare(c.at(l), d.at(l))
}

// Join adds the cost of a set of victims to that of another, if no victim is in both: all but the
// excess and what is told of the node and of people's losses.
func (c *Cost) Join(d *Cost) {
	switch {
	case d.Victims == 0:
		return
	case c.Victims == 0:
		c.Own, c.Work = resources.Wide{}, resources.Wide{}
	}
	first := c.Victims == 0
	for l := range levelTable {
		switch e, l := &levelTable[l], Level(l); {
		case e.wide:
		case first || e.most && d.at(l) > c.at(l):
			c.set(l, d.at(l))
		case !e.most:
			c.set(l, sat.Add(c.at(l), d.at(l)))
		}
	}
	c.Own, c.Work = c.Own.Add(d.Own), c.Work.Add(d.Work)
}
