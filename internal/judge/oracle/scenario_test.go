// SPDX-License-Identifier: Apache-2.0

package oracle_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/choices"
	"github.com/go-preempt/preempt/internal/judge/alike"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/resources"
)

// The scenario documents carry what their authors expect, so the oracle is held
// to them without the planner: every document whose requests are asks, and
// finish, start and advance in between.
func TestScenarios(t *testing.T) {
	run := 0
	for _, file := range documents(t) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var doc document
		require.NoError(t, json.Unmarshal(data, &doc))
		if !doc.asksOnly() {
			continue
		}
		run++
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := newScript(t, &doc)
			for _, r := range doc.Requests {
				s.request(r)
			}
			require.Len(t, s.results, len(doc.Expect))
			for i, want := range doc.Expect {
				want.check(t, s.results[i], fmt.Sprintf("result %d\n%v", i, s.w))
			}
		})
	}
	require.Greater(t, run, 100, "documents of asks")
}

// documents returns the files of all documents, those that the library does not
// come out right with yet included.
func documents(t *testing.T) (files []string) {
	for _, folder := range []string{"scenarios"} {
		list, err := filepath.Glob("../scenario/testdata/" + folder + "/*.json")
		require.NoError(t, err)
		files = append(files, list...)
	}
	return files
}

// The parts of a document that matter here; quantities are strings.
type (
	document struct {
		Now             time.Time
		Queues          docQueue
		PriorityClasses []struct {
			Name  string
			Value int32
		}
		Nodes []struct {
			Name          string
			Capacity      map[string]string
			Unschedulable bool
			ReservedFor   string
			Labels        map[string]string
			Rank          int64
			Domains       []string
		}
		Tasks, Grants []docTask
		Budgets       map[string]world.Budget
		JobMinimums   map[string]int
		Requests      []docRequest
		Options       struct {
			choices.Choices
			Toleration, FairShares bool
			OwnLeaf, Moves         string
			Scarce, Levels         []string
		}
		Expect []expectation
	}
	docQueue struct {
		Name       string
		Resources  struct{ Guaranteed, Max map[string]string }
		Properties map[string]string
		Queues     []docQueue
	}
	docTask struct {
		world.Task        // what documents call the same
		Resources         map[string]string
		Priority          *int32
		PriorityClass     string
		Age, ScheduledAge string
		AllowPreemption   *bool
		AllowPreemptOther *bool
		RequiredNode      string
		CheckpointAge     string
		NodeSelector      map[string]string
	}
	docRequest struct {
		Ask               *docTask
		EnforceQuota, Job json.RawMessage
		Repeat            *int
		Then              string
		Advance           string
		Finish            []string
		Start             []docTask
	}
	expectation struct {
		Outcome, Node, Reason string
		Victims               []string
		VictimsAnyOf          [][]string
		VictimCount           *int
		Counts                map[string]int
		RetryAt               time.Time
		WaitsFor              []string
		Overrun               int64
		OwnLeaf               bool
	}
)

func (d *document) asksOnly() bool {
	return !d.Options.Toleration && !d.Options.FairShares && d.Options.Moves == "" && !slices.ContainsFunc(d.Requests, func(r docRequest) bool {
		return r.EnforceQuota != nil || r.Job != nil
	})
}

// script carries a document out over a world.
type script struct {
	*testing.T
	doc     *document
	w       *world.World
	now     time.Time
	results []oracle.Result
}

func newScript(t *testing.T, doc *document) *script {
	s := &script{T: t, doc: doc, w: new(world.World), now: doc.Now}
	if s.now.IsZero() {
		s.now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	s.w.Root = s.queue(&doc.Queues)
	for _, n := range doc.Nodes {
		s.w.Nodes = append(s.w.Nodes, world.Node{
			Name: n.Name, Capacity: s.amounts(n.Capacity), Unschedulable: n.Unschedulable, ReservedFor: n.ReservedFor,
			Labels: n.Labels, Rank: n.Rank, Domains: n.Domains,
		})
	}
	s.w.Budgets = maps.Clone(doc.Budgets)
	for i := range doc.Grants {
		g := &doc.Grants[i]
		s.w.Grants = append(s.w.Grants, world.Grant{Ask: s.askOf(g), Node: g.Node})
	}
	for i := range doc.Tasks {
		s.w.Tasks = append(s.w.Tasks, s.task(&doc.Tasks[i]))
	}
	slices.Sort(s.w.Types)
	return s
}

func (s *script) queue(q *docQueue) world.Queue {
	out := world.Queue{
		Name: q.Name, Properties: q.Properties,
		Guaranteed: s.amounts(q.Resources.Guaranteed), Max: s.amounts(q.Resources.Max),
	}
	for i := range q.Queues {
		out.Children = append(out.Children, s.queue(&q.Queues[i]))
	}
	return out
}

// amounts reads quantities and takes note of their types.
func (s *script) amounts(quantities map[string]string) world.Amounts {
	a := make(world.Amounts)
	for _, name := range slices.Sorted(maps.Keys(quantities)) {
		v, err := resources.ParseQuantity(name, quantities[name])
		require.NoError(s, err)
		a[name] = v
		if !slices.Contains(s.w.Types, name) {
			s.w.Types = append(s.w.Types, name)
		}
	}
	return a
}

func (s *script) ago(age, otherwise string) time.Time {
	if age == "" {
		age = otherwise
	}
	d, err := time.ParseDuration(age)
	require.NoError(s, err)
	return s.now.Add(-d)
}

func (s *script) priority(t *docTask) int32 {
	if t.Priority != nil {
		return *t.Priority
	}
	for _, class := range s.doc.PriorityClasses {
		if class.Name == t.PriorityClass {
			return class.Value
		}
	}
	return 0
}

func (s *script) task(t *docTask) world.Task {
	out := t.Task
	out.Size, out.Priority, out.Created = s.amounts(t.Resources), s.priority(t), s.ago(t.Age, "1h")
	out.RequiredNode, out.OptedOut = t.RequiredNode != "", t.AllowPreemption != nil && !*t.AllowPreemption
	if t.CheckpointAge != "" {
		out.Checkpoint = s.ago(t.CheckpointAge, "")
	}
	switch t.ScheduledAge {
	case "never":
	case "":
		out.Scheduled = out.Created
	default:
		out.Scheduled = s.ago(t.ScheduledAge, "")
	}
	return out
}

var asAsk = alike.Copier[world.Ask, world.Task]()

func (s *script) askOf(t *docTask) world.Ask {
	a := world.Ask{
		PendingSince: s.ago(t.Age, "1h"), RequiredNode: t.RequiredNode, Selector: t.NodeSelector,
		MayNot: t.AllowPreemptOther != nil && !*t.AllowPreemptOther,
	}
	asAsk(&a, &t.Task)
	a.Size, a.Priority, a.Job, a.Originator = s.amounts(t.Resources), s.priority(t), "", false
	return a
}

func (s *script) request(r docRequest) {
	switch {
	case r.Ask != nil:
		a := s.askOf(r.Ask)
		if r.Repeat == nil {
			s.ask(a, r.Then)
			return
		}
		for i := range *r.Repeat {
			a.Key = fmt.Sprintf("%s-%d", r.Ask.Key, i+1)
			s.ask(a, r.Then)
		}
	case r.Advance != "":
		d, err := time.ParseDuration(r.Advance)
		require.NoError(s, err)
		s.now = s.now.Add(d)
	case r.Finish != nil:
		s.finish(r.Finish)
	default:
		for i := range r.Start {
			s.ungrant(r.Start[i].Key)
			s.w.Tasks = append(s.w.Tasks, s.task(&r.Start[i]))
		}
	}
}

// ask decides an ask and carries the decision out.
func (s *script) ask(a world.Ask, then string) {
	c := &world.Case{World: *s.w, Ask: a, Options: s.options()}
	r := oracle.Decide(c)
	s.results = append(s.results, r)
	var keys []string
	for _, v := range r.Victims {
		keys = append(keys, v.Key)
	}
	if then != "nothing" {
		s.spend(keys)
	}
	switch {
	case r.Outcome == oracle.Refused || then == "nothing":
	case r.Outcome == oracle.Fits || r.Outcome == oracle.Preempts && then != "leave":
		s.finish(keys)
		s.ungrant(a.Key)
		s.w.Tasks = append(s.w.Tasks, a.Started(r.Node, s.now))
	default:
		for i := range s.w.Tasks {
			if slices.Contains(keys, s.w.Tasks[i].Key) {
				s.w.Tasks[i].State = world.Preempting
			}
		}
		s.w.Grants = append(s.w.Grants, world.Grant{Ask: a, Node: r.Node})
	}
}

func (s *script) options() world.Options {
	o := world.Options{
		Now: s.now, Choices: s.doc.Options.Choices, OwnLeaf: s.doc.Options.OwnLeaf, Minimums: s.doc.JobMinimums,
		Scarce: s.doc.Options.Scarce, Levels: s.doc.Options.Levels,
	}
	if o.Minimums == nil {
		o.Minimums = make(map[string]int)
	}
	return o
}

// spend takes victims of a plan off their budgets.
func (s *script) spend(keys []string) {
	for i := range s.w.Tasks {
		if t := &s.w.Tasks[i]; slices.Contains(keys, t.Key) {
			for _, name := range t.Budgets {
				b := s.w.Budgets[name]
				b.Left--
				s.w.Budgets[name] = b
			}
		}
	}
}

func (s *script) finish(keys []string) {
	s.w.Tasks = slices.DeleteFunc(s.w.Tasks, func(t world.Task) bool { return slices.Contains(keys, t.Key) })
}

func (s *script) ungrant(key string) {
	s.w.Grants = slices.DeleteFunc(s.w.Grants, func(g world.Grant) bool { return g.Ask.Key == key })
}

// check compares what the expectation says, and nothing else.
func (e *expectation) check(t *testing.T, got oracle.Result, context string) {
	keys := []string{}
	for _, v := range got.Victims {
		keys = append(keys, v.Key)
	}
	require.Equal(t, e.Outcome, got.Outcome, context)
	if e.Node != "" {
		require.Equal(t, e.Node, got.Node, context)
	}
	if e.Victims != nil {
		require.Equal(t, e.Victims, keys, context)
	}
	if e.VictimsAnyOf != nil {
		require.Contains(t, e.VictimsAnyOf, keys, context)
	}
	if e.VictimCount != nil {
		require.Len(t, keys, *e.VictimCount, context)
	}
	if e.Reason != "" {
		require.Equal(t, e.Reason, got.Reason, context)
	}
	for rule, n := range e.Counts {
		require.Equal(t, n, got.Counts[rule], context+rule)
	}
	require.Equal(t, e.Overrun, got.Cost.Overrun, context)
	if e.WaitsFor != nil {
		require.Equal(t, e.WaitsFor, got.WaitsFor, context)
	}
	if e.OwnLeaf {
		require.True(t, got.OwnLeaf, context)
	}
	if !e.RetryAt.IsZero() {
		require.True(t, e.RetryAt.Equal(got.RetryAt), "retry at %v, got %v\n%s", e.RetryAt, got.RetryAt, context)
	}
}
