// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/object"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Help says what would help a refused ask. Until something of it happens, the answer stays a refusal; it need
// not be enough. [Help.MayHaveChanged] tells by amounts whether to decide again. Or decide again after these events:
//
//   - a task or grant goes, shrinks or is told to stop: [Help.IfLess];
//   - one comes, grows, starts, or may stay: [Help.IfMore]. One that moves goes and comes;
//   - a node is added, changed or removed: [Help.IfNode]. If grants end with it, as [Orphan] tells: in any case;
//   - a budget has more left, or is no longer hard: [Help.IfBudget];
//   - time passes: at Refusal.RetryAt, or if the refusal is not Proven;
//   - you set Bounds, Policies (a new tree sets both), Priorities or Labels;
//   - you change the ask, its grant or options: in any case.
type Help struct {
	// A change of these would help. Bounds: guarantees and maxima. Policies: with offsets and delays.
	// Priorities: all of a task but amounts, queue and node. Labels: answers of functions.
	Bounds, Policies, Priorities, Labels bool

	time       bool     // alone would help
	node       string   // the only node on which room would help
	anyNode    bool     // any that the Filter allows
	less, more []string // paths of queues in which less, or more, usage would help, with those below
	budgets    []string // hard ones in which more left would help
	noted      noted    // see MayHaveChanged
}

// helpTime notes whether time alone would help, and when. Whoever changes RetryAt or Proven later notes it anew.
func (r *Refusal) helpTime() {
	r.Help.time, r.Help.noted.RetryAt = !r.RetryAt.IsZero() || !r.Proven, r.RetryAt
}

// helpLess notes that less usage of a queue would help, given its path.
func (h *Help) helpLess(path string) {
	if !slices.Contains(h.less, path) {
		h.less = append(h.less, path)
	}
}

// IfLess reports whether to ask again after something of a leaf on a node is less.
func (h *Help) IfLess(c *Cluster, leaf queue.ID, node NodeID) bool {
	return h.IfNode(c.NodeName(node)) || anyAbove(c.tree, h.less, leaf)
}

// IfMore reports whether to ask again after something of a leaf is more.
func (h *Help) IfMore(c *Cluster, leaf queue.ID) bool { return anyAbove(c.tree, h.more, leaf) }

// IfNode reports whether to ask again after an event of this node.
func (h *Help) IfNode(name string) bool { return h.anyNode || h.node != "" && h.node == name }

// IfBudget reports whether to ask again after an event of this budget.
func (h *Help) IfBudget(name string) bool { return slices.Contains(h.budgets, name) }

// anyAbove reports whether a leaf is one of some queues or below one.
func anyAbove(t *queue.Tree, paths []string, leaf queue.ID) bool {
	for q := range t.Ancestors(leaf) {
		if slices.Contains(paths, t.Path(q)) {
			return true
		}
	}
	return false
}

// CopyFrom copies into the memory of h.
func (h *Help) CopyFrom(from *Help) {
	less, more, budgets := h.less[:0], h.more[:0], h.budgets[:0]
	last := h.noted
	*h = *from
	h.noted = last
	h.noted.copyFrom(&from.noted)
	h.less, h.more = append(less, from.less...), append(more, from.more...)
	h.budgets = append(budgets, from.budgets...)
}

// anything makes h name all that can happen but time: then [Help.MayHaveChanged] is true after any change.
func (h *Help) anything(c *Cluster) {
	h.noted.Anything = true
	h.anyNode, h.Bounds, h.Policies, h.Priorities, h.Labels = true, true, true, true, true
	h.less, h.more = append(h.less[:0], c.tree.Path(queue.Root)), append(h.more[:0], c.tree.Path(queue.Root))
	h.budgets = h.budgets[:0]
	for _, row := range c.budgetOrder {
		if b := &c.budgets[row]; b.hard {
			h.budgets = append(h.budgets, b.name)
		}
	}
}

// report returns it for encoding/json.
func (h *Help) report() object.Object {
	cap, capped := rulebook.CapOf(h.noted.Reason)
	return object.Of(
		"node?", h.node, "anyNode?", h.anyNode, "less?", h.less, "more?", h.more, "budgets?", h.budgets, "time?", h.time,
		"bounds?", h.Bounds, "policies?", h.Policies, "priorities?", h.Priorities, "labels?", h.Labels,
		"moreVictims?", capped && cap == rulebook.CapVictims,
	)
}

// A journal knows when what a decision reads has last changed, in numbers that grow with
// each change. To undo a change is one, too.
type journal struct {
	now   uint64
	nodes []uint64 // by row: its amounts, its tasks, whether it is usable
	rest  uint64   // bounds, policies, budgets, and which nodes there are
	// The number that it had in the cluster of which it is a copy.
	copied uint64
}

// node notes that a node has changed, or a task on it.
func (j *journal) node(n NodeID) {
	j.now++
	for int(n) >= len(j.nodes) {
		j.nodes = append(j.nodes, 0)
	}
	j.nodes[n] = j.now
}

// all notes a change that may matter to everybody.
func (j *journal) all() {
	j.now++
	j.rest = j.now
}

// since reports whether a node has changed after a number.
func (j *journal) since(n NodeID, at uint64) bool { return int(n) < len(j.nodes) && j.nodes[n] > at }

func (j *journal) copyFrom(k *journal) {
	j.now, j.rest, j.nodes = max(j.now, k.now), k.rest, reuse(j.nodes, k.nodes)
}

// seen is the number of the last change that a decision made now knows of, for the cluster that
// has the present version: a copy that was changed and undone has numbers of its own.
func (c *Cluster) seen() uint64 {
	if c.version.line == c.line {
		return c.journal.now
	}
	return c.journal.copied
}

// noted is a wish, and what there was when it was refused.
type noted struct {
	rulebook.Wish
	version Version
	since   uint64
	lacked  bool    // there was no headroom
	highest []int64 // by leaf, the highest raw priority that may go; none for reasons without victims
	used    []int64 // by queue and type
}

// note has h remember a refusal, for [Help.MayHaveChanged]; e says who may go.
func (h *Help) note(c *Cluster, w *rulebook.Wish, e *eligible.Rules) {
	m := &h.noted
	m.copyFrom(&noted{Wish: *w, version: c.version, since: c.seen()})
	if m.Anything = m.Anything || m.Gangs && c.gangs > 0; m.Anything {
		return
	}
	m.lacked = !m.headroom(c)
	if m.Reason != rulebook.NoVictims {
		return
	}
	for q := range queue.ID(c.tree.Len()) {
		m.highest = append(m.highest, highest(c.tree, e, q))
		for t := range c.types {
			m.used = append(m.used, usageAt(c.tree, q, t, coming))
		}
	}
}

// highest returns the highest raw priority of a task of a queue that may go.
func highest(tree *queue.Tree, e *eligible.Rules, q queue.ID) int64 {
	leaf := &e.Leaves[q]
	switch {
	case !tree.IsLeaf(q), leaf.Veto != 0, leaf.Rank.Fenced && leaf.Rank.Offset > leaf.Ceiling:
		return math.MinInt64
	case leaf.Rank.Fenced:
		return math.MaxInt64
	}
	return leaf.Ceiling - leaf.Rank.Offset
}

// copyFrom copies into the memory of m.
func (m *noted) copyFrom(from *noted) {
	least, all, highest, used := m.Least[:0], m.All[:0], m.highest[:0], m.used[:0]
	places := m.Places[:0]
	*m = *from
	m.Places = append(places, from.Places...)
	m.Least, m.All = append(least, from.Least...), append(all, from.All...)
	m.highest, m.used = append(highest, from.highest...), append(used, from.used...)
}

// MayHaveChanged reports whether the answer may be another one now: the time has come, or enough has changed for the
// amounts of the ask. It sees changes of the cluster alone: not of functions, the ask, its members or options.
//
// The cost is linear in nodes and queues, at worst in tasks.
func (h *Help) MayHaveChanged(c *Cluster, now time.Time) bool {
	m := &h.noted
	switch {
	case m.version.line == nil || m.version.line != c.line || now.Before(m.At):
		return true // it is not known what was then
	case h.time && m.RetryAt.IsZero() && !now.Equal(m.At), h.time && !m.RetryAt.IsZero() && !now.Before(m.RetryAt):
		return true
	case m.version == c.version:
		return false
	case m.Anything || c.journal.rest > m.since:
		return true
	case m.Reason == InFlight:
		return m.bounded(c) || slices.ContainsFunc(m.Places, func(n int32) bool { return c.journal.since(NodeID(n), m.since) })
	}
	if _, holds := c.LookupGrant(m.Key); holds {
		return true
	}
	switch m.Reason {
	case rulebook.UnknownNode:
		return false
	case rulebook.OverMax:
		return usageAt(c.tree, m.About, m.Type, coming) <= c.tree.Max(m.About).Value[m.Type]
	case rulebook.HeadroomInside:
		return usageAt(c.tree, m.About, m.Type, coming)+m.All.At(m.Type) <= c.tree.Max(m.About).Value[m.Type]
	case rulebook.OverGuarantee:
		if usageAt(c.tree, m.About, m.Type, coming)+m.Before < c.tree.Guaranteed(m.About).Value[m.Type] {
			return true
		}
	case rulebook.NoVictims:
		if m.NeedsRoom {
			return true
		}
	}
	return m.room(c)
}

// room reports whether some node may have room now, with or without victims.
func (m *noted) room(c *Cluster) bool {
	headroom := m.headroom(c)
	if headroom && m.lacked {
		return true
	}
	victims := len(m.highest) > 0
	if !headroom && !victims {
		return false
	}
	grown := victims && m.Node == "" && m.grown(c)
	if grown && m.Many {
		return true
	}
	for n := range c.nodes {
		id := NodeID(n)
		changed := c.journal.since(id, m.since)
		if !changed && !grown || !m.usable(c, id) {
			continue
		}
		if changed && headroom && m.fits(c.row(c.coming, id)) {
			return true
		}
		if victims && (changed || m.narrow(c, id)) && m.enough(c, id) {
			return true
		}
	}
	return false
}

// fits reports whether there is room for the least, in the types that it wants.
func (m *noted) fits(free resources.Vector) bool {
	for t, want := range m.Least {
		if want > max(free[t], 0) {
			return false
		}
	}
	return true
}

// usable reports whether the ask may be put on a node. Who it is reserved for is not asked.
func (m *noted) usable(c *Cluster, n NodeID) bool {
	at := &c.nodes[n]
	switch {
	case !at.live || at.closed():
		return false
	case m.Node != "":
		return at.name == m.Node
	}
	return !at.unschedulable || at.reservedFor != ""
}

// headroom reports whether the maxima above leave room for all.
func (m *noted) headroom(c *Cluster) bool {
	for q := range c.tree.Ancestors(m.Queue) {
		most := c.tree.Max(q)
		for t := range most.Defined.All() {
			if need := m.All.At(t); need > 0 && usageAt(c.tree, q, t, coming)+need > most.Value[t] {
				return false
			}
		}
	}
	return true
}

// bounded reports whether some queue above has a max.
func (m *noted) bounded(c *Cluster) bool {
	for q := range c.tree.Ancestors(m.Queue) {
		if c.tree.Max(q).Defined != 0 {
			return true
		}
	}
	return false
}

// guaranteed returns what a queue is guaranteed in the types that count.
func (m *noted) guaranteed(c *Cluster, q queue.ID) resources.Limit {
	bound := c.tree.Guaranteed(q)
	bound.Defined &= m.Counting
	return bound
}

// gives returns how much more than it did a queue lets go of a type by law 2, and how much
// it lets go.
func (m *noted) gives(c *Cluster, q queue.ID, t int, guaranteed int64) (more, now int64) {
	was, is := m.used[int(q)*c.types+t], usageAt(c.tree, q, t, coming)
	more = max(is-guaranteed, 0) - max(was-guaranteed, 0)
	now = max(is-guaranteed, 0)
	if c.tree.Contains(q, m.Queue) {
		now += m.All.At(t)
	}
	return more, now
}

// grown reports whether some queue lets more go than it did.
func (m *noted) grown(c *Cluster) bool {
	for q := range queue.ID(c.tree.Len()) {
		bound := m.guaranteed(c, q)
		for t := range bound.Defined.All() {
			if more, _ := m.gives(c, q, t, bound.Value[t]); more > 0 {
				return true
			}
		}
	}
	return false
}

// narrow reports whether some queue lets more go than it did, and could not let all go that
// it has on a node.
func (m *noted) narrow(c *Cluster, n NodeID) bool {
	for q := range queue.ID(c.tree.Len()) {
		bound := m.guaranteed(c, q)
		for t := range bound.Defined.All() {
			more, now := m.gives(c, q, t, bound.Value[t])
			if more <= 0 {
				continue
			}
			left := now - more
			for _, id := range c.nodes[n].tasks {
				if r := &c.tasks[id]; c.tree.Contains(q, r.leaf) && m.mayGo(r) {
					left -= c.size(id).At(t)
				}
			}
			if left < 0 {
				return true
			}
		}
	}
	return false
}

// mayGo reports whether queue and priority of a task let it go.
func (m *noted) mayGo(r *taskRow) bool {
	return r.evictable() && int64(r.priority) <= m.highest[r.leaf]
}

// enough reports whether a node would have enough if each task left that could go alone.
func (m *noted) enough(c *Cluster, n NodeID) bool {
	free := c.row(c.coming, n)
	for t, want := range m.Least {
		if want <= 0 || free[t] >= want {
			continue
		}
		lack := want - free[t]
		for _, id := range c.nodes[n].tasks {
			if r, size := &c.tasks[id], c.size(id); size[t] > 0 && m.mayGo(r) && m.spared(c, r.leaf, size) {
				if lack -= size[t]; lack <= 0 {
					break
				}
			}
		}
		if lack > 0 {
			return false
		}
	}
	return true
}

// spared reports whether the queues above a task can give it away, by law 2.
func (m *noted) spared(c *Cluster, leaf queue.ID, size resources.Vector) bool {
	if m.Node != "" {
		return true // guarantees protect nobody
	}
	for q := range c.tree.Ancestors(leaf) {
		bound := m.guaranteed(c, q)
		for t := range bound.Defined.All() {
			if size[t] <= 0 {
				continue
			}
			if _, now := m.gives(c, q, t, bound.Value[t]); size[t] > now {
				return false
			}
		}
	}
	return true
}

// help says what would help after a refusal. An answer other than a refusal needs a
// place as things are, or a plan. So what is named is what could bring a place,
// and what could undo the reason why there is no plan. (DESIGN.md, What would help.)
func (d *decision) help(dst *Decision) {
	if d.without.Rule != "" {
		return // a trial of Explain: only the outcome is read
	}
	r := &dst.Refusal
	if r.Proven {
		r.RetryAt = eligible.Sooner(r.RetryAt, d.filter.until, d.now)
	}
	h := &r.Help
	r.helpTime()
	w := rulebook.Wish{
		Key: d.ask.Key, Queue: d.ask.Queue, Node: d.ask.RequiredNode, Least: d.size, All: d.size,
		At: d.now, RetryAt: r.RetryAt, Reason: r.Reason, About: r.told.About, Type: r.Type, Counting: d.p.counting(),
	}
	switch r.Reason {
	case rulebook.NoVictims:
		w.NeedsRoom = d.needs.open()
	case InFlight:
		id, _ := d.c.LookupGrant(d.ask.Key)
		d.scratch.place[0] = int32(d.c.tasks[id].node)
		w.Places = d.scratch.place[:]
	}
	defer func() { h.note(d.c, &w, &d.eligible.Rules) }()
	switch {
	case r.Reason == rulebook.UnknownNode:
		h.node = d.ask.RequiredNode
		return
	case !r.Proven, d.p.Predicate != nil, r.Reason == rulebook.NoVictims && d.c.gangs > 0, d.mayTakeOwn(dst),
		d.caps != (rulebook.Caps{}) && rulebook.ReasonOf(r.Reason).Searched:
		// Under a cap anything that makes a plan smaller may help. A predicate may look at anything. A gang may go as a whole once a member that
		// could not go is no more. And with the option of the own leaf, law 2 lets
		// go more if less is used.
		h.anything(d.c)
		w.Anything = true
		return
	}
	switch r.Reason {
	case rulebook.NoVictims:
		d.helpVictims(h)
	case InFlight: // the grant ends with its node
		d.helpPlace(h)
		h.node = d.c.nodes[w.Places[0]].name
	default:
		if rulebook.ReasonOf(r.Reason).Place {
			d.helpPlace(h)
		}
		r.helpReason()
	}
}

// helpReason names what undoes the reason.
func (r *Refusal) helpReason() {
	h, e := &r.Help, rulebook.ReasonOf(r.Reason)
	h.Bounds, h.Policies = h.Bounds || e.Bounds, h.Policies || e.Policies
	if e.Less {
		h.helpLess(r.Queue)
	}
}

// helpPlace names what could make the ask fit, or wait: less usage of a queue that
// has no headroom for it, and else room on a node. Of two that are both
// necessary one is enough to name.
func (d *decision) helpPlace(h *Help) {
	moment, held := coming, d.scratch.taken[:0]
	node := d.ask.RequiredNode
	if id, holds := d.c.LookupGrant(d.ask.Key); holds {
		moment, held = present, d.c.grantsFrom(held, id)
		d.scratch.taken = held
		node = d.c.nodes[d.c.tasks[id].node].name
	}
	for q := range d.tree.Ancestors(d.ask.Queue) {
		if !d.queueHasRoom(q, moment, held) {
			h.less, h.Bounds = append(h.less, d.tree.Path(q)), true
			return
		}
	}
	h.node, h.anyNode, h.Labels = node, node == "", true
}

// helpVictims names what could give a lawful set of victims. A task that comes is
// of no help by itself: to stop it gives back no more than it has taken. But others
// of its queues may go then, if law 2 is what keeps them. Who is exempt now counts as
// one who may go: its time may pass unnoticed, if that alone does not help.
func (d *decision) helpVictims(h *Help) {
	h.Bounds, h.Policies, h.Priorities = true, !d.required() || d.eligible.timed.Own(), true
	for _, q := range d.needs.queues {
		h.less = append(h.less, d.tree.Path(q))
	}
	if !d.headroomAlone() {
		h.node, h.anyNode, h.Labels = d.ask.RequiredNode, !d.required(), true
	}
	switch {
	case len(d.c.grants) > 0: // a grant that starts may be a victim
		h.more = append(h.more, d.tree.Path(queue.Root))
	case !d.required() && d.mayGive():
		h.more = append(h.more, d.tree.Path(d.mostAbove()))
	}
	if len(d.c.budgets) > 0 {
		d.helpBudgets(h)
	}
}

// helpBudgets names the hard budgets of the tasks that might go if more was left in them, be
// it later.
func (d *decision) helpBudgets(h *Help) {
	for n := range d.c.nodes {
		if !d.c.digest.gauges[n].budgets {
			continue
		}
		at := d.siteIfOpen(NodeID(n))
		for _, id := range d.c.nodes[n].tasks {
			if d.c.tasks[id].state == Granted || d.eligible.veto(id) != 0 || !d.helps(id, &at) {
				continue
			}
			for _, row := range d.c.budgetsOf(id) {
				b := &d.c.budgets[row]
				if at, named := slices.BinarySearch(h.budgets, b.name); b.hard && !named {
					h.budgets = slices.Insert(h.budgets, at, b.name)
				}
			}
		}
	}
}

// mayGive reports whether more usage of its queue may let some task go.
func (d *decision) mayGive() bool {
	e := &d.eligible
	for n := range d.c.nodes {
		// The lowest of a node is too high for most that have nobody.
		if g := &d.c.digest.gauges[n]; g.evictable == 0 || e.EvenRanks && e.LeastRank(g.minPriority) > e.Ceiling {
			continue
		}
		at := d.siteIfOpen(NodeID(n))
		for _, id := range d.c.nodes[n].tasks {
			if d.c.tasks[id].state != Granted && e.veto(id) == 0 && d.helps(id, &at) && e.protected(id) != rulebook.RuleBudget {
				return true
			}
		}
	}
	return false
}

// headroomAlone reports whether headroom is lacking whatever the node: for some
// node has room for the ask as soon as what is leaving has gone.
func (d *decision) headroomAlone() bool {
	return d.needs.open() && !d.nearby() && d.p.Blockers == nil && slices.ContainsFunc(d.nodes, func(n NodeID) bool {
		return d.hasRoom(n, coming, nil) && d.usable(n) && d.passes(n)
	})
}

// mostAbove returns the queue below which everything is whose usage law 2 asks
// about: the fence root, or the highest queue above it that has a guarantee.
func (d *decision) mostAbove() queue.ID {
	most := fence.Root(d.tree, d.ask.Queue)
	for q := range d.tree.Ancestors(most) {
		if d.tree.Guaranteed(q).Defined != 0 {
			most = q
		}
	}
	return most
}
