// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// What asks and jobs hold until they start: the verbs first, and then what keeps one from
// starting.

// A Grant is what an ask or a job holds until it starts, and waits for.
type Grant struct {
	Ask    string    // the key of the ask, or the name of the job
	Places []TaskID  // in the order of giving
	Since  time.Time // its last plan; zero: not known
	// Leaving are the keys of what it waits for, sorted: victims of its plan that have not gone, movers by
	// their old keys. If it has no victims: what leaves nodes that are short, until it is Ready.
	Leaving []string
	// Returned are victims of its plan, or who moves there, that run on: it may never be Ready.
	Returned []string
	Ready    bool // Start would succeed now
}

// Grant returns what an ask or a job holds, if anything. The cost is linear in the tasks of its nodes.
func (c *Cluster) Grant(ask string) (Grant, bool) {
	row, ok := c.askIDs[ask]
	if !ok {
		return Grant{}, false
	}
	a := &c.asks[row]
	g := Grant{Ask: ask, Ready: c.hindrance(row).kind == ready}
	waitsFor := func(id TaskID) {
		if r := &c.tasks[id]; r.state.leaving() {
			g.Leaving = append(g.Leaving, r.key)
		} else {
			g.Returned = append(g.Returned, r.key)
		}
	}
	if a.dated {
		g.Since = time.Unix(0, a.since).UTC()
	}
	for _, number := range a.grants {
		held := c.numbered(number)
		g.Places = append(g.Places, held.task)
		if id, there := c.Lookup(held.mover); there {
			waitsFor(id)
		}
		for id := range c.TasksOn(c.tasks[held.task].node) {
			if held.wait == 0 && !g.Ready && c.tasks[id].state.leaving() && c.isShortOf(held.task, id) {
				g.Leaving = append(g.Leaving, c.tasks[id].key)
			}
		}
	}
	for v := range c.victimsOf(row) {
		waitsFor(v.task)
	}
	slices.Sort(g.Leaving)
	g.Leaving = slices.Compact(g.Leaving)
	slices.Sort(g.Returned)
	return g, true
}

// Grants yields what asks and jobs hold, by their oldest grants. The loop may change the cluster; it does not yield new
// ones.
func (c *Cluster) Grants() iter.Seq[Grant] {
	return func(yield func(Grant) bool) {
		var keys []string
		for i := range c.grants {
			if a := &c.asks[c.grants[i].ask]; a.grants[0] == c.grants[i].number {
				keys = append(keys, a.key)
			}
		}
		for _, key := range keys {
			if g, ok := c.Grant(key); ok && !yield(g) {
				return
			}
		}
	}
}

// Marked yields the keys of Marked tasks, and when that was decided; zero: not known. The oldest come first, then by
// key. Task.MovesTo tells movers. The cost is linear in tasks.
func (c *Cluster) Marked() iter.Seq2[string, time.Time] {
	return func(yield func(string, time.Time) bool) {
		var all []TaskID
		for id := range c.Tasks() {
			if c.tasks[id].state == Marked {
				all = append(all, id)
			}
		}
		slices.SortFunc(all, func(a, b TaskID) int {
			return cmp.Or(cmp.Compare(c.told.at(int(a)), c.told.at(int(b))), strings.Compare(c.tasks[a].key, c.tasks[b].key))
		})
		for _, id := range all {
			if !yield(c.tasks[id].key, c.toldOf(id)) {
				return
			}
		}
	}
}

// victimsOf yields the victims of the plans for an ask that have not gone.
func (x *askBook) victimsOf(ask int32) iter.Seq[waitVictim] {
	return func(yield func(waitVictim) bool) {
		last := int32(0) // those of one plan follow each other
		for _, number := range x.asks[ask].grants {
			w := x.numbered(number).wait
			if w == 0 || w == last {
				continue
			}
			last = w
			for _, v := range x.waits[w].victims {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// GrantPlace grants an ask a place that you have found. Room is not asked; see [Cluster.Admits]. Errors are those of
// [Cluster.AddTask], and an ask, or a job of its name, that holds a grant.
func (c *Cluster) GrantPlace(a *Ask, node NodeID, now time.Time) (TaskID, error) {
	since, dated, err := stamp(now, flagScheduled)
	if err != nil {
		return 0, fmt.Errorf("victims: grant for %q: %w", a.Key, err)
	}
	if err := c.checkName(a.Key, false); err != nil {
		return 0, err
	}
	t := a.task(node)
	id, err := c.insert(&t)
	if err != nil {
		return 0, err
	}
	c.joinAsk(id, a.Key, "", 0)
	row := &c.asks[c.grantOf(id).ask]
	row.since, row.dated = since, dated != 0
	c.changed()
	return id, nil
}

// Start turns all grants of an ask or a job into running tasks, scheduled now: all or none. Together they must fit
// what is free on each node, without grants given there later, and every max. Blockers, victims by the word of
// Admit, and tasks that move to its place must have gone. Of a job enough members must run or hold a grant; to start
// one anyhow use [Cluster.SetTask].
//
// If it must wait the error wraps [ErrRoom] and names what is in its way; [Cluster.Grants] says whom it waits for. No
// function is asked. The cost is linear in the tasks of its nodes.
func (c *Cluster) Start(ask string, now time.Time) error {
	row, ok := c.askIDs[ask]
	if !ok {
		return fmt.Errorf("victims: start of %q: %w", ask, c.noGrant(ask))
	}
	ns, ok := rulebook.Nanos(now)
	if !ok {
		return fmt.Errorf("victims: start of %q: %v: %w", ask, now, invalid.Range)
	}
	if h := c.hindrance(row); h.kind != ready {
		return fmt.Errorf("victims: start of %q: %s: %w", ask, c.describe(row, h), ErrRoom)
	}
	c.startAll(row, ns)
	c.changed()
	return nil
}

// noGrant says that a key is not that of an ask with a grant, and whose member it is if that has one.
func (c *Cluster) noGrant(key string) error {
	if id, ok := c.LookupGrant(key); ok {
		return fmt.Errorf("it is a member of %q, which holds the grants: %w", c.asks[c.grantOf(id).ask].key, ErrUnknown)
	}
	return fmt.Errorf("it holds no grant: %w", ErrUnknown)
}

// startAll turns the grants of an ask into tasks that run.
func (c *Cluster) startAll(ask int32, now int64) {
	for a := &c.asks[ask]; len(a.grants) > 0; {
		id := c.numbered(a.grants[0]).task
		c.dropGrant(c.tasks[id].scheduled)
		c.setState(id, Running)
		r := &c.tasks[id]
		r.scheduled = now
		r.flags = r.flags.set(flagScheduled, true)
	}
}

// StartReady starts every ask and job that can, the oldest grants first, and returns the keys of their tasks.
// It starts only those of which may, if not nil, accepts each. It ignores if nodes are schedulable.
func (c *Cluster) StartReady(now time.Time, may func(*Task) bool) (started []string, err error) {
	ns, ok := rulebook.Nanos(now)
	if !ok {
		return nil, fmt.Errorf("victims: start at %v: %w", now, invalid.Range)
	}
	for i := 0; i < len(c.grants); {
		row := c.grants[i].ask
		if c.asks[row].grants[0] != c.grants[i].number || c.hindrance(row).kind != ready || !c.may(row, may) {
			i++
			continue
		}
		for _, number := range c.asks[row].grants {
			started = append(started, c.tasks[c.numbered(number).task].key)
		}
		c.startAll(row, ns)
	}
	if len(started) > 0 {
		c.changed()
	}
	return started, nil
}

// may asks a function about all grants of an ask.
func (c *Cluster) may(ask int32, may func(*Task) bool) bool {
	for _, number := range c.asks[ask].grants {
		if may == nil {
			break
		}
		if t := c.TaskView(c.numbered(number).task); !may(&t) {
			return false
		}
	}
	return true
}

// Drop takes back the grants of an ask or a job, or that of one member. Victims go on leaving.
func (c *Cluster) Drop(key string) error {
	if row, ok := c.askIDs[key]; ok {
		c.dropAll(row)
	} else {
		id, ok := c.LookupGrant(key)
		if !ok {
			return fmt.Errorf("victims: grant of %q: %w", key, ErrUnknown)
		}
		c.remove(id)
	}
	c.changed()
	return nil
}

// dropAll takes the grants of an ask back.
func (c *Cluster) dropAll(ask int32) {
	for a := &c.asks[ask]; len(a.grants) > 0; {
		c.remove(c.numbered(a.grants[0]).task)
	}
}

// Cancel takes back the plans for an ask or a job: grants, and places of movers, are dropped; victims that have not
// gone run on, and return to their budgets, unless another ask of the plan or a grant needs them. It returns the keys
// of those that run on, sorted.
//
// Use it only if victims can be told to run on; one that is Releasing goes on leaving. Else use [Cluster.Drop];
// if one will not stop, [Cluster.Spare].
func (c *Cluster) Cancel(ask string) (unmarked []string, err error) {
	row, ok := c.askIDs[ask]
	if !ok {
		return nil, fmt.Errorf("victims: cancel of %q: %w", ask, c.noGrant(ask))
	}
	var told []TaskID
	for v := range c.victimsOf(row) {
		if c.tasks[v.task].state != Releasing {
			told = append(told, v.task)
		}
	}
	c.dropAll(row)
	slices.SortFunc(told, func(a, b TaskID) int { return strings.Compare(c.tasks[a].key, c.tasks[b].key) })
	for _, id := range told {
		r := &c.tasks[id]
		if r.state == Marked {
			if w, _ := c.placeOf(id); w != 0 || c.leaveTo(id) {
				continue // others wait for it
			}
			c.setState(id, Running)
			c.spend(id, -1)
			unmarked = append(unmarked, r.key)
		}
		c.stay(r.key)
	}
	c.changed()
	return unmarked, nil
}

// Spare is for a task that will not stop: nobody takes it until an instant (rule "refused"); zero: take it again.
// Its mark and draws on budgets are taken back, a place to move to is dropped. It returns the keys of asks whose
// plans need it, sorted: give up by [Cluster.Cancel] or [Cluster.Drop], or wait.
//
// A task that is Releasing wraps ErrState. The cost is linear in grants.
func (c *Cluster) Spare(victim string, until time.Time) (asks []string, err error) {
	err = c.edit(victim, func(id TaskID) error {
		if _, ok := rulebook.Nanos(until); !ok {
			return fmt.Errorf("spared until %v: %w", until, invalid.Range)
		}
		if c.tasks[id].state == Releasing {
			return fmt.Errorf("state %v: %w", Releasing, ErrState)
		}
		asks = c.asksOf(id)
		if c.tasks[id].state == Marked {
			c.setState(id, Running)
			c.spend(id, -1)
		}
		c.stay(victim)
		c.refuse(id, toldAt(until))
		c.digest.touch(c.tasks[id].node)
		c.journal.node(c.tasks[id].node)
		return nil
	})
	return asks, err
}

// asksOf returns the asks that wait for a victim, and those whose grants need its room, sorted.
func (x *index) asksOf(id TaskID) (asks []string) {
	w, _ := x.placeOf(id)
	for i := range x.grants {
		if g := &x.grants[i]; g.mover == "" && (w != 0 && g.wait == w || x.tasks[id].state == Marked && x.needs(g.task, id)) {
			asks = append(asks, x.asks[g.ask].key)
		}
	}
	slices.Sort(asks)
	return slices.Compact(asks)
}

// stay drops the place of a task that does not move after all.
func (c *Cluster) stay(mover string) {
	for i := range c.grants {
		if c.grants[i].mover == mover {
			c.remove(c.grants[i].task)
			return
		}
	}
}

// leaveTo makes a victim that no grant waits for one of the oldest grant of an ask that needs its
// room, and reports whether any does. So whoever cancels that one has it run on. The place of a task
// that moves waits for nobody else.
func (x *index) leaveTo(id TaskID) bool {
	needs := func(g grantRow) bool { return x.needs(g.task, id) }
	at := slices.IndexFunc(x.grants, func(g grantRow) bool { return g.mover == "" && needs(g) })
	if at < 0 {
		return slices.ContainsFunc(x.grants, needs)
	}
	g := &x.grants[at]
	if g.wait == 0 {
		x.waitWith(g, x.newWait())
	}
	x.waitOf.reserve(cap(x.tasks))
	x.waitFor(g.wait, waitVictim{task: id}, len(x.waits[g.wait].victims))
	return true
}

// needs reports whether a grant needs the room that a victim is to leave: on its node, or under a
// max.
func (x *index) needs(grant, id TaskID) bool {
	r, g := &x.tasks[id], &x.tasks[grant]
	coming := x.row(x.coming, r.node)
	for t, v := range x.size(id) {
		if v == 0 || x.size(grant)[t] == 0 {
			continue
		}
		if g.node == r.node && v > coming[t] {
			return true
		}
		for q := range x.tree.Ancestors(r.leaf) {
			bound, ok := x.tree.Max(q).Bound(t)
			used := x.tree.Usage(q)[t] - x.tree.Leaving(q)[t]
			if ok && v > bound-used && x.tree.Contains(q, g.leaf) {
				return true
			}
		}
	}
	return false
}

// isShortOf reports whether the node of a grant has too little of a type that the grant has and a task there
// holds.
func (x *index) isShortOf(grant, id TaskID) bool {
	for t, v := range x.row(x.present, x.tasks[grant].node) {
		if v < 0 && x.size(grant)[t] > 0 && x.size(id)[t] > 0 {
			return true
		}
	}
	return false
}

// A hindrance is why an ask cannot start.
type hindrance struct {
	kind  hindranceKind
	task  TaskID   // the grant that has no room, or the victim that has not gone
	queue queue.ID // with unit: that is full
	unit  int
}

type hindranceKind uint8

const (
	ready     hindranceKind = iota
	tooFew                  // members run or hold a grant
	notGone                 // a victim, or a task that moves
	nodeShort               // or closed
	queueFull
)

// hindrance returns the first thing that keeps an ask from starting.
func (x *index) hindrance(ask int32) hindrance {
	a := &x.asks[ask]
	if a.needs > 0 && x.placed(a) < int(a.needs) {
		return hindrance{kind: tooFew}
	}
	for v := range x.victimsOf(ask) {
		if v.must {
			return hindrance{kind: notGone, task: v.task}
		}
	}
	for i, number := range a.grants {
		g := x.numbered(number)
		if g.mover != "" {
			if id, there := x.Lookup(g.mover); there {
				return hindrance{kind: notGone, task: id}
			}
		}
		before := TaskID(-1)
		if i > 0 {
			before = x.numbered(a.grants[i-1]).task
		}
		if h := x.roomFor(ask, g.task, before); h.kind != ready {
			return h
		}
	}
	return hindrance{}
}

// placed returns how many members of the job of an ask run or hold a grant.
func (x *index) placed(a *askRow) (n int) {
	for _, id := range x.membersOf(x.tasks[x.numbered(a.grants[0]).task].job) {
		if !x.tasks[id].state.leaving() {
			n++
		}
	}
	return n
}

// roomFor returns what is short for a grant of an ask. What the grant before it has found is
// not looked at again.
func (x *index) roomFor(ask int32, id, before TaskID) hindrance {
	r := &x.tasks[id]
	// A promise was made there, but nothing may start on a node that is not
	// there, or is blind.
	if x.nodes[r.node].closed() {
		return hindrance{kind: nodeShort, task: id}
	}
	for t, v := range x.size(id) {
		// Only what is wanted counts: a node that is over-committed in gpus takes a
		// task without any.
		if v == 0 {
			continue
		}
		node, leaf := true, true // are to be looked at
		if before >= 0 && x.size(before)[t] > 0 {
			node, leaf = x.tasks[before].node != r.node, x.tasks[before].leaf != r.leaf
		}
		if node && x.row(x.present, r.node)[t]+x.givenLater(ask, r.node, queue.Root, t) < 0 {
			return hindrance{kind: nodeShort, task: id}
		}
		if !leaf {
			continue
		}
		for q := range x.tree.Ancestors(r.leaf) {
			bound, ok := x.tree.Max(q).Bound(t)
			if ok && x.tree.Usage(q)[t]-x.givenLaterBelow(ask, q, t) > bound {
				return hindrance{kind: queueFull, task: id, queue: q, unit: t}
			}
		}
	}
	return hindrance{}
}

// givenLater returns how much of a type others were granted below a queue on a node after the
// first grant of an ask there: who was promised first does not wait for those who came after.
// That keeps the order of grants free of deadlock.
func (x *index) givenLater(ask int32, node NodeID, q queue.ID, t int) (sum int64) {
	first := x.firstOn(ask, node)
	for _, id := range x.nodes[node].tasks {
		r := &x.tasks[id]
		if r.state == Granted && r.scheduled > first && x.tree.Contains(q, r.leaf) && x.grantOf(id).ask != ask {
			sum += x.size(id)[t]
		}
	}
	return sum
}

// givenLaterBelow is givenLater on all nodes of an ask.
func (x *index) givenLaterBelow(ask int32, q queue.ID, t int) (sum int64) {
	for _, number := range x.asks[ask].grants {
		if node := x.tasks[x.numbered(number).task].node; x.firstOn(ask, node) == number {
			sum += x.givenLater(ask, node, q, t)
		}
	}
	return sum
}

// firstOn returns the number of the first grant of an ask on a node.
func (x *index) firstOn(ask int32, node NodeID) int64 {
	for _, number := range x.asks[ask].grants {
		if x.tasks[x.numbered(number).task].node == node {
			return number
		}
	}
	return math.MaxInt64
}

// describe says why an ask cannot start.
func (x *index) describe(ask int32, h hindrance) string {
	key := x.tasks[h.task].key
	switch h.kind {
	case tooFew:
		a := &x.asks[ask]
		return fmt.Sprintf("%d members run or hold a grant, and it needs %d", x.placed(a), a.needs)
	case notGone:
		return fmt.Sprintf("%q has not gone", key)
	case nodeShort:
		return fmt.Sprintf("%q on node %q", key, x.nodes[x.tasks[h.task].node].name)
	}
	return fmt.Sprintf("%q under the max of %s in %s", key, x.tree.Path(h.queue), x.tree.Schema().Name(h.unit))
}

// grantsFrom appends a grant and those given on its node after it to dst.
func (x *index) grantsFrom(dst []TaskID, grant TaskID) []TaskID {
	node, found := x.tasks[grant].node, false
	for i := range x.grants {
		id := x.grants[i].task
		if found = found || id == grant; found && x.tasks[id].node == node {
			dst = append(dst, id)
		}
	}
	return dst
}

// Demand sets dst, by queue, to what each leaf uses without what is leaving, grants included, and what waits
// there without a grant, for [queue.FairShares.Divide]. Errors name an ask: its queue is no leaf, or amounts
// are bad or sum up beyond int64.
func (c *Cluster) Demand(dst []resources.Vector, waiting iter.Seq[*Ask]) ([]resources.Vector, error) {
	dst = slices.Grow(dst[:0], c.tree.Len())[:c.tree.Len()]
	for q := range dst {
		dst[q] = dst[q][:0]
		if c.tree.IsLeaf(queue.ID(q)) {
			dst[q] = c.tree.Effective(dst[q], queue.ID(q))
		}
	}
	if waiting == nil {
		return dst, nil
	}
	for ask := range waiting {
		if err := c.addDemand(dst, ask); err != nil {
			return dst, fmt.Errorf("victims: demand of ask %q: %w", ask.Key, err)
		}
	}
	return dst, nil
}

// addDemand adds what of an ask has no place.
func (c *Cluster) addDemand(dst []resources.Vector, ask *Ask) error {
	if err := c.checkLeaf(ask.Queue); err != nil {
		return err
	}
	for i := range max(1, len(ask.Members)) {
		m := ask.Member(i)
		_, granted := c.LookupGrant(m.Key)
		if id, ok := c.Lookup(m.Key); granted || ok && !c.tasks[id].state.leaving() {
			continue
		}
		if err := c.checkSize(m.Size); err != nil {
			return err
		}
		sum := dst[ask.Queue]
		for t, v := range m.Size[:min(len(m.Size), len(sum))] {
			if v > math.MaxInt64-sum[t] {
				return fmt.Errorf("%s %d beside %d: %w", c.Schema().Name(t), v, sum[t], invalid.Range)
			}
			sum[t] += v
		}
	}
	return nil
}
