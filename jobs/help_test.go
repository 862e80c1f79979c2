// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Nothing but what a refusal names changes the answer: whatever else happens, the job is
// refused still. (DESIGN.md, What would help.)
func TestHelp_NothingElseHelps(t *testing.T) { law.Check3000(t, propertyHelp) }

func FuzzHelp(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyHelp)) }

func propertyHelp(t *rapid.T) {
	c := world.JobCases(world.Small.With(everything)).Draw(t, "case")
	c.ByPriority = rapid.IntRange(0, 9).Draw(t, "by priority") == 0
	if rapid.IntRange(0, 3).Draw(t, "own leaf") > 0 {
		c.SetOwnLeaf("")
	}
	h := newHarness(t, c)
	if len(c.Quotas) == 0 {
		h.planner.Admit = nil
	}
	m := &meanwhile{harness: h, t: t, now: c.Options.Now}
	before := m.decide()
	if before.Outcome != victims.Refused {
		return
	}
	m.help, m.until, m.proven = &before.Refusal.Help, before.Refusal.RetryAt, before.Refusal.Proven
	for range 8 {
		m.next()
	}
	if after := m.decide(); after.Outcome != victims.Refused {
		t.Fatalf("%v after %q\n%s%s%v", after.Outcome, m.done, before.String(), m.help.String(), c)
	}
}

// A meanwhile is what happens to a cluster after a job was refused: changes of which none
// is among those that the refusal says would help.
type meanwhile struct {
	*harness
	t      *rapid.T
	help   *victims.Help
	now    time.Time
	until  time.Time // the RetryAt of the refusal
	proven bool      // as the refusal has it
	done   []string  // what has happened
	any    bool      // whatever would help happens, too
}

func (m *meanwhile) decide() *victims.Decision {
	var d victims.Decision
	if err := m.planner.Decide(&d, &m.job, m.now); err != nil {
		m.t.Fatalf("%v\n%v", err, m.c)
	}
	return &d
}

func (m *meanwhile) below(label string, n int) int { return rapid.IntRange(0, n-1).Draw(m.t, label) }

func (m *meanwhile) size() resources.Vector {
	v := make(resources.Vector, m.cluster.Schema().Len())
	for i := range v {
		v[i] = int64(m.below("amount", 5))
	}
	return v
}

// task draws a task that is none of the job, and says whether there is one.
func (m *meanwhile) task() (victims.Task, bool) {
	var all []victims.TaskID
	for id := range m.cluster.Tasks() {
		if m.cluster.State(id) != victims.Granted && m.cluster.Job(id) != m.job.Key {
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return victims.Task{}, false
	}
	return m.cluster.Task(all[m.below("task", len(all))]), true
}

// next makes something happen, unless it would help.
func (m *meanwhile) next() {
	happenings := []func() (what string, helps bool, do func() error){m.comes, m.goes, m.leaves, m.another, m.node, m.bound, m.budget, m.time}
	what, helps, do := happenings[m.below("kind", len(happenings))]()
	if do == nil || helps && !m.any || do() != nil {
		return // an error is that of a max below a guarantee, for example: nothing has changed
	}
	m.done = append(m.done, what)
}

func (m *meanwhile) comes() (string, bool, func() error) {
	leaves, nodes := slices.Collect(m.cluster.Tree().Leaves(queue.Root)), slices.Collect(m.cluster.Nodes())
	t := victims.Task{
		Key: fmt.Sprint("new", len(m.done)), Application: fmt.Sprint("app", m.below("application", 3)),
		Queue: leaves[m.below("leaf", len(leaves))], Node: nodes[m.below("node", len(nodes))],
		Size: m.size(), Priority: int32(m.below("priority", 7)) - 3, Scheduled: m.now,
	}
	return "comes", m.help.IfMore(m.cluster, t.Queue), func() error {
		_, err := m.cluster.AddTask(&t)
		return err
	}
}

func (m *meanwhile) goes() (string, bool, func() error) {
	t, ok := m.task()
	if !ok {
		return "", false, nil
	}
	return "goes", m.help.IfLess(m.cluster, t.Queue, t.Node), func() error { return m.cluster.RemoveTask(t.Key) }
}

func (m *meanwhile) leaves() (string, bool, func() error) {
	t, ok := m.task()
	if !ok || t.State != victims.Running {
		return "", false, nil
	}
	return "told to stop", m.help.IfLess(m.cluster, t.Queue, t.Node), func() error { return m.cluster.SetState(t.Key, victims.Releasing) }
}

func (m *meanwhile) another() (string, bool, func() error) {
	t, ok := m.task()
	if !ok || t.State != victims.Running {
		return "", false, nil
	}
	t.Priority, t.Application, t.NonPreemptible = int32(m.below("priority", 7))-3, "another", false
	return "is another", m.help.Priorities, func() error {
		_, err := m.cluster.SetTask(&t)
		return err
	}
}

func (m *meanwhile) node() (string, bool, func() error) {
	nodes := slices.Collect(m.cluster.Nodes())
	n := m.cluster.Node(nodes[m.below("node", len(nodes))])
	n.Capacity, n.Unschedulable, n.ReservedFor = m.size(), false, ""
	return "node changed", m.help.IfNode(n.Name), func() error { return m.cluster.UpdateNode(&n) }
}

func (m *meanwhile) bound() (string, bool, func() error) {
	q := queue.ID(m.below("queue", m.cluster.Tree().Len()))
	l := resources.Limit{Value: m.size(), Defined: resources.Mask(m.below("types", 1<<m.cluster.Schema().Len()))}
	set := m.cluster.SetGuaranteed
	if m.below("max", 2) == 0 {
		set = m.cluster.SetMax
	}
	return "bound", m.help.Bounds, func() error { return set(q, l) }
}

func (m *meanwhile) budget() (string, bool, func() error) {
	for name, b := range m.cluster.Budgets() {
		if m.below("this budget", 2) == 0 {
			to := victims.Budget{Left: b.Left + 1, Hard: b.Hard}
			return "budget " + name, m.help.IfBudget(name), func() error { return m.cluster.SetBudget(name, to) }
		}
	}
	return "", false, nil
}

func (m *meanwhile) time() (string, bool, func() error) {
	later := m.now.Add(time.Duration(1+m.below("time", 200)) * time.Minute)
	return "time", m.until.IsZero() && !m.proven || !m.until.IsZero() && !later.Before(m.until), func() error {
		m.now = later
		return nil
	}
}

// Before victims are looked for, a refusal names what lets the job look for them, or have
// room. Once they were, any change may help.
func TestHelp(t *testing.T) {
	const promised = "queue q g=4\nqueue low\nnode n1 4\ntask v low n1 4\n"
	for _, test := range []struct {
		town, want string
		change     func(*jobs.Planner, *victims.Ask)
	}{
		{town: promised + "job q 4", change: func(p *jobs.Planner, j *victims.Ask) { j.PendingSince = noon },
			want: "what would help: room on any node, time, other policies of queues, other answers of Filter, Exempt and the like"},
		{town: promised + "job q 4 never", want: "what would help: room on any node, other answers of Filter, Exempt and the like"},
		{town: "queue q\nqueue low\nnode n1 4\ntask v low n1 4\njob q 4",
			want: "what would help: room on any node, another guarantee or max, other answers of Filter, Exempt and the like"},
		{town: "queue q g=2\nqueue low\nnode n1 4\ntask v low n1 4\njob q 2,2",
			want: "what would help: room on any node, less usage of root.q, another guarantee or max, other answers of Filter, Exempt and the like"},
		{town: "queue q g=3 max=3\nqueue low\nnode n1 4\ntask v low n1 4\njob q 4",
			want: "what would help: less usage of root.q, another guarantee or max"},
		{town: "queue q g=2\nqueue low\nnode n1 4\ntask v low n1 4\njob q 2,2", // its own leaf may come to have somebody
			change: func(p *jobs.Planner, _ *victims.Ask) { p.WithinQueue = queue.Met },
			want:   "what would help: room on any node, less usage of root, more usage of root, another guarantee or max, other policies of queues, another priority, application or gang of a task, other answers of Filter, Exempt and the like"},
		{town: promised + "job q 5",
			want: "what would help: room on any node, less usage of root, more usage of root, another guarantee or max, other policies of queues, another priority, application or gang of a task, other answers of Filter, Exempt and the like"},
	} {
		w := build(t, test.town)
		p := w.planner()
		p.ByPriority, p.Admit = false, nil
		if test.change != nil {
			test.change(p, &w.job)
		}
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &w.job, noon))
		require.Equal(t, victims.Refused, d.Outcome, test.town)
		require.Equal(t, test.want, d.Refusal.Help.String(), test.town)
	}
}

// A cap that keeps a gang out is named, whatever else may help.
func TestHelp_Caps(t *testing.T) {
	for c := range rulebook.NumCaps {
		for _, byPriority := range []bool{false, true} {
			w := build(t, unlike)
			p := w.planner()
			p.ByPriority, *lent.To(&p.Options).Caps()[c] = byPriority, 1
			var d victims.Decision
			require.NoError(t, p.Decide(&d, &w.job, noon))
			require.Equal(t, c.Entry().Word, d.Refusal.Reason)
			require.Contains(t, d.Refusal.Help.String(), "a higher cap on "+c.Entry().Noun+"s")
		}
	}
}

// All members of a gang that goes whole count.
func TestMaxVictims_WholeGang(t *testing.T) {
	for most, reason := range map[int]string{1: "max-victims", 2: ""} {
		w := build(t, "queue q g=9\nqueue low\nnode n1 4\ntask v low n1 2 job=g\ntask w low n1 2 job=g\nkeep g 2\njob q 2,2")
		p := w.planner()
		p.ByPriority, p.MaxVictims = false, most
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &w.job, noon))
		require.Equal(t, reason, d.Refusal.Reason)
	}
}

// Members that are asked in turn have no more victims together than one plan may have.
func TestMaxVictims_InTurn(t *testing.T) {
	const members = 12
	text := "queue q g=99\nqueue low"
	for i := range 3 * members {
		text += fmt.Sprintf("\nnode n%d 2\ntask v%d low n%d 2", i, i, i)
	}
	text += "\njob q 2" + strings.Repeat(",2", members-1)
	for most, reason := range map[int]string{members - 1: "max-victims", members: ""} {
		w := build(t, text)
		p := w.planner()
		p.ByPriority, p.MaxVictims = false, most
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &w.job, noon))
		require.Equal(t, reason, d.Refusal.Reason)
	}
}
