// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"pgregory.net/rapid"

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
	p := x.drawPlan(t)
	before := x.point()
	if !x.judge(t, x.c.Apply(p.Change()), strconv.Quote(p.Ask.Key), x.badPlan(p)) {
		return
	}
	x.applied = append(x.applied, before)
	x.carryOut(p)
}

// carryOut does to the twin what a plan does.
func (x *clusterMachine) carryOut(p *Plan) {
	var keys []string
	for _, v := range p.Victims {
		keys = append(keys, v.Key)
		task := x.m.tasks[v.Key]
		task.State = Preempting
		x.m.tasks[v.Key] = task
		x.m.spend(v.Key)
	}
	if x.noGrant(p.Ask.Key) != nil {
		x.m.putTask(grantOfAsk(&p.Ask, p.Node))
		x.m.give(p.Ask.Key, keys, p.At)
		x.tasks[p.Ask.Key], _ = x.c.LookupGrant(p.Ask.Key)
	} else {
		x.m.grants = slices.Clone(x.m.grants)
		for i := range x.m.grants {
			if g := &x.m.grants[i]; g.key == p.Ask.Key {
				g.victims = append(slices.Clone(g.victims), keys...)
			}
		}
	}
}

// badPlan returns what is wrong with a plan.
func (x *clusterMachine) badPlan(p *Plan) (wrong []error) {
	if p.Version != x.version {
		return []error{ErrStale, ErrStale}
	}
	named := map[TaskID]bool{}
	for _, v := range p.Victims {
		task, ok := x.m.tasks[v.Key]
		switch {
		case !ok || x.tasks[v.Key] != v.Task:
			wrong = append(wrong, ErrUnknown)
		case task.State != Running:
			wrong = append(wrong, ErrState)
		}
		if named[v.Task] {
			wrong = append(wrong, ErrDuplicate)
		}
		named[v.Task] = true
	}
	if badTime(p.At) && !p.At.IsZero() {
		wrong = append(wrong, ErrRange)
	}
	ask := grantOfAsk(&p.Ask, p.Node)
	if x.noGrant(ask.Key) != nil {
		return append(wrong, x.m.badTask(&ask)...)
	}
	held := x.m.tasks[ask.Key]
	if held.node != x.m.rows[p.Node] || held.Queue != ask.Queue || !resources.Equal(held.Size, ask.Size) {
		wrong = append(wrong, ErrState)
	}
	return wrong
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

// drawPlan draws a plan that may be applied, and then perhaps something to
// make it one that may not.
func (x *clusterMachine) drawPlan(t *rapid.T) *Plan {
	p := &Plan{Ask: x.drawAsk(t), Node: x.drawNodeID(t), Version: x.version, At: drawTime(t)}
	if rapid.Bool().Draw(t, "new ask") {
		p.Ask.Key = fmt.Sprint("ask", len(x.applied))
	}
	for _, key := range slices.Sorted(maps.Keys(x.m.tasks)) {
		if x.m.tasks[key].State == Running && rapid.Bool().Draw(t, "victim") {
			p.Victims = append(p.Victims, Victim{Task: x.tasks[key], Key: key})
		}
	}
	victim := Victim{Task: TaskID(between(t, "row", -1, 9)), Key: drawKey(t)}
	switch between(t, "bad", 0, 15) {
	case 1:
		p.Version.number += rapid.SampledFrom([]uint64{1, math.MaxUint64}).Draw(t, "stale")
	case 6:
		p.Version.line = new(line)
	case 2:
		p.Victims = append(p.Victims, victim)
	case 3:
		victim.Task = x.tasks[victim.Key]
		p.Victims = append(p.Victims, victim)
	case 4:
		p.Victims = append(p.Victims, p.Victims...)
	case 5:
		if held, ok := x.m.tasks[p.Ask.Key]; ok {
			p.Ask.Queue, p.Ask.Size, p.Node = held.Queue, held.Size, held.Task.Node
		}
	}
	return p
}
