// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Change marks victims and grants places.
type Change struct {
	For     string  // what it is for, for messages
	Version Version // of the cluster that it was made for; zero is that of no plan
	// At is when the grants are given, for [Cluster.Waiting] to tell; zero: not known.
	At      time.Time
	Victims []Victim
	Grants  []Grant
}

// A Grant is a place for an ask.
type Grant struct {
	Ask  *Ask
	Node NodeID
	// Mover is the key of the task, a victim of the change, that moves to this place; "" for others.
	Mover string
}

// Change returns what the plan does to a cluster, for [Cluster.Apply]. It shares
// memory with the plan. That of a refusal cannot be applied.
func (p *Plan) Change() Change {
	return Change{
		For: p.Ask.Key, Version: p.Version, Victims: p.Victims, Grants: []Grant{{Ask: &p.Ask, Node: p.Node}}, At: p.At,
	}
}

// Apply carries a change out: victims are marked as preempting and taken off their
// budgets, and asks are granted their nodes. Grants count as usage until [Cluster.Start]
// or [Cluster.Drop]; victims stay until [Cluster.RemoveTask].
//
// Errors wrap [ErrState] for the change of a refusal, and [ErrStale] for one of another
// version or cluster. Others name a victim that does not run or is named twice, or an ask
// that cannot be granted its node. Whether a change is lawful is not asked; see
// [Auditor].
func (c *Cluster) Apply(ch Change) error {
	switch v := ch.Version; {
	case v == Version{}:
		return fmt.Errorf("victims: plan for %q: %w: the decision has no plan to apply", ch.For, ErrState)
	case v.line != c.version.line && v.line != c.line:
		return fmt.Errorf("victims: plan for %q made for version %v of another cluster: %w", ch.For, v, ErrStale)
	case v != c.version:
		return fmt.Errorf("victims: plan for %q made for version %v, not %v: %w", ch.For, v, c.version, ErrStale)
	}
	// Marks and grants are made one by one. If one fails, these numbers say
	// what to take back.
	marked, granted := len(c.marked), len(c.granted)
	// Before anything is changed, for it may fail.
	since, hasSince, err := stamp(ch.At, flagScheduled)
	if err != nil {
		return fmt.Errorf("victims: plan for %q: %w", ch.For, err)
	}
	err = c.mark(&ch)
	if err == nil {
		err = c.grant(&ch)
	}
	if err != nil {
		c.takeBack(marked, granted)
		return err
	}
	// The grants wait for exactly these victims, whatever else leaves.
	c.await(&ch, c.marked[marked:], c.granted[granted:])
	for _, id := range c.granted[granted:] {
		g := c.grantOf(id)
		g.since, g.dated = since, hasSince != 0
	}
	c.note(marked, granted)
	return nil
}

// mark marks the victims of a change. It stops at the first that is none.
func (c *Cluster) mark(ch *Change) error {
	for i := range ch.Victims {
		v := &ch.Victims[i]
		if err := c.checkVictim(v); err != nil {
			// It is in the state "preempting" because the same plan named it
			// before. The true reason is the better error.
			if slices.ContainsFunc(ch.Victims[:i], func(u Victim) bool { return u.Task == v.Task }) {
				err = ErrDuplicate // and therefore marked
			}
			return fmt.Errorf("victims: plan for %q: victim %q: %w", ch.For, v.Key, err)
		}
		c.setState(v.Task, Preempting)
		c.spend(v.Task, 1)
		c.marked = append(c.marked, v.Task)
	}
	return nil
}

// checkVictim reports a victim that is no running task.
func (c *Cluster) checkVictim(v *Victim) error {
	if !c.isRow(v.Task) {
		return fmt.Errorf("row %d: %w", v.Task, ErrUnknown)
	}
	switch r := &c.tasks[v.Task]; {
	case r.key != v.Key:
		return fmt.Errorf("row %d is %q: %w", v.Task, r.key, ErrUnknown)
	case r.state != Running:
		return fmt.Errorf("state %v: %w", r.state, ErrState)
	}
	return nil
}

// grant grants the asks of a change their nodes, but for those that hold that
// very grant. It stops at the first that cannot be granted.
func (c *Cluster) grant(ch *Change) error {
	for _, g := range ch.Grants {
		if id, held := c.LookupGrant(g.Ask.Key); held {
			r := &c.tasks[id]
			// The ask was promised another place in the meantime, by someone
			// else.
			if r.node != g.Node || r.leaf != g.Ask.Queue || !resources.Equal(c.size(id), g.Ask.Size) {
				return fmt.Errorf("victims: plan for %q: grant of %q: it holds another one, on node %q: %w",
					ch.For, g.Ask.Key, c.nodes[r.node].name, ErrState)
			}
			continue
		}
		t := g.Ask.task(g.Node)
		id, err := c.insert(&t)
		if err != nil {
			return err
		}
		c.granted = append(c.granted, id)
	}
	return nil
}

// Undo takes the last applied change back that was not undone, version included. Any
// other change makes what was applied before it final: then the error wraps [ErrState].
func (c *Cluster) Undo() error {
	last := len(c.applied) - 1
	if last < 0 {
		return fmt.Errorf("victims: undo: nothing applied: %w", ErrState)
	}
	a := c.applied[last]
	c.applied = c.applied[:last]
	c.takeBack(len(c.marked)-a.victims, len(c.granted)-a.grants)
	c.version = a.before
	return nil
}

// takeBack takes the marks and grants of changes back but for the oldest ones,
// newest first, so that rows are free in the order they were before.
func (c *Cluster) takeBack(marked, granted int) {
	for len(c.granted) > granted {
		last := len(c.granted) - 1
		// Grants before marks, since they came after them.
		c.delete(c.granted[last])
		c.granted = c.granted[:last]
	}
	for _, id := range c.marked[marked:] {
		c.setState(id, Running)
		c.spend(id, -1)
	}
	c.marked = c.marked[:marked]
}

// A Version identifies a state of a cluster. Every change gives a new one, and Undo
// brings the old one back. A clone has its original's until either changes. Compare with
// ==. The zero Version belongs to no cluster. See DESIGN.md, Identity.
type Version struct {
	line   *line
	number uint64
}

// A line is the states that a cluster has by its own changes. One differs from another
// by its place in memory, so that it must not be empty.
type line struct{ _ byte }

// Equal reports whether two versions are the same.
func (v Version) Equal(w Version) bool { return v == w }

// String returns the number of the version, which grows with changes.
func (v Version) String() string { return strconv.FormatUint(v.number, 10) }

// A history tells the states of a cluster apart, and has what leads back from the
// present one: the changes that were applied since the last other change.
type history struct {
	line     *line   // the cluster's identity
	version  Version // of the present state; equal versions are equal states
	versions uint64  // the largest number of a version given so far

	applied []appliedChange // oldest first
	marked  []TaskID        // the victims of all of them, oldest first
	granted []TaskID        // their grants, likewise
}

// appliedChange is what is needed to undo a change.
type appliedChange struct {
	before  Version // the version to come back to
	victims int     // how many of history.marked are its
	grants  int     // how many of history.granted are its
}

func newHistory() history {
	line := new(line)
	return history{line: line, version: Version{line, 1}, versions: 1}
}

// Version identifies the present state.
func (h *history) Version() Version { return h.version }

// next returns a version that no state has had.
func (h *history) next() Version {
	h.versions++
	return Version{h.line, h.versions}
}

// changed gives the cluster a version of its own and forgets what could be undone.
func (h *history) changed() {
	h.version = h.next()
	h.final()
}

// final forgets what could be undone.
func (h *history) final() {
	h.applied = h.applied[:0]
	h.marked = h.marked[:0]
	h.granted = h.granted[:0]
}

// note gives the cluster a version of its own after a change was applied, which has
// marked and granted what was added to the lists since they were so long.
func (h *history) note(marked, granted int) {
	h.applied = append(h.applied, appliedChange{
		before: h.version, victims: len(h.marked) - marked, grants: len(h.granted) - granted,
	})
	h.version = h.next()
}

// follow gives a cluster the state of another one, of which it is a copy now.
func (h *history) follow(from *history) {
	if h.line == nil {
		h.line = new(line)
	}
	h.version = from.version
	h.versions = max(h.versions, from.versions) // no number of its own twice
	h.final()
}

// A Waiting is what a grant waits for. See DESIGN.md, Waiting grants.
type Waiting struct {
	Task  TaskID
	Node  NodeID
	Since time.Time // when it was given; zero: not known
	// Victims are the keys of the tasks of its plan that are still leaving, sorted.
	Victims []string
	// Needed: the grant cannot start while they stay. If false, marks may be taken
	// back.
	Needed bool
}

// Waiting sets dst to what the grant of an ask waits for. The cost is linear in the
// tasks of its node.
func (x *index) Waiting(dst *Waiting, key string) error {
	id, err := x.grantByKey(key)
	if err != nil {
		return err
	}
	g := x.grantOf(id)
	// The memory of the victims is kept; everything else is new.
	*dst = Waiting{Task: id, Node: x.tasks[id].node, Victims: dst.Victims[:0], Needed: !x.grantFits(id)}
	if g.dated {
		dst.Since = time.Unix(0, g.since).UTC()
	}
	if g.wait != 0 {
		for _, v := range x.waits[g.wait].victims {
			dst.Victims = append(dst.Victims, x.tasks[v].key)
		}
		// Marks are taken back and given in any order.
		slices.Sort(dst.Victims)
	}
	return nil
}

// Admits reports whether a task of some size and leaf may be placed on a node now, by
// other means than a plan: it fits what is free and every max above it, without what is
// granted or still leaving. Whether the node is schedulable or reserved does not count. A
// queue that is no leaf, or a closed node, admits nothing. The cost is depth·types.
func (x *index) Admits(size resources.Vector, leaf queue.ID, node NodeID) bool {
	// What is no size or no leaf has no room anywhere: a question is no error.
	if x.nodeOf(node).closed() || x.checkLeaf(leaf) != nil || x.checkSize(size) != nil {
		return false
	}
	return x.hasRoom(size[:min(len(size), x.types)], leaf, node, -1)
}

// grantFits reports whether a grant could start now: whether it fits its node
// and every max above it with itself, and those given there after it, taken off.
// DESIGN.md, Grants.
func (x *index) grantFits(id TaskID) bool {
	r := &x.tasks[id]
	// A promise was made there, but nothing may start on a node that is not
	// there, or is blind.
	return !x.nodes[r.node].closed() && x.hasRoom(x.size(id), r.leaf, r.node, id)
}

// hasRoom reports whether a size fits what is free on a node now and every max above
// a leaf, with a grant and those given there after it taken off, if there is one: who
// was promised first does not wait for those who came after. That keeps the order of
// grants free of deadlock.
func (x *index) hasRoom(size resources.Vector, leaf queue.ID, node NodeID, grant TaskID) bool {
	for t, v := range size {
		// Only what is wanted counts: a node that is over-committed in gpus takes a
		// task without any.
		if v == 0 {
			continue
		}
		if v > x.row(x.present, node)[t]+x.grantedSince(grant, queue.Root, t) {
			return false
		}
		for q := range x.tree.Ancestors(leaf) {
			bound, ok := x.tree.Max(q).Bound(t)
			if ok && v > bound-(x.tree.Usage(q)[t]-x.grantedSince(grant, q, t)) {
				return false
			}
		}
	}
	return true
}

// grantedSince returns how much of a type a grant and those that were given on
// its node after it have below a queue: nothing for no grant, which has a row below 0.
func (x *index) grantedSince(id TaskID, q queue.ID, t int) (sum int64) {
	if id < 0 {
		return 0
	}
	own := &x.tasks[id]
	for _, g := range x.nodes[own.node].tasks {
		r := &x.tasks[g]
		if r.state == Granted && r.scheduled >= own.scheduled && x.tree.Contains(q, r.leaf) {
			sum += x.size(g)[t]
		}
	}
	return sum
}

// grantOf returns what is known of the grant of a row.
func (x *index) grantOf(id TaskID) *grantRow { return x.numbered(x.tasks[id].scheduled) }

// await notes that the grants of a change wait for its victims: those that it
// has given, or else the first one of those that its asks hold already.
func (x *index) await(ch *Change, victims, given []TaskID) {
	if len(victims) == 0 || len(ch.Grants) == 0 {
		return
	}
	w := int32(0)
	if len(given) == 0 {
		held, _ := x.LookupGrant(ch.Grants[0].Ask.Key)
		g := x.grantOf(held)
		// It may wait for earlier victims already. Those and the new ones are
		// one wait then.
		if g.wait == 0 {
			g.wait = x.newWait(1)
		}
		w = g.wait
	} else {
		w = x.newWait(len(given))
		for _, id := range given {
			x.grantOf(id).wait = w
		}
	}
	// Once for all tasks, and not once more for every larger row.
	x.waitOf.reserve(cap(x.tasks))
	for _, id := range victims {
		x.waitFor(w, id, len(x.waits[w].victims))
	}
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

// A waitBook knows the grants in the order in which they were given, and the
// victims that each of them waits for. Grants of one change wait for the same
// victims: those share a row of waits. See DESIGN.md, Waiting grants.
type waitBook struct {
	grants   []grantRow    // in the order in which they were given
	granting int64         // how many grants were given so far
	waits    []waitRow     // row 0 is none
	dryWaits []int32       // those of no grant
	waitOf   column[int32] // of a victim, the row of waits of the grants that wait for it
}

// grantRow is what a cluster knows of a grant beside its row.
type grantRow struct {
	number int64 // in the order of giving; taskRow.scheduled has it, too
	since  int64 // nanoseconds since 1970, if dated
	task   TaskID
	wait   int32 // the row of waits, 0 for none
	dated  bool
}

// waitRow is the victims of a change, for whose room its grants wait.
type waitRow struct {
	victims []TaskID // those that are leaving still
	grants  int32    // how many grants wait for them
}

// Grants yields the grants, the oldest first.
func (x *waitBook) Grants() iter.Seq[TaskID] {
	return func(yield func(TaskID) bool) {
		for i := range x.grants {
			if !yield(x.grants[i].task) {
				return
			}
		}
	}
}

// addGrant puts a new grant after all others, and returns its number.
func (x *waitBook) addGrant(id TaskID) (number int64) {
	x.granting++
	x.grants = append(x.grants, grantRow{number: x.granting, task: id})
	return x.granting
}

// numbered returns what is known of the grant of a number.
func (x *waitBook) numbered(number int64) *grantRow { return &x.grants[x.find(number)] }

func (x *waitBook) find(number int64) int {
	i, _ := slices.BinarySearchFunc(x.grants, number, func(g grantRow, number int64) int {
		return cmp.Compare(g.number, number)
	})
	return i
}

// dropGrant takes a grant, which is to start or to go, out of the order. Victims
// that nobody waits for any more are victims still, of no one.
func (x *waitBook) dropGrant(number int64) {
	i := x.find(number)
	if w := x.grants[i].wait; w != 0 {
		x.waits[w].grants--
		if x.waits[w].grants == 0 {
			x.dissolve(w)
		}
	}
	x.grants = slices.Delete(x.grants, i, i+1)
}

// newWait returns an empty row of waits for so many grants.
func (x *waitBook) newWait(grants int) (w int32) {
	w, again := pop(&x.dryWaits)
	if !again {
		w = max(1, int32(len(x.waits))) // 0 is none
		x.waits = rows.More(x.waits, int(w)+1-len(x.waits))
	}
	x.waits[w].grants = int32(grants)
	return w
}

// dissolve frees a row of waits for which no grant waits any more.
func (x *waitBook) dissolve(w int32) {
	for _, id := range x.waits[w].victims {
		x.waitOf.set(int(id), 0, 0)
	}
	x.waits[w].victims = x.waits[w].victims[:0]
	x.dryWaits = append(x.dryWaits, w)
}

// placeOf returns the row of waits that a victim is in, 0 for none, and its place
// there.
func (x *waitBook) placeOf(id TaskID) (w int32, place int) {
	if w = x.waitOf.at(int(id)); w != 0 {
		place = slices.Index(x.waits[w].victims, id)
	}
	return w, place
}

// waitFor puts a victim at a place of a row of waits.
func (x *waitBook) waitFor(w int32, id TaskID, place int) {
	x.waits[w].victims = slices.Insert(x.waits[w].victims, place, id)
	x.waitOf.set(int(id), 0, w) // await has made room
}

// stopWaiting notes that a task is no victim any more: it has gone, or stays.
func (x *waitBook) stopWaiting(id TaskID) {
	w, place := x.placeOf(id)
	if w == 0 {
		return
	}
	x.waits[w].victims = slices.Delete(x.waits[w].victims, place, place+1)
	x.waitOf.set(int(id), 0, 0)
}

// copyFrom makes x a copy of y in its own memory.
func (x *waitBook) copyFrom(y *waitBook) {
	x.grants, x.granting = reuse(x.grants, y.grants), y.granting
	x.dryWaits = reuse(x.dryWaits, y.dryWaits)
	x.waits = resized(x.waits, len(y.waits))
	for i := range x.waits {
		x.waits[i].victims = reuse(x.waits[i].victims, y.waits[i].victims)
		x.waits[i].grants = y.waits[i].grants
	}
	x.waitOf = reuse(x.waitOf, y.waitOf)
}
