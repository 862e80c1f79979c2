// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/resources"
)

// A change marks victims and grants places.
type change struct {
	For     string  // the key of the ask, the name of the job, or the queue that it is for
	Version Version // of the cluster that it was made for; zero is that of no plan
	// At is when it was decided, for [Grant] and [Cluster.Marked] to tell; zero: not known.
	At      time.Time
	Victims []Victim
	Moves   []Move // they stop as victims do, and have their grants before all others
	Places  []changePlace
	// MinMembers is how many members the job needs if it is for one: then its grants start
	// together. 0: each place is of an ask of its own.
	MinMembers int
	wrong      error // what is wrong with the decision, of which this is nothing then
}

// A changePlace is a node for an ask, or for a member of a job.
type changePlace struct {
	Ask  Ask
	Node NodeID
}

// changeOf returns what a decision does to the cluster, which lends it the list of places. That
// of a refusal cannot be applied.
func (c *Cluster) changeOf(d *Decision) change {
	p := &d.Plan
	if d.Outcome == Refused {
		return change{For: p.Ask.Key}
	}
	ch := change{For: p.Ask.Key, Version: p.Version, At: p.At, Victims: p.Victims, Moves: p.Moves}
	if p.Ask.isLone() {
		ch.For = cmp.Or(ch.For, p.Path) // a queue over its max
	} else if len(d.SharedBy) == 0 { // asks that share a plan start by themselves
		ch.MinMembers = cmp.Or(p.Ask.MinMembers, len(p.Ask.Members))
	}
	c.places = c.places[:0]
	for _, at := range p.Places {
		ask, members := p.Ask, len(p.Ask.Members)
		if len(d.SharedBy) > 0 {
			members = len(d.SharedBy)
		}
		switch {
		case members > 0 && (at.Member < 0 || at.Member >= members):
			ch.wrong = fmt.Errorf("a place of member %d of %d: %w", at.Member, members, invalid.Range)
			return ch
		case len(d.SharedBy) > 0:
			ask = d.SharedBy[at.Member]
		case len(p.Ask.Members) > 0:
			ask = p.Ask.MemberAsk(at.Member)
		}
		c.places = append(c.places, changePlace{Ask: ask, Node: at.Node})
	}
	ch.Places = c.places
	return ch
}

// Apply marks a decision's victims and movers, takes them off their budgets, and grants asks and movers their nodes.
// Grants count as usage until [Cluster.Start], [Cluster.Cancel] or [Cluster.Drop]; victims stay until
// [Cluster.RemoveTask]. A job keeps its minimum until its last task has gone, unless [Cluster.SetMinMembers] says
// another one.
//
// Errors wrap [ErrState] for a refusal, [ErrStale] for a decision of another version or cluster, and [ErrDuplicate] for
// a job with the name of an ask while one of them holds grants. Others name a task, node or member that cannot be. It
// does not ask what is lawful.
func (c *Cluster) Apply(d *Decision) error { return c.applyChange(c.changeOf(d)) }

// ApplyAll carries decisions out one after another, all or none: those of jobs.Planner.DecideAll, or each made for a
// copy with those before it applied. It passes over refusals. Errors are those of Apply. [Cluster.Undo] takes back one
// at a time.
func (c *Cluster) ApplyAll(all []Decision) error {
	applied := 0
	var last Version
	for i := range all {
		if all[i].Outcome == Refused {
			continue
		}
		ch := c.changeOf(&all[i])
		made := ch.Version
		// It was made for a copy as it was after the one before, of which this cluster is one.
		if applied > 0 && made.number > last.number {
			ch.Version = c.version
		}
		if err := c.applyChange(ch); err != nil {
			for range applied {
				c.Undo()
			}
			return fmt.Errorf("%w (decision %d of %d)", err, i+1, len(all))
		}
		applied, last = applied+1, made
	}
	return nil
}

// applyChange makes a change, or returns why it cannot.
func (c *Cluster) applyChange(ch change) error {
	switch v := ch.Version; {
	case v == Version{}:
		return fmt.Errorf("victims: plan for %q: %w: the decision has no plan to apply", ch.For, ErrState)
	case v.line != c.version.line && v.line != c.line:
		return fmt.Errorf("victims: plan for %q made for version %v of another cluster: %w", ch.For, v, ErrStale)
	case v != c.version:
		return fmt.Errorf("victims: plan for %q made for version %v, not %v: %w", ch.For, v, c.version, ErrStale)
	}
	// Before anything is changed, for it may fail.
	since, hasSince, err := stamp(ch.At, flagScheduled)
	if err != nil {
		return fmt.Errorf("victims: plan for %q: %w", ch.For, err)
	}
	switch {
	case ch.wrong != nil:
		return fmt.Errorf("victims: plan for %q: %w", ch.For, ch.wrong)
	case ch.MinMembers > 0 && ch.For == "":
		return fmt.Errorf("victims: plan for a job: %q: %w", ch.For, invalid.Empty)
	case ch.MinMembers < 0 || ch.MinMembers > math.MaxInt32:
		return fmt.Errorf("victims: plan for %q: it needs %d members: %w", ch.For, ch.MinMembers, invalid.Range)
	}
	// Marks and grants are made one by one. If one fails, what was made is taken back.
	before := c.lengths()
	err = c.mark(&ch)
	if err == nil {
		err = c.grant(&ch)
	}
	if err != nil {
		c.takeBack(before)
		return err
	}
	given := c.granted[before.granted:]
	// The grants wait for exactly these victims, whatever else leaves.
	c.await(&ch, given)
	c.note(before)
	if len(given) == 0 && len(ch.Victims) == 0 {
		return nil
	}
	c.date(&ch, since, hasSince != 0)
	c.version = c.next()
	c.keepMinimum(&ch, given)
	return nil
}

// date notes when the asks of a change were last planned for, and what was noted before.
func (c *Cluster) date(ch *change, since int64, dated bool) {
	last := int32(0)
	note := func(key string, needs int) {
		id, _ := c.LookupGrant(key)
		ask := c.grantOf(id).ask
		if ask == last {
			return // it has the number of several members
		}
		a := &c.asks[ask]
		c.dated = append(c.dated, askDate{ask, a.since, a.dated, a.needs})
		a.since, a.dated, a.needs, last = since, dated, int32(needs), ask
	}
	for i := range ch.Moves {
		note(ch.Moves[i].Grant, 0)
	}
	for i := range ch.Places {
		note(ch.Places[i].Ask.Key, ch.MinMembers)
	}
}

// keepMinimum gives a job its minimum, unless somebody has set one.
func (c *Cluster) keepMinimum(ch *change, given []TaskID) {
	if ch.MinMembers == 0 || len(given) == 0 {
		return
	}
	job, ok := c.jobs.lookup(ch.For)
	if !ok || c.minimumOf(job) == int32(ch.MinMembers) || int(job) < len(c.minimums) && c.minimums[job].set {
		return
	}
	a := &c.applied[len(c.applied)-1]
	a.job, a.minimum = ch.For, c.minimumOf(job)
	c.noteMinimum(job, jobMinimum{members: int32(ch.MinMembers)})
	for _, id := range c.membersOf(job) {
		c.journal.node(c.tasks[id].node)
	}
}

// stops returns the victims of a change, and its movers after them.
func (ch *change) stops() []Victim {
	stops := ch.Victims[:len(ch.Victims):len(ch.Victims)]
	for i := range ch.Moves {
		stops = append(stops, Victim{Task: ch.Moves[i].Task, Key: ch.Moves[i].Key})
	}
	return stops
}

// mark marks the victims and movers of a change. It stops at the first that is none.
func (c *Cluster) mark(ch *change) error {
	stops := ch.stops()
	for i := range stops {
		v := &stops[i]
		if err := c.checkVictim(v); err != nil {
			// It is in the state "preempting" because the same plan named it
			// before. The true reason is the better error.
			if slices.ContainsFunc(stops[:i], func(u Victim) bool { return u.Task == v.Task }) {
				err = ErrDuplicate // and therefore marked
			}
			return fmt.Errorf("victims: plan for %q: victim %q: %w", ch.For, v.Key, err)
		}
		// Whoever let it run after all waits for it no more.
		if w, place := c.placeOf(v.Task); w != 0 {
			c.resumed = append(c.resumed, resumed{c.waits[w].victims[place], w, place})
			c.stopWaiting(v.Task)
		}
		c.setState(v.Task, Marked)
		c.told.set(int(v.Task), cap(c.tasks), toldAt(ch.At))
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

// grant grants the movers and asks of a change their nodes, but for asks that hold that
// very grant. It stops at the first that cannot be granted.
func (c *Cluster) grant(ch *change) error {
	for i := range ch.Moves {
		m := &ch.Moves[i]
		if err := c.checkName(m.Grant, false); err != nil {
			return err
		}
		ask := m.ask(c)
		t := ask.task(m.To)
		id, err := c.insert(&t)
		if err != nil {
			return err
		}
		c.granted = append(c.granted, id)
		c.joinAsk(id, m.Grant, m.Key, 0)
	}
	for i := range ch.Places {
		g := &ch.Places[i]
		ask, needs := g.Ask.Key, 0
		if ch.MinMembers > 0 {
			ask, needs = ch.For, ch.MinMembers
		}
		if err := c.checkName(ask, needs > 0); err != nil {
			return err
		}
		if id, held := c.LookupGrant(g.Ask.Key); held {
			r := &c.tasks[id]
			// The ask was promised another place in the meantime, by someone
			// else.
			if r.node != g.Node || r.leaf != g.Ask.Queue || !resources.Equal(c.size(id), g.Ask.Size) ||
				c.asks[c.grantOf(id).ask].key != ask {
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
		c.joinAsk(id, ask, "", int32(needs))
	}
	return nil
}

// checkName reports a job that has the name of an ask that holds a grant, or the other way
// round: their grants would be taken for those of one.
func (c *Cluster) checkName(name string, job bool) error {
	row, holds := c.askIDs[name]
	switch {
	case !holds || job != c.alone(row):
		return nil
	case job:
		return fmt.Errorf("victims: job %q: the ask %q holds a grant: %w", name, name, ErrDuplicate)
	}
	return fmt.Errorf("victims: ask %q: the job %q holds grants: %w", name, name, ErrDuplicate)
}

// Undo takes back the last applied change that was not undone, version included. Any other change makes earlier
// ones final: then the error wraps ErrState.
func (c *Cluster) Undo() error {
	last := len(c.applied) - 1
	if last < 0 {
		return fmt.Errorf("victims: undo: nothing applied: %w", ErrState)
	}
	a := c.applied[last]
	c.applied = c.applied[:last]
	c.takeBack(a.lengths)
	if job, ok := c.jobs.lookup(a.job); ok {
		c.noteMinimum(job, jobMinimum{members: a.minimum})
	}
	c.version = a.before
	return nil
}

// takeBack takes the marks and grants of changes back, newest first, so that rows are free in
// the order they were before. What is left is as much as there was once.
func (c *Cluster) takeBack(to lengths) {
	for i := len(c.dated) - 1; i >= to.dated; i-- {
		d := c.dated[i]
		a := &c.asks[d.ask]
		a.since, a.dated, a.needs = d.since, d.dated, d.needs
	}
	for i := len(c.granted) - 1; i >= to.granted; i-- {
		c.delete(c.granted[i]) // grants before marks, since they came after them
	}
	for _, id := range c.marked[to.marked:] {
		c.stopWaiting(id)
		c.setState(id, Running)
		c.spend(id, -1)
	}
	for i := len(c.resumed) - 1; i >= to.resumed; i-- {
		r := c.resumed[i]
		c.waitFor(r.wait, r.victim, r.place)
	}
	c.cut(to)
}

// A Version identifies a state of a cluster. Every change gives a new one, and Undo brings the old one back. Zero
// belongs to no cluster.
type Version struct {
	line   *line
	number uint64
}

// A line is the states that a cluster has by its own changes. One differs from another
// by its place in memory, so that it must not be empty.
type line struct{ _ byte }

// String returns a number that grows with changes.
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
	dated   []askDate       // what was known of their asks, likewise
	resumed []resumed       // the victims of theirs that others had let run, likewise
}

// lengths are how long the lists of a history are.
type lengths struct{ marked, granted, dated, resumed int }

func (h *history) lengths() lengths {
	return lengths{len(h.marked), len(h.granted), len(h.dated), len(h.resumed)}
}

// cut shortens the lists.
func (h *history) cut(to lengths) {
	h.marked, h.granted, h.dated, h.resumed = h.marked[:to.marked], h.granted[:to.granted], h.dated[:to.dated], h.resumed[:to.resumed]
}

// appliedChange is what is needed to undo a change.
type appliedChange struct {
	before Version // the version to come back to
	lengths
	job     string // that it gave a minimum, or ""
	minimum int32  // that it had before
}

// askDate is when an ask was last planned for, and how many members it needed.
type askDate struct {
	ask   int32
	since int64
	dated bool
	needs int32
}

// resumed is a victim that was let run, and where it was noted.
type resumed struct {
	victim waitVictim
	wait   int32
	place  int
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
	h.cut(lengths{})
}

// note takes note of a change that was applied, before which the lists were so long.
func (h *history) note(before lengths) {
	h.applied = append(h.applied, appliedChange{before: h.version, lengths: before})
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
