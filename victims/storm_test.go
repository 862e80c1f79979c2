// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// Storm freedom: with Φ the sum of min(e, g) over queues and guaranteed types,
// every inter-queue plan makes Φ larger, and nothing but a plan for a required
// node makes it smaller. So on a fixed workload there are at most as many plans
// as the sum of ⌈g / smallest amount of an ask⌉, however the victims come back.
//
// Here they come back at once: a controller recreates every victim as a new ask
// that is the same in all but its key. Asks are taken in random order, plans are
// carried out at once or step by step, and now and then a quota is lowered and
// enforced, until no ask gets any further.
func TestStormFreedom(t *testing.T) { rapid.Check(t, propertyStorm) }

func FuzzStormFreedom(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyStorm))
}

func propertyStorm(t *rapid.T) { calmOn(t, world.Crowded) }

// calmFeatures are all that can be in the history of an ask but the own leaf.
const calmFeatures = world.WithGangs | world.WithBudgets | world.WithCosts | world.WithCheckpoints |
	world.WithRanks | world.WithLabels | world.WithPorts

// The bound holds as well with gangs that go whole, budgets, own costs, node
// ranks, a filter and blockers.
func TestStormFreedom_Rules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { calmOn(t, world.Crowded.With(calmFeatures)) })
}

func FuzzStormFreedom_Rules(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { calmOn(t, world.Crowded.With(calmFeatures)) }))
}

// calmOn plays a history and holds it to the bound.
func calmOn(t *rapid.T, shape world.Shape) {
	h := newHistory(t, world.Workloads(shape).Draw(t, "workload"))
	before := h.String()
	most := h.mostPlans()
	for h.step() {
		if h.plans > most {
			t.Fatalf("%d plans, at most %d can be; from\n%s%v", h.plans, most, before, h)
		}
	}
}

// With the own leaf at met Φ may shrink, so that the bound does not hold. But
// what is met stays met, and no state comes twice with a plan in between.
func TestStormFreedom_OwnLeaf(t *testing.T) { rapid.Check(t, propertyOwnLeafStorm) }

func FuzzStormFreedom_OwnLeaf(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyOwnLeafStorm))
}

func propertyOwnLeafStorm(t *rapid.T) {
	workload := world.Workloads(world.Crowded.With(calmFeatures|world.WithOwnLeaf|world.WithNearby)).Draw(t, "workload")
	workload.Options.OwnLeaf = world.Met
	h := newHistory(t, workload)
	before := h.String()
	seen := map[string]int{h.state(): 0} // the plans so far, by state
	for met, required := h.met(), 0; h.step(); required = h.required {
		if n, ok := seen[h.state()]; ok && n < h.plans {
			t.Fatalf("a state comes again after %d plans; from\n%s%v", h.plans-n, before, h)
		}
		seen[h.state()] = h.plans
		now := h.met()
		for _, pair := range met {
			if h.required == required && !slices.Contains(now, pair) {
				t.Fatalf("%s is not met any more; from\n%s%v", pair, before, h)
			}
		}
		met = now
	}
}

// history is a cluster with a controller, and the plain model of it.
type history struct {
	*rapid.T
	w       *world.World // kept in step with the cluster
	o       world.Options
	cluster *victims.Cluster
	planner *jobs.Planner
	d       victims.Decision

	asking   world.Ask // in question: for filter and blockers
	pending  []world.Ask
	first    map[string]world.Ask // what a recreated ask was first, by its key
	plans    int                  // inter-queue plans
	required int                  // plans for required nodes
	enforced int                  // quotas that were lowered
	names    int                  // given to recreated asks
	phi      int64
	log      []string
}

func newHistory(t *rapid.T, w *world.Workload) *history {
	h := &history{T: t, w: &w.World, o: w.Options, pending: w.Asks, first: make(map[string]world.Ask)}
	h.cluster = build(t, h.w)
	h.planner = world.PlannerOf(h.cluster, &h.o)
	h.planner.Filter = h.w.Filter(h.cluster, &h.asking)
	h.planner.Blockers = h.w.Blockers(h.cluster, &h.asking)
	h.phi = h.potential()
	return h
}

// potential is Φ.
func (h *history) potential() (phi int64) {
	usage := h.w.Usage(true)
	for _, q := range h.w.Queues() {
		for t, g := range q.Guaranteed {
			if h.o.Counts(t) {
				phi += min(usage[q.Path][t], g)
			}
		}
	}
	return phi
}

// mostPlans is the number of inter-queue plans that there can be. A plan for a
// required node may undo what others did, and nobody undoes it.
func (h *history) mostPlans() (most int) {
	smallest := make(world.Amounts)
	required := 0
	look := func(size world.Amounts) {
		for t, v := range size {
			if v > 0 && (smallest[t] == 0 || v < smallest[t]) {
				smallest[t] = v
			}
		}
	}
	for _, a := range h.pending {
		look(a.Size)
		if a.RequiredNode != "" {
			required++
		}
	}
	for _, t := range h.w.Tasks {
		look(t.Size)
	}
	for _, q := range h.w.Queues() {
		for t, g := range q.Guaranteed {
			if a := smallest[t]; a > 0 && g > 0 && h.o.Counts(t) {
				most += int((g-1)/a) + 1
			}
		}
	}
	return most * (required + 1)
}

// event is one thing that happened.
type event struct {
	told string // in words; "" if nothing happened
	// planned is set for an inter-queue plan, required for one for a required
	// node, which may make Φ smaller.
	planned, required bool
}

// step lets one thing happen and reports whether anything can.
func (h *history) step() bool {
	before := h.phi
	e := h.event()
	if e.told == "" {
		return false
	}
	h.log = append(h.log, e.told)
	h.phi = h.potential()
	switch {
	case e.required || h.o.OwnLeaf != "":
	case e.planned && h.phi <= before:
		h.Fatalf("Φ goes from %d to %d\n%v", before, h.phi, h)
	case h.phi < before:
		h.Fatalf("Φ falls from %d to %d\n%v", before, h.phi, h)
	}
	if e.planned {
		h.plans++
	}
	if e.required {
		h.required++
	}
	return true
}

// event draws what happens: something that can, if anything can.
func (h *history) event() event {
	leaving := h.leaving()
	switch n := rapid.UintMax(3).Draw(h.T, "event"); {
	case n == 1 && len(leaving) > 0:
		return event{told: h.finish(of(h.T, "leaving", leaving))}
	case n == 2 && len(h.w.Grants) > 0:
		if e := h.start(of(h.T, "grant", h.w.Grants).Ask); e.told != "" {
			return e
		}
	case n == 3:
		if e := h.enforce(); e.told != "" {
			return e
		}
	}
	for _, i := range permutation(h.T, len(h.pending)) {
		if e := h.decide(i); e.told != "" {
			return e
		}
	}
	for _, g := range slices.Clone(h.w.Grants) {
		if e := h.start(g.Ask); e.told != "" {
			return e
		}
	}
	if len(leaving) > 0 {
		return event{told: h.finish(leaving[0])}
	}
	return event{}
}

// decide has the pending ask i decided and carries the decision out.
func (h *history) decide(i int) event {
	a := h.pending[i]
	h.ask(a)
	if h.d.Outcome == victims.Refused {
		return event{}
	}
	h.pending = slices.Delete(h.pending, i, i+1)
	node := h.cluster.Node(h.d.Plan.Places[0].Node).Name
	if h.d.Outcome == victims.Fits {
		h.run(&a, node)
		return event{told: fmt.Sprintf("%s fits %s", a.Key, node)}
	}

	h.must(h.cluster.Apply(&h.d))
	h.w.Grants = append(h.w.Grants, world.Grant{Ask: a, Node: node})
	if h.d.Outcome == victims.Waits {
		return event{told: fmt.Sprintf("%s waits for %s", a.Key, node)}
	}
	e := event{told: fmt.Sprintf("%s takes %s from", a.Key, node), required: a.RequiredNode != ""}
	e.planned = !e.required
	for _, v := range h.d.Plan.Victims {
		e.told += " " + v.Key
		h.stop(v.Key)
	}
	if rapid.Bool().Draw(h.T, "at once") {
		for _, v := range h.d.Plan.Victims {
			h.finish(v.Key)
		}
		h.ungrant(a.Key)
		h.run(&a, node)
	}
	return e
}

// ask has an ask decided.
func (h *history) ask(a world.Ask) {
	h.asking = a
	ask := askOf(h.T, h.cluster, &a)
	h.must(h.planner.Decide(&h.d, &ask, h.o.Now))
}

// stop notes that a victim was told to stop, and recreates it as an ask.
func (h *history) stop(key string) {
	i := h.task(key)
	t := &h.w.Tasks[i]
	t.State = world.Preempting
	h.names++
	again, ok := h.first[key]
	if !ok {
		again = world.Ask{
			Key: key, Application: t.Application, Queue: t.Queue, Size: t.Size, Priority: t.Priority,
			PendingSince: t.Created, Originator: t.Originator, OptedOut: t.OptedOut,
			Job: t.Job, Cost: t.Cost, Budgets: t.Budgets, Ports: t.Ports,
		}
	}
	name := fmt.Sprintf("%s-%d", again.Key, h.names)
	h.first[name] = again
	again.Key = name
	h.pending = append(h.pending, again)
}

// name is the key that a task or an ask had first.
func (h *history) name(key string) string {
	if a, ok := h.first[key]; ok {
		return a.Key
	}
	return key
}

// state is all of the workload that changes: who waits, who holds a grant, who
// runs or leaves, and where, and how often a max was lowered.
func (h *history) state() string {
	var all []string
	for i := range h.pending {
		all = append(all, h.name(h.pending[i].Key))
	}
	for i := range h.w.Grants {
		all = append(all, h.name(h.w.Grants[i].Ask.Key)+" to "+h.w.Grants[i].Node)
	}
	for i := range h.w.Tasks {
		t := &h.w.Tasks[i]
		all = append(all, fmt.Sprintf("%s on %s, leaving %t", h.name(t.Key), t.Node, t.State.Leaving()))
	}
	slices.Sort(all)
	return fmt.Sprintf("after %d quotas\n%s", h.enforced, strings.Join(all, "\n"))
}

// met returns the queues and types that have what they are guaranteed.
func (h *history) met() (pairs []string) {
	usage := h.w.Usage(true)
	for _, q := range h.w.Queues() {
		for t, g := range q.Guaranteed {
			if usage[q.Path][t] >= g && h.o.Counts(t) {
				pairs = append(pairs, t+" of "+q.Path)
			}
		}
	}
	return pairs
}

// finish ends a leaving task.
func (h *history) finish(key string) (told string) {
	h.must(h.cluster.RemoveTask(key))
	i := h.task(key)
	h.w.Tasks = slices.Delete(h.w.Tasks, i, i+1)
	return key + " is gone"
}

// start starts a granted ask where it fits its node by now.
func (h *history) start(a world.Ask) event {
	h.ask(a)
	if h.d.Outcome != victims.Fits {
		return event{}
	}
	h.ungrant(a.Key)
	h.run(&a, h.cluster.Node(h.d.Plan.Places[0].Node).Name)
	return event{told: a.Key + " starts"}
}

func (h *history) ungrant(key string) {
	h.w.Grants = slices.DeleteFunc(h.w.Grants, func(g world.Grant) bool { return g.Ask.Key == key })
}

// run makes an ask a running task; where it held a grant the task takes its place.
func (h *history) run(a *world.Ask, node string) {
	if _, again := h.first[a.Key]; !again {
		h.first[a.Key] = *a // what it selects is not in the task
	}
	t := a.Started(node, h.o.Now)
	h.must(world.AddTask(h.cluster, &t))
	h.w.Tasks = append(h.w.Tasks, t)
	for _, name := range a.Budgets { // another replica is up, or still is
		h.must(h.cluster.SetBudget(name, victims.Budget(h.w.Budgets[name])))
	}
}

func (h *history) leaving() (keys []string) {
	for _, t := range h.w.Tasks {
		if t.State.Leaving() {
			keys = append(keys, t.Key)
		}
	}
	return keys
}

func (h *history) task(key string) int {
	return slices.IndexFunc(h.w.Tasks, func(t world.Task) bool { return t.Key == key })
}

func (h *history) must(err error) {
	if err != nil {
		h.Fatalf("%v\n%v", err, h)
	}
}

// String tells what has happened, and what is left.
func (h *history) String() string {
	var b strings.Builder
	for _, told := range h.log {
		fmt.Fprintln(&b, told)
	}
	b.WriteString(h.w.String())
	for i := range h.pending {
		fmt.Fprintln(&b, "ask   ", &h.pending[i])
	}
	return b.String()
}

// of draws one of a list, permutation an order of n things.
func of[T any](t *rapid.T, label string, list []T) T {
	return list[rapid.UintMax(uint(len(list)-1)).Draw(t, label)]
}

func permutation(t *rapid.T, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return rapid.Permutation(list).Draw(t, "order")
}
