// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/judge/law"
)

// enough is more steps than any drawn problem takes.
const enough = 1 << 20

var properties = []law.Law{
	{Name: "ClimbIsBelow", Holds: climbIsBelow},
	{Name: "SolveIsLeast", Holds: solveIsLeast},
	{Name: "AnyIsWithin", Holds: anyIsWithin},
	{Name: "BudgetIsHonest", Holds: budgetIsHonest},
	{Name: "SearchForgets", Holds: searchForgets},
	{Name: "StopStops", Holds: stopStops},
	{Name: "ImproveIsCheaper", Holds: improveIsCheaper},
	{Name: "BoundIsBelow", Holds: boundIsBelow},
	{Name: "SearchIsLeast", Holds: searchIsLeast},
	{Name: "ShownIsShown", Holds: shownIsShown},
}

func TestLeast(t *testing.T) {
	for _, p := range properties {
		t.Run(p.Name, func(t *testing.T) { law.CheckMany(t, 1000, p.Holds) })
	}
}

func FuzzLeast(f *testing.F) {
	for i := range byte(4) {
		seed := make([]byte, 1<<15) // a draw takes eight bytes
		rand.NewChaCha8([32]byte{i}).Read(seed)
		f.Add(seed)
	}
	law.Fuzz(f, properties)
}

// drawBest draws an incumbent on a node before or after the first one, that costs what a set
// of the first node does or any other units do.
func (f *field) drawBest(t *rapid.T, sets []set) {
	f.best, f.ties, f.search.Lesser = Best{}, false, false
	switch p := &f.nodes[0].near; rapid.IntRange(0, 3).Draw(t, "incumbent") {
	case 0:
		return
	case 1:
		if best := f.cheapest(sets); best != nil {
			f.best.Total = best.total
		}
	default:
		taken := make([]int32, len(p.Rows))
		for i := range taken {
			taken[i] = int32(rapid.Int64Range(0, p.Rows[i].Count).Draw(t, "taken"))
		}
		f.best.Total = f.set(p, taken).total
	}
	f.best.Found, f.best.Node = true, rapid.SampledFrom([]int32{-1, 1}).Draw(t, "node of the incumbent")
	f.best.Note(f.search.Capacity)
	s := f.search
	f.ties = rapid.Bool().Draw(t, "ties")
	s.Lesser = s.Sequence[0] < cost.NumLevels && s.Order.Compare == nil && rapid.IntRange(0, 3).Draw(t, "lesser") > 0
}

// uses reports whether a set has units of other rows than these.
func (x *set) strays(rows []int32) bool {
	for i, n := range x.taken {
		if n > 0 && !slices.Contains(rows, int32(i)) {
			return true
		}
	}
	return false
}

// climbIsBelow: no bound is above any set, whatever the incumbent and the effort. A problem
// is ruled out, and rows are left out, only if no set that matters is lost.
func climbIsBelow(t *rapid.T) {
	f := fields(1).Draw(t, "field")
	s, p := f.search, &f.nodes[0].near
	if s.Order.Compare != nil || !open(p.Need) {
		return
	}
	sets := f.sets(p)
	l := &s.ladder
	for range 2 {
		f.drawBest(t, sets)
		s.ties = f.ties
		for _, e := range []effort{glance, bound, seek, bound} { // with prices that have told
			in := s.climb(p, e)
			count, rungs := slices.Index(s.Sequence, int8(s.Order.Count)), l.rungs
			if in && rungs < len(s.Sequence) && s.Sequence[rungs] < cost.NumLevels && s.isLow(int(s.Sequence[rungs])) {
				rungs++ // the high half speaks for both
			}
			for i := range sets {
				x := &sets[i]
				switch matters := f.matters(0, &x.total); {
				case matters && !in:
					t.Fatalf("effort %d: ruled out with %v", e, x)
				case matters && x.strays(l.rivals):
					t.Fatalf("effort %d: %v is not of rows %v", e, x, l.rivals)
				case !in:
					continue
				}
				if f.comparePrefix(&l.levels, l.work, &x.total, rungs) > 0 {
					t.Fatalf("effort %d: bound %v and %v of %d is above %v", e, l.levels, l.work, rungs, x)
				}
				if slices.Contains(s.Sequence[:rungs], cost.ByExcess) {
					continue // excess has no bound that is kept
				}
				if f.comparePrefix(&l.levels, l.work, &x.total, rungs) == 0 && x.strays(l.kept) {
					t.Fatalf("effort %d: %v is not of rows %v, but as good as the bound %v", e, x, l.kept, l.levels)
				}
				if f.comparePrefix(&l.levels, l.work, &x.total, min(rungs, count+1)) == 0 && int64(x.total.Units) < l.units {
					t.Fatalf("effort %d: %v has fewer than %d units", e, x, l.units)
				}
			}
			note("bound tells", !in && p.covered())
			note("rows dropped", in && len(l.rivals) < len(p.Rows))
		}
	}
}

// covered reports whether all units give what is needed.
func (p *Problem) covered() bool {
	all := make([]int32, len(p.Rows))
	for i := range all {
		all[i] = int32(p.Rows[i].Count)
	}
	return gives(p, all)
}

// solveIsLeast: the answer is the cheapest set within a limit, by keys if several are.
func solveIsLeast(t *rapid.T) {
	f := fields(1).Draw(t, "field")
	s, p := f.search, &f.nodes[0].near
	sets := f.minimal(p)
	note("limits bind", len(p.Room) > 0 && len(sets) < len(f.minimal(&Problem{Rows: p.Rows, Need: p.Need})))
	for range 2 {
		f.drawBest(t, sets)
		f.ties = true
		var limit *cost.Total
		if f.best.Found {
			total := f.best.Total
			limit = &total
		}
		var among []int32
		within := slices.Clone(sets)
		s.ladder.p = nil
		if s.Order.Compare == nil && open(p.Need) && rapid.Bool().Draw(t, "climbed") {
			s.ties = true
			in := s.climb(p, seek)
			if s.ties = false; !in {
				continue
			}
			among = s.ladder.rivals
		} else if rapid.Bool().Draw(t, "among") {
			among = []int32{}
			for i := range p.Rows {
				if rapid.Bool().Draw(t, "one of them") {
					among = append(among, int32(i))
				}
			}
			within = slices.DeleteFunc(within, func(x set) bool { return x.strays(among) })
		}
		within = slices.DeleteFunc(within, func(x set) bool { return !f.matters(0, &x.total) })
		a := s.Solve(p, limit, among, enough)
		f.mustBe(t, a, f.cheapest(within))
		x := &s.solver
		tight := s.Steps() >= cmp.Or(x.early, short)
		long := tight && (s.Lesser || s.Order.LevelsFirst())
		note("branches", s.Steps() > 1)
		note("a long search", tight)
		note("tables", x.tables.made)
		note("levels alone are looked for", long)
		note("a row that is dominated", (long || s.Lesser) && slices.ContainsFunc(x.dominator, func(i int32) bool { return i >= 0 }))
	}
}

// mustBe fails unless an answer is the cheapest set; with Lesser, one of its levels.
func (f *field) mustBe(t *rapid.T, a *Answer, want *set) {
	switch s := f.search; {
	case !a.Proven || !a.Levels:
		t.Fatalf("proven %t, levels %t", a.Proven, a.Levels)
	case a.Found != (want != nil):
		t.Fatalf("found %v, want %v", a, want)
	case want == nil:
		return
	case s.Lesser:
		if s.Order.CompareLevels(&a.Total.Levels, &want.total.Levels) != 0 {
			t.Fatalf("found %v, want %v", a, want)
		}
	default:
		if got := f.set(&f.nodes[0].near, a.Taken); !slices.Equal(got.keys, want.keys) {
			t.Fatalf("found %v, want %v", got, want)
		}
	}
	f.mustBeSet(t, &f.nodes[0].near, a)
}

// mustBeSet fails unless an answer gives all within limits, not without any of its units, and
// costs what it says.
func (f *field) mustBeSet(t *rapid.T, p *Problem, a *Answer) {
	x := f.set(p, a.Taken)
	if !gives(p, a.Taken) || !lawful(p, a.Taken) || !minimal(p, a.Taken) {
		t.Fatalf("%v is enough: %t, within limits: %t, all needed: %t", x, gives(p, a.Taken), lawful(p, a.Taken), minimal(p, a.Taken))
	}
	got := a.Total
	got.Excess, x.total.Excess = x.total.Excess, got.Excess
	if got != f.set(p, a.Taken).total || a.Total.Excess.Compare(f.set(p, a.Taken).total.Excess) != 0 {
		t.Fatalf("%v costs %v, want %v", a.Taken, a.Total, x.total)
	}
}

// anyIsWithin: a search for any set finds one within the limit if there is one.
func anyIsWithin(t *rapid.T) {
	f := fields(1).Draw(t, "field")
	s, p := f.search, &f.nodes[0].near
	f.drawBest(t, f.minimal(p))
	if s.Order.Compare != nil || !f.best.Found || !open(p.Need) {
		return
	}
	f.ties = true
	want := slices.ContainsFunc(f.sets(p), func(x set) bool { return f.matters(0, &x.total) })
	s.ties = true
	in := s.climb(p, glance)
	if s.ties = false; !in {
		return
	}
	rivals := slices.Clone(s.ladder.rivals)
	s.solver.any = true
	for _, steps := range []int{enough, rapid.IntRange(0, 5).Draw(t, "steps")} {
		switch a := s.Solve(p, &f.best.Total, rivals, steps); {
		case a.Found && !want:
			t.Fatalf("in %d steps: %v is not within %v", steps, a, f.best.Total)
		case !a.Found && want && (a.Proven || steps == enough):
			t.Fatalf("in %d steps: none is within %v", steps, f.best.Total)
		}
	}
	s.solver.any = false
}

// budgetIsHonest: however few the steps, a set that is found is one within the limit, more
// steps never find a dearer one, and what is called proven is.
func budgetIsHonest(t *rapid.T) {
	f := fields(1).Draw(t, "field")
	s, p := f.search, &f.nodes[0].near
	sets := f.minimal(p)
	f.drawBest(t, sets)
	f.ties = true
	var limit *cost.Total
	if f.best.Found {
		limit = &f.best.Total
	}
	within := slices.DeleteFunc(slices.Clone(sets), func(x set) bool { return !f.matters(0, &x.total) })
	best, before := f.cheapest(within), (*set)(nil)
	for steps := range 25 {
		lesser := s.Lesser
		s.Pose(p) // no search learns from the one before which prices are worth seeking
		s.Lesser = lesser
		a := s.Solve(p, limit, nil, steps)
		note("levels are proven alone", a.Levels && !a.Proven)
		switch {
		case s.Steps() > steps:
			t.Fatalf("%d steps of %d", s.Steps(), steps)
		case a.Proven:
			f.mustBe(t, a, best)
		}
		if !a.Found {
			if before != nil {
				t.Fatalf("nothing in %d steps, but in fewer %v", steps, before)
			}
			if a.Levels && best != nil && s.Lesser {
				t.Fatalf("in %d steps no lesser levels are proven, but %v has", steps, best)
			}
			continue
		}
		f.mustBeSet(t, p, a)
		x := f.set(p, a.Taken)
		switch {
		case !f.matters(0, &x.total):
			t.Fatalf("%v is not within the limit %v", x, limit)
		case a.Levels && s.Order.LevelsFirst() && s.Order.CompareLevels(&x.total.Levels, &best.total.Levels) != 0:
			t.Fatalf("in %d steps %v has the least levels, but %v has", steps, x, best)
		case before != nil && !s.Lesser && s.Order.CompareTotals(&before.total, &x.total) < 0:
			t.Fatalf("%v in %d steps, but %v in fewer", x, steps, before)
		}
		before = &x
	}
}

// searchForgets: what was solved before does not matter, and problems stay as they are.
func searchForgets(t *rapid.T) {
	first, second := fields(1).Draw(t, "first"), fields(1).Draw(t, "second")
	picture := second.String()
	p, s := &second.nodes[0].near, second.search
	steps := rapid.SampledFrom([]int{0, 3, enough}).Draw(t, "steps")
	want := *s.Solve(p, nil, nil, steps)
	wantSteps, wantUsed := s.Steps(), second.meter.Used
	used := first.search
	used.solver.early = s.solver.early
	used.Solve(&first.nodes[0].near, nil, nil, 5)
	used.Host, used.Keys, used.Order, used.Budgets, used.Capacity, used.Now, used.Meter = second, second, s.Order, s.Budgets, s.Capacity, s.Now, &first.meter
	before := first.meter.Used
	used.Pose(p)
	got := used.Solve(p, nil, nil, steps)
	if got.Found != want.Found || got.Found && (got.Total != want.Total || !slices.Equal(got.Taken, want.Taken)) || got.Proven != want.Proven || used.Steps() != wantSteps {
		t.Fatalf("%v in %d steps, but after another problem %v in %d", want, wantSteps, got, used.Steps())
	}
	if n := first.meter.Used - before; n != wantUsed {
		t.Fatalf("%d elementary steps, but after another problem %d", wantUsed, n)
	}
	if after := second.String(); after != picture {
		t.Fatalf("the problem has changed to\n%sfrom\n%s", after, picture)
	}
}

// stopStops: a search that is stopped, or has nothing left, ends soon with what it has.
func stopStops(t *rapid.T) {
	f := fields(1).Draw(t, "field")
	s, p := f.search, &f.nodes[0].near
	asked := rapid.Bool().Draw(t, "asked")
	calls := rapid.IntRange(0, 3).Draw(t, "calls")
	if asked {
		f.meter.Stop = func() bool { calls--; return calls < 0 }
	} else {
		f.meter.Left = rapid.Int64Range(0, 2000).Draw(t, "left")
	}
	a := s.Solve(p, nil, nil, enough)
	if a.Found {
		f.mustBeSet(t, p, a)
	}
	if a.Proven {
		f.mustBe(t, a, f.cheapest(f.minimal(p)))
	}
	if asked && calls < -1 {
		t.Fatal("asked again after it was stopped")
	}
	note("stopped", f.meter.Over() && !a.Proven)
}

// improveIsCheaper: what is offered near a plan is a set, and cheaper; mostly the cheapest. A plan
// that is none is left alone.
func improveIsCheaper(t *rapid.T) {
	f := fields(1).Draw(t, "field")
	s, p := f.search, &f.nodes[0].all
	sets := f.minimal(p)
	f.best = Best{}
	if len(sets) == 0 || s.Order.Compare != nil || s.Order.Sequence != nil || !f.nodes[0].admitted {
		return
	}
	x := rapid.SampledFrom(sets).Draw(t, "plan")
	f.best.Found, f.best.Total = true, x.total
	f.best.Note(s.Capacity)
	exact := s.Exact(0)
	if exact == nil {
		return // it needs nothing
	}
	taken := slices.Clone(x.taken)
	s.Improve(exact, taken, rapid.SampledFrom([]int{0, 5, 1000}).Draw(t, "steps"))
	switch {
	case f.wrong != "":
		t.Fatal(f.wrong)
	case !slices.Equal(taken, x.taken):
		t.Fatalf("%v was given and changed", x)
	}
	c := s.Order.CompareTotals(&f.best.Total, &x.total)
	if c > 0 {
		t.Fatalf("%v instead of %v", f.best.Total, x)
	}
	note("a plan is improved", c < 0)
	note("to the cheapest", s.Order.CompareTotals(&f.best.Total, &f.cheapest(sets).total) == 0)
	before := f.best
	if i := slices.IndexFunc(taken, func(n int32) bool { return n > 0 }); i >= 0 {
		taken[i]-- // no unit of a minimal set can be missing
		if s.Improve(exact, taken, 1000); f.best.Total != before.Total {
			t.Fatalf("%v from a set that lacks a unit", f.best.Total)
		}
	}
}

// boundIsBelow: the bound of a node is not above any of its plans, and nodes are sorted by it.
func boundIsBelow(t *rapid.T) {
	f := fields(4).Draw(t, "field")
	s := f.search
	if s.Order.Compare != nil {
		return
	}
	for n := range s.Nodes {
		bound, ok := s.Bound(int32(n))
		if !open(f.nodes[n].rough.Need) {
			continue
		}
		for i := range f.nodes[n].plans {
			x := &f.nodes[n].plans[i]
			if !ok || s.Order.CompareTotals(&bound, &x.total) > 0 {
				t.Fatalf("node %d: %t, and bound %v is above %v", n, ok, bound, x)
			}
		}
	}
	sorted := s.Sort(nil, s.Nodes)
	for i, n := range sorted {
		if i == 0 {
			continue
		}
		a, _ := s.Bound(sorted[i-1])
		if b, _ := s.Bound(n); s.Order.CompareTotals(&a, &b) > 0 {
			t.Fatalf("node %d with %v before %d with %v", sorted[i-1], a, n, b)
		}
	}
	for n := range s.Nodes {
		if open(f.nodes[n].rough.Need) && len(f.nodes[n].plans) > 0 && !slices.Contains(sorted, int32(n)) {
			t.Fatalf("node %d has plans", n)
		}
	}
}

// bestOfAll returns the node and the cheapest plan of all nodes that are admitted.
func (f *field) bestOfAll() (node int32, best *set) {
	for n := range f.nodes {
		if x := f.cheapest(f.nodes[n].plans); f.nodes[n].admitted && x != nil {
			if best == nil || f.search.Order.CompareTotals(&x.total, &best.total) < 0 {
				node, best = int32(n), x
			}
		}
	}
	return node, best
}

// mustBeBest fails unless the incumbent is the best of all.
func (f *field) mustBeBest(t *rapid.T) {
	node, want := f.bestOfAll()
	switch b := &f.best; {
	case f.wrong != "":
		t.Fatal(f.wrong)
	case b.Found != (want != nil):
		t.Fatalf("found %t, want node %d with %v", b.Found, node, want)
	case want == nil:
	case b.Node != node:
		t.Fatalf("node %d with %v, want %d with %v", b.Node, b.Total, node, want)
	default:
		if got := f.set(&f.nodes[node].all, f.taken); !slices.Equal(got.keys, want.keys) {
			t.Fatalf("node %d with %v, want %v", node, got, want)
		}
	}
}

// tryRoomy searches the nodes that need nothing of their own, of which bounds cannot speak.
func (f *field) tryRoomy() {
	for n := range f.nodes {
		if !open(f.nodes[n].rough.Need) && f.nodes[n].admitted {
			f.search.Try(int32(n))
		}
	}
}

// repeat lets a field have each node so many times. A scan of many nodes looks at some first.
func (f *field) repeat(times int) {
	first := f.nodes
	for len(f.nodes) < len(first)*times {
		n := int32(len(f.nodes))
		x := first[int(n)%len(first)]
		x.near.Node, x.all.Node, x.rough.Node = n, n, n
		f.nodes, f.search.Nodes = append(f.nodes, x), append(f.search.Nodes, n)
	}
}

// reuse lets a field have the search of another one after that was searched.
func (f *field) reuse(first *field) {
	used, s := first.search, f.search
	used.Scan(new(Scan))
	used.Host, used.Keys, used.Order, used.Meter, used.Dims, used.Budgets, used.Capacity = f, f, s.Order, s.Meter, s.Dims, s.Budgets, s.Capacity
	used.Now, used.Nodes, used.Best, used.Blind = s.Now, s.Nodes, s.Best, s.Blind
	used.solver.early = s.solver.early
	used.Reset()
	f.search = used
}

// searchIsLeast: scans, by frontier before or not, leave the best plan of all nodes.
func searchIsLeast(t *rapid.T) {
	f := fields(8).Draw(t, "field")
	if rapid.Bool().Draw(t, "not the first") {
		f.reuse(fields(3).Draw(t, "first"))
	}
	f.repeat(rapid.SampledFrom([]int{1, 1, 1, 40}).Draw(t, "times"))
	s := f.search
	c := new(Scan)
	f.tryRoomy()
	if !s.Blind && rapid.Bool().Draw(t, "frontier first") {
		done := s.Front(c)
		note("frontier", f.best.Found)
		_, want := f.bestOfAll()
		if done && s.Shown && !s.Order.LevelsFirst() {
			f.mustBeBest(t)
		}
		if done && s.Levels && f.best.Found != (want != nil) {
			t.Fatalf("the frontier found %t, want %v", f.best.Found, want)
		} else if done && want != nil && s.Order.CompareLevels(&f.best.Total.Levels, &want.total.Levels) != 0 {
			t.Fatalf("the frontier found %v, want %v", f.best.Total, want)
		}
	}
	if along := rapid.Bool().Draw(t, "along"); along && !s.Along(c) || !along && !s.Scan(c) || !s.Shown || !s.Levels {
		t.Fatalf("scanned not to the end, shown %t, levels %t", s.Shown, s.Levels)
	}
	f.mustBeBest(t)
}

// shownIsShown: with little left, what is said to be shown is true.
func shownIsShown(t *rapid.T) {
	f := fields(8).Draw(t, "field")
	f.repeat(rapid.SampledFrom([]int{1, 1, 1, 40}).Draw(t, "times"))
	s := f.search
	f.meter.Left = int64(rapid.IntRange(1, 100).Draw(t, "left")) * 200
	s.Overdraw = rapid.Int64Range(0, 3000).Draw(t, "overdraw")
	if rapid.Bool().Draw(t, "searches end early") {
		f.meter.Left, s.hasty = 1<<40, rapid.IntRange(1, 20).Draw(t, "steps")
	}
	c := new(Scan)
	f.tryRoomy()
	roomy, roomyLevels := s.Shown, s.Levels
	_, want := f.bestOfAll()
	levels := s.Order.LevelsFirst() && rapid.Bool().Draw(t, "frontier")
	if levels {
		s.Within(f.meter.Left/4, func() bool { return s.Scan(c) })
		if !s.Levels {
			*c, s.Shown, s.Levels = Scan{}, true, true // as if it had looked at nothing
		}
		levels = s.Front(c) && s.Levels && roomyLevels
	}
	if levels && (f.best.Found != (want != nil) || want != nil && s.Order.CompareLevels(&f.best.Total.Levels, &want.total.Levels) != 0) {
		t.Fatalf("levels %v are said to be the least, want %v", f.best.Total, want)
	}
	f.meter.Left = min(f.meter.Left, 1<<rapid.IntRange(4, 16).Draw(t, "left for all else"))
	shown := s.Scan(c) && s.Shown && roomy
	if shown {
		f.mustBeBest(t)
	}
	if f.wrong != "" {
		t.Fatal(f.wrong)
	}
	if b := &f.best; b.Found && b.Exact && s.Order.CompareTotals(&f.cheapest(f.nodes[b.Node].plans).total, &b.Total) < 0 {
		t.Fatalf("node %d has a plan cheaper than %v", b.Node, b.Total)
	}
	note("levels alone are shown", levels && !shown)
	note("exhausted", s.Exhausted())
}
