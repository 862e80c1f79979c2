// SPDX-License-Identifier: Apache-2.0

package world

import (
	"time"

	"pgregory.net/rapid"
)

// A Shape says how large a random world may be.
type Shape struct {
	Types, Queues, Depth, Nodes, Tasks int
	Features                           Features
}

// Small worlds have few enough tasks to look at every set of them. Crowded ones
// have more on few nodes. Large ones are for laws that can be checked on the
// answer alone.
var (
	Small   = Shape{Types: 3, Queues: 8, Depth: 4, Nodes: 4, Tasks: 10}
	Crowded = Shape{Types: 2, Queues: 9, Depth: 4, Nodes: 2, Tasks: 30}
	Large   = Shape{Types: 3, Queues: 15, Depth: 5, Nodes: 8, Tasks: 60}
)

// Epoch is about when random worlds take place.
var Epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Cases returns random cases of a shape.
//
// Amounts are small, so that ties and tight bounds are frequent. Bounds and
// capacities are drawn around what is used: the asking queue is mostly a
// little under its guarantee, the others mostly over theirs, the nodes almost
// full, and a max above the asking queue often a little too low. So about
// every third case has a plan, and each rule and reason has its share.
//
// All draws shrink to the plainest case.
func Cases(s Shape) *rapid.Generator[*Case] {
	return rapid.Custom(func(t *rapid.T) *Case {
		g := generator{T: t, shape: s}
		c := g.draw()
		g.drawScarce(&c.Options)
		return c
	})
}

// FuzzSeeds returns inputs for fuzz targets made of properties over random
// worlds. A property reads eight bytes per draw, so an input must be long to
// make a whole world; mutations of one that is give many. They are better not
// minimized, which takes far longer than to try others: -fuzzminimizetime=1x.
func FuzzSeeds() (seeds [][]byte) {
	for i := range uint64(4) {
		seed := make([]byte, 1<<14)
		x := 2*i + 1
		for k := range seed {
			x = x*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
			seed[k] = byte(x >> 56)
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

// generator draws one case, its parts in an order in which each can be drawn
// around those before it.
type generator struct {
	*rapid.T
	shape  Shape
	c      Case
	w      *World
	leaves []string
	most   int // of a type that a task uses: with little it takes many to make room

	wild   bool // priorities from all over int32
	odd    bool // anything goes; else most of what makes a plan hopeless is left out
	tight  bool // some max above the asking queue is to be too low
	short  bool // and one is, so that nodes may have room
	apart  bool // but none has, and headroom takes more victims than one node has
	hungry bool // many queues are far below their guarantees, and little else is bounded
}

func (g *generator) draw() *Case {
	g.w = &g.c.World
	g.wild = g.chance("wild priorities", 1)
	g.odd = g.chance("odd", 5) && !g.hungry
	g.tight = g.chance("tight", 8) && !g.hungry
	g.most = of(g, "most", 6, 4, 2)
	if g.apart = g.tight && g.chance("apart", 6); g.apart {
		g.most = 2
	}
	g.c.Options.Now = Epoch
	g.drawTypes()
	g.drawQueues()
	g.drawNodes()
	g.drawAsk()
	g.drawTasks()
	if g.has(WithGangs) {
		g.c.Options.Minimums = g.drawGangs(15, 5, 15, 0)
	}
	if g.drawFeatures(); g.has(WithGrants) {
		g.drawGrantsInOrder()
	} else {
		g.drawGrants()
	}
	g.drawBounds()
	g.drawCapacities()
	g.drawOptions()
	g.drawLater()
	if g.chance("huge", 1) && !g.hungry {
		g.c.scale(1 << 54)
	}
	return &g.c
}

// below draws a number in [0, n), a little more often a small one.
func (g *generator) below(label string, n int) int {
	if n > len(numbers) {
		return int(rapid.UintMax(uint(n-1)).Draw(g.T, label))
	}
	return int(numbers[n-1].Draw(g.T, label))
}

// numbers are the generators of numbers up to their index. To make one takes longer than to draw from it.
var numbers = func() (all [32]*rapid.Generator[uint]) {
	for n := range all {
		all[n] = rapid.UintMax(uint(n))
	}
	return all
}()

// chance is true in a little less than n of 16 draws, and shrinks to false.
func (g *generator) chance(label string, n int) bool { return g.below(label, 16) >= 16-n }

// amount draws an amount in [0, n].
func (g *generator) amount(label string, n int) int64 { return int64(g.below(label, n+1)) }

// of draws one of a list.
func of[T any](g *generator, label string, list ...T) T { return list[g.below(label, len(list))] }

func (g *generator) drawTypes() {
	names := []string{"cpu", "memory", "gpu"}
	g.w.Types = names[:min(g.shape.Types, of(g, "types", 1, 1, 2, 2, 2, 3))]
}

func (g *generator) drawOptions() {
	o := &g.c.Options
	o.StrictPriority = g.chance("strict", 1)
	if g.chance("interval", 6) {
		o.Interval = time.Duration(g.below("interval", 4)) * 30 * time.Second
	}
	if g.chance("exemptions", 5) {
		o.Exempt = make(map[string]time.Time)
		for _, t := range g.w.Tasks {
			if !g.chance("exempt", 7) {
				continue
			}
			o.Exempt[t.Key] = time.Time{}
			if !g.chance("for ever", 2) {
				o.Exempt[t.Key] = Epoch.Add(time.Duration(g.below("until", 5)-1) * time.Minute)
			}
		}
	}
}

// drawScarce says of some cases that guarantees count in some types only. It is drawn after
// all else.
func (g *generator) drawScarce(o *Options) {
	if !g.chance("scarce", 5) {
		return
	}
	o.Scarce = []string{}
	for _, t := range g.w.Types {
		if !g.chance("plenty", 6) {
			o.Scarce = append(o.Scarce, t)
		}
	}
}

// scale multiplies all amounts, so that their sums come near the end of int64.
func (c *Case) scale(k int64) {
	times := func(a Amounts) {
		for t := range a {
			a[t] *= k
		}
	}
	for _, q := range c.World.Queues() {
		times(q.Guaranteed)
		times(q.Max)
	}
	for _, n := range c.World.Nodes {
		times(n.Capacity)
	}
	for _, t := range c.World.Tasks {
		times(t.Size)
	}
	for _, held := range c.World.Grants {
		if held.Ask.Key != c.Ask.Key { // the ask's own grant has its map
			times(held.Ask.Size)
		}
	}
	times(c.Ask.Size)
}
