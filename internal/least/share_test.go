// SPDX-License-Identifier: Apache-2.0

package least

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// counts says, by what properties are about, how often it came up and how often it might have.
var counts = map[string][2]int{}

func note(what string, had bool) {
	n := counts[what]
	if n[1]++; had {
		n[0]++
	}
	counts[what] = n
}

// Draws have what the properties are about.
func TestDraws(t *testing.T) {
	clear(counts)
	check := func(holds func(*rapid.T)) {
		for seed := range 300 {
			rapid.Custom(func(t *rapid.T) int { holds(t); return 0 }).Example(seed)
		}
	}
	for _, p := range properties {
		check(p.Holds)
	}
	check(func(t *rapid.T) {
		f := fields(8).Draw(t, "field")
		row := func(is func(r *Row) bool) (any bool) {
			for n := range f.nodes {
				any = any || slices.ContainsFunc(f.nodes[n].all.Rows, func(r Row) bool { return is(&r) })
			}
			return any
		}
		note("gangs", row(func(r *Row) bool { return r.Gang }))
		note("several limits of a row", row(func(r *Row) bool { return len(r.Takes) > 1 }))
		note("units elsewhere", f.Elsewhere())
		note("a node that needs nothing of its own", slices.ContainsFunc(f.nodes, func(x node) bool { return !open(x.rough.Need) }))
		note("an order of the caller's", f.search.Order.Sequence != nil)
		node, best := f.bestOfAll()
		note("a plan", best != nil)
		note("overrun", best != nil && f.search.Order.Overrun > 0 && best.total.Levels[f.search.Order.Overrun] > 0)
		ties := 0
		for n := range f.nodes {
			if x := f.cheapest(f.nodes[n].plans); best != nil && x != nil && f.search.Order.CompareTotals(&x.total, &best.total) == 0 {
				ties++
			}
		}
		note("nodes that tie", ties > 1)
		far := false
		if best != nil {
			far = slices.Max(append(best.taken[len(f.nodes[node].near.Rows):], 0)) > 0
		}
		note("the best takes units elsewhere", far)
	})
	whats := make([]string, 0, len(counts))
	for what := range counts {
		whats = append(whats, what)
	}
	slices.Sort(whats)
	for _, what := range whats {
		n := counts[what]
		t.Logf("%5.1f %% of %5d: %s", 100*float64(n[0])/float64(n[1]), n[1], what)
		if n[0]*200 < n[1] {
			t.Errorf("%s: %d of %d, want one in 200 at least", what, n[0], n[1])
		}
	}
}
