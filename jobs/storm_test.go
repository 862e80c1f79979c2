// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Storm freedom of asks and jobs by guarantee together: with Φ the sum of min(e, g) over
// queues and guaranteed types, every plan makes Φ larger, and nothing else makes it
// smaller. So on a fixed workload there are at most as many plans as the sum of
// ⌈g / smallest amount of an ask or a member⌉, however the victims come back.
//
// Here they come back at once: a controller recreates every victim as a new ask, or as a
// new member of its job. Asks and jobs are taken in random order, their victims leave when
// they like, and now and then a max is lowered and enforced, until nobody gets any further.
func TestStormFreedom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { playHistory(t) })
	if testing.Short() {
		return
	}
	// The same histories every time: in some of them jobs must have plans.
	plans, shared := 0, 0
	for seed := range 200 {
		h := rapid.Custom(playHistory).Example(seed)
		plans, shared = plans+h.ofJobs, shared+h.shared
	}
	require.Greater(t, plans, 10, "plans of jobs")
	require.Greater(t, shared, 10, "plans that asks share")
}

func FuzzStormFreedom(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { playHistory(t) }))
}

// playHistory plays a history and holds it to the bound.
func playHistory(t *rapid.T) *history {
	h := newHistory(t, world.Workloads(world.Crowded.With(everything&^world.WithOwnLeaf|world.WithGangs)).Draw(t, "workload"))
	most := h.mostPlans()
	for h.step() {
		if h.plans > most {
			t.Fatalf("%d plans, at most %d can be\n%v", h.plans, most, h)
		}
	}
	return h
}

// history is a cluster with asks and jobs that wait, and a controller.
type history struct {
	*rapid.T
	w       *world.World // as it was in the beginning
	o       *world.Options
	cluster *victims.Cluster
	asks    *jobs.Planner
	gangs   jobs.Planner
	pending []victims.Ask
	jobs    []*victims.Ask

	plans, ofJobs int
	shared        int // plans for several asks
	lowered       int // maxes
	names         int // given to those who come back
	log           []string
}

func newHistory(t *rapid.T, load *world.Workload) *history {
	cluster, err := world.Build(&load.World)
	if err != nil {
		t.Fatal(err)
	}
	h := &history{T: t, w: &load.World, o: &load.Options, cluster: cluster, asks: world.PlannerOf(cluster, &load.Options)}
	for i := range load.Asks {
		load.Asks[i].RequiredNode = "" // such plans are outside the theorem
		h.enter(&load.Asks[i], i)
	}
	for _, j := range h.jobs {
		h.must(cluster.SetMinMembers(j.Key, cmp.Or(j.MinMembers, len(j.Members))))
	}
	h.gangs = jobs.Planner{Cluster: cluster, Options: victims.Options{StrictPriority: h.o.StrictPriority, Scarce: h.asks.Scarce}}
	return h
}

// enter makes an ask one that waits, or a job of members like it.
func (h *history) enter(a *world.Ask, i int) {
	ask, err := world.AskOf(h.cluster, a)
	h.must(err)
	members := rapid.IntRange(0, 3).Draw(h.T, "members")
	if members == 0 {
		h.pending = append(h.pending, ask)
		for twin := range rapid.IntRange(0, 3).Draw(h.T, "twins") {
			ask.Key = fmt.Sprintf("%s-%d", a.Key, twin)
			h.pending = append(h.pending, ask)
		}
		return
	}
	j := &victims.Ask{
		Key: fmt.Sprintf("j%d", i), Application: ask.Application, Queue: ask.Queue, Priority: ask.Priority,
		MinMembers: rapid.IntRange(0, members).Draw(h.T, "minimum"), PendingSince: ask.PendingSince,
		DomainDepth: max(0, rapid.IntRange(-2, 1).Draw(h.T, "domain")),
	}
	for m := range members {
		size := slices.Clone(ask.Size)
		if rapid.IntRange(0, 3).Draw(h.T, "larger") == 0 {
			size = resources.Add(size, size, ask.Size)
		}
		j.Members = append(j.Members, victims.Member{
			Key: fmt.Sprintf("j%d-%d", i, m), Size: size, Originator: ask.Originator, OptedOut: ask.OptedOut,
			Cost: ask.Cost, Budgets: ask.Budgets,
		})
	}
	h.jobs = append(h.jobs, j)
}

// mostPlans is the number of plans that there can be.
func (h *history) mostPlans() (most int) {
	smallest := make(resources.Vector, h.cluster.Schema().Len())
	look := func(size resources.Vector) {
		for t, v := range size {
			if v > 0 && (smallest[t] == 0 || v < smallest[t]) {
				smallest[t] = v
			}
		}
	}
	for i := range h.pending {
		look(h.pending[i].Size)
	}
	for _, j := range h.jobs {
		for i := range j.Members {
			look(j.Members[i].Size)
		}
	}
	for _, v := range h.tasks() {
		look(v.Size)
	}
	tree := h.cluster.Tree()
	for q := range queue.ID(tree.Len()) {
		g := tree.Guaranteed(q)
		for t := range g.Defined.All() {
			if a := smallest[t]; a > 0 && g.Value[t] > 0 {
				most += int((g.Value[t]-1)/a) + 1
			}
		}
	}
	return most
}

// tasks returns copies of all tasks and grants.
func (h *history) tasks() (all []victims.Task) {
	for leaf := range h.cluster.Tree().Leaves(queue.Root) {
		for id := range h.cluster.TasksIn(leaf) {
			t := h.cluster.TaskView(id)
			t.Size, t.Budgets = slices.Clone(t.Size), slices.Clone(t.Budgets)
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b victims.Task) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// keys returns the keys of the tasks in one of some states.
func (h *history) keys(states ...victims.State) (keys []string) {
	for _, t := range h.tasks() {
		if slices.Contains(states, t.State) {
			keys = append(keys, t.Key)
		}
	}
	return keys
}

// step lets one thing happen and reports whether anything can.
func (h *history) step() bool {
	before, plans := potential(h.cluster, h.asks.Scarce), h.plans // of an ask or a job
	told := h.event()
	if told == "" {
		return false
	}
	h.log = append(h.log, told)
	switch phi := potential(h.cluster, h.asks.Scarce); {
	case phi < before+int64(h.plans-plans):
		h.Fatalf("Φ goes from %d to %d\n%v", before, phi, h)
	}
	return true
}

// event draws what happens and tells it: something that can, if anything can.
func (h *history) event() string {
	leaving, granted := h.keys(victims.Releasing, victims.Marked), h.keys(victims.Granted)
	switch n := rapid.UintMax(6).Draw(h.T, "event"); {
	case n == 1 && len(leaving) > 0:
		return h.finish(rapid.SampledFrom(leaving).Draw(h.T, "leaving"))
	case n == 2 && len(granted) > 0:
		if told := h.start(rapid.SampledFrom(granted).Draw(h.T, "grant")); told != "" {
			return told
		}
	case n == 3:
		if told := h.lower(); told != "" {
			return told
		}
	case n > 3 && len(h.pending) > 1:
		if told := h.decideTogether(); told != "" {
			return told
		}
	}
	order := make([]int, len(h.pending)+len(h.jobs))
	for i := range order {
		order[i] = i
	}
	for _, i := range rapid.Permutation(order).Draw(h.T, "order") {
		told := ""
		if i < len(h.pending) {
			told = h.decideAsk(i)
		} else {
			told = h.decideJob(h.jobs[i-len(h.pending)])
		}
		if told != "" {
			return told
		}
	}
	for _, key := range granted {
		if told := h.start(key); told != "" {
			return told
		}
	}
	if len(leaving) > 0 {
		return h.finish(leaving[0])
	}
	return ""
}

func (h *history) decideAsk(i int) string {
	a := h.pending[i]
	var d victims.Decision
	h.must(h.asks.Decide(&d, &a, h.o.Now))
	if d.Outcome == victims.Refused {
		return ""
	}
	h.pending = slices.Delete(h.pending, i, i+1)
	var stopped []string
	for _, v := range d.Plan.Victims {
		stopped = append(stopped, v.Key)
	}
	return h.apply(&d, a.Key, stopped)
}

// decideTogether decides some of the asks that wait, alike ones next to each other now and
// then. Each ask of a plan with victims counts as a plan: it makes Φ larger.
func (h *history) decideTogether() string {
	asks := rapid.Permutation(h.pending).Draw(h.T, "together")
	if rapid.Bool().Draw(h.T, "by queue") {
		slices.SortStableFunc(asks, func(a, b victims.Ask) int { return int(a.Queue - b.Queue) })
	}
	if rapid.Bool().Draw(h.T, "one application") {
		for i := range asks {
			asks[i].Application, asks[i].Priority = "together", asks[0].Priority
		}
	}
	var j joint
	h.must(decideAll(&h.gangs, &j, asks, h.o.Now))
	for i := range j.Refused {
		if j.Refused[i].Refusal.Reason == victims.Unlawful {
			h.Fatalf("%s: a plan that the auditor withholds\n%v", asks[j.Refused[i].Ask].Key, h)
		}
	}
	if len(j.Parts) == 0 {
		return ""
	}
	a := victims.Auditor{Cluster: h.cluster, Options: h.gangs.Options}
	if found := j.audit(&a); len(found) > 0 {
		h.Fatalf("%+v\n%v", found, h)
	}
	h.notDearer(&j)
	h.must(h.cluster.ApplyAll(j.all))
	var told []string
	for i := range j.Parts {
		part := &j.Parts[i]
		var who, stopped []string
		for _, k := range part.Asks {
			who = append(who, asks[k].Key)
		}
		h.pending = slices.DeleteFunc(h.pending, func(a victims.Ask) bool { return slices.Contains(who, a.Key) })
		for _, v := range part.Plan.Victims {
			stopped = append(stopped, v.Key)
			h.comeBack(v.Key)
		}
		if len(stopped) > 0 {
			h.plans += len(who)
			if len(who) > 1 {
				h.shared++
			}
		}
		told = append(told, fmt.Sprintf("%v together: %v, from %v", who, part.Outcome, stopped))
	}
	return strings.Join(told, "; ")
}

func (h *history) decideJob(j *victims.Ask) string {
	var d victims.Decision
	h.must(h.gangs.Decide(&d, j, h.o.Now))
	if d.Outcome == victims.Refused && d.Refusal.Reason == victims.Unlawful {
		h.Fatalf("%s: a plan that the auditor withholds\n%v", j.Key, h)
	}
	if d.Outcome == victims.Refused || len(d.Plan.Places) == 0 {
		return ""
	}
	var stopped []string
	for _, v := range d.Plan.Victims {
		stopped = append(stopped, v.Key)
	}
	if len(stopped) > 0 {
		h.ofJobs++
	}
	return h.apply(&d, j.Key, stopped)
}

// apply carries a plan out, has its victims come back, and now and then lets them go at
// once.
func (h *history) apply(d *victims.Decision, who string, stopped []string) string {
	h.must(h.cluster.Apply(d))
	for _, key := range stopped {
		h.comeBack(key)
	}
	if len(stopped) > 0 {
		h.plans++
		if rapid.Bool().Draw(h.T, "at once") {
			for _, key := range stopped {
				h.finish(key)
			}
		}
	}
	return fmt.Sprintf("%s: %v, from %v", who, d.Outcome, stopped)
}

// comeBack recreates a victim: as a member of its job, or as an ask.
func (h *history) comeBack(key string) {
	h.names++
	first, _, _ := strings.Cut(key, "+")
	again := fmt.Sprintf("%s+%d", first, h.names)
	for _, j := range h.jobs {
		for i := range j.Members {
			if j.Members[i].Key == key {
				j.Members[i].Key = again
				return
			}
		}
	}
	id, ok := h.cluster.Lookup(key)
	if !ok {
		h.Fatalf("no task %s\n%v", key, h)
	}
	t := h.cluster.TaskView(id)
	h.pending = append(h.pending, victims.Ask{
		Key: again, Application: t.Application, Queue: t.Queue, Size: slices.Clone(t.Size), Priority: t.Priority,
		Originator: t.Originator, OptedOut: t.OptedOut, Job: t.Job, Cost: t.Cost, Budgets: slices.Clone(t.Budgets),
	})
}

// finish ends a leaving task.
func (h *history) finish(key string) string {
	h.must(h.cluster.RemoveTask(key))
	return key + " is gone"
}

// start starts a grant if it has room by now.
func (h *history) start(key string) string {
	ask := key
	if id, held := h.cluster.LookupGrant(key); !held {
		return "" // it has started with others of its job
	} else if _, alone := h.cluster.Grant(key); !alone {
		ask = h.cluster.Job(id)
	}
	err := h.cluster.Start(ask, h.o.Now)
	if errors.Is(err, victims.ErrRoom) {
		return ""
	}
	h.must(err)
	for name, b := range h.w.Budgets { // another replica is up; in any order
		h.must(h.cluster.SetBudget(name, victims.Budget(b)))
	}
	return key + " starts"
}

// lower lowers the max of a queue to something that it is over, and enforces that.
func (h *history) lower() string {
	const most = 4
	tree := h.cluster.Tree()
	var queues []queue.ID
	for q := range queue.ID(tree.Len()) {
		if tree.Effective(nil, q)[0] > tree.Guaranteed(q).Value.At(0) {
			queues = append(queues, q)
		}
	}
	if len(queues) == 0 || h.lowered == most {
		return ""
	}
	q := rapid.SampledFrom(queues).Draw(h.T, "lowered")
	least, used := tree.Guaranteed(q).Value.At(0), tree.Effective(nil, q)[0]
	limit := resources.Limit{Value: make(resources.Vector, h.cluster.Schema().Len())}
	limit.Value[0], limit.Defined = least+rapid.Int64Range(0, used-least).Draw(h.T, "max"), limit.Defined|1<<0
	if h.cluster.SetMax(q, limit) != nil {
		return "" // below what children or other types are guaranteed
	}
	h.lowered++
	e := quota.Enforcer{Cluster: h.cluster}
	var d victims.Decision
	h.must(e.Enforce(&d, q, h.o.Now))
	if d.Outcome == victims.Preempts {
		h.must(h.cluster.Apply(&d))
	}
	var stopped []string
	for _, v := range d.Plan.Victims {
		stopped = append(stopped, v.Key)
		h.comeBack(v.Key)
	}
	return fmt.Sprintf("%s is held to %d, and loses %v", tree.Path(q), limit.Value[0], stopped)
}

func (h *history) must(err error) {
	if err != nil {
		h.Fatalf("%v\n%v", err, h)
	}
}

// String tells what was in the beginning and what has happened since.
func (h *history) String() string {
	var b strings.Builder
	b.WriteString(h.w.String())
	for _, told := range h.log {
		fmt.Fprintln(&b, told)
	}
	for _, j := range h.jobs {
		fmt.Fprintf(&b, "%+v\n", *j)
	}
	return b.String()
}
