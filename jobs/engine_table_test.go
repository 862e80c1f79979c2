// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// tableDesk reads a desk that is written down: hosts between bars, with what is
// free and then the tasks, and the sizes of the members.
//
//	"0: a2 b2p1 | 1: c4/g d1!", 4, 4
//	"max=8 low=2 hard=1 soft=0; 0: A4 b2%hard c2%soft", 4
//
// Task b has 2 cpus and priority 1, c is of the running job g, and d has opted
// out. A running job keeps 1 member, unless its name has a number: g2 keeps 2.
//
// Before a semicolon stand the max of the job's leaf, what the other leaf and the
// root guarantee, and what budgets have left. Task A is of the job's own leaf, and a budget stands
// behind a percent sign.
func tableDesk(t require.TestingT, hosts string, members ...int64) *desk {
	with, hosts := tableSettings(t, hosts)
	schema, err := resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	job := queue.Config{Name: "q"}
	if most, ok := with["max"]; ok {
		job.Max = resources.Limit{Value: resources.Vector{most, 0}, Defined: 1}
	}
	guaranteed := with["root"]
	p := &Planner{Options: victims.Options{ByPriority: true}}
	root := resources.Limit{Value: resources.Vector{guaranteed, 0}, Defined: 1}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Guaranteed: root, Children: []queue.Config{
		job, {Name: "low", Guaranteed: resources.Limit{Value: resources.Vector{with["low"], 0}, Defined: 1}},
	}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	for _, name := range []string{"hard", "soft"} {
		require.NoError(t, c.SetBudget(name, victims.Budget{Left: with[name], Hard: name == "hard"}))
	}
	for n, text := range strings.Split(hosts, "|") {
		tableHost(t, c, n, text)
	}
	q, _ := tree.Lookup("root.q")
	p.Cluster = c
	return deskOf(t, p, q, members)
}

// tableSettings reads what stands before the semicolon of a desk, if there is one,
// and returns the rest.
func tableSettings(t require.TestingT, text string) (with map[string]int64, hosts string) {
	with = make(map[string]int64)
	settings, hosts, ok := strings.Cut(text, ";")
	if !ok {
		return with, text
	}
	for _, word := range strings.Fields(settings) {
		name, value, _ := strings.Cut(word, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		require.NoError(t, err)
		with[name] = n
	}
	return with, hosts
}

// tableHost adds a host with its tasks: "0: a2 b2p1".
func tableHost(t require.TestingT, c *victims.Cluster, n int, text string) {
	free, rest, _ := strings.Cut(text, ":")
	capacity, err := strconv.ParseInt(strings.TrimSpace(free), 10, 64)
	require.NoError(t, err)
	var tasks []victims.Task
	for _, word := range strings.Fields(rest) {
		task := tableTask(t, word)
		leaf := "root.low"
		if task.Key < "a" {
			leaf = "root.q"
		}
		task.Queue, _ = c.Tree().Lookup(leaf)
		capacity += task.Size[0]
		tasks = append(tasks, task)
	}
	id, err := c.AddNode(&victims.Node{Name: fmt.Sprintf("n%d", n), Capacity: resources.Vector{capacity, 0}})
	require.NoError(t, err)
	for i := range tasks {
		tasks[i].Node = id
		_, err := c.AddTask(&tasks[i])
		require.NoError(t, err)
	}
}

// deskOf is the desk of a job of some members in a cluster.
func deskOf(t require.TestingT, p *Planner, leaf queue.ID, members []int64) *desk {
	job := &victims.Ask{Key: "j", Queue: leaf, Priority: 9}
	for i, size := range members {
		job.Members = append(job.Members, victims.Member{Key: fmt.Sprintf("j%d", i), Size: resources.Vector{size}})
	}
	setMinimums(t, p.Cluster, func(job string) int {
		n, err := strconv.Atoi(job[1:])
		if err != nil {
			return 1
		}
		return n
	})
	d := &desk{board: new(jobCase), effort: endless()}
	require.NoError(t, d.board.begin(p, job, time.Unix(0, 0)))
	d.board.place()
	d.board.prepare(len(d.board.unplaced))
	d.search.wire(d.board, d.effort, p)
	d.search.bounds.begin(d.board)
	d.search.cover.reset()
	return d
}

// tableTask reads a task: "b2p1", "c4/g", "d1!", "e2%soft".
func tableTask(t require.TestingT, word string) (task victims.Task) {
	letters := strings.IndexAny(word, "0123456789")
	task.Key, word = word[:letters], word[letters:]
	word, budget, ok := strings.Cut(word, "%")
	if ok {
		task.Budgets = []string{budget}
	}
	word, task.OptedOut = strings.CutSuffix(word, "!")
	word, task.Job, _ = strings.Cut(word, "/")
	size, priority, _ := strings.Cut(word, "p")
	n, err := strconv.ParseInt(size, 10, 64)
	require.NoError(t, err)
	task.Size = resources.Vector{n}
	if priority != "" {
		n, err := strconv.ParseInt(priority, 10, 32)
		require.NoError(t, err)
		task.Priority = int32(n)
	}
	return task
}

// unit returns the row of a unit by the keys of its tasks, those of a whole job in
// brackets: "a", "[a b]".
func (d *desk) unit(t require.TestingT, keys string) int32 {
	for u := range d.board.units {
		if d.nameOf(int32(u)) == keys {
			return int32(u)
		}
	}
	require.Fail(t, "no such unit", keys)
	return -1
}

// nameOf is the name that unit knows a unit by.
func (d *desk) nameOf(u int32) string {
	keys := strings.Join(d.search.best.keysOf(nil, []int32{u}), " ")
	if d.board.units[u].whole {
		keys = "[" + keys + "]"
	}
	return keys
}

// unitNames names some units, in the order of their names.
func (d *desk) unitNames(units []int32) string {
	var names []string
	for _, u := range units {
		names = append(names, d.nameOf(u))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// said writes the best plan: the hosts of the members, and who goes.
func (d *desk) said() string {
	b := &d.search.best
	if !b.found {
		return "none"
	}
	return strings.Trim(fmt.Sprint(b.at), "[]") + ": " + strings.Join(b.keys, " ")
}

// Each row is a case, the plan that a complete search finds, and what an engine
// finds instead, by its name. Two differences are by design. The spreader looks at hosts
// one by one, so no job goes as a whole. The grower takes no step back: if it has taken
// the surplus of a job, the rest of that job has to stay.
func TestEngines(t *testing.T) {
	for _, test := range []struct {
		name, hosts string
		members     []int64
		complete    string
		other       map[string]string
	}{
		{name: "the only way", hosts: "0: a4", members: []int64{4}, complete: "0: a"},
		{name: "no way", hosts: "0: a4", members: []int64{5}, complete: "none"},
		{name: "the lower priority", hosts: "0: a4p1 | 0: b4", members: []int64{4}, complete: "1: b"},
		{name: "one rather than two", hosts: "0: a2 b2 | 0: c4", members: []int64{4}, complete: "1: c"},
		{name: "priority before number", hosts: "0: a2 b2 | 0: c4p1", members: []int64{4}, complete: "0: a b"},
		{name: "what is free first", hosts: "0: a4 | 4:", members: []int64{4, 4}, complete: "0 1: a",
			other: map[string]string{"grow": "1 0: a"}},
		{name: "nobody opted out", hosts: "0: a4! | 0: b4p5", members: []int64{4}, complete: "1: b"},
		{name: "the surplus of a job", hosts: "0: a4/g b4/g", members: []int64{4}, complete: "0: a"},
		{name: "all of a job", hosts: "0: a4/g | 0: b4/g", members: []int64{4, 4}, complete: "0 1: a b",
			other: map[string]string{"spread": "none", "grow": "none"}},
		{name: "no job rather than one", hosts: "0: a4/g2 | 0: b4/g2 | 0: c4", members: []int64{4}, complete: "2: c"},
		{name: "priority before jobs", hosts: "0: a4/g2 | 0: b4/g2 | 0: c4p1", members: []int64{4}, complete: "0: a b",
			other: map[string]string{"spread": "none"}},
		{name: "both members of a job", hosts: "0: a4/g2 | 0: b4/g2", members: []int64{4, 4}, complete: "0 1: a b",
			other: map[string]string{"spread": "none"}},
		{name: "two members on one host", hosts: "0: a3 b5 | 0: c4 | 0: d4", members: []int64{4, 4}, complete: "0 0: a b"},
		{name: "a ceiling makes the rest free", hosts: "0: a4p5 | 0: b2p1 c2p1 | 0: d4p5", members: []int64{4, 4}, complete: "0 2: a d"},
		{name: "the larger member needs the larger host", hosts: "0: a4 | 0: b6", members: []int64{4, 6}, complete: "0 1: a b"},
		{name: "three sizes", hosts: "0: a6 | 1: b2 | 3:", members: []int64{1, 3, 6}, complete: "1 2 0: a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, engine := range []string{"complete", "spread", "grow", "exchange"} {
				d := tableDesk(t, test.hosts, test.members...)
				d.runEngine(engine)
				want := test.complete
				if other, ok := test.other[engine]; ok {
					want = other
				}
				require.Equal(t, want, d.said(), engine)
			}
		})
	}
}

// runEngine has one engine look for a plan, and nobody else.
func (d *desk) runEngine(name string) {
	s := &d.search
	s.best.found, s.asker.picky = false, false
	switch name {
	case "complete":
		s.all.complete(math.MaxInt32)
	case "spread":
		s.spread.spread()
	case "grow":
		s.grow.grow()
	case "exchange":
		s.change.exchange()
	}
}

// Ways of one host to take some members, as the spreader works them out: who goes
// for one, for two, and so on, and of how many hosts it looks at each.
func TestWays_Table(t *testing.T) {
	d := tableDesk(t, "1: a1 b2 c2 | 0: d4 | 5:", 2, 2, 2)
	x := &d.search.spread
	require.True(t, x.begin())
	require.True(t, x.list(noCeiling()))
	var got []string
	for i := range x.ways {
		w := &x.ways[i]
		keys := d.search.best.keysOf(nil, x.chosen[w.first:w.last])
		got = append(got, fmt.Sprintf("%d on %d: %s", w.state, w.host, strings.Join(keys, " ")))
	}
	require.Equal(t, []string{
		"3 on 0: a b c", // and not 2: of hosts for 2 only the two cheapest matter, 1 and 2
		"1 on 0: a",
		"2 on 1: d",
		"1 on 1: d",
		"2 on 2: ",
		"1 on 2: ",
	}, got)
}

// What makes room on a host costs at least so many victims as the largest units
// need, and what the least of them would cost.
func TestLeast_Table(t *testing.T) {
	d := tableDesk(t, "1: a1p1 b2p3 c2p2", 3)
	for _, test := range []struct {
		members, count int64
		ok             bool
	}{{1, 1, true}, {2, 3, true}, {3, 4, false}} {
		d.search.lacks(membersOf(&d.board.kinds[0], test.members), d.board.hosts[0].free)
		low, ok := d.board.least(0, d.search.lack)
		require.Equal(t, test.ok, ok, "%d members", test.members)
		require.Equal(t, test.count, low.levels[rulebook.LevelVictims], "%d members", test.members)
		require.Equal(t, test.count, low.levels[rulebook.LevelSumPriorities], "%d members of priority 1 at least", test.members)
	}
}

// Who may go with whom: members of a running job alone while there is surplus, or
// all of them at once.
func TestUnits_Table(t *testing.T) {
	for _, test := range []struct{ hosts, want string }{
		{"0: a1 b1", "a b"},
		{"0: a1/g b1/g", "a b [a b]"},
		{"0: a1/g2 b1/g2", "[a b]"},
		{"0: a1/g2 b1/g2 c1/g2 | 0: d1", "a b c d [a b c]"},
		{"0: a1/g9", "[a]"}, // it is below its minimum already
		{"0: a1/g0 b1/g0", "a b"},
		{"0: a1/h b1/g", "[a] [b]"},
	} {
		d := tableDesk(t, test.hosts, 1)
		var got []string
		for u := range d.board.units {
			got = append(got, d.nameOf(int32(u)))
		}
		require.Equal(t, test.want, strings.Join(got, " "), test.hosts)
	}
}

// The packer finds the first way of all for members, the first of them first.
func TestPacker_Table(t *testing.T) {
	for _, test := range []struct {
		hosts   string
		members []int64
		want    string
	}{
		{"4: | 4:", []int64{4, 4}, "[0 1]"},
		{"8: | 4:", []int64{4, 4}, "[0 0]"},
		{"4: | 8:", []int64{4, 8}, "[0 1]"},
		{"4: | 8:", []int64{8, 4}, "[1 0]"},
		{"5: | 4:", []int64{4, 5}, "[1 0]"}, // the first member steps aside
		{"3: | 3: | 3:", []int64{2, 2, 2}, "[0 1 2]"},
		{"4: | 4:", []int64{4, 4, 4}, "none"},
		{"4: | 4:", []int64{0, 5}, "none"},
		{"0: a9", []int64{0}, "[0]"},
	} {
		d := tableDesk(t, test.hosts, test.members...)
		got := "none"
		if d.search.pack.fits(coming) {
			got = fmt.Sprint(d.search.pack.at)
		}
		require.Equal(t, test.want, got, "%v on %s", test.members, test.hosts)
	}
}

// With few tries left the packer places the largest first, and does not say that
// it has found the first way.
func TestPacker_FewTries(t *testing.T) {
	d := tableDesk(t, "5: | 5: | 5: | 6:", 4, 1, 5, 1, 4, 1, 5)
	require.True(t, d.search.pack.fits(coming))
	require.True(t, d.search.pack.first)
	d.effort.Left = 1
	for range 2 {
		if d.search.pack.fits(coming) {
			d.search.all.load.set(d.search.pack.at)
			for h := range d.board.hosts {
				require.False(t, d.search.all.load.short(make(resources.Vector, 2), int32(h)))
			}
		}
	}
}
