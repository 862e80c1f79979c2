// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// WhatIf applies some plans one after another and undoes some of them.
func (x *clusterMachine) WhatIf(t *rapid.T) {
	for range between(t, "plans", 1, 4) {
		x.Apply(t)
		x.Check(t)
	}
	for range between(t, "undone", 0, len(x.applied)) {
		x.Undo(t)
		x.Check(t)
	}
}

func (x *clusterMachine) Apply(t *rapid.T) {
	ch := x.drawChange(t)
	before, m := x.point(), x.m.clone()
	wrong := x.badChange(m, &ch)
	held := func(at changePlace) bool { return x.m.tasks[at.Ask.Key].State == Granted }
	if len(wrong) == 0 && len(ch.Victims)+len(ch.Moves) == 0 && !slices.ContainsFunc(ch.Places, func(at changePlace) bool { return !held(at) }) {
		if err := x.c.applyChange(ch); err != nil || x.c.Version() != x.version {
			t.Fatalf("nothing new is version %v, was %v: %v", x.c.Version(), x.version, err)
		}
		x.applied = append(x.applied, before)
		return
	}
	if !x.judge(t, x.c.applyChange(ch), `"`, wrong) { // it names the ask, or what is wrong with a place
		return
	}
	x.applied, x.m = append(x.applied, before), m
	for i := range ch.Places {
		key := ch.Places[i].Ask.Key
		x.tasks[key], _ = x.c.LookupGrant(key)
	}
	for i := range ch.Moves {
		x.tasks[ch.Moves[i].Grant], _ = x.c.LookupGrant(ch.Moves[i].Grant)
	}
}

// badChange does to a twin what a change does, and returns the first thing that is wrong
// with it.
func (x *clusterMachine) badChange(m *clusterModel, ch *change) []error {
	switch {
	case ch.Version != x.version:
		return []error{ErrStale}
	case ch.For == "" && ch.MinMembers > 0:
		return []error{invalid.Empty, invalid.Range}
	case badTime(ch.At) && !ch.At.IsZero(), ch.MinMembers < 0:
		return []error{invalid.Range}
	}
	var all []modelVictim
	stops := slices.Clone(ch.Victims)
	for _, v := range ch.Moves {
		stops = append(stops, Victim{Task: v.Task, Key: v.Key})
	}
	for i, v := range stops {
		task, ok := m.tasks[v.Key]
		switch {
		case slices.ContainsFunc(stops[:i], func(u Victim) bool { return u.Task == v.Task }):
			return []error{ErrDuplicate, ErrUnknown}
		case !ok || x.tasks[v.Key] != v.Task:
			return []error{ErrUnknown}
		case task.State != Running:
			return []error{ErrState}
		}
		m.unwait(v.Key)
		task.State, task.told = Marked, ch.At
		m.tasks[v.Key] = task
		m.spend(v.Key)
		all = append(all, modelVictim{v.Key, v.Blocks || v.ForQuota})
	}
	for _, v := range ch.Moves {
		was := m.tasks[v.Key]
		place := was.Task
		place.Key, place.Node, place.NodeName, place.State, place.RequiredNode = v.Grant, v.To, "", Granted, false
		place.Created, place.Scheduled, place.Checkpoint, place.SparedUntil = time.Time{}, time.Time{}, time.Time{}, time.Time{}
		if wrong := append(m.badName(v.Grant, false), m.badTask(&place)...); len(wrong) > 0 {
			return wrong
		}
		m.putTask(place)
		m.give(modelGrant{key: v.Grant, ask: v.Grant, mover: v.Key}, time.Time{})
	}
	given, wait := len(ch.Moves), 0
	for i := range ch.Places {
		at := &ch.Places[i]
		ask := grantOfAsk(&at.Ask, at.Node)
		name := ask.Key
		if ch.MinMembers > 0 {
			name = ch.For
		}
		if wrong := m.badName(name, ch.MinMembers > 0); wrong != nil {
			return wrong
		}
		if held, ok := m.tasks[ask.Key]; ok && held.State == Granted {
			of := m.grants[slices.IndexFunc(m.grants, func(g modelGrant) bool { return g.key == ask.Key })].ask
			if held.node != m.rows[at.Node] || held.Queue != ask.Queue || !resources.Equal(held.Size, ask.Size) || of != name {
				return []error{ErrState}
			}
			continue
		}
		if wrong := m.badTask(&ask); len(wrong) > 0 {
			return wrong
		}
		m.putTask(ask)
		if len(all) > 0 && wait == 0 {
			m.lastWait++
			wait = m.lastWait
		}
		given++
		m.give(modelGrant{key: ask.Key, ask: name, wait: wait}, time.Time{})
		if a := m.asks[name]; a.needs == 0 { // known as a job's from its first grant on
			a.needs = ch.MinMembers
			m.asks[name] = a
		}
	}
	for i := range ch.Places { // those that wait already wait for these as well
		at := slices.IndexFunc(m.grants, func(g modelGrant) bool { return g.key == ch.Places[i].Ask.Key })
		if wait != 0 || len(all) == 0 {
			continue
		}
		if wait = m.grants[at].wait; wait == 0 {
			m.lastWait++
			wait = m.lastWait
			m.grants[at].wait = wait
			m.grants[at].wait = wait
		}
	}
	if wait != 0 {
		m.waits[wait] = append(slices.Clone(m.waits[wait]), all...)
	}
	if given == 0 && len(all) == 0 {
		return nil
	}
	for i := range ch.Places {
		at := slices.IndexFunc(m.grants, func(g modelGrant) bool { return g.key == ch.Places[i].Ask.Key })
		m.asks[m.grants[at].ask] = modelAsk{ch.At, ch.MinMembers}
	}
	for i := range ch.Moves {
		m.asks[ch.Moves[i].Grant] = modelAsk{ch.At, 0}
	}
	_, set := m.minimums[ch.For]
	member := func(t modelTask) bool { return t.Job == ch.For }
	if given > 0 && ch.MinMembers > 0 && ch.For != "" && !set && slices.ContainsFunc(slices.Collect(maps.Values(m.tasks)), member) {
		m.placed[ch.For] = ch.MinMembers
	}
	return nil
}

func (x *clusterMachine) Undo(t *rapid.T) {
	if len(x.applied) == 0 {
		x.judge(t, x.c.Undo(), "undo", []error{ErrState})
		return
	}
	x.undo(t)
}

// undo holds the cluster to what it was before the last plan: in all that can
// be seen, which Check looks at, and in what will be.
func (x *clusterMachine) undo(t *rapid.T) {
	if err := x.c.Undo(); err != nil {
		t.Fatalf("undo: %v", err)
	}
	last := len(x.applied) - 1
	was := x.applied[last]
	x.applied = x.applied[:last]
	x.m, x.tasks, x.version = was.m, was.tasks, was.version
	var next [2]string
	for i, c := range []*Cluster{x.c.Clone(), was.c} {
		node, err := c.AddNode(&Node{Name: "next"})
		if err != nil {
			t.Fatal(err)
		}
		var leaf queue.ID
		for leaf = range c.Tree().Leaves(queue.Root) {
		}
		task, err := c.AddTask(&Task{Key: "next", Queue: leaf, Node: node})
		if err != nil {
			t.Fatal(err)
		}
		next[i] = fmt.Sprint(node, task)
	}
	if next[0] != next[1] {
		t.Fatalf("next rows after undo %s, before %s", next[0], next[1])
	}
}

// drawChange draws what may be applied, for an ask or for a job, and then perhaps something to
// make it what may not.
func (x *clusterMachine) drawChange(t *rapid.T) change {
	ask, node := x.drawAsk(t), x.drawNodeID(t)
	if rapid.Bool().Draw(t, "new ask") {
		ask.Key = fmt.Sprint("ask", len(x.applied))
	}
	ch := change{For: ask.Key, Version: x.version, At: drawTime(t)}
	for _, key := range slices.Sorted(maps.Keys(x.m.tasks)) {
		if x.m.tasks[key].State == Running && rapid.Bool().Draw(t, "victim") {
			must := between(t, "must", 0, 5)
			ch.Victims = append(ch.Victims, Victim{Task: x.tasks[key], Key: key, Blocks: must == 4, ForQuota: must == 5})
		}
	}
	ch.Places = []changePlace{{Ask: ask, Node: node}}
	if rapid.Bool().Draw(t, "job") {
		ch.For = rapid.SampledFrom(taskKeys).Draw(t, "name")
		ch.MinMembers = between(t, "minimum", 1, 3)
		ch.Places[0].Ask.Job, ask.Job = ch.For, ch.For
		for i := range between(t, "more members", 0, 2) {
			more := ask
			more.Key = rapid.SampledFrom([]string{fmt.Sprint("more", i), drawKey(t), ch.For}).Draw(t, "member")
			ch.Places = append(ch.Places, changePlace{Ask: more, Node: x.drawNodeID(t)})
		}
	}
	if n := len(ch.Victims); n > 0 && rapid.Bool().Draw(t, "moves") {
		i := between(t, "mover", 0, n-1)
		v := ch.Victims[i]
		ch.Victims = slices.Delete(ch.Victims, i, i+1)
		ch.Moves = []Move{{
			Task: v.Task, Key: v.Key, To: x.drawNodeID(t), Grant: rapid.SampledFrom([]string{v.Key + "+", v.Key + "+", ch.For}).Draw(t, "place"),
		}}
	}
	victim := Victim{Task: TaskID(between(t, "row", -1, 9)), Key: drawKey(t)}
	switch between(t, "bad", 0, 15) {
	case 1:
		ch.Version.number += rapid.SampledFrom([]uint64{1, math.MaxUint64}).Draw(t, "stale")
	case 6:
		ch.Version.line = new(line)
	case 2:
		ch.Victims = append(ch.Victims, victim)
	case 3:
		victim.Task = x.tasks[victim.Key]
		ch.Victims = append(ch.Victims, victim)
	case 4:
		ch.Victims = append(ch.Victims, ch.Victims...)
	case 5:
		if held, ok := x.m.tasks[ask.Key]; ok {
			first := &ch.Places[0].Ask
			first.Queue, first.Size, ch.Places[len(ch.Places)-1].Node = held.Queue, held.Size, held.Task.Node
		}
	case 7:
		ch.MinMembers = -1
	}
	return ch
}
