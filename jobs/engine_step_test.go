// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Plans under construction, step by step: who may go beside those who have gone,
// which host asks for the least, and what comes back in the end.

// choose lets units go, by their names with commas between.
func (d *desk) choose(t *testing.T, names string) {
	for name := range strings.SplitSeq(names, ",") {
		if name != "" {
			d.search.partial.choose(d.unit(t, name))
		}
	}
}

// Who may still go, with others gone: nobody twice, no member of a job beyond its
// surplus, and nobody below what bounds leave.
func TestPartial_MayGo(t *testing.T) {
	for _, test := range []struct{ name, hosts, gone, asked, may string }{
		{"one after another", "0: a1 b1", "a", "b", "yes"},
		{"nobody twice", "0: a1 b1", "a", "a", "no"},
		{"the surplus", "0: a1/g2 b1/g2 c1/g2", "", "a", "yes"},
		{"no more than the surplus", "0: a1/g2 b1/g2 c1/g2", "a", "b", "no"},
		{"the rest goes with the whole only", "0: a1/g2 b1/g2 c1/g2", "a", "[a b c]", "no"},
		{"nobody after the whole", "0: a1/g2 b1/g2 c1/g2", "[a b c]", "a", "no"},
		{"another job", "0: a1/g b1/g c1/h d1/h", "a", "c", "yes"},
		{"above the guarantee", "low=2; 0: a1 b1 c1", "", "a", "yes"},
		{"to the guarantee", "low=2; 0: a1 b1 c1", "a", "b", "no"},
		{"of the other leaf", "low=2; 0: a1 b1 A1", "", "A", "yes"},
		{"a hard budget", "hard=1; 0: a1%hard b1%hard c1", "a", "b", "no"},
		{"beside a hard budget", "hard=1; 0: a1%hard b1%hard c1", "a", "c", "yes"},
		{"a soft budget", "soft=0; 0: a1%soft b1%soft", "a", "b", "yes"},
		{"a job that uses it up", "hard=2; 0: a1/g2%hard b1/g2%hard c1%hard", "c", "[a b]", "no"},
		{"a job within it", "hard=3; 0: a1/g2%hard b1/g2%hard c1%hard", "c", "[a b]", "yes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tableDesk(t, test.hosts, 1)
			p := &d.search.partial
			p.begin()
			d.choose(t, test.gone)
			values := slices.Clone(p.values)
			asked := d.unit(t, test.asked)
			require.Equal(t, test.may == "yes", p.mayGo(asked))
			require.Equal(t, test.may == "yes", p.mayGoTogether([]int32{asked}))
			require.Equal(t, values, p.values, "to ask changes nothing")
		})
	}
}

// Two who may go, each alone, may be too many together.
func TestPartial_Together(t *testing.T) {
	d := tableDesk(t, "low=2; 0: a1 b1 c1", 1)
	p := &d.search.partial
	p.begin()
	a, b := d.unit(t, "a"), d.unit(t, "b")
	require.True(t, p.mayGo(a) && p.mayGo(b))
	require.False(t, p.mayGoTogether([]int32{a, b}))
	require.True(t, p.mayGoTogether(nil))
	p.chooseAll([]int32{b, a})
	require.Equal(t, "b", d.unitNames(p.chosen), "who comes first goes")
}

// What soft budgets have left shrinks with those who go, down to nothing.
func TestPartial_BudgetsLeft(t *testing.T) {
	d := tableDesk(t, "soft=1; 0: a1%soft b1%soft c1", 1)
	p := &d.search.partial
	p.begin()
	for _, test := range []struct {
		goes string
		left int64
	}{{"c", 1}, {"a", 0}, {"b", 0}} {
		d.choose(t, test.goes)
		require.Equal(t, test.left, p.budgetsLeft()[0])
	}
	require.Equal(t, int64(1), d.board.budgets.overrun(p.used))
	p.takeBack(1)
	require.Equal(t, int64(1), p.budgetsLeft()[0])
}

// Queues that are short are covered by the cheapest who help them, wherever they
// run, if a ceiling and the bounds admit enough.
func TestPartial_CoverQueues(t *testing.T) {
	plain := noCeiling()
	plain.plain = true
	for _, test := range []struct {
		name, hosts string
		member      int64
		l           ceiling
		want        string
	}{
		{"nothing is short", "9: A4", 4, noCeiling(), ""},
		{"who is below the queue", "max=4; 4: A4 b4", 4, noCeiling(), "A"},
		// 10 are used, 2 asked for and 6 allowed. Below a ceiling rank does not count
		// any more, so two go rather than three; a lower one leaves no choice.
		{"the fewest below the ceiling", "max=6; 4: A4p1 | 0: B2 C2 D2", 2, noCeiling(), "A B"},
		{"below a lower ceiling", "max=6; 4: A4p1 | 0: B2 C2 D2", 2, ceiling{rank: -9, priority: 0}, "B C D"},
		{"of the cheaper ones", "max=8; 4: A2p1 B2 | 0: C2 D2", 2, noCeiling(), "B"},
		{"not above the ceiling", "max=4; 4: A4p1", 4, ceiling{rank: -9, priority: 0}, "none"},
		{"nobody who opted out", "max=4; 4: A4!", 4, plain, "none"},
		{"if it must be", "max=4; 4: A4!", 4, noCeiling(), "A"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tableDesk(t, test.hosts, test.member)
			p := &d.search.partial
			p.begin()
			got := "none"
			if p.coverQueues(test.l) {
				require.True(t, p.queuesCovered())
				got = d.unitNames(p.chosen)
			}
			require.Equal(t, test.want, got)
		})
	}
}

// Members have their places and give them up again, and room follows.
func TestPartial_Seats(t *testing.T) {
	d := tableDesk(t, "4: | 6: a1", 4, 2)
	p := &d.search.partial
	p.begin()
	fresh := slices.Clone(p.free)
	p.seatAll([]int32{1, 1})
	require.Equal(t, []int32{1, 1}, p.at)
	require.Equal(t, resources.Vector{0, 0}, resources.Vector(d.board.row(p.free, 1)))
	p.unseat(0)
	require.Equal(t, []int32{-1, 1}, p.at)
	require.Equal(t, resources.Vector{4, 0}, resources.Vector(d.board.row(p.free, 1)))
	p.unseat(1)
	require.Equal(t, fresh, p.free)
}

// Hosts are asked one after another for the cheapest offer, and each member that
// is placed makes the next one dearer.
func TestOffers_Table(t *testing.T) {
	for _, test := range []struct {
		name, hosts string
		want        string
	}{
		{"free first, then the cheapest", "0: a4p1 | 0: b4 | 4:", "2 by nobody, 1 by b, 0 by a"},
		{"one host for two", "0: a4 b4 | 0: c4", "0 by a, 0 by b, 1 by c"},
		{"as cheap: in node order", "4: | 4:", "0 by nobody, 1 by nobody"},
		{"in node order, if not told so", "6: | 4: | 5:", "0 by nobody, 1 by nobody, 2 by nobody"},
		{"what one leaves helps the next", "0: a8 | 0: b2 c2", "0 by a, 0 by nobody, 1 by b c"},
		{"the surplus only", "0: a4/g b4/g", "0 by a"},
		{"nobody opted out, if there is a choice", "0: a4! | 0: b2 c2", "1 by b c, 0 by a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tableDesk(t, test.hosts, 4)
			x := &d.search.grow
			x.partial.begin()
			x.ceiling, x.patience = noCeiling(), patient
			x.collect(&d.board.kinds[0])
			var got []string
			for h := x.cheapest(); h >= 0; h = x.cheapest() {
				names := d.unitNames(x.unitsOf(h))
				if names == "" {
					names = "nobody"
				}
				got = append(got, fmt.Sprintf("%d by %s", h, names))
				before := len(x.partial.chosen)
				for _, u := range x.unitsOf(h) {
					x.partial.choose(u)
				}
				addTo(d.board.row(x.partial.free, int(h)), resources.Vector{4, 0}, -1)
				x.changed(before, h)
			}
			require.Equal(t, test.want, strings.Join(got, ", "))
		})
	}
}

// A host that the predicate refuses is passed over for the member at hand, and
// offers again for the next one.
func TestOffers_Refused(t *testing.T) {
	d := tableDesk(t, "0: a4 | 0: b4p1", 4)
	x := &d.search.grow
	x.partial.begin()
	x.ceiling, x.patience = noCeiling(), patient
	x.collect(&d.board.kinds[0])
	require.Equal(t, int32(0), x.cheapest())
	for h, next := range []int32{1, -1} {
		x.refuse(int32(h))
		require.Equal(t, next, x.cheapest())
	}
	x.reconsider()
	require.Empty(t, x.refused)
	require.Equal(t, int32(0), x.cheapest())
}

// A task that runs on no host of the case frees nothing there, and a whole job is
// offered by every host that it has a member on.
func TestOffers_WholeJob(t *testing.T) {
	d := tableDesk(t, "0: a4/g2 | 0: b4/g2", 4, 4)
	x := &d.search.grow
	x.partial.begin()
	x.ceiling, x.patience = noCeiling(), patient
	x.collect(&d.board.kinds[0])
	h := x.cheapest()
	require.Equal(t, int32(0), h)
	require.Equal(t, "[a b]", d.unitNames(x.unitsOf(h)))
	x.partial.chooseAll(x.unitsOf(h))
	x.partial.seat(0, h)
	x.changed(0, h)
	h = x.cheapest()
	require.Equal(t, int32(1), h)
	require.Empty(t, x.unitsOf(h), "b has gone with a")
}

// A host offers nobody who may not go beside those who have gone, though each of them
// may. The root may lose 8, as much as arrives. If a goes with 4, not both of A and B may
// go, which have 5.
func TestOffers_OwnLeaf(t *testing.T) {
	d := tableDesk(t, "root=9; 0: a4 | 0: A3 B2", 4, 4)
	x := &d.search.grow
	x.partial.begin()
	x.ceiling, x.patience = noCeiling(), patient
	x.collect(&d.board.kinds[0])
	for h, unit := range []string{"a", "A B"} {
		x.workOut(int32(h))
		require.Equal(t, possible, x.list[h].state)
		require.Equal(t, unit, d.unitNames(x.unitsOf(int32(h))))
	}
	x.partial.choose(d.unit(t, "a"))
	x.partial.seat(0, 0)
	x.changed(0, 0)
	for _, unit := range []string{"A", "B"} {
		require.True(t, x.partial.mayGo(d.unit(t, unit)))
	}
	// If it were possible it would be asked about for ever: it is the cheapest, and may
	// not go.
	x.workOut(1)
	require.Equal(t, impossible, x.list[1].state)
	require.Negative(t, x.cheapest())
}

// A plan in which more go than must is trimmed: the most valuable come back first,
// of a whole job its minimum, and whoever the predicate wants gone stays gone.
func TestFinisher_Table(t *testing.T) {
	wants := func(keys string) func(gone []string) bool {
		return func(gone []string) bool {
			for key := range strings.SplitSeq(keys, " ") {
				if !slices.Contains(gone, key) {
					return false
				}
			}
			return true
		}
	}
	for _, test := range []struct {
		name, hosts string
		gone        string
		at          []int32
		accepts     func(gone []string) bool
		want        string
	}{
		{"nothing is spare", "0: a4", "a", []int32{0}, nil, "0: a"},
		{"the most valuable comes back", "0: a4p2 b4 c4p1", "a,b,c", []int32{0}, nil, "0: b"},
		{"as valuable: the last by key stays", "0: a4 b4", "a,b", []int32{0}, nil, "0: a"},
		{"whoever is elsewhere", "0: a4 | 0: b4", "a,b", []int32{0}, nil, "0: a"},
		{"for nobody", "4: a4", "a", []int32{0}, nil, "0: "},
		{"the surplus of a whole job", "0: a4/g b4/g", "[a b]", []int32{0}, nil, "0: a"},
		{"the surplus is not enough", "0: a4/g b4/g", "[a b]", []int32{0, 0}, nil, "0 0: a b"},
		{"the whole is spare", "0: a4/g2 b4/g2 c4", "[a b],c", []int32{0}, nil, "0: c"},
		{"the predicate wants it gone", "0: a4p2 b4 c4p1", "a,b,c", []int32{0}, wants("c"), "0: c"},
		{"it wants two gone", "0: a4p2 b4 c4p1", "a,b,c", []int32{0}, wants("a b"), "0: a b"},
		{"it wants all of a job gone", "0: a4/g b4/g", "[a b]", []int32{0}, wants("a b"), "0: a b"},
		{"it refuses all", "0: a4", "a", []int32{0}, wants("x"), "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tableDesk(t, test.hosts, slices.Repeat([]int64{4}, len(test.at))...)
			s := &d.search
			if test.accepts != nil {
				s.asker.picky, s.asker.predicate = true, func(p *victims.Question) bool { return test.accepts(d.keys(p.Victims)) }
			}
			s.best.found = false
			s.partial.begin()
			d.choose(t, test.gone)
			s.partial.seatAll(test.at)
			require.True(t, s.partial.covered())
			require.Equal(t, test.want != "none", s.partial.finish())
			require.Equal(t, test.want, d.said())
		})
	}
}

// keys are those of some tasks.
func (d *desk) keys(tasks []victims.TaskID) (keys []string) {
	for _, id := range tasks {
		keys = append(keys, d.board.c.Key(id))
	}
	return keys
}

// A partial plan is no plan while a member lacks room, or a queue is short.
func TestFinisher_Covered(t *testing.T) {
	for _, test := range []struct {
		hosts, gone string
		want        bool
	}{
		{"0: a4", "", false},
		{"0: a4", "a", true},
		{"0: a3 b1", "a", false},
		{"max=4; 4: A4", "", false},
		{"max=4; 4: A4", "A", true},
	} {
		d := tableDesk(t, test.hosts, 4)
		d.search.partial.begin()
		d.choose(t, test.gone)
		d.search.partial.seatAll([]int32{0})
		require.Equal(t, test.want, d.search.partial.covered(), "%s without %s", test.hosts, test.gone)
	}
}

// A plan that was made elsewhere is made minimal: all of a job goes there, and its surplus
// would do.
func TestFinisher_TryOut(t *testing.T) {
	d := tableDesk(t, "0: a4/g b4/g | 4:", 4, 4)
	s := &d.search
	s.best.found = false
	require.True(t, s.partial.tryOut([]int32{0, 1}, []int32{d.unit(t, "[a b]")}))
	require.Equal(t, "0 1: a", d.said())
}

// What goes beyond need counts as excess by the larger of what nodes and what
// queues need: it is freed once.
func TestFinisher_Wanted(t *testing.T) {
	for _, test := range []struct {
		hosts  string
		at     []int32
		wanted int64
	}{
		{"0: a4", []int32{0}, 4},
		{"3: a4", []int32{0}, 1},
		{"0: a8", []int32{0, 0}, 8},
		{"4: a4 | 0: b4", []int32{0, 1}, 4},
		{"max=4; 4: A4", []int32{0}, 4},         // the queue needs 4, and the node nothing
		{"max=4; 2: A4 | 0: b4", []int32{0}, 4}, // the node needs 2 of them
	} {
		d := tableDesk(t, test.hosts, slices.Repeat([]int64{4}, len(test.at))...)
		d.search.partial.load.set(test.at)
		require.Equal(t, test.wanted, d.search.partial.wantedFor()[0], test.hosts)
	}
}

// A partial plan from a random state comes to a finished one that keeps all
// bounds, has room, and takes nobody who had not gone already.
func TestFinisher_Keeps(t *testing.T) { rapid.Check(t, finisherKeeps) }

func FuzzFinisher_Keeps(f *testing.F) { f.Fuzz(rapid.MakeFuzz(finisherKeeps)) }

func finisherKeeps(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	c, s := d.board, &d.search
	var order []int32
	for u := range c.units {
		order = append(order, int32(u))
	}
	s.best.found = false
	s.partial.begin()
	s.partial.chooseAll(rapid.Permutation(order).Draw(t, "order"))
	gone := map[int32]bool{}
	for _, u := range s.partial.chosen {
		for _, i := range c.tasksOf(u) {
			gone[i] = true
		}
	}
	if !s.pack.packInto(s.partial.free, nil) || !s.partial.queuesCovered() {
		return
	}
	s.partial.seatAll(s.pack.at)
	require.True(t, s.partial.finish())
	require.True(t, lawful(c, s.best.chosen))
	for _, u := range s.best.chosen {
		for _, i := range c.tasksOf(u) {
			require.True(t, gone[i])
		}
	}
	set := &unitSet{units: s.best.chosen}
	for _, other := range everySet(c) {
		if slices.Equal(other.units, slices.Sorted(slices.Values(s.best.chosen))) {
			set = &other
		}
	}
	require.NotEmpty(t, set.free, "it is a set that may go")
	require.True(t, set.carries(c, s.best.at))
}
