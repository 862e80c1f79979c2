// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// The laws about moves are those of the library: in a random state, the plans with moves
// that are lawful here, and in which nobody moves in vain, are those that its auditor finds
// nothing to say against.
func TestMovesOfTheLibrary_Laws(t *testing.T) { law.Check3000(t, propertyMoveLaws) }

func FuzzMovesOfTheLibrary_Laws(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyMoveLaws)) }

func propertyMoveLaws(t *rapid.T) {
	q, l := drawMoves(t)
	if q == nil {
		return
	}
	stages := []bool{false, true}
	switch {
	case q.byPriority:
		stages = []bool{q.second}
	case q.own == Never:
		stages = stages[:1]
	}
	for _, q.second = range stages {
		var want, got []string
		q.move(0, func() {
			if q.movers == 0 {
				return
			}
			q.places(q.members, func() {
				if q.needless() {
					return
				}
				for _, p := range q.plans(nil) {
					got = append(got, fmt.Sprintf("%b stops %b", p.there, p.victims))
				}
			})
		})
		q.anyMoves(0, func() {
			q.places(q.members, func() {
				for set := range uint64(1 << len(q.Tasks)) {
					if set&^(q.running&^q.movers) == 0 && l.lawfulMoves(t, q, set) {
						want = append(want, fmt.Sprintf("%b stops %b", q.there, set))
					}
				}
			})
		})
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%+v: state %v, members %b, second %t: lawful plans (-library +here):\n%s",
				*q.Universe, q.place, q.members, q.second, diff)
		}
	}
}

// needless reports whether somebody moves who makes no room for who asks, nor a gang of theirs,
// or a gang moves to a node that is freed. The explorer has such steps as well.
func (a *question) needless() bool {
	asked := func(i int) bool { return a.there[a.place[i]]&a.members != 0 }
	bound := func(i int) bool { return a.Tasks[i].Job > 0 && a.Minimum[a.Tasks[i].Job] > 0 }
	var freed, help uint64 // by node, and by job
	for _, i := range numbers(a.movers) {
		if asked(i) {
			freed |= 1 << a.place[i]
			help |= 1 << a.Tasks[i].Job
		}
	}
	return slices.ContainsFunc(numbers(a.movers), func(i int) bool {
		to := a.there.of([]int{i})[0]
		return !asked(i) && !(bound(i) && help>>a.Tasks[i].Job&1 == 1) || bound(i) && freed>>to&1 == 1
	})
}

// drawMoves draws a question of a task or a job in a cluster in which tasks may move, or none
// if nobody waits. A max may have been lowered.
func drawMoves(t *rapid.T) (*question, *library) {
	u := drawUniverse(t)
	u.Rules.Moves = Moves(rapid.IntRange(int(MovesEntitled), int(MovesAny)).Draw(t, "moves"))
	for nodes := rapid.IntRange(2, maxNodes).Draw(t, "nodes to move to"); len(u.Nodes) < nodes; {
		u.Nodes = append(u.Nodes, slices.Clone(u.Nodes[0]))
	}
	u.drawRacks(t)
	u.Tasks[0].Priority++
	for i := range u.Tasks[0].Size {
		u.Tasks[0].Size[i] += 2
	}
	wait := uint64(1)
	job := rapid.Bool().Draw(t, "of a job")
	if job {
		wait = u.drawJob(t)
		u.Rules.ByPriority = rapid.Bool().Draw(t, "by priority")
	}
	w := u.world()
	w.drawFull(t, wait)
	w.drawTight(t)
	lowered := &u.Queues[rapid.IntRange(0, len(u.Queues)-1).Draw(t, "lowered")]
	for i := range lowered.Max {
		lowered.Max[i] = max(rapid.IntRange(0, lowered.Max[i]).Draw(t, "to"), lowered.Guaranteed[i])
	}
	w.set(w.after(&plan{}))

	var q question
	if waits := slices.Index(w.place, -1); job {
		members := w.required(1)
		if members == 0 {
			return nil, nil
		}
		q = w.jobAsk(members)
	} else {
		if waits < 0 {
			return nil, nil
		}
		q = w.ask(1 << waits)
	}
	return &q, clusterOf(t, w)
}

// drawTight leaves little free on the nodes.
func (w *world) drawTight(t *rapid.T) {
	for n, capacity := range w.Nodes {
		for i := range capacity {
			capacity[i] -= max(0, w.free[n*w.types+i]-rapid.IntRange(0, 2).Draw(t, "free"))
		}
	}
}

// anyMoves calls for every way in which some tasks that run are on other nodes.
func (a *question) anyMoves(task int, do func()) {
	if task == len(a.Tasks) {
		if a.movers != 0 {
			do()
		}
		return
	}
	a.anyMoves(task+1, do)
	for n := range a.Nodes {
		if a.place[task] >= 0 && a.place[task] != n {
			a.movers |= 1 << task
			a.there[n] |= 1 << task
			a.anyMoves(task+1, do)
			a.movers &^= 1 << task
			a.there[n] &^= 1 << task
		}
	}
}

// lawfulMoves reports whether the library has nothing to say against a plan.
func (l *library) lawfulMoves(t *rapid.T, q *question, set uint64) bool {
	own := Never.ofLibrary()
	if q.second {
		own = q.own.ofLibrary()
	}
	l.auditor.WithinQueue, l.auditor.Scarce = own, q.scarce()
	o := victims.Options{WithinQueue: own, Scarce: q.scarce(), Moves: q.Rules.ofLibrary()}
	var moved []victims.Move
	for _, i := range numbers(q.movers) {
		n := q.there.of([]int{i})[0]
		moved = append(moved, victims.Move{
			Task: l.task(t, i), Key: strconv.Itoa(i), From: victims.NodeID(1 + q.place[i]), To: victims.NodeID(1 + n), Grant: strconv.Itoa(i) + "+",
		})
	}
	stops := l.victims(t, set)
	if q.job > 0 {
		p := l.jobPlan(q)
		p.Victims, p.Moves = stops, moved
		o.ByPriority = q.byPriority
		return (&victims.Auditor{Cluster: l.auditor.Cluster, Options: o}).Audit(nil, &victims.Decision{Plan: p}, time.Unix(0, 0)) == nil
	}
	p := victims.Plan{
		Ask: l.ask(q.world, q.ask), Places: []victims.Place{{Node: victims.NodeID(1 + q.there.of([]int{q.ask})[0])}}, Victims: stops, Moves: moved,
	}
	l.auditor.Moves = o.Moves
	defer func() { l.auditor.Moves = "" }()
	return l.auditor.Audit(nil, &victims.Decision{Plan: p}, time.Unix(0, 0)) == nil
}

func (r *Rules) ofLibrary() victims.Moves {
	return map[Moves]victims.Moves{MovesEntitled: victims.MovesEntitled, MovesAny: victims.MovesAny}[r.Moves]
}

// What the library plans is among the steps here. It plans for an ask if there is any; for
// jobs it does not look for all.
func TestMovesOfTheLibrary(t *testing.T) {
	moved := 0
	law.Check3000(t, func(t *rapid.T) { moved += planWithMoves(t) })
	require.True(t, moved > 0 || testing.Short(), "no plan had a move")
}

func FuzzMovesOfTheLibrary(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { planWithMoves(t) }))
}

// planWithMoves returns how many moves the plan of the library has.
func planWithMoves(t *rapid.T) int {
	q, l := drawMoves(t)
	if q == nil {
		return 0
	}
	steps, starts := q.starts(nil)
	steps = q.takes(steps, starts)
	got, ok := l.decide(t, q)
	if !ok {
		if len(steps) > 0 && q.job == 0 {
			t.Fatalf("%+v: state %v: the library plans nothing for task %d, here is %+v", *q.Universe, q.place, q.ask, steps[0].step())
		}
		return 0
	}
	var all []Step
	for i := range steps {
		all = append(all, steps[i].step())
	}
	if !slices.ContainsFunc(all, func(s Step) bool { return cmp.Equal(s, got) }) {
		t.Fatalf("%+v: state %v: the library plans %+v, here are %+v", *q.Universe, q.place, got, all)
	}
	return len(got.Movers)
}

// decide returns what the library plans, or false if it refuses.
func (l *library) decide(t *rapid.T, q *question) (s Step, ok bool) {
	c, rules := l.auditor.Cluster, l.auditor.Options
	rules.WithinQueue, rules.Scarce = q.own.ofLibrary(), q.scarce()
	rules.ByPriority = q.byPriority
	rules.Moves = q.Rules.ofLibrary()
	p := jobs.Planner{Cluster: c, Options: rules}
	var ask victims.Ask
	if q.job > 0 {
		ask = l.job(q)
	} else {
		ask = l.ask(q.world, q.ask)
	}
	var d victims.Decision
	if err := p.Decide(&d, &ask, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	for _, at := range d.Plan.Places {
		if !at.Extra { // the others start in free room, later
			s.Tasks, s.Nodes = append(s.Tasks, number(t, at.Key)), append(s.Nodes, int(at.Node)-1)
		}
	}
	stops := d.Plan.Victims
	for _, v := range stops {
		s.Victims = append(s.Victims, number(t, v.Key))
	}
	slices.Sort(s.Victims)
	for i := range d.Plan.Moves {
		s.Movers = append(s.Movers, number(t, d.Plan.Moves[i].Key))
		s.To = append(s.To, int(d.Plan.Moves[i].To)-1)
	}
	return s, d.Outcome != victims.Refused
}

func number(t *rapid.T, key string) int {
	n, err := strconv.Atoi(key)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
