// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// nodeOfEight is a cluster of a node of 8 on which the tasks v1 to v4 of 2 run,
// and the leaves a and b; b has a max of 6.
func nodeOfEight(t *testing.T) *Cluster {
	t.Helper()
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	most := resources.Limit{Value: vec{6}, Defined: 1}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}, {Name: "b", Max: most}}})
	require.NoError(t, err)
	c := NewCluster(tree)
	_, err = c.AddNode(&Node{Name: "n", Capacity: vec{8}})
	require.NoError(t, err)
	for _, key := range []string{"v1", "v2", "v3", "v4"} {
		_, err := c.AddTask(&Task{Key: key, Queue: 1, Node: 1, Size: vec{2}})
		require.NoError(t, err)
	}
	return c
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// plan applies a plan for an ask of b of that size, decided at noon.
func plan(t *testing.T, c *Cluster, key string, size int64, victims ...string) {
	t.Helper()
	p := &Plan{Ask: Ask{Key: key, Queue: 2, Size: vec{size}}, Places: []Place{{Node: 1}}, Version: c.Version(), At: noon}
	for _, v := range victims {
		id, ok := c.Lookup(v)
		require.True(t, ok)
		p.Victims = append(p.Victims, Victim{Task: id, Key: v})
	}
	require.NoError(t, c.Apply(decided(p)))
}

func held(t *testing.T, c *Cluster, ask string) Grant {
	t.Helper()
	g, ok := c.Grant(ask)
	require.True(t, ok)
	return g
}

// TestGrantsInOrder shows that of two grants on a node the first does not wait
// for the victims of the second. DESIGN.md, Grants.
func TestGrantsInOrder(t *testing.T) {
	c := nodeOfEight(t)
	plan(t, c, "first", 4, "v1", "v2")
	plan(t, c, "second", 2, "v3")
	require.Equal(t, noon, held(t, c, "first").Since)
	require.Equal(t, []string{"v1", "v2"}, held(t, c, "first").Leaving)

	require.NoError(t, c.RemoveTask("v1"))
	require.ErrorIs(t, c.Start("first", noon), ErrRoom)
	w := held(t, c, "first")
	require.Equal(t, []string{"v2"}, w.Leaving)
	require.False(t, w.Ready)

	// Another one's victim goes first: it makes the room as well.
	require.NoError(t, c.RemoveTask("v3"))
	w = held(t, c, "first")
	require.Equal(t, []string{"v2"}, w.Leaving)
	require.True(t, w.Ready, "4 are free for the first: v2 may stay")
	require.False(t, held(t, c, "second").Ready, "but none for the second")
	require.NoError(t, c.Start("first", noon))
	require.ErrorIs(t, c.Start("second", noon), ErrRoom)
	require.NoError(t, c.RemoveTask("v2"))
	require.NoError(t, c.Start("second", noon))
	require.Empty(t, slices.Collect(c.Grants()))
}

// A place of a member that the ask does not have is an error, and changes nothing.
func TestApply_NoMember(t *testing.T) {
	c := nodeOfEight(t)
	before, ask := lookAt(c).String(), Ask{Key: "gang", Queue: 2, Members: []Member{{Key: "m"}}}
	for _, member := range []int{-1, 1} {
		d := decided(&Plan{Ask: ask, Places: []Place{{Member: member, Node: 1}}, Version: c.Version()})
		err := c.Apply(d)
		require.ErrorIs(t, err, invalid.Range)
		require.ErrorContains(t, err, `plan for "gang": a place of member `)
		d.SharedBy = []Ask{{Key: "one", Queue: 2}}
		require.ErrorIs(t, c.ApplyAll([]Decision{*d}), invalid.Range)
	}
	require.Equal(t, before, lookAt(c).String())
}

// TestCancel_InAnyOrder shows that a victim which another grant needs stops for that one from then on:
// whoever is cancelled last has it run on. The loop over grants may cancel them.
func TestCancel_InAnyOrder(t *testing.T) {
	for _, waiterFirst := range []bool{false, true} {
		c := nodeOfEight(t)
		plan(t, c, "asks", 2, "v1")
		plan(t, c, "waits", 2) // for v1, too
		order := slices.Collect(c.Grants())
		require.Len(t, order, 2)
		var run []string
		cancel := func(ask string) {
			more, err := c.Cancel(ask)
			require.NoError(t, err)
			run = append(run, more...)
		}
		if waiterFirst {
			cancel("waits")
			cancel("asks")
		} else {
			for g := range c.Grants() {
				cancel(g.Ask)
				if g.Ask == "asks" {
					require.Empty(t, run)
					require.Equal(t, []string{"v1"}, held(t, c, "waits").Leaving)
					var text bytes.Buffer
					require.NoError(t, c.Save(&text))
					loaded, err := Load(&text)
					require.NoError(t, err)
					require.Equal(t, lookAt(c).String(), lookAt(loaded).String())
				}
			}
		}
		require.Equal(t, []string{"v1"}, run)
		require.Empty(t, slices.Collect(c.Grants()))
		id, _ := c.Lookup("v1")
		require.Equal(t, Running, c.State(id))
	}
}

// TestGrantTaken shows a grant whose place somebody else takes, and a max that
// is short without it.
func TestGrantTaken(t *testing.T) {
	c := nodeOfEight(t)
	plan(t, c, "ask", 4, "v1", "v2")
	require.False(t, c.Admits(vec{1}, 1, 1))
	require.NoError(t, c.RemoveTask("v1"))
	require.NoError(t, c.RemoveTask("v2"))
	require.True(t, held(t, c, "ask").Ready)
	require.False(t, c.Admits(vec{1}, 1, 1), "the room is granted")

	_, err := c.AddTask(&Task{Key: "thief", Queue: 1, Node: 1, Size: vec{1}})
	require.NoError(t, err)
	require.ErrorIs(t, c.Start("ask", noon), ErrRoom)
	require.Empty(t, held(t, c, "ask").Leaving)
	require.NoError(t, c.RemoveTask("thief"))

	// The max of b: 4 are granted, and 3 run elsewhere.
	_, err = c.AddNode(&Node{Name: "far", Capacity: vec{9}})
	require.NoError(t, err)
	require.True(t, c.Admits(vec{2}, 2, 2))
	require.False(t, c.Admits(vec{3}, 2, 2))
	_, err = c.AddTask(&Task{Key: "far", Queue: 2, Node: 2, Size: vec{3}})
	require.NoError(t, err)
	require.ErrorIs(t, c.Start("ask", noon), ErrRoom)
	require.NoError(t, c.RemoveTask("far"))
	require.NoError(t, c.Start("ask", noon))
}

// TestGrantThatWaits shows that a grant without victims names what leaves its node, if that is short.
func TestGrantThatWaits(t *testing.T) {
	c := nodeOfEight(t)
	require.NoError(t, c.SetState("v1", Releasing))
	plan(t, c, "small", 0)
	plan(t, c, "ask", 2)
	require.Empty(t, held(t, c, "small").Leaving)
	require.Equal(t, []string{"v1"}, held(t, c, "ask").Leaving)
	require.NoError(t, c.RemoveTask("v1"))
	require.Empty(t, held(t, c, "ask").Leaving)
	require.True(t, held(t, c, "ask").Ready)
}

// TestMarkTakenBack shows a victim whose mark was taken back: it is told as returned, until it
// is marked again, or another plan takes it.
func TestMarkTakenBack(t *testing.T) {
	c := nodeOfEight(t)
	plan(t, c, "ask", 4, "v1", "v2")
	require.NoError(t, c.SetState("v1", Releasing))
	require.Equal(t, []string{"v1", "v2"}, held(t, c, "ask").Leaving)
	require.NoError(t, c.SetState("v1", Running))
	w := held(t, c, "ask")
	require.Equal(t, []string{"v2"}, w.Leaving)
	require.Equal(t, []string{"v1"}, w.Returned)
	require.False(t, w.Ready)
	before := lookAt(c).String()
	plan(t, c, "again", 2, "v1")
	require.Empty(t, held(t, c, "ask").Returned)
	require.Equal(t, []string{"v1"}, held(t, c, "again").Leaving)
	require.NoError(t, c.Undo())
	require.Equal(t, before, lookAt(c).String())
	require.NoError(t, c.SetState("v1", Marked))
	require.Equal(t, []string{"v1", "v2"}, held(t, c, "ask").Leaving)

	// Without the grant the victims still leave, and whoever is given their room waits for them.
	require.NoError(t, c.Drop("ask"))
	_, holds := c.Grant("ask")
	require.False(t, holds)
	id, _ := c.Lookup("v2")
	require.Equal(t, Marked, c.State(id))
	_, err := c.GrantPlace(&Ask{Key: "other", Queue: 2, Size: vec{1}}, 1, time.Time{})
	require.NoError(t, err)
	require.Equal(t, []string{"v1", "v2"}, held(t, c, "other").Leaving)
	require.True(t, held(t, c, "other").Since.IsZero())
}

// TestApply_OneName shows that a job and an ask of one name do not hold grants together, whoever
// comes first, and that an error leaves the cluster as it was. A member may have its job's name.
func TestApply_OneName(t *testing.T) {
	places := func(keys ...string) (list []changePlace) {
		for _, key := range keys {
			list = append(list, changePlace{Ask: Ask{Key: key, Queue: 2, Job: "x"}, Node: 1})
		}
		return list
	}
	job := change{For: "x", At: noon, Places: places("x", "x-1"), MinMembers: 2}
	lone := change{For: "x", At: noon, Places: places("x")}
	moves := change{For: "y", At: noon, Places: places("y-0", "y-1"), MinMembers: 2, Moves: []Move{{Key: "v1", To: 1, Grant: "x"}}}
	const (
		ofJob = `victims: job "x": the ask "x" holds a grant: duplicate key`
		ofAsk = `victims: ask "x": the job "x" holds grants: duplicate key`
	)
	for _, test := range []struct {
		first, then change
		want        string
	}{
		{lone, job, ofJob},
		{job, lone, ofAsk},
		{moves, job, ofJob},
		{change{For: "x", Places: places("x-0"), MinMembers: 1}, moves, ofAsk},
	} {
		c := nodeOfEight(t)
		apply := func(ch change) error {
			ch.Version = c.Version()
			for i := range ch.Moves {
				ch.Moves[i].Task, _ = c.Lookup(ch.Moves[i].Key)
			}
			return c.applyChange(ch)
		}
		require.NoError(t, apply(test.first))
		before, version := lookAt(c).String(), c.Version()
		// Its victim runs on, and the place before the wrong one is not granted.
		v2, _ := c.Lookup("v2")
		test.then.Victims = []Victim{{Task: v2, Key: "v2"}}
		err := apply(test.then)
		require.EqualError(t, err, test.want)
		require.ErrorIs(t, err, ErrDuplicate)
		require.Equal(t, before, lookAt(c).String())
		require.Equal(t, version, c.Version())
		if test.want == ofAsk {
			require.EqualError(t, law.ErrOf(c.GrantPlace(&Ask{Key: "x", Queue: 2}, 1, noon)), ofAsk)
		}
		// Once the one has gone, the name is free for the other.
		require.NoError(t, c.Drop("x"))
		require.NoError(t, apply(test.then))
	}
	// Within one change, too, and whose grant it is counts if it is there already.
	c := nodeOfEight(t)
	moves.For, moves.Version = "x", c.Version()
	require.EqualError(t, c.applyChange(moves), ofJob)
	job.Version = c.Version()
	require.NoError(t, c.applyChange(job))
	member := change{For: "x-1", Version: c.Version(), Places: places("x-1")}
	require.EqualError(t, c.applyChange(member), `victims: plan for "x-1": grant of "x-1": it holds another one, on node "n": wrong state`)
}

// TestMarked shows who is to be told again to stop: as long as it is marked, the oldest first, and
// after a restart, too.
func TestMarked(t *testing.T) {
	c := nodeOfEight(t)
	marked := func() (all []string) {
		for key, at := range c.Marked() {
			all = append(all, key+" "+instant(at))
		}
		return all
	}
	require.Empty(t, marked())
	apply := func(at time.Time, key string) {
		id, _ := c.Lookup(key)
		require.NoError(t, c.applyChange(change{
			For: "ask " + key, Version: c.Version(), At: at, Victims: []Victim{{Task: id, Key: key}},
			Places: []changePlace{{Ask: Ask{Key: "ask " + key, Queue: 2}, Node: 1}},
		}))
	}
	apply(noon, "v3")
	apply(noon, "v2")
	apply(time.Unix(0, 0), "v4")
	require.NoError(t, c.SetState("v1", Marked))
	all := []string{"v1 never", "v4 1970-01-01T00:00:00Z", "v2 2026-01-01T12:00:00Z", "v3 2026-01-01T12:00:00Z"}
	require.Equal(t, all, marked())
	require.NoError(t, law.ErrOf(c.SetTask(&Task{Key: "v2", Queue: 1, Node: 1, Size: vec{1}})), "an old event")
	require.NoError(t, c.Drop("ask v3"))
	require.Equal(t, all, marked())
	var text bytes.Buffer
	require.NoError(t, c.Save(&text))
	loaded, err := Load(strings.NewReader(text.String()))
	require.NoError(t, err)
	c = loaded
	require.Equal(t, all, marked())
	for _, spoil := range []string{`"told":"9026`, `"state":"running","told":"2026`} {
		old := `"state":"preempting","told":"2026`
		if spoil[2] == 't' {
			old = `"told":"2026`
		}
		_, err := Load(strings.NewReader(strings.Replace(text.String(), old, spoil, 1)))
		require.ErrorContains(t, err, ", told at ")
		require.ErrorIs(t, err, ErrState)
	}

	// Who releases need not be told, and who runs after all is none.
	require.NoError(t, c.SetState("v2", Releasing))
	require.NoError(t, c.RemoveTask("v3"))
	require.NoError(t, law.ErrOf(c.Cancel("ask v4")))
	require.Equal(t, all[:1], marked())
	require.NoError(t, c.SetState("v4", Marked))
	require.Equal(t, []string{"v1 never", "v4 never"}, marked(), "it is another mark")
}

// TestPlanChange shows that a plan does the same by its change.
func TestPlanChange(t *testing.T) {
	c := nodeOfEight(t)
	id, _ := c.Lookup("v1")
	p := &Plan{
		Ask: Ask{Key: "ask", Queue: 2, Size: vec{1}}, Places: []Place{{Node: 1}}, Version: c.Version(), At: noon,
		Victims: []Victim{{Task: id, Key: "v1"}},
	}
	other := c.Clone()
	require.NoError(t, c.Apply(decided(p)))
	require.NoError(t, other.Apply(decided(p)))
	require.Equal(t, lookAt(c).String(), lookAt(other).String())
}

// TestNodeDies shows grants whose node goes while a victim is stuck on it: they end,
// and once the victim has gone, so has the node.
func TestNodeDies(t *testing.T) {
	c := nodeOfEight(t)
	plan(t, c, "ask", 2, "v1")
	for _, key := range []string{"v2", "v3", "v4"} {
		require.NoError(t, c.RemoveTask(key))
	}
	require.True(t, held(t, c, "ask").Ready)
	n, _ := c.LookupNode("n")
	for _, key := range []string{"z+", "a"} {
		_, err := c.GrantPlace(&Ask{Key: key, Queue: 2}, n, time.Time{})
		require.NoError(t, err)
	}
	orphans, err := c.RemoveNode("n")
	require.NoError(t, err)
	require.Equal(t, []Orphan{{Ask: "ask"}, {Ask: "z+"}, {Ask: "a"}}, orphans, "in the order in which they were given")
	_, granted := c.LookupGrant("ask")
	require.False(t, granted)
	v1, _ := c.Lookup("v1")
	require.Equal(t, Marked, c.State(v1), "it was told to stop")
	require.True(t, c.Closed(n))
	require.NoError(t, c.RemoveTask("v1"))
	_, there := c.LookupNode("n")
	require.False(t, there)
}

// TestGrantTaken_Above: a grant has to fit every max above it, and not only that of its leaf.
// The queues beside those do not count.
func TestGrantTaken_Above(t *testing.T) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	most := func(v int64) resources.Limit { return resources.Limit{Value: vec{v}, Defined: 1} }
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "beside", Max: most(3)},
		{Name: "p", Max: most(6), Children: []queue.Config{{Name: "a"}, {Name: "b"}}},
	}})
	require.NoError(t, err)
	c := NewCluster(tree)
	for _, name := range []string{"n", "far"} {
		_, err := c.AddNode(&Node{Name: name, Capacity: vec{11}})
		require.NoError(t, err)
	}
	leaf := func(path string) queue.ID {
		q, ok := c.Tree().Lookup(path)
		require.True(t, ok)
		return q
	}
	a, b, beside := leaf("root.p.a"), leaf("root.p.b"), leaf("root.beside")
	for key, q := range map[string]queue.ID{"first": a, "later": b, "beside": beside} {
		_, err := c.AddTask(&Task{Key: "of " + key, Queue: q, Node: 2, Size: vec{2}})
		require.NoError(t, err)
	}
	grant := func(key string, q queue.ID, size int64) {
		_, err := c.GrantPlace(&Ask{Key: key, Queue: q, Size: vec{size}}, 1, time.Time{})
		require.NoError(t, err)
	}
	// 4 of the 6 of p run, and the grants are more than the node has. Without those
	// given after it, of whatever queue, the first fits.
	grant("first", a, 2)
	grant("later", b, 1)
	grant("beside", beside, 9)
	require.True(t, held(t, c, "first").Ready)
	require.False(t, held(t, c, "later").Ready, "the first has the room that is left")
	require.False(t, held(t, c, "beside").Ready)

	// A task of a sibling takes room under p, and of the leaf beside it none.
	_, err = c.AddTask(&Task{Key: "more beside", Queue: beside, Node: 2, Size: vec{5}})
	require.NoError(t, err)
	require.True(t, held(t, c, "first").Ready)
	_, err = c.AddTask(&Task{Key: "more of b", Queue: b, Node: 2, Size: vec{1}})
	require.NoError(t, err)
	require.ErrorIs(t, c.Start("first", noon), ErrRoom)
}
