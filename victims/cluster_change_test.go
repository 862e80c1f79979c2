// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

func (x *clusterMachine) AddNode(t *rapid.T) {
	n := drawNode(t)
	wrong := x.m.badNode(&n)
	if n.Name == "" {
		wrong = append(wrong, invalid.Empty)
	}
	if _, ok := x.m.nodes[n.Name]; ok {
		wrong = append(wrong, ErrDuplicate)
	}
	was, closed := x.c.LookupNode(n.Name)
	id, err := x.c.AddNode(&n)
	if !x.judge(t, err, strconv.Quote(n.Name), wrong) {
		return
	}
	if name, taken := x.m.rows[id]; taken && !(closed && was == id) {
		t.Fatalf("node %q got row %d of %q", n.Name, id, name)
	}
	x.final()
	x.m.rows[id] = n.Name
	x.m.order = append(x.m.order, n.Name)
	x.m.putNode(n)
}

func (x *clusterMachine) UpdateNode(t *rapid.T) {
	n := drawNode(t)
	wrong := x.m.badNode(&n)
	if _, ok := x.m.nodes[n.Name]; !ok {
		wrong = []error{ErrUnknown}
	}
	if x.judge(t, x.c.UpdateNode(&n), strconv.Quote(n.Name), wrong) {
		x.final()
		x.m.putNode(n)
	}
}

func (x *clusterMachine) RemoveNode(t *rapid.T) {
	name := rapid.SampledFrom(nodeNames).Draw(t, "name")
	var wrong []error
	_, there := x.m.nodes[name]
	tasks := x.m.tasksOn(name)
	if !there && !(tasks == 0 && (x.m.blind[name] || x.m.unknown[name] != nil)) {
		wrong = append(wrong, ErrUnknown)
	}
	orphans, err := x.c.RemoveNode(name)
	if x.judge(t, err, strconv.Quote(name), wrong) {
		x.final()
		delete(x.m.nodes, name)
		x.orphaned(t, name, orphans)
		if tasks -= len(orphans); tasks == 0 {
			delete(x.m.blind, name)
			delete(x.m.unknown, name)
		}
		x.m.order = slices.DeleteFunc(x.m.order, func(n string) bool { return n == name })
	}
}

func (x *clusterMachine) DropOn(t *rapid.T) {
	name := rapid.SampledFrom(nodeNames).Draw(t, "name")
	var wrong []error
	if _, there := x.m.nodes[name]; !there {
		wrong = append(wrong, ErrUnknown)
	}
	orphans, err := x.c.DropOn(name)
	if len(wrong) == 0 && len(orphans) == 0 && err == nil {
		x.orphaned(t, name, nil)
		if x.c.Version() != x.version {
			t.Fatal("no grant has ended, and it is another version")
		}
	} else if x.judge(t, err, strconv.Quote(name), wrong) {
		x.final()
		x.orphaned(t, name, orphans)
	}
}

// orphaned notes that the grants on a node have ended, and holds what is told of that to them.
func (x *clusterMachine) orphaned(t *rapid.T, node string, got []Orphan) {
	var want []Orphan
	for _, g := range slices.Clone(x.m.grants) {
		if x.m.tasks[g.key].node != node {
			continue
		}
		o := Orphan{Ask: g.ask}
		if x.m.asks[g.ask].needs > 0 {
			o.Member = g.key
		}
		want = append(want, o)
	}
	for _, o := range want {
		key := cmp.Or(o.Member, o.Ask)
		x.m.ungive(key)
		delete(x.m.tasks, key)
		delete(x.tasks, key)
	}
	if !slices.Equal(want, got) {
		t.Fatalf("grants that ended: %q, want %q", got, want)
	}
}

func (x *clusterMachine) AddTask(t *rapid.T) {
	task := x.drawTask(t)
	wrong := x.m.badTask(&task)
	if task.State >= Granted {
		wrong = []error{ErrState}
	}
	id, err := x.c.AddTask(&task)
	x.added(t, task, id, err, wrong)
}

func (x *clusterMachine) Grant(t *rapid.T) {
	ask, node := x.drawAsk(t), x.drawNodeID(t)
	task := grantOfAsk(&ask, node)
	id, err := x.c.GrantPlace(&ask, node, time.Time{})
	x.added(t, task, id, err, append(x.m.badTask(&task), x.m.badName(ask.Key, false)...))
}

// added notes a task or a grant that was to be added.
func (x *clusterMachine) added(t *rapid.T, task Task, id TaskID, err error, wrong []error) {
	if !x.judge(t, err, strconv.Quote(task.Key), wrong) {
		return
	}
	for key, row := range x.tasks {
		if row == id && key != task.Key {
			t.Fatalf("task %q got row %d of %q", task.Key, id, key)
		}
	}
	x.final()
	x.tasks[task.Key] = id
	x.m.putTask(task)
	x.m.ungive(task.Key)
	if task.State == Granted {
		x.m.give(modelGrant{key: task.Key, ask: task.Key}, time.Time{})
		x.m.asks[task.Key] = modelAsk{needs: x.m.asks[task.Key].needs}
	}
}

func (x *clusterMachine) RemoveTask(t *rapid.T) {
	key := drawKey(t)
	if x.judge(t, x.c.RemoveTask(key), strconv.Quote(key), x.noTask(key)) {
		x.removed(key)
	}
}

func (x *clusterMachine) removed(key string) {
	x.final()
	delete(x.m.tasks, key)
	delete(x.tasks, key)
	x.m.ungive(key)
	x.m.unwait(key)
	x.m.forget()
}

func (x *clusterMachine) noTask(key string) []error {
	if task, ok := x.m.tasks[key]; !ok || task.State == Granted {
		return []error{ErrUnknown}
	}
	return nil
}

func (x *clusterMachine) noGrant(key string) []error {
	if task, ok := x.m.tasks[key]; !ok || task.State != Granted {
		return []error{ErrUnknown}
	}
	return nil
}

func (x *clusterMachine) SetState(t *rapid.T) {
	key, state := drawKey(t), drawState(t)
	wrong := x.noTask(key)
	if state >= Granted {
		wrong = append(wrong, ErrState)
	}
	if x.judge(t, x.c.SetState(key, state), strconv.Quote(key), wrong) {
		x.change(key, func(task *modelTask) { task.State = state })
	}
}

func (x *clusterMachine) Resize(t *rapid.T) {
	key, size := drawKey(t), drawAmounts(t)
	wrong := x.noTask(key)
	if wrong == nil {
		wrong = append(x.m.badSize(size), x.m.tooMuch(key, size)...)
	}
	if x.judge(t, x.c.Resize(key, size), strconv.Quote(key), wrong) {
		x.change(key, func(task *modelTask) { task.Size = x.m.full(size) })
	}
}

func (x *clusterMachine) SetCost(t *rapid.T) {
	key, cost := drawKey(t), drawOwnCost(t)
	wrong := x.noTask(key)
	if cost < 0 {
		wrong = append(wrong, invalid.Amount)
	}
	if x.judge(t, x.c.SetCost(key, cost), strconv.Quote(key), wrong) {
		x.change(key, func(task *modelTask) { task.Cost = cost })
	}
}

func (x *clusterMachine) SetCheckpoint(t *rapid.T) {
	key, at := drawKey(t), drawTime(t)
	wrong := x.noTask(key)
	if badTime(at) && !at.IsZero() {
		wrong = append(wrong, invalid.Range)
	}
	if x.judge(t, x.c.SetCheckpoint(key, at), strconv.Quote(key), wrong) {
		x.change(key, func(task *modelTask) { task.Checkpoint = at })
	}
}

func (x *clusterMachine) SetBudget(t *rapid.T) {
	name := rapid.SampledFrom(budgetNames[:4]).Draw(t, "name")
	b := Budget{
		Left: rapid.SampledFrom([]int64{0, 1, 2, -3, math.MaxInt64, leastLeft + 1<<20, leastLeft - 1}).Draw(t, "left"),
		Hard: rapid.Bool().Draw(t, "hard"),
	}
	var wrong []error
	if name == "" {
		wrong = append(wrong, invalid.Empty)
	}
	if b.Left < leastLeft {
		wrong = append(wrong, invalid.Range)
	}
	if x.judge(t, x.c.SetBudget(name, b), strconv.Quote(name), wrong) {
		x.final()
		x.m.budgets[name] = b
		delete(x.m.unset, name)
	}
}

func (x *clusterMachine) SetMinMembers(t *rapid.T) {
	job := rapid.SampledFrom(taskKeys).Draw(t, "job")
	members := rapid.SampledFrom([]int{0, 0, 1, 2, math.MaxInt32, tooManyMembers, -1}).Draw(t, "members")
	var wrong []error
	if job == "" {
		wrong = append(wrong, invalid.Empty)
	}
	if members < 0 || members > math.MaxInt32 {
		wrong = append(wrong, invalid.Range)
	}
	if x.judge(t, x.c.SetMinMembers(job, members), strconv.Quote(job), wrong) {
		x.final()
		delete(x.m.placed, job)
		if x.m.minimums[job] = members; members == 0 {
			delete(x.m.minimums, job)
		}
	}
}

func (x *clusterMachine) RemoveBudget(t *rapid.T) {
	name := rapid.SampledFrom(budgetNames).Draw(t, "name")
	var wrong []error
	if _, ok := x.m.budgets[name]; !ok {
		wrong = append(wrong, ErrUnknown)
	}
	for _, task := range x.m.tasks {
		if slices.Contains(task.Budgets, name) {
			wrong = append(wrong, ErrState)
		}
	}
	if x.judge(t, x.c.RemoveBudget(name), strconv.Quote(name), wrong) {
		x.final()
		delete(x.m.budgets, name)
	}
}

func (x *clusterMachine) change(key string, f func(*modelTask)) {
	x.final()
	task := x.m.tasks[key]
	if f(&task); task.State != Marked {
		task.told = time.Time{}
	}
	x.m.tasks[key] = task
}

func (x *clusterMachine) SetGuaranteed(t *rapid.T) {
	q, l := queue.ID(between(t, "queue", 0, x.m.tree.Len()-1)), drawLimit(t)
	if x.judge(t, x.c.SetGuaranteed(q, l), x.c.Tree().Path(q), x.badBounds(l, x.m.max[q])) {
		x.final()
		x.m.guaranteed[q] = l
	}
}

func (x *clusterMachine) SetMax(t *rapid.T) {
	q, l := queue.ID(between(t, "queue", 0, x.m.tree.Len()-1)), drawLimit(t)
	if x.judge(t, x.c.SetMax(q, l), x.c.Tree().Path(q), x.badBounds(x.m.guaranteed[q], l)) {
		x.final()
		x.m.max[q] = l
	}
}

func (x *clusterMachine) badBounds(guaranteed, most resources.Limit) (wrong []error) {
	for i := range resources.MaxTypes {
		g, hasG := guaranteed.Bound(i)
		m, hasM := most.Bound(i)
		switch {
		case (hasG || hasM) && i >= x.m.types():
			wrong = append(wrong, queue.ErrConfig)
		case g < 0 || m < 0:
			wrong = append(wrong, queue.ErrConfig)
		case hasG && hasM && g > m:
			wrong = append(wrong, queue.ErrConfig)
		}
	}
	return wrong
}

// Clone goes on with a clone, or a copy in the memory of another cluster, and
// sees that what it was cloned from stays.
func (x *clusterMachine) Clone(t *rapid.T) {
	was, next := x.c, x.other
	if next != nil && rapid.Bool().Draw(t, "in old memory") {
		next.CopyFrom(was)
	} else {
		next = was.Clone()
	}
	x.c, x.other, x.otherSeen, x.otherState = next, was, lookAt(was).String(), was.Version()
	if rapid.Bool().Draw(t, "stay") {
		x.c, x.other = x.other, x.c
		return
	}
	x.final()
}

// Admits asks whether somebody else may be put on a node, and holds that to
// sums of what is there.
func (x *clusterMachine) Admits(t *rapid.T) {
	size, leaf := drawAmounts(t), drawQueue(t)
	for id, name := range x.m.rows {
		want := !x.m.closed(name) && len(x.m.badSize(size)) == 0 && leaf >= 0 && int(leaf) < x.m.tree.Len() && x.m.tree.IsLeaf(leaf)
		for i := range x.m.types() {
			if !want || size.At(i) == 0 {
				continue
			}
			on := x.m.sum(i, func(t modelTask) bool { return t.node == name })
			on.Add(on, big.NewInt(x.m.unknown[name].At(i)))
			want = on.Add(on, big.NewInt(size.At(i))).Cmp(big.NewInt(x.m.nodes[name].Capacity.At(i))) <= 0
			for q := range x.m.tree.Ancestors(leaf) {
				below := x.m.sum(i, func(t modelTask) bool { return x.m.below(t.Queue, q) })
				bound, ok := x.m.max[q].Bound(i)
				want = want && (!ok || below.Add(below, big.NewInt(size.At(i))).Cmp(big.NewInt(bound)) <= 0)
			}
		}
		if got := x.c.Admits(size, leaf, id); got != want {
			t.Fatalf("%v of queue %d on %s is admitted: %t, want %t", size, leaf, name, got, want)
		}
	}
}
