// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/choices"
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// auditWorld is a small random cluster with an ask, and options that planner
// and auditor share. Its nodes are about full, its first branch has the asks
// and starves, and the others lend: about one ask in seven gets a plan with victims.
type auditWorld struct {
	cluster *victims.Cluster
	ask     victims.Ask
	planner jobs.Planner
	auditor victims.Auditor
}

func drawAuditWorld(t *rapid.T) *auditWorld {
	schema, err := resources.NewSchema([]string{"gpu", "disk"}[:rapid.IntRange(1, 2).Draw(t, "types")]...)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := queue.NewLenient(schema, drawQueues(t, schema, "root", lends))
	if err != nil {
		t.Fatal(err)
	}
	w := &auditWorld{cluster: victims.NewCluster(tree)}
	nodes := rapid.IntRange(1, 3).Draw(t, "nodes")
	var tasks []victims.Task
	for i := range rapid.IntRange(3, 9).Draw(t, "tasks") {
		task := w.drawTask(t, fmt.Sprintf("t%d", i), nodes)
		task.State = rapid.SampledFrom([]victims.State{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, victims.Releasing, victims.Marked}).Draw(t, "state")
		tasks = append(tasks, task)
	}
	for n := range nodes {
		capacity := make(resources.Vector, schema.Len())
		for _, task := range tasks {
			if int(task.Node) == 1+n {
				capacity = resources.Add(capacity, capacity, task.Size)
			}
		}
		for i := range capacity {
			capacity[i] = max(capacity[i]+rapid.SampledFrom([]int64{0, 0, 1, 2, -1}).Draw(t, "slack"), 0)
		}
		_, err := w.cluster.AddNode(&victims.Node{
			Name: fmt.Sprintf("n%d", n), Capacity: capacity, Unschedulable: oneIn(t, 12, "unschedulable"),
			ReservedFor: rapid.SampledFrom([]string{"", "", "", "", "", "", "", "", "ask", "another"}).Draw(t, "reserved"),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"hard", "soft"} {
		if err := w.cluster.SetBudget(name, victims.Budget{Left: 100, Hard: name == "hard"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range tasks {
		if _, err := w.cluster.AddTask(&tasks[i]); err != nil {
			t.Fatal(err)
		}
	}
	w.drawAsk(t, nodes)
	if oneIn(t, 4, "headroom") {
		w.drawHeadroom(t)
	}
	w.drawOptions(t)
	return w
}

func oneIn(t *rapid.T, n int, label string) bool { return rapid.IntRange(1, n).Draw(t, label) == n }

func (w *auditWorld) drawTask(t *rapid.T, key string, nodes int) victims.Task {
	tree := w.cluster.Tree()
	size := make(resources.Vector, tree.Schema().Len())
	for i := range size {
		size[i] = rapid.SampledFrom([]int64{2, 1, 3, 4, 5, 0}).Draw(t, "size")
	}
	return victims.Task{
		Key: key, Application: rapid.SampledFrom([]string{"p", "p", "p", "p", "q"}).Draw(t, "application"),
		Queue: rapid.SampledFrom(slices.Collect(tree.Leaves(queue.Root))).Draw(t, "queue"),
		Node:  victims.NodeID(rapid.IntRange(1, nodes).Draw(t, "node")),
		Size:  size, Priority: rapid.Int32Range(-1, 1).Draw(t, "priority"),
		Created: auditNow.Add(-time.Hour), Scheduled: auditNow.Add(-time.Hour),
		OptedOut: oneIn(t, 3, "opted out"), RequiredNode: oneIn(t, 12, "required"), Originator: oneIn(t, 6, "originator"),
		Job:     rapid.SampledFrom([]string{"", "", "j", "k"}).Draw(t, "job"),
		Budgets: rapid.SampledFrom([][]string{nil, nil, {"soft"}, {"hard"}, {"hard", "soft"}}).Draw(t, "budgets"),
	}
}

// drawAsk draws an ask of the first branch below the root.
func (w *auditWorld) drawAsk(t *rapid.T, nodes int) {
	task := w.drawTask(t, "ask", nodes)
	starving := slices.Collect(w.cluster.Tree().Leaves(queue.Root + 1))
	w.ask = victims.Ask{
		Key: task.Key, Application: "q", Queue: rapid.SampledFrom(starving).Draw(t, "asking"),
		Size: task.Size, Priority: 1, PendingSince: auditNow.Add(-time.Hour), MayNotPreempt: oneIn(t, 20, "may not"),
	}
	if oneIn(t, 8, "pending") {
		w.ask.PendingSince = auditNow.Add(-rapid.SampledFrom([]time.Duration{30 * time.Second, 29 * time.Second}).Draw(t, "since"))
	}
	if oneIn(t, 6, "required node") {
		w.ask.RequiredNode = w.cluster.Node(task.Node).Name
	}
	if oneIn(t, 12, "granted before") {
		for _, key := range rapid.Permutation([]string{"ask", "g1", "g2"}).Draw(t, "grants") {
			other := w.drawTask(t, key, nodes)
			ask := victims.Ask{Key: key, Queue: other.Queue, Size: other.Size}
			if key == "ask" {
				ask, other.Node = w.ask, task.Node
			}
			if _, err := w.cluster.GrantPlace(&ask, other.Node, time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if oneIn(t, 8, "attempted before") {
		w.ask.LastAttempt = auditNow.Add(-rapid.SampledFrom([]time.Duration{time.Second, time.Minute}).Draw(t, "attempt"))
	}
}

// drawHeadroom gives the root a max near its usage.
func (w *auditWorld) drawHeadroom(t *rapid.T) {
	tree := w.cluster.Tree()
	l := resources.Limit{Value: slices.Clone(tree.Usage(queue.Root))}
	for i := range l.Value {
		l.Value[i] += rapid.SampledFrom([]int64{2, 0, 4, -1}).Draw(t, "headroom")
		if g, ok := tree.Guaranteed(queue.Root).Bound(i); ok && g > l.Value[i] {
			continue
		}
		if l.Value[i] >= 0 {
			l.Defined |= 1 << i
		}
	}
	if err := w.cluster.SetMax(queue.Root, l); err != nil {
		t.Fatal(err)
	}
}

// drawOptions draws what planner and auditor share.
func (w *auditWorld) drawOptions(t *rapid.T) {
	p := &w.planner
	p.Cluster = w.cluster
	p.StrictPriority = oneIn(t, 4, "strict")
	p.RetryInterval = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "interval")
	if n := rapid.Int32Range(0, 7).Draw(t, "exempt"); n > 3 {
		p.Exempt = func(e *victims.Question) (time.Time, bool) {
			return auditNow.Add(time.Duration(n - 5)), int32(e.Task)%8 == n // at 4 and 5 it has ended
		}
	}
	if oneIn(t, 4, "predicate") {
		p.Predicate = drawPredicate(t)
	}
	w.auditor = w.newAuditor()
}

// drawPredicate draws a predicate that wants few or many victims and not a
// certain one, or one that no law of growth holds for.
func drawPredicate(t *rapid.T) func(*victims.Question) bool {
	least, not := rapid.IntRange(0, 3).Draw(t, "at least"), victims.TaskID(rapid.Int32Range(0, 9).Draw(t, "but not"))
	if rapid.Bool().Draw(t, "wild") {
		return func(q *victims.Question) bool {
			sum := int(q.Node)
			for _, id := range q.Victims {
				sum += 1 << id
			}
			return sum*7%5 > least
		}
	}
	return func(q *victims.Question) bool {
		return len(q.Victims) >= least && !slices.Contains(q.Victims, not)
	}
}

// drawRules draws options that the caller of an auditor may have.
func (w *auditWorld) drawRules(t *rapid.T) {
	a := &w.auditor
	left := rapid.Int64Range(-1, 3).Draw(t, "left")
	if err := w.cluster.SetBudget("hard", victims.Budget{Left: left, Hard: true}); err != nil {
		t.Fatal(err)
	}
	a.WithinQueue = rapid.SampledFrom([]queue.WithinQueue{queue.Never, queue.Met, queue.Branch}).Draw(t, "own leaf")
	chosen := choices.Of(&a.Options)
	for i, row := range choices.Rows() {
		switch at := chosen.Pointer(i).(type) {
		case *bool:
			*at = oneIn(t, 3, row.Text)
		case *int:
			*at = rapid.IntRange(0, 3).Draw(t, row.Text)
		}
	}
	chosen.StrictPriority = a.StrictPriority // of the planner
	chosen.Set(&a.Options)
	if n := victims.NodeID(rapid.IntRange(1, 7).Draw(t, "filtered")); n <= 3 {
		a.Filter = func(q *victims.Question) bool { return q.Node != n }
	}
	if least := rapid.IntRange(-2, 3).Draw(t, "minimum"); least > -2 {
		world.SetEveryMinimum(w.cluster, func(job string) int { return max(0, least+strings.Count("k", job)) })
	}
	if n := victims.TaskID(rapid.IntRange(0, 20).Draw(t, "blocker")); n < 10 {
		a.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			for id := range w.cluster.TasksOn(q.Node) {
				if id == n || id == n+1 {
					dst = append(dst, id)
				}
			}
			return dst
		}
	}
}

// newAuditor returns an auditor with the options of the planner.
func (w *auditWorld) newAuditor() victims.Auditor {
	return victims.Auditor{
		Cluster: w.cluster, Options: victims.Options{StrictPriority: w.planner.StrictPriority, RetryInterval: w.planner.RetryInterval, Exempt: w.planner.Exempt, Predicate: w.planner.Predicate},
	}
}

// A fortune says what a branch of queues is mostly promised.
type fortune int

const (
	lends   fortune = iota // less than it uses
	starves                // more
	inside                 // nothing, for a queue above it starves
)

// drawQueues draws a queue and those below it.
func drawQueues(t *rapid.T, schema *resources.Schema, name string, f fortune) queue.Config {
	root := name == "root"
	c := queue.Config{Name: name, Properties: make(map[string]string)}
	c.Guaranteed.Value, c.Max.Value = make(resources.Vector, schema.Len()), make(resources.Vector, schema.Len())
	for i := range schema.Len() {
		low, high, rare := int64(0), int64(4), 2
		switch {
		case root || f == inside:
			low, high, rare = 0, 20, 6
		case f == starves:
			low, high, rare = 8, 20, 1
		}
		c.Guaranteed.Value[i] = rapid.Int64Range(low, high).Draw(t, "guaranteed")
		if oneIn(t, rare, "guarantees") {
			c.Guaranteed.Defined |= 1 << i
		}
		c.Max.Value[i] = rapid.Int64Range(20, 30).Draw(t, "max")
		if oneIn(t, 4, "bounds") {
			c.Max.Defined |= 1 << i
		}
	}
	for _, p := range []struct{ key, value string }{
		{"preemption.policy", "fence"}, {"preemption.policy", "disabled"},
		{"priority.policy", "fence"}, {"priority.offset", "1"}, {"priority.offset", "-1"},
	} {
		if oneIn(t, 10, p.value) && !(root && p.key == "preemption.policy") {
			c.Properties[p.key] = p.value
		}
	}
	children := rapid.IntRange(0, 2).Draw(t, "children")
	switch {
	case root:
		children += 2
	case strings.Count(name, "-") == 2:
		children = 0
	}
	for i := range children {
		below := f
		switch {
		case root && i == 0:
			below = starves
		case f == starves:
			below = inside
		}
		c.Children = append(c.Children, drawQueues(t, schema, fmt.Sprintf("%s-%d", strings.TrimPrefix(name, "root"), i), below))
	}
	return c
}

// decide returns what the planner decides.
func (w *auditWorld) decide(t *rapid.T) *victims.Decision {
	var d victims.Decision
	if err := w.planner.Decide(&d, &w.ask, auditNow); err != nil {
		t.Fatal(err)
	}
	return &d
}

// plan returns the planner's plan, or a guess where it refuses.
func (w *auditWorld) plan(t *rapid.T) *victims.Plan {
	d := w.decide(t)
	if d.Outcome != victims.Refused {
		return &d.Plan
	}
	p := &victims.Plan{Ask: w.ask, Places: []victims.Place{{Node: rapid.SampledFrom(slices.Collect(w.cluster.Nodes())).Draw(t, "guess")}}}
	for id := range w.cluster.Tasks() {
		task := w.cluster.Task(id)
		if task.State != victims.Granted && rapid.IntRange(0, 3).Draw(t, "victim") == 0 {
			p.Victims = append(p.Victims, victims.Victim{Task: id, Key: task.Key})
		}
	}
	return p
}

// bend changes a plan a little, and keeps it well-formed.
func (w *auditWorld) bend(t *rapid.T, p *victims.Plan) {
	switch rapid.IntRange(0, 5).Draw(t, "bend") {
	case 0: // one victim less
		if n := len(p.Victims); n > 0 {
			i := rapid.IntRange(0, n-1).Draw(t, "less")
			p.Victims = slices.Delete(p.Victims, i, i+1)
		}
	case 1, 2: // one more
		for id := range w.cluster.Tasks() {
			task := w.cluster.Task(id)
			known := slices.ContainsFunc(p.Victims, func(v victims.Victim) bool { return v.Task == id })
			if task.State != victims.Granted && !known && rapid.Bool().Draw(t, "more") {
				p.Victims = append(p.Victims, victims.Victim{Task: id, Key: task.Key})
				return
			}
		}
	case 3: // another node
		p.Places = []victims.Place{{Node: rapid.SampledFrom(slices.Collect(w.cluster.Nodes())).Draw(t, "node")}}
	case 4: // a larger or smaller ask
		i := rapid.IntRange(0, len(p.Ask.Size)-1).Draw(t, "type")
		p.Ask.Size[i] = rapid.Int64Range(0, 6).Draw(t, "size")
	case 5: // of another priority
		p.Ask.Priority = rapid.Int32Range(-1, 1).Draw(t, "priority")
	}
}

// auditAcceptsPlans holds the planner to the laws, and the auditor to plans
// that are lawful. Law 1 is the cost's business: after the predicate has
// refused the cheapest plan, or where steps ran out, the next best may break it.
func auditAcceptsPlans(t *rapid.T) {
	w := drawAuditWorld(t)
	d := w.decide(t)
	if d.Outcome == victims.Refused {
		return
	}
	vs := w.auditor.Audit(nil, d, auditNow)
	if d.Plan.Proof != victims.ProofCost {
		vs = slices.DeleteFunc(vs, func(v victims.Violation) bool { return v.Law == finding.LawOptedOut })
	}
	if len(vs) > 0 {
		t.Fatalf("%v for %+v on\n%v\nbreaks %v", d.Outcome, d.Plan, w.cluster.Tree(), violationLines(vs))
	}
}

func TestAuditAcceptsPlans(t *testing.T) { rapid.Check(t, auditAcceptsPlans) }
func FuzzAuditAcceptsPlans(f *testing.F) { f.Fuzz(rapid.MakeFuzz(auditAcceptsPlans)) }

// auditAgreesWithTwin breaks plans in random ways and expects what the slow
// twin finds.
func auditAgreesWithTwin(t *rapid.T) {
	w := drawAuditWorld(t)
	if rapid.Bool().Draw(t, "rules") {
		w.drawRules(t)
	}
	p := w.plan(t)
	for range rapid.IntRange(0, 2).Draw(t, "bends") {
		w.bend(t, p)
	}
	vs := w.auditor.Audit(nil, decided(p), auditNow)
	got := make(map[string]bool)
	for _, v := range vs {
		got[v.Law] = true
	}
	want := slowAudit{&w.auditor, p, auditNow}.broken()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("plan %+v on\n%v\nbreaks %v (-want +got):\n%s", *p, w.cluster.Tree(), violationLines(vs), diff)
	}
	// Law 5 follows from law 2 for a victim that goes by the plan.
	if got[finding.LawSurplus] && !got[finding.LawGuarantee] && !got[finding.LawLeaving] {
		t.Fatalf("plan %+v on\n%v\nkeeps law 2 and breaks %v", *p, w.cluster.Tree(), violationLines(vs))
	}
}

func TestAuditAgreesWithTwin(t *testing.T) { rapid.Check(t, auditAgreesWithTwin) }
func FuzzAuditAgreesWithTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(auditAgreesWithTwin)) }

// auditBearsGarbage feeds the audit what is no plan at all.
func auditBearsGarbage(t *rapid.T) {
	w := drawAuditWorld(t)
	w.drawRules(t)
	rows := rapid.OneOf(rapid.Int32Range(-2, 12), rapid.Int32())
	times := rapid.Custom(func(t *rapid.T) time.Time {
		seconds := rapid.OneOf(rapid.Just(auditNow.Unix()), rapid.Int64()).Draw(t, "seconds")
		return rapid.SampledFrom([]time.Time{{}, time.Unix(seconds, 0)}).Draw(t, "time")
	})
	p := &victims.Plan{
		Ask: victims.Ask{
			Key:          rapid.SampledFrom([]string{"", "ask", "t0", "new"}).Draw(t, "key"),
			Application:  rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "application"),
			Queue:        queue.ID(rows.Draw(t, "queue")),
			Size:         rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(-1, 9), rapid.Int64()), 0, 70).Draw(t, "size"),
			Priority:     rapid.Int32().Draw(t, "priority"),
			PendingSince: times.Draw(t, "since"),
			LastAttempt:  times.Draw(t, "attempt"),
			RequiredNode: rapid.SampledFrom([]string{"", "", "n0", "none"}).Draw(t, "required node"),
		},
		Places: []victims.Place{{Node: victims.NodeID(rows.Draw(t, "node"))}},
	}
	for range rapid.IntRange(0, 12).Draw(t, "victims") {
		p.Victims = append(p.Victims, victims.Victim{
			Task: victims.TaskID(rows.Draw(t, "row")),
			Key:  rapid.SampledFrom([]string{"", "ask", "t0", "t1", "t2", "t3"}).Draw(t, "victim"),
		})
	}
	now := times.Draw(t, "now")
	got := violationLines(w.auditor.Audit(nil, decided(p), now))
	fresh := w.newAuditor()
	fresh.WithinQueue, fresh.Filter, fresh.Blockers = w.auditor.WithinQueue, w.auditor.Filter, w.auditor.Blockers
	again := violationLines(fresh.Audit(nil, decided(p), now))
	if diff := cmp.Diff(got, again); diff != "" {
		t.Fatalf("two audits of one plan (-first +second):\n%s", diff)
	}
}

func TestAuditBearsGarbage(t *testing.T) { rapid.Check(t, auditBearsGarbage) }
func FuzzAuditBearsGarbage(f *testing.F) { f.Fuzz(rapid.MakeFuzz(auditBearsGarbage)) }

// auditSeesChanges takes a lawful plan and leaves a victim out, or adds one: the
// one is too few, the other can be given back.
func auditSeesChanges(t *rapid.T) {
	w := drawAuditWorld(t)
	w.drawRules(t)
	w.auditor.Predicate = nil
	p := w.plan(t)
	if len(p.Victims) == 0 || w.auditor.Audit(nil, decided(p), auditNow) != nil {
		return
	}
	all := slices.Clone(p.Victims)
	for i, v := range all {
		p.Victims = slices.Delete(slices.Clone(all), i, i+1)
		if w.auditor.Audit(nil, decided(p), auditNow) == nil {
			t.Fatalf("%+v is lawful without %s, too, on\n%v", all, v.Key, w.cluster.Tree())
		}
	}
	for id := range w.cluster.Tasks() {
		if slices.ContainsFunc(all, func(v victims.Victim) bool { return v.Task == id }) {
			continue
		}
		p.Victims = append(slices.Clone(all), victims.Victim{Task: id, Key: w.cluster.Key(id)})
		if w.auditor.Audit(nil, decided(p), auditNow) == nil {
			t.Fatalf("%+v is lawful with %s, too, on\n%v", all, w.cluster.Key(id), w.cluster.Tree())
		}
	}
}

func TestAuditSeesChanges(t *testing.T) { rapid.Check(t, auditSeesChanges) }
func FuzzAuditSeesChanges(f *testing.F) { f.Fuzz(rapid.MakeFuzz(auditSeesChanges)) }
