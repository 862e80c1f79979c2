// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"slices"
	"testing"
	"time"
)

// A clock measures by turns: all that is compared has a turn in each round, so
// that what disturbs the machine for a while disturbs all of them. Of ratios the
// median over rounds counts. Of a time that stands alone the least does: all
// that is above it is the machine's.
type clock struct {
	turn   time.Duration // the least that a turn takes
	budget time.Duration // for all rounds; there are at least minRounds
	rounds int           // at most
}

const minRounds = 3

// times returns how long each of some functions takes, in nanoseconds, by
// function and round.
func (c *clock) times(functions ...func()) [][]float64 {
	all := make([][]float64, len(functions))
	if c.rounds > 1 {
		for _, f := range functions {
			f() // warm up
		}
	}
	start := time.Now()
	for round := range c.rounds {
		if round >= minRounds && time.Since(start) > c.budget {
			break
		}
		for i, f := range functions {
			all[i] = append(all[i], c.once(f))
		}
	}
	return all
}

// once returns how long a function takes, from one turn. It is never 0, for
// others are divided by it.
func (c *clock) once(f func()) float64 {
	start := time.Now()
	for calls := 1; ; calls++ {
		f()
		if took := time.Since(start); took >= max(c.turn, 1) {
			return float64(took) / float64(calls)
		}
	}
}

// ratio returns how many times as long as base a function takes, and how long
// in nanoseconds.
func (c *clock) ratio(f, base func()) (ratio, nanos float64) {
	times := c.times(base, f)
	return median(quotients(times[1], times[0])), median(times[1])
}

// least returns how long a function takes at least, in nanoseconds.
func (c *clock) least(f func()) float64 { return slices.Min(c.times(f)[0]) }

// allocations returns how often a warm function allocates. The runtime counts
// what the whole process allocates, collector and other goroutines included, so
// that one count may be too high; the least of several is the function's.
func allocations(f func()) float64 {
	least := testing.AllocsPerRun(1, f)
	for range 20 {
		if least == 0 {
			break
		}
		least = min(least, testing.AllocsPerRun(1, f))
	}
	return least
}

// exponent returns by which power of a size times grow: the slope of the
// straight line that lies best between the logarithms of both. There must be
// two sizes or more.
func (c *clock) exponent(sizes []float64, functions []func()) float64 {
	times := c.times(functions...)
	var x, y []float64
	for i, size := range sizes {
		x = append(x, math.Log(size))
		y = append(y, math.Log(median(quotients(times[i], times[0]))))
	}
	return slope(x, y)
}

// quotients divides number by number.
func quotients(a, b []float64) (q []float64) {
	for i := range a {
		q = append(q, a[i]/b[i])
	}
	return q
}

// median returns the middle of some numbers, of two the mean.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// slope returns that of the line of least squares.
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(x))
	for i := range x {
		sx += x[i]
		sy += y[i]
		sxx += x[i] * x[i]
		sxy += x[i] * y[i]
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

// duration writes nanoseconds for people.
func duration(nanos float64) string {
	d := time.Duration(nanos)
	for unit := time.Second; unit > time.Nanosecond; unit /= 1000 {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return number(nanos) + "ns"
}
