// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The case by hand: running jobs and what of them may go, what queues lack, who
// has room where, and what is left of a case in one domain.

// A running job keeps its minimum or goes as a whole. Members that may not go, and
// grants, keep the whole; members that leave are none.
func TestGangs_Table(t *testing.T) {
	for _, test := range []struct {
		name, hosts string
		surplus     int
		whole       bool // all of its members are candidates
		counted     bool // a bound counts who goes alone
		units       string
	}{
		{"above its minimum", "0: a1/g2 b1/g2 c1/g2", 1, true, true, "[a b c] a b c"},
		{"at its minimum", "0: a1/g2 b1/g2", 0, true, false, "[a b]"},
		{"below its minimum", "0: a1/g9", 0, true, false, "[a]"},
		{"one is too high", "0: a1/g2 b1p9/g2", 0, false, false, ""},
		{"one is too high, and spared", "0: a1/g2 b1/g2 c1p9/g2", 1, false, true, "a b"},
		{"as many candidates as surplus", "0: a1/g2 b1p9/g2 c1p9/g2", 1, false, false, "a"},
		{"law 2 keeps the whole", "low=1; 0: a1/g2 b1/g2", 0, true, false, ""},
		{"a hard budget keeps the whole", "hard=1; 0: a1/g2%hard b1/g2%hard", 0, true, false, ""},
		{"a hard budget keeps a member", "hard=0; 0: a1/g%hard b1/g", 1, true, true, "b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tableDesk(t, test.hosts, 1)
			require.Len(t, d.board.gangs, 1)
			g := &d.board.gangs[0]
			require.Equal(t, []any{test.surplus, test.whole, test.counted}, []any{g.surplus, g.whole(), g.counted})
			var all []int32
			for u := range d.board.units {
				all = append(all, int32(u))
			}
			require.Equal(t, test.units, d.unitNames(all))
		})
	}
}

// tableTask has no word for these: members that leave, and grants.
func TestGangs_StatesOfMembers(t *testing.T) {
	for _, test := range []struct {
		name    string
		state   victims.State
		surplus int
		whole   bool
	}{
		{"running", victims.Running, 1, true},
		{"leaving", victims.Releasing, 0, true},
		{"granted", victims.Granted, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, q := oneQueue(t)
			n, err := c.AddNode(&victims.Node{Name: "n", Capacity: resources.Vector{2}})
			require.NoError(t, err)
			_, err = c.AddTask(&victims.Task{Key: "a", Queue: q, Node: n, Size: resources.Vector{1}, Job: "g"})
			require.NoError(t, err)
			if test.state == victims.Granted {
				_, err = c.GrantPlace(&victims.Ask{Key: "b", Queue: q, Size: resources.Vector{1}, Job: "g"}, n, time.Time{})
			} else {
				_, err = c.AddTask(&victims.Task{Key: "b", Queue: q, Node: n, Size: resources.Vector{1}, Job: "g", State: test.state})
			}
			require.NoError(t, err)
			d := deskOf(t, &Planner{Options: victims.Options{ByPriority: true}, Cluster: c}, q, []int64{1})
			require.Equal(t, test.surplus, d.board.gangs[0].surplus)
			require.Equal(t, test.whole, d.board.gangs[0].whole())
		})
	}
}

// A whole job has the cost, the amounts and the keys of its members, and counts
// once among the jobs that stop. The order of rows does not show.
func TestUnits_Whole(t *testing.T) {
	d := tableDesk(t, "soft=1; 0: c1p2/g3%soft | 0: b2p1/g3 a3/g3%soft", 1)
	u := &d.board.units[d.unit(t, "[a b c]")]
	require.Equal(t, "a", u.Key)
	require.Equal(t, []string{"b", "c"}, u.More)
	require.Equal(t, resources.Vector{6, 0}, u.Size)
	require.Equal(t, []int64{1, 3, 2, -7}, []int64{
		u.Levels[rulebook.LevelJobs], u.Levels[rulebook.LevelVictims], u.Levels[rulebook.LevelPriority], u.Levels[rulebook.LevelRank],
	})
	require.Equal(t, int64(-7-8-9), u.Levels[rulebook.LevelSumRanks])
	require.Len(t, u.Parts, 3, "a part for each member")
	require.Len(t, u.Uses, 1)
	require.Equal(t, int64(2), u.Uses[0].Count)
	require.Equal(t, 1, d.board.wholes)
}

// Bounds that count members stand in the order of the names of their jobs: which
// plan is found first must not depend on rows.
func TestGangs_BoundsByName(t *testing.T) {
	for _, hosts := range []string{
		"0: a1/x2 b1/x2 c1/x2 d1/g2 e1/g2 f1/g2", "0: d1/g2 e1/g2 f1/g2 a1/x2 b1/x2 c1/x2",
	} {
		d := tableDesk(t, hosts, 1)
		bound := map[string]int32{}
		for i := range d.board.gangs {
			bound[d.board.gangs[i].name] = d.board.gangs[i].bounds[0]
		}
		require.Less(t, bound["g2"], bound["x2"], hosts)
	}
}

// What a queue is short of counts for all tasks below it, wherever they run. Tasks
// of other queues help with nodes only.
func TestNeeds_Table(t *testing.T) {
	for _, test := range []struct {
		name, hosts string
		members     []int64
		short       []int64 // of the leaf, in cpus; nil: it is not short
	}{
		{"no max", "0: A9", []int64{4}, nil},
		{"under its max", "max=8; 4: A4", []int64{4}, nil},
		{"over its max", "max=8; 4: A5", []int64{4}, []int64{1}},
		{"by all members", "max=8; 8: A5", []int64{4, 3}, []int64{4}},
		{"over it already", "max=3; 4: A5", []int64{4}, []int64{6}},
		{"nothing wanted", "max=3; 4: A5", []int64{0}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := tableDesk(t, test.hosts, test.members...)
			n := &d.board.needs
			if test.short == nil {
				require.False(t, n.open())
				require.Empty(t, n.short)
				return
			}
			require.Equal(t, test.short, []int64{n.short[0][0]})
			require.Equal(t, n.short[0], n.most)
			own, low := d.board.tree, d.board.job.Queue
			other, _ := own.Lookup("root.low")
			require.Equal(t, int32(0), d.board.rules.eligible.Leaves[low].Level)
			require.Equal(t, int32(1), d.board.rules.eligible.Leaves[other].Level, "no queue that is short")
			require.Equal(t, resources.Mask(1), n.masks[0])
			require.Zero(t, n.masks[1])
		})
	}
}

// A host takes a member if it is reserved for nobody else and the filter lets it,
// and a kind of members if it takes any of them.
func TestHosts_Takes(t *testing.T) {
	c := &jobCase{job: &victims.Ask{Members: []victims.Member{{Class: 1}, {Class: 2}}}}
	c.hosts = []host{{id: 1, only: -1}, {id: 2, only: 1}, {id: 3, only: -1}}
	c.filter.caller = func(q *victims.Question) bool { return q.Node != 3 || q.Member.Class == 2 }
	c.filter.begin(c.job, 3)
	kinds := []kind{{only: -1, class: 0, end: 1}, {only: 1, class: 1, first: 1, end: 2}}
	c.kinds = kinds
	for _, test := range []struct {
		h, kind int32
		want    bool
	}{
		{0, 0, true}, {0, 1, true},
		{1, 0, false}, {1, 1, true}, // reserved for the second member
		{2, 0, false}, {2, 1, true}, // filtered
	} {
		require.Equal(t, test.want, c.takes(test.h, &kinds[test.kind]), "host %d, kind %d", test.h, test.kind)
		require.Equal(t, test.want, c.takesMember(test.h, int(test.kind)), "host %d, member %d", test.h, test.kind)
	}
	for h := range int32(3) {
		require.True(t, c.takesAny(h))
	}
	require.Zero(t, c.filtered())
	c.kinds = kinds[:1]
	require.Equal(t, 1, c.filtered(), "the last host takes no member that is to be placed")
}

// In one domain a case is what it would be if there were no other nodes: the same units, and the
// same cheapest plan.
func TestArea_Alone(t *testing.T) { rapid.Check(t, areaIsAlone) }

func FuzzArea(f *testing.F) { f.Fuzz(rapid.MakeFuzz(areaIsAlone)) }

func areaIsAlone(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	c := d.board
	var names []string
	for range c.hosts {
		names = append(names, rapid.SampledFrom([]string{"r1", "r2"}).Draw(t, "domain"))
	}
	inDomains(c, names...)
	for row := range c.domains.list {
		in := func(_ int, h int32) bool { return c.domains.of[h] == int32(row) }
		c.openDomain(int32(row))
		var hosts []int32
		var keys []string
		for h := range int32(len(c.hosts)) {
			require.Equal(t, in(0, h), c.inArea(h))
			if in(0, h) {
				hosts, keys = append(hosts, h), append(keys, keysOn(c, h)...)
			}
		}
		require.Equal(t, hosts, c.area.hosts)
		slices.Sort(keys)
		if got := keysOf(c, c.area.units); !c.needs.open() {
			slices.Sort(got)
			require.Equal(t, slices.Compact(keys), got)
		} else {
			require.Len(t, got, len(c.units))
		}
		want := bestOfAll(c, in)
		s := &d.search
		s.best.found = false
		if s.bounds.begin(c); s.conceivable() {
			s.cover.reset()
			s.all.complete(math.MaxInt32)
		}
		require.Equal(t, want.found, s.best.found)
		if want.found {
			require.Zero(t, want.cost.Compare(&s.best.cost), "%v, and %v", &want.cost, &s.best.cost)
			require.Zero(t, slices.Compare(want.keys, s.best.keys), "%v, and %v", want.keys, s.best.keys)
		}
	}
	c.openAll()
	require.Len(t, c.area.hosts, len(c.hosts))
	require.Len(t, c.area.units, len(c.units))
}

// keysOn lists the first keys of the units on a host, whole jobs marked.
func keysOn(c *jobCase, h int32) (keys []string) {
	return keysOf(c, c.unitsOn(h))
}

// keysOf is keysOn for some units.
func keysOf(c *jobCase, units []int32) (keys []string) {
	for _, u := range units {
		keys = append(keys, fmt.Sprintf("%s %v", c.units[u].Key, c.units[u].whole))
	}
	return keys
}

// Domains are those of all nodes, in node order, also if their first node takes no
// tasks. Those that members have places in bind the others.
func TestDomains_Settle(t *testing.T) {
	for _, test := range []struct {
		name   string
		nodes  string // what domain each node is in; "-" for none
		placed string // nodes of members that run already
		ok     bool
		base   int32
	}{
		{"nobody is placed", "a b", "", true, -1},
		{"one is placed", "a b", "1", true, 1},
		{"two in one", "a b b", "1 2", true, 1},
		{"two apart", "a b", "0 1", false, 1},
		{"one in none", "a -", "1", false, -1},
		{"no domain at all", "- -", "", false, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, q := oneQueue(t)
			for n, name := range strings.Fields(test.nodes) {
				node := &victims.Node{Name: fmt.Sprint("n", n), Capacity: resources.Vector{9}}
				if name != "-" {
					node.Domains = []string{name}
				}
				_, err := c.AddNode(node)
				require.NoError(t, err)
			}
			job := &victims.Ask{Key: "j", Queue: q, DomainDepth: 1, Members: []victims.Member{{Key: "last", Size: resources.Vector{1}}}}
			for i, at := range strings.Fields(test.placed) {
				m := victims.Member{Key: fmt.Sprint("m", i), Size: resources.Vector{1}}
				job.Members = append(job.Members, m)
				_, err := c.AddTask(&victims.Task{Key: m.Key, Queue: q, Node: victims.NodeID(1 + at[0] - '0'), Size: m.Size, Job: "j"})
				require.NoError(t, err)
			}
			var x jobCase
			require.NoError(t, x.begin(&Planner{Options: victims.Options{ByPriority: true}, Cluster: c}, job, time.Unix(0, 0)))
			x.place()
			require.Equal(t, test.ok, x.domains.settle(&x))
			if test.ok {
				require.Equal(t, test.base, x.domains.base)
				var all []int32
				require.False(t, x.domains.each(func(d int32) bool { all = append(all, d); return false }))
				require.Equal(t, test.base >= 0, slices.Equal(all, []int32{test.base}))
			}
		})
	}
}

// The gate tells what a queue uses now and what it will, and lets in what stays
// under every max of the path, in types that are asked for.
func TestGate_Headroom(t *testing.T) {
	limit := func(n int64) resources.Limit { return resources.Limit{Value: resources.Vector{n}, Defined: 1} }
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Max: limit(10), Children: []queue.Config{{Name: "q", Max: limit(6)}, {Name: "r"}}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	q, _ := tree.Lookup("root.q")
	r, _ := tree.Lookup("root.r")
	_, err = c.AddNode(&victims.Node{Name: "n"})
	require.NoError(t, err)
	for _, task := range []victims.Task{
		{Key: "a", Queue: q, Node: 1, Size: resources.Vector{2}}, {Key: "b", Queue: q, Node: 1, Size: resources.Vector{3}, State: victims.Releasing},
		{Key: "c", Queue: r, Node: 1, Size: resources.Vector{4}},
	} {
		_, err := c.AddTask(&task)
		require.NoError(t, err)
	}
	g := &gate{tree: tree, leaf: q}
	require.Equal(t, []int64{5, 2}, []int64{g.usage(q, 0, present), g.usage(q, 0, coming)})
	require.Equal(t, []int64{9, 6}, []int64{g.usage(queue.Root, 0, present), g.usage(queue.Root, 0, coming)})
	for _, test := range []struct {
		more            int64
		present, coming bool
	}{
		{0, true, true},
		{1, true, true},
		{2, false, true}, // 5 and 2 are above 6, and 2 and 2 are not
		{4, false, true}, // to the brim, of both
		{5, false, false},
	} {
		more := resources.Vector{test.more}
		g.read(present)
		require.Equal(t, test.present, g.hasHeadroom(more), "%d more now", test.more)
		g.read(coming)
		require.Equal(t, test.coming, g.hasHeadroom(more), "%d more then", test.more)
	}
}
