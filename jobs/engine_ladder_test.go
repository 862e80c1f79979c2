// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/victims"
)

// The ladder of engines: which cases are searched completely, what is proven of
// what comes out, and what happens once a predicate refuses.

// What comes of a case and how far it is proven: the cost if all ways were looked
// at, the levels if alike members were spread out and nothing but nodes decides.
// Quick treats small cases like large ones.
func TestLadder(t *testing.T) {
	for _, test := range []struct {
		name, hosts string
		members     []int64
		quick       bool
		want        string
	}{
		{"small", "0: a4 | 0: b4p1", []int64{4}, false, "0: a, cost"},
		{"alike", "0: a4 | 0: b4p1", []int64{4}, true, "0: a, levels"},
		{"of two sizes", "0: a4 | 0: b6", []int64{4, 6}, true, "0 1: a b, levels"},
		{"of two sizes, and sums do not show that three are needed", "0: a4 | 0: b6 | 0: c5", []int64{4, 4, 3}, true, "0 1 2: a b c, levels"},
		{"of two sizes, and a hard budget", "hard=1; 0: a4%hard | 0: b4%hard | 0: c2 d2", []int64{4, 3}, true, "0 2: a c d, none"},
		{"with a whole job", "0: a4/g2 | 0: b4/g2", []int64{4, 4}, true, "0 1: a b, none"},
		{"with a bound in the way", "low=4; 0: a4 | 0: b4", []int64{4}, true, "0: a, levels"},
		{"with headroom", "max=4; 4: A4", []int64{4}, true, "0: A, none"},
		{"no way, small", "0: a3 | 0: b3", []int64{4}, false, "none, none"}, // it is inconceivable
		{"no lawful way, small", "low=2; 0: a2 b2", []int64{4}, false, "none, cost"},
		{"no lawful way, large", "low=2; 0: a2 b2", []int64{4}, true, "none, none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tableDesk(t, test.hosts, test.members...)
			s := &d.search
			s.quick = test.quick
			found := s.choose()
			require.Equal(t, test.want, fmt.Sprintf("%s, %v", d.said(), s.proof))
			require.Equal(t, found, s.best.found)
		})
	}
}

// With the quick way a refusal is never certain, unless there could be no room at
// all.
func TestLadder_Refusals(t *testing.T) {
	for _, test := range []struct {
		hosts  string
		proven bool
	}{
		{"0: a3", true},              // a member fits nowhere
		{"max=3; 4: A1", true},       // nor in its queue
		{"low=2; 0: a2 b2", false},   // law 2 is no matter of room
		{"hard=0; 0: a4%hard", true}, // nobody could go at all
	} {
		d := tableDesk(t, test.hosts, 4)
		d.search.quick = true
		require.False(t, d.search.choose(), test.hosts)
		require.Equal(t, test.proven, d.search.proven, test.hosts)
	}
}

// What could never do is told before anything is searched: with everybody gone who
// could there is no room for a member, for all members of the only kind, or in a
// queue.
func TestConceivable(t *testing.T) {
	for _, test := range []struct {
		name, hosts string
		members     []int64
		want        bool
	}{
		{"room for one", "0: a4", []int64{4}, true},
		{"room for none", "0: a3", []int64{4}, false},
		{"room for all of a kind", "0: a4 | 0: b4", []int64{4, 4}, true},
		{"room for one of two alike", "0: a7", []int64{4, 4}, false},
		// Of two kinds each has room by itself; that both have none is for the search.
		{"room for one of two kinds", "0: a6", []int64{4, 6}, true},
		{"a queue with enough to give", "max=4; 4: A4", []int64{4}, true},
		{"a queue with too little", "max=4; 4: A2 | 0: b4", []int64{6}, false},
		{"a queue whose tasks are on other nodes", "max=4; 4: | 0: A4", []int64{4}, true},
		{"nobody may go", "hard=0; 0: a4%hard", []int64{4}, false},
		{"a job that is whole", "0: a4/g2 | 0: b4/g2", []int64{4, 4}, true},
		{"law 2 is not asked", "low=8; 0: a4 b4", []int64{4}, false}, // each alone is too much already
		{"law 2 is not asked of both", "low=4; 0: a4 | 0: b4", []int64{4, 4}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tableDesk(t, test.hosts, test.members...)
			require.Equal(t, test.want, d.search.conceivable())
		})
	}
}

// What is inconceivable has no plan.
func TestConceivable_Twin(t *testing.T) { rapid.Check(t, inconceivableHasNone) }

func FuzzConceivable(f *testing.F) { f.Fuzz(rapid.MakeFuzz(inconceivableHasNone)) }

func inconceivableHasNone(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	if d.search.conceivable() {
		return
	}
	best := bestOfAll(d.board, func(int, int32) bool { return true })
	require.False(t, best.found, "%v at %v", best.chosen, best.at)
}

// A search ends if what it has found is proven, or anything at all if any plan will
// do, or if it is proven that there is none.
func TestLadder_Settled(t *testing.T) {
	for _, test := range []struct {
		found, eager bool
		proof        victims.Proof
		want         bool
	}{
		{true, false, victims.NoProof, false},
		{true, true, victims.NoProof, true},
		{true, false, victims.ProofLevels, true},
		{true, false, victims.ProofCost, true},
		{false, false, victims.NoProof, false},
		{false, true, victims.NoProof, false},
		{false, false, victims.ProofLevels, false}, // of a plan that there is not
		{false, false, victims.ProofCost, true},
	} {
		s := &search{effort: &effort{eager: test.eager}, proof: test.proof}
		s.best.found = test.found
		require.Equal(t, test.want, s.settled(), test)
	}
}

// How many choices the last complete search may make: all that a medium case takes,
// none for a large one with a plan, and for one without a plan fewer the larger it
// is.
func TestLadder_StepsLeft(t *testing.T) {
	large := func(hosts, units int) *jobCase {
		c := &jobCase{}
		c.area.hosts, c.area.units = make([]int32, hosts), make([]int32, units)
		c.kinds = []kind{{end: 8}}
		return c
	}
	for _, test := range []struct {
		c            *jobCase
		found, quick bool
		want         int
	}{
		{large(2, 2), false, false, pace},
		{large(2, 2), true, false, pace},
		{large(2, 2), false, true, 0},
		{large(1000, 24), true, false, 0},
		{large(1000, 24), false, false, pace / 16},
		{large(1000, 1048), false, false, pace / 32},
	} {
		s := &search{jobCase: test.c, quick: test.quick}
		s.best.found = test.found
		require.Equal(t, test.want, s.stepsLeft(), "%d hosts, %d units", len(test.c.area.hosts), len(test.c.area.units))
	}
}

// The size of a case is its ways, times what one takes to look at.
func TestWithin(t *testing.T) {
	c := &jobCase{}
	c.area.hosts, c.kinds = make([]int32, 128), []kind{{end: 1}}
	c.area.units = make([]int32, 128-8) // 128 ways of 128: 1 << 14
	require.Equal(t, uint64(128), c.ways())
	require.False(t, c.within(small))
	require.True(t, c.within(small+1))
	c.kinds = append(c.kinds, kind{end: 1}) // another member of its own kind: 128 times as many ways
	require.Equal(t, uint64(128*128), c.ways())
	require.False(t, c.within(medium))
}

// A budget is for the whole decision. Once it is spent only what must be done is
// done; until there is a plan as much again may be taken, or a million steps.
func TestEffort(t *testing.T) {
	c := tableDesk(t, "0: a4", 4).board.c
	for _, test := range []struct {
		budget  int64
		members int
		most    int64
	}{
		{7, 1, 7},
		{7, 100, 7}, // a budget that is given is not multiplied
		{0, 1, lent.To(new(victims.Options)).DefaultSteps(c)},
		{0, 0, lent.To(new(victims.Options)).DefaultSteps(c)},
		{0, 3, 3 * lent.To(new(victims.Options)).DefaultSteps(c)},
		{-1, 1, lent.To(new(victims.Options)).DefaultSteps(c)},
		{0, math.MaxInt, math.MaxInt64},
	} {
		var e effort
		e.begin(&Planner{Cluster: c, Options: victims.Options{Steps: test.budget}}, test.members)
		require.Equal(t, effort{most: test.most, set: test.budget > 0, Meter: least.Meter{Left: test.most}}, e, "%d for %d", test.budget, test.members)
	}
	e := effort{most: 10, Meter: least.Meter{Left: 10}}
	e.spend(4)
	require.Equal(t, int64(4), e.steps())
	require.False(t, e.exhausted())
	e.spend(6)
	require.Equal(t, int64(10), e.steps())
	require.False(t, e.exhausted(), "there is no plan yet")
	e.found = true
	require.True(t, e.exhausted())
	e.found = false
	e.spend(1 << 20)
	require.True(t, e.exhausted())
}

// Of plans from several domains the cheapest is kept, then the one whose nodes rank
// lower, then the first domain.
func TestChosen_Offer(t *testing.T) {
	plan := func(domain int32, victimsOf int, rank int64) *incumbent {
		return &incumbent{
			cost: victims.Cost{Victims: victimsOf}, levels: cost.Levels{rulebook.LevelVictims: int64(victimsOf)},
			jobCase: new(jobCase), rank: rankSum{}.plus(rank, 1), at: []int32{10*domain + 1, 10 * domain}, chosen: []int32{5 * domain},
		}
	}
	for _, test := range []struct {
		name   string
		offers [][3]int // domain, victims, rank
		want   int32
	}{
		{"the first", [][3]int{{3, 2, 0}}, 3},
		{"the cheaper", [][3]int{{3, 2, 0}, {4, 1, 9}}, 4},
		{"not the dearer", [][3]int{{3, 2, 9}, {4, 3, 0}}, 3},
		{"by rank", [][3]int{{3, 2, 1}, {4, 2, 0}}, 4},
		{"by domain", [][3]int{{3, 2, 0}, {1, 2, 0}}, 1},
		{"the same again", [][3]int{{3, 2, 0}, {3, 2, 0}}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b chosen
			for _, o := range test.offers {
				b.offer(plan(int32(o[0]), o[1], int64(o[2])), int32(o[0]))
			}
			require.Equal(t, test.want, b.domain)
			require.Equal(t, []int32{10*test.want + 1, 10 * test.want}, b.at)
			require.Equal(t, []int32{5 * test.want}, b.units)
		})
	}
}

// refuser is a predicate by hand: it refuses some members on some hosts ("j0=1"),
// and everybody unless some tasks have gone.
type refuser struct {
	refused []string
	wants   []string
	asked   int
}

func (r *refuser) accepts(d *desk) func(p *victims.Question) bool {
	return func(p *victims.Question) bool {
		r.asked++
		if slices.Contains(r.refused, fmt.Sprintf("%s=%d", p.Member.Key, d.board.hostAt(p.Node))) {
			return false
		}
		gone := d.keys(p.Victims)
		return !slices.ContainsFunc(r.wants, func(key string) bool { return !slices.Contains(gone, key) })
	}
}

// After a refusal the best plan is looked for with the predicate in the loop. Small
// cases are searched completely, and a set that was enough and refused leaves
// nothing proven.
func TestPersuade_Table(t *testing.T) {
	for _, test := range []struct {
		name, hosts string
		members     []int64
		r           refuser
		want        string
	}{
		{"accepted", "0: a4 | 0: b4p1", []int64{4}, refuser{}, "0: a, cost"},
		{"the other host", "0: a4 | 0: b4p1", []int64{4}, refuser{refused: []string{"j0=0"}}, "1: b, cost"},
		{"no host", "0: a4 | 0: b4p1", []int64{4}, refuser{refused: []string{"j0=0", "j0=1"}}, "none, cost"},
		{"alike, and told apart", "0: a4 | 0: b4p1", []int64{4, 4}, refuser{refused: []string{"j0=0"}}, "1 0: a b, cost"},
		{"another victim", "0: a4 b4p1", []int64{4}, refuser{wants: []string{"b"}}, "0: b, none"},
		{"both victims", "0: a4 b4p1", []int64{4}, refuser{wants: []string{"a", "b"}}, "0: a b, none"},
		{"a victim elsewhere", "0: a4 | 0: b4p1", []int64{4}, refuser{wants: []string{"b"}}, "1: b, none"},
		{"who may not go", "0: a4 | 0: b4p9", []int64{4}, refuser{wants: []string{"b"}}, "none, cost"},
		{"both members of a job", "0: a4/g2 b4/g2", []int64{4}, refuser{wants: []string{"a", "b"}}, "0: a b, cost"},
		// The surplus of g goes first, and then g cannot go as a whole any more: a plan
		// is missed, and nothing is said to be proven.
		{"all of a job with a surplus", "0: a4/g b4/g", []int64{4}, refuser{wants: []string{"a", "b"}}, "none, none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tableDesk(t, test.hosts, test.members...)
			d.search.asker.predicate = test.r.accepts(d)
			found := d.search.choose()
			require.Equal(t, test.want, fmt.Sprintf("%s, %v", d.said(), d.search.proof))
			require.Equal(t, found, d.search.best.found)
			require.Positive(t, test.r.asked)
		})
	}
}

// A case with too many ways is not searched with the predicate in the loop: members
// are placed one by one, and each is asked about until it is accepted.
func TestPersuade_Large(t *testing.T) {
	const hosts = 130 // with two members 16,900 ways
	row := strings.Repeat("0: a4 | ", hosts-1) + "0: a4"
	r := refuser{}
	for h := range hosts {
		if h != 7 && h != 9 {
			r.refused = append(r.refused, fmt.Sprintf("j0=%d", h))
		}
		if h < 9 {
			r.refused = append(r.refused, fmt.Sprintf("j1=%d", h))
		}
	}
	d := tableDesk(t, differentKeys(row), 4, 4)
	require.False(t, d.search.fewWays())
	d.search.asker.predicate = r.accepts(d)
	require.True(t, d.search.choose())
	require.Equal(t, []int32{7, 9}, d.search.best.at)
	require.Equal(t, victims.NoProof, d.search.proof)

	// If it refuses the first member everywhere, that is soon seen of all hosts, and
	// proven.
	d.search.asker.predicate = func(*victims.Question) bool { return false }
	require.False(t, d.search.choose())
	require.True(t, d.search.proven)

	// If it refuses the second one there are too many ways to look at them all.
	d.effort.Left = 1 << 14
	d.search.asker.predicate = func(p *victims.Question) bool { return p.Member.Key == "j0" }
	require.False(t, d.search.choose())
	require.False(t, d.search.proven)
}

// differentKeys numbers the tasks of a desk by letters: a4 a4 become aaa4 aab4.
func differentKeys(hosts string) string {
	n := -1
	words := strings.Fields(hosts)
	for i, word := range words {
		if word[0] == 'a' {
			n++
			words[i] = fmt.Sprintf("%c%c%c%s", 'a'+n/676, 'a'+n/26%26, 'a'+n%26, word[1:])
		}
	}
	return strings.Join(words, " ")
}

// The asker counts refusals, and shows members in their order, each with those
// before it and with all victims.
func TestAsker(t *testing.T) {
	d := tableDesk(t, "4: a4 | 4: b4", 4, 4)
	a := &d.search.asker
	require.False(t, a.asks(), "there is no predicate")
	require.True(t, a.acceptsAll([]int32{0, 1}, nil))

	var shown []string
	a.predicate = func(p *victims.Question) bool {
		shown = append(shown, fmt.Sprintf("%s on %d after %d without %v", p.Member.Key, d.board.hostAt(p.Node), len(p.Places), d.keys(p.Victims)))
		return p.Member.Key == "j0"
	}
	require.False(t, a.asks(), "it is not in the loop")
	a.picky = true
	require.True(t, a.asks())
	require.False(t, a.acceptsAll([]int32{1, 0}, []int32{d.unit(t, "b")}))
	require.Equal(t, 1, a.refusals)
	require.True(t, a.conceives([]int32{0}))
	require.Equal(t, []string{
		"j0 on 1 after 0 without [b]", "j1 on 0 after 1 without [b]",
		"j0 on 0 after 0 without [a b]", // everybody who could go
	}, shown)
}
