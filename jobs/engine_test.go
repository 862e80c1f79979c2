// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// setMinimums tells a cluster how many members each job that has tasks needs.
func setMinimums(t require.TestingT, c *victims.Cluster, minimum func(job string) int) {
	for _, id := range slices.Collect(c.Tasks()) {
		if job := c.Job(id); job != "" {
			require.NoError(t, c.SetMinMembers(job, minimum(job)))
		}
	}
}

// desk is a case of a few hosts for tests of engines alone: tasks of one leaf
// run on them, and a job of another leaf asks for members of one or two sizes.
type desk struct {
	board  *jobCase
	effort *effort
	search search
}

// drawDesk draws a small case and wires a search to it.
func drawDesk(t *rapid.T, alike bool) *desk {
	schema, err := resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "q"}, {Name: "low", Guaranteed: resources.Limit{Value: resources.Vector{int64(rapid.IntRange(0, 4).Draw(t, "guaranteed")), 0}, Defined: 1}},
	}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	q, _ := tree.Lookup("root.q")
	low, _ := tree.Lookup("root.low")
	for _, name := range []string{"hard", "soft"} {
		left := int64(rapid.IntRange(0, 2).Draw(t, name))
		require.NoError(t, c.SetBudget(name, victims.Budget{Left: left, Hard: name == "hard"}))
	}
	size := func(name string, most int) resources.Vector {
		return resources.Vector{int64(rapid.IntRange(0, most).Draw(t, name)), int64(rapid.IntRange(0, 1).Draw(t, name))}
	}
	for n := range rapid.SampledFrom([]int{2, 1, 3, 3}).Draw(t, "nodes") {
		// Nodes are full or nearly so, or members would fit too often.
		capacity := size("free", 1)
		var tasks []victims.Task
		for i := range rapid.IntRange(0, 3).Draw(t, "tasks") {
			task := victims.Task{
				Key: fmt.Sprintf("t%d-%d", n, i), Queue: low, Size: size("task", 3),
				Priority: int32(rapid.IntRange(0, 2).Draw(t, "priority")),
				Job:      rapid.SampledFrom([]string{"", "", "g"}).Draw(t, "job"),
				OptedOut: rapid.IntRange(0, 7).Draw(t, "opted out") == 0,
				Budgets:  rapid.SampledFrom([][]string{nil, nil, nil, {"hard"}, {"soft"}, {"hard", "soft"}}).Draw(t, "budgets"),
			}
			capacity = resources.Add(capacity, capacity, task.Size)
			tasks = append(tasks, task)
		}
		id, err := c.AddNode(&victims.Node{Name: fmt.Sprintf("n%d", n), Capacity: capacity, Penalty: int64(n % 2)})
		require.NoError(t, err)
		for i := range tasks {
			tasks[i].Node = id
			_, err := c.AddTask(&tasks[i])
			require.NoError(t, err)
		}
	}
	job := &victims.Ask{Key: "j", Queue: q, Priority: 9}
	first := size("member", 3)
	for i := range rapid.SampledFrom([]int{1, 2, 2, 3, 4}).Draw(t, "members") {
		m := victims.Member{Key: fmt.Sprintf("j%d", i), Size: first}
		if !alike {
			m.Size = size("member", 3)
		}
		job.Members = append(job.Members, m)
	}
	d := &desk{board: new(jobCase), effort: endless()}
	setMinimums(t, c, func(string) int { return 1 })
	p := &Planner{Options: victims.Options{ByPriority: true}, Cluster: c}
	require.NoError(t, d.board.begin(p, job, time.Unix(0, 0)))
	d.board.place()
	d.board.prepare(len(d.board.unplaced))
	d.search.wire(d.board, d.effort, p)
	d.search.asker.picky = false
	d.search.bounds.begin(d.board)
	d.search.cover.reset()
	return d
}

// The least that a host may cost is no more than what its cheapest units do, and
// it says no only if there are none.
func TestLeast_Twin(t *testing.T) { rapid.Check(t, leastIsTwin) }

func FuzzLeast(f *testing.F) { f.Fuzz(rapid.MakeFuzz(leastIsTwin)) }

func leastIsTwin(t *rapid.T) {
	d := drawDesk(t, true)
	c, s := d.board, &d.search
	for h := range c.hosts {
		for n := int64(1); n <= 3; n++ {
			k := &c.kinds[0]
			s.lacks(membersOf(k, n), c.hosts[h].free)
			low, ok := c.least(int32(h), s.lack)
			best, found := cheapestOn(c, int32(h), k, n)
			if found && (!ok || low.compareLevels(&best) > 0) {
				t.Fatalf("host %d, %d members: at least %v %v, and %v does", h, n, low.levels, ok, best.levels)
			}
			if !ok && found {
				t.Fatalf("host %d has room for %d members", h, n)
			}
		}
	}
}

// membersOf returns what some members of a kind want.
func membersOf(k *kind, n int64) resources.Vector {
	want := make(resources.Vector, len(k.size))
	for range n {
		want = resources.Add(want, want, k.size)
	}
	return want
}

// cheapestOn tries every set of units on a host that go alone and returns the
// least sums of those that make room.
func cheapestOn(c *jobCase, h int32, k *kind, n int64) (best sums, found bool) {
	units := c.unitsOn(h)
	for set := range 1 << len(units) {
		free := slices.Clone(c.hosts[h].free)
		var cost sums
		for i, u := range units {
			if set>>i&1 == 0 {
				continue
			}
			cost.add(&c.order, &c.units[u])
			for _, task := range c.tasksOf(u) {
				if c.cands[task].host == h {
					addTo(free, c.cands[task].size, +1)
				}
			}
		}
		fits := true
		for _, typ := range k.types {
			fits = fits && n*k.size[typ] <= free[typ]
		}
		if fits && (!found || cost.compare(&best) < 0) {
			best, found = cost, true
		}
	}
	return best, found
}

// The packer finds the first way of all, and none only if there is none.
func TestPacker_Twin(t *testing.T) { rapid.Check(t, packerIsTwin) }

func FuzzPacker(f *testing.F) { f.Fuzz(rapid.MakeFuzz(packerIsTwin)) }

func packerIsTwin(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	c, p := d.board, &d.search.pack
	var free []int64
	for h := range c.hosts {
		free = append(free, c.hosts[h].all...)
	}
	want, ok := firstWay(c, slices.Clone(free), nil)
	if got := p.packInto(free, nil); got != ok || got && !slices.Equal(p.at, want) {
		t.Fatalf("%v at %v, and trying all finds %v %v", got, p.at, ok, want)
	}
}

// firstWay places members one after another on every host that has room, and
// returns the first way that works for all.
func firstWay(c *jobCase, free []int64, at []int32) ([]int32, bool) {
	if len(at) == len(c.todo) {
		return at, true
	}
	k := c.kindAt(int32(len(at)))
	for h := range c.hosts {
		left := c.row(free, h)
		if !k.roomFor(left) {
			continue
		}
		addTo(left, k.size, -1)
		if way, ok := firstWay(c, free, append(slices.Clone(at), int32(h))); ok {
			return way, true
		}
		addTo(left, k.size, +1)
	}
	return nil, false
}

// A partial plan from which everything is taken back is that of nothing done,
// and at each step it says of room, bounds and heads what a sum says.
func TestPartial_Twin(t *testing.T) { rapid.Check(t, partialIsTwin) }

func FuzzPartial(f *testing.F) { f.Fuzz(rapid.MakeFuzz(partialIsTwin)) }

func partialIsTwin(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	c, p := d.board, &d.search.partial
	p.begin()
	fresh := slices.Clone(p.free)
	var bounds []int64
	bounds = append(bounds, p.values...)
	for range rapid.IntRange(0, 8).Draw(t, "steps") {
		if len(c.units) == 0 {
			break
		}
		u := int32(rapid.IntRange(0, len(c.units)-1).Draw(t, "unit"))
		if may := p.mayGo(u); may != lawful(c, append(slices.Clone(p.chosen), u)) {
			t.Fatalf("unit %d beside %v may go: %v", u, p.chosen, may)
		} else if may {
			p.choose(u)
		}
	}
	for h := range c.hosts {
		free := slices.Clone(c.hosts[h].free)
		for _, u := range p.chosen {
			for _, i := range c.tasksOf(u) {
				if c.cands[i].host == int32(h) {
					addTo(free, c.cands[i].size, +1)
				}
			}
		}
		require.Equal(t, free, c.row(p.free, h))
	}
	p.takeBack(0)
	require.Equal(t, fresh, p.free)
	require.Equal(t, bounds, p.values)
	require.NotContains(t, p.gone, true)
}

// lawful reports whether units may go together, by counting anew: nobody goes
// twice, law 2 holds, a gang loses its surplus or all, and the hard budget has
// enough left.
func lawful(c *jobCase, units []int32) bool {
	gone := map[int32]bool{}
	var sum resources.Vector
	single := map[int32]int{}
	hard, _ := c.c.Budget("hard")
	for _, u := range units {
		for _, i := range c.tasksOf(u) {
			if gone[i] {
				return false
			}
			gone[i] = true
			if slices.Contains(c.c.Task(c.cands[i].id).Budgets, "hard") {
				hard.Left--
			}
			sum = resources.Add(sum, sum, c.cands[i].size)
		}
		if unit := &c.units[u]; unit.gang >= 0 && !unit.whole {
			single[unit.gang]++
		}
	}
	for g, n := range single {
		if n > c.gangs[g].surplus {
			return false
		}
	}
	low, _ := c.tree.Lookup("root.low")
	g, used := c.tree.Guaranteed(low).Value[0], c.tree.Usage(low)[0]
	return used-sum.At(0) >= min(g, used) && hard.Left >= 0
}

// A search that spreads members out costs no less than one that looks at
// every way, and as much if it says so.
func TestSpreader_Twin(t *testing.T) { rapid.Check(t, spreaderIsTwin) }

func FuzzSpreader(f *testing.F) { f.Fuzz(rapid.MakeFuzz(spreaderIsTwin)) }

func spreaderIsTwin(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	s := &d.search
	if !s.conceivable() || s.pack.fits(coming) {
		return // nobody is searched for then
	}
	s.best.found = false
	least := s.spread.spread()
	spread, found := s.best.levels, s.best.found
	s.best.found = false
	if !s.all.complete(math.MaxInt32) {
		t.Fatal("the complete search gave up")
	}
	switch {
	case found && !s.best.found:
		t.Fatalf("a plan of %v, and there is none", spread)
	case found && slices.Compare(spread[:], s.best.levels[:]) < 0:
		t.Fatalf("a plan of %v, and the cheapest has %v", spread, s.best.levels)
	case least && (!found || spread != s.best.levels):
		t.Fatalf("proven to be least: %v %v, and the cheapest has %v", found, spread, s.best.levels)
	}
}

// Plans that grow member by member, or come of exchanges, are no cheaper than the
// cheapest, and exist only if there is one.
func TestGrower_Twin(t *testing.T) { rapid.Check(t, growerIsTwin) }

func FuzzGrower(f *testing.F) { f.Fuzz(rapid.MakeFuzz(growerIsTwin)) }

func growerIsTwin(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	s := &d.search
	if !s.conceivable() || s.pack.fits(coming) {
		return // nobody is searched for then
	}
	for name, engine := range map[string]func(){"grow": s.grow.grow, "exchange": s.change.exchange} {
		s.best.found = false
		engine()
		levels, found := s.best.levels, s.best.found
		if found && !lawful(s.jobCase, s.best.chosen) {
			t.Fatalf("%s: %v may not go together", name, s.best.chosen)
		}
		s.best.found = false
		s.all.complete(math.MaxInt32)
		if found && (!s.best.found || slices.Compare(levels[:], s.best.levels[:]) < 0) {
			t.Fatalf("%s: a plan of %v, and the cheapest is %v %v", name, levels, s.best.found, s.best.levels)
		}
	}
}

// Names that look alike when they are joined are different domains.
func TestDomains_Names(t *testing.T) {
	var x domains
	for range 2 {
		x.begin()
		require.Equal(t, int32(0), x.row([]string{"a", "bc"}, 4))
		require.Equal(t, int32(1), x.row([]string{"ab", "c"}, 5))
		require.Equal(t, int32(0), x.row([]string{"a", "bc"}, 6))
		require.Equal(t, victims.NodeID(4), x.list[0].node)
		x.of = append(x.of, 1, 0, 1)
		x.group()
		require.Equal(t, []int32{1}, x.hostsOf(0))
		require.Equal(t, []int32{0, 2}, x.hostsOf(1))
	}
}

// Sums of ranks are those of big integers.
func TestRankSum_Twin(t *testing.T) { rapid.Check(t, rankSumIsTwin) }

func FuzzRankSum(f *testing.F) { f.Fuzz(rapid.MakeFuzz(rankSumIsTwin)) }

func rankSumIsTwin(t *rapid.T) {
	draw := func(name string) (sum rankSum, twin *big.Int) {
		twin = new(big.Int)
		for _, rank := range rapid.SliceOfN(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2, 2), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64})), 0, 5).Draw(t, name) {
			n := int64(rapid.IntRange(0, 3).Draw(t, "times"))
			sum = sum.plus(rank, n)
			twin.Add(twin, new(big.Int).Mul(big.NewInt(rank), big.NewInt(n)))
		}
		return sum, twin
	}
	a, x := draw("a")
	b, y := draw("b")
	require.Equal(t, x.Cmp(y), a.compare(b))
	want := x.Add(x, y)
	got := a.add(b).int64()
	switch {
	case want.IsInt64():
		require.Equal(t, want.Int64(), got)
	case want.Sign() < 0:
		require.Equal(t, int64(math.MinInt64), got)
	default:
		require.Equal(t, int64(math.MaxInt64), got)
	}
}

// A ceiling admits by rank, by priority, and who is plain.
func TestCeiling(t *testing.T) {
	levels := cost.Levels{rulebook.LevelRank: -3, rulebook.LevelPriority: 2}
	opted := levels
	opted[rulebook.LevelOptedOut] = 1
	for _, test := range []struct {
		l             ceiling
		plain, optOut bool
	}{
		{noCeiling(), true, true},
		{nobody(), false, false},
		{ceiling{plain: true, rank: -3, priority: 2}, true, false},
		{ceiling{rank: -3, priority: 2}, true, true},
		{ceiling{rank: -4, priority: 2}, false, false},
		{ceiling{rank: -3, priority: 1}, false, false},
	} {
		require.Equal(t, test.plain, test.l.admits(&levels), test.l)
		require.Equal(t, test.optOut, test.l.admits(&opted), test.l)
	}
}

// The caller's filter is asked once about a node and a class, whoever asks.
func TestFilter_Once(t *testing.T) {
	asked := 0
	c := &jobCase{job: &victims.Ask{Members: []victims.Member{{Class: 3}, {Class: -1}, {Class: 3}}}}
	c.hosts = []host{{id: 5, only: -1}, {id: 6, only: 2}}
	c.filter.caller = func(q *victims.Question) bool { asked++; return q.Member.Class == 3 && q.Node == 6 }
	c.filter.begin(c.job, 2)
	for range 2 {
		require.False(t, c.takesMember(0, 0))
		require.False(t, c.takesMember(1, 0), "it is reserved")
		require.True(t, c.takesMember(1, 2))
		require.True(t, c.takesAny(1))
		require.False(t, c.takesAny(0))
	}
	require.Equal(t, 3, asked)
}

// endless is the effort of a decision that nothing bounds.
func endless() *effort { return &effort{most: 1 << 60, Meter: least.Meter{Left: 1 << 60}} }
