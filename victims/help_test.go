// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A meanwhile is what happens to a cluster after an ask was refused: changes of
// which none is among those that the refusal says would help.
type meanwhile struct {
	t      *rapid.T
	c      *victims.Cluster
	k      *world.Case
	help   *victims.Help
	now    time.Time
	until  time.Time // the RetryAt of the refusal
	proven bool      // as the refusal has it
	any    bool      // whatever would help happens, too

	count  int      // keys given
	done   []string // what has happened
	harder bool     // something that may give the refusal another reason
}

// A happening is a change of a cluster, and whether it is one that would help.
type happening struct {
	what   string
	helps  bool
	harder bool
	do     func() error
}

func (m *meanwhile) below(label string, n int) int { return rapid.IntRange(0, n-1).Draw(m.t, label) }

// next makes the next thing happen, unless it would help.
func (m *meanwhile) next() {
	kinds := []func() *happening{
		m.comes, m.goes, m.resized, m.marked, m.moved, m.features, m.grant,
		m.nodeChanges, m.nodeGoes, m.nodeSynced, m.budget, m.bound, m.policy, m.timePasses,
	}
	if m.k.Ask.RequiredNode != "" {
		kinds = append(kinds, slices.Repeat([]func() *happening{m.nodeSynced}, len(kinds))...)
	}
	h := kinds[m.below("kind", len(kinds))]()
	if h == nil || h.helps && !m.any {
		return
	}
	if h.do() != nil {
		return // such as a max below a guarantee: nothing has changed
	}
	m.done = append(m.done, h.what)
	m.harder = m.harder || h.harder
}

func (m *meanwhile) size() resources.Vector {
	v := make(resources.Vector, m.c.Schema().Len())
	for i := range v {
		v[i] = int64(m.below("amount", 5))
	}
	return v
}

func (m *meanwhile) leaf() queue.ID {
	leaves := slices.Collect(m.c.Tree().Leaves(queue.Root))
	return leaves[m.below("leaf", len(leaves))]
}

// node returns some node that takes tasks.
func (m *meanwhile) node() (victims.NodeID, bool) {
	nodes := slices.Collect(m.c.Nodes())
	if len(nodes) == 0 {
		return 0, false
	}
	return nodes[m.below("node", len(nodes))], true
}

// task returns some task that is not leaving, or is, or some grant.
func (m *meanwhile) task(counts func(victims.State) bool) (victims.Task, bool) {
	var all []victims.TaskID
	for id := range m.c.Tasks() {
		if counts(m.c.State(id)) && m.c.Key(id) != m.k.Ask.Key {
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return victims.Task{}, false
	}
	return m.c.Task(all[m.below("task", len(all))]), true
}

func isTask(s victims.State) bool  { return s != victims.Granted }
func isGrant(s victims.State) bool { return s == victims.Granted }
func runs(s victims.State) bool    { return s == victims.Running }

func (m *meanwhile) newTask() (victims.Task, bool) {
	n, ok := m.node()
	m.count++
	return victims.Task{
		Key: fmt.Sprint("new", m.count), Application: fmt.Sprint("app", m.below("application", 3)),
		Queue: m.leaf(), Node: n, Size: m.size(), Priority: int32(m.below("priority", 7)) - 3, Scheduled: m.now,
	}, ok
}

func (m *meanwhile) comes() *happening {
	t, ok := m.newTask()
	if !ok {
		return nil
	}
	return &happening{"comes", m.help.IfMore(m.c, t.Queue), true, func() error {
		_, err := m.c.AddTask(&t)
		return err
	}}
}

func (m *meanwhile) goes() *happening {
	t, ok := m.task(isTask)
	if !ok {
		return nil
	}
	return &happening{"goes", m.help.IfLess(m.c, t.Queue, t.Node), false, func() error { return m.c.RemoveTask(t.Key) }}
}

func (m *meanwhile) resized() *happening {
	t, ok := m.task(isTask)
	if !ok {
		return nil
	}
	size := m.size()
	shrinks, grows := !resources.Fits(t.Size, size), !resources.Fits(size, t.Size)
	helps := shrinks && m.help.IfLess(m.c, t.Queue, t.Node) || grows && m.help.IfMore(m.c, t.Queue)
	return &happening{"resized", helps, grows, func() error { return m.c.Resize(t.Key, size) }}
}

func (m *meanwhile) marked() *happening {
	t, ok := m.task(isTask)
	if !ok {
		return nil
	}
	if t.State == victims.Running {
		return &happening{"told to stop", m.help.IfLess(m.c, t.Queue, t.Node), false, func() error { return m.c.SetState(t.Key, victims.Releasing) }}
	}
	return &happening{"may stay", m.help.IfMore(m.c, t.Queue), true, func() error { return m.c.SetState(t.Key, victims.Running) }}
}

func (m *meanwhile) moved() *happening {
	t, ok := m.task(runs)
	n, there := m.node()
	if !ok || !there {
		return nil
	}
	to := m.leaf()
	helps := m.help.IfLess(m.c, t.Queue, t.Node) || m.help.IfMore(m.c, to)
	t.Queue, t.Node = to, n
	return &happening{"moves", helps, true, func() error {
		_, err := m.c.SetTask(&t)
		return err
	}}
}

func (m *meanwhile) features() *happening {
	t, ok := m.task(runs)
	if !ok {
		return nil
	}
	t.Priority, t.Cost = int32(m.below("priority", 7))-3, 7
	t.Application, t.OptedOut = m.k.Ask.Application, !t.OptedOut
	return &happening{"is another", m.help.Priorities, false, func() error {
		_, err := m.c.SetTask(&t)
		return err
	}}
}

// grant gives, drops or starts a grant.
func (m *meanwhile) grant() *happening {
	if t, ok := m.task(isGrant); ok {
		if m.below("start", 2) == 0 {
			return &happening{"starts", m.help.IfMore(m.c, t.Queue), true, func() error { return startAnyway(m.c, t.Key, m.now) }}
		}
		return &happening{"dropped", m.help.IfLess(m.c, t.Queue, t.Node), false, func() error { return m.c.Drop(t.Key) }}
	}
	t, ok := m.newTask()
	if !ok {
		return nil
	}
	return &happening{"granted", m.help.IfMore(m.c, t.Queue), true, func() error {
		_, err := m.c.GrantPlace(&victims.Ask{Key: t.Key, Queue: t.Queue, Size: t.Size, Priority: t.Priority}, t.Node, time.Time{})
		return err
	}}
}

func (m *meanwhile) nodeChanges() *happening {
	id, ok := m.node()
	if !ok || m.below("new", 3) == 0 {
		m.count++
		n := &victims.Node{Name: fmt.Sprint("node", m.count), Capacity: m.size()}
		return &happening{"node added", m.help.IfNode(n.Name), true, func() error {
			_, err := m.c.AddNode(n)
			return err
		}}
	}
	n := m.c.Node(id)
	n.Capacity, n.Unschedulable, n.ReservedFor = m.size(), false, ""
	return &happening{"node changed", m.help.IfNode(n.Name), true, func() error { return m.c.UpdateNode(&n) }}
}

func (m *meanwhile) nodeGoes() *happening {
	id, ok := m.node()
	if !ok {
		return nil
	}
	name, helps := m.c.NodeName(id), m.help.IfNode(m.c.NodeName(id))
	for task := range m.c.TasksOn(id) { // grants go with it
		helps = helps || isGrant(m.c.State(task)) && m.help.IfLess(m.c, m.c.Task(task).Queue, id)
	}
	return &happening{"node removed", helps, true, func() error { return law.ErrOf(m.c.RemoveNode(name)) }}
}

// nodeSynced tells the cluster of a node what it knows, open or closed. With a task of a bad
// size that closes the node, else it opens.
func (m *meanwhile) nodeSynced() *happening {
	nodes := m.c.ClosedNodes(slices.Collect(m.c.Nodes()))
	if len(nodes) == 0 {
		return nil
	}
	name := m.c.NodeName(nodes[m.below("node", len(nodes))])
	if n := m.k.Ask.RequiredNode; n != "" && m.below("required", 2) == 0 {
		name = n
	}
	var tasks []victims.Task
	if id, ok := m.c.LookupNode(name); ok { // else it was removed
		for task := range m.c.TasksOn(id) {
			if isTask(m.c.State(task)) {
				tasks = append(tasks, m.c.Task(task))
			}
		}
	}
	if m.below("bad", 2) == 0 {
		tasks = append(tasks, victims.Task{Key: "bad", Queue: m.leaf(), Size: resources.Vector{-1}})
	}
	return &happening{"node synced", m.help.IfNode(name), true, func() error {
		_, err := m.c.SyncNode(name, tasks)
		return err
	}}
}

func (m *meanwhile) budget() *happening {
	for name, b := range m.c.Budgets() {
		if m.below("this budget", 2) == 0 {
			continue
		}
		to := victims.Budget{Left: int64(m.below("left", 4)), Hard: m.below("hard", 2) == 0}
		helps := (to.Left > b.Left || b.Hard && !to.Hard) && m.help.IfBudget(name)
		return &happening{"budget " + name, helps, false, func() error { return m.c.SetBudget(name, to) }}
	}
	return nil
}

func (m *meanwhile) bound() *happening {
	q := queue.ID(m.below("queue", m.c.Tree().Len()))
	l := resources.Limit{Value: m.size(), Defined: resources.Mask(m.below("types", 1<<m.c.Schema().Len()))}
	return &happening{"bound", m.help.Bounds, true, func() error {
		if m.below("max", 2) == 0 {
			return m.c.SetMax(q, l)
		}
		return m.c.SetGuaranteed(q, l)
	}}
}

// policy gives the cluster its tree with other policies of queues, by a new one.
func (m *meanwhile) policy() *happening {
	w := m.k.World
	w.Nodes, w.Tasks, w.Grants = nil, nil, nil
	for i := range w.Root.Children {
		w.Root.Children[i].Properties = map[string]string{
			"preemption.policy": []string{"default", "fence", "disabled"}[m.below("policy", 3)],
			"priority.offset":   fmt.Sprint(m.below("offset", 5) - 2),
		}
	}
	return &happening{"policy", m.help.Policies || m.help.Bounds, true, func() error {
		other, err := world.Build(&w)
		if err != nil {
			return err
		}
		return m.c.SetTree(other.Tree().Clone())
	}}
}

func (m *meanwhile) timePasses() *happening {
	d := time.Duration(1+m.below("time", 200)) * time.Minute
	helps := m.until.IsZero() && !m.proven || !m.until.IsZero() && !m.now.Add(d).Before(m.until)
	return &happening{"time", helps, false, func() error {
		m.now = m.now.Add(d)
		return nil
	}}
}

// Nothing but what a refusal names changes the answer: whatever else happens, it is
// a refusal still. It has the same reason, unless more is used, bounds are others or
// nodes go, which may bring an obstacle that comes before it.
func propertyHelp(t *rapid.T) {
	shape := world.Small
	if rapid.IntRange(0, 9).Draw(t, "crowded") == 9 {
		shape = world.Crowded
	}
	if rapid.Bool().Draw(t, "plain") {
		shape = shape.With(world.WithBudgets | world.WithGrants)
	} else {
		shape = shape.With(world.Everything)
	}
	k := world.Cases(shape).Draw(t, "case")
	c := build(t, &k.World)
	p, ask := world.CasePlanner(c, k), askOf(t, c, &k.Ask)
	var before, after victims.Decision
	require.NoError(t, p.Decide(&before, &ask, k.Options.Now))
	if before.Outcome != victims.Refused {
		return
	}
	m := &meanwhile{t: t, c: c, k: k, help: &before.Refusal.Help, now: k.Options.Now, until: before.Refusal.RetryAt, proven: before.Refusal.Proven}
	for range 8 {
		m.next()
	}
	require.NoError(t, p.Decide(&after, &ask, m.now))
	told := func() string {
		return fmt.Sprintf("%v after %q\n%s%s%v", after.Outcome, m.done, before.String(), m.help.String(), &k.World)
	}
	if after.Outcome != victims.Refused {
		t.Fatal(told())
	}
	was, is := before.Refusal.Reason, after.Refusal.Reason
	if was == "too-early" && is == "too-soon" {
		return // the delay is over, the interval is not, and RetryAt has both
	}
	if _, capped := rulebook.CapOf(was); capped && is == "no-victims" {
		return // the plan beyond the cap is none any more
	}
	if _, capped := rulebook.CapOf(is); capped && was == "no-victims" && slices.Contains(m.done, "time") {
		return // an exemption has ended, and there is a plan beyond the cap
	}
	if was != is && !m.harder {
		t.Fatalf("%v: %s", is, told())
	}
}

func TestHelp_NothingElseHelps(t *testing.T) { law.Check3000(t, propertyHelp) }

func FuzzHelp(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyHelp))
}

// What would help, obstacle by obstacle: testdata/help.golden is there to be read.
func TestHelp_Golden(t *testing.T) {
	var b strings.Builder
	for _, o := range obstacles {
		f, p, ask := o.build(t)
		d := f.decide(p, ask)
		require.Equal(t, victims.Refused, d.Outcome)
		fmt.Fprintf(&b, "== %s (%v)\n%v\n", o.name, d.Refusal.Reason, d.Refusal.Help)
	}
	golden.Compare(t, "testdata/help.golden", b.String())
}

// A grant is nobody's victim before it starts. So its start helps, though nothing
// goes and nothing comes.
func TestHelp_GrantStarts(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 6)
	n1, _ := f.c.LookupNode("n1")
	_, err := f.c.GrantPlace(f.ask("g", "a", 6), n1, time.Time{})
	require.NoError(t, err)
	p, ask := &jobs.Planner{Cluster: f.c}, f.ask("x", "b", 6)
	d := f.decide(p, ask)
	require.Equal(t, "no-victims", d.Refusal.Reason)
	require.True(t, d.Refusal.Help.IfMore(f.c, f.queue("a")))
	require.NoError(t, f.c.Start("g", now))
	require.Equal(t, victims.Preempts, f.decide(p, ask).Outcome)
}

// A grant ends with its node, and its queue uses less: that helps, though no room on a node would.
func TestHelp_GrantGoesWithItsNode(t *testing.T) {
	f := newFixture(t, queue.Config{Max: slots(8), Children: []queue.Config{
		{Name: "a", Guaranteed: slots(7)}, {Name: "b"},
	}})
	f.node("n1", 9)
	f.node("n2", 4)
	f.task("v", "b", "n1", 2)
	f.task("w", "a", "n1", 5)
	n2, _ := f.c.LookupNode("n2")
	_, err := f.c.GrantPlace(f.ask("g", "a", 1), n2, time.Time{})
	require.NoError(t, err)
	p, ask := &jobs.Planner{Cluster: f.c}, f.ask("x", "a", 3)
	d := f.decide(p, ask)
	require.Equal(t, "no-victims", d.Refusal.Reason)
	require.False(t, d.Refusal.Help.IfNode("n2"))
	require.True(t, d.Refusal.Help.IfLess(f.c, f.queue("a"), n2))
	orphans, err := f.c.RemoveNode("n2")
	require.NoError(t, err)
	require.Equal(t, []victims.Orphan{{Ask: "g"}}, orphans)
	require.Equal(t, victims.Preempts, f.decide(p, ask).Outcome)
}

// What guarantees keep may go once more is used, above the fence too.
func TestHelp_MoreAboveTheFence(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "p", Guaranteed: slots(9), Children: []queue.Config{
			{Name: "in", Properties: map[string]string{"preemption.policy": "fence"}, Children: []queue.Config{
				{Name: "a"}, {Name: "b", Guaranteed: slots(4)},
			}},
			{Name: "side"},
		}},
	}})
	f.node("n1", 6)
	f.node("n2", 6)
	f.task("v", "p.in.a", "n1", 6)
	p, ask := &jobs.Planner{Cluster: f.c}, f.ask("x", "p.in.b", 4)
	f.task("w", "p.side", "n2", 3)
	d := f.decide(p, ask)
	require.Equal(t, "no-victims", d.Refusal.Reason, "p would have 7 of 9")
	f.task("more", "p.side", "n2", 2)
	require.True(t, d.Refusal.Help.IfMore(f.c, f.queue("p.side")))
	require.Equal(t, victims.Preempts, f.decide(p, ask).Outcome)
}

// A refusal that says what would help allocates nothing once it is warm.
func TestHelp_NoAllocs(t *testing.T) {
	for _, o := range obstacles {
		f, p, ask := o.build(t)
		d := f.decide(p, ask)
		allocs := testing.AllocsPerRun(20, func() {
			if err := p.Decide(d, ask, now); err != nil {
				t.Error(err)
			}
		})
		require.Zero(t, allocs, o.name)
	}
}
