// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// asideCase is a cluster in which asks share victims, and a task moves for an ask or a job.
func asideCase(t testing.TB) (c *victims.Cluster, asks []victims.Ask, job victims.Ask) {
	gpu := func(n int64) world.Amounts { return world.Amounts{"gpu": n} }
	w := &world.World{
		Types: []string{"gpu"},
		Root: world.Queue{Name: "root", Children: []world.Queue{
			{Name: "a", Guaranteed: gpu(8)}, {Name: "b", Guaranteed: gpu(2)},
		}},
		Nodes: []world.Node{{Name: "n1", Capacity: gpu(4)}, {Name: "n2", Capacity: gpu(4)}, {Name: "n3", Capacity: gpu(3)}},
		Tasks: []world.Task{
			{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2)}, {Key: "b2", Queue: "root.b", Node: "n2", Size: gpu(4)},
			{Key: "b3", Queue: "root.b", Node: "n3", Size: gpu(1), Priority: 9},
		},
	}
	c, err := world.Build(w)
	require.NoError(t, err)
	world.LetMove(c, 0, func(key string) bool { return key == "b1" })
	for i, size := range []int64{2, 2, 2, 9} {
		ask, err := world.AskOf(c, &world.Ask{Key: fmt.Sprint("a", i+1), Queue: "root.a", Size: gpu(size)})
		require.NoError(t, err)
		asks = append(asks, ask)
	}
	queue, _ := c.Tree().Lookup("root.a")
	return c, asks, victims.Ask{Key: "j", Queue: queue, Members: []victims.Member{{Key: "j1", Size: []int64{4}}}}
}

// asideCalls are the calls that try changes, with functions that are told of each question.
func asideCalls(c *victims.Cluster, asks []victims.Ask, job *victims.Ask, asked func(what string)) map[string]func() (string, error) {
	rules := victims.Options{
		Filter: func(*victims.Question) bool { asked("filter"); return true },
		Exempt: func(*victims.Question) (time.Time, bool) { asked("exempt"); return time.Time{}, false },
	}
	j := &jobs.Planner{Cluster: c, Options: rules}
	shared := &jobs.Planner{Cluster: c, Options: rules}
	shared.Predicate = func(*victims.Question) bool { asked("predicate"); return true }
	m := &jobs.Planner{Cluster: c, Options: shared.Options}
	m.Moves = victims.MovesEntitled
	m.Blockers = func(dst []victims.TaskID, _ *victims.Question) []victims.TaskID {
		asked("blockers")
		return dst
	}
	gangs := &jobs.Planner{Cluster: c, Options: rules}
	gangs.Moves = victims.MovesEntitled
	large := asks[0]
	large.Size = []int64{4}
	together := func(p *jobs.Planner) func() (string, error) {
		return func() (string, error) {
			var d joint
			err := decideAll(p, &d, asks, world.Epoch)
			if err == nil {
				if found := d.audit(&victims.Auditor{Cluster: c, Options: rules}); len(found) > 0 {
					return "", fmt.Errorf("%v", found)
				}
			}
			return saidOf(&d), err
		}
	}
	return map[string]func() (string, error){
		"job": func() (string, error) {
			var d victims.Decision
			err := j.Decide(&d, job, world.Epoch)
			return d.String(), err
		},
		"together":             together(j),
		"together, predicates": together(shared),
		"moves": func() (string, error) {
			var d victims.Decision
			err := m.Decide(&d, &large, world.Epoch)
			if err == nil {
				x := victims.Auditor{Cluster: c, Options: m.Options}
				if found := x.Audit(nil, &d, world.Epoch); len(found) > 0 {
					return "", fmt.Errorf("%v", found)
				}
			}
			return d.String(), err
		},
		"moves, job": func() (string, error) {
			var d victims.Decision
			err := gangs.Decide(&d, job, world.Epoch)
			return d.String(), err
		},
	}
}

// saidOf writes places and victims of all parts, and who is refused.
func saidOf(d *joint) (s string) {
	for i := range d.Parts {
		p := &d.Parts[i].Plan
		s += fmt.Sprintln(d.Parts[i].Outcome, p.Places)
		for k := range p.Victims {
			s += p.Victims[k].Key + "\n"
		}
	}
	for i := range d.Refused {
		s += fmt.Sprintln(d.Refused[i].Ask, d.Refused[i].Refusal.Reason)
	}
	return s
}

// While some try changes others read the cluster and decide over it: the race detector sees
// whether it is changed. All answer as they do alone.
func TestAside_Readers(t *testing.T) {
	c, asks, job := asideCase(t)
	version := c.Version()
	want := map[string]string{}
	for name, call := range asideCalls(c, asks, &job, func(string) {}) {
		said, err := call()
		require.NoError(t, err, name)
		want[name] = said
	}
	require.Contains(t, want["moves"], "b1 moves from n1 to n3")
	require.Contains(t, want["moves, job"], "b1 moves from n1 to n3")
	require.Contains(t, want["together"], "b1\n")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			calls := asideCalls(c, asks, &job, func(string) {}) // planners of its own
			for range 3 {
				for name, call := range calls {
					if said, err := call(); err != nil || said != want[name] {
						panic(fmt.Sprint(name, ": ", err, "\n", said, "\nand not\n", want[name]))
					}
				}
			}
		})
		group.Go(func() {
			for range 50 {
				if err := c.Clone().Save(io.Discard); err != nil || c.Version() != version {
					panic(fmt.Sprint("read: ", err))
				}
				for id := range c.Tasks() {
					if c.State(id) != victims.Running {
						panic(c.Key(id) + " does not run")
					}
				}
			}
		})
	}
	group.Wait()
}

// Wherever a function of the caller panics, the cluster and the planner are as they were, and
// the next call answers as if it had not been.
func TestAside_Panics(t *testing.T) {
	c, asks, job := asideCase(t)
	version := c.Version()
	var left, times int // calls of functions until one panics, and what was asked
	asked := func(what string) {
		if times++; times == left {
			panic(what)
		}
	}
	for name, call := range asideCalls(c, asks, &job, asked) {
		left, times = 0, 0
		want, err := call()
		require.NoError(t, err, name)
		all := times
		require.Positive(t, all, name)
		for left = 1; left <= all; left++ {
			times = 0
			require.Panics(t, func() { _, _ = call() }, "%s %d", name, left)
			require.Equal(t, version, c.Version())
			for id := range c.Tasks() {
				require.Equal(t, victims.Running, c.State(id))
			}
			at := left
			left = 0
			said, err := call()
			require.NoError(t, err)
			require.Equal(t, want, said, "%s, after a panic at %d of %d", name, at, all)
			left = at
		}
	}
}

// What is decided before an ask its predicate finds in the cluster of the question, and not in
// that of the caller.
func TestAside_Question(t *testing.T) {
	c, asks, _ := asideCase(t)
	p := &jobs.Planner{Cluster: c}
	seen := map[string]bool{}
	p.Predicate = func(q *victims.Question) bool {
		for _, ask := range asks {
			if _, held := q.Cluster.LookupGrant(ask.Key); held {
				seen[ask.Key] = true
			}
			_, held := c.LookupGrant(ask.Key)
			require.False(t, held)
		}
		return true
	}
	var d joint
	require.NoError(t, decideAll(p, &d, asks, world.Epoch))
	require.True(t, seen["a1"], "the second ask is decided beside the first")
	require.Equal(t, c, p.Cluster)
}

// What would help an ask that is refused together with others is seen in the cluster of the
// caller, whatever was tried on the copy.
func TestAside_Help(t *testing.T) {
	c, asks, _ := asideCase(t)
	p := &jobs.Planner{Cluster: c}
	var d joint
	large := asks[3:]
	for range 2 { // the second time the copy has seen changes
		require.NoError(t, decideAll(p, &d, append(asks[:3:3], large...), world.Epoch))
		require.NoError(t, decideAll(p, &d, large, world.Epoch))
	}
	require.Len(t, d.Refused, 1)
	help := &d.Refused[0].Refusal.Help
	require.False(t, help.MayHaveChanged(c, world.Epoch))
	_, err := c.AddNode(&victims.Node{Name: "n4", Capacity: []int64{9}})
	require.NoError(t, err)
	require.True(t, help.MayHaveChanged(c, world.Epoch))
}
